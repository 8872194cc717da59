"""One encoder's answered questions, and the figures made of them: metrics, exams, COE and ROE, thresholds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from embassay.diagnostics._retrieval_scores import quantities
from embassay.diagnostics._rows import row
from embassay.geometry.transforms import NAMES as TRANSFORMS
from embassay.result import MIN_UNITS, Estimate, Row
from embassay.stats.correlate import MIN_ITEMS, Kind, across_models
from embassay.stats.exams import GRID, LENGTH, Answers, above, crossed, exams, halves, minima, percentile_of_top, spread
from embassay.stats.resample import mean, too_few
from embassay.stats.shares import share
from embassay.stats.units import Floats
from embassay.types import Draws, ItemScores

NAME = "retrieval"
DEFINITIONS = ("minima", "pooled")
NOT_CONFIRMED = "no threshold was cheap enough on both halves of the units"
NO_THRESHOLD = "every threshold that drops anything costs more than is allowed"


@dataclass(frozen=True)
class View:
    """What one encoder did with the questions that have an answer.

    Attributes
    ----------
    k, psi, loss
        The diagnostic's options.
    """

    scores: ItemScores
    k: int
    psi: int
    loss: float

    @property
    def encoder(self) -> str:
        """The encoder's label."""
        return self.scores.origin.encoder

    @property
    def corpus_key(self) -> str:
        """What names the corpus's random streams: its content."""
        return self.scores.origin.corpus_fingerprint

    @property
    def headline(self) -> str:
        """The name of the headline quantity."""
        return f"Success@{self.k}"

    @cached_property
    def answered(self) -> NDArray[np.bool_]:
        """(n,) which questions have a right document."""
        return np.asarray(self.scores.values["answered"] == 1)

    @cached_property
    def unit(self) -> NDArray[np.int64]:
        """(m,) the units of the answered questions, numbered from 0."""
        return np.asarray(np.unique(self.scores.unit[self.answered], return_inverse=True)[1], dtype=np.int64)

    def metric(self, name: str) -> Floats:
        """Return (m,) a metric of the answered questions; NaN is undefined."""
        return self.scores.values[name][self.answered]

    def estimate(self, name: str, draws: Draws) -> Estimate:
        """Estimate a metric over all answered questions: shares by Wilson, means by bootstrap."""
        values = self.metric(name)
        if name.startswith(("Success", "R@")):
            return share(values, self.unit)
        return mean(values, self.unit, draws, NAME, self.corpus_key, name)

    @property
    def chance(self) -> float:
        """What blind choice would reach, the mean of 1 − C(N − r, k)/C(N, k): k/N for one right document each."""
        return self.scores.scalars["chance"]

    @cached_property
    def defined(self) -> NDArray[np.bool_]:
        """(m,) which answered questions have k similarities."""
        return np.asarray(~np.isnan(self.scores.values["top"][self.answered]).any(axis=1))

    @cached_property
    def answers(self) -> Answers:
        """What thresholds are tried on; a right document without a similarity is below them all."""
        top, own = (self.scores.values[name][self.answered][self.defined] for name in ("top", "own"))
        return Answers(top, np.where(np.isnan(own), -np.inf, own), self.metric(self.headline)[self.defined])

    @cached_property
    def random(self) -> Floats:
        """(d, 10) similarities of the defined questions to random documents; undefined ones are below all others."""
        found = self.scores.values["random"][self.answered][self.defined]
        return np.where(np.isnan(found), -np.inf, found)

    @cached_property
    def unanswered(self) -> tuple[Floats, NDArray[np.int64]]:
        """(u,) the largest similarity that each unanswerable question finds, NaN where it has none, and its unit."""
        return self.scores.values["top"][~self.answered][:, 0], self.scores.unit[~self.answered]

    def item(self, index: int) -> str:
        """Return the id of an answered question."""
        return str(self.scores.item[self.answered][index])

    def nearest(self, index: int) -> str:
        """Return the passage that was found first for an answered question."""
        return str(self.scores.labels["nearest"][self.answered][index])

    def shown(self, index: int) -> dict[str, float]:
        """Return how similar an answered question is to its right document and to what was found first."""
        own, top = (self.scores.values[name][self.answered][index] for name in ("own", "top"))
        return {name: float(v) for name, v in (("right", own), ("found", top[0])) if not np.isnan(v)}

    @cached_property
    def recommended(self) -> tuple[int, float] | None:
        """The largest ψ that loses no more than allowed, and its threshold, chosen on all questions."""
        return self.answers.recommended(self.loss)

    def split(self, draws: Draws) -> Floats | None:
        """Return (n,) for every question, answered or not, the threshold that the half without it recommends.

        None where a half has no answered question, or recommends none: then nothing was confirmed.
        """
        answered = np.flatnonzero(self.answered)[self.defined]
        first = halves(self.scores.unit, draws, NAME, self.corpus_key)
        inside = first[answered]
        if inside.all() or not inside.any() or None in (chosen := crossed(self.answers, inside, self.loss)):
            return None
        found = np.full(len(first), -np.inf)
        for side, threshold in zip((first, ~first), chosen, strict=True):
            found[side] = threshold
        return found


def rows_of(view: View, draws: Draws) -> Iterator[Row]:
    """Yield all rows of one encoder."""
    names = [n for n in view.scores.values if "@" in n and "/" not in n]
    for name in dict.fromkeys((*quantities(view.k), *names)):
        yield row(view.scores, draws, name, "all", view.estimate(name, draws))
    for name in TRANSFORMS:
        if (key := f"{view.headline}/{name}") in view.scores.values:
            yield row(view.scores, draws, view.headline, "all", share(view.metric(key), view.unit), name)
    yield from _isotropy(view, draws)
    if len(view.answers.top):
        yield from _exams(view, draws)
        yield from _thresholds(view, draws)
    else:
        yield from _nothing(view, draws)


def _nothing(view: View, draws: Draws) -> Iterator[Row]:
    """Yield the rows that a reader looks for, where there is nothing to make them of."""
    psi, undefined = f"psi{view.psi}", len(view.unit)
    reason = f"no question has {view.k} similarities"
    for quantity, subset in (
        (f"accuracy_l{LENGTH}", "all"),
        ("coe", psi),
        ("roe", psi),
        ("tau", "recommended"),
        ("accuracy_at_tau", "confirmed"),
        ("kept", "confirmed"),
    ):
        yield row(view.scores, draws, quantity, subset, Estimate(None, None, None, 0, 0, undefined, reason))


def _isotropy(view: View, draws: Draws) -> Iterator[Row]:
    """Yield I_A and IsoScore of the passages, as they are and after each transform, and the rank that one leaves."""
    for condition in ("", *TRANSFORMS):
        for quantity in ("i_a", "isoscore", "rank"):
            if (value := view.scores.scalars.get(f"{quantity}/{condition}")) is not None:
                number = int(view.scores.scalars["passages"])
                estimate = Estimate(value, None, None, number, number)
                yield row(view.scores, draws, quantity, "documents", estimate, condition)


def _exams(view: View, draws: Draws) -> Iterator[Row]:
    """Yield accuracy_l100 and, at each ψ, COE and ROE: means over exams of 100 questions with their 95 % range."""
    answers = view.answers
    drawn = exams(len(answers.top), draws, NAME, view.corpus_key)
    accuracy = answers.success[drawn].mean(axis=1, keepdims=True)
    yield row(view.scores, draws, f"accuracy_l{LENGTH}", "all", _exam(view, *(x[0] for x in spread(accuracy))))
    psi = tuple(sorted({*GRID, view.psi}))
    theta = percentile_of_top(answers.top, drawn, psi)
    for quantity, values in (("coe", answers.own), ("roe", view.random[:, 0])):
        for n, ends in zip(psi, zip(*spread(above(values, theta)), strict=True), strict=True):
            yield row(view.scores, draws, quantity, f"psi{n}", _exam(view, *ends))


def _exam(view: View, value: float, low: float, high: float) -> Estimate:
    units = len(np.unique(view.unit[view.defined]))
    questions, left = int(view.defined.sum()), int((~view.defined).sum())
    if units < MIN_UNITS:
        return Estimate(float(value), None, None, questions, units, left, too_few(units))
    return Estimate(float(value), float(low), float(high), questions, units, left)


def _thresholds(view: View, draws: Draws) -> Iterator[Row]:
    """Yield what each threshold keeps and costs; the recommended one as it looks, and confirmed on other questions."""
    answers = view.answers
    drawn = exams(len(answers.top), draws, NAME, view.corpus_key)
    source = {"minima": minima(answers.top, drawn), "pooled": answers.top}
    psi = tuple(sorted({*GRID, view.psi}))
    for definition in DEFINITIONS:
        for n, threshold in zip(psi, np.percentile(source[definition], psi).tolist(), strict=True):
            yield from _at(view, draws, f"{definition}:psi{n}", threshold)
    if view.recommended is None:
        none = replace(_plain(view, 0.0), value=None, reason=NO_THRESHOLD)
        yield row(view.scores, draws, "tau", "recommended", none, loss=f"{view.loss:g}")
    else:
        yield from _at(view, draws, "recommended", view.recommended[1])
        chosen = _plain(view, float(view.recommended[0]))
        yield row(view.scores, draws, "psi", "recommended", chosen, loss=f"{view.loss:g}")
    crossed_over = view.split(draws)
    if crossed_over is not None:
        yield from _at(view, draws, "confirmed", crossed_over)
        return
    for quantity in ("accuracy_at_tau", "kept"):
        none = replace(_plain(view, 0.0), value=None, reason=NOT_CONFIRMED)
        yield row(view.scores, draws, quantity, "confirmed", none, loss=f"{view.loss:g}")


def _at(view: View, draws: Draws, subset: str, threshold: Floats | float) -> Iterator[Row]:
    """Yield the rows of one threshold, or of one for each question."""
    own, left_out = view.scores, ~view.defined
    more = {} if ":" in subset else {"loss": f"{view.loss:g}"}
    every = np.broadcast_to(np.asarray(threshold, dtype=np.float64), len(view.answered))
    mine = every[view.answered][view.defined]
    if np.ndim(threshold) == 0:
        yield row(own, draws, "tau", subset, _plain(view, float(threshold)), **more)
    answers = view.answers
    for quantity, found in (("accuracy_at_tau", answers.right_at(mine)), ("kept", answers.kept_at(mine))):
        values = np.full(len(left_out), np.nan)
        values[view.defined] = found
        yield row(own, draws, quantity, subset, share(values, view.unit), **more)
    best, units = view.unanswered
    if len(best):
        codes = np.unique(units, return_inverse=True)[1]
        dropped = np.where(np.isnan(best), np.nan, best < every[~view.answered])
        yield row(own, draws, "unanswerable_dropped", subset, share(dropped, codes), **more)


def _plain(view: View, value: float) -> Estimate:
    """Return a threshold, which has no interval."""
    units = len(np.unique(view.unit[view.defined]))
    return Estimate(value, None, None, int(view.defined.sum()), units, int((~view.defined).sum()))


def _of_all(views: Sequence[View]) -> ItemScores:
    """Return scores of no encoder that depend on those of all: what a figure over encoders is signed with."""
    digests = np.array(sorted(v.scores.digest for v in views))
    return replace(views[0].scores.of_corpus("answered"), labels={"encoders": digests})


ACROSS = {
    "COE and success": ("coe", "success"),
    "ROE and τ": ("roe", "tau"),
    "ROE and success": ("roe", "success"),
    "I-A and success": ("i_a", "success"),
    "IsoScore and success": ("isoscore", "success"),
}
"""What is correlated over models: the paper's text and the last row of its table 4."""


def correlations(views: Sequence[View], rows: Sequence[Row], draws: Draws) -> Iterator[Row]:
    """Yield correlations over the encoders asked for; encoders are no random sample of encoders."""
    if len(views) < MIN_ITEMS:
        return
    psi = f"psi{views[0].psi}"
    names = [v.encoder for v in views]
    at = {(r.encoder, r.quantity, r.subset, r.condition): r.value for r in rows}
    places = {
        "coe": ("coe", psi),
        "roe": ("roe", psi),
        "tau": ("tau", "recommended"),
        "success": (views[0].headline, "all"),
        "i_a": ("i_a", "documents"),
        "isoscore": ("isoscore", "documents"),
    }
    kinds: tuple[Kind, ...] = ("pearson", "spearman")
    scores = _of_all(views)
    scales = {v.scores.scalars["dot"] for v in views}
    for subset, (first, second) in ACROSS.items():
        if "tau" in (first, second) and len(scales) > 1:
            continue  # thresholds of cosines and of dot products are on two scales
        for condition in ("", *TRANSFORMS) if first in ("i_a", "isoscore") else ("",):
            x, y = (
                np.array([np.nan if (v := at.get((n, *places[q], condition))) is None else v for n in names])
                for q in (first, second)
            )
            for kind in kinds:
                found = across_models(x, y, kind)
                yield row(scores, draws, kind, subset, found, condition, psi=psi, loss=f"{views[0].loss:g}")
