"""The files of a vector cache: where they are, their sizes, exclusive access, and removal."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from embassay.errors import OutputError
from embassay.store.paths import output_path

PLACE, DATA, LOCK, STAMP = "vectors", "data.mdb", "lock.mdb", "checked"
"""The folder of the LMDB file in that of the cache, the file, LMDB's lock file, and the stamp (``environment``)."""
HASHES, PROBES = "hashes.json", "probes.json"
LOCK_SIZE = 1 << 14
"""Bytes that are allocated for the lock file."""
BLOCK = 512
"""Bytes of a block in the status of a file, whatever the disk uses."""


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


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold an exclusive lock on the cache of a folder, so that no other process opens or removes it. Not on Windows."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def exists(folder: Path) -> bool:
    """Return whether a folder holds a cache."""
    return (folder / PLACE / DATA).exists()


def clear(folder: Path) -> int:
    """Remove the files of a cache, damaged or not, and no other files; return the number of bytes freed."""
    if not folder.is_dir():
        return 0
    with alone(folder):
        freed = remove(folder / PLACE)
        freed += _unlink(folder / HASHES)
        freed += _unlink(folder / PROBES)
        with suppress(OSError):
            (folder / PLACE).rmdir()
    return freed


def remove(place: Path) -> int:
    """Remove the LMDB file, its lock file and its stamp; return the number of bytes freed."""
    return sum(_unlink(place / name) for name in (DATA, LOCK, STAMP))


def _unlink(path: Path) -> int:
    """Remove a file if it exists; return the number of bytes freed."""
    freed = on_disk(path)
    path.unlink(missing_ok=True)
    return freed


def on_disk(path: Path) -> int:
    """Return the bytes that a file occupies on disk; 0 if it does not exist."""
    try:
        status = path.stat()
    except OSError:
        return 0
    # Windows does not tell the number of blocks. Elsewhere it counts, as a sparse file occupies less than its size.
    blocks_of_size = math.ceil(status.st_size / BLOCK)
    blocks = int(getattr(status, "st_blocks", blocks_of_size))
    return blocks * BLOCK


def state(path: Path) -> str:
    """Return inode, size and time of change of a file as text; empty if it does not exist or is empty."""
    try:
        status = path.stat()
    except OSError:
        return ""
    if not status.st_size:
        return ""
    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"


def reserve(path: Path) -> None:
    """Allocate the lock file. LMDB maps it into memory, where a full disk would kill the process."""
    if path.exists() and path.stat().st_size:
        return
    with path.open("wb") as file:
        file.write(bytes(LOCK_SIZE))
        file.flush()
        os.fsync(file.fileno())
