"""The scores of all encoders by one diagnostic on one corpus: views of them, roles, streams of random numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from embassay.core.result import Example
from embassay.core.types import ItemScores, content_hash
from embassay.stats.families import Roles, Step
from embassay.stats.labels import Labels
from embassay.stats.units import Ints

BM25 = "bm25"
LEXICAL = (BM25, "tfidf")
"""The lexical baselines, that to be compared with first: tfidf is one only without bm25."""


@dataclass(frozen=True)
class View:
    """One encoder's scores on one corpus; a diagnostic's own view adds what it derives from them."""

    scores: ItemScores

    @property
    def encoder(self) -> str:
        """The encoder's label."""
        return self.scores.origin.encoder

    @property
    def corpus(self) -> str:
        """The corpus's label."""
        return self.scores.origin.corpus

    @property
    def spec(self) -> str:
        """The encoder's spec."""
        return self.scores.origin.spec

    @property
    def is_baseline(self) -> bool:
        """Whether the encoder joined the run by itself."""
        return self.scores.origin.baseline

    @property
    def stream(self) -> tuple[str, str]:
        """The names of the random streams; see :func:`stream_of`."""
        return stream_of(self.scores)

    def outcome(
        self,
        index: int,
        values: Mapping[str, float],
        *,
        correct: float,
        margin: float,
        subset: str = "",
        labels: Mapping[str, str] | None = None,
    ) -> Example:
        """Return what the encoder made of an item.

        Parameters
        ----------
        index
            Of the item in the scores.
        values
            Numbers by name; NaN and infinity are left out.
        correct
            1 right, 0 wrong; anything else is undecided, NaN included.
        margin
            How clearly it is right, larger is better; NaN where it is undefined.
        labels
            What the encoder chose and what was right, by name.
        """
        decided = {1.0: True, 0.0: False}
        return Example(
            diagnostic=self.scores.origin.diagnostic,
            corpus=self.corpus,
            encoder=self.encoder,
            item=str(self.scores.item[index]),
            kind="outcome",
            texts={},
            values={name: float(value) for name, value in values.items() if np.isfinite(value)},
            subset=subset,
            labels=labels or {},
            correct=decided.get(float(correct)),
            margin=float(margin) if np.isfinite(margin) else None,
        )


def item_example(
    scores: ItemScores,
    index: int,
    texts: Mapping[str, str],
    subset: str = "",
    labels: Mapping[str, str] | None = None,
) -> Example:
    """Return the record of an item with its texts, before those of the encoders.

    Parameters
    ----------
    scores
        Those of any encoder.
    index
        Of the item in the scores.
    labels
        What is right, by name, where that is the same for every encoder.
    """
    return Example(
        diagnostic=scores.origin.diagnostic,
        corpus=scores.origin.corpus,
        encoder="",
        item=str(scores.item[index]),
        kind="item",
        texts=texts,
        values={},
        subset=subset,
        labels=labels or {},
    )


@dataclass(frozen=True)
class Scoreboard:
    """The scores of all encoders by one diagnostic on one corpus.

    Raises
    ------
    ValueError
        For no scores, or scores of different diagnostics or corpora.
    """

    scores: tuple[ItemScores, ...]

    def __post_init__(self) -> None:
        """Check what the scores have in common."""
        if not self.scores:
            raise ValueError("there are no scores")
        first = self.scores[0]
        for scores in self.scores[1:]:
            if (scores.origin.diagnostic, scores.origin.corpus) != (first.origin.diagnostic, first.origin.corpus):
                raise ValueError("the scores are of different diagnostics or corpora")

    def check_items(self) -> None:
        """Check that all scores are of the same items in the same order, in the same units.

        Raises
        ------
        ValueError
            If not: no figure could be compared.
        """
        first = self.scores[0]
        for scores in self.scores[1:]:
            same = [(scores.item, first.item), (scores.unit, first.unit), (scores.unit_labels, first.unit_labels)]
            if not all(np.array_equal(one, other) for one, other in same):
                raise ValueError(
                    f"the scores of {scores.origin.encoder} and {first.origin.encoder} are of different items or units"
                )

    def __getitem__(self, place: int) -> ItemScores:
        """Return the scores of an encoder."""
        return self.scores[place]

    @property
    def diagnostic(self) -> str:
        """The name of the diagnostic."""
        return self.scores[0].origin.diagnostic

    @property
    def corpus(self) -> str:
        """The corpus's label."""
        return self.scores[0].origin.corpus

    @property
    def item(self) -> NDArray[np.str_]:
        """(n,) the ids of the items."""
        return self.scores[0].item

    @property
    def unit(self) -> Ints:
        """(n,) the unit of each item."""
        return self.scores[0].unit

    @cached_property
    def labels(self) -> Labels:
        """The unit labels of the n items."""
        return Labels.of(self.unit, self.scores[0].unit_labels)

    @property
    def stream(self) -> tuple[str, str]:
        """The names of the random streams; see :func:`stream_of`."""
        return stream_of(self.scores[0])

    def roles(self, all_pairs: bool = False) -> Roles:
        """Return the role of each encoder in comparisons; see :func:`roles_of`."""
        return roles_of(self.scores, all_pairs)


AnyView = TypeVar("AnyView", bound=View)


def without_baselines(views: Sequence[AnyView]) -> list[AnyView]:
    """Return the views of the encoders that were asked for; all of them where only baselines were run."""
    requested = [view for view in views if not view.is_baseline]
    return requested or list(views)


def of_requested(scores: Sequence[ItemScores]) -> list[ItemScores]:
    """Return the scores of the encoders that were asked for; all of them where only baselines were run."""
    return [view.scores for view in without_baselines([View(s) for s in scores])]


def stream_of(scores: ItemScores) -> tuple[str, str]:
    """Return diagnostic and corpus fingerprint, which name the random streams of every figure.

    All encoders and all metrics of a diagnostic on a corpus share the resamples, so their figures are paired.
    """
    return scores.origin.diagnostic, scores.origin.corpus_fingerprint


def pool_of(scores: Sequence[ItemScores]) -> str:
    """Return a hash of the labels and score digests of the base systems, from which n* is estimated."""
    base = roles_of(scores).base_systems
    return content_hash(sorted([s.origin.encoder, s.digest] for s in scores if s.origin.encoder in base))


def roles_of(scores: Sequence[ItemScores], all_pairs: bool = False) -> Roles:
    """Return the role of each encoder in comparisons: candidate, reference or lexical baseline.

    Candidates are the requested encoders, except those with random vectors. The lexical baseline is the first bm25,
    whether it was requested or added automatically; tfidf only where there is no bm25. A candidate that is derived from
    encoders which are not here is a model of its own. One that changes nothing, such as the exact search of a store, is
    no candidate.
    """
    labels = {s.origin.encoder for s in scores}
    candidates = list[str]()
    reference: str | None = None
    steps = dict[str, Step]()
    first_of_scheme = dict[str, str]()
    for s in scores:
        origin = s.origin
        is_derived = bool(origin.parts) and labels.issuperset(origin.parts)
        changes_nothing = is_derived and not origin.step
        if not origin.baseline and not origin.is_chance and not changes_nothing:
            candidates.append(origin.encoder)
            if is_derived:
                steps[origin.encoder] = Step(origin.step, origin.parts)
            if origin.reference:
                reference = origin.encoder
        first_of_scheme.setdefault(origin.spec.split(",")[0], origin.encoder)
    lexical = next((first_of_scheme[scheme] for scheme in LEXICAL if scheme in first_of_scheme), None)
    return Roles(tuple(candidates), reference, lexical, steps, all_pairs)
