"""The modules of users' functions: imported, and hashed by their sources."""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from embassay.core.errors import SpecError, UnknownNameError, reason_of


def function_of(
    target: str, version: str = "", also: Callable[[object], bool] = callable
) -> tuple[Callable[..., object], str]:
    """Return the callable that ``module:callable`` names, and a hash of its sources; empty if there is none.

    Parameters
    ----------
    version
        Stands for the sources, which are not hashed then.
    also
        Which objects that cannot be called are accepted as well.

    Raises
    ------
    SpecError
        If there is no such module, or it fails.
    UnknownNameError
        If the module has no such callable.
    """
    place = f"encoder 'python:{target}'"
    module_name, _, name = target.partition(":")
    if not module_name or not name:
        raise SpecError(f"{place}: write python:module:callable")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    importlib.invalidate_caches()
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise SpecError(f"{place}: {error}") from None
    except (Exception, SystemExit) as error:
        raise SpecError(f"{place}: {module_name} fails: {reason_of(error)}") from error
    function: Any = module
    for part in name.split("."):
        if not hasattr(function, part):
            callables = [n for n, value in vars(function).items() if callable(value) and not n.startswith("_")]
            raise UnknownNameError(f"callable in module {module_name}:", part, callables)
        function = getattr(function, part)
    if not callable(function) and not also(function):
        raise SpecError(f"{place}: {name!r} is not callable")
    # The callable may be in another module, which the first one imports.
    home = sys.modules.get(getattr(function, "__module__", None) or "", module)
    content = b"".join(map(_source, dict.fromkeys((module, home))))
    return function, version or (hashlib.sha256(content).hexdigest() if content else "")


def _source(module: ModuleType) -> bytes:
    """Return the source of a module when it was first seen; empty if it has no source file."""
    path = Path(getattr(module, "__file__", None) or "")
    content = path.read_bytes() if path.suffix == ".py" and path.is_file() else b""
    # A file that changes is not run again. Where the user reloads a module, it has another spec. A script has none.
    source: bytes = vars(module.__spec__).setdefault("source", content) if module.__spec__ else content
    return source
