"""The modules of users' functions: imported, run again where their files have changed, hashed by their sources."""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Collection
from operator import attrgetter
from pathlib import Path
from sysconfig import get_path
from types import ModuleType
from typing import Any

from embassay.core.errors import SpecError, UnknownNameError, reason_of

INSTALLED = {"site-packages", "dist-packages", "embassay"}
"""Folders of packages that do not change while a process runs."""
_sources: dict[str, bytes] = {}
"""The source of each module of a user as it was when it ran last."""


def function_of(target: str, version: str = "") -> tuple[Any, str]:
    """Return the object that ``module:callable`` names, and a hash of its sources; empty if there is none.

    Parameters
    ----------
    version
        Stands for the sources, which are not hashed then.

    Raises
    ------
    SpecError
        If there is no such module, or it fails.
    UnknownNameError
        If the module has nothing of that name.
    """
    place = f"encoder 'python:{target}'"
    module_name, _, name = target.partition(":")
    if not module_name or not name:
        raise SpecError(f"{place}: write python:module:callable")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    importlib.invalidate_caches()
    before = frozenset(sys.modules)
    try:
        module = importlib.import_module(module_name)
        _run_if_changed(module, before)
        function = _named(module, name)
        # The callable may be in another module, which the first one imports.
        home = sys.modules.get(getattr(function, "__module__", None) or "", module)
        if not version and _run_if_changed(home, before):
            _sources.pop(module_name, None)
            _run_if_changed(module, sys.modules)
            function = _named(module, name)
    except UnknownNameError:
        raise
    except ImportError as error:
        raise SpecError(f"{place}: {error}") from None
    except (Exception, SystemExit) as error:
        raise SpecError(f"{place}: {module_name} fails: {reason_of(error)}") from error
    content = b"".join(map(_source, dict.fromkeys((module, home))))
    return function, version or (hashlib.sha256(content).hexdigest() if content else "")


def _run_if_changed(module: ModuleType, before: Collection[str]) -> bool:
    """Run a module again if its file has changed since it ran, and return whether that was so.

    It runs in the module that there is, so that others who have imported it see the change as well. A module that was
    imported ``before`` is run again once, because its file may have changed after that. A script that is running, and
    installed packages, are never run again.
    """
    name = module.__name__
    path = Path(getattr(module, "__file__", None) or "")
    content = _source(module)
    if name not in before:
        _sources[name] = content
    is_installed = path.is_relative_to(get_path("stdlib")) or INSTALLED.intersection(path.parts)
    if name == "__main__" or is_installed or content == _sources.get(name, b""):
        return False
    # Before it runs, because it may itself ask for one of its functions.
    _sources[name] = content
    try:
        exec(compile(content, path, "exec"), vars(module))  # noqa: S102 - the user's own module
    except BaseException:
        del _sources[name]
        raise
    return True


def _source(module: ModuleType) -> bytes:
    """Return the source of a module; empty if it has no source file."""
    path = Path(getattr(module, "__file__", None) or "")
    return path.read_bytes() if path.suffix == ".py" and path.is_file() else b""


def _named(module: ModuleType, name: str) -> Any:
    """Return the object with a dotted name in a module."""
    try:
        return attrgetter(name)(module)
    except AttributeError:
        callables = [n for n, value in vars(module).items() if callable(value) and not n.startswith("_")]
        raise UnknownNameError(f"callable in module {module.__name__}:", name, callables) from None
