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

    The items that all encoders miss, that some miss, that none misses, and undecided ones get the same number of
    places, if there are enough of each; so do the subsets within each of the four. This way the failures of a good
    encoder are in the sample. Shares in the sample are therefore not those of the corpus.

    Returns
    -------
    (m,) indices of the items, ascending.
    """
    number = len(outcomes.subset)
    if most is None or number <= most:
        return np.arange(number)
    missed_by = group_by_misses(outcomes.correct)
    shuffled_items = generator(seed, "examples", *purpose).permutation(number).tolist()

    # The items of each subset, for each value of MISSED_BY.
    strata: dict[str, dict[str, list[int]]] = {name: {} for name in MISSED_BY}
    for item in shuffled_items:
        subsets = strata[missed_by[item]]
        subset = str(outcomes.subset[item])
        subsets.setdefault(subset, []).append(item)

    # Subsets take turns within a stratum, and then strata do.
    order_of_strata = [in_turn(subsets.values()) for subsets in strata.values()]
    sample = in_turn(order_of_strata)[:most]
    return np.array(sorted(sample), dtype=np.int64)


def group_by_misses(correct: NDArray[np.float64]) -> list[str]:
    """Return for each item which encoders miss it: one of ``MISSED_BY``.

    Parameters
    ----------
    correct
        (encoders, n) as in :class:`~embassay.diagnostics.base.Outcomes`.
    """
    encoders = len(correct)
    wrong_of_item = (correct == 0).sum(axis=0).tolist()
    right_of_item = (correct == 1).sum(axis=0).tolist()
    groups = []
    for wrong, right in zip(wrong_of_item, right_of_item, strict=True):
        if wrong and wrong == encoders:
            groups.append("all")
        elif wrong:
            groups.append("some")
        elif right:
            groups.append("none")
        else:
            groups.append("undecided")
    return groups


def in_turn(lists: Iterable[Sequence[int]]) -> list[int]:
    """Return the first of each list, then the second of each that has one, and so on."""
    turns: Any = zip_longest(*lists)
    return [item for item in chain.from_iterable(turns) if item is not None]
