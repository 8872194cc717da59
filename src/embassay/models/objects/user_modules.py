"""The modules of users' functions: imported, run again where their files have changed, hashed by their sources."""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from embassay.core.errors import SpecError, UnknownNameError, reason_of

_sources: dict[str, bytes] = {}
"""The source of each module as it was when it ran last."""
_LOADED_AT = time.time()


def function_of(
    target: str, version: str = "", also: Callable[[object], bool] = callable
) -> tuple[Callable[..., object], str]:
    """Return the callable that ``module:callable`` names, and a hash of its sources; empty if there is none.

    Parameters
    ----------
    version
        Stands for the sources, which are not hashed then.
    also
        Which objects that cannot be called are taken, too.

    Raises
    ------
    SpecError
        If there is no such module.
    UnknownNameError
        If the module has no such callable.
    """
    module_name, colon, name = target.partition(":")
    if not colon or not module_name or not name:
        raise SpecError(f"encoder 'python:{target}': write python:module:callable")
    module = import_module(module_name, target)
    function = _callable(module, name, target, also)
    if version:
        return function, version
    # The callable may stand in another module, which the first one imports.
    home = sys.modules.get(getattr(function, "__module__", None) or "", module)
    if home is not module and run_if_changed(home, target):
        run_again(module, target)
        function = _callable(module, name, target, also)
    return function, content_of(module, home)


def import_module(name: str, target: str) -> ModuleType:
    """Import a module; where its file has changed since it ran, run it again."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    importlib.invalidate_caches()
    was_imported = name in sys.modules
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        raise SpecError(f"encoder 'python:{target}': {error}") from None
    except (Exception, SystemExit) as error:
        raise _failure(name, target, error) from error
    source = _source(module)
    if not was_imported and source is not None:
        _sources[name] = source.read_bytes()
    run_if_changed(module, target)
    return module


def run_if_changed(module: ModuleType, target: str) -> bool:
    """Run a module again where its file has changed since it ran; say whether that was so.

    A module that somebody else imported is taken to have run from the file as it is, unless the file is younger than
    this process; a script that is running is never run again.
    """
    source = _source(module)
    if source is None or module.__name__ == "__main__":
        return False
    content = source.read_bytes()
    # Older than the process: it cannot have changed since it was imported.
    if module.__name__ not in _sources and source.stat().st_mtime < _process_start():
        _sources[module.__name__] = content
    if _sources.get(module.__name__) == content:
        return False
    run_again(module, target)
    return True


def run_again(module: ModuleType, target: str) -> None:
    """Run a module's file in the module that there is, so that others who have imported it see the change too."""
    source = _source(module)
    if source is None or module.__name__ == "__main__":
        return
    content = source.read_bytes()
    try:
        exec(compile(content, str(source), "exec"), vars(module))  # noqa: S102 - the user's own module
    except (Exception, SystemExit) as error:
        raise _failure(module.__name__, target, error) from error
    _sources[module.__name__] = content


def _process_start() -> float:
    """Return when this process began, in seconds since 1970; when this module was imported, where /proc is absent."""
    try:
        # Field 22 of proc(5): the start in clock ticks after the machine's. The name before it may hold blanks.
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        boot = re.search(r"^btime (\d+)$", Path("/proc/stat").read_text(), re.MULTILINE)
        if boot:
            return float(boot[1]) + ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        # Only Linux has these files.
        pass
    return _LOADED_AT


def _failure(name: str, target: str, error: BaseException) -> SpecError:
    return SpecError(f"encoder 'python:{target}': {name} fails: {reason_of(error)}")


def content_of(module: ModuleType, home: ModuleType) -> str:
    """Return a hash of the sources that ran: the module's and the callable's own; empty if there is no source."""
    content = b""
    for each in dict.fromkeys((module, home)):
        content += _sources.get(each.__name__, b"")
    script = _source(module)
    if module.__name__ == home.__name__ == "__main__" and script is not None:
        content = script.read_bytes()
    if content:
        return hashlib.sha256(content).hexdigest()
    return ""


def _source(module: ModuleType) -> Path | None:
    path = Path(getattr(module, "__file__", None) or "")
    if path.suffix == ".py" and path.is_file():
        return path
    return None


def _callable(module: ModuleType, name: str, target: str, also: Callable[[object], bool]) -> Callable[..., Any]:
    """Return the callable with a dotted name in a module."""
    function: object = module
    for part in name.split("."):
        if not hasattr(function, part):
            callables = [n for n, value in vars(function).items() if callable(value) and not n.startswith("_")]
            raise UnknownNameError(f"callable in module {module.__name__}:", part, callables)
        function = getattr(function, part)
    if not callable(function) and not also(function):
        raise SpecError(f"encoder 'python:{target}': {name!r} is not callable")
    return cast("Callable[..., Any]", function)
