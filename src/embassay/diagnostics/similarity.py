"""How well does the cosine follow human judgements of similarity?

Spearman's and Pearson's correlation of the cosine of two sentences with the human score of the pair, as on the STS
benchmark and SICK. Chiang et al. (2023), section 3.2, set it beside the contrasts of minimal pairs: encoders with close
scores behave differently. The lexical overlap of the pairs (their table 1) stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from embassay.diagnostics import overlap as overlap_module
from embassay.diagnostics.base import Meaning, candidates_of, comparisons, roles_of, row, unranked, verdict
from embassay.diagnostics.overlap import overlap_rows, overlap_series
from embassay.geometry.closeness import paired_cosine
from embassay.layout import (
    Column,
    ComparisonTable,
    Curves,
    EncoderTable,
    IntervalChart,
    Layout,
    SubsetTable,
)
from embassay.lexical.overlap import overlap, pairs_of
from embassay.result import Estimate, Result, Row, Series, Verdict
from embassay.samples.pairs import Pair
from embassay.stats.best import rank_correlations
from embassay.stats.correlate import MIN_ITEMS, Kind, correlate, influences
from embassay.stats.exchange import compare_correlations
from embassay.stats.families import PairedDifference
from embassay.stats.noninferiority import Headline
from embassay.stats.units import Floats
from embassay.types import Corpus, Draws, ItemScores, Origin
from embassay.vectors import Vectors

NAME = "similarity"
VERSION = 1
"""To be raised with each change after which the same vectors have other scores or figures."""
HEADLINE: Kind = "spearman"
KINDS: tuple[Kind, ...] = ("spearman", "pearson")
MEANING = Meaning("correlation with human scores", "pairs", 0.02, points=False)
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
        """Compute the cosine of each pair."""
        samples = corpus.samples
        first, second = ([getattr(s, side) for s in samples] for side in ("first", "second"))
        human = [np.nan if s.score is None else s.score for s in samples]
        return ItemScores(
            origin,
            measure="cosine",
            item=np.array([s.id for s in samples]),
            unit=corpus.units,
            labels={"subset": np.array([s.subset for s in samples])},
            values={
                "cosine": paired_cosine(vectors.take(first), vectors.take(second)),
                "human": np.array(human, dtype=np.float64),
                "lexical": np.array(overlap(pairs_of(first, second))),
            },
        )

    def summarise(self, scores: Sequence[ItemScores], draws: Draws) -> Result:
        """Summarise all encoders on one corpus: correlations, and which differences are real."""
        unit, human = scores[0].unit, scores[0].values["human"]
        corpus, key = scores[0].origin.corpus, scores[0].origin.corpus_fingerprint
        rows = [r for s in scores for r in _rows(s, draws)]
        lexical = list(overlap_rows(scores[0], draws, {"all": (scores[0].values["lexical"], unit)}))
        cosines = {s.origin.encoder: s.values["cosine"] for s in scores}
        scored = int((~np.isnan(human)).sum()) >= MIN_ITEMS
        roles = roles_of(scores, all_pairs=self.compare == "all")
        found = {k: compare_correlations(human, cosines, unit, k, roles, draws, NAME, key) for k in KINDS if scored}
        return Result(
            draws.seed,
            draws.resamples,
            rows=(*rows, *lexical),
            comparisons=tuple(c for kind, ds in found.items() for c in comparisons(scores[0], kind, "all", ds)),
            series=(
                *([_curve(scores)] if scored else []),
                overlap_series(NAME, corpus, lexical, {"all": "all pairs"}),
            ),
            verdicts=(_verdict(scores, rows, found.get(HEADLINE), draws),),
        )

    def headline(self, scores: Sequence[ItemScores]) -> Headline | None:
        """Return item values whose mean is the correlation, which a test of "not worse" rests on.

        None without human scores that vary. In simulation an encoder that is worse by the margin passes in 5-8 % of
        the cases with 100 pairs and more, in 9-12 % with 30.
        """
        human = scores[0].values["human"]
        values = {s.origin.encoder: influences(human, s.values["cosine"], HEADLINE) for s in scores}
        if all(np.isnan(items).all() for items in values.values()):
            return None
        purpose = (NAME, scores[0].origin.corpus_fingerprint)
        return Headline(HEADLINE, MEANING.margin, values, scores[0].unit, purpose, of_shares=False)


def _rows(scores: ItemScores, draws: Draws) -> Iterator[Row]:
    """Yield an encoder's correlations, on all pairs and on each part of the corpus."""
    own = scores.part("cosine", "human")
    subsets = scores.labels["subset"]
    parts = {"all": np.ones(len(subsets), dtype=bool)}
    if len(names := np.unique(subsets)) > 1:
        parts |= {f"subset:{name}": subsets == name for name in names.tolist() if name}
    key = scores.origin.corpus_fingerprint
    for subset, inside in parts.items():
        human, cosine = (own.values[name][inside] for name in ("human", "cosine"))
        unit = scores.unit[inside]
        for kind in KINDS:
            yield row(own, draws, kind, subset, _estimate(human, cosine, unit, kind, draws, NAME, key))


def _estimate(
    human: Floats, cosine: Floats, unit: NDArray[np.int64], kind: Kind, draws: Draws, *purpose: str
) -> Estimate:
    if np.isnan(human).all():
        return Estimate(None, None, None, 0, 0, len(human), "the pairs have no human scores")
    found = correlate(human, cosine, unit, kind, draws, *purpose)
    if found.value is None and found.items >= MIN_ITEMS:
        constant = np.ptp(human[~np.isnan(human)]) == 0
        return replace(found, reason=f"the {'human scores' if constant else 'cosines'} do not vary")
    return found


def _verdict(
    scores: Sequence[ItemScores], rows: Sequence[Row], found: tuple[PairedDifference, ...] | None, draws: Draws
) -> Verdict:
    if found is None:
        return unranked(scores, ["The pairs have too few human scores to correlate with"])
    human = scores[0].values["human"]
    if np.ptp(human[~np.isnan(human)]) == 0:
        return unranked(scores, ["The human scores do not vary"])
    level = {r.encoder: r for r in rows if (r.quantity, r.subset) == (HEADLINE, "all")}
    headline: Mapping[str, tuple[Floats, Estimate]] = {
        s.origin.encoder: (influences(human, s.values["cosine"], HEADLINE), _again(level[s.origin.encoder]))
        for s in scores
    }
    cosines = candidates_of(scores, {s.origin.encoder: s.values["cosine"] for s in scores})
    purpose = (NAME, scores[0].origin.corpus_fingerprint)
    standings = rank_correlations(human, cosines, scores[0].unit, HEADLINE, draws, *purpose)
    return verdict(scores, headline, HEADLINE, found, standings, of_shares=False)


def _again(r: Row) -> Estimate:
    return Estimate(r.value, r.low, r.high, r.items, r.units, r.undefined, r.reason)


def _curve(scores: Sequence[ItemScores]) -> Series:
    """Return the mean cosine of groups of pairs of about the same human score."""
    human = scores[0].values["human"]
    scored = np.flatnonzero(~np.isnan(human))
    order = scored[np.argsort(human[scored], kind="stable")]
    groups = [g for g in np.array_split(order, BINS) if len(g)]
    lines = []
    for s in scores:
        cosine = s.values["cosine"]
        means = [float(np.nanmean(cosine[g])) if not np.isnan(cosine[g]).all() else None for g in groups]
        lines.append({"encoder": s.origin.encoder, "line": "pairs", "y": means})
    data = {
        "x": "human score, mean of each tenth of the pairs",
        "y": "mean cosine",
        "at": [float(human[g].mean()) for g in groups],
        "lines": lines,
    }
    return Series(NAME, scores[0].origin.corpus, "by_score", "curve", data)


_SPEARMAN = Column("Spearman", "spearman", format="number")
LAYOUT = Layout(
    title="Similarity",
    question="How well does the cosine follow what people find similar?",
    headline=EncoderTable(
        "Correlation of the cosine with the human score",
        (_SPEARMAN, Column("Pearson", "pearson", format="number")),
        note="1: the same order (Spearman), or on a line (Pearson). Intervals resample pairs, those that share a "
        "sentence together. It does not tell what the cosine makes of a negation: see minimal pairs.",
    ),
    parts=(
        IntervalChart("Spearman's correlation with its 95% interval", _SPEARMAN),
        ComparisonTable(
            "Which differences are real",
            _SPEARMAN,
            note="Paired on the same pairs of sentences; Holm within each question.",
        ),
        Curves("Cosine by human score", "by_score", note="Each point is a tenth of the pairs, by human score."),
        SubsetTable("Spearman's correlation in each part of the corpus", "spearman", ("subset:",), format="number"),
        overlap_module.TABLE,
    ),
    source="Cer et al. (2017), the STS benchmark; Chiang et al. (2023), section 3.2 and table 1",
)
