"""Packages that are no extra of this one: what to install where one is missing."""

from __future__ import annotations

import importlib
import importlib.util
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from embassay.errors import EncoderError, SpecError


def require(package: str, install: str, place: str) -> None:
    """Raise SpecError with the line that installs a package, where it is not there."""
    if importlib.util.find_spec(package) is None:
        raise SpecError(f"{place} needs the package {package}: pip install {install}")


def load(package: str) -> ModuleType:
    """Import a package; what it sets up for the logging of the whole process is undone.

    Raises
    ------
    EncoderError
        If that fails, whatever it raises.
    """
    try:
        with _same_logging():
            return importlib.import_module(package)
    except Exception as error:
        raise EncoderError(f"the package {package} cannot be imported: {type(error).__name__}: {error}") from error


@contextmanager
def _same_logging() -> Iterator[None]:
    """Put the root logger's handlers and level back: laser_encoders would write to standard output from then on."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
