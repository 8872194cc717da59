"""The vector cache: exact float32 vectors by (fingerprint, role, text), in LMDB.

A vector of another model, prompt, role, text or dimension is never returned. The key is a hash of fingerprint, role and
text, the value starts with a checksum of key and vector, and a record that does not match counts as absent
(``records``). ``environment`` opens and shares the file. When the cache is full, whole encoders are removed, the least
recently used first (``holdings``).
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from embassay.errors import UnknownNameError
from embassay.samples.base import Text
from embassay.store import disks, records
from embassay.store.environment import PROBLEMS, RefusedError, acquire, reason, release
from embassay.store.files import DATA, PLACE, default_folder, on_disk
from embassay.store.hashes import FileHashes, Remembered
from embassay.store.holdings import Holding, Info, Verified, damaged, forget, holdings, live, note_of

__all__ = ["FileHashes", "Remembered", "VectorCache", "default_folder", "trouble_with"]

CHUNK = 4_096
"""Texts looked up at a time by ``missing``, so that not all vectors are in memory at once."""
AT_ONCE = 20_000
"""Vectors removed in one transaction."""
T = TypeVar("T")


def trouble_with(folder: Path) -> str | None:
    """Create the folder of a cache and return why it cannot be used; None when it can be used.

    Raises
    ------
    InputError
        If ``EMBASSAY_CACHE_LIMIT`` is not a size.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        with VectorCache(folder):
            return None
    except OSError as error:
        return error.strerror or "it cannot be written to"
    except RefusedError as error:
        return error.reason


class VectorCache:
    """Vectors on disk, to be used as a context manager. Several may be open at once, even on the same folder."""

    def __init__(self, folder: Path, suspicious: bool = False):
        """Open the cache in a folder; create it if it does not exist.

        Parameters
        ----------
        suspicious
            Read the whole file in a separate process first, even if nothing suggests damage.

        Raises
        ------
        OutputError
            If the folder cannot be written to, is on a network disk, or holds a cache that is damaged or that a later
            version wrote.
        InputError
            If ``EMBASSAY_CACHE_LIMIT`` is not a size.
        """
        self.trouble = ""
        # The display name of each encoder, by fingerprint.
        self._names: dict[str, str] = {}
        # The fingerprints of the encoders whose vectors were read, and of those whose last use is already in the file.
        self._used: set[str] = set()
        self._dated: set[str] = set()
        self._limit = disks.limit(folder, on_disk(folder / PLACE / DATA))
        self._shared = acquire(folder, suspicious)
        self._closed = False

    def __enter__(self) -> VectorCache:
        """Return the open cache."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Record when the encoders were last used, and release the file."""
        if self._closed:
            return
        self._closed = True
        try:
            if self._used - self._dated:
                self._shared.run(self._date_used, write=True)
        except PROBLEMS:
            # Only the times of last use are lost; they decide nothing but the order of removal.
            pass
        finally:
            release(self._shared)

    def note(self, fingerprint: str, name: str) -> None:
        """Set the display name of an encoder; ``embassay cache info`` shows it."""
        self._names[fingerprint] = name
        self._dated.discard(fingerprint)

    def get(self, fingerprint: str, texts: Sequence[Text]) -> list[NDArray[np.float32] | None]:
        """Return the (d,) vector of each text; None where there is none or where it is damaged."""
        rows = self._get(fingerprint, texts)
        if any(row is not None for row in rows):
            self._used.add(fingerprint)
        return rows

    def put(self, fingerprint: str, texts: Sequence[Text], rows: NDArray[np.float32]) -> None:
        """Store the (n, d) vectors of the n texts, all or none; after a failure (``trouble``) store nothing."""
        if self.trouble or not len(texts):
            return
        rows = np.ascontiguousarray(rows, dtype="<f4")
        keys = map(records.keys(fingerprint), texts)
        items = sorted((key, records.pack(key, row.tobytes())) for key, row in zip(keys, rows, strict=True))
        try:
            while not self._put(fingerprint, items, rows.shape[1]):
                if not self._evict(fingerprint):
                    self.trouble = (
                        f"it is full, at {disks.shown(self._limit or 0)}; {disks.VARIABLE} sets another limit"
                    )
                    return
        except PROBLEMS as error:
            self.trouble = reason(error)

    def speed(self, fingerprint: str) -> records.Speed | None:
        """Return how fast an encoder was when its vectors were computed; None if that is not known."""
        key = records.speed_key(records.prefix(fingerprint))
        try:
            return self._shared.run(lambda transaction: records.unpack_speed(key, transaction.get(key)))
        except PROBLEMS:
            return None

    def note_speed(self, fingerprint: str, speed: records.Speed) -> None:
        """Store how fast an encoder is whose vectors are in the cache; what was not measured now stays as it was."""
        if self.trouble:
            return
        before = self.speed(fingerprint) or records.Speed()
        of = records.prefix(fingerprint)
        key = records.speed_key(of)
        updated = records.Speed(
            before.texts_per_second if speed.texts_per_second is None else speed.texts_per_second,
            before.query_milliseconds if speed.query_milliseconds is None else speed.query_milliseconds,
            speed.device or before.device,
        )

        def write(transaction: Any) -> None:
            if note_of(transaction, of) is not None:
                transaction.put(key, records.pack_speed(key, updated))

        try:
            self._shared.run(write, write=True)
        except PROBLEMS:
            # The vectors are there; how long they took is only shown.
            return

    def count(self, fingerprint: str, texts: Sequence[Text]) -> int:
        """Return how many of the texts have a vector."""
        return len(texts) - len(self.missing(fingerprint, texts))

    def missing(self, fingerprint: str, texts: Sequence[Text]) -> tuple[Text, ...]:
        """Return the texts that have no vector, in their order; all of them if the cache cannot be read (``trouble``).

        The lookup does not count as a use of the encoder.
        """
        missing: list[Text] = []
        for start in range(0, len(texts), CHUNK):
            chunk = texts[start : start + CHUNK]
            rows = self._get(fingerprint, chunk)
            for text, row in zip(chunk, rows, strict=True):
                if row is None:
                    missing.append(text)
        return tuple(missing)

    def info(self) -> Info:
        """Return what the cache holds, the most recently used encoder first.

        Raises
        ------
        OutputError
            If it cannot be read.
        """
        size, oldest_first = self._run(lambda transaction: (live(transaction), holdings(transaction)))
        return Info(
            folder=self._shared.folder,
            on_disk=on_disk(self._shared.data),
            live=size,
            limit=self._limit,
            encoders=oldest_first[::-1],
        )

    def verify(self) -> Verified:
        """Read every vector; remove those that are damaged, not finite, or belong to no recorded encoder.

        Raises
        ------
        OutputError
            If it cannot be read or written to.
        """
        vectors, bad = self._run(damaged)
        if bad:
            self._run(lambda transaction: [transaction.delete(key) for key in bad], write=True)
        return Verified(vectors, sum(key[:1] == records.VECTOR for key in bad))

    def clear(self, encoder: str) -> int:
        """Remove the vectors of all encoders with this fingerprint or name. The file keeps its size.

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
        exact, without_scheme, names = [], [], set()
        for holding in self.info().encoders:
            if holding.note is None:
                continue
            name, fingerprint = holding.note.name, holding.note.fingerprint
            names.add(name or fingerprint)
            if encoder in (fingerprint, name):
                exact.append(holding)
            elif name and encoder == name.partition(":")[2]:
                without_scheme.append(holding)
        # An exact match wins over names that match only without their scheme.
        chosen = exact or without_scheme
        if not chosen:
            raise UnknownNameError("encoder in the cache", encoder, names)
        for holding in chosen:
            _remove_all(holding, self._run)
        return sum(holding.vectors for holding in chosen)

    def _get(self, fingerprint: str, texts: Sequence[Text]) -> list[NDArray[np.float32] | None]:
        keys = list(map(records.keys(fingerprint), texts))

        def read(transaction: Any) -> list[NDArray[np.float32] | None]:
            note = note_of(transaction, records.prefix(fingerprint))
            if note is None:
                return [None] * len(keys)
            vectors = {}
            # Reading in the order of the file is faster.
            for key in sorted(keys):
                vectors[key] = records.vector(key, transaction.get(key), note.dim)
            return [vectors[key] for key in keys]

        try:
            return self._shared.run(read)
        except PROBLEMS as error:
            self.trouble = reason(error)
            return [None] * len(texts)

    def _put(self, fingerprint: str, items: list[tuple[bytes, bytes]], dim: int) -> bool:
        """Store records and return True; store none and return False if the cache would then exceed its limit."""
        prefix = records.prefix(fingerprint)

        def work(transaction: Any) -> bool:
            note = note_of(transaction, prefix)
            has_other_dim = note is not None and note.dim != dim
            if has_other_dim:
                # The vectors of one encoder all have the same dimension; the older ones can no longer be read.
                forget(transaction, prefix)
            if note is None or has_other_dim or fingerprint not in self._dated:
                self._date(transaction, fingerprint, dim)
            transaction.cursor().putmulti(items)
            # Only LMDB knows how many pages the records take, so the size is compared after writing.
            if self._limit and live(transaction) > self._limit:
                transaction.abort()
                return False
            return True

        fits = self._shared.run(work, write=True)
        if fits:
            self._dated.add(fingerprint)
        return fits

    def _date_used(self, transaction: Any) -> None:
        for fingerprint in sorted(self._used - self._dated):
            self._date(transaction, fingerprint)

    def _date(self, transaction: Any, fingerprint: str, dim: int = 0) -> None:
        """Write the time of last use and the name of an encoder; with ``dim`` 0 only if it already has a record."""
        prefix = records.prefix(fingerprint)
        note = note_of(transaction, prefix)
        if note is None:
            if not dim:
                return
            note = records.EncoderNote(fingerprint)
        name = self._names.get(fingerprint, note.name)
        updated = replace(note, name=name, dim=dim or note.dim, used=time.time())
        key = records.note_key(prefix)
        transaction.put(key, records.pack_note(key, updated))

    def _evict(self, fingerprint: str) -> bool:
        """Remove the least recently used other encoder; False when there is none."""
        prefix = records.prefix(fingerprint)
        for holding in self._shared.run(holdings):
            if holding.prefix != prefix:
                _remove_all(holding, self._shared.run)
                return True
        return False

    def _run(self, work: Callable[[Any], T], write: bool = False) -> T:
        """Run a transaction whose failure is an error of the user's command, not only ``trouble``."""
        try:
            return self._shared.run(work, write)
        except PROBLEMS as error:
            raise RefusedError(self._shared.folder, reason(error)) from None


def _remove_all(holding: Holding, run: Callable[..., int]) -> None:
    """Remove all vectors of an encoder; ``run`` runs a transaction.

    Several transactions remove ``AT_ONCE`` vectors each, because LMDB keeps all changes of one transaction in memory.
    """

    def remove_part(transaction: Any) -> int:
        return forget(transaction, holding.prefix, AT_ONCE)

    while run(remove_part, write=True) == AT_ONCE:
        pass
