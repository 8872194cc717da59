"""What is seen of the scores of an encoder, the roles of encoders in comparisons, and streams of random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np

from embassay.core.types import ItemScores, content_hash
from embassay.stats.families import Roles, Step
from embassay.stats.labels import Labels
from embassay.stats.resample import ABSENT
from embassay.stats.units import Bools, Floats, Ints

LEXICAL = ("bm25", "tfidf")
"""The lexical baselines, that to be compared with first: tfidf is one only without bm25."""


@dataclass(frozen=True)
class View:
    """One encoder's scores on one corpus; a diagnostic's own view adds what it derives from them.

    Attributes
    ----------
    resamples_apart
        Whether means are resampled on the units of their own items alone, instead of all units of the corpus.
    """

    scores: ItemScores
    resamples_apart: ClassVar[bool] = False

    @property
    def encoder(self) -> str:
        """The encoder's label."""
        return self.scores.origin.encoder

    @property
    def corpus(self) -> str:
        """The corpus's label."""
        return self.scores.origin.corpus

    @property
    def is_baseline(self) -> bool:
        """Whether the encoder joined the run by itself."""
        return self.scores.origin.baseline

    @property
    def stream(self) -> tuple[str, str]:
        """Diagnostic and corpus fingerprint, which name the random streams of every figure.

        All encoders and all metrics of a diagnostic on a corpus share the resamples, so their figures are paired.
        """
        return self.scores.origin.diagnostic, self.scores.origin.corpus_fingerprint

    @property
    def all_labels(self) -> Labels:
        """The unit labels of all items."""
        return Labels.of(self.scores.unit, self.scores.unit_labels)

    @property
    def undefined(self) -> Floats:
        """(n,) NaN for every item."""
        return np.full(len(self.scores.item), np.nan)

    def at(self, places: Bools | Ints, values: Floats) -> Floats:
        """Return (n,) values of all items from those of some, with ``ABSENT`` for the others."""
        of_all = np.full(len(self.scores.item), ABSENT)
        of_all[places] = values
        return of_all


AnyView = TypeVar("AnyView", bound=View)


def pool_of(scores: Sequence[ItemScores]) -> str:
    """Return a hash of the labels and score digests of the base systems, from which n* is estimated."""
    base = roles_of(scores).base_systems
    return content_hash(sorted([s.origin.encoder, s.digest] for s in scores if s.origin.encoder in base))


def roles_of(scores: Sequence[ItemScores]) -> Roles:
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
    return Roles(tuple(candidates), reference, lexical, steps)
