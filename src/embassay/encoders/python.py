"""A function of your own: ``python:module:callable``, a list of texts to an (n, d) array.

The module is looked for in the current folder too. Its vectors are known by the content of the module's source file
(and of the callable's own, where that is another); a file that has changed since it was imported is run again. Where
that does not tell all (weights that it loads, helpers that it imports), say ``version=``.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
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
    function = _callable(_import(module, target, fresh=not version), name, target)
    content = version or _source_hash(sys.modules[module], function, target)
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
        matrix = np.asarray(found)
        if matrix.dtype.kind not in "fiub":
            raise EncoderError(f"it returned {type(found).__name__}, not an (n, d) array of real numbers")
        with np.errstate(over="ignore"):
            return matrix.astype(np.float32)


def _import(name: str, target: str, fresh: bool) -> ModuleType:
    """Import a module; with ``fresh``, what runs is what its file says now."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    importlib.invalidate_caches()
    known = name in sys.modules
    try:
        module = importlib.import_module(name)
        source = _source(module)
        if fresh and source is not None:
            content = source.read_bytes()
            if _RUN.get(name, content if not known else None) != content:
                exec(compile(content, str(source), "exec"), vars(module))  # noqa: S102 - the user's own module
            _RUN[name] = content
    except ImportError as error:
        raise SpecError(f"encoder 'python:{target}': {error}") from None
    except (Exception, SystemExit) as error:
        raise SpecError(f"encoder 'python:{target}': {name} fails: {type(error).__name__}: {error}") from error
    return module


_RUN: dict[str, bytes] = {}
"""The source of each module as it was when we ran it last."""


def _callable(module: ModuleType, name: str, target: str) -> Callable[[list[str]], Any]:
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            public = [n for n, value in vars(found).items() if callable(value) and not n.startswith("_")]
            raise UnknownNameError(f"callable in module {module.__name__}:", part, public)
        found = getattr(found, part)
    if not callable(found):
        raise SpecError(f"encoder 'python:{target}': {name!r} cannot be called")
    return found  # type: ignore[no-any-return]


def _source_hash(module: ModuleType, function: Callable[[list[str]], Any], target: str) -> str:
    """Hash the module's file and, where the callable stands in another, that one too."""
    own = sys.modules.get(getattr(function, "__module__", None) or "")
    files = [path for path in (_source(module), _source(own) if own else None) if path]
    if not files:
        raise SpecError(f"encoder 'python:{target}': it has no source file to know it by; say version=")
    return hashlib.sha256(b"".join(path.read_bytes() for path in dict.fromkeys(files))).hexdigest()


def _source(module: ModuleType) -> Path | None:
    path = Path(getattr(module, "__file__", None) or "")
    return path if path.suffix == ".py" and path.is_file() else None
