"""One encoder's answered questions, and the figures made of them: metrics, exams, COE and ROE, thresholds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from embassay.diagnostics.base import pools_of, row, share_row
from embassay.diagnostics.retrieval.scores import quantities
from embassay.geometry.transforms import NAMES as TRANSFORMS
from embassay.result import MIN_UNITS, Estimate, Row
from embassay.stats.correlate import MIN_ITEMS, Kind, across_models
from embassay.stats.exams import GRID, LENGTH, Answers, above, exams, minima, percentile_of_top, spread
from embassay.stats.resample import mean, too_few
from embassay.stats.shares import PooledShare, shares_of_encoders
from embassay.stats.thresholds import Threshold, questions_needed, recommend
from embassay.stats.units import Floats
from embassay.types import Draws, ItemScores

NAME = "retrieval"
Key = tuple[str, str, str]
"""Quantity, subset and condition of a share."""
DEFINITIONS = ("minima", "pooled")
SUBSETS = {"confidence": "recommended", "average": "recommended_on_average"}
"""The subset of a recommended threshold's rows, by what is promised of its loss."""


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
    def recommended(self) -> Threshold:
        """The highest threshold that loses no more than allowed, with what is promised, or why there is none."""
        answers = self.answers
        found = recommend(answers.own, answers.success, answers.top, self.unit[self.defined], self.loss)
        units = len(np.unique(self.unit[self.defined]))
        if units < MIN_UNITS:
            reason = f"{units} units are too few to recommend a threshold; that takes {MIN_UNITS}"
            return Threshold(None, None, None, found.effective, reason)
        return found


@dataclass(frozen=True)
class Shares:
    """One encoder's thresholds, and its shares with limits that may rest on the others.

    Attributes
    ----------
    thresholds
        τ by subset: each definition at each ψ, and the recommended one.
    estimates
        The shares by quantity, subset and condition.
    pool
        Name of the other encoders, for signatures.
    """

    thresholds: Mapping[str, float]
    estimates: Mapping[Key, PooledShare]
    pool: str

    def row(self, view: View, draws: Draws, key: Key, **signed: str) -> Row:
        """Make the row of a share."""
        quantity, subset, condition = key
        return share_row(view.scores, draws, quantity, subset, self.estimates[key], self.pool, condition, **signed)


def shares_of(views: Sequence[View], draws: Draws) -> dict[str, Shares]:
    """Estimate the shares of all encoders."""
    thresholds = [_thresholds_of(view, draws) for view in views]
    answered = shares_of_encoders(map(_figures, views, thresholds), views[0].unit)
    units = np.unique(views[0].unanswered[1], return_inverse=True)[1].astype(np.int64)
    unanswered = shares_of_encoders(map(_dropped, views, thresholds), units)
    pools = pools_of([view.scores for view in views])
    return {
        view.encoder: Shares(own, {**found, **dropped}, pools[view.encoder])
        for view, own, found, dropped in zip(views, thresholds, answered, unanswered, strict=True)
    }


def metrics_of(view: View) -> tuple[str, ...]:
    """Return the names of the metrics, those that depend on k last."""
    names = [n for n in view.scores.values if "@" in n and "/" not in n]
    return tuple(dict.fromkeys((*quantities(view.k), *names)))


def _is_share(metric: str) -> bool:
    return metric.startswith(("Success", "R@"))


def _figures(view: View, thresholds: Mapping[str, float]) -> dict[Key, Floats]:
    """Return the (m,) items of all shares of answered questions."""
    found: dict[Key, Floats] = {(name, "all", ""): view.metric(name) for name in metrics_of(view) if _is_share(name)}
    for name in TRANSFORMS:
        if (key := f"{view.headline}/{name}") in view.scores.values:
            found[view.headline, "all", name] = view.metric(key)
    for subset, threshold in thresholds.items():
        of_defined = {"accuracy_at_tau": view.answers.right_at(threshold), "kept": view.answers.kept_at(threshold)}
        for quantity, values in of_defined.items():
            items = np.full(len(view.defined), np.nan)
            items[view.defined] = values
            found[quantity, subset, ""] = items
    return found


def _dropped(view: View, thresholds: Mapping[str, float]) -> dict[Key, Floats]:
    """Return for each threshold which (u,) unanswerable questions find nothing; no figure without such questions."""
    best, _ = view.unanswered
    if not len(best):
        return {}
    return {
        ("unanswerable_dropped", subset, ""): np.where(np.isnan(best), np.nan, best < threshold)
        for subset, threshold in thresholds.items()
    }


def rows_of(view: View, shares: Shares, draws: Draws) -> Iterator[Row]:
    """Yield all rows of one encoder."""
    for name in metrics_of(view):
        if _is_share(name):
            yield shares.row(view, draws, (name, "all", ""))
        else:
            estimate = mean(view.metric(name), view.unit, draws, NAME, view.corpus_key)
            yield row(view.scores, draws, name, "all", estimate)
    for name in TRANSFORMS:
        if (view.headline, "all", name) in shares.estimates:
            yield shares.row(view, draws, (view.headline, "all", name))
    yield from _isotropy(view, draws)
    if len(view.answers.top):
        yield from _exams(view, draws)
        yield from _thresholds(view, shares, draws)
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
        ("tau", SUBSETS["confidence"]),
    ):
        yield row(view.scores, draws, quantity, subset, Estimate(None, None, None, 0, 0, undefined, reason))


def _isotropy(view: View, draws: Draws) -> Iterator[Row]:
    """Yield I_A and IsoScore of the passages, as they are and after each transform, and the rank that one leaves."""
    for condition in ("", *TRANSFORMS):
        for quantity in ("i_a", "isoscore", "isoscore_unbiased", "rank"):
            if (value := view.scores.scalars.get(f"{quantity}/{condition}")) is not None:
                number = int(view.scores.scalars["passages"])
                estimate = Estimate(value, None, None, number, number)
                yield row(view.scores, draws, quantity, "documents", estimate, condition)


def _exams(view: View, draws: Draws) -> Iterator[Row]:
    """Yield accuracy_l100 and, at each ψ, COE and ROE: means over exams of 100 questions with their 95 % range."""
    answers = view.answers
    drawn = exams(len(answers.top), draws, NAME, view.corpus_key)
    accuracy = answers.success[drawn].mean(axis=1, keepdims=True)
    summary = _exam(view, *(x[0] for x in spread(accuracy)))
    yield row(view.scores, draws, f"accuracy_l{LENGTH}", "all", summary, interval="exams")
    psi = tuple(sorted({*GRID, view.psi}))
    theta = percentile_of_top(answers.top, drawn, psi)
    # All ten random documents of each question: the ROE of one alone moves by half its value with the draw.
    for quantity, values in (("coe", answers.own), ("roe", view.random.ravel())):
        for n, ends in zip(psi, zip(*spread(above(values, theta)), strict=True), strict=True):
            yield row(view.scores, draws, quantity, f"psi{n}", _exam(view, *ends), interval="exams")


def _exam(view: View, value: float, low: float, high: float) -> Estimate:
    units = len(np.unique(view.unit[view.defined]))
    questions, left = int(view.defined.sum()), int((~view.defined).sum())
    if units < MIN_UNITS:
        return Estimate(float(value), None, None, questions, units, left, too_few(units))
    return Estimate(float(value), float(low), float(high), questions, units, left)


def _thresholds_of(view: View, draws: Draws) -> dict[str, float]:
    """Return τ by subset: both definitions at each ψ and at the paper's choice of ψ, and the recommended one."""
    answers = view.answers
    if not len(answers.top):
        return {}
    drawn = exams(len(answers.top), draws, NAME, view.corpus_key)
    source = {"minima": minima(answers.top, drawn), "pooled": answers.top}
    psi = tuple(sorted({*GRID, view.psi}))
    found: dict[str, float] = {}
    for definition in DEFINITIONS:
        thresholds = dict(zip(psi, np.percentile(source[definition], psi).tolist(), strict=True))
        found |= {f"{definition}:psi{n}": threshold for n, threshold in thresholds.items()}
        found[f"{definition}:paper"] = thresholds[_psi_of_paper(view, thresholds)]
    recommended = view.recommended
    if recommended.value is not None and recommended.loss_limit is not None and recommended.guarantee is not None:
        found[SUBSETS[recommended.guarantee]] = recommended.value
    return found


def _psi_of_paper(view: View, thresholds: Mapping[int, float]) -> int:
    """Return the ψ that the paper reports, of the highest mean accuracy; of equal ones the one that drops most."""
    return max(GRID, key=lambda n: (view.answers.right_at(thresholds[n]).mean(), n))


def _thresholds(view: View, shares: Shares, draws: Draws) -> Iterator[Row]:
    """Yield what each threshold keeps and costs: the paper's, over ψ and at its choice of ψ, and the recommended."""
    psi = tuple(sorted({*GRID, view.psi}))
    for definition in DEFINITIONS:
        for n in psi:
            yield from _at(view, shares, draws, f"{definition}:psi{n}")
        best = _psi_of_paper(view, {n: shares.thresholds[f"{definition}:psi{n}"] for n in psi})
        yield row(view.scores, draws, "psi", f"{definition}:paper", _plain(view, float(best)))
        yield from _at(view, shares, draws, f"{definition}:paper")
    yield from _recommended(view, shares, draws)


def _recommended(view: View, shares: Shares, draws: Draws) -> Iterator[Row]:
    """Yield the recommended threshold with its bound and what it does; null with the reason where there is none."""
    found, signed = view.recommended, {"loss": f"{view.loss:g}"}
    if found.guarantee != "confidence":
        none = replace(_plain(view, 0.0), value=None, reason=found.reason or _needs_more(found, view.loss))
        yield row(view.scores, draws, "tau", SUBSETS["confidence"], none, **signed)
    if found.value is None or found.loss_limit is None or found.guarantee is None:
        return
    subset = SUBSETS[found.guarantee]
    yield row(view.scores, draws, "loss_limit", subset, _plain(view, found.loss_limit), **signed)
    yield from _at(view, shares, draws, subset, **signed)


def _needs_more(found: Threshold, loss: float) -> str:
    """Say why a threshold holds on average only."""
    needed = np.ceil(questions_needed(loss, "confidence"))
    return (
        f"a threshold with 95% confidence takes {needed:,.0f} independent questions, these are worth "
        f"{found.effective:.0f}; see recommended_on_average"
    )


def _at(view: View, shares: Shares, draws: Draws, subset: str, **signed: str) -> Iterator[Row]:
    """Yield the rows of one threshold."""
    yield row(view.scores, draws, "tau", subset, _plain(view, shares.thresholds[subset]), **signed)
    for quantity in ("accuracy_at_tau", "kept", "unanswerable_dropped"):
        if (key := (quantity, subset, "")) in shares.estimates:
            yield shares.row(view, draws, key, **signed)


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
        "tau": ("tau", "minima:paper"),
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
