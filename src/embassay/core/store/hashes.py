"""Hashes of files, which are costly: an unchanged file is read once in a process."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path


def sha256_of(path: Path) -> str:
    """Return the hexadecimal SHA-256 of a file's content; an unchanged file is read once in a process."""
    status = path.stat()
    return _sha256_of(path.resolve(), status.st_size, status.st_mtime_ns)


@cache
def _sha256_of(path: Path, size: int, changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
