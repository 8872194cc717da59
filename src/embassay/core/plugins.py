"""A folder as a registry: the name of a file is the name of the plug-in.

Names are listed without importing anything: every file of the folder and of its subfolders is a plug-in if it defines
the function of its kind (``create``, ``load``, ``build``). Other packages add plug-ins by entry points in the group
``embassay.encoders`` (``embassay.corpora`` …).

A plug-in of another package that cannot be imported is a :class:`~embassay.core.errors.PluginError`, which names it.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
import inspect
from collections.abc import KeysView
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

from embassay.core.errors import MissingExtraError, PluginError, UnknownNameError, first_line_of

ROOT = Path(__file__).parents[1]
"""The folder of this package."""


@dataclass(frozen=True)
class Folder:
    """The plug-ins of one kind.

    Attributes
    ----------
    folder
        The folder in this package that holds them.
    group
        The group of the entry points of other packages.
    kind
        The name of the kind in messages, for example ``"encoder"``.
    function
        The function of a plug-in's module whose keyword-only parameters are its options.
    """

    folder: str
    group: str
    kind: str
    function: str = "create"

    def names(self) -> tuple[str, ...]:
        """Return the sorted names of all plug-ins, ours and those of other packages. Nothing is imported."""
        return tuple(sorted({*self.own_names(), *_entry_points(self.group)}))

    def own_names(self) -> KeysView[str]:
        """Return the names of the plug-ins that ship with this package."""
        return _own_modules(self.folder, self.function).keys()

    def other_names(self) -> list[str]:
        """Return the names of the plug-ins that other packages add."""
        return [name for name in _entry_points(self.group) if name not in self.own_names()]

    def module(self, name: str) -> ModuleType:
        """Import the module of a plug-in.

        Raises
        ------
        UnknownNameError
            If there is no plug-in of that name.
        MissingExtraError
            If its module names an extra (``EXTRA``) whose packages (``REQUIRES``) are not installed.
        PluginError
            If it belongs to another package and cannot be imported.
        """
        module = self._imported(name)
        if self.is_missing(module):
            raise MissingExtraError(f"{self.kind} {name!r}", module.EXTRA)
        return module

    def modules(self) -> dict[str, ModuleType]:
        """Import all plug-ins; return their modules by name."""
        return {name: self.module(name) for name in self.names()}

    def is_missing(self, module: ModuleType) -> bool:
        """Return whether a package that a plug-in requires is not installed."""
        return any(importlib.util.find_spec(package) is None for package in getattr(module, "REQUIRES", ()))

    def version(self, name: str) -> str:
        """Return a version that changes whenever the results of a plug-in may change.

        For one of ours it is the constant ``VERSION`` of its module. For one of another package it is the hash of its
        source (:func:`source_hash`).
        """
        module = self.module(name)
        if name in self.own_names():
            return str(module.VERSION)
        return source_hash(str(module.__file__))

    def describe(self, name: str) -> tuple[str, str]:
        """Return the first line of its docstring, and the extra that it lacks; an empty text if it can be used now."""
        module = self._imported(name)
        return first_line_of(module.__doc__ or ""), module.EXTRA if self.is_missing(module) else ""

    def options(self, name: str) -> tuple[str, ...]:
        """Import the module of a plug-in and return its options as ``name`` or ``name=default``."""
        parameters = inspect.getfullargspec(getattr(self._imported(name), self.function))
        options = []
        for option in parameters.kwonlyargs:
            default = (parameters.kwonlydefaults or {}).get(option)
            if not inspect.isfunction(default):
                options.append(option if default in (None, "") else f"{option}={default}")
        return tuple(options)

    def _imported(self, name: str) -> ModuleType:
        """Import a plug-in; of ours also one whose extra is not installed."""
        if name in self.own_names():
            return importlib.import_module(_own_modules(self.folder, self.function)[name])
        point = _entry_points(self.group).get(name)
        if point is None:
            raise UnknownNameError(self.kind, name, self.names())
        try:
            module: ModuleType = point.load()
        # A module may also call sys.exit where it should raise.
        except (Exception, SystemExit) as error:
            problem = f"cannot be imported: {type(error).__name__}: {error}"
            raise PluginError(f"{self.kind} {name!r} of the package {point.module!r} {problem}") from error
        return module


def source_hash(file: str) -> str:
    """Return a hash of a module's file, or of all ``.py`` files of the outermost package that holds it."""
    source = Path(file)
    while (source.parent / "__init__.py").is_file():
        source = source.parent
    files = sorted(source.rglob("*.py")) if source.is_dir() else [source]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()[:16]


@cache
def _own_modules(folder: str, function: str) -> dict[str, str]:
    """Return the modules in a folder of this package that define a function, or a class of its name, by name."""
    # Reading takes a hundredth of the time of importing.
    modules = {}
    for path in sorted((ROOT / folder).rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if f"\ndef {function}(" in source or f"\n{function} = " in source:
            modules[path.stem] = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
    return modules


@cache
def _entry_points(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name. Reading them takes milliseconds."""
    return {point.name: point for point in importlib.metadata.entry_points(group=group)}


ENCODERS = Folder("models", "embassay.encoders", "encoder")
RETRIEVERS = Folder("search/retrievers", "embassay.retrievers", "retriever")
CORPORA = Folder("corpora", "embassay.corpora", "corpus loader", "load")
DIAGNOSTICS = Folder("diagnostics", "embassay.diagnostics", "diagnostic")
FORMATS = Folder("run/outputs/kinds", "embassay.formats", "format", "export")
BUILDERS = Folder("testsets/kinds", "embassay.builders", "builder", "build")
