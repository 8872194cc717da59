"""The vector cache: exact float32 vectors by (fingerprint, role, text), in plain files.

A vector of another model, prompt, role, text or dimension is never returned: the key is a hash of fingerprint, role and
text, and a vector that does not match its checksum counts as absent (``blocks``). Each encoder has a folder
(``encoder_vectors``). When the cache is full, files are removed, those of the least recently used encoder first.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from embassay.core.errors import OutputError, UnknownNameError
from embassay.core.formatting import written_bytes
from embassay.core.samples.base import Text
from embassay.core.store.files import VECTORS, default_folder, size_of
from embassay.core.store.hashes import FileHashes, Remembered
from embassay.run.cache import disks
from embassay.run.cache.blocks import keys_of
from embassay.run.cache.blocks import size_of as block_size
from embassay.run.cache.encoder_vectors import EncoderNote, EncoderVectors, block_names, encoder_folder

__all__ = ["FileHashes", "Remembered", "VectorCache", "default_folder", "trouble_with"]


@dataclass(frozen=True)
class Holding:
    """The vectors of one encoder.

    Attributes
    ----------
    note
        Whose they are; None if that is no longer known.
    dim
        Their dimension; None if no file can be read.
    bytes
        The size of the files.
    used
        When they were last used, in seconds since 1970.
    damaged
        The number of files that are damaged; the vectors in them are encoded again when they are needed.
    """

    note: EncoderNote | None
    folder: Path
    dim: int | None
    vectors: int
    bytes: int
    used: float
    damaged: int


@dataclass(frozen=True)
class Info:
    """What a cache holds: its size in bytes, its limit (None for none), and its encoders, the last used first."""

    folder: Path
    on_disk: int
    limit: int | None
    encoders: tuple[Holding, ...]

    @property
    def vectors(self) -> int:
        """The number of all vectors."""
        return sum(holding.vectors for holding in self.encoders)

    @property
    def damaged(self) -> int:
        """The number of all damaged files."""
        return sum(holding.damaged for holding in self.encoders)


def trouble_with(folder: Path) -> str | None:
    """Create the folder of a cache and return why it cannot be used; None when it can be used.

    Raises
    ------
    InputError
        If ``EMBASSAY_CACHE_LIMIT`` is not a size.
    """
    disks.limit(folder, 0)
    try:
        (folder / VECTORS).mkdir(parents=True, exist_ok=True)
        # Permissions do not tell that a disk is read-only; writing a file does.
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return error.strerror or "it cannot be written to"


class VectorCache:
    """Vectors on disk, to be used as a context manager. Several may be open at once, even on the same folder."""

    def __init__(self, folder: Path):
        """Open the cache in a folder; create it if it does not exist.

        Raises
        ------
        OutputError
            If the folder cannot be written to.
        InputError
            If ``EMBASSAY_CACHE_LIMIT`` is not a size.
        """
        # Why the cache could not be read or written; empty as long as it could.
        self.trouble = ""
        self._root = folder
        self._folder = folder / VECTORS
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            refusal = f"{folder}: no cache there ({error.strerror}); choose another with --cache, or --no-cache"
            raise OutputError(refusal) from None
        # In bytes; the limit is None for no limit. The size is remembered: listing all files for each put is slow.
        self._size = size_of(self._folder)
        self._limit = disks.limit(folder, self._size)
        self._encoders: dict[str, EncoderVectors] = {}
        # The display name of each encoder, by fingerprint.
        self._names: dict[str, str] = {}
        # The fingerprints of the encoders whose vectors were read or written.
        self._used: set[str] = set()

    def __enter__(self) -> VectorCache:
        """Return the open cache."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Record when the encoders were last used."""
        for fingerprint in sorted(self._used):
            try:
                self._write_note(fingerprint)
            except OSError:
                # Only names and times of last use are lost; they decide nothing but the order of removal.
                continue

    def note(self, fingerprint: str, name: str) -> None:
        """Set the display name of an encoder; ``embassay cache info`` shows it."""
        self._names[fingerprint] = name
        # The next vectors that are put write the name.
        self._used.discard(fingerprint)

    def get(self, fingerprint: str, texts: Sequence[Text]) -> list[NDArray[np.float32] | None]:
        """Return the (d,) vector of each text; None where there is none or where it is damaged."""
        try:
            rows = self._vectors(fingerprint).get(fingerprint, texts)
        except OSError as error:
            self.trouble = error.strerror or str(error)
            return [None] * len(texts)
        if any(row is not None for row in rows):
            self._used.add(fingerprint)
        return rows

    def put(self, fingerprint: str, texts: Sequence[Text], rows: NDArray[np.float32]) -> None:
        """Store the (n, d) vectors of the n texts, all or none; after a failure (``trouble``) store nothing."""
        if self.trouble or not len(texts):
            return
        added = block_size(len(texts), rows.shape[1])
        try:
            if not self._make_room(fingerprint, added):
                limit = written_bytes(self._limit or 0)
                self.trouble = f"it is full, at {limit}; {disks.VARIABLE} sets another limit"
                return
            try:
                self._store(fingerprint, texts, rows)
            except FileNotFoundError:
                # Another process has removed the encoder's folder meanwhile, to make room.
                self._store(fingerprint, texts, rows)
        except OSError as error:
            self.trouble = error.strerror or str(error)
            return
        self._size += added
        self._used.add(fingerprint)

    def _store(self, fingerprint: str, texts: Sequence[Text], rows: NDArray[np.float32]) -> None:
        """Write vectors, and whose they are where no file says so, also because another process has removed it."""
        vectors = self._vectors(fingerprint)
        vectors.put(keys_of(fingerprint, texts), rows)
        if fingerprint not in self._used or not vectors.used():
            self._write_note(fingerprint)

    def missing(self, fingerprint: str, texts: Sequence[Text]) -> tuple[Text, ...]:
        """Return the texts that have no vector, in their order; all of them if the cache cannot be read (``trouble``).

        The lookup does not count as a use of the encoder.
        """
        try:
            is_there = self._vectors(fingerprint).has(fingerprint, texts)
        except OSError as error:
            self.trouble = error.strerror or str(error)
            return tuple(texts)
        return tuple(compress(texts, ~is_there))

    def info(self) -> Info:
        """Read every vector and return what the cache holds, the most recently used encoder first.

        Raises
        ------
        OutputError
            If it cannot be read.
        """
        holdings = []
        try:
            for vectors in self._all():
                damaged = vectors.check()
                size = size_of(vectors.folder)
                note, dim, count, used = vectors.note(), vectors.dim, vectors.count(), vectors.used()
                # The folder of an encoder whose vectors made room for others stays: another process may write to it.
                if count or damaged:
                    holdings.append(Holding(note, vectors.folder, dim, count, size, used, damaged))
        except OSError as error:
            raise OutputError(f"{self._root}: the cache cannot be read: {error.strerror}") from None
        holdings.sort(key=lambda holding: holding.used, reverse=True)
        return Info(self._root, size_of(self._folder), self._limit, tuple(holdings))

    def clear(self, encoder: str) -> int:
        """Remove the vectors of all encoders with this fingerprint or name.

        The scheme of a name may be omitted: ``all-MiniLM-L6-v2`` also stands for ``st:all-MiniLM-L6-v2``.

        Returns
        -------
        int
            The number of vectors removed.

        Raises
        ------
        UnknownNameError
            If the cache holds no such encoder.
        OutputError
            If it cannot be written to.
        """
        chosen: list[EncoderVectors] = []
        names = set()
        for vectors in self._all():
            note = vectors.note()
            if note is not None:
                names.add(note.name or note.fingerprint)
                # "st:all-MiniLM-L6-v2" -> "all-MiniLM-L6-v2"
                without_scheme = note.name.partition(":")[2]
                if encoder in {note.fingerprint, note.name, without_scheme} - {""}:
                    chosen.append(vectors)
        if not chosen:
            raise UnknownNameError("encoder in the cache", encoder, names)
        removed = 0
        for vectors in chosen:
            vectors.refresh()
            removed += vectors.count()
            try:
                shutil.rmtree(vectors.folder)
            except OSError as error:
                raise OutputError(f"{vectors.folder}: cannot be removed: {error.strerror}") from None
        self._encoders.clear()
        self._size = size_of(self._folder)
        return removed

    def _vectors(self, fingerprint: str) -> EncoderVectors:
        """Return the vectors of an encoder, with the keys that were read before."""
        if fingerprint not in self._encoders:
            self._encoders[fingerprint] = EncoderVectors(encoder_folder(self._folder, fingerprint))
        return self._encoders[fingerprint]

    def _all(self) -> Iterator[EncoderVectors]:
        """Yield the vectors of all encoders, in the order of their folders' names."""
        for folder in sorted(self._folder.iterdir()):
            if folder.is_dir():
                yield EncoderVectors(folder)

    def _write_note(self, fingerprint: str) -> None:
        """Write whose vectors they are, and that they are used now."""
        vectors = self._vectors(fingerprint)
        note = vectors.note() or EncoderNote(fingerprint)
        # Another process may have removed the encoder meanwhile.
        if vectors.folder.is_dir():
            vectors.write_note(replace(note, name=self._names.get(fingerprint, note.name)))

    def _make_room(self, kept: str, added: int) -> bool:
        """Return whether so many more bytes fit, after removing files of other encoders if needed."""
        if self._limit is None or self._size + added <= self._limit:
            return True
        # Other processes write and remove files too.
        self._size = size_of(self._folder)
        kept_folder = encoder_folder(self._folder, kept)
        others = [vectors for vectors in self._all() if vectors.folder != kept_folder]
        for vectors in sorted(others, key=EncoderVectors.used):
            # The oldest file of an encoder goes first: its name is a time.
            for name in sorted(block_names(vectors.folder)):
                if self._size + added <= self._limit:
                    return True
                path = vectors.folder / name
                # Another process may make room at the same time.
                with suppress(FileNotFoundError):
                    self._size -= path.stat().st_size
                    path.unlink()
        # Another process may have removed some of them, whose sizes are not subtracted.
        self._size = size_of(self._folder)
        return self._size + added <= self._limit
