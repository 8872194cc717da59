"""A function of your own: ``python:module:callable``, a list of texts to an (n, d) array.

The module is looked for in the current folder too. Its vectors are known by the content of the module's source file
(and of the callable's own, where that is another); a file that has changed since it was imported is run again. Where
that does not tell all (weights that it loads, helpers that it imports), say ``version=``. Without a source file and a
version its vectors are not kept.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import secrets
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from scipy.sparse import csr_array, issparse

from embassay.errors import EncoderError, SpecError, UnknownNameError
from embassay.samples.base import Role
from embassay.types import Card, Runtime, content_hash
from embassay.vectors import Similarity, VectorMatrix, as_array, as_float32, described

TARGET = "module:callable"


def create(
    target: str, runtime: Runtime, *, version: str = "", similarity: Literal["cosine", "dot"] = "cosine"
) -> PythonEncoder:
    """Make the encoder.

    Parameters
    ----------
    target
        ``module:callable``; the callable takes a list of str and returns (n, d) numbers.
    version
        Stands for the content in the fingerprint, instead of the source file's.
    similarity
        What queries and documents are compared by.

    Raises
    ------
    SpecError
        If there is no such module.
    UnknownNameError
        If the module has no such callable.
    """
    del runtime
    module, colon, name = target.partition(":")
    if not colon or not module or not name:
        raise SpecError(f"encoder 'python:{target}': write python:module:callable")
    found = _import(module, target)
    function = _callable(found, name, target)
    if version:
        return PythonEncoder(name, target, function, version, version, similarity)
    own = sys.modules.get(getattr(function, "__module__", None) or "", found)
    if own is not found and _source(own) and _refresh(own, target):
        _run(found, target)
        function = _callable(found, name, target)
    content = _content_hash((found, own))
    return PythonEncoder(name, target, function, content or secrets.token_hex(16), version, similarity, bool(content))


@dataclass(frozen=True)
class PythonEncoder:
    """Calls a function; texts go in as they are, whatever their role."""

    name: str
    target: str
    function: Callable[[list[str]], Any]
    content: str
    version: str = ""
    similarity: Similarity = "cosine"
    known: bool = True

    @property
    def card(self) -> Card:
        """What is known without running it."""
        warning = (
            "it has no source file to be known by, so its vectors are not cached and no later run takes up its scores; "
            f"give it a version that changes with its vectors: python:{self.target},version=1"
        )
        given = {"version": self.version, "similarity": self.similarity.removeprefix("cosine")}
        options = "".join(f",{name}={value}" for name, value in given.items() if value)
        return Card(
            f"python:{self.target}{options}",
            cached=self.known,
            similarity=self.similarity,
            warnings=() if self.known else (warning,),
        )

    @property
    def fingerprint(self) -> str:
        """A hash of the name and of the source file, or the version; of chance where there is neither."""
        return content_hash(["python", self.target, self.content])

    def fit(self, texts: Sequence[str]) -> PythonEncoder:
        """Return itself: nothing is learnt."""
        return self

    def encode(self, texts: Sequence[str], role: Role = "text") -> VectorMatrix:
        """Return what the function returns, as float32, dense or CSR.

        Raises
        ------
        EncoderError
            If the function fails, with the line of its own module where it did; or if what it returns is no array of
            real numbers, or has one that is too large.
        """
        try:
            found = self.function(list(texts))
        except EncoderError:
            raise
        except (Exception, SystemExit) as error:
            reason = " ".join(str(error).split())
            raise EncoderError(f"{type(error).__name__}: {reason}{self._line_of(error)}") from error
        matrix = as_array(found)
        if matrix.dtype.kind not in "fiub":
            raise EncoderError(f"it returned {described(found, matrix)}, not an (n, d) array of real numbers")
        return as_float32(csr_array(matrix) if issparse(matrix) else matrix, texts)

    def _line_of(self, error: BaseException) -> str:
        """Return the innermost line of the user's own module where it failed; nothing where it passed none."""
        names = (self.target.partition(":")[0], getattr(self.function, "__module__", None))
        own = {getattr(sys.modules.get(name or ""), "__file__", None) for name in names}
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in own]
        return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""


def _import(name: str, target: str) -> ModuleType:
    """Import a module; where its file has changed since it ran, run it again."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    importlib.invalidate_caches()
    known = name in sys.modules
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        raise SpecError(f"encoder 'python:{target}': {error}") from None
    except (Exception, SystemExit) as error:
        raise _failure(name, target, error) from error
    source = _source(module)
    if not known and source is not None:
        _RUN[name] = source.read_bytes()
    _refresh(module, target)
    return module


_RUN: dict[str, bytes] = {}
"""The source of each module as it was when it ran last."""
_IMPORTED = time.time()


def _refresh(module: ModuleType, target: str) -> bool:
    """Run a module again where its file has changed since it ran; say whether that was so.

    A module that somebody else imported is taken to have run from the file as it is, unless the file is younger than
    this process; a script that is running is never run again.
    """
    source = _source(module)
    if source is None or module.__name__ == "__main__":
        return False
    content = source.read_bytes()
    if module.__name__ not in _RUN and source.stat().st_mtime < _process_start():
        _RUN[module.__name__] = content
    if _RUN.get(module.__name__) == content:
        return False
    _run(module, target)
    return True


def _run(module: ModuleType, target: str) -> None:
    source = _source(module)
    if source is None or module.__name__ == "__main__":
        return
    content = source.read_bytes()
    try:
        exec(compile(content, str(source), "exec"), vars(module))  # noqa: S102 - the user's own module
    except (Exception, SystemExit) as error:
        raise _failure(module.__name__, target, error) from error
    _RUN[module.__name__] = content


def _process_start() -> float:
    """Return when this process began, in seconds since 1970; when this module was imported, where /proc is absent."""
    try:
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        boot = next(line for line in Path("/proc/stat").read_text().splitlines() if line.startswith("btime"))
        return float(boot.split()[1]) + ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, StopIteration, ValueError, IndexError):
        return _IMPORTED


def _failure(name: str, target: str, error: BaseException) -> SpecError:
    return SpecError(f"encoder 'python:{target}': {name} fails: {type(error).__name__}: {error}")


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


def _content_hash(modules: tuple[ModuleType, ...]) -> str:
    """Hash the sources that ran: the module's and, where the callable stands in another, that one's too.

    The text is empty where there is no source.
    """
    found = {module.__name__: _RUN.get(module.__name__, b"") for module in modules}
    if all(module.__name__ == "__main__" for module in modules) and (source := _source(modules[0])):
        found = {"__main__": source.read_bytes()}
    if not any(found.values()):
        return ""
    return hashlib.sha256(b"".join(found.values())).hexdigest()


def _source(module: ModuleType) -> Path | None:
    path = Path(getattr(module, "__file__", None) or "")
    return path if path.suffix == ".py" and path.is_file() else None
