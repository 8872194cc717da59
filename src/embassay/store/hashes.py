"""Values kept from run to run because they are costly: hashes of files, and probes of services."""

from __future__ import annotations

import json
from pathlib import Path

from embassay.store.canonical import write
from embassay.store.files import HASHES, PROBES
from embassay.types import sha256_of


class FileHashes:
    """SHA-256 of files, remembered by path, size and time of change."""

    def __init__(self, folder: Path | None):
        """Store the hashes in ``folder``; with None they are not stored."""
        self._path: Path | None = None
        self._hashes: dict[str, str] = {}
        if folder:
            self._path = folder / HASHES
            self._hashes = _read_strings(self._path)

    def __call__(self, path: Path) -> str:
        """Return the hexadecimal SHA-256 of a file's content."""
        real = path.resolve()
        status = real.stat()
        key = f"{real}|{status.st_size}|{status.st_mtime_ns}"
        stored_hash = self._hashes.get(key)
        if stored_hash is not None:
            return stored_hash
        digest = sha256_of(real)
        self._hashes[key] = digest
        if self._path:
            write(self._path, json.dumps(self._hashes, indent=0).encode())
        return digest


class Remembered(dict[str, str]):
    """Results of probing services, which cost a request each."""

    def __init__(self, folder: Path | None):
        """Store them in ``folder``; with None they are not stored."""
        self._path: Path | None = None
        stored: dict[str, str] = {}
        if folder:
            self._path = folder / PROBES
            stored = _read_strings(self._path)
        super().__init__(stored)

    def __setitem__(self, key: str, value: str) -> None:
        """Set a value and write the file."""
        super().__setitem__(key, value)
        if self._path:
            write(self._path, json.dumps(self, indent=0).encode())


def _read_strings(path: Path) -> dict[str, str]:
    """Return the JSON object in a file; an empty one if there is no file or if it cannot be read."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        # All values can be computed again, so a damaged file is not an error.
        return {}
    if not isinstance(values, dict):
        return {}
    return values
