"""Importing packages that are not installed by an extra of this one."""

from __future__ import annotations

import importlib
import importlib.util
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from embassay.core.errors import EncoderError, SpecError, reason_of


def require(package: str, install: str, place: str) -> None:
    """Raise SpecError with the command that installs a package, if it is not installed."""
    if importlib.util.find_spec(package) is None:
        raise SpecError(f"{place} needs the package {package}: pip install {install}")


def load(package: str) -> ModuleType:
    """Import a package; its changes to the root logger are undone.

    Raises
    ------
    EncoderError
        If the import fails with any exception.
    """
    try:
        with _same_logging():
            return importlib.import_module(package)
    except Exception as error:
        raise EncoderError(f"the package {package} cannot be imported: {reason_of(error)}") from error


@contextmanager
def _same_logging() -> Iterator[None]:
    """Restore the root logger's handlers and level. laser_encoders adds a handler that writes to standard output."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
