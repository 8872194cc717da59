"""Arrays of numbers and strings in ``.npz`` files; nothing is pickled."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.core.store.canonical import write_with


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file by name; empty if there is no such file, or if it is damaged."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            return dict(stored)
    # Whatever is raised for bytes that are no archive of arrays.
    except Exception:
        return {}


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a compressed file of arrays whole or not at all.

    Raises
    ------
    OutputError
        If the folder cannot be written to.
    """
    write_with(path, lambda file: np.savez_compressed(file, allow_pickle=False, **arrays))
