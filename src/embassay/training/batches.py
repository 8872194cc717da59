"""The batches of a training, drawn for all epochs in advance so that a resumed training uses the same ones.

Rows of similar length share a batch, which keeps padding short. If the rows of a batch are each other's negatives, no
text occurs twice in the batch, and no right text of one row's question is among the candidates of another row: such a
row goes into another batch. The library's own sampler does not know the right texts of a question. A batch into which
no later row fits stays smaller.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from embassay.randomness import generator

POOL = 16
"""Batches whose rows are sorted by length together."""
OPEN = 64
"""Maximum number of batches that wait for a row that fits; the oldest then stays smaller."""
Batch = tuple[int, ...]
"""Row numbers."""


@dataclass(frozen=True)
class Row:
    """The texts of one row of a batch. Equal strings are the same text.

    Attributes
    ----------
    length
        The number of characters of the longest text, for sorting.
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


@dataclass
class _OpenBatch:
    """A batch that is being filled, and its texts."""

    rows: list[int] = field(default_factory=list)
    texts: set[str] = field(default_factory=set)
    candidates: set[str] = field(default_factory=set)
    rights: set[str] = field(default_factory=set)

    def takes(self, row: Row) -> bool:
        """Return whether no text of a row clashes with those of the batch."""
        if row.question in self.texts or not self.candidates.isdisjoint(row.rights):
            return False
        return self.texts.isdisjoint(row.candidates) and self.rights.isdisjoint(row.candidates)

    def put(self, place: int, row: Row) -> None:
        """Add a row."""
        self.rows.append(place)
        self.candidates.update(row.candidates)
        self.rights.update(row.rights)
        self.texts.update(row.candidates)
        if row.question:
            self.texts.add(row.question)


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
        drawn += batches[:number]
    return drawn


def _epoch(rows: Sequence[Row], size: int, epoch: int, seed: int) -> list[Batch]:
    """Return the batches of one epoch."""
    rng = generator(seed, "batches", str(epoch))
    shuffled = rng.permutation(len(rows)).tolist()
    batches: list[Batch] = []
    waiting: list[_OpenBatch] = []
    for start in range(0, len(rows), POOL * size):
        pool = shuffled[start : start + POOL * size]
        # A batch uses as many wrong texts as every row has, so rows with the same number of them belong together.
        pool.sort(key=lambda place: (-len(rows[place].candidates), rows[place].length))
        for place in pool:
            batch = next((batch for batch in waiting if batch.takes(rows[place])), None)
            if batch is None:
                batch = _OpenBatch()
                waiting.append(batch)
            batch.put(place, rows[place])
            if len(batch.rows) == size:
                batches.append(tuple(batch.rows))
                waiting.remove(batch)
            elif len(waiting) > OPEN:
                batches.append(tuple(waiting.pop(0).rows))
    batches += (tuple(batch.rows) for batch in waiting)
    usable = [batch for batch in batches if not _is_alone(batch, rows)]
    return [usable[place] for place in rng.permutation(len(usable)).tolist()]


def _is_alone(batch: Batch, rows: Sequence[Row]) -> bool:
    """Return whether a batch is a single question with only its right text: there is nothing to contrast it with."""
    return len(batch) == 1 and len(rows[batch[0]].candidates) == 1
