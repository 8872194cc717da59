"""Which one-word edits does an encoder notice?

Chiang, Chuang, Glass & Lee (2023), "Revealing the Blind Spot of Sentence Encoder Evaluation by HEROS". The cosine of an
original with each of its edits (a synonym, an antonym, a typo, another word, two negations), freed of anisotropy:

    cos_norm = (cos − cos_avg) / (1 − cos_avg)

with cos_avg the mean cosine of the first half of the originals with the rest. Never one overall score: what *should*
be near depends on the task. What can be said is which edit is nearer than which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from embassay.diagnostics.base import (
    Meaning,
    candidates_of,
    comparisons,
    pools_of,
    roles_of,
    row,
    share_row,
    unranked,
    verdict,
)
from embassay.diagnostics.minimal_pairs import page as minimal_pairs_page
from embassay.diagnostics.minimal_pairs.page import CONTRASTS, HEADLINE, LABELS
from embassay.diagnostics.minimal_pairs.published import by_training
from embassay.diagnostics.overlap import overlap_rows, overlap_series
from embassay.geometry.closeness import all_pairs, mean_cosine, paired_cosine
from embassay.lexical.overlap import QUANTITIES, overlap, pairs_of
from embassay.result import Estimate, Example, Result, Row, Series, Verdict
from embassay.samples.minimal_pairs import ALL_EDITS
from embassay.samples.minimal_pairs import MinimalPairs as Sample
from embassay.stats.best import rank_means
from embassay.stats.density import density
from embassay.stats.families import PairedDifference, compare_means
from embassay.stats.noninferiority import Headline
from embassay.stats.resample import ABSENT, means
from embassay.stats.shares import shares_of_encoders
from embassay.stats.units import Floats
from embassay.types import Corpus, Draws, ItemScores, Origin
from embassay.vectors import Vectors

NAME = "minimal_pairs"
VERSION = 1
"""To be raised with each change after which the same vectors have other scores or figures."""
LAYOUT = minimal_pairs_page.LAYOUT
# The margin is a tenth of the contrast that all-MiniLM-L6-v2 has.
MEANING = Meaning(
    "negation contrast",
    "originals",
    0.01,
    points=False,
    lower=("similarity_antonym", "similarity_negation"),
    neither=("baseline", "similarity_random", "similarity_corpus"),
)
COLLAPSED = 1e-6
"""A mean cosine this near to 1 leaves nothing to normalise by."""
NO_BASELINE = "random pairs need two originals with vectors that are not zero"
MOST = 1000
"""Originals of each half that random pairs are ranked among: up to a million pairs."""
SHOWN = 8
POINTS = 241


def create(*, compare: Literal["headline", "all"] = "headline") -> MinimalPairsDiagnostic:
    """Make the diagnostic.

    Parameters
    ----------
    compare
        Which quantities are compared pair by pair: ``headline`` (the contrast synonym − negation_main) or ``all``
        (also the other contrasts, and the similarity of each edit).
    """
    return MinimalPairsDiagnostic(compare)


def normalised(cosine: Floats, average: float) -> Floats:
    """Return (cos − cos_avg)/(1 − cos_avg): 1 the same, 0 as near as random pairs; NaN for a collapsed encoder."""
    if not average <= 1 - COLLAPSED:
        return np.where(cosine == ABSENT, ABSENT, np.nan)
    return (cosine - average) / (1 - average)


@dataclass(frozen=True)
class MinimalPairsDiagnostic:
    """The diagnostic; see the module's documentation."""

    compare: str = "headline"
    shape: str = "minimal_pairs"
    options: str = ""

    def score(self, corpus: Corpus[Sample], vectors: Vectors, origin: Origin) -> ItemScores:
        """Compute the cosine of each original with its edits, and with other originals."""
        samples = corpus.samples
        originals = vectors.take(s.original for s in samples)
        cosine = np.full((len(samples), len(ALL_EDITS)), ABSENT)
        lexical = np.full((len(samples), len(ALL_EDITS) * len(QUANTITIES)), ABSENT)
        for place, edit in enumerate(ALL_EDITS):
            rows = [i for i, s in enumerate(samples) if edit in dict(s.edits)]
            texts = [dict(samples[i].edits)[edit] for i in rows]
            if not rows:
                continue
            cosine[rows, place] = paired_cosine(originals[rows], vectors.take(texts))
            columns = slice(place * len(QUANTITIES), (place + 1) * len(QUANTITIES))
            lexical[rows, columns] = overlap(pairs_of([samples[i].original for i in rows], texts))
        half = len(samples) // 2
        average = mean_cosine(originals[:half], originals[half:]) if half else float("nan")
        return ItemScores(
            origin,
            measure="cosine",
            item=np.array([s.id for s in samples]),
            unit=corpus.units,
            labels={},
            values={
                "cosine": cosine,
                "random_pair": _random_pairs(originals),
                "percentile": _percentiles(originals, cosine),
                "lexical": lexical,
            },
            scalars={} if np.isnan(average) else {"average": average},
        )

    def summarise(self, scores: Sequence[ItemScores], draws: Draws) -> Result:
        """Summarise all encoders on one corpus: similarity of each edit, contrasts, orderings."""
        views = [_View(s) for s in scores]
        own = [v for v in views if not v.scores.origin.baseline] or views
        corpus, edits = scores[0].origin.corpus, views[0].edits
        rows = [r for of_view in _rows(views, draws) for r in of_view]
        lexical = list(overlap_rows(scores[0], draws, _lexical_groups(scores[0], edits)))
        found = {key: _compared(views, key, draws, self.compare) for key in _wanted(edits, self.compare)}
        return Result(
            draws.seed,
            draws.resamples,
            rows=(*rows, *lexical),
            comparisons=tuple(
                c for (quantity, subset), ds in found.items() for c in comparisons(scores[0], quantity, subset, ds)
            ),
            series=(
                _densities(views),
                overlap_series(NAME, corpus, lexical, _lexical_labels(edits)),
                *_by_training(own, rows),
            ),
            examples=tuple(_examples(own)),
            verdicts=(_verdict(views, own, rows, found.get(("contrast", "-".join(HEADLINE)), ()), draws),),
        )

    def headline(self, scores: Sequence[ItemScores]) -> Headline | None:
        """Return the item values of the headline, which a test of "not worse" rests on; None without such edits."""
        views = [_View(s) for s in scores]
        if not set(HEADLINE) <= set(views[0].edits):
            return None
        subset = "-".join(HEADLINE)
        values = {v.encoder: _values(v, ("contrast", subset)) for v in views}
        purpose = (NAME, views[0].corpus_key)
        return Headline("contrast", MEANING.margin, values, scores[0].unit, purpose, subset, of_shares=False)


@dataclass(frozen=True)
class _View:
    """One encoder's scores."""

    scores: ItemScores

    @property
    def encoder(self) -> str:
        """The encoder's label."""
        return self.scores.origin.encoder

    @property
    def corpus_key(self) -> str:
        """What names the corpus's random streams: its content."""
        return self.scores.origin.corpus_fingerprint

    @property
    def average(self) -> float:
        """The mean cosine of random pairs; NaN where there are none."""
        return self.scores.scalars.get("average", float("nan"))

    @property
    def edits(self) -> tuple[str, ...]:
        """The edits that some original has."""
        there = (self.scores.values["cosine"] != ABSENT).any(axis=0)
        return tuple(edit for edit, is_there in zip(ALL_EDITS, there, strict=True) if is_there)

    def cosine(self, edit: str) -> Floats:
        """(n,) cosine of the originals with an edit."""
        return self.scores.values["cosine"][:, ALL_EDITS.index(edit)]

    def similarity(self, edit: str) -> Floats:
        """(n,) the same, normalised."""
        return normalised(self.cosine(edit), self.average)

    def percentile(self, edit: str) -> Floats:
        """(n,) the share of random pairs that are less near."""
        return self.scores.values["percentile"][:, ALL_EDITS.index(edit)]

    def contrast(self, first: str, second: str, raw: bool = False) -> Floats:
        """(n,) how much nearer the first edit is; no item where the original lacks one of them."""
        of = self.cosine if raw else self.similarity
        return _together(of(first), of(second), np.subtract)

    def nearer(self, first: str, second: str) -> Floats:
        """(n,) 1 where the first edit is nearer, ½ in a tie, 0 else."""
        return _together(self.cosine(first), self.cosine(second), lambda a, b: (a > b) + 0.5 * (a == b))


def _together(first: Floats, second: Floats, function: Any) -> Floats:
    """Apply a function where both are defined: NaN where one is undefined, no item where one is absent."""
    found = np.full(len(first), np.nan)
    both = np.isfinite(first) & np.isfinite(second)
    found[both] = function(first[both], second[both])
    found[(first == ABSENT) | (second == ABSENT)] = ABSENT
    return found


def _rows(views: Sequence[_View], draws: Draws) -> Iterator[list[Row]]:
    """Yield each encoder's rows; all are resampled together."""
    edits = views[0].edits
    contrasts = [pair for pair in CONTRASTS if set(pair) <= set(edits)]
    keys = [(quantity, edit, "") for quantity in ("similarity", "cosine", "percentile") for edit in edits]
    keys += [("contrast", "-".join(pair), condition) for condition in ("", "raw") for pair in contrasts]
    tables = (
        np.stack(
            [getattr(v, quantity)(edit) for quantity in ("similarity", "cosine", "percentile") for edit in edits]
            + [v.contrast(*pair, raw=raw) for raw in (False, True) for pair in contrasts],
            axis=1,
        )
        for v in views
    )
    unit = views[0].scores.unit
    orders = [{f"{a}>{b}": v.nearer(a, b) for a, b in combinations(edits, 2)} for v in views]
    parts = [v.scores.part("cosine", "random_pair", "percentile") for v in views]
    pools = pools_of(parts)
    summed = means(tables, unit, draws, NAME, views[0].corpus_key)
    for view, own, estimates, nearer in zip(views, parts, summed, shares_of_encoders(orders, unit), strict=True):
        rows = [
            row(own, draws, quantity, subset, _explained(estimate, view), condition)
            for (quantity, subset, condition), estimate in zip(keys, estimates, strict=True)
        ]
        rows += [share_row(own, draws, "nearer", name, found, pools[view.encoder]) for name, found in nearer.items()]
        yield [*rows, row(own, draws, "baseline", "all", _baseline(view))]


def _explained(estimate: Estimate, view: _View) -> Estimate:
    """Return the estimate, with the reason where it is the baseline that is missing."""
    if estimate.value is None and estimate.undefined and np.isnan(view.average):
        return replace(estimate, reason=NO_BASELINE)
    return estimate


def _baseline(view: _View) -> Estimate:
    """Return the mean cosine of random pairs; held fixed in every resample, so without an interval."""
    n, units = len(view.scores.item), len(np.unique(view.scores.unit))
    if np.isnan(view.average):
        return Estimate(None, None, None, 0, 0, n, NO_BASELINE)
    return Estimate(view.average, None, None, n, units)


def _wanted(edits: Sequence[str], which: str) -> list[tuple[str, str]]:
    """Return the (quantity, subset) that are compared."""
    there = [("contrast", "-".join(pair)) for pair in CONTRASTS if set(pair) <= set(edits)]
    if which == "all":
        return there + [("similarity", edit) for edit in edits]
    return [key for key in there if key[1] == "-".join(HEADLINE)]


def _compared(views: Sequence[_View], key: tuple[str, str], draws: Draws, which: str) -> tuple[PairedDifference, ...]:
    values = {v.encoder: _values(v, key) for v in views}
    roles = roles_of([v.scores for v in views], all_pairs=which == "all")
    return compare_means(values, views[0].scores.unit, roles, draws, NAME, views[0].corpus_key)


def _values(view: _View, key: tuple[str, str]) -> Floats:
    quantity, subset = key
    first, _, second = subset.partition("-")
    values = view.contrast(first, second) if quantity == "contrast" else view.similarity(subset)
    return np.where(np.isfinite(values), values, np.nan)


def _verdict(
    views: Sequence[_View],
    own: Sequence[_View],
    rows: Sequence[Row],
    differences: Sequence[PairedDifference],
    draws: Draws,
) -> Verdict:
    scores = [v.scores for v in views]
    notes = [note for v in own for note in _findings(v, rows)]
    if not set(HEADLINE) <= set(views[0].edits):
        return unranked(scores, ["Ranking needs originals with a synonym and a negation of the main verb", *notes])
    subset = "-".join(HEADLINE)
    found = {r.encoder: r for r in rows if (r.quantity, r.subset, r.condition) == ("contrast", subset, "")}
    headline = {v.encoder: (_values(v, ("contrast", subset)), _estimate(found[v.encoder])) for v in views}
    values = candidates_of(scores, {name: items for name, (items, _) in headline.items()})
    standings = rank_means(values, scores[0].unit, draws, NAME, views[0].corpus_key, wrong=None)
    return verdict(
        scores,
        headline,
        "contrast",
        differences,
        standings,
        subset=subset,
        of_shares=False,
        leader="Highest",
        notes=notes,
    )


def _estimate(r: Row) -> Estimate:
    return Estimate(r.value, r.low, r.high, r.items, r.units, r.undefined, r.reason)


def _findings(view: _View, rows: Sequence[Row]) -> Iterator[str]:
    """Say what an encoder takes to be nearer: a synonym or a negation, a synonym or an antonym."""
    if view.average > 1 - COLLAPSED:
        yield f"{view.encoder} has collapsed: random pairs have a mean cosine of {view.average:.6f}"
        return
    for other, words in (("negation_main", "the negation of its main verb"), ("antonym", "an antonym")):
        subset = f"synonym>{other}"
        found = [r for r in rows if (r.encoder, r.quantity, r.subset) == (view.encoder, "nearer", subset)]
        if found and found[0].value is not None:
            value, low, high = found[0].value, found[0].low, found[0].high
            ends = "" if low is None or high is None else f" [{100 * low:.1f}, {100 * high:.1f}]"
            yield f"{view.encoder} puts a synonym nearer than {words} for {value:.1%}{ends} of the originals"


def _lexical_groups(scores: ItemScores, edits: Sequence[str]) -> dict[str, tuple[Floats, NDArray[np.int64]]]:
    """Return the overlap of all pairs, and of each edit's."""
    width = len(QUANTITIES)
    values = scores.values["lexical"]
    of_edit = {e: values[:, ALL_EDITS.index(e) * width : (ALL_EDITS.index(e) + 1) * width] for e in edits}
    units = np.tile(scores.unit, len(edits))
    return {"all": (np.concatenate(list(of_edit.values())), units), **{e: (v, scores.unit) for e, v in of_edit.items()}}


def _lexical_labels(edits: Sequence[str]) -> Mapping[str, str]:
    return {"all": "all edits", **{edit: LABELS[edit] for edit in edits}}


def _densities(views: Sequence[_View]) -> Series:
    """Return the density of the cosine of each edit, and of random pairs."""
    pooled = np.concatenate([v.scores.values[n].ravel() for v in views for n in ("random_pair", "cosine")])
    finite = pooled[np.isfinite(pooled)]
    # A tenth more than the least, for the foot of its density.
    low = max(-1.0, float(np.floor(10 * min(finite.min(initial=0.0), 0.0)) / 10) - 0.1)
    at = np.linspace(low, 1.0, POINTS)
    lines = []
    for view in views:
        columns = {"random pair": view.scores.values["random_pair"]}
        columns |= {LABELS[edit]: view.cosine(edit) for edit in view.edits}
        for line, values in columns.items():
            own = values[np.isfinite(values)]
            lines.append({"encoder": view.encoder, "line": line, "y": density(own, at, -1.0, 1.0).tolist()})
    data = {"x": "cosine with the original", "y": "density", "at": at.tolist(), "lines": lines}
    return Series(NAME, views[0].scores.origin.corpus, "density", "curve", data)


def _by_training(views: Sequence[_View], rows: Sequence[Row]) -> Iterator[Series]:
    """Group the encoders that the paper has by what they were fine-tuned on."""
    specs = {v.encoder: v.scores.origin.spec for v in views}
    similarity = {(r.encoder, r.subset): r.value for r in rows if r.quantity == "similarity" and not r.condition}
    labels = {edit: LABELS[edit] for edit in views[0].edits}
    yield from by_training(NAME, views[0].scores.origin.corpus, specs, similarity, labels)


def _examples(views: Sequence[_View]) -> Iterator[Example]:
    """Show originals whose negation is nearer than their synonym for all encoders, the largest gaps first."""
    if not set(HEADLINE) <= set(views[0].edits):
        return
    gaps = np.stack([v.contrast(*HEADLINE) for v in views])
    shown = np.isfinite(gaps).all(axis=0) & (gaps < 0).all(axis=0)
    order = sorted(np.flatnonzero(shown).tolist(), key=lambda i: (float(gaps[:, i].mean()), i))
    for index in order[:SHOWN]:
        for view in views:
            cosine = view.scores.values["cosine"][index]
            values = {e: float(c) for e, c in zip(ALL_EDITS, cosine, strict=True) if np.isfinite(c)}
            origin = view.scores.origin
            item = str(view.scores.item[index])
            yield Example(NAME, origin.corpus, view.encoder, item, "negation nearer", {}, values)


def _random_pairs(originals: Any) -> Floats:
    """Return the (n,) cosine of n pairs of an original of the first half with one of the rest.

    All different where there are so many, that is from four originals on.
    """
    n = originals.shape[0]
    half = n // 2
    if not half:
        return np.full(n, np.nan)
    place = np.arange(n)
    first, second = place % half, half + (place % half + place // half) % (n - half)
    return paired_cosine(originals[first], originals[second])


def _percentiles(originals: Any, cosine: Floats) -> Floats:
    """Return the share of random pairs that are less near than each edit, ties half; absent edits stay absent.

    The pairs are those of the baseline; of more than ``MOST`` originals in a half, so many evenly spaced ones.
    """
    n = originals.shape[0]
    half = n // 2
    if not half:
        return np.where(cosine == ABSENT, ABSENT, np.nan)
    first, second = (_spaced(start, end) for start, end in ((0, half), (half, n)))
    pairs = all_pairs(originals[first], originals[second]).ravel()
    # Beyond nine digits the product depends on the machine's kernels.
    pairs = np.sort(np.round(pairs[~np.isnan(pairs)], 9))
    if not pairs.size:
        return np.where(cosine == ABSENT, ABSENT, np.nan)
    sides = [np.searchsorted(pairs, np.round(cosine, 9), side) for side in ("left", "right")]
    found = (sides[0] + sides[1]) / (2 * pairs.size)
    return np.where(np.isfinite(cosine), found, cosine)


def _spaced(start: int, end: int) -> NDArray[np.int64]:
    return np.unique(np.linspace(start, end - 1, min(MOST, end - start)).astype(np.int64))
