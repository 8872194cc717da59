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
from typing import TypeVar

import lmdb
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
        # Permissions do not tell that a disk is read-only; writing a file does.
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
        # Why the cache could not be read or written; empty as long as it could.
        self.trouble = ""
        # The display name of each encoder, by fingerprint.
        self._names: dict[str, str] = {}
        # The fingerprints of the encoders whose vectors were read.
        self._used: set[str] = set()
        # Those whose name and time of last use this object has already written to the file.
        self._recorded: set[str] = set()
        # In bytes; None for no limit.
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
            if self._used - self._recorded:
                self._shared.run(self._record_unrecorded_uses, write=True)
        except PROBLEMS:
            # Only the times of last use are lost; they decide nothing but the order of removal.
            pass
        finally:
            release(self._shared)

    def note(self, fingerprint: str, name: str) -> None:
        """Set the display name of an encoder; ``embassay cache info`` shows it."""
        self._names[fingerprint] = name
        # A record that was written before lacks this name.
        self._recorded.discard(fingerprint)

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
        dim = rows.shape[1]
        key_of = records.keys(fingerprint)
        items = []
        for text, row in zip(texts, rows, strict=True):
            key = key_of(text)
            items.append((key, records.pack(key, row.tobytes())))
        # Writing in the order of the file is faster.
        items.sort()
        try:
            fits = self._put(fingerprint, items, dim)
            # Make room by removing one encoder after the other.
            while not fits and self._remove_least_recently_used(fingerprint):
                fits = self._put(fingerprint, items, dim)
        except PROBLEMS as error:
            self.trouble = reason(error)
            return
        # Without a limit everything fits.
        if self._limit and not fits:
            self.trouble = f"it is full, at {disks.shown(self._limit)}; {disks.VARIABLE} sets another limit"

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

        def read(transaction: lmdb.Transaction) -> Info:
            least_recently_used_first = holdings(transaction)
            return Info(
                folder=self._shared.folder,
                on_disk=on_disk(self._shared.data),
                live=live(transaction),
                limit=self._limit,
                encoders=least_recently_used_first[::-1],
            )

        return self._run(read)

    def verify(self) -> Verified:
        """Read every vector; remove those that are damaged, not finite, or belong to no recorded encoder.

        Raises
        ------
        OutputError
            If it cannot be read or written to.
        """
        vectors, bad_keys = self._run(damaged)

        def delete(transaction: lmdb.Transaction) -> None:
            for key in bad_keys:
                transaction.delete(key)

        if bad_keys:
            self._run(delete, write=True)
        bad_vectors = [key for key in bad_keys if key.startswith(records.VECTOR)]
        return Verified(vectors, removed=len(bad_vectors))

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
        exact: list[Holding] = []
        without_scheme: list[Holding] = []
        names = set()
        for holding in self.info().encoders:
            if holding.note is None:
                continue
            name, fingerprint = holding.note.name, holding.note.fingerprint
            names.add(name or fingerprint)
            if encoder in (fingerprint, name):
                exact.append(holding)
            # "st:all-MiniLM-L6-v2" -> "all-MiniLM-L6-v2"
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
        """Return what :meth:`get` returns; the lookup does not count as a use of the encoder."""
        keys = list(map(records.keys(fingerprint), texts))

        def read(transaction: lmdb.Transaction) -> list[NDArray[np.float32] | None]:
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

        def write(transaction: lmdb.Transaction) -> bool:
            note = note_of(transaction, prefix)
            if note is not None and note.dim != dim:
                # The vectors of one encoder all have the same dimension; the older ones can no longer be read.
                forget(transaction, prefix)
                note = None
            if note is None or fingerprint not in self._recorded:
                self._record_use(transaction, fingerprint, dim)
            transaction.cursor().putmulti(items)
            # Only LMDB knows how many pages the records take, so the size is compared after writing.
            if self._limit and live(transaction) > self._limit:
                transaction.abort()
                return False
            return True

        fits = self._shared.run(write, write=True)
        if fits:
            self._recorded.add(fingerprint)
        return fits

    def _record_unrecorded_uses(self, transaction: lmdb.Transaction) -> None:
        """Write the time of last use of the encoders that were only read from."""
        for fingerprint in sorted(self._used - self._recorded):
            note = note_of(transaction, records.prefix(fingerprint))
            # Another process may have removed the encoder meanwhile.
            if note is not None:
                self._record_use(transaction, fingerprint, note.dim)

    def _record_use(self, transaction: lmdb.Transaction, fingerprint: str, dim: int) -> None:
        """Write the record of an encoder: its name, its dimension, and now as the time of its last use."""
        prefix = records.prefix(fingerprint)
        note = note_of(transaction, prefix)
        if note is None:
            note = records.EncoderNote(fingerprint)
        name = self._names.get(fingerprint, note.name)
        updated = replace(note, name=name, dim=dim, used=time.time())
        key = records.note_key(prefix)
        transaction.put(key, records.pack_note(key, updated))

    def _remove_least_recently_used(self, kept: str) -> bool:
        """Remove the encoder whose last use is longest ago, but not the one with the fingerprint ``kept``.

        Return False if there is no other encoder.
        """
        kept_prefix = records.prefix(kept)
        least_recently_used_first = self._shared.run(holdings)
        others = [holding for holding in least_recently_used_first if holding.prefix != kept_prefix]
        if not others:
            return False
        _remove_all(others[0], self._shared.run)
        return True

    def _run(self, work: Callable[[lmdb.Transaction], T], write: bool = False) -> T:
        """Run a transaction whose failure is an error of the user's command, not only ``trouble``."""
        try:
            return self._shared.run(work, write)
        except PROBLEMS as error:
            raise RefusedError(self._shared.folder, reason(error)) from None


def _remove_all(holding: Holding, run: Callable[..., int]) -> None:
    """Remove an encoder's record and all its vectors; ``run`` is the method that calls a function with a transaction.

    Several transactions remove ``AT_ONCE`` vectors each, because LMDB keeps all changes of one transaction in memory.
    """

    def remove_part(transaction: lmdb.Transaction) -> int:
        return forget(transaction, holding.prefix, AT_ONCE)

    # Fewer than AT_ONCE are removed only when no more are left.
    removed = AT_ONCE
    while removed == AT_ONCE:
        removed = run(remove_part, write=True)
