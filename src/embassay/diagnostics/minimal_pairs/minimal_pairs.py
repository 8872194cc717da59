"""Which one-word edits does an encoder notice?

Chiang, Chuang, Glass & Lee (2023), "Revealing the Blind Spot of Sentence Encoder Evaluation by HEROS". The cosine of an
original with each of its edits (a synonym, an antonym, a typo, another word, two negations), corrected for anisotropy:

    cos_norm = (cos − cos_avg) / (1 − cos_avg)

with cos_avg the mean cosine of the first half of the originals with the rest (:func:`normalised`). There is no overall
score: which edits *should* be near depends on the task. The contrasts say which edit is nearer than which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from embassay.core.claims import COUNT, INTERVAL, LIMIT, Template
from embassay.core.result import Estimate, Example, Finding, Result, Row, Series
from embassay.core.samples.minimal_pairs import ALL_EDITS
from embassay.core.samples.minimal_pairs import MinimalPairs as Sample
from embassay.core.types import Corpus, Draws, ItemScores, Origin
from embassay.core.vectors import VectorMatrix, Vectors
from embassay.diagnostics.base import Outcomes
from embassay.diagnostics.findings import against_chance, written
from embassay.diagnostics.metrics.metric import Direction, Meaning, Metric
from embassay.diagnostics.metrics.scoreboard import (
    View,
    item_example,
)
from embassay.diagnostics.metrics.summary import Figures
from embassay.diagnostics.minimal_pairs import layout as minimal_pairs_layout
from embassay.diagnostics.minimal_pairs.layout import CONTRAST, CONTRASTS, HEADLINE, LABELS
from embassay.diagnostics.minimal_pairs.published import by_training
from embassay.diagnostics.overlap import OVERLAP_METRICS, PairOverlap, overlap_rows, overlap_series
from embassay.stats.density import density
from embassay.stats.geometry.closeness import all_pairs, mean_cosine, paired_cosine
from embassay.stats.lexical.overlap import METRICS as OVERLAP
from embassay.stats.lexical.overlap import overlap, pairs_of
from embassay.stats.resample import ABSENT
from embassay.stats.units import Floats

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
LAYOUT = minimal_pairs_layout.LAYOUT
MEANING = Meaning("negation contrast", "originals", about=("negation",))
NOT_RANKED = Template(
    "Encoders are not ranked: this needs originals with a synonym and a negation of the main verb.",
    "an edit of the headline is missing",
    LIMIT,
    title="Not ranked",
    severity="medium",
)
COLLAPSED_VECTORS = Template(
    "{encoder} gives all texts almost the same vector: random pairs have a mean cosine of {cosine:.6f}.",
    "the mean cosine is 1 up to a millionth",
    COUNT,
    title="All texts get almost the same vector",
    severity="high",
    consequence="It is of no use for search: every text is as near as any other.",
)
SYNONYM_NEARER = Template(
    "{encoder} puts a synonym nearer than {description} for {share} of the originals{mean_contrast}.",
    "the interval lies above 50%",
    INTERVAL,
    title="A synonym is nearer than {edit}{on_average}",
    question="Than {edit}?",
)
EDIT_NEARER = replace(
    SYNONYM_NEARER,
    when="the interval lies below 50%",
    title="{edit} is nearer than a synonym{on_average}",
    severity="high",
    consequence="A text that says the contrary is found before one that says the same in other words.",
)
NOT_SHOWN_NEARER = replace(
    SYNONYM_NEARER,
    when="the interval contains 50%",
    claim="not shown",
    title="A synonym is not shown to be nearer than {edit}",
    severity="medium",
)
NEARER = {
    "synonym>negation_main": ("a negation", "the negation of its main verb"),
    "synonym>antonym": ("an antonym", "an antonym"),
}
"""The orderings that findings are about, each also a contrast: what a synonym is compared with, short and in full."""
KEEPING, CHANGING = ("synonym", "typo"), ("antonym", "negation_main", "negation_antonym")
"""Edits that keep the meaning of a text, and those that change it."""
STORED = ("cosine", "random_pair", "percentile")
"""The stored values that the figures of an encoder are computed from; the others describe the corpus."""
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
        lexical = np.full((len(samples), len(ALL_EDITS), len(OVERLAP)), ABSENT)
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
        figures = self.figures(scores)
        first = figures.views[0]
        summary = figures.summarise(draws, on_request=self.compare == "all")
        lexical = list(overlap_rows(scores[0], draws, _lexical_groups(scores[0], first.edits)))
        labels = {"all": "all edits", **{edit: LABELS[edit] for edit in first.edits}}
        return summary.result(
            more_rows=lexical,
            series=(
                _densities(figures.views),
                overlap_series(NAME, first.corpus, lexical, labels),
                *_by_training(figures.requested, summary.rows),
            ),
            findings=(*_not_ranked(first), *(f for view in figures.requested for f in _findings(view, summary.rows))),
        )

    def figures(self, scores: Sequence[ItemScores]) -> Figures[MinimalPairsView]:
        """Return the declared metrics of all encoders."""
        return Figures.of(MinimalPairsView, scores, METRICS)

    def outcomes(self, scores: Sequence[ItemScores]) -> Outcomes:
        """Return whether a synonym is nearer than the negation of the main verb; undecided without these edits."""
        requested = self.figures(scores).requested
        correct = np.stack([_infinite_to_nan(view.nearer(*HEADLINE)) for view in requested])
        return Outcomes(np.full(correct.shape[1], ""), correct)

    def examples(
        self, corpus: Corpus[Sample], scores: Sequence[ItemScores], items: NDArray[np.int64]
    ) -> Iterator[Example]:
        """Yield each original with its edits, and the cosine of each encoder with these."""
        views = self.figures(scores).views
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


def _of_edit(name: str, edit: str, of: Callable[[MinimalPairsView, str], Floats], **declared: Any) -> Metric:
    """Return a mean of an edit's values; none where no original has the edit."""
    return Metric(
        name,
        edit,
        of=lambda view: of(view, edit) if edit in view.edits else None,
        kind="mean",
        # How near another edit should be depends on the task.
        better="neither",
        values=STORED,
        reason=_without_baseline,
        **declared,
    )


def _contrast(first: str, second: str, condition: str = "") -> Metric:
    """Return by how much an edit is more similar to the original than another."""
    is_headline = (first, second, condition) == (*HEADLINE, "")
    raw = condition == "raw"
    what = "mean cosine" if raw else "normalised similarity"
    return Metric(
        "contrast",
        f"{first}-{second}",
        condition,
        of=lambda view: view.contrast(first, second, raw) if {first, second} <= set(view.edits) else None,
        kind="mean",
        better=_better(first, second),
        meaning=f"{what} of the first edit minus that of the second",
        headline=is_headline,
        heading=CONTRAST.heading if is_headline else "",
        level=CONTRAST.level,
        # A tenth of the contrast that all-MiniLM-L6-v2 has.
        margin=0.01 if is_headline else None,
        # In the runs of the documentation 0.03 to 0.11: less between variants of one model.
        deviation=0.1 if is_headline else None,
        chance=0.0,
        # No choice is wrong here, so an original without a vector cannot be counted as wrong.
        undefined_is_wrong=False,
        compared="within one encoder" if raw else "on request",
        values=STORED,
        reason=_without_baseline,
    )


def _nearer(first: str, second: str) -> Metric:
    """Return how often an edit is nearer to the original than another."""
    return Metric(
        "nearer",
        f"{first}>{second}",
        of=lambda view: view.nearer(first, second) if {first, second} <= set(view.edits) else None,
        kind="share",
        better=_better(first, second),
        meaning="share of originals that are nearer to the first edit than to the second; a tie counts half",
        chance=0.5,
        values=STORED,
    )


def _better(first: str, second: str) -> Direction:
    """Return which is better: that the first edit is nearer than the second (higher), or the contrary."""
    # A synonym and a typo keep the meaning; an antonym and a negation change it. Of others it depends on the task.
    if first in KEEPING and second in CHANGING:
        return "higher"
    if first in CHANGING and second in KEEPING:
        return "lower"
    return "neither"


def _without_baseline(view: MinimalPairsView, inside: NDArray[np.bool_], estimate: Estimate) -> str | None:
    """Return why a mean is undefined where that is because there are no random pairs."""
    return NO_BASELINE if estimate.undefined and np.isnan(view.average) else None


def _baseline(view: MinimalPairsView) -> Estimate:
    """Return the mean cosine of random pairs; no interval, because every resample uses the same."""
    originals, units = len(view.scores.item), len(np.unique(view.scores.unit))
    if np.isnan(view.average):
        return Estimate(None, None, None, 0, 0, originals, NO_BASELINE)
    return Estimate(view.average, None, None, originals, units)


METRICS = (
    *(
        _of_edit(
            "similarity",
            edit,
            MinimalPairsView.similarity,
            high=1,
            compared="on request",
            term="Normalised similarity",
            explanation=(
                "The cosine, scaled so that 1 means the same text and 0 the average of two random texts. It can be "
                "compared between encoders."
            ),
            meaning="mean cosine with the original, corrected for anisotropy",
        )
        for edit in ALL_EDITS
    ),
    *(
        _of_edit(
            "cosine",
            edit,
            MinimalPairsView.cosine,
            low=-1,
            high=1,
            compared="within one encoder",
            meaning="mean cosine with the original",
        )
        for edit in ALL_EDITS
    ),
    *(
        _of_edit(
            "percentile",
            edit,
            MinimalPairsView.percentile,
            low=0,
            high=1,
            format="percent",
            meaning="mean share of random pairs that are less similar than the edit",
        )
        for edit in ALL_EDITS
    ),
    *(_contrast(first, second) for first, second in CONTRASTS),
    *(_contrast(first, second, "raw") for first, second in CONTRASTS),
    *(_nearer(first, second) for first, second in combinations(ALL_EDITS, 2)),
    Metric(
        "baseline",
        of=_baseline,
        kind="computed",
        better="neither",
        low=-1,
        high=1,
        compared="within one encoder",
        values=STORED,
        meaning="mean cosine of random pairs of originals",
    ),
    *OVERLAP_METRICS,
)


def _not_ranked(view: MinimalPairsView) -> Iterator[Finding]:
    """Yield why encoders are not ranked, where an edit of the headline contrast is missing."""
    if not set(HEADLINE) <= set(view.edits):
        yield NOT_RANKED.finding(view.scores.origin)


def _findings(view: MinimalPairsView, rows: Sequence[Row]) -> Iterator[Finding]:
    """Yield how often a synonym is nearer than a negation and than an antonym; an even chance has 50 %.

    Where the mean contrast says the opposite of the majority of the originals, the finding says both.
    """
    name = view.encoder
    if view.average > 1 - COLLAPSED:
        yield COLLAPSED_VECTORS.finding(view.scores.origin, encoder=name, cosine=view.average)
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
        template = {"above": SYNONYM_NEARER, "below": EDIT_NEARER}.get(side, NOT_SHOWN_NEARER)
        contrast = contrasts[subset.replace(">", "-")]
        severity = on_average = mean_contrast = ""
        if {side, against_chance(contrast, 0.0)} == {"above", "below"}:
            severity = "medium"
            on_average = " for most originals, but not on average"
            mean = written(contrast, "number")
            mean_contrast = f", but the mean contrast is {mean}: the other originals differ by more"
        yield template.finding(
            share,
            severity=severity,
            encoder=name,
            edit=edit,
            description=description,
            share=written(share),
            on_average=on_average,
            mean_contrast=mean_contrast,
        )


def _lexical_groups(scores: ItemScores, edits: Sequence[str]) -> dict[str, PairOverlap]:
    """Return the overlap of all pairs, and of each edit's."""
    by_edit = scores.values["lexical"].reshape(len(scores.item), len(ALL_EDITS), len(OVERLAP))
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
    """Group the encoders by what they were fine-tuned on, where the paper or the user says that."""
    origins = {view.encoder: view.scores.origin for view in views}
    similarity = {(r.encoder, r.subset): r.value for r in rows if r.metric == "similarity" and not r.condition}
    labels = {edit: LABELS[edit] for edit in views[0].edits}
    yield from by_training(origins, similarity, labels)


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
