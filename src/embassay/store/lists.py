"""Lists of documents that retrievers gave, as files: in the folder of a run, and of fixed retrievers in the cache."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.store.canonical import write
from embassay.store.files import LISTS

FROM_CACHE = "those that the cache has of an earlier run"
"""How ``run.json`` marks a retriever that was not asked."""


def read_lists(folder: Path, key: str) -> dict[str, NDArray[Any]]:
    """Return the arrays that are stored under a key; empty if there are none, or if the file is damaged."""
    try:
        with np.load(io.BytesIO(_file(folder, key).read_bytes()), allow_pickle=False) as stored:
            return dict(stored)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error):
        # The retriever is asked again.
        return {}


def write_lists(folder: Path, key: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Store arrays of numbers and strings under a key, in the place of those before.

    Raises
    ------
    OutputError
        If the folder cannot be written to.
    """
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    path = _file(folder, key)
    write(path, buffer.getvalue())


def _file(folder: Path, key: str) -> Path:
    return folder / LISTS / f"{key}.npz"
