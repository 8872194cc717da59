"""Which rows go through a model together: drawn for all epochs beforehand, so that a resumed training finds them again.

Rows of like length stand together, so that little is padded. Where a batch's rows serve as each other's negatives, no
text stands twice in it, and no right text of one row's question among the candidates of another: such a row waits for a
later batch.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from embassay.randomness import generator

POOL = 16
"""Batches whose rows are sorted by length together."""
Place = tuple[int, int]
"""An epoch and a row."""
Batch = tuple[Place, ...]


@dataclass(frozen=True)
class Row:
    """What one row brings into a batch.

    Attributes
    ----------
    length
        Its number of tokens, for sorting.
    asked
        Its question, where its batch's rows tell each other apart; empty otherwise.
    candidates
        The texts that questions of its batch are compared with: the right one, then the wrong ones.
    rights
        All right texts of its question.
    """

    length: int
    asked: str = ""
    candidates: tuple[str, ...] = ()
    rights: frozenset[str] = frozenset()


def draw(rows: Sequence[Row], size: int, epochs: float, seed: int) -> list[Batch]:
    """Return the batches of all epochs, in their order.

    Parameters
    ----------
    size
        Rows of a batch, at most.
    epochs
        How often the rows are read; of a last part of an epoch the first batches are taken.
    seed
        Of the draw; an epoch's does not depend on how many there are.
    """
    found: list[Batch] = []
    for epoch in range(math.ceil(epochs)):
        batches = [tuple((epoch, row) for row in batch) for batch in _epoch(rows, size, epoch, seed)]
        part = min(1.0, epochs - epoch)
        found += batches[: max(1, round(part * len(batches)))]
    return found


def _epoch(rows: Sequence[Row], size: int, epoch: int, seed: int) -> list[list[int]]:
    """Return the batches of one epoch.

    Rows of as many wrong texts as each other go together; what fills no batch goes with those of fewer.
    """
    rng = generator(seed, "batches", str(epoch))
    shuffled = rng.permutation(len(rows)).tolist()
    batches: list[list[int]] = []
    left: list[int] = []
    for width in sorted({len(row.candidates) for row in rows}, reverse=True):
        own = [row for row in shuffled if len(rows[row].candidates) == width]
        for start in range(0, len(own), POOL * size):
            pool = sorted([*left, *own[start : start + POOL * size]], key=lambda row: rows[row].length)
            full = list(_apart(rows, pool, size))
            batches += [batch for batch in full if len(batch) == size]
            left = [row for batch in full if len(batch) < size for row in batch]
    batches += [batch for batch in _apart(rows, left, size) if len(batch) > 1 or len(rows[batch[0]].candidates) != 1]
    return [batches[place] for place in rng.permutation(len(batches)).tolist()]


def _apart(rows: Sequence[Row], order: Sequence[int], size: int) -> Iterator[list[int]]:
    """Cut rows into batches, one after the other; a row that clashes waits for the next batch."""
    left = list(order)
    while left:
        batch, later, taken = list[int](), list[int](), _Taken()
        for row in left:
            if len(batch) == size or not taken.take(rows[row]):
                later.append(row)
            else:
                batch.append(row)
        yield batch
        left = later


@dataclass
class _Taken:
    """The texts that a batch holds."""

    texts: set[str] = field(default_factory=set)
    candidates: set[str] = field(default_factory=set)
    rights: set[str] = field(default_factory=set)

    def take(self, row: Row) -> bool:
        """Take a row in, and say so; False where it clashes with those that are there."""
        own = {row.asked, *row.candidates} if row.asked else set(row.candidates)
        if own & self.texts or row.rights & self.candidates or self.rights & set(row.candidates):
            return False
        self.texts |= own
        self.candidates |= set(row.candidates)
        self.rights |= row.rights
        return True
