"""How well does the cosine follow human judgements of similarity?

Spearman's and Pearson's correlation of the cosine of two sentences with the human score of the pair, as on the STS
benchmark and SICK. Chiang et al. (2023), section 3.2, set it beside the contrasts of minimal pairs: encoders with close
scores behave differently. The lexical overlap of the pairs (their table 1) stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from embassay.core.claims import COUNT, INTERVAL, LIMIT, Template
from embassay.core.formatting import counted
from embassay.core.layout import (
    Column,
    ComparisonTable,
    Curves,
    EncoderTable,
    ExampleColumn,
    Examples,
    IntervalChart,
    Layout,
    SubsetTable,
)
from embassay.core.metric_key import MetricKey
from embassay.core.result import Estimate, Example, Finding, Result, Row, Series, rows_of
from embassay.core.samples.pairs import Pair
from embassay.core.types import Corpus, Draws, ItemScores, Origin
from embassay.core.vectors import Vectors
from embassay.diagnostics import overlap as overlap_module
from embassay.diagnostics.base import Outcomes
from embassay.diagnostics.findings import against_chance, written
from embassay.diagnostics.metrics.metric import Meaning, Metric
from embassay.diagnostics.metrics.scoreboard import View, item_example
from embassay.diagnostics.metrics.summary import Figures
from embassay.diagnostics.overlap import OVERLAP_METRICS, PairOverlap, overlap_rows, overlap_series
from embassay.stats.correlate import MIN_ITEMS, Kind, midranks
from embassay.stats.geometry.closeness import paired_cosine
from embassay.stats.labels import Labels
from embassay.stats.lexical.overlap import overlap, pairs_of
from embassay.stats.separation import separation
from embassay.stats.units import Floats, Ints

NAME = "similarity"
VERSION = 1
"""To be raised with each change after which the same vectors have other scores or figures."""
KINDS: tuple[Kind, ...] = ("spearman", "pearson")
MEANING = Meaning("correlation with human scores", "pairs", task="semantic-similarity")
AUC = MetricKey("auc")
BINS = 10
"""Groups of equal size, by human score, whose mean cosine is drawn."""

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
FOLLOWS = Template(
    "{encoder}: Spearman's correlation with the human scores is {correlation} ({pairs}).",
    f"the interval lies above {FOLLOWING}, or begins there",
    INTERVAL,
    title="Cosines follow human scores",
    question="Like people?",
)
RELATED = replace(
    FOLLOWS,
    when=f"the interval lies above 0 and begins below {FOLLOWING}",
    title="Cosines are correlated with human scores",
    severity="medium",
    consequence=f"A correlation of {FOLLOWING} or more is not shown.",
)
NOT_SHOWN = replace(
    FOLLOWS,
    when="the interval contains 0, or there is none",
    claim="not shown",
    title="Cosines are not shown to follow human scores",
    severity="high",
    consequence="That its cosine tells how alike people find two texts is not shown.",
)
BELOW = replace(
    FOLLOWS,
    when="the interval lies below 0",
    title="Cosines run against human scores",
    severity="high",
    consequence="Texts that people find more alike have the lower cosine.",
)
SEPARATES = Template(
    "{encoder}: the cosine of a pair labelled {high:g} is above that of a pair labelled {low:g} in {area} of the cases "
    "(AUC, {pairs}).",
    "the human scores are two labels",
    COUNT,
    title="How often cosines order two labels right",
    question="Same or not?",
)


def create(*, compare: Literal["headline", "all"] = "headline") -> SimilarityDiagnostic:
    """Make the diagnostic.

    Parameters
    ----------
    compare
        ``headline``: each encoder is compared with the reference and the best lexical baseline; ``all``: every pair of
        encoders as well.
    """
    return SimilarityDiagnostic(compare)


@dataclass(frozen=True)
class SimilarityDiagnostic:
    """The diagnostic; see the module's documentation."""

    compare: str = "headline"
    shape: str = "pairs"
    options: str = ""

    def score(self, corpus: Corpus[Pair], vectors: Vectors, origin: Origin) -> ItemScores:
        """Compute the (n,) ``cosine`` of each pair, beside its ``human`` score and its ``lexical`` overlap.

        The human score is NaN where a pair has none. Its scale does not matter to a correlation.
        """
        samples = corpus.samples
        first, second = [s.first for s in samples], [s.second for s in samples]
        human = np.full(len(samples), np.nan)
        for place, sample in enumerate(samples):
            if sample.score is not None:
                human[place] = sample.score
        return ItemScores(
            origin,
            similarity_function="cosine",
            item=np.array([s.id for s in samples]),
            unit=corpus.units,
            labels={"subset": np.array([s.subset for s in samples])},
            values={
                "cosine": paired_cosine(vectors.take(first), vectors.take(second)),
                "human": human,
                "lexical": np.array(overlap(pairs_of(first, second))),
            },
        )

    def summarise(self, scores: Sequence[ItemScores], draws: Draws) -> Result:
        """Summarise all encoders on one corpus: correlations, and which differences are shown."""
        figures = self.figures(scores)
        summary = figures.summarise(draws, on_request=self.compare == "all")
        board, human = figures.board, scores[0].values["human"]
        lexical = list(overlap_rows(scores[0], draws, {"all": PairOverlap(scores[0].values["lexical"], board.unit)}))
        series = [overlap_series(NAME, board.corpus, lexical, {"all": "all pairs"})]
        if _has_enough(human):
            series.insert(0, _curve(scores))
        return summary.result(
            more_rows=lexical,
            series=series,
            findings=_findings(scores, summary.headline, rows_of(AUC, summary.rows)),
        )

    def figures(self, scores: Sequence[ItemScores]) -> Figures[View]:
        """Return the declared metrics of all encoders."""
        return Figures.of(View, scores, METRICS)

    def outcomes(self, scores: Sequence[ItemScores]) -> Outcomes:
        """Return the part of the corpus that each pair belongs to; no pair is right or wrong."""
        subset = scores[0].labels["subset"]
        return Outcomes(subset, np.full((1, len(subset)), np.nan))

    def examples(self, corpus: Corpus[Pair], scores: Sequence[ItemScores], items: Ints) -> Iterator[Example]:
        """Yield each pair with its human score and its cosine, and how far apart their ranks are."""
        subset = scores[0].labels["subset"]
        human = scores[0].values["human"]
        columns_of_encoders = list[dict[str, Floats]]()
        for s in scores:
            cosine = s.values["cosine"]
            # Only pairs with a human score and a cosine have ranks.
            columns = {
                "cosine": cosine,
                "human": human,
                "cosine_rank": _percentiles(np.where(np.isnan(human), np.nan, cosine)),
                "human_rank": _percentiles(np.where(np.isnan(cosine), np.nan, human)),
            }
            columns_of_encoders.append(columns)
        for index in items.tolist():
            part = str(subset[index])
            name = str(scores[0].item[index])
            yield item_example(scores[0], index, corpus.shown(name), part)
            for s, columns in zip(scores, columns_of_encoders, strict=True):
                values = {column: items_of_column[index] for column, items_of_column in columns.items()}
                # The further apart the two ranks are, the worse the encoder does on the pair.
                margin = -abs(values["cosine_rank"] - values["human_rank"])
                yield View(s).outcome(index, values, correct=np.nan, margin=margin, subset=part)


def _percentiles(values: Floats) -> Floats:
    """Return the (n,) midranks of the values divided by their number, between 0 and 1; NaN stays NaN."""
    percentiles = np.full(len(values), np.nan)
    defined = ~np.isnan(values)
    percentiles[defined] = (midranks(values[defined]) - 0.5) / max(int(defined.sum()), 1)
    return percentiles


def _has_enough(human: Floats) -> bool:
    """Return whether there are enough human scores to correlate with."""
    return len(human[~np.isnan(human)]) >= MIN_ITEMS


def _vary(human: Floats) -> bool:
    """Return whether the human scores differ."""
    return bool(np.ptp(human[~np.isnan(human)]) > 0)


def parts(view: View) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield name and (n,) mask of each part of the corpus."""
    part_of_pair = view.scores.labels["subset"]
    names = np.unique(part_of_pair).tolist()
    # A corpus of one part would have all its rows twice.
    if len(names) > 1:
        yield from ((f"subset:{name}", part_of_pair == name) for name in names if name)


def _separation(view: View) -> Mapping[str, Estimate]:
    """Return how well the cosine separates the pairs with the higher of two labels from the others, if there are two.

    A rank correlation with two labels cannot reach 1: it says less than how often the order is right.
    """
    human, cosine = view.scores.values["human"], view.scores.values["cosine"]
    levels = np.unique(human[~np.isnan(human)])
    if len(levels) != 2:
        return {}
    labels = Labels.of(view.scores.unit, view.scores.unit_labels)
    low, high = ((cosine[human == level], labels.of_items(human == level)) for level in levels)
    estimate = separation(high, low)
    return {} if estimate is None else {AUC.subset: estimate}


def _why_undefined(view: View, inside: NDArray[np.bool_], estimate: Estimate) -> str | None:
    """Return why there is no correlation, where there are no human scores or something does not vary."""
    human = view.scores.values["human"][inside]
    if np.isnan(human).all():
        return "the pairs have no human scores"
    if estimate.items < MIN_ITEMS:
        return None
    return "the cosines do not vary" if _vary(human) else "the human scores do not vary"


def _correlation(kind: Kind, subset: str = "all", **declared: Any) -> Metric:
    """Return a correlation of the cosines with the human scores.

    For a test of "not worse" its item values are influences. In simulation an encoder that is worse by the margin
    passes in 5-8 % of the cases with 100 pairs and more, in 9-12 % with 30.
    """
    return Metric(
        kind,
        subset,
        of=lambda view: view.scores.values["cosine"],
        against=lambda view: view.scores.values["human"],
        kind="correlation",
        correlation=kind,
        better="higher",
        chance=0.0,
        values=("cosine", "human"),
        reason=_why_undefined,
        meaning=f"{kind.capitalize()}'s correlation of the cosines with the human scores",
        **declared,
    )


METRICS = (
    # In the runs of the documentation the deviation was 0.15 to 0.6: more between a neural encoder and word counts.
    _correlation(
        "spearman",
        headline=True,
        margin=0.02,
        deviation=0.4,
        hub="spearman_cosine",
        heading="Spearman",
        says="its rank correlation with the human scores is {value}",
        level="0",
    ),
    _correlation("pearson", compared="always", hub="pearson_cosine"),
    *(_correlation(kind, "*", subsets=parts) for kind in KINDS),
    Metric(
        AUC.metric,
        kind="computed",
        better="higher",
        of=_separation,
        low=0.0,
        high=1.0,
        chance=0.5,
        values=("cosine", "human"),
        meaning="probability that the cosine of a pair with the higher of two labels is above one with the lower",
        source="Newcombe (2006)",
    ),
    *OVERLAP_METRICS,
)


def _findings(
    scores: Sequence[ItemScores], correlation_of: Mapping[str, Row], area_of: Mapping[str, Row]
) -> Iterator[Finding]:
    """Yield how far each encoder's cosines follow the human scores, or separate two labels; or why that is unknown."""
    origin = scores[0].origin
    human = scores[0].values["human"]
    if not _has_enough(human):
        yield TOO_FEW_SCORES.finding(origin)
        return
    if not _vary(human):
        yield EQUAL_SCORES.finding(origin)
        return
    for s in scores:
        label = s.origin.encoder
        row = area_of.get(label, correlation_of[label])
        fields = {"encoder": label, "pairs": counted(row.items, "pair")}
        # The encoder to use may be a baseline; random vectors are none.
        if label in area_of and not s.origin.is_chance:
            yield SEPARATES.finding(row, high=np.nanmax(human), low=np.nanmin(human), area=written(row), **fields)
        if label in area_of or s.origin.baseline or row.value is None:
            continue
        template = {"above": RELATED, "below": BELOW}.get(against_chance(row, 0.0), NOT_SHOWN)
        if row.low is not None and row.low >= FOLLOWING:
            template = FOLLOWS
        yield template.finding(row, style="number", correlation=written(row, "number"), **fields)


def _curve(scores: Sequence[ItemScores]) -> Series:
    """Return the mean cosine of groups of pairs of about the same human score."""
    human = scores[0].values["human"]
    scored = np.flatnonzero(~np.isnan(human))
    order = scored[np.argsort(human[scored], kind="stable")]
    groups = [group for group in np.array_split(order, BINS) if len(group)]
    lines = list[dict[str, object]]()
    for s in scores:
        means = [_mean_or_none(s.values["cosine"][group]) for group in groups]
        lines.append({"encoder": s.origin.encoder, "line": "pairs", "y": means})
    data = {
        "x": "human score, mean of each tenth of the pairs",
        "y": "mean cosine",
        "at": [float(human[group].mean()) for group in groups],
        "lines": lines,
    }
    return Series(NAME, scores[0].origin.corpus, "by_score", "curve", data)


def _mean_or_none(values: Floats) -> float | None:
    """Return the mean of the defined values; None if all are NaN."""
    if np.isnan(values).all():
        return None
    return float(np.nanmean(values))


_SPEARMAN = METRICS[0].column
LAYOUT = Layout(
    title="Similarity",
    question="How well does the cosine follow what people find similar?",
    headline=EncoderTable(
        "Correlation of the cosine with the human score",
        (_SPEARMAN, Column("Pearson", "pearson"), Column("AUC", AUC.metric)),
        note="1: the same order (Spearman), or on a line (Pearson). Intervals resample pairs, those that share a "
        "sentence together. It does not show what a negation does to the cosine: see minimal pairs.",
    ),
    parts=(
        IntervalChart("Spearman's correlation with its 95% interval", _SPEARMAN),
        ComparisonTable(
            "Which differences are shown",
            _SPEARMAN,
            note="Paired on the same pairs of sentences; p corrected within each family.",
        ),
        Curves("Cosine by human score", "by_score", note="Each point is a tenth of the pairs, by human score."),
        Examples(
            "Pair by pair",
            "first",
            prefix="first sentence",
            texts=(("second", "second sentence"), ("score", "human score")),
            columns=(
                ExampleColumn("cosine", ("cosine",)),
                ExampleColumn("rank by cosine", ("cosine_rank",), "percent"),
                ExampleColumn("rank by human score", ("human_rank",), "percent"),
            ),
            margin="minus the distance between the two ranks: 0 is the best",
            note="Ranks among all pairs: 0% the least similar, 100% the most. No pair is right or wrong by itself.",
        ),
        SubsetTable("Spearman's correlation in each part of the corpus", "spearman", ("subset:",)),
        overlap_module.TABLE,
    ),
    source="Cer et al. (2017), the STS benchmark; Chiang et al. (2023), section 3.2 and table 1",
)
