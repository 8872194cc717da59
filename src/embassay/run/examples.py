"""The items that a result shows: a sample, the same for all encoders, drawn with the seed of the run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.diagnostics.base import Outcomes, ShowsItems
from embassay.randomness import generator
from embassay.result import Example
from embassay.run.plan import Task
from embassay.types import ItemScores

MISSED_BY = ("all", "some", "none", "undecided")
"""Which of the encoders are wrong about an item; ``undecided`` where none is right or wrong."""


def examples_of(task: Task, scores: Sequence[ItemScores], most: int | None, seed: int) -> tuple[Example, ...]:
    """Return the records of a sample of items; none where the diagnostic shows no items.

    Parameters
    ----------
    scores
        Those of all encoders on the task.
    most
        At most this many items; None for all.
    """
    if not isinstance(task.diagnostic, ShowsItems) or most == 0:
        return ()
    outcomes = task.diagnostic.outcomes(scores)
    items = sample_items(outcomes, most, seed, task.name, task.corpus.fingerprint)
    return tuple(task.diagnostic.examples(task.corpus, scores, items))


def sample_items(outcomes: Outcomes, most: int | None, seed: int, *purpose: str) -> NDArray[np.int64]:
    """Draw at most ``most`` items, stratified by who misses them and by subset.

    Items that all encoders miss, that some miss, that none misses, and undecided ones each get the same number of
    places, as far as there are so many; within each of the four every subset likewise. So the failures of a good
    encoder are in the sample, and shares in the sample are not those of the corpus.

    Returns
    -------
    (m,) indices of the items, ascending.
    """
    number = len(outcomes.subset)
    if most is None or number <= most:
        return np.arange(number)
    missed_by = group_by_misses(outcomes.correct)
    strata: dict[str, dict[str, list[int]]] = {name: {} for name in MISSED_BY}
    for item in generator(seed, "examples", *purpose).permutation(number).tolist():
        of_subset = strata[missed_by[item]].setdefault(str(outcomes.subset[item]), [])
        of_subset.append(item)
    order = in_turn(in_turn(by_subset.values()) for by_subset in strata.values())
    return np.array(sorted(order[:most]), dtype=np.int64)


def group_by_misses(correct: NDArray[np.float64]) -> list[str]:
    """Return for each item which encoders miss it: one of ``MISSED_BY``.

    Parameters
    ----------
    correct
        (encoders, n) as in :class:`~embassay.diagnostics.base.Outcomes`.
    """
    wrong = (correct == 0).sum(axis=0)
    right = (correct == 1).sum(axis=0)
    conditions = [(wrong > 0) & (wrong == len(correct)), wrong > 0, right > 0]
    names: list[str] = np.select(conditions, MISSED_BY[:3], default=MISSED_BY[3]).tolist()
    return names


def in_turn(lists: Iterable[Sequence[int]]) -> list[int]:
    """Return the first of each list, then the second of each that has one, and so on."""
    turns: Any = zip_longest(*lists)
    return [item for item in chain.from_iterable(turns) if item is not None]
