"""The cached vectors of one encoder: a folder of immutable files (``blocks``), and a note of whose they are.

Each ``put`` writes one file under a temporary name and renames it, so that a killed process leaves no half of a file,
and processes do not disturb each other. A damaged file is skipped.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import takewhile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embassay.core.samples.base import Text
from embassay.core.store.canonical import write_whole
from embassay.run.cache.blocks import KEY, SUFFIX, CacheFile, DamagedBlockError, Keys, Vectors, keys_of, write_block

NOTE = "encoder.json"
UNUSABLE = (DamagedBlockError, FileNotFoundError)
"""Errors of files that are damaged, or that another process has removed since the folder was listed."""


@dataclass(frozen=True)
class EncoderNote:
    """What the cache remembers of an encoder. The time of last use is the time of change of the file."""

    fingerprint: str
    name: str = ""


class EncoderVectors:
    """The vectors of one encoder on disk. Other processes may read and write the same folder meanwhile."""

    def __init__(self, folder: Path):
        self.folder = folder
        # The sound files, by name, the newest first: a name begins with the time of writing.
        self._files: dict[str, CacheFile] = {}
        # Names of files that are damaged or that another process has removed, so that they are read only once.
        self._unusable: set[str] = set()
        self._index([])

    @property
    def dim(self) -> int | None:
        """The dimension of the vectors; None if there are none."""
        return self._blocks[0].dim if self._blocks else None

    def note(self) -> EncoderNote | None:
        """Return whose vectors they are; None if there is no note or if it is damaged."""
        try:
            return EncoderNote(**json.loads((self.folder / NOTE).read_bytes()))
        except (OSError, ValueError, TypeError):
            return None

    def write_note(self, note: EncoderNote) -> None:
        """Write whose vectors they are. This counts as a use.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        content = json.dumps(asdict(note)).encode()
        write_whole(self.folder / NOTE, lambda file: file.write(content))

    def used(self) -> float:
        """Return when the vectors were last used, in seconds since 1970; 0 if that is not known."""
        try:
            return (self.folder / NOTE).stat().st_mtime
        except OSError:
            return 0.0

    def get(self, fingerprint: str, texts: Sequence[Text]) -> list[NDArray[np.float32] | None]:
        """Return the (d,) vector of each text; None where there is none or where its file is damaged.

        Raises
        ------
        OSError
            If a file cannot be read.
        """
        self.refresh()
        rows = self._find(keys_of(fingerprint, texts))
        vectors: list[NDArray[np.float32] | None] = [None] * len(rows)
        start = 0
        for block in self._blocks:
            stop = start + len(block.keys)
            places = np.flatnonzero((rows >= start) & (rows < stop))
            if len(places):
                block_vectors = self._read(block, rows[places] - start)
                if block_vectors is None:
                    # An older file may have the vectors of the one that is gone.
                    return self.get(fingerprint, texts)
                for place, vector in zip(places.tolist(), block_vectors, strict=True):
                    vectors[place] = vector
            start = stop
        return vectors

    def has(self, fingerprint: str, texts: Sequence[Text]) -> NDArray[np.bool_]:
        """Return whether each text has a vector; its content is not checked.

        Raises
        ------
        OSError
            If the folder cannot be read.
        """
        self.refresh()
        return self._find(keys_of(fingerprint, texts)) >= 0

    def put(self, keys: Keys, rows: Vectors) -> None:
        """Store the (n, d) vectors of (n, 2) distinct keys.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        # The token keeps two processes apart.
        name = f"{time.time_ns():020d}-{secrets.token_hex(4)}{SUFFIX}"
        write_block(self.folder / name, keys, rows)

    def refresh(self) -> None:
        """Load the files that are new, and forget those that are gone or damaged."""
        names = block_names(self.folder) - self._unusable
        if names == self._files.keys():
            return
        files: dict[str, CacheFile] = {}
        for name in sorted(names, reverse=True):
            try:
                files[name] = self._files.get(name) or CacheFile(self.folder / name)
            except UNUSABLE:
                self._unusable.add(name)
        self._files = files
        self._index(list(files.values()))

    def _index(self, files: list[CacheFile]) -> None:
        """Prepare the search in some files, the newest first.

        The vectors of an encoder all have the dimension of its newest file; a file of another dimension, and all that
        are older than it, are not used.
        """
        self._blocks = list(takewhile(lambda block: block.dim == files[0].dim, files))
        self._keys = np.concatenate([np.empty((0, 2), KEY), *(block.keys for block in self._blocks)])
        # Of equal keys the first one, which is that of the newest file, stays first.
        self._order = np.argsort(self._keys[:, 0], kind="stable")
        self._sorted = self._keys[self._order, 0]

    def _find(self, keys: Keys) -> NDArray[np.intp]:
        """Return the row of each of (n, 2) keys, counted over all files; -1 where there is none."""
        if not len(self._keys):
            return np.full(len(keys), -1)
        places = np.searchsorted(self._sorted, keys[:, 0])
        rows = self._order[np.minimum(places, len(self._order) - 1)]
        # Of two keys with the same first half only one is found. This is rare, and costs an encoding of the other text.
        is_there = (self._keys[rows] == keys).all(axis=1)
        return np.where(is_there, rows, -1)

    def count(self) -> int:
        """Return the number of distinct vectors, as :meth:`refresh` has found them."""
        return len(np.unique(self._keys[:, 0]))

    def check(self) -> int:
        """Read every vector and return the number of damaged files, which are no longer used."""
        self.refresh()
        for block in self._files.values():
            self._read(block, np.arange(len(block.keys)))
        self.refresh()
        return len(self._unusable & block_names(self.folder))

    def _read(self, block: CacheFile, rows: NDArray[np.intp]) -> Vectors | None:
        """Return vectors of a file; None if it is damaged or another process has removed it."""
        try:
            return block.read(rows)
        except UNUSABLE:
            self._unusable.add(block.path.name)
            return None


def encoder_folder(parent: Path, fingerprint: str) -> Path:
    """Return the folder of an encoder in that of all vectors."""
    return parent / hashlib.blake2b(fingerprint.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def block_names(folder: Path) -> set[str]:
    """Return the names of the files of vectors in a folder; none if there is no such folder."""
    try:
        return {path.name for path in folder.iterdir() if path.suffix == SUFFIX}
    except FileNotFoundError:
        return set()
