"""The modules of users' functions: imported, run again where their files have changed, hashed by their sources."""

from __future__ import annotations

import hashlib
import importlib
import sys
from operator import attrgetter
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from embassay.core.errors import SpecError, UnknownNameError, reason_of

_sources: dict[str, bytes] = {}
"""The source of each module of a user as it was when it ran last."""


def function_of(target: str, version: str = "") -> tuple[Any, str]:
    """Return the object that ``module:callable`` names, and a hash of the module's source; empty if it has none.

    Parameters
    ----------
    version
        Stands for the source, which is not hashed then.

    Raises
    ------
    SpecError
        If there is no such module, it fails, or the function is one of another module.
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
    try:
        module, source = _imported(module_name)
    except ImportError as error:
        raise SpecError(f"{place}: {error}") from None
    except (Exception, SystemExit) as error:
        raise SpecError(f"{place}: {module_name} fails: {reason_of(error)}") from error
    try:
        function = attrgetter(name)(module)
    except AttributeError:
        callables = [n for n, value in vars(module).items() if callable(value) and not n.startswith("_")]
        raise UnknownNameError(f"callable in module {module_name}:", name, callables) from None
    if version:
        return function, version
    if isinstance(function, FunctionType) and function.__module__ != module_name:
        raise SpecError(
            f"{place}: it is a function of {function.__module__}, whose changes would not be noticed; name it there, "
            "or set version="
        )
    return function, hashlib.sha256(source).hexdigest() if source else ""


def _imported(name: str) -> tuple[ModuleType, bytes]:
    """Import a module, run it again if its file has changed since it ran, and return it with its source.

    It runs in the module that there is, so that others who have imported it see the change as well. A module that was
    imported by others is run again once, because its file may have changed after that. A script that is running, and
    installed packages, are never run again. The source of a module without a source file is empty.
    """
    is_new = name not in sys.modules
    module = importlib.import_module(name)
    path = Path(getattr(module, "__file__", None) or "")
    source = path.read_bytes() if path.suffix == ".py" and path.is_file() else b""
    is_fixed = is_new or name == "__main__" or "site-packages" in path.parts
    if not is_fixed and source != _sources.get(name, b""):
        exec(compile(source, path, "exec"), vars(module))  # noqa: S102 - the user's own module
    _sources[name] = source
    return module, source
