"""Is a sentence nearer to its partner than to a stranger, the second sentence of another pair? Yes or no.

Guessing is right half of the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import embassay as ea
from embassay.diagnostics.base import Outcomes
from embassay.diagnostics.metrics.metric import Meaning, Metric
from embassay.diagnostics.metrics.scoreboard import View, item_example
from embassay.diagnostics.metrics.summary import Figures
from embassay.stats.geometry.closeness import paired_cosine

MEANING = Meaning("partners told from strangers", "pairs")


def create() -> PartnerFirst:
    """Make the diagnostic; it has no options."""
    return PartnerFirst()


class PairsView(View):
    """One encoder's cosines."""

    def cosine(self, other: str) -> NDArray[np.float64]:
        """Return the (n,) cosines of the first sentences with ``partner`` or ``stranger``; NaN where one is zero."""
        return self.scores.values[other]

    @property
    def right(self) -> NDArray[np.float64]:
        """(n,) 1 where the partner is nearer, 0 where the stranger is, a half for a tie."""
        return (np.sign(self.cosine("partner") - self.cosine("stranger")) + 1) / 2


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


@dataclass(frozen=True)
class PartnerFirst:
    """The diagnostic."""

    shape: str = "pairs"
    options: str = ""

    def score(self, corpus: ea.Corpus[ea.Pair], vectors: ea.Vectors, origin: ea.Origin) -> ea.ItemScores:
        """Compute both cosines of each pair."""
        pairs = corpus.samples
        first = vectors.take(pair.first for pair in pairs)
        partner = vectors.take(pair.second for pair in pairs)
        stranger = vectors.take(pair.second for pair in (*pairs[1:], pairs[0]))
        return ea.ItemScores(
            origin,
            similarity_function="cosine",
            item=np.array([pair.id for pair in pairs]),
            unit=corpus.units,
            labels={},
            values={"partner": paired_cosine(first, partner), "stranger": paired_cosine(first, stranger)},
        )

    def figures(self, scores: Sequence[ea.ItemScores]) -> Figures[PairsView]:
        """Return the declared metrics of all encoders."""
        return Figures.of(PairsView, scores, METRICS)

    def summarise(self, scores: Sequence[ea.ItemScores], draws: ea.Draws) -> ea.Result:
        """Return rows, comparisons and verdict: all of them follow from the metrics."""
        return self.figures(scores).summarise(draws).result()

    def outcomes(self, scores: Sequence[ea.ItemScores]) -> Outcomes:
        """Return which encoders are right about each pair; there are no subsets."""
        right = np.stack([view.right for view in self.figures(scores).requested])
        return Outcomes(np.full(right.shape[1], ""), right)

    def examples(
        self, corpus: ea.Corpus[ea.Pair], scores: Sequence[ea.ItemScores], items: NDArray[np.int64]
    ) -> Iterator[ea.Example]:
        """Yield each pair with both cosines of each encoder."""
        views = self.figures(scores).views
        for index in items.tolist():
            yield item_example(scores[0], index, corpus.shown(str(scores[0].item[index])))
            for view in views:
                cosines = {other: view.cosine(other)[index] for other in ("partner", "stranger")}
                margin = cosines["partner"] - cosines["stranger"]
                yield view.outcome(index, cosines, correct=view.right[index], margin=margin)
