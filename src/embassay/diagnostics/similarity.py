"""How well does the cosine follow human judgements of similarity?

Spearman's and Pearson's correlation of the cosine of two sentences with the human score of the pair, as on the STS
benchmark and SICK. Chiang et al. (2023), section 3.2, set it beside the contrasts of minimal pairs: encoders with close
scores behave differently. The lexical overlap of the pairs (their table 1) stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from embassay.diagnostics import overlap as overlap_module
from embassay.diagnostics.base import Outcomes
from embassay.diagnostics.findings import against_chance, finding, written
from embassay.diagnostics.overlap import OVERLAP_DIRECTIONS, PairOverlap, overlap_rows, overlap_series
from embassay.formatting import counted
from embassay.geometry.closeness import paired_cosine
from embassay.layout import (
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
from embassay.lexical.overlap import overlap, pairs_of
from embassay.metrics.metric import Direction, Meaning
from embassay.metrics.scoreboard import (
    Ints,
    View,
    candidates_of,
    item_example,
    roles_of,
    stream_of,
)
from embassay.metrics.summary import comparisons, estimates_of, row
from embassay.metrics.verdict import unranked, verdict
from embassay.result import Comparison, Estimate, Example, Finding, Result, Row, Series, Verdict
from embassay.samples.pairs import Pair
from embassay.stats.best import rank_correlations
from embassay.stats.correlate import MIN_ITEMS, Kind, correlate, influences, midranks
from embassay.stats.exchange import compare_correlations
from embassay.stats.families import PairedDifference
from embassay.stats.noninferiority import Correlated, Headline, ItemMetric
from embassay.stats.units import Floats
from embassay.types import Corpus, Draws, ItemScores, Origin
from embassay.vectors import Vectors

NAME = "similarity"
VERSION = 1
"""To be raised with each change after which the same vectors have other scores or figures."""
HEADLINE: Kind = "spearman"
KINDS: tuple[Kind, ...] = ("spearman", "pearson")
MEANING = Meaning("correlation with human scores", "pairs", 0.02, points=False)
DIRECTIONS: dict[str, Direction] = {"spearman[*]": "higher", "pearson[*]": "higher", **OVERLAP_DIRECTIONS}
BINS = 10
"""Groups of equal size, by human score, whose mean cosine is drawn."""


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
        """Summarise all encoders on one corpus: correlations, and which differences are real."""
        unit, human, corpus = scores[0].unit, scores[0].values["human"], scores[0].origin.corpus
        rows = list[Row]()
        for s in scores:
            rows += _rows(s, draws)
        lexical = list(overlap_rows(scores[0], draws, {"all": PairOverlap(scores[0].values["lexical"], unit)}))
        series = [overlap_series(NAME, corpus, lexical, {"all": "all pairs"})]

        compared, headline_differences = list[Comparison](), tuple[PairedDifference, ...]()
        if _has_enough(human):
            series.insert(0, _curve(scores))
            cosines = {s.origin.encoder: s.values["cosine"] for s in scores}
            roles = roles_of(scores, all_pairs=self.compare == "all")
            for kind in KINDS:
                stream = stream_of(scores[0])
                differences = compare_correlations(human, cosines, unit, kind, roles, draws, *stream)
                compared += comparisons(scores[0], kind, "all", differences)
                if kind == HEADLINE:
                    headline_differences = differences
        return Result(
            draws.seed,
            draws.resamples,
            rows=(*rows, *lexical),
            comparisons=tuple(compared),
            series=tuple(series),
            verdicts=(_verdict(scores, rows, headline_differences, draws),),
            findings=tuple(_findings(scores, rows)),
        )

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

    def headline(self, scores: Sequence[ItemScores]) -> Headline | None:
        """Return item values whose mean is the correlation, for a test of "not worse".

        None without human scores that vary. In simulation an encoder that is worse by the margin passes in 5-8 % of
        the cases with 100 pairs and more, in 9-12 % with 30.
        """
        headline = _headline(scores)
        if all(np.isnan(items).all() for items in headline.values.values()):
            return None
        return headline

    def item_metrics(self, scores: Sequence[ItemScores]) -> Iterator[ItemMetric]:
        """Yield both correlations; none without human scores that vary."""
        human = scores[0].values["human"]
        if not _has_enough(human) or not _vary(human):
            return
        for kind in KINDS:
            yield ItemMetric(
                metric=kind,
                margin=None,
                values=_influences(scores, kind),
                unit=scores[0].unit,
                purpose=stream_of(scores[0]),
                of_shares=False,
                correlated=_correlated(scores, kind),
            )


def _percentiles(values: Floats) -> Floats:
    """Return the (n,) midranks of the values divided by their number, between 0 and 1; NaN stays NaN."""
    percentiles = np.full(len(values), np.nan)
    defined = ~np.isnan(values)
    percentiles[defined] = (midranks(values[defined]) - 0.5) / max(int(defined.sum()), 1)
    return percentiles


def _headline(scores: Sequence[ItemScores]) -> Headline:
    """Return the headline; its item values are NaN where nothing varies."""
    return Headline(
        metric=HEADLINE,
        margin=MEANING.margin,
        values=_influences(scores, HEADLINE),
        unit=scores[0].unit,
        purpose=stream_of(scores[0]),
        of_shares=False,
        correlated=_correlated(scores, HEADLINE),
    )


def _influences(scores: Sequence[ItemScores], kind: Kind) -> dict[str, Floats]:
    """Return the (n,) influence of each pair on the correlation, by encoder; NaN where nothing varies.

    The mean of the influences is the correlation itself, so that tests of means apply to it; see
    :func:`~embassay.stats.correlate.influences`.
    """
    human = scores[0].values["human"]
    return {s.origin.encoder: influences(human, s.values["cosine"], kind) for s in scores}


def _correlated(scores: Sequence[ItemScores], kind: Kind) -> Correlated:
    """Return what a correlation is computed from."""
    return Correlated(scores[0].values["human"], {s.origin.encoder: s.values["cosine"] for s in scores}, kind)


def _has_enough(human: Floats) -> bool:
    """Return whether there are enough human scores to correlate with."""
    return len(human[~np.isnan(human)]) >= MIN_ITEMS


def _vary(human: Floats) -> bool:
    """Return whether the human scores differ."""
    return bool(np.ptp(human[~np.isnan(human)]) > 0)


def _rows(scores: ItemScores, draws: Draws) -> Iterator[Row]:
    """Yield an encoder's correlations, in [−1, 1], on all pairs and on each part of the corpus."""
    part = scores.part("cosine", "human")
    part_of_pair = scores.labels["subset"]
    masks = {"all": np.ones(len(part_of_pair), dtype=bool)}
    names = np.unique(part_of_pair).tolist()
    # A corpus of one part would have all its rows twice.
    if len(names) > 1:
        for name in names:
            if name:
                masks[f"subset:{name}"] = part_of_pair == name
    for subset, inside in masks.items():
        human, cosine = part.values["human"][inside], part.values["cosine"][inside]
        unit = scores.unit[inside]
        for kind in KINDS:
            estimate = _correlation(human, cosine, unit, kind, draws, stream_of(scores))
            yield row(part, draws, kind, subset, estimate)


def _correlation(
    human: Floats, cosine: Floats, unit: NDArray[np.int64], kind: Kind, draws: Draws, stream: tuple[str, str]
) -> Estimate:
    """Return a correlation, with the reason where there are no human scores or something does not vary."""
    if np.isnan(human).all():
        return Estimate(None, None, None, 0, 0, len(human), "the pairs have no human scores")
    estimate = correlate(human, cosine, unit, kind, draws, *stream)
    if estimate.value is None and estimate.items >= MIN_ITEMS:
        reason = "the human scores do not vary"
        if _vary(human):
            reason = "the cosines do not vary"
        return replace(estimate, reason=reason)
    return estimate


def _verdict(
    scores: Sequence[ItemScores], rows: Sequence[Row], differences: Sequence[PairedDifference], draws: Draws
) -> Verdict:
    """Rank the candidates by Spearman's correlation; unranked where human scores are too few or do not vary."""
    human, unit = scores[0].values["human"], scores[0].unit
    can_be_ranked = _has_enough(human) and _vary(human)
    if not can_be_ranked:
        return unranked(scores)
    headline = _headline(scores)
    cosines = {s.origin.encoder: s.values["cosine"] for s in scores}
    candidates = candidates_of(scores, cosines)
    standings = rank_correlations(human, candidates, unit, HEADLINE, draws, *stream_of(scores[0]))
    return verdict(scores, headline, estimates_of(rows, headline), differences, standings, chance=0.0)


def _findings(scores: Sequence[ItemScores], rows: Sequence[Row]) -> Iterator[Finding]:
    """Yield how far each encoder's cosines follow the human scores, or why that cannot be said."""
    human = scores[0].values["human"]
    sentence = ""
    if not _has_enough(human):
        sentence = "The pairs have too few human scores to correlate with."
    elif not _vary(human):
        sentence = "The human scores do not vary."
    if sentence:
        yield finding(scores[0], "Not ranked", sentence, severity="medium", about_all=True)
        return
    correlation_of = {r.encoder: r for r in rows if (r.metric, r.subset) == (HEADLINE, "all")}
    for s in scores:
        row = correlation_of[s.origin.encoder]
        if s.origin.baseline or row.value is None:
            continue
        correlation = f"Spearman's correlation with the human scores is {written(row, 'number')}"
        if against_chance(row, 0.0) in ("below", "both"):
            title, severity = "Cosines are not shown to follow human scores", "high"
            consequence = "Its cosine says nothing about how alike people find two texts."
        else:
            title, severity, consequence = "Cosines follow human scores", "low", ""
        sentence = f"{s.origin.encoder}: {correlation} ({counted(row.items, 'pair')})."
        yield finding(s, title, sentence, severity=severity, row=row, style="number", consequence=consequence)


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


_SPEARMAN = Column("Spearman", "spearman", format="number", level="0")
LAYOUT = Layout(
    title="Similarity",
    question="How well does the cosine follow what people find similar?",
    headline=EncoderTable(
        "Correlation of the cosine with the human score",
        (_SPEARMAN, Column("Pearson", "pearson", format="number")),
        note="1: the same order (Spearman), or on a line (Pearson). Intervals resample pairs, those that share a "
        "sentence together. It does not show what a negation does to the cosine: see minimal pairs.",
    ),
    parts=(
        IntervalChart("Spearman's correlation with its 95% interval", _SPEARMAN),
        ComparisonTable(
            "Which differences are real",
            _SPEARMAN,
            note="Paired on the same pairs of sentences; Holm's correction within each question.",
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
        SubsetTable("Spearman's correlation in each part of the corpus", "spearman", ("subset:",), format="number"),
        overlap_module.TABLE,
    ),
    source="Cer et al. (2017), the STS benchmark; Chiang et al. (2023), section 3.2 and table 1",
)
