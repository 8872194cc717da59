"""What the vector cache holds, encoder by encoder; each function works inside one transaction."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import lmdb
import numpy as np

from embassay.store.records import (
    ENCODER,
    LAYOUT_KEY,
    PREFIX,
    VECTOR,
    EncoderNote,
    note_key,
    prefix,
    unpack,
    unpack_note,
    vector,
)


@dataclass(frozen=True)
class Holding:
    """The vectors of one encoder. ``note`` is None if its record is damaged; the vectors are then not used."""

    prefix: bytes
    note: EncoderNote | None
    vectors: int
    bytes: int


@dataclass(frozen=True)
class Info:
    """What a cache holds.

    Sizes are in bytes: ``on_disk`` is the size of the file, ``live`` the part in use, and ``limit`` the largest size
    allowed, None for no limit.
    """

    folder: Path
    on_disk: int
    live: int
    limit: int | None
    encoders: tuple[Holding, ...]

    @property
    def vectors(self) -> int:
        """The number of all vectors."""
        return sum(holding.vectors for holding in self.encoders)


@dataclass(frozen=True)
class Verified:
    """The numbers of vectors read and removed. Damaged vectors and those of no recorded encoder are removed."""

    vectors: int
    removed: int


def live(transaction: lmdb.Transaction) -> int:
    """Return the bytes in use. The file may be larger: LMDB reuses freed pages and does not shrink the file."""
    stat = transaction.stat()
    pages: int = stat["branch_pages"] + stat["leaf_pages"] + stat["overflow_pages"]
    page_size: int = stat["psize"]
    return pages * page_size


def note_of(transaction: lmdb.Transaction, vector_prefix: bytes) -> EncoderNote | None:
    """Return the record of the encoder whose vectors have this prefix; None if there is none or if it is damaged."""
    key = note_key(vector_prefix)
    note = unpack_note(key, transaction.get(key))
    if note is None or prefix(note.fingerprint) != vector_prefix:
        return None
    return note


def holdings(transaction: lmdb.Transaction) -> tuple[Holding, ...]:
    """Return the holding of each encoder, the least recently used first."""
    counts: Counter[bytes] = Counter()
    sizes: Counter[bytes] = Counter()
    for key, value in _items(transaction, VECTOR):
        vector_prefix = key[:PREFIX]
        counts[vector_prefix] += 1
        sizes[vector_prefix] += len(key) + len(value)
    unsorted = []
    for vector_prefix, count in counts.items():
        note = note_of(transaction, vector_prefix)
        unsorted.append(Holding(vector_prefix, note, count, sizes[vector_prefix]))

    def last_used(holding: Holding) -> tuple[float, bytes]:
        if holding.note is None:
            # Its vectors cannot be used, so they are the first to be removed from a full cache.
            return 0.0, holding.prefix
        # The prefix makes the order of encoders last used at the same time always the same.
        return holding.note.used, holding.prefix

    return tuple(sorted(unsorted, key=last_used))


def forget(transaction: lmdb.Transaction, vector_prefix: bytes, most: int = sys.maxsize) -> int:
    """Remove the record and at most ``most`` vectors of an encoder; return the number of vectors removed."""
    transaction.delete(note_key(vector_prefix))
    cursor = transaction.cursor()
    removed = 0
    at_record = cursor.set_range(vector_prefix)
    while at_record and removed < most:
        start_of_key = bytes(cursor.key()[:PREFIX])
        if start_of_key != vector_prefix:
            break
        # After a deletion the cursor is at the next record.
        at_record = cursor.delete()
        removed += 1
    return removed


def damaged(transaction: lmdb.Transaction) -> tuple[int, list[bytes]]:
    """Read all records; return the number of vectors, and the keys of the records that are damaged or orphaned."""
    notes: dict[bytes, EncoderNote | None] = {}
    bad_keys = []
    vectors = 0
    for key, value in _items(transaction, b""):
        kind = key[:1]
        # The keys of all records of an encoder differ only in their first byte.
        vector_prefix = VECTOR + key[1:PREFIX]
        if vector_prefix not in notes:
            notes[vector_prefix] = note_of(transaction, vector_prefix)
        note = notes[vector_prefix]
        if kind == VECTOR:
            vectors += 1
            sound = _is_sound_vector(key, value, note)
        elif kind == ENCODER:
            sound = unpack(key, value) is not None and note is not None
        else:
            sound = key == LAYOUT_KEY and unpack(key, value) is not None
        if not sound:
            bad_keys.append(key)
    return vectors, bad_keys


def _is_sound_vector(key: bytes, value: memoryview | bytes, note: EncoderNote | None) -> bool:
    """Return whether a vector is undamaged, finite, and of the dimension of its encoder."""
    if note is None:
        return False
    row = vector(key, value, note.dim)
    return row is not None and bool(np.isfinite(row).all())


def _items(transaction: lmdb.Transaction, start: bytes) -> Iterator[tuple[bytes, memoryview | bytes]]:
    """Yield the records whose keys begin with ``start``, sorted by key.

    A value points into the file: it is valid only until the transaction ends or writes.
    """
    cursor = transaction.cursor()
    # LMDB refuses a search for the empty key.
    at_record = cursor.set_range(start) if start else cursor.first()
    if not at_record:
        return
    for key, value in cursor.iternext(keys=True, values=True):
        if bytes(key[: len(start)]) != start:
            return
        yield bytes(key), value
