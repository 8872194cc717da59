"""What the vector cache holds, encoder by encoder; each function works inside one transaction."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    """The vectors of one encoder; ``note`` is None where its record is damaged, and then they are not used."""

    prefix: bytes
    note: EncoderNote | None
    vectors: int
    bytes: int


@dataclass(frozen=True)
class Info:
    """What a cache holds.

    ``on_disk`` is what its file takes, ``live`` what of that is in use, ``limit`` what it may grow to, None for any.
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
    """How many vectors were read, and how many were removed because they were damaged or nobody's."""

    vectors: int
    removed: int


def live(transaction: Any) -> int:
    """Return the bytes in use; the file may be larger, and what is not in use is used again."""
    stat = transaction.stat()
    return int(stat["psize"] * (stat["branch_pages"] + stat["leaf_pages"] + stat["overflow_pages"]))


def note_of(transaction: Any, of: bytes) -> EncoderNote | None:
    """Return the record of the encoder whose vectors have this prefix."""
    key = note_key(of)
    note = unpack_note(key, transaction.get(key))
    return note if note and prefix(note.fingerprint) == of else None


def holdings(transaction: Any) -> tuple[Holding, ...]:
    """Return what there is of each encoder, the least recently used first."""
    counts: Counter[bytes] = Counter()
    sizes: Counter[bytes] = Counter()
    for key, value in _items(transaction, VECTOR):
        of = key[:PREFIX]
        counts[of] += 1
        sizes[of] += len(key) + len(value)
    found = [Holding(of, note_of(transaction, of), counts[of], sizes[of]) for of in counts]

    def last_used(holding: Holding) -> tuple[float, bytes]:
        return (holding.note.used if holding.note else 0.0), holding.prefix

    return tuple(sorted(found, key=last_used))


def forget(transaction: Any, of: bytes, most: int = sys.maxsize) -> int:
    """Remove the record and up to ``most`` vectors of an encoder; return how many vectors."""
    transaction.delete(note_key(of))
    cursor = transaction.cursor()
    removed = 0
    there = cursor.set_range(of)
    while there and removed < most and bytes(cursor.key()[: len(of)]) == of:
        there = cursor.delete()
        removed += 1
    return removed


def damaged(transaction: Any) -> tuple[int, list[bytes]]:
    """Read everything; return the number of vectors, and the keys of all that is damaged or nobody's."""
    notes: dict[bytes, EncoderNote | None] = {}
    bad, vectors = [], 0
    for key, value in _items(transaction, b""):
        if key[:1] == VECTOR:
            vectors += 1
            of = key[:PREFIX]
            if of not in notes:
                notes[of] = note_of(transaction, of)
            note = notes[of]
            row = vector(key, value, note.dim) if note else None
            sound = row is not None and bool(np.isfinite(row).all())
        elif key[:1] == ENCODER:
            sound = unpack(key, value) is not None and note_of(transaction, VECTOR + key[1:]) is not None
        else:
            sound = key == LAYOUT_KEY and unpack(key, value) is not None
        if not sound:
            bad.append(key)
    return vectors, bad


def _items(transaction: Any, start: bytes) -> Iterator[tuple[bytes, memoryview]]:
    cursor = transaction.cursor()
    if not (cursor.set_range(start) if start else cursor.first()):
        return
    for key, value in cursor.iternext(keys=True, values=True):
        if bytes(key[: len(start)]) != start:
            return
        yield bytes(key), value
