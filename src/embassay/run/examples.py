"""The items that a result shows: a sample that depends on the seed of the run and is the same for all encoders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest

import numpy as np
from numpy.typing import NDArray

from embassay.core.randomness import generator
from embassay.core.result import Example
from embassay.core.types import AnyCorpus, ItemScores
from embassay.diagnostics.base import BaseDiagnostic, Outcomes

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
    options
        The options of the diagnostic, as they were given.
    """

    name: str
    diagnostic: BaseDiagnostic
    corpora: Mapping[str, AnyCorpus]
    scores: tuple[ItemScores, ...]
    options: Mapping[str, object] = field(default_factory=dict)

    @property
    def corpus(self) -> AnyCorpus:
        """The first of the corpora; all have the same items where items are samples."""
        return next(iter(self.corpora.values()))


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
    if len(task.corpora) == 1:
        yield from task.diagnostic.examples(task.corpus, task.scores, items)
        return
    # Each cut has a record of every item. They become one, with the passages of all cuts.
    record_of_item: dict[str, Example] = {}
    records_of_encoders: dict[str, list[Example]] = {}
    for fingerprint, corpus in task.corpora.items():
        scores = [one for one in task.scores if one.origin.corpus_fingerprint == fingerprint]
        for plain_example in task.diagnostic.examples(corpus, scores, items):
            example = with_setting_in_references(plain_example, corpus.cut)
            item = example.item
            if example.kind != "item":
                records_of_encoders.setdefault(item, []).append(example)
            elif item not in record_of_item:
                record_of_item[item] = example
            else:
                record = record_of_item[item]
                record_of_item[item] = replace(record, texts={**example.texts, **record.texts})
    for item, record in record_of_item.items():
        yield record
        yield from records_of_encoders.get(item, ())


def with_setting_in_references(example: Example, setting: str) -> Example:
    """Return an example whose references to passages name the setting: ``doc#3`` becomes ``doc#3 (passages=100)``.

    Passage 3 of a document is another text in each cut.
    """
    if not setting:
        return example

    def qualified(name: str) -> str:
        # Only references to passages have a number sign.
        if "#" in name:
            return f"{name} ({setting})"
        return name

    texts = {qualified(name): text for name, text in example.texts.items()}
    labels = {name: qualified(label) for name, label in example.labels.items()}
    return replace(example, texts=texts, labels=labels)


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
    shuffled_items = generator(seed, "examples", *purpose).permutation(number).tolist()

    # By group of MISSED_BY and by subset, the items in random order.
    items_of: dict[str, dict[str, list[int]]] = {group: {} for group in MISSED_BY}
    for item in shuffled_items:
        items_of_subset = items_of[missed_by[item]]
        subset = str(outcomes.subset[item])
        items_of_subset.setdefault(subset, []).append(item)

    # Within a group the subsets take turns; then the groups take turns.
    ordered_groups = [in_turn(items_of_subset.values()) for items_of_subset in items_of.values()]
    sample = in_turn(ordered_groups)[:most]
    return np.array(sorted(sample), dtype=np.int64)


def group_by_misses(correct: NDArray[np.float64]) -> list[str]:
    """Return for each item which encoders miss it: one of ``MISSED_BY``.

    Parameters
    ----------
    correct
        (encoders, n) as in :class:`~embassay.diagnostics.base.Outcomes`: 1 right, 0 wrong, anything else undecided.
    """
    encoders = len(correct)
    wrong_of_item = (correct == 0).sum(axis=0).tolist()
    right_of_item = (correct == 1).sum(axis=0).tolist()
    groups = []
    for wrong, right in zip(wrong_of_item, right_of_item, strict=True):
        if wrong == 0 and right == 0:
            groups.append("undecided")
        elif wrong == 0:
            groups.append("none")
        elif wrong == encoders:
            groups.append("all")
        else:
            groups.append("some")
    return groups


def in_turn(lists: Iterable[Sequence[int]]) -> list[int]:
    """Return the first of each list, then the second of each that has one, and so on."""
    interleaved = chain.from_iterable(zip_longest(*lists))
    return [item for item in interleaved if item is not None]
