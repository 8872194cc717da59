"""The vector cache: exact float32 vectors by (fingerprint, role, text), in LMDB.

The key is a hash of all three, so a vector of another model, prompt, role or text is never returned; the
value carries a checksum over key and vector, and what does not match is treated as absent.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import lmdb
import numpy as np
from numpy.typing import NDArray

from embassay.errors import OutputError
from embassay.store.canonical import write
from embassay.types import Text

CEILING = 1 << 40
"""Bytes that the file may grow to; it is sparse and takes what it holds."""
CHECK = 8


def default_folder() -> Path:
    """Return ``$EMBASSAY_CACHE``, else ``$XDG_CACHE_HOME/embassay``, else ``~/.cache/embassay``."""
    if own := os.environ.get("EMBASSAY_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "embassay"


def trouble_with(folder: Path) -> str | None:
    """Make a cache's folder and say why it cannot be used; None when it can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        with VectorCache(folder):
            return None
    except OSError as error:
        return error.strerror or "it cannot be written to"
    except OutputError as error:
        return str(error)


class VectorCache:
    """Vectors on disk; use it as a context manager, one at a time in a process."""

    def __init__(self, folder: Path):
        """Open the cache in a folder, making it if need be.

        Raises
        ------
        OutputError
            If the folder cannot be written to.
        """
        self.trouble = ""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._env = lmdb.open(str(folder / "vectors"), map_size=CEILING, max_dbs=0, meminit=False)
        except (OSError, lmdb.Error) as error:
            raise OutputError(
                f"{folder}: no cache there ({error}); choose another with --cache, or --no-cache"
            ) from None

    def __enter__(self) -> VectorCache:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self._env.close()

    def get(self, fingerprint: str, texts: Sequence[Text]) -> list[NDArray[np.float32] | None]:
        """Return the vector of each text, None where there is none or where it is damaged."""
        try:
            with self._env.begin(buffers=True) as transaction:
                return [_unpack(key, transaction.get(key)) for key in (_key(fingerprint, t) for t in texts)]
        except lmdb.Error as error:
            self.trouble = str(error)
            return [None] * len(texts)

    def put(self, fingerprint: str, texts: Sequence[Text], rows: NDArray[np.float32]) -> None:
        """Keep the (n, d) vectors of the texts, all or none; once that fails (``trouble``), nothing more is kept."""
        if self.trouble:
            return
        try:
            with self._env.begin(write=True) as transaction:
                for text, row in zip(texts, np.ascontiguousarray(rows, dtype="<f4"), strict=True):
                    key = _key(fingerprint, text)
                    transaction.put(key, _digest(key, row.tobytes()) + row.tobytes())
        except lmdb.Error as error:
            self.trouble = str(error)

    def count(self, fingerprint: str, texts: Sequence[Text]) -> int:
        """Return how many of the texts have a vector."""
        return sum(row is not None for row in self.get(fingerprint, texts))


class FileHashes:
    """SHA-256 of files, remembered by path, size and time of change."""

    def __init__(self, folder: Path | None):
        """Keep the memory in ``folder``; with None nothing is kept."""
        self._path = folder / "hashes.json" if folder else None
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


def _key(fingerprint: str, text: Text) -> bytes:
    content = "\x1f".join((fingerprint, *text)).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=32).digest()


def _digest(key: bytes, content: bytes) -> bytes:
    return hashlib.blake2b(key + content, digest_size=CHECK).digest()


def _unpack(key: bytes, value: memoryview | None) -> NDArray[np.float32] | None:
    if value is None:
        return None
    check, content = bytes(value[:CHECK]), bytes(value[CHECK:])
    if not content or len(content) % 4 or check != _digest(key, content):
        return None
    return np.frombuffer(content, dtype="<f4")
