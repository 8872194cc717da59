"""Lists of documents that retrievers gave, as files: in the folder of a run, and of fixed retrievers in the cache."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from embassay.core.store.arrays import read_arrays, write_arrays
from embassay.core.store.files import LISTS

FROM_CACHE = "those that the cache has of an earlier run"
"""How ``run.json`` marks a retriever that was not asked."""


def read_lists(folder: Path, key: str) -> dict[str, NDArray[Any]]:
    """Return the arrays that are stored under a key; empty if there are none or damaged ones: it is asked again."""
    return read_arrays(_file(folder, key))


def write_lists(folder: Path, key: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Store arrays of numbers and strings under a key, in the place of those before.

    Raises
    ------
    OutputError
        If the folder cannot be written to.
    """
    write_arrays(_file(folder, key), arrays)


def _file(folder: Path, key: str) -> Path:
    return folder / LISTS / f"{key}.npz"
