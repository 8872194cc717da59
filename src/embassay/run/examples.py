"""The items that a result shows: a sample that depends on the seed of the run and is the same for all encoders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

import numpy as np
from numpy.typing import NDArray

from embassay.core.columns import ItemColumn
from embassay.core.grouping import grouped
from embassay.core.randomness import generator
from embassay.core.result import Example
from embassay.core.types import AnyCorpus, ItemScores
from embassay.diagnostics.base import BaseDiagnostic, Outcomes
from embassay.run.runs.folder import documents_hash, item_hash, text_hash

MISSED_BY = ("all", "some", "none", "undecided")
"""Which of the encoders are wrong about an item; ``undecided`` where none is right or wrong."""


@dataclass(frozen=True)
class ScoredTask:
    """One diagnostic on one corpus, with the scores of all encoders.

    Attributes
    ----------
    corpora
        By its fingerprint, each corpus that candidates were scored on: one, or the cuts of one.
    scores
        The scores of all candidates, those of one encoder next to each other.
    """

    name: str
    diagnostic: BaseDiagnostic
    corpora: Mapping[str, AnyCorpus]
    scores: tuple[ItemScores, ...]

    @property
    def corpus(self) -> AnyCorpus:
        """The first of the corpora; all have the same items where items are samples."""
        return next(iter(self.corpora.values()))


def scored_tasks(
    diagnostics: Mapping[tuple[str, str], BaseDiagnostic], scored: Iterable[tuple[ItemScores, AnyCorpus]]
) -> list[ScoredTask]:
    """Return each diagnostic on each corpus, whose cuts are one task, with all its scores; none without scores.

    Parameters
    ----------
    diagnostics
        By their names and those of the corpora.
    scored
        Scores, and what was scored, in the order of the candidates.
    """
    of_task = grouped(scored, lambda one: (one[0].origin.diagnostic, one[1].name))
    return [
        ScoredTask(
            place[0],
            diagnostic,
            {corpus.fingerprint: corpus for _, corpus in of_task[place]},
            tuple(scores for scores, _ in of_task[place]),
        )
        for place, diagnostic in diagnostics.items()
        if place in of_task
    ]


def examples_of(task: ScoredTask, most: int | None, seed: int) -> tuple[Example, ...]:
    """Return the records of a sample of items; none where the diagnostic shows no items.

    Parameters
    ----------
    most
        At most this many items; None for all.
    """
    if not task.diagnostic.shows_items or most == 0:
        return ()
    outcomes = task.diagnostic.outcomes(task.scores)
    items = sample_items(outcomes, most, seed, task.name, task.corpus.fingerprint)
    return tuple(examples_of_items(task, items))


def examples_of_items(task: ScoredTask, items: NDArray[np.int64]) -> Iterator[Example]:
    """Yield for each item its own record, and after it those of the encoders.

    Parameters
    ----------
    items
        (m,) their indices.
    """
    if not task.diagnostic.shows_items:
        return
    # Each cut has a record of every item. They become one, with the passages of all cuts.
    records: dict[str, list[Example]] = {}
    for fingerprint, corpus in task.corpora.items():
        scores = [one for one in task.scores if one.origin.corpus_fingerprint == fingerprint]
        for example in task.diagnostic.examples(corpus, scores, items):
            if len(task.corpora) > 1:
                example = with_setting_in_references(example, corpus.cut)
            of_item = records.setdefault(example.item, [])
            if example.kind == "item" and of_item:
                of_item[0] = replace(of_item[0], texts={**example.texts, **of_item[0].texts})
            else:
                of_item.append(example)
    yield from chain.from_iterable(records.values())


def with_setting_in_references(example: Example, setting: str) -> Example:
    """Return an example whose references to passages name the setting: ``doc#3`` becomes ``doc#3 (passages=100)``.

    Passage 3 of a document is another text in each cut. Only references to passages have a number sign.
    """
    end = f" ({setting})"
    texts = {name + end if "#" in name else name: text for name, text in example.texts.items()}
    labels = {name: label + end if "#" in label else label for name, label in example.labels.items()}
    return replace(example, texts=texts, labels=labels) if setting else example


def sample_items(outcomes: Outcomes, most: int | None, seed: int, *purpose: str) -> NDArray[np.int64]:
    """Draw at most ``most`` items, stratified by who misses them and by subset.

    The items that all encoders miss, that some miss, that none misses, and undecided ones get the same number of
    places, if there are enough of each; so do the subsets within each of these four groups. This way the failures of a
    good encoder are in the sample, but shares in the sample are not those of the corpus.

    Parameters
    ----------
    most
        None for all items.
    purpose
        What the sample is for: the same names and seed give the same sample.

    Returns
    -------
    (m,) indices of the items, ascending.
    """
    number = len(outcomes.subset)
    if most is None or number <= most:
        return np.arange(number)
    missed_by = group_by_misses(outcomes.correct)
    # By group of MISSED_BY and by subset, the items in random order.
    items_of: dict[str, dict[str, list[int]]] = {group: {} for group in MISSED_BY}
    for item in generator(seed, "examples", *purpose).permutation(number).tolist():
        items_of[missed_by[item]].setdefault(str(outcomes.subset[item]), []).append(item)
    # Within a group the subsets take turns; then the groups take turns.
    sample = in_turn([in_turn(of_subsets.values()) for of_subsets in items_of.values()])
    return np.array(sorted(sample[:most]), dtype=np.int64)


def group_by_misses(correct: NDArray[np.float64]) -> list[str]:
    """Return for each item which encoders miss it: one of ``MISSED_BY``.

    Parameters
    ----------
    correct
        (encoders, n) as in :class:`~embassay.diagnostics.base.Outcomes`: 1 right, 0 wrong, anything else undecided.
    """
    wrong, right = (correct == 0).sum(axis=0), (correct == 1).sum(axis=0)
    # The first condition that holds decides.
    conditions = [(wrong == 0) & (right == 0), wrong == 0, wrong == len(correct)]
    groups: list[str] = np.select(conditions, ["undecided", "none", "all"], "some").tolist()
    return groups


def in_turn(lists: Iterable[Sequence[int]]) -> list[int]:
    """Return the first of each list, then the second of each that has one, and so on."""
    return [item for item in chain.from_iterable(zip_longest(*lists)) if item is not None]


def columns_of(tasks: Iterable[ScoredTask]) -> Iterator[ItemColumn]:
    """Yield the item values of each declared metric and encoder; a diagnostic that declares no metrics has none."""
    for task in tasks:
        if figures := task.diagnostic.figures(task.scores):
            contents = {sample.id: (item_hash(sample), text_hash(sample)) for sample in task.corpus.samples}
            yield from figures.columns(contents, documents_hash(task.corpus))
