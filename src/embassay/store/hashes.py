"""Values kept from run to run because they are costly: hashes of files, and probes of services."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from embassay.store.canonical import write
from embassay.store.files import HASHES, PROBES


class FileHashes:
    """SHA-256 of files, remembered by path, size and time of change."""

    def __init__(self, folder: Path | None):
        """Store the hashes in ``folder``; with None they are not stored."""
        self._path = folder / HASHES if folder else None
        self._hashes = _read_strings(self._path)

    def __call__(self, path: Path) -> str:
        """Return the hexadecimal SHA-256 of a file's content."""
        real = path.resolve()
        status = real.stat()
        key = f"{real}|{status.st_size}|{status.st_mtime_ns}"
        if key not in self._hashes:
            with real.open("rb") as file:
                self._hashes[key] = hashlib.file_digest(file, "sha256").hexdigest()
            if self._path:
                write(self._path, json.dumps(self._hashes, indent=0).encode())
        return self._hashes[key]


class Remembered(dict[str, str]):
    """Results of probing services, which cost a request each."""

    def __init__(self, folder: Path | None):
        """Store them in ``folder``; with None they are not stored."""
        self._path = folder / PROBES if folder else None
        super().__init__(_read_strings(self._path))

    def __setitem__(self, key: str, value: str) -> None:
        """Set a value and write the file."""
        super().__setitem__(key, value)
        if self._path:
            write(self._path, json.dumps(self, indent=0).encode())


def _read_strings(path: Path | None) -> dict[str, str]:
    """Return the JSON object in a file; an empty one if there is no file or if it cannot be read."""
    if path is None:
        return {}
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        # All values can be computed again, so a damaged file is not an error.
        return {}
    if not isinstance(values, dict):
        return {}
    return values
