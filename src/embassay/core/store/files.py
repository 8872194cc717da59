"""The folder of the vector cache: where it is, how large it is, and its removal."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from embassay.core.errors import OutputError
from embassay.core.store.paths import output_path

VECTORS = "vectors"
"""The folder of all vectors in that of the cache; it has a folder for each encoder."""
HASHES, PROBES, TIMES = "hashes.json", "probes.json", "times.json"


def default_folder() -> Path:
    """Return ``$EMBASSAY_CACHE``, else ``$XDG_CACHE_HOME/embassay``, else ``~/.cache/embassay``.

    Raises
    ------
    OutputError
        If the path cannot be used, or no home folder is known.
    """
    folder = os.environ.get("EMBASSAY_CACHE")
    if folder:
        return output_path(folder)
    parent = os.environ.get("XDG_CACHE_HOME")
    if parent:
        return output_path(parent) / "embassay"
    try:
        return Path.home() / ".cache" / "embassay"
    except RuntimeError:
        raise OutputError("no home folder is known for the cache; name one with EMBASSAY_CACHE") from None


def exists(folder: Path) -> bool:
    """Return whether a folder holds a cache."""
    return (folder / VECTORS).is_dir()


def clear(folder: Path) -> int:
    """Remove the files of a cache, damaged or not, and no other files; return the number of bytes freed."""
    freed = size_of(folder / VECTORS)
    shutil.rmtree(folder / VECTORS, ignore_errors=True)
    for path in (folder / HASHES, folder / PROBES, folder / TIMES):
        with suppress(OSError):
            size = path.stat().st_size
            path.unlink()
            freed += size
    return freed


def size_of(folder: Path) -> int:
    """Return the bytes of all files in a folder and the folders in it; 0 if there is none."""
    size = 0
    for path in folder.rglob("*"):
        # Another process may remove files meanwhile.
        with suppress(OSError):
            if path.is_file():
                size += path.stat().st_size
    return size
