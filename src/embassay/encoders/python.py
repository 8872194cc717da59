"""A function of your own: ``python:module:callable``, a list of texts to an (n, d) array.

The module is looked for in the current folder too. Its vectors are known by the content of its source
file; where that does not tell all (weights that it loads), say ``version=``.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from embassay.errors import EncoderError, SpecError, UnknownNameError
from embassay.samples import Role
from embassay.types import Card, Runtime, content_hash

TARGET = "module:callable"


def create(target: str, runtime: Runtime, *, version: str = "") -> PythonEncoder:
    """Make the encoder.

    Parameters
    ----------
    target
        ``module:callable``; the callable takes a list of str and returns (n, d) numbers.
    version
        Stands for the content in the fingerprint, instead of the source file's.

    Raises
    ------
    SpecError
        If there is no such module, or no source file and no version.
    UnknownNameError
        If the module has no such callable.
    """
    del runtime
    module, colon, name = target.partition(":")
    if not colon or not module or not name:
        raise SpecError(f"encoder 'python:{target}': write python:module:callable")
    function = _import(module, name)
    content = version or _source_hash(function, target)
    return PythonEncoder(name, target, function, content, version)


@dataclass(frozen=True)
class PythonEncoder:
    """Calls a function; texts go in as they are, whatever their role."""

    name: str
    target: str
    function: Callable[[list[str]], Any]
    content: str
    version: str = ""

    @property
    def card(self) -> Card:
        """What is known without running it."""
        return Card(f"python:{self.target}" + (f",version={self.version}" if self.version else ""))

    @property
    def fingerprint(self) -> str:
        """A hash of the name and of the source file, or the version."""
        return content_hash(["python", self.target, self.content])

    def fit(self, texts: Sequence[str]) -> PythonEncoder:
        """Return itself: nothing is learnt."""
        return self

    def encode(self, texts: Sequence[str], role: Role = "text") -> Any:
        """Return what the function returns, as float32, dense or CSR."""
        found = self.function(list(texts))
        if issparse(found):
            return csr_array(found).astype(np.float32)
        try:
            matrix = np.asarray(found, dtype=np.float32)
        except (TypeError, ValueError):
            raise EncoderError(f"python:{self.target} returned {type(found).__name__}, not an (n, d) array") from None
        return matrix


def _import(module: str, name: str) -> Callable[[list[str]], Any]:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module)
    except ImportError as error:
        raise SpecError(f"encoder 'python:{module}:{name}': {error}") from None
    for part in name.split("."):
        if not hasattr(found, part):
            public = [n for n, value in vars(found).items() if callable(value) and not n.startswith("_")]
            raise UnknownNameError(f"callable in module {module}:", part, public)
        found = getattr(found, part)
    if not callable(found):
        raise SpecError(f"encoder 'python:{module}:{name}': {name!r} cannot be called")
    return found  # type: ignore[no-any-return]


def _source_hash(function: Callable[[list[str]], Any], target: str) -> str:
    for thing in (inspect.unwrap(function), type(function)):
        try:
            file = inspect.getsourcefile(thing)
        except TypeError:
            continue
        if file is not None and Path(file).is_file():
            return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    raise SpecError(f"encoder 'python:{target}': it has no source file to know it by; say version=")
