"""A folder as a registry: the name of a file is the name of the plug-in.

Names are listed without importing anything: every file of the folder and of its subfolders is a plug-in if it defines
the function of its kind (``create``, ``load``, ``build``). Other packages add plug-ins by entry points in the group
``embassay.encoders`` (``embassay.corpora`` …).

An error in one of our own plug-ins is our mistake and is raised unchanged. A plug-in of another package must not end a
command: whatever it raises becomes a :class:`~embassay.core.errors.PluginError` that names the plug-in and its package.
A caller that uses one plug-in by name raises that error; a caller that goes through all plug-ins skips those that fail,
with :func:`left_out`.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
import inspect
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

from embassay.core.errors import (
    EmbassayError,
    MissingExtraError,
    PluginError,
    SpecError,
    UnknownNameError,
    first_line_of,
)


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
        The name of the kind in messages, for example ``"encoder"``.
    function
        The function of a plug-in's module whose keyword-only parameters are its options.
    group
        The group of the entry points of other packages; the name of ``package`` if it is empty.
    """

    package: str
    kind: str
    function: str = "create"
    group: str = ""

    def names(self) -> tuple[str, ...]:
        """Return the sorted names of all plug-ins, ours and those of other packages. Nothing is imported."""
        names = self.own_names().union(self._entry_points())
        return tuple(sorted(names))

    def own_names(self) -> frozenset[str]:
        """Return the names of the plug-ins that ship with this package."""
        return frozenset(self._own_files())

    def other_names(self) -> frozenset[str]:
        """Return the names of the plug-ins that other packages add."""
        return frozenset(self._entry_points()) - self.own_names()

    def module(self, name: str) -> ModuleType:
        """Import the module of a plug-in.

        Raises
        ------
        UnknownNameError
            If there is no plug-in of that name.
        MissingExtraError
            If its module names an extra (``EXTRA``) whose packages (``REQUIRES``) are not installed.
        PluginError
            If it belongs to another package and cannot be imported or lacks the function of its kind.
        """
        # Ours come first, because checking whether entry points have changed takes longer.
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
        """Import all plug-ins; return their modules by name. Those of other packages that fail are skipped."""
        modules = {}
        for name in self.names():
            with left_out():
                modules[name] = self.module(name)
        return modules

    def missing(self, module: ModuleType) -> tuple[str, ...]:
        """Return the packages that a plug-in requires and that are not installed."""
        packages = getattr(module, "REQUIRES", ())
        return tuple(package for package in packages if importlib.util.find_spec(package) is None)

    @contextmanager
    def guarded(self, name: str) -> Iterator[None]:
        """Turn whatever a plug-in of another package raises inside into a PluginError."""
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
        """Return a version that changes whenever the results of a plug-in may change.

        For one of ours it is the constant ``VERSION`` of its module. For one of another package it is the hash of its
        source (:func:`source_hash`), or the installed version of the package if the source cannot be read.
        """
        module = self.module(name)
        if name in self.own_names():
            return str(module.VERSION)
        with self.guarded(name):
            point = self._entry_points()[name]
            if digest := source_hash(point.module):
                return digest
            return point.dist.version if point.dist else "unknown"

    def describe(self, name: str) -> tuple[str, str | None, bool]:
        """Return the first line of its docstring, its extra or None, and whether it can be used now."""
        module = self._imported(name)
        with self.guarded(name):
            return first_line_of(module.__doc__ or ""), getattr(module, "EXTRA", None), not self.missing(module)

    def options(self, name: str) -> tuple[str, ...]:
        """Import the module of a plug-in and return its options as ``name`` or ``name=default``."""
        module = self._imported(name)
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

    def _imported(self, name: str) -> ModuleType:
        """Import a plug-in; of ours also one whose extra is not installed."""
        return self._import_own(name) if name in self.own_names() else self.module(name)

    def _import_own(self, name: str) -> ModuleType:
        inside = self._own_files()[name].relative_to(_folder_of(self.package)).with_suffix("")
        return importlib.import_module(".".join([self.package, *inside.parts]))

    def _import_theirs(self, name: str) -> ModuleType:
        try:
            module: ModuleType = self._entry_points()[name].load()
        except SpecError as error:
            # Nothing that the user wrote: a declaration of the plug-in, such as a metric's.
            raise ImportError(str(error)) from error
        if not callable(getattr(module, self.function, None)):
            raise TypeError(f"it has no function {self.function!r}")
        if missing := self.missing(module):
            raise ModuleNotFoundError(f"it needs packages that are not installed: {', '.join(missing)}")
        return module

    def _distribution(self, name: str) -> str:
        distribution = self._entry_points()[name].dist
        return f"{distribution.name} {distribution.version}" if distribution else "another package"

    def _entry_points(self) -> dict[str, EntryPoint]:
        # Reading them takes milliseconds.
        return _read_entry_points(self.group or self.package, tuple(sys.path))


@contextmanager
def left_out(asked: bool = False) -> Iterator[None]:
    """Skip a plug-in of another package that fails, with a warning; with ``asked``, raise its error."""
    try:
        yield
    except PluginError as error:
        if asked:
            raise
        warn_once(f"{error}; it is left out")


@cache
def warn_once(message: str) -> None:
    """Warn about a plug-in of another package that fails; the same message is given only once."""
    warnings.warn(message, PluginWarning, stacklevel=2)


def source_hash(module: str) -> str:
    """Return 16 hexadecimal digits of a hash of the source of a module; an empty text if it cannot be read.

    The source is all ``.py`` files of the outermost package that holds the module, with their relative paths; or the
    file of the module if it is in no package.
    """
    spec = _outermost_package(module)
    if spec is None:
        return ""
    origin = Path(spec.origin or "")
    # A compiled module has no source.
    files = [origin] if origin.suffix == ".py" else []
    if spec.submodule_search_locations:
        files = sorted(origin.parent.rglob("*.py"))
    total = hashlib.sha256()
    for path in files:
        place = path.relative_to(origin.parent).as_posix()
        content = path.read_bytes()
        # With both lengths, no other division of the same bytes has the same hash.
        total.update(f"{len(place)}:{place}{len(content)}:".encode("utf-8", "surrogatepass") + content)
    return total.hexdigest()[:16] if files else ""


def _outermost_package(module: str) -> ModuleSpec | None:
    """Return the outermost package of a module that has a file, or the module itself."""
    parts = module.split(".")
    for end in range(1, len(parts) + 1):
        spec = importlib.util.find_spec(".".join(parts[:end]))
        # A namespace package has no file; several projects may share it.
        if spec is not None and spec.origin:
            return spec
    return None


@cache
def _folder_of(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None  # noqa: S101 - our own package
    return Path((spec.submodule_search_locations or [""])[0])


@cache
def _files_with(function: str, folder: Path) -> dict[str, Path]:
    """Return the files of a folder and of its subfolders that define a function, or a class of its name, by name."""
    # Reading takes a hundredth of the time of importing.
    definition = re.compile(rf"^(def {function}\(|{function} = )", re.MULTILINE)
    files = {}
    for path in sorted(folder.rglob("*.py")):
        if definition.search(path.read_text(encoding="utf-8")):
            files[path.stem] = path
    return files


@cache
def _read_entry_points(group: str, places: tuple[str, ...]) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name; what is installed changes with the places."""
    return {point.name: point for point in importlib.metadata.entry_points(group=group)}


ENCODERS = Folder("embassay.models", "encoder", group="embassay.encoders")
RETRIEVERS = Folder("embassay.search.retrievers", "retriever", group="embassay.retrievers")
CORPORA = Folder("embassay.corpora", "corpus loader", "load")
DIAGNOSTICS = Folder("embassay.diagnostics", "diagnostic")
FORMATS = Folder("embassay.run.outputs.kinds", "format", "export", group="embassay.formats")
BUILDERS = Folder("embassay.testsets.kinds", "builder", "build", group="embassay.builders")
