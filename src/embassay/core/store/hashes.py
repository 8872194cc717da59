"""Values kept from run to run because they are costly: hashes of files, probes of services, times of encoders."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path

from embassay.core.store.canonical import write
from embassay.core.store.files import HASHES, PROBES


class Remembered(dict[str, str]):
    """Texts in a file, such as the results of probing services, which cost a request each."""

    # Another process that is sent these texts sets them before their path.
    _path: Path | None = None

    def __init__(self, folder: Path | None, name: str = PROBES):
        """Store them in the file of this name in ``folder``; with None they are not stored."""
        self._path = folder / name if folder else None
        super().__init__()
        if self._path:
            # All values can be computed again, so a file that is missing or damaged is not an error.
            with suppress(OSError, ValueError, TypeError, RecursionError):
                self.update(dict(json.loads(self._path.read_text(encoding="utf-8"))))

    def __setitem__(self, key: str, value: str) -> None:
        """Set a value and write the file."""
        super().__setitem__(key, value)
        if self._path:
            write(self._path, json.dumps(self, indent=0).encode())


class FileHashes:
    """SHA-256 of files, remembered by path, size and time of change."""

    def __init__(self, folder: Path | None):
        """Store the hashes in ``folder``; with None they are not stored."""
        self._hashes = Remembered(folder, HASHES)

    def __call__(self, path: Path) -> str:
        """Return the hexadecimal SHA-256 of a file's content."""
        real = path.resolve()
        status = real.stat()
        key = f"{real}|{status.st_size}|{status.st_mtime_ns}"
        if key not in self._hashes:
            with real.open("rb") as file:
                self._hashes[key] = hashlib.file_digest(file, "sha256").hexdigest()
        return self._hashes[key]


sha256_of = FileHashes(None)
"""Hashes files; an unchanged one is read once in a process."""
