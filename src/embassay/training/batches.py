"""The batches of a training, drawn for all epochs in advance so that a resumed training uses the same ones.

Rows of similar length share a batch, which keeps padding short. If the rows of a batch are each other's negatives, no
text occurs twice in the batch, and no right text of one row's question is among the candidates of another row: such a
row goes into another batch. A batch into which no later row fits stays smaller. An epoch has at least as many batches
as the most common right document has rows.
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
    """The texts of one row of a batch. Equal strings are the same text.

    Attributes
    ----------
    length
        The number of tokens, for sorting.
    question
        The question, if the rows of a batch are each other's negatives; empty otherwise.
    candidates
        The texts that the questions of a batch are compared with: the right one, then the wrong ones.
    rights
        All right texts of the question.
    """

    length: int
    question: str = ""
    candidates: tuple[str, ...] = ()
    rights: frozenset[str] = frozenset()


def draw(rows: Sequence[Row], size: int, epochs: float, seed: int) -> list[Batch]:
    """Return the batches of all epochs, in their order.

    Parameters
    ----------
    size
        Maximum number of rows in a batch.
    epochs
        Number of passes over the rows. A final partial epoch uses the first batches of that epoch.
    seed
        Seed for the batches. The batches of an epoch do not depend on the number of epochs.
    """
    drawn: list[Batch] = []
    for epoch in range(math.ceil(epochs)):
        batches = _epoch(rows, size, epoch, seed)
        # The last epoch may be partial: 2.5 epochs are two and the first half of the batches of a third.
        share = min(1.0, epochs - epoch)
        number = max(1, round(share * len(batches)))
        drawn += [tuple((epoch, row) for row in batch) for batch in batches[:number]]
    return drawn


def _epoch(rows: Sequence[Row], size: int, epoch: int, seed: int) -> list[list[int]]:
    """Return the batches of one epoch.

    Rows with the same number of wrong texts are batched together, those with the most first. Rows that do not fill a
    batch join those with fewer wrong texts.
    """
    rng = generator(seed, "batches", str(epoch))
    shuffled = rng.permutation(len(rows)).tolist()
    filling = _Filling(rows, size)
    batches: list[list[int]] = []
    widths = [len(row.candidates) for row in rows]
    for width in sorted(set(widths), reverse=True):
        equally_wide = [row for row in shuffled if widths[row] == width]
        for start in range(0, len(equally_wide), POOL * size):
            pool = filling.take_back() + equally_wide[start : start + POOL * size]
            pool.sort(key=lambda row: rows[row].length)
            for row in pool:
                full = filling.put(row)
                if full:
                    batches.append(full)
    for batch in filling.open.values():
        # A single question with only its right text has nothing to be contrasted with.
        alone = len(batch) == 1 and len(rows[batch[0]].candidates) == 1
        if not alone:
            batches.append(batch)
    return [batches[place] for place in rng.permutation(len(batches)).tolist()]


class _Filling:
    """Batches that are being filled.

    Each open batch has a bit; older batches have lower bits. Each text has the bits of the batches that contain it, so
    one operation on integers finds the batches that a row conflicts with, however many are open.

    The texts keep the bits of full batches, which no longer mean anything. When most bits are unused, the open batches
    are renumbered.
    """

    def __init__(self, rows: Sequence[Row], size: int):
        self.rows = rows
        self.size = size
        # The rows of each open batch, by its bit.
        self.open: dict[int, list[int]] = {}
        self._open_bits = 0
        self._next_bit = 1
        # The bits of the batches that contain a text: as any text, as a candidate, as a right text of a question.
        self._texts: defaultdict[str, int] = defaultdict(int)
        self._candidates: defaultdict[str, int] = defaultdict(int)
        self._rights: defaultdict[str, int] = defaultdict(int)

    def put(self, place: int) -> list[int] | None:
        """Put a row into the oldest batch without a conflict, or into a new one; return the batch if it is full."""
        fitting = self._open_bits & ~self._clashing(self.rows[place])
        # The lowest bit that is set belongs to the oldest batch.
        lowest = fitting & -fitting
        bit = lowest or self._next_bit
        self._hold(bit, place)
        if len(self.open[bit]) < self.size:
            return None
        full = self.open.pop(bit)
        self._open_bits ^= bit
        if self._next_bit.bit_length() > 2 * len(self.open) + POOL:
            self._renumber(list(self.open.values()))
        return full

    def take_back(self) -> list[int]:
        """Take the rows out of all open batches, to sort them again with others; none if there are too many."""
        places: list[int] = []
        for batch in self.open.values():
            places += batch
        if len(places) > POOL * self.size:
            return []
        self._renumber([])
        return places

    def _clashing(self, row: Row) -> int:
        """Return the bits of the batches that a row conflicts with."""
        bits = self._texts.get(row.question, 0)
        for text in row.candidates:
            bits |= self._texts.get(text, 0) | self._rights.get(text, 0)
        for text in row.rights:
            bits |= self._candidates.get(text, 0)
        return bits

    def _hold(self, bit: int, place: int) -> None:
        """Put a row into the batch of a bit."""
        row = self.rows[place]
        if row.question:
            self._texts[row.question] |= bit
        for text in row.candidates:
            self._texts[text] |= bit
            self._candidates[text] |= bit
        for text in row.rights:
            self._rights[text] |= bit
        self.open.setdefault(bit, []).append(place)
        self._open_bits |= bit
        self._next_bit = max(self._next_bit, bit << 1)

    def _renumber(self, batches: Sequence[Sequence[int]]) -> None:
        """Start again with these batches."""
        self._open_bits, self._next_bit = 0, 1
        for bits in (self._texts, self._candidates, self._rights):
            bits.clear()
        self.open.clear()
        for number, batch in enumerate(batches):
            for place in batch:
                self._hold(1 << number, place)
