"""A folder as a registry: a file's name is the plug-in's name.

Names are listed without importing anything: every file of the folder and of the folders in it is a plug-in if it
defines the kind's function (``create``, ``load``, ``build``). A second source are entry points in the
group ``embassay.encoders`` (``embassay.corpora`` …), for plug-ins of others.

A plug-in of ours that fails is a mistake of ours, and its error is let through. One of another package must not
take a command down with it: whatever it raises becomes a :class:`~embassay.errors.PluginError` that names it and
its package. Who asked for that plug-in by name lets the error through; who only goes through all of them leaves it
out, with :func:`left_out`.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.metadata
import importlib.util
import inspect
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any

from embassay.errors import EmbassayError, MissingExtraError, PluginError, UnknownNameError


class PluginWarning(UserWarning):
    """A plug-in of another package was left out."""


@dataclass(frozen=True)
class Folder:
    """The plug-ins of one kind.

    Attributes
    ----------
    package
        The package that holds them.
    kind
        What one is called in messages, for example ``"encoder"``.
    function
        The function of a plug-in's module whose keyword-only parameters are its options.
    group
        The group of other packages' entry points; the package's name where empty.
    """

    package: str
    kind: str
    function: str = "create"
    group: str = ""

    def names(self) -> tuple[str, ...]:
        """Return all names, ours and those of entry points, sorted; nothing is imported."""
        return tuple(sorted({*self.own_names(), *self._entry_points()}))

    def own_names(self) -> frozenset[str]:
        """Return the names of those that ship with this package."""
        return frozenset(self._own_files())

    def module(self, name: str) -> ModuleType:
        """Import one plug-in's module.

        Raises
        ------
        UnknownNameError
            If there is none of that name.
        MissingExtraError
            If its module names an extra (``EXTRA``) whose packages (``REQUIRES``) are not installed.
        PluginError
            If it is of another package, and cannot be imported or has not the function that it needs.
        """
        # Ours are looked for first: where entry points may have changed takes longer to find out.
        if name in self.own_names():
            module = self._import_own(name)
        elif name in self._entry_points():
            with self.guarded(name):
                return self._import_theirs(name)
        else:
            raise UnknownNameError(self.kind, name, self.names())
        if self.missing(module):
            raise MissingExtraError(f"{self.kind} {name!r}", module.EXTRA)
        return module

    def working(self) -> dict[str, ModuleType]:
        """Import all plug-ins and return their modules by name; those of others that fail are left out, and named."""
        modules = {}
        for name in self.names():
            with left_out():
                modules[name] = self.module(name)
        return modules

    def missing(self, module: ModuleType) -> tuple[str, ...]:
        """Return the packages that a plug-in requires and that are not installed."""
        return tuple(p for p in getattr(module, "REQUIRES", ()) if importlib.util.find_spec(p) is None)

    @contextmanager
    def guarded(self, name: str) -> Iterator[None]:
        """Let a plug-in of another package fail with one PluginError, whatever it raises inside."""
        try:
            yield
        except EmbassayError:
            raise
        # A module may also call sys.exit where it should raise.
        except (Exception, SystemExit) as error:
            if name in self.own_names():
                raise
            whose = f"{self.kind} {name!r} of {self._distribution(name)}"
            raise PluginError(f"{whose} cannot be used: {type(error).__name__}: {error}") from error

    def version(self, name: str) -> str:
        """Return what changes whenever a plug-in computes something else.

        Of one of ours it is the constant ``VERSION`` of its module. Of another package's it is 16 hexadecimal digits of
        the source: of the outermost package that its module lies in, or of the module alone. Where no source can be
        read, it is the version of what is installed.
        """
        module = self.module(name)
        if name in self.own_names():
            return str(module.VERSION)
        with self.guarded(name):
            point = self._entry_points()[name]
            return source_hash(point.module) or (point.dist.version if point.dist else "unknown")

    def describe(self, name: str) -> tuple[str, str | None, bool]:
        """Return (first line of its documentation, extra or None, whether it can be used now)."""
        if name not in self.own_names():
            module = self.module(name)
            with self.guarded(name):
                return _first_line(module.__doc__), getattr(module, "EXTRA", None), True
        tree = ast.parse(self._own_files()[name].read_text(encoding="utf-8"))
        constants = {
            target.id: ast.literal_eval(node.value)
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name) and target.id in {"EXTRA", "REQUIRES"}
        }
        usable = all(importlib.util.find_spec(p) for p in constants.get("REQUIRES", ()))
        return _first_line(ast.get_docstring(tree)), constants.get("EXTRA"), usable

    def options(self, name: str) -> tuple[str, ...]:
        """Return a plug-in's options as ``name`` or ``name=default``; its module is imported for that."""
        # Of ours also those whose extra is not installed.
        module = self._import_own(name) if name in self.own_names() else self.module(name)
        options = []
        with self.guarded(name):
            for parameter in inspect.signature(getattr(module, self.function)).parameters.values():
                if parameter.kind is not parameter.KEYWORD_ONLY or inspect.isfunction(parameter.default):
                    continue
                has_default = parameter.default is not None and parameter.default != ""
                options.append(f"{parameter.name}={parameter.default}" if has_default else parameter.name)
        return tuple(options)

    def _own_files(self) -> dict[str, Path]:
        """Return the files of our own plug-ins by name."""
        return _files_with(self.function, _folder_of(self.package))

    def _import_own(self, name: str) -> ModuleType:
        inside = self._own_files()[name].relative_to(_folder_of(self.package)).with_suffix("")
        return importlib.import_module(".".join([self.package, *inside.parts]))

    def _import_theirs(self, name: str) -> ModuleType:
        module: ModuleType = self._entry_points()[name].load()
        if not callable(getattr(module, self.function, None)):
            raise TypeError(f"it has no function {self.function!r}")
        if missing := self.missing(module):
            raise ModuleNotFoundError(f"it needs packages that are not installed: {', '.join(missing)}")
        return module

    def _distribution(self, name: str) -> str:
        distribution = self._entry_points()[name].dist
        return f"{distribution.name} {distribution.version}" if distribution else "another package"

    def _entry_points(self) -> dict[str, EntryPoint]:
        # Reading them takes milliseconds. What is installed changes with the places and with what they list.
        places = tuple((place, _changed(place)) for place in sys.path)
        return _read_entry_points(self.group or self.package, places, importlib.metadata.entry_points)


@contextmanager
def left_out(asked: bool = False) -> Iterator[None]:
    """Leave a plug-in of another package out where it fails, and name it, unless it was asked for by name."""
    try:
        yield
    except PluginError as error:
        if asked:
            raise
        warn_once(f"{error}; it is left out")


@cache
def warn_once(message: str) -> None:
    """Warn of a plug-in of another package that fails; the same is said once only."""
    warnings.warn(message, PluginWarning, stacklevel=2)


def source_hash(module: str) -> str:
    """Return 16 hexadecimal digits of the source that a module is made of; empty where none can be read.

    That is all ``.py`` files of the outermost package that it lies in, with their places in it; or its own file.
    """
    parts = module.split(".")
    # An outer namespace package is shared by several projects, and has no file of its own.
    outer = (".".join(parts[: end + 1]) for end in range(len(parts)))
    spec = next((s for name in outer if (s := importlib.util.find_spec(name)) and s.origin), None)
    if spec is None or spec.origin is None:
        return ""
    origin = Path(spec.origin)
    folder = origin.parent
    files = sorted(folder.rglob("*.py")) if spec.submodule_search_locations else [origin]
    files = [path for path in files if path.suffix == ".py"]
    if not files:
        return ""
    total = hashlib.sha256()
    for path in files:
        place = path.relative_to(folder).as_posix()
        try:
            content = path.read_bytes()
        except OSError:
            return ""
        # With both lengths, no other division of the same bytes has the same hash.
        total.update(f"{len(place)}:{place}{len(content)}:".encode("utf-8", "surrogatepass") + content)
    return total.hexdigest()[:16]


def _first_line(documentation: object) -> str:
    return documentation.strip().split("\n")[0] if isinstance(documentation, str) else ""


@cache
def _folder_of(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None  # noqa: S101 - our own package
    return Path((spec.submodule_search_locations or [""])[0])


@cache
def _files_with(function: str, folder: Path) -> dict[str, Path]:
    """Return the files of a folder and of the folders in it that define a function, by their names."""
    # Reading is enough, and takes a hundredth of the time that importing would.
    start = f"\ndef {function}("
    return {file.stem: file for file in sorted(folder.rglob("*.py")) if start in file.read_text(encoding="utf-8")}


@lru_cache(maxsize=16)
def _read_entry_points(
    group: str, places: tuple[tuple[str, int], ...], read: Callable[..., Any]
) -> dict[str, EntryPoint]:
    del places  # a part of the cache's key only
    return {point.name: point for point in read(group=group)}


def _changed(place: str) -> int:
    """Return when a folder of ``sys.path`` was last changed; 0 where there is none."""
    try:
        return Path(place).stat().st_mtime_ns
    except OSError:
        return 0


ENCODERS = Folder("embassay.encoders", "encoder")
CORPORA = Folder("embassay.corpora", "corpus loader", "load")
DIAGNOSTICS = Folder("embassay.diagnostics", "diagnostic")
BUILDERS = Folder("embassay.testsets.kinds", "builder", "build", group="embassay.builders")
