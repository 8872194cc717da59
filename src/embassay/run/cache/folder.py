"""The folder of the vector cache: where it is, how large it is, and its removal."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from embassay.core.store.paths import output_path

VECTORS = "vectors"
"""The folder of all vectors in that of the cache; it has a folder for each encoder."""
PROBES_FILE, TIMES_FILE = "probes.json", "times.json"


def default_folder() -> Path:
    """Return ``$EMBASSAY_CACHE``, else ``$XDG_CACHE_HOME/embassay``, else ``~/.cache/embassay``.

    Raises
    ------
    InputError
        If the path cannot be used.
    """
    folder = os.environ.get("EMBASSAY_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "embassay"
    return output_path(folder)


def clear(folder: Path) -> int:
    """Remove the files of a cache, damaged or not, and no other files; return the number of bytes freed."""
    freed = 0
    for name in (VECTORS, PROBES_FILE, TIMES_FILE):
        path = folder / name
        freed += size_of(path)
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    return freed


def size_of(place: Path) -> int:
    """Return the bytes of a file, or of all files in a folder and the folders in it; 0 if there is none."""
    size = 0
    for path in (place, *place.rglob("*")):
        # Another process may remove files meanwhile.
        with suppress(OSError):
            if path.is_file():
                size += path.stat().st_size
    return size
