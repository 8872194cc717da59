"""A folder as a registry: a file's name is the plug-in's name.

Names are listed without importing anything. Files that start with an underscore are helpers. A second
source are entry points in the group of the same name (``embassay.encoders`` …), for plug-ins of others.
"""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import importlib.util
import inspect
import pkgutil
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from embassay.errors import MissingExtraError, UnknownNameError


@dataclass(frozen=True)
class Folder:
    """The plug-ins of one kind.

    Attributes
    ----------
    package
        The package that holds them, which is also the entry points' group.
    kind
        What one is called in messages, for example ``"encoder"``.
    function
        The function of a plug-in's module whose keyword-only parameters are its options.
    """

    package: str
    kind: str
    function: str = "create"

    def names(self) -> tuple[str, ...]:
        """Return all names, ours and those of entry points, sorted; nothing is imported."""
        return tuple(sorted({*self._files(), *self._entry_points()}))

    def module(self, name: str) -> ModuleType:
        """Import one plug-in's module.

        Raises
        ------
        UnknownNameError
            If there is none of that name.
        MissingExtraError
            If its module names an extra (``EXTRA``) whose packages (``REQUIRES``) are not installed.
        """
        if name in self._files():
            module = importlib.import_module(f"{self.package}.{name}")
        elif name in (points := self._entry_points()):
            module = points[name].load()
        else:
            raise UnknownNameError(self.kind, name, self.names())
        if self.missing(module):
            raise MissingExtraError(f"{self.kind} {name!r}", module.EXTRA)
        return module

    def missing(self, module: ModuleType) -> tuple[str, ...]:
        """Return the packages that a plug-in requires and that are not installed."""
        return tuple(p for p in getattr(module, "REQUIRES", ()) if importlib.util.find_spec(p) is None)

    def describe(self, name: str) -> tuple[str, str | None, bool]:
        """Return (first line of its documentation, extra or None, whether it can be used now)."""
        if name not in self._files():
            module = self._entry_points()[name].load()
            return (module.__doc__ or "").strip().split("\n")[0], getattr(module, "EXTRA", None), True
        tree = ast.parse((self._path() / f"{name}.py").read_text(encoding="utf-8"))
        constants = {
            target.id: ast.literal_eval(node.value)
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name) and target.id in {"EXTRA", "REQUIRES"}
        }
        usable = all(importlib.util.find_spec(p) for p in constants.get("REQUIRES", ()))
        return (ast.get_docstring(tree) or "").split("\n")[0], constants.get("EXTRA"), usable

    def options(self, name: str) -> tuple[str, ...]:
        """Return a plug-in's options as ``name`` or ``name=default``; its module is imported for that."""
        own = name in self._files()
        module = importlib.import_module(f"{self.package}.{name}") if own else self._entry_points()[name].load()
        parameters = inspect.signature(getattr(module, self.function)).parameters.values()
        given = [p for p in parameters if p.kind is p.KEYWORD_ONLY and not inspect.isfunction(p.default)]
        return tuple(p.name if p.default is None or p.default == "" else f"{p.name}={p.default}" for p in given)

    def _path(self) -> Path:
        spec = importlib.util.find_spec(self.package)
        assert spec is not None  # noqa: S101 - our own package
        return Path((spec.submodule_search_locations or [""])[0])

    def _files(self) -> frozenset[str]:
        return frozenset(m.name for m in pkgutil.iter_modules([str(self._path())]) if not m.name.startswith("_"))

    def _entry_points(self) -> dict[str, importlib.metadata.EntryPoint]:
        return {point.name: point for point in importlib.metadata.entry_points(group=self.package)}


ENCODERS = Folder("embassay.encoders", "encoder")
CORPORA = Folder("embassay.corpora", "corpus loader", "load")
DIAGNOSTICS = Folder("embassay.diagnostics", "diagnostic")
BUILDERS = Folder("embassay.builders", "builder", "build")
