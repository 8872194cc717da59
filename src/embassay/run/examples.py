"""The items that a result shows: a sample that depends on the seed of the run and is the same for all encoders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

import numpy as np
from numpy.typing import NDArray

from embassay.diagnostics.base import Outcomes, ShowsItems
from embassay.randomness import generator
from embassay.result import Example
from embassay.run.variants import Variant, by_encoder, join_scores
from embassay.types import AnyCorpus, Diagnostic, ItemScores

MISSED_BY = ("all", "some", "none", "undecided")
"""Which of the encoders are wrong about an item; ``undecided`` where none is right or wrong."""


@dataclass(frozen=True)
class ScoredTask:
    """One diagnostic on one corpus, with the scores of all encoders.

    Attributes
    ----------
    corpus
        The corpus; of one that varies its first variant, under the label of the corpus.
    scores
        The scores of all encoders; on a corpus that varies, those of each encoder on each variant.
    parts
        By variant, the corpus and the scores of its encoders; one part where the corpus does not vary.
    options
        The options of the diagnostic, as they were given.
    """

    name: str
    diagnostic: Diagnostic
    corpus: AnyCorpus
    scores: tuple[ItemScores, ...]
    parts: Mapping[Variant, tuple[AnyCorpus, tuple[ItemScores, ...]]]
    options: Mapping[str, object]

    @classmethod
    def of(
        cls,
        name: str,
        diagnostic: Diagnostic,
        scored: Sequence[tuple[AnyCorpus, Sequence[ItemScores]]],
        reference: str = "",
        options: Mapping[str, object] | None = None,
    ) -> ScoredTask:
        """Put the scores on the variants of one corpus together.

        Parameters
        ----------
        scored
            Each variant, or the one corpus, with the scores of its encoders.
        reference
            The label of the encoder that the others are compared with; empty for the first.
        """
        corpora = {}
        scores_of = {}
        for corpus, of_corpus in scored:
            variant = Variant.of(corpus)
            corpora[variant] = corpus
            scores_of[variant] = of_corpus
        joined = join_scores(scores_of, reference)
        parts = {variant: (corpora[variant], of_variant) for variant, of_variant in joined.items()}
        first = scored[0][0]
        corpus = replace(first, name=Variant.of(first).corpus)
        return cls(name, diagnostic, corpus, by_encoder(joined), parts, dict(options or {}))


def examples_of(task: ScoredTask, most: int | None, seed: int) -> tuple[Example, ...]:
    """Return the records of a sample of items; none where the diagnostic shows no items.

    Parameters
    ----------
    most
        At most this many items; None for all.
    """
    if not isinstance(task.diagnostic, ShowsItems) or most == 0:
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
    if not isinstance(task.diagnostic, ShowsItems):
        return
    if len(task.parts) == 1:
        yield from task.diagnostic.examples(task.corpus, task.scores, items)
        return
    records: dict[str, Example] = {}
    outcomes: dict[str, list[Example]] = {}
    for variant, (corpus, scores) in task.parts.items():
        for plain_example in task.diagnostic.examples(corpus, scores, items):
            example = with_setting_in_references(plain_example, variant.setting)
            item = example.item
            if example.kind != "item":
                outcomes.setdefault(item, []).append(example)
            elif item in records:
                # The record of an item has the passages of all variants.
                record = records[item]
                records[item] = replace(record, texts={**example.texts, **record.texts})
            else:
                records[item] = example
    for item, record in records.items():
        yield record
        yield from outcomes.get(item, ())


def with_setting_in_references(example: Example, setting: str) -> Example:
    """Return an example whose references to passages name the setting, as ``doc#3`` is another text in each variant."""

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
    interleaved = chain.from_iterable(zip_longest(*lists))
    return [item for item in interleaved if item is not None]
