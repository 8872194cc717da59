"""Which one-word edits does an encoder notice?

Chiang, Chuang, Glass & Lee (2023), "Revealing the Blind Spot of Sentence Encoder Evaluation by HEROS". The cosine of an
original with each of its edits (a synonym, an antonym, a typo, another word, two negations), corrected for anisotropy:

    cos_norm = (cos − cos_avg) / (1 − cos_avg)

with cos_avg the mean cosine of the first half of the originals with the rest (:func:`normalised`). There is no overall
score: which edits *should* be near depends on the task. The contrasts say which edit is nearer than which.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from embassay.diagnostics.base import Outcomes
from embassay.diagnostics.findings import against_chance, finding, written
from embassay.diagnostics.minimal_pairs import page as minimal_pairs_page
from embassay.diagnostics.minimal_pairs.page import CONTRASTS, HEADLINE, LABELS
from embassay.diagnostics.minimal_pairs.published import by_training
from embassay.diagnostics.overlap import OVERLAP_DIRECTIONS, PairOverlap, overlap_rows, overlap_series
from embassay.geometry.closeness import all_pairs, mean_cosine, paired_cosine
from embassay.lexical.overlap import METRICS, overlap, pairs_of
from embassay.metrics.metric import Direction, Meaning
from embassay.metrics.scoreboard import (
    View,
    candidates_of,
    item_example,
    pools_of,
    roles_of,
    without_baselines,
)
from embassay.metrics.summary import comparisons, estimates_of, row, share_row
from embassay.metrics.verdict import unranked, verdict
from embassay.result import Comparison, Estimate, Example, Finding, Result, Row, Series, Verdict
from embassay.samples.minimal_pairs import ALL_EDITS
from embassay.samples.minimal_pairs import MinimalPairs as Sample
from embassay.stats.best import rank_means
from embassay.stats.density import density
from embassay.stats.families import PairedDifference, compare_means
from embassay.stats.noninferiority import Headline, ItemMetric
from embassay.stats.resample import ABSENT, means
from embassay.stats.shares import shares_of_encoders
from embassay.stats.units import Floats
from embassay.types import Corpus, Draws, ItemScores, Origin
from embassay.vectors import VectorMatrix, Vectors

CITATION = """@inproceedings{chiang2023,
  author = {Chiang, Cheng-Han and Chuang, Yung-Sung and Glass, James and Lee, Hung-yi},
  title = {Revealing the Blind Spot of Sentence Encoder Evaluation by {HEROS}},
  booktitle = {Proceedings of the 8th Workshop on Representation Learning for NLP},
  year = {2023},
  doi = {10.18653/v1/2023.repl4nlp-1.24}
}"""
NAME = "minimal_pairs"
VERSION = 1
"""To be raised with each change after which the same vectors have other scores or figures."""
LAYOUT = minimal_pairs_page.LAYOUT
# The margin is a tenth of the contrast that all-MiniLM-L6-v2 has.
MEANING = Meaning("negation contrast", "originals", 0.01, points=False)
DIRECTIONS: dict[str, Direction] = {
    # A synonym and a typo keep the meaning; an antonym and a negation change it.
    "contrast[synonym-antonym*": "higher",
    "contrast[synonym-negation_*": "higher",
    "nearer[synonym>antonym]": "higher",
    "nearer[synonym>negation_*": "higher",
    "nearer[typo>negation_*": "higher",
    "nearer[antonym>typo]": "lower",
    # Which of two other edits should be nearer, and how near, depends on the task.
    "contrast[*]": "neither",
    "nearer[*]": "neither",
    "similarity[*]": "neither",
    "cosine[*]": "neither",
    "percentile[*]": "neither",
    "baseline[*]": "neither",
    **OVERLAP_DIRECTIONS,
}
HEADLINE_SUBSET = "-".join(HEADLINE)
NEARER = {
    "synonym>negation_main": ("a negation", "the negation of its main verb"),
    "synonym>antonym": ("an antonym", "an antonym"),
}
"""The orderings that findings are about, each also a contrast: what a synonym is compared with, short and in full."""
COLLAPSED = 1e-6
"""An encoder whose mean cosine is this close to 1 has collapsed: there is nothing to normalise by."""
NO_BASELINE = "random pairs need two originals with vectors that are not zero"
RANKED = 1000
"""Originals of each half whose pairs the percentiles are based on, at most: up to a million pairs."""
POINTS = 241
"""Points of each density curve."""


def create(*, compare: Literal["headline", "all"] = "headline") -> MinimalPairsDiagnostic:
    """Make the diagnostic.

    Parameters
    ----------
    compare
        Which metrics are compared pair by pair: ``headline`` (the contrast synonym − negation_main) or ``all``
        (also the other contrasts, and the similarity of each edit).
    """
    return MinimalPairsDiagnostic(compare)


def normalised(cosine: Floats, average: float) -> Floats:
    """Return the cosine corrected for anisotropy, (cos − cos_avg)/(1 − cos_avg).

    Parameters
    ----------
    cosine
        (n,) of originals with an edit; NaN is undefined, ``ABSENT`` no such edit.
    average
        cos_avg, the mean cosine of random pairs; NaN if there are no random pairs.

    Returns
    -------
    (n,) at most 1, larger is more similar: 1 for equal directions, 0 for the mean of random pairs, negative below it.
    NaN for a collapsed encoder and where ``average`` is NaN.
    """
    # False also for NaN, so that a missing average gives NaN.
    can_be_normalised = average <= 1 - COLLAPSED
    if not can_be_normalised:
        return np.where(cosine == ABSENT, ABSENT, np.nan)
    return (cosine - average) / (1 - average)


@dataclass(frozen=True)
class MinimalPairsDiagnostic:
    """The diagnostic; see the module's documentation."""

    compare: str = "headline"
    shape: str = "minimal_pairs"
    options: str = ""

    def score(self, corpus: Corpus[Sample], vectors: Vectors, origin: Origin) -> ItemScores:
        """Compute the cosine of each original with its edits, and with other originals.

        Returns
        -------
        ItemScores
            Values: ``cosine`` and ``percentile`` (n, edits), ``random_pair`` (n,), and ``lexical`` (n, edits × overlap
            metrics). Columns are in the order of ``ALL_EDITS``; ``ABSENT`` where an original has no such edit, NaN
            where a vector is zero. The scalar ``average`` is cos_avg; with a single original there is none.
        """
        samples = corpus.samples
        originals = vectors.take(s.original for s in samples)
        cosine = np.full((len(samples), len(ALL_EDITS)), ABSENT)
        lexical = np.full((len(samples), len(ALL_EDITS), len(METRICS)), ABSENT)
        for column, edit in enumerate(ALL_EDITS):
            rows, texts, originals_of_texts = list[int](), list[str](), list[str]()
            for place, sample in enumerate(samples):
                edits = dict(sample.edits)
                if edit in edits:
                    rows.append(place)
                    texts.append(edits[edit])
                    originals_of_texts.append(sample.original)
            if rows:
                cosine[rows, column] = paired_cosine(originals[rows], vectors.take(texts))
                lexical[rows, column] = overlap(pairs_of(originals_of_texts, texts))
        # The paper's cos_avg: the first half of the originals with the rest.
        half = len(samples) // 2
        average = float("nan")
        if half:
            average = mean_cosine(originals[:half], originals[half:])
        # Stored scores hold no NaN outside arrays.
        scalars = dict[str, float]()
        if not np.isnan(average):
            scalars["average"] = average
        return ItemScores(
            origin,
            similarity_function="cosine",
            item=np.array([s.id for s in samples]),
            unit=corpus.units,
            labels={},
            values={
                "cosine": cosine,
                "random_pair": random_pairs(originals),
                "percentile": percentiles(originals, cosine),
                "lexical": lexical.reshape(len(samples), -1),
            },
            scalars=scalars,
        )

    def summarise(self, scores: Sequence[ItemScores], draws: Draws) -> Result:
        """Summarise all encoders on one corpus: similarity of each edit, contrasts, orderings."""
        views = [MinimalPairsView(s) for s in scores]
        requested = without_baselines(views)
        corpus, edits, unit = views[0].corpus, views[0].edits, scores[0].unit
        rows = list(_rows(views, draws))
        lexical = list(overlap_rows(scores[0], draws, _lexical_groups(scores[0], edits)))

        roles = roles_of(scores, all_pairs=self.compare == "all")
        compared, headline_differences = list[Comparison](), tuple[PairedDifference, ...]()
        for (metric, subset), values in self._compared_metrics(views).items():
            differences = compare_means(values, unit, roles, draws, *views[0].stream)
            compared += comparisons(scores[0], metric, subset, differences)
            if (metric, subset) == ("contrast", HEADLINE_SUBSET):
                headline_differences = differences
        return Result(
            draws.seed,
            draws.resamples,
            rows=(*rows, *lexical),
            comparisons=tuple(compared),
            series=(
                _densities(views),
                overlap_series(NAME, corpus, lexical, {"all": "all edits", **{edit: LABELS[edit] for edit in edits}}),
                *_by_training(requested, rows),
            ),
            verdicts=(self._verdict(scores, rows, headline_differences, draws),),
            findings=(*_not_ranked(views[0]), *(f for view in requested for f in _findings(view, rows))),
        )

    def outcomes(self, scores: Sequence[ItemScores]) -> Outcomes:
        """Return whether a synonym is nearer than the negation of the main verb; undecided without these edits."""
        requested = without_baselines([MinimalPairsView(s) for s in scores])
        correct = np.stack([_infinite_to_nan(view.nearer(*HEADLINE)) for view in requested])
        return Outcomes(np.full(correct.shape[1], ""), correct)

    def examples(
        self, corpus: Corpus[Sample], scores: Sequence[ItemScores], items: NDArray[np.int64]
    ) -> Iterator[Example]:
        """Yield each original with its edits, and the cosine of each encoder with these."""
        views = [MinimalPairsView(s) for s in scores]
        # Computed once for all items: (n,) of each encoder.
        correct = {view.encoder: view.nearer(*HEADLINE) for view in views}
        margins = {view.encoder: view.contrast(*HEADLINE) for view in views}
        for index in items.tolist():
            name = str(scores[0].item[index])
            yield item_example(scores[0], index, corpus.shown(name))
            for view in views:
                cosines = {edit: view.cosine(edit)[index] for edit in view.edits}
                is_correct = correct[view.encoder][index]
                margin = margins[view.encoder][index]
                yield view.outcome(index, cosines, correct=is_correct, margin=margin)

    def headline(self, scores: Sequence[ItemScores]) -> Headline | None:
        """Return the contrast, original by original, of all encoders; None without the edits of the contrast."""
        views = [MinimalPairsView(s) for s in scores]
        if not set(HEADLINE) <= set(views[0].edits):
            return None
        return Headline(
            metric="contrast",
            margin=MEANING.margin,
            values=_contrast_of_encoders(views, *HEADLINE),
            unit=scores[0].unit,
            purpose=views[0].stream,
            subset=HEADLINE_SUBSET,
            of_shares=False,
        )

    def item_metrics(self, scores: Sequence[ItemScores]) -> Iterator[ItemMetric]:
        """Yield the contrasts, and how often the first edit of each is nearer."""
        views = [MinimalPairsView(s) for s in scores]
        unit, stream = scores[0].unit, views[0].stream
        for first, second in _contrasts(views[0].edits):
            subset = f"{first}-{second}"
            for condition, raw in (("", False), ("raw", True)):
                values = _contrast_of_encoders(views, first, second, raw)
                yield ItemMetric("contrast", None, values, unit, stream, subset, condition, of_shares=False)
            # The rows of orderings have each pair of edits once, in the order of ALL_EDITS.
            if ALL_EDITS.index(first) < ALL_EDITS.index(second):
                values = {view.encoder: _infinite_to_nan(view.nearer(first, second)) for view in views}
                yield ItemMetric("nearer", None, values, unit, stream, f"{first}>{second}")

    def _compared_metrics(self, views: Sequence[MinimalPairsView]) -> dict[tuple[str, str], dict[str, Floats]]:
        """Return what is compared: {(metric, subset): {encoder: (n,) values}}."""
        metrics = dict[tuple[str, str], dict[str, Floats]]()
        for first, second in _contrasts(views[0].edits):
            if (first, second) == HEADLINE or self.compare == "all":
                metrics["contrast", f"{first}-{second}"] = _contrast_of_encoders(views, first, second)
        if self.compare == "all":
            for edit in views[0].edits:
                metrics["similarity", edit] = _similarity_of_encoders(views, edit)
        return metrics

    def _verdict(
        self,
        scores: Sequence[ItemScores],
        rows: Sequence[Row],
        differences: Sequence[PairedDifference],
        draws: Draws,
    ) -> Verdict:
        """Rank the candidates by the headline contrast; unranked without the edits of the contrast."""
        headline = self.headline(scores)
        if headline is None:
            return unranked(scores)
        estimates = estimates_of(rows, headline)
        candidates = candidates_of(scores, headline.values)
        # No choice is wrong here, so items that an encoder leaves undefined cannot be counted as wrong.
        standings = rank_means(candidates, headline.unit, draws, *headline.purpose, wrong=None)
        return verdict(scores, headline, estimates, differences, standings, chance=0.0, leader="Highest")


@dataclass(frozen=True)
class MinimalPairsView(View):
    """One encoder's originals and edits."""

    @property
    def average(self) -> float:
        """The mean cosine of random pairs; NaN if there are no random pairs."""
        return self.scores.scalars.get("average", float("nan"))

    @cached_property
    def edits(self) -> tuple[str, ...]:
        """The edits that some original has."""
        has_edit = (self.scores.values["cosine"] != ABSENT).any(axis=0)
        return tuple(edit for edit, some in zip(ALL_EDITS, has_edit, strict=True) if some)

    def cosine(self, edit: str) -> Floats:
        """Return the (n,) cosines of the originals with an edit, in [−1, 1]; ABSENT where there is no such edit."""
        return self.scores.values["cosine"][:, ALL_EDITS.index(edit)]

    def similarity(self, edit: str) -> Floats:
        """Return the (n,) cosines corrected for anisotropy, at most 1; see :func:`normalised`."""
        return normalised(self.cosine(edit), self.average)

    def percentile(self, edit: str) -> Floats:
        """Return (n,) the share of random pairs that are less similar than the edit, in [0, 1]."""
        return self.scores.values["percentile"][:, ALL_EDITS.index(edit)]

    def contrast(self, first: str, second: str, raw: bool = False) -> Floats:
        """Return (n,) the similarity of the first edit less that of the second, normalised unless ``raw``.

        Above 0 the first edit is nearer to the original. ABSENT where the original lacks one of them.
        """
        if raw:
            a, b = self.cosine(first), self.cosine(second)
        else:
            a, b = self.similarity(first), self.similarity(second)
        # ABSENT is infinite, and infinity less infinity is NaN; _where_both replaces it.
        with np.errstate(invalid="ignore"):
            return _where_both(a, b, a - b)

    def nearer(self, first: str, second: str) -> Floats:
        """Return (n,) 1 where the first edit is nearer to the original, ½ in a tie, 0 otherwise.

        ABSENT where the original lacks one of them, NaN where one is undefined.
        """
        a, b = self.cosine(first), self.cosine(second)
        return _where_both(a, b, (a > b) + 0.5 * (a == b))


def _where_both(first: Floats, second: Floats, values: Floats) -> Floats:
    """Return the values where both edits are defined; ABSENT where one is absent, NaN where one is undefined."""
    values = np.where(np.isfinite(first) & np.isfinite(second), values, np.nan)
    return np.where((first == ABSENT) | (second == ABSENT), ABSENT, values)


def _infinite_to_nan(values: Floats) -> Floats:
    """Return the values with NaN where an original lacks the edit."""
    return np.where(np.isfinite(values), values, np.nan)


def _contrast_of_encoders(
    views: Sequence[MinimalPairsView], first: str, second: str, raw: bool = False
) -> dict[str, Floats]:
    """Return the (n,) contrast of two edits by encoder; NaN where an original lacks one of them."""
    return {view.encoder: _infinite_to_nan(view.contrast(first, second, raw)) for view in views}


def _similarity_of_encoders(views: Sequence[MinimalPairsView], edit: str) -> dict[str, Floats]:
    """Return the (n,) similarity of an edit by encoder; NaN where an original lacks the edit."""
    return {view.encoder: _infinite_to_nan(view.similarity(edit)) for view in views}


def _contrasts(edits: Sequence[str]) -> list[tuple[str, str]]:
    """Return the contrasts whose two edits some original has."""
    return [pair for pair in CONTRASTS if set(pair) <= set(edits)]


def _rows(views: Sequence[MinimalPairsView], draws: Draws) -> Iterator[Row]:
    """Yield the rows of all encoders; their means share the resamples."""
    edits = views[0].edits
    unit = views[0].scores.unit
    keys = list(_items_of_means(views[0]))
    # One table at a time, because those of all encoders together would take much memory.
    tables = (np.stack(list(_items_of_means(view).values()), axis=1) for view in views)
    estimates = means(tables, unit, draws, *views[0].stream)
    nearer = shares_of_encoders((_orderings(view, edits) for view in views), unit)

    parts = [view.scores.part("cosine", "random_pair", "percentile") for view in views]
    hashes_of_others = pools_of(parts)
    for view, scores, means_of_encoder, orderings in zip(views, parts, estimates, nearer, strict=True):
        for (metric, subset, condition), estimate in zip(keys, means_of_encoder, strict=True):
            estimate_with_reason = _with_reason(estimate, view)
            yield row(scores, draws, metric, subset, estimate_with_reason, condition)
        for subset, share in orderings.items():
            yield share_row(scores, draws, "nearer", subset, share, hashes_of_others[view.encoder])
        yield row(scores, draws, "baseline", "all", _baseline(view))


def _items_of_means(view: MinimalPairsView) -> dict[tuple[str, str, str], Floats]:
    """Return the (n,) items of each mean by metric, subset and condition: of each edit, and of the contrasts.

    ABSENT where an original lacks an edit, NaN where undefined.
    """
    items = dict[tuple[str, str, str], Floats]()
    for edit in view.edits:
        items["similarity", edit, ""] = view.similarity(edit)
    for edit in view.edits:
        items["cosine", edit, ""] = view.cosine(edit)
    for edit in view.edits:
        items["percentile", edit, ""] = view.percentile(edit)
    for first, second in _contrasts(view.edits):
        items["contrast", f"{first}-{second}", ""] = view.contrast(first, second)
    for first, second in _contrasts(view.edits):
        items["contrast", f"{first}-{second}", "raw"] = view.contrast(first, second, raw=True)
    return items


def _orderings(view: MinimalPairsView, edits: Sequence[str]) -> dict[str, Floats]:
    """Return, for each pair of edits, (n,) whether the first is nearer to the original than the second."""
    return {f"{first}>{second}": view.nearer(first, second) for first, second in combinations(edits, 2)}


def _with_reason(estimate: Estimate, view: MinimalPairsView) -> Estimate:
    """Return the estimate, with the reason where the missing baseline makes it undefined."""
    if estimate.value is None and estimate.undefined and np.isnan(view.average):
        return replace(estimate, reason=NO_BASELINE)
    return estimate


def _baseline(view: MinimalPairsView) -> Estimate:
    """Return the mean cosine of random pairs; no interval, because every resample uses the same."""
    originals, units = len(view.scores.item), len(np.unique(view.scores.unit))
    if np.isnan(view.average):
        return Estimate(None, None, None, 0, 0, originals, NO_BASELINE)
    return Estimate(view.average, None, None, originals, units)


def _not_ranked(view: MinimalPairsView) -> Iterator[Finding]:
    """Yield why encoders are not ranked, where an edit of the headline contrast is missing."""
    if not set(HEADLINE) <= set(view.edits):
        sentence = "Encoders are not ranked: this needs originals with a synonym and a negation of the main verb."
        yield finding(view.scores, "Not ranked", sentence, severity="medium", about_all=True)


def _findings(view: MinimalPairsView, rows: Sequence[Row]) -> Iterator[Finding]:
    """Yield how often a synonym is nearer than a negation and than an antonym; an even chance has 50 %.

    Where the mean contrast says the opposite of the majority of the originals, the finding says both.
    """
    name = view.encoder
    if view.average > 1 - COLLAPSED:
        yield finding(
            view.scores,
            "All texts get almost the same vector",
            f"{name} gives all texts almost the same vector: random pairs have a mean cosine of {view.average:.6f}.",
            severity="high",
            consequence="It cannot be used for search: every text is as near as any other.",
        )
        return
    nearer = {r.subset: r for r in rows if (r.encoder, r.metric) == (name, "nearer")}
    contrasts = {r.subset: r for r in rows if (r.encoder, r.metric, r.condition) == (name, "contrast", "")}
    for subset, (edit, description) in NEARER.items():
        share = nearer.get(subset)
        if share is None:
            continue
        side = against_chance(share, 0.5)
        # There is no interval under MIN_UNITS units.
        if not side:
            continue
        severity, title, consequence = "low", f"A synonym is nearer than {edit}", ""
        if side == "below":
            severity, title = "high", f"{edit.capitalize()} is nearer than a synonym"
            consequence = "A text that says the contrary is found before one that says the same in other words."
        elif side == "both":
            severity, title = "medium", f"A synonym is not shown to be nearer than {edit}"
        sentence = f"{name} puts a synonym nearer than {description} for {written(share)} of the originals"
        contrast = contrasts[subset.replace(">", "-")]
        if {side, against_chance(contrast, 0.0)} == {"above", "below"}:
            severity = "medium"
            title += " for most originals, but not on average"
            sentence += f", but the mean contrast is {written(contrast, 'number')}: the other originals differ by more"
        yield finding(view.scores, title, f"{sentence}.", severity=severity, row=share, consequence=consequence)


def _lexical_groups(scores: ItemScores, edits: Sequence[str]) -> dict[str, PairOverlap]:
    """Return the overlap of all pairs, and of each edit's."""
    by_edit = scores.values["lexical"].reshape(len(scores.item), len(ALL_EDITS), len(METRICS))
    groups = {edit: PairOverlap(by_edit[:, ALL_EDITS.index(edit)], scores.unit) for edit in edits}
    every = np.concatenate([group.values for group in groups.values()])
    return {"all": PairOverlap(every, np.tile(scores.unit, len(edits))), **groups}


def _densities(views: Sequence[MinimalPairsView]) -> Series:
    """Return the density of the cosine of each edit, and of random pairs."""
    smallest = 0.0
    for view in views:
        for name in ("random_pair", "cosine"):
            values = view.scores.values[name]
            smallest = float(values[np.isfinite(values)].min(initial=smallest))
    # Rounded down to a tenth, and a tenth more, because a kernel density reaches beyond the values.
    low = max(-1.0, float(np.floor(10 * smallest) / 10) - 0.1)
    at = np.linspace(low, 1.0, POINTS)
    lines = list[dict[str, object]]()
    for view in views:
        samples = {"random pair": view.scores.values["random_pair"]}
        for edit in view.edits:
            samples[LABELS[edit]] = view.cosine(edit)
        for line, values in samples.items():
            curve = density(values[np.isfinite(values)], at, -1.0, 1.0)
            lines.append({"encoder": view.encoder, "line": line, "y": curve.tolist()})
    data = {"x": "cosine with the original", "y": "density", "at": at.tolist(), "lines": lines}
    return Series(NAME, views[0].corpus, "density", "curve", data)


def _by_training(views: Sequence[MinimalPairsView], rows: Sequence[Row]) -> Iterator[Series]:
    """Group the encoders that the paper has by what they were fine-tuned on."""
    specs = {view.encoder: view.spec for view in views}
    similarity = {(r.encoder, r.subset): r.value for r in rows if r.metric == "similarity" and not r.condition}
    labels = {edit: LABELS[edit] for edit in views[0].edits}
    yield from by_training(NAME, views[0].corpus, specs, similarity, labels)


def random_pairs(originals: VectorMatrix) -> Floats:
    """Return the (n,) cosines of n pairs of an original of the first half with one of the second.

    From four originals on, all pairs are different. NaN for a single original.
    """
    n = originals.shape[0]
    half = n // 2
    if not half:
        return np.full(n, np.nan)
    # Each turn through the first half is paired with the second half, shifted by one place more.
    place = np.arange(n)
    first, turn = place % half, place // half
    second = half + (first + turn) % (n - half)
    return paired_cosine(originals[first], originals[second])


def percentiles(originals: VectorMatrix, cosine: Floats, ranked: int = RANKED) -> Floats:
    """Return the share of random pairs that are less similar than each edit, ties half; absent edits stay absent.

    The pairs are those of the baseline: each original of the first half with each of the second.

    Parameters
    ----------
    originals
        (n, d) vectors.
    cosine
        (n, edits) of each original with its edits.
    ranked
        Evenly spaced originals of each half that are used, at most.
    """
    n = originals.shape[0]
    half = n // 2
    undefined = np.where(cosine == ABSENT, ABSENT, np.nan)
    if not half:
        return undefined
    first, second = _evenly_spaced(0, half, ranked), _evenly_spaced(half, n, ranked)
    pairs = all_pairs(originals[first], originals[second]).ravel()
    # Beyond nine digits the product depends on the machine's kernels.
    pairs = np.sort(np.round(pairs[~np.isnan(pairs)], 9))
    if not pairs.size:
        return undefined
    rounded = np.round(cosine, 9)
    less_similar = np.searchsorted(pairs, rounded, "left")
    at_most_as_similar = np.searchsorted(pairs, rounded, "right")
    share = (less_similar + at_most_as_similar) / (2 * pairs.size)
    return np.where(np.isfinite(cosine), share, cosine)


def _evenly_spaced(start: int, end: int, most: int) -> NDArray[np.int64]:
    """Return at most ``most`` evenly spaced places from start to end − 1."""
    return np.unique(np.linspace(start, end - 1, min(most, end - start)).astype(np.int64))
