"""How well does the cosine follow human judgements of similarity?

Spearman's and Pearson's correlation of the cosine of two sentences with the human score of the pair, as on the STS
benchmark and SICK. Chiang et al. (2023), section 3.2, set it beside the contrasts of minimal pairs: encoders with close
scores behave differently. The lexical overlap of the pairs (their table 1) stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from embassay.core.claims import COUNT, LIMIT, Template
from embassay.core.formatting import counted
from embassay.core.layout import Drawings, SeriesTable
from embassay.core.result import Estimate, Finding, Row
from embassay.core.samples.shapes import Pair
from embassay.core.types import Corpus, Draws
from embassay.core.vectors import Vectors
from embassay.diagnostics.findings import than_chance, written
from embassay.diagnostics.method import ItemMethod, ItemView, Shown, Stored, by_label
from embassay.diagnostics.metrics.metric import Meaning, Metric
from embassay.diagnostics.metrics.summary import Figures, MetricSummary
from embassay.diagnostics.overlap import OVERLAP_METRICS, overlap_rows
from embassay.stats.correlate import MIN_ITEMS, Kind, midranks
from embassay.stats.geometry.closeness import paired_cosine
from embassay.stats.lexical.overlap import overlap, pairs_of
from embassay.stats.separation import separation
from embassay.stats.units import Floats

NAME = "similarity"
VERSION = 1
"""To be raised with each change after which the same vectors have other scores or figures."""
KINDS: tuple[Kind, ...] = ("spearman", "pearson")
MEANING = Meaning("correlation with human scores", "pairs", task="semantic-similarity")

TOO_FEW_SCORES = Template(
    "The pairs have too few human scores to correlate with.",
    f"under {MIN_ITEMS} pairs have a score",
    LIMIT,
    title="Not ranked",
    severity="medium",
)
EQUAL_SCORES = replace(TOO_FEW_SCORES, text="The human scores do not vary.", when="all scores are equal")
FOLLOWING = 0.5
"""From this correlation on, cosines are said to follow the human scores."""
CHANCES = than_chance(
    "{encoder}: Spearman's correlation with the human scores is {value} ({pairs}).",
    "Like people?",
    above="Cosines are correlated with human scores",
    both="Cosines are not shown to follow human scores",
    below="Cosines run against human scores",
    consequence="Texts that people find more alike have the lower cosine.",
)
FOLLOWS = replace(
    CHANCES["above"],
    when=f"the interval lies above {FOLLOWING}, or begins there",
    title="Cosines follow human scores",
)
RELATED = replace(
    FOLLOWS,
    when=f"the interval lies above 0 and begins below {FOLLOWING}",
    title="Cosines are correlated with human scores",
    severity="medium",
    consequence=f"A correlation of {FOLLOWING} or more is not shown.",
)
NOT_SHOWN = replace(
    CHANCES["both"],
    when="the interval contains 0, or there is none",
    severity="high",
    consequence="That its cosine tells how alike people find two texts is not shown.",
)
CHANCES |= {"above": RELATED, "both": NOT_SHOWN, "": NOT_SHOWN}
SEPARATES = Template(
    "{encoder}: a pair labelled {high:g} has a higher cosine than a pair labelled {low:g} in {area} of the cases (AUC, "
    "{pairs}).",
    "the human scores are two labels",
    COUNT,
    title="How often cosines order two labels right",
    kind="headline",
    question="Same or not?",
)


class PairView(ItemView):
    """One encoder's cosines, beside the human scores."""

    @property
    def cosine(self) -> Floats:
        """(n,) the cosine of each pair."""
        return self.scores.values["cosine"]

    @property
    def human(self) -> Floats:
        """(n,) the human scores, NaN where a pair has none. Their scale does not matter to a correlation."""
        return self.scores.values["human"]

    @cached_property
    def columns(self) -> dict[str, Floats]:
        """(n,) what is shown of each pair; only pairs with a human score and a cosine have ranks."""
        cosine, human = self.cosine, self.human
        return {
            "cosine": cosine,
            "human": human,
            "cosine_rank": _percentiles(np.where(np.isnan(human), np.nan, cosine)),
            "human_rank": _percentiles(np.where(np.isnan(cosine), np.nan, human)),
        }

    @property
    def margin(self) -> Floats:
        """(n,) minus the distance of the two ranks: the further apart, the worse the encoder does on the pair."""
        return -np.abs(self.columns["cosine_rank"] - self.columns["human_rank"])

    def shown(self, index: int) -> Shown:
        """Return the cosine and the human score of a pair, and the rank of each."""
        return {name: column[index] for name, column in self.columns.items()}, {}


def _percentiles(values: Floats) -> Floats:
    """Return the (n,) midranks of the values divided by their number, between 0 and 1; NaN stays NaN."""
    percentiles = np.full(len(values), np.nan)
    defined = ~np.isnan(values)
    percentiles[defined] = (midranks(values[defined]) - 0.5) / max(int(defined.sum()), 1)
    return percentiles


def _separation(view: PairView) -> Estimate | None:
    """Return how well the cosine separates the pairs with the higher of two labels from the others, if there are two.

    A rank correlation with two labels cannot reach 1: it says less than how often the order is right.
    """
    human = view.human
    levels = np.unique(human[~np.isnan(human)])
    if len(levels) != 2:
        return None
    low, high = levels
    return separation(view.cosine, view.all_labels, human == high, human == low)


def _correlation(kind: Kind, subset: str = "all", **declared: Any) -> Metric:
    """Return a correlation of the cosines with the human scores.

    For a test of "not worse" its item values are influences. In simulation an encoder that is worse by the margin
    passes in 5-8 % of the cases with 100 pairs and more, in 9-12 % with 30.
    """
    return Metric(
        kind,
        subset,
        of=lambda view: view.cosine,
        against=lambda view: view.human,
        kind="correlation",
        correlation=kind,
        better="higher",
        chance=0.0,
        meaning=f"{kind.capitalize()}'s correlation of the cosines with the human scores",
        **declared,
    )


METRICS = (
    _correlation(
        "spearman",
        headline=True,
        margin=0.02,
        hub="spearman_cosine",
        heading="Spearman",
        says="its rank correlation with the human scores is {value}",
        level="0",
    ),
    _correlation("pearson", compared="always", hub="pearson_cosine"),
    *(_correlation(kind, "*", subsets=lambda view: by_label(view.subset, "subset:")) for kind in KINDS),
    Metric(
        "auc",
        kind="computed",
        better="higher",
        of=_separation,
        low=0.0,
        high=1.0,
        chance=0.5,
        meaning="probability that the cosine of a pair with the higher of two labels is above one with the lower",
        source="Newcombe (2006)",
    ),
    *OVERLAP_METRICS,
)


DRAWINGS = Drawings(
    "Cer et al. (2017), the STS benchmark; Chiang et al. (2023), section 3.2 and table 1",
    paper=(SeriesTable("Lexical overlap, published and here", "published"),),
    note="It does not show what a negation does to the cosine: see minimal pairs.",
)


class Similarity(ItemMethod):
    """The diagnostic; see the module's documentation."""

    shape = "pairs"
    view = PairView
    metrics = METRICS
    chances = CHANCES
    published = "heros"

    def values(self, corpus: Corpus[Pair], vectors: Vectors) -> Stored:
        """Return the (n,) ``cosine`` of each pair, its ``human`` score, and its (n, 5) ``lexical`` overlap."""
        samples = corpus.samples
        first, second = [s.first for s in samples], [s.second for s in samples]
        return {
            "cosine": paired_cosine(vectors.take(first), vectors.take(second)),
            "human": np.array([s.score for s in samples], dtype=np.float64),
            "lexical": np.array(overlap(pairs_of(first, second))),
            "subset": np.array([s.subset for s in samples]),
        }

    def rows(self, figures: Figures[PairView], draws: Draws) -> list[Row]:
        """Return the correlations, and the lexical overlap of the corpus."""
        view = figures.views[0]
        lexical = overlap_rows(view, draws, {"all": (view.scores.values["lexical"], view.scores.unit)})
        return [*figures.rows(draws), *lexical]

    def findings(self, figures: Figures[PairView], summary: MetricSummary) -> Iterator[Finding]:
        """Yield how far each encoder's cosines follow the human scores or separate two labels, or why it is unknown."""
        human, origin = figures.views[0].human, figures.views[0].scores.origin
        if figures.headline_figure is None:
            too_few = np.count_nonzero(~np.isnan(human)) < MIN_ITEMS
            yield (TOO_FEW_SCORES if too_few else EQUAL_SCORES).finding(origin)
            return
        for view in figures.views:
            area, row = summary.row_of.get((view.encoder, "auc", "all", "")), summary.headline[view.encoder]
            # The encoder to use may be a baseline; random vectors are none.
            if area is not None and not view.scores.origin.is_chance:
                yield SEPARATES.finding(
                    area,
                    encoder=view.encoder,
                    low=np.nanmin(human),
                    high=np.nanmax(human),
                    area=written(area),
                    pairs=counted(area.items, "pair"),
                )
            elif area is None and not view.is_baseline and row.value is not None:
                template = FOLLOWS if row.low is not None and row.low >= FOLLOWING else None
                yield self.than_chance(view, METRICS[0], row, template, pairs=counted(row.items, "pair"))


create = Similarity
