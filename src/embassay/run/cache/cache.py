"""The vector cache: exact float32 vectors by (fingerprint, role, text), in plain files.

Each encoder has a folder. Each ``put`` writes one file into it, which is never changed: an archive as numpy writes it
(``.npz``, not compressed) with ``keys`` (n times 16 bytes, each a hash of fingerprint, role and text) and ``vectors``
((n, d) float32), each with its checksum.

A vector of another model, prompt, role or text is never returned: the key is a hash of
all of them, and a damaged file is skipped, so that its texts are encoded again. Other processes may read, write and
remove files of the same folder meanwhile. When the cache is full, no more vectors are stored.
"""

from __future__ import annotations

import hashlib
import io
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from embassay.core.errors import OutputError
from embassay.core.formatting import written_bytes
from embassay.core.samples.base import Text
from embassay.core.store.canonical import write_with
from embassay.run.cache.folder import VECTORS, size_of

SUFFIX = ".vectors"
NOTE = "encoder.txt"
KEY_SIZE = 16
LIMIT = 20 * 10**9
"""The bytes that a cache takes at most, and at most half of what its disk has."""

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Holding:
    """The vectors of one encoder.

    Attributes
    ----------
    fingerprint, name
        Whose they are; empty if that is not known.
    used
        When they were last used, in seconds since 1970; 0 if that is not known.
    vectors
        Their number.
    bytes
        The size of the files.
    """

    fingerprint: str
    name: str
    used: float
    vectors: int
    bytes: int


class VectorCache:
    """Vectors on disk. Several may be open at once, even on the same folder; every file is complete.

    Attributes
    ----------
    folder
        The folder of the cache.
    limit
        How many bytes it may take.
    trouble
        Why the cache could not be written; empty as long as it could.
    """

    def __init__(self, folder: Path):
        """Open the cache in a folder; create it if it does not exist.

        Raises
        ------
        OutputError
            If the folder cannot be written to.
        """
        self.trouble = ""
        self.folder = folder
        self._folder = folder / VECTORS
        # By file, the row of each key in it. Files never change.
        self._rows: dict[Path, dict[bytes, int]] = {}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            # Permissions do not tell that a disk is read-only; writing a file does.
            with tempfile.TemporaryFile(dir=folder):
                # In bytes. It is remembered: listing all files for each put is slow.
                self._size = size_of(self._folder)
            self.limit = min(LIMIT, (shutil.disk_usage(folder).free + self._size) // 2)
        except OSError as error:
            raise OutputError(f"{folder}: cannot be used as a cache: {error.strerror}") from None

    def note(self, fingerprint: str, name: str) -> None:
        """Record that an encoder is used now, and its name, which ``embassay cache info`` shows."""
        content = f"{fingerprint}\n{name}".encode("utf-8", "surrogatepass")
        self._write(self._folder_of(fingerprint) / NOTE, lambda file: file.write(content))

    def get(self, fingerprint: str, texts: Sequence[Text]) -> list[Vectors | None]:
        """Return the (d,) vector of each text, the newest one; None where there is none or where it is damaged."""
        keys = keys_of(fingerprint, texts)
        missing, vectors = set(keys), dict[bytes, Vectors]()
        for path in sorted(self._folder_of(fingerprint).glob(f"*{SUFFIX}"), reverse=True):
            rows = self._rows_in(path)
            here = missing & rows.keys()
            array = _array(path, "vectors") if here else None
            if array is not None:
                # Copies, so that the other vectors of the file do not stay in memory.
                vectors |= {key: array[rows[key]].copy() for key in here}
                missing -= here
        return [vectors.get(key) for key in keys]

    def put(self, fingerprint: str, texts: Sequence[Text], rows: Vectors) -> None:
        """Store the (n, d) vectors of the n texts, all or none; after a failure (``trouble``) store nothing."""
        if self.trouble or not len(texts):
            return
        keys = np.frombuffer(b"".join(keys_of(fingerprint, texts)), np.uint8).reshape(-1, KEY_SIZE)
        added = keys.nbytes + rows.nbytes
        if self._size + added > self.limit:
            self.trouble = f"it is full, at {written_bytes(self.limit)}; 'embassay cache clear' empties it"
            return
        # A name begins with the time; the token keeps two processes apart.
        path = self._folder_of(fingerprint) / f"{time.time_ns():020d}-{secrets.token_hex(4)}{SUFFIX}"
        arrays = {"keys": keys, "vectors": np.asarray(rows, dtype="<f4")}
        self._write(path, lambda file: np.savez(file, allow_pickle=False, **arrays))
        self._size += added

    def info(self) -> list[Holding]:
        """Return what the cache holds of each encoder, the most recently used one first."""
        holdings = []
        for folder in self._folder.iterdir():
            keys = set[bytes]().union(*map(self._rows_in, folder.glob(f"*{SUFFIX}")))
            if keys:
                holdings.append(Holding(*_note(folder), len(keys), size_of(folder)))
        return sorted(holdings, key=lambda holding: holding.used, reverse=True)

    def _folder_of(self, fingerprint: str) -> Path:
        name = hashlib.blake2b(fingerprint.encode("utf-8", "surrogatepass"), digest_size=12)
        return self._folder / name.hexdigest()

    def _rows_in(self, path: Path) -> dict[bytes, int]:
        """Return the row of each key in a file; none where it is damaged or gone."""
        if path not in self._rows:
            keys = _array(path, "keys")
            self._rows[path] = {key.tobytes(): row for row, key in enumerate(() if keys is None else keys)}
        return self._rows[path]

    def _write(self, path: Path, writer: Callable[[BinaryIO], object]) -> None:
        try:
            write_with(path, writer)
        except OutputError as error:
            self.trouble = str(error)


def _note(folder: Path) -> tuple[str, str, float]:
    """Return the fingerprint and the name of an encoder, and when it was last used; empty where not known."""
    try:
        note = folder / NOTE
        fingerprint, _, name = note.read_text("utf-8", "replace").partition("\n")
        return fingerprint, name, note.stat().st_mtime
    except OSError:
        return "", "", 0.0


def keys_of(fingerprint: str, texts: Iterable[Text]) -> list[bytes]:
    """Return the keys of (role, text) pairs; keys of different inputs are equal only by chance (2^-128)."""
    # The lengths keep two inputs apart whose joined texts are equal.
    head = f"{len(fingerprint)}:{fingerprint}"
    keys = []
    for role, content in texts:
        joined = f"{head}{len(role)}:{role}{content}".encode("utf-8", "surrogatepass")
        keys.append(hashlib.blake2b(joined, digest_size=KEY_SIZE).digest())
    return keys


def _array(path: Path, name: str) -> NDArray[Any] | None:
    """Return an array of a file; None if there is none, or if the file is damaged or gone."""
    try:
        # Reading a whole member of an archive checks it. Damage can raise almost anything.
        with ZipFile(path) as archive:
            array: NDArray[Any] = np.load(io.BytesIO(archive.read(f"{name}.npy")), allow_pickle=False)
            return array
    except Exception:
        return None
