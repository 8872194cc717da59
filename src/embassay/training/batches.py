"""The batches of a training, drawn for all epochs in advance so that a resumed training uses the same ones.

Rows of similar length share a batch, which keeps padding short. If the rows of a batch are each other's negatives, no
text belongs to two rows of a batch, neither as a question nor as a right or a wrong text: such a row goes into another
batch. The library's own sampler knows nothing of right texts that are not in the batch. A batch into which no later row
fits stays smaller.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from embassay.core.randomness import generator

POOL = 16
"""Batches whose rows are sorted by length together."""
OPEN = 64
"""Maximum number of batches that wait for a row that fits; the oldest then stays smaller."""
Batch = tuple[int, ...]
"""Row numbers."""


@dataclass(frozen=True)
class BatchRow:
    """One row of a batch.

    Attributes
    ----------
    length
        The number of characters of the longest text, for sorting.
    texts
        If the rows of a batch are each other's negatives: the question, all its right texts and its wrong texts.
    wrong
        The number of wrong texts.
    """

    length: int
    texts: frozenset[str] = frozenset()
    wrong: int = 0


def draw(rows: Sequence[BatchRow], size: int, epochs: float, seed: int) -> list[Batch]:
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
        batches = _epoch(rows, size, generator(seed, "batches", str(epoch)))
        # The last epoch may be partial: 2.5 epochs are two and the first half of the batches of a third.
        share = min(1.0, epochs - epoch)
        drawn += batches[: max(1, round(share * len(batches)))]
    return drawn


def _epoch(rows: Sequence[BatchRow], size: int, rng: np.random.Generator) -> list[Batch]:
    """Return the batches of one epoch."""
    shuffled = rng.permutation(len(rows)).tolist()
    full: list[list[int]] = []
    # The batches that are being filled, each with its texts.
    waiting: list[tuple[list[int], set[str]]] = []
    for start in range(0, len(rows), POOL * size):
        pool = shuffled[start : start + POOL * size]
        # A batch uses as many wrong texts as every row has, so rows with the same number of them belong together.
        pool.sort(key=lambda place: (-rows[place].wrong, rows[place].length))
        for place in pool:
            texts = rows[place].texts
            batch = next((batch for batch in waiting if batch[1].isdisjoint(texts)), None)
            if batch is None:
                batch = ([], set())
                waiting.append(batch)
            batch[0].append(place)
            batch[1].update(texts)
            if len(batch[0]) == size:
                full.append(batch[0])
                waiting.remove(batch)
            elif len(waiting) > OPEN:
                full.append(waiting.pop(0)[0])
    batches = [*full, *(batch for batch, _ in waiting)]
    # A single question with only its right text has nothing to be contrasted with.
    usable = [batch for batch in batches if len(batch) > 1 or rows[batch[0]].wrong or not rows[batch[0]].texts]
    return [tuple(usable[place]) for place in rng.permutation(len(usable)).tolist()]
