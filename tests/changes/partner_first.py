"""Is a sentence nearer to its partner than to a stranger, the second sentence of another pair? Yes or no.

Guessing is right half of the time.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

import embassay as ea
from embassay.diagnostics.method import ItemMethod, ItemView, Stored
from embassay.diagnostics.metrics.metric import Meaning, Metric
from embassay.stats.geometry.closeness import paired_cosine

MEANING = Meaning("partners told from strangers", "pairs")


def create() -> PartnerFirst:
    """Make the diagnostic; it has no options."""
    return PartnerFirst()


class PairsView(ItemView):
    """One encoder's cosines."""

    def cosine(self, other: str) -> NDArray[np.float64]:
        """Return the (n,) cosines of the first sentences with ``partner`` or ``stranger``; NaN where one is zero."""
        return self.scores.values[other]

    @property
    def right(self) -> NDArray[np.float64]:
        """(n,) 1 where the partner is nearer, 0 where the stranger is, a half for a tie."""
        return (np.sign(self.cosine("partner") - self.cosine("stranger")) + 1) / 2

    @property
    def margin(self) -> NDArray[np.float64]:
        """(n,) how much nearer the partner is."""
        return self.cosine("partner") - self.cosine("stranger")

    def shown(self, index: int) -> tuple[Mapping[str, float], Mapping[str, str]]:
        """Return both cosines of a pair."""
        return {other: self.cosine(other)[index] for other in ("partner", "stranger")}, {}


METRICS = (
    Metric(
        "accuracy",
        kind="share",
        better="higher",
        of=lambda view: view.right,
        headline=True,
        margin=0.02,
        chance=0.5,
        meaning="share of sentences that are nearer to their partner than to a stranger",
    ),
    Metric(
        "cosine",
        "stranger",
        kind="mean",
        better="lower",
        compared="within one encoder",
        of=lambda view: view.cosine("stranger"),
        low=-1.0,
        high=1.0,
        meaning="mean cosine with the stranger",
    ),
)


class PartnerFirst(ItemMethod):
    """The diagnostic."""

    shape = "pairs"
    view = PairsView
    metrics = METRICS

    def values(self, corpus: ea.Corpus[ea.Pair], vectors: ea.Vectors) -> Stored:
        """Compute both cosines of each pair."""
        pairs = corpus.samples
        first = vectors.take(pair.first for pair in pairs)
        partner = vectors.take(pair.second for pair in pairs)
        stranger = vectors.take(pair.second for pair in (*pairs[1:], pairs[0]))
        return {"partner": paired_cosine(first, partner), "stranger": paired_cosine(first, stranger)}
