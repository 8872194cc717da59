"""The packages that the rules take words and their forms from; they are part of the extra ``build``."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from embassay.core.errors import MissingExtraError

EXTRA = "build"
USE = "building a test set"


def text_of(package: str, file: str, use: str = USE) -> str:
    """Return a text file of a package, which is not imported: that would take a second.

    Raises
    ------
    MissingExtraError
        If the package is not installed.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError(use, EXTRA)
    return (Path(spec.submodule_search_locations[0]) / file).read_text(encoding="utf-8-sig")


def lemminflect() -> Any:
    """Return the module lemminflect.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    try:
        import lemminflect
    except ImportError:
        raise MissingExtraError(USE, EXTRA) from None
    return lemminflect
