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
        self._known: dict[str, str] = {}
        if self._path and self._path.is_file():
            try:
                self._known = json.loads(self._path.read_text(encoding="utf-8"))
            except ValueError:
                self._known = {}
            if not isinstance(self._known, dict):
                self._known = {}

    def __call__(self, path: Path) -> str:
        """Return the hexadecimal SHA-256 of a file's content."""
        real = path.resolve()
        status = real.stat()
        key = f"{real}|{status.st_size}|{status.st_mtime_ns}"
        if key not in self._known:
            with real.open("rb") as file:
                self._known[key] = hashlib.file_digest(file, "sha256").hexdigest()
            if self._path:
                write(self._path, json.dumps(self._known, indent=0).encode())
        return self._known[key]


class Remembered(dict[str, str]):
    """Results of probing services, which cost a request each."""

    def __init__(self, folder: Path | None):
        """Store them in ``folder``; with None they are not stored."""
        self._path = folder / PROBES if folder else None
        try:
            known = json.loads(self._path.read_text(encoding="utf-8")) if self._path else {}
        except (OSError, ValueError):
            known = {}
        super().__init__(known if isinstance(known, dict) else {})

    def __setitem__(self, key: str, value: str) -> None:
        """Set a value and write the file."""
        super().__setitem__(key, value)
        if self._path:
            write(self._path, json.dumps(self, indent=0).encode())
