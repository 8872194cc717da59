"""Which rows go through a model together: drawn for all epochs beforehand, so that a resumed training finds them again.

Rows of like length stand together, so that little is padded. Where a batch's rows serve as each other's negatives, no
text stands twice in it, and no right text of one row's question among the candidates of another: such a row goes into
another batch. One that no row of those to come fits into stays smaller; an epoch has at least as many batches as the
commonest right document has rows.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from embassay.randomness import generator

POOL = 16
"""Batches whose rows are sorted by length together."""
Place = tuple[int, int]
"""An epoch and a row."""
Batch = tuple[Place, ...]


@dataclass(frozen=True)
class Row:
    """What one row brings into a batch; texts are the same where they are equal.

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
    filling = _Filling(rows, size)
    batches: list[list[int]] = []
    for width in sorted({len(row.candidates) for row in rows}, reverse=True):
        own = [row for row in shuffled if len(rows[row].candidates) == width]
        for start in range(0, len(own), POOL * size):
            pool = [*filling.taken_back(), *own[start : start + POOL * size]]
            pool.sort(key=lambda row: rows[row].length)
            batches += filter(None, map(filling.put, pool))
    batches += [b for b in filling.open.values() if len(b) > 1 or len(rows[b[0]].candidates) != 1]
    return [batches[place] for place in rng.permutation(len(batches)).tolist()]


class _Filling:
    """Batches that are being filled. Each has a bit of its own, older ones lower; each text the bits of those it is in.

    Bits of batches that are full mean nothing any more; now and then those that are open are numbered anew.
    """

    def __init__(self, rows: Sequence[Row], size: int):
        self.rows, self.size = rows, size
        self.open: dict[int, list[int]] = {}
        self._bits, self._next = 0, 1
        self._texts: defaultdict[str, int] = defaultdict(int)
        self._candidates: defaultdict[str, int] = defaultdict(int)
        self._rights: defaultdict[str, int] = defaultdict(int)

    def put(self, place: int) -> list[int] | None:
        """Put a row into the oldest batch that it clashes with nothing of, else a new one; return it if it is full."""
        fits = self._bits & ~self._clashing(self.rows[place])
        bit = fits & -fits or self._next
        self._hold(bit, place)
        if len(self.open[bit]) < self.size:
            return None
        full = self.open.pop(bit)
        self._bits ^= bit
        if self._next.bit_length() > 2 * len(self.open) + POOL:
            self._number(tuple(self.open.values()))
        return full

    def taken_back(self) -> list[int]:
        """Take out the rows of all open batches, to be sorted again with others; none where they are many."""
        left = [place for batch in self.open.values() for place in batch]
        if len(left) > POOL * self.size:
            return []
        self._number(())
        return left

    def _clashing(self, row: Row) -> int:
        """Return the bits of the batches that a row clashes with."""
        found = self._texts.get(row.asked, 0)
        for text in row.candidates:
            found |= self._texts.get(text, 0) | self._rights.get(text, 0)
        for text in row.rights:
            found |= self._candidates.get(text, 0)
        return found

    def _hold(self, bit: int, place: int) -> None:
        """Put a row into a batch."""
        row = self.rows[place]
        own = (row.asked, *row.candidates) if row.asked else row.candidates
        for held, texts in ((self._texts, own), (self._candidates, row.candidates), (self._rights, row.rights)):
            for text in texts:
                held[text] |= bit
        self.open.setdefault(bit, []).append(place)
        self._bits |= bit
        self._next = max(self._next, bit << 1)

    def _number(self, batches: Sequence[Sequence[int]]) -> None:
        """Begin anew with these batches."""
        self._bits, self._next = 0, 1
        for held in (self.open, self._texts, self._candidates, self._rights):
            held.clear()
        for number, batch in enumerate(batches):
            for place in batch:
                self._hold(1 << number, place)
