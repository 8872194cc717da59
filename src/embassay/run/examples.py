"""The items that a result shows: a sample, the same for all encoders, drawn with the seed of the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.diagnostics.base import Outcomes, ShowsItems
from embassay.randomness import generator
from embassay.result import Example
from embassay.run.variants import Variant, by_encoder, join_scores
from embassay.types import Corpus, Diagnostic, ItemScores

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
        Of all encoders; on a corpus that varies, of each encoder on each variant.
    parts
        By variant, the corpus and the scores of its encoders; one part where the corpus does not vary.
    """

    name: str
    diagnostic: Diagnostic
    corpus: Corpus[Any]
    scores: tuple[ItemScores, ...]
    parts: Mapping[Variant, tuple[Corpus[Any], tuple[ItemScores, ...]]]

    @classmethod
    def of(
        cls,
        name: str,
        diagnostic: Diagnostic,
        scored: Sequence[tuple[Corpus[Any], Sequence[ItemScores]]],
        reference: str = "",
    ) -> ScoredTask:
        """Put the scores on the variants of one corpus together.

        Parameters
        ----------
        scored
            Each variant, or the one corpus, with the scores of its encoders.
        reference
            The label of the encoder that the others are compared with; empty for the first.
        """
        corpora = {Variant.of(corpus): corpus for corpus, _ in scored}
        joined = join_scores({Variant.of(corpus): scores for corpus, scores in scored}, reference)
        parts = {variant: (corpora[variant], scores) for variant, scores in joined.items()}
        first = scored[0][0]
        corpus = replace(first, name=Variant.of(first).corpus)
        return cls(name, diagnostic, corpus, by_encoder(joined), parts)


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
    """Yield the record of each item, then those of the encoders.

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
        for example in task.diagnostic.examples(corpus, scores, items):
            own = with_own_passages(example, variant)
            if own.kind != "item":
                outcomes.setdefault(own.item, []).append(own)
            elif own.item in records:
                first = records[own.item]
                records[own.item] = replace(first, texts={**own.texts, **first.texts})
            else:
                records[own.item] = own
    for item, record in records.items():
        yield record
        yield from outcomes.get(item, ())


def with_own_passages(example: Example, variant: Variant) -> Example:
    """Return an example whose passages have the variant in their references, as ``doc#3`` is another text in each."""

    def reference(name: str) -> str:
        return f"{name} ({variant.setting})" if "#" in name else name

    texts = {reference(name): text for name, text in example.texts.items()}
    return replace(example, texts=texts, labels={n: reference(v) if "#" in v else v for n, v in example.labels.items()})


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
