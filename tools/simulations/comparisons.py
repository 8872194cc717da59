"""Simulations of the comparisons of encoders, with generators whose truth is known.

Each function returns rows: the design, the figure, what it should be, what was seen, and the standard error of the
simulation. The generators are written for this file; they share no code with what they test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from embassay.stats.best import Standings, rank_correlations, rank_means
from embassay.stats.exchange import CorrelationExchange, correlation_sums
from embassay.stats.families import consistent_interval
from embassay.stats.holm import holm
from embassay.stats.permutation import sign_flip_p
from embassay.stats.resample import means
from embassay.types import Draws

Floats = NDArray[np.float64]
Units = NDArray[np.int64]


class Row(NamedTuple):
    """One figure of one design: the range it should be in, what was seen, and the Monte Carlo standard error."""

    design: str
    figure: str
    wanted: tuple[float, float]
    seen: float
    error: float

    @property
    def holds(self) -> bool:
        """Whether the figure is in its range, within three standard errors of the simulation."""
        low, high = self.wanted
        return low - 3 * self.error <= self.seen <= high + 3 * self.error


# --- generators ------------------------------------------------------------------------------------------

SIZES: dict[str, Callable[[np.random.Generator, int], NDArray[np.int64]]] = {
    "1 item": lambda rng, units: np.ones(units, dtype=np.int64),
    "7 items": lambda rng, units: np.full(units, 7),
    "Pareto": lambda rng, units: np.minimum(28, 4 * rng.random(units) ** (-1 / 1.2)).astype(np.int64),
}


def clustered(rng: np.random.Generator, unit: Units, within: float, columns: int) -> Floats:
    """Return (items, columns) standard normal values that correlate by ``within`` inside a unit."""
    of_unit = rng.standard_normal((int(unit.max()) + 1, columns))[unit]
    return sqrt(within) * of_unit + sqrt(1 - within) * rng.standard_normal((len(unit), columns))


def answers(rng: np.random.Generator, unit: Units, shares: Sequence[float], within: float, between: float) -> Floats:
    """Return (items, encoders) yes/no answers with these true shares.

    ``between`` is the correlation of the latent scores of two encoders on an item, ``within`` that of two items of a
    unit.
    """
    hard = clustered(rng, unit, within, 1)
    own = clustered(rng, unit, within, len(shares))
    latent = sqrt(between) * hard + sqrt(1 - between) * own
    return (latent < stats.norm.ppf(np.array(shares))).astype(np.float64)


def correlated(
    rng: np.random.Generator, unit: Units, r: float, within: float, between: float, encoders: int
) -> tuple[Floats, Floats]:
    """Return (items,) human scores and (items, encoders) cosines that correlate with them by r.

    ``between`` is the correlation of the errors of two encoders.
    """
    human = clustered(rng, unit, within, 1)
    errors = sqrt(between) * clustered(rng, unit, within, 1) + sqrt(1 - between) * clustered(
        rng, unit, within, encoders
    )
    return human[:, 0], r * human + sqrt(1 - r * r) * errors


def share_of(hits: Sequence[bool]) -> tuple[float, float]:
    """Return the share of hits and its standard error."""
    seen = float(np.mean(hits))
    return seen, sqrt(max(seen * (1 - seen), 1 / len(hits)) / len(hits))


def unit_sums(gaps: Floats, unit: Units) -> Floats:
    """Return the sums over units."""
    return np.bincount(unit, weights=gaps)


# --- the test of a difference ----------------------------------------------------------------------------


def size_of_the_test(repeats: int = 2000) -> list[Row]:
    """How often two equally good encoders are called different at 5 %; a discrete test may stay below it."""
    rows = []
    for units in (28, 70, 155, 450):
        for sizes, share, within in [("1 item", 0.3, 0.0), ("7 items", 0.1, 0.3), ("Pareto", 0.5, 0.7)]:
            rng = np.random.default_rng([1, units, len(sizes)])
            rejected = []
            for _ in range(repeats):
                unit = np.repeat(np.arange(units), SIZES[sizes](rng, units))
                a, b = answers(rng, unit, [share, share], within, 0.5).T
                rejected.append(sign_flip_p(unit_sums(a - b, unit), Draws(), "size").p <= 0.05)
            design = f"{units} units, {sizes}, share {share}, correlation {within}"
            rows.append(Row(design, "rejected at 5 %", (0.015, 0.05), *share_of(rejected)))
    return rows


def coverage_of_differences(repeats: int = 1000) -> list[Row]:
    """How often the interval of a difference of shares holds the truth, and what agreement with the test adds."""
    rows = []
    for units in (28, 120, 450):
        # Where the truth is 0, the interval covers it exactly as often as the test does not reject: 95 %, and more
        # where few answers differ and the test is discrete.
        for share, difference, wanted in [(0.3, 0.0, (0.95, 1.0)), (0.02, 0.0, (0.95, 1.0)), (0.3, 0.08, (0.93, 1.0))]:
            rng = np.random.default_rng([2, units, int(100 * share), int(100 * difference)])
            covered, moved, width = [], [], []
            for low, high, plain_low, plain_high in _intervals(rng, units, share, difference, repeats):
                covered.append(low <= difference <= high)
                moved.append((low, high) != (plain_low, plain_high))
                width.append((high - low) / max(plain_high - plain_low, 1e-12) - 1)
            design = f"{units} units, 7 items, share {share}, difference {100 * difference:g} points"
            rows.append(Row(design, "covered by the 95 % interval", wanted, *share_of(covered)))
            rows.append(Row(design, "intervals that were moved", (0.0, 0.15), *share_of(moved)))
            error = float(np.std(width)) / sqrt(repeats)
            rows.append(Row(design, "width added", (-0.01, 0.03), float(np.mean(width)), error))
    return rows


def _intervals(
    rng: np.random.Generator, units: int, share: float, difference: float, repeats: int, groups: int = 20
) -> Iterator[tuple[float, float, float, float]]:
    """Yield low and high, as reported and before they were made to agree with the test."""
    unit = np.repeat(np.arange(units), 7)
    for group in range(groups):
        pairs = [answers(rng, unit, [share + difference, share], 0.3, 0.6) for _ in range(repeats // groups)]
        gaps = np.stack([pair[:, 0] - pair[:, 1] for pair in pairs], axis=1)
        estimates = means([gaps], unit, Draws(group), "coverage", differences=np.full(gaps.shape[1], True))[0]
        for estimate, gap in zip(estimates, gaps.T, strict=True):
            p = sign_flip_p(unit_sums(gap, unit), Draws(), "coverage").p
            assert estimate.value is not None and estimate.low is not None and estimate.high is not None  # noqa: S101
            reported = consistent_interval(estimate.low, estimate.high, estimate.value, p)
            yield (*reported, estimate.low, estimate.high)


# --- the best set and the ranks --------------------------------------------------------------------------


def best_set_and_ranks(repeats: int = 600) -> list[Row]:
    """How often the true best is in the best set, and all true ranks are in their intervals at once."""
    rows = []
    for units, encoders, step in [(28, 4, 0.0), (120, 10, 0.0), (450, 4, 0.0), (120, 4, 0.02), (450, 10, 0.01)]:
        rng = np.random.default_rng([3, units, encoders, int(1000 * step)])
        unit = np.repeat(np.arange(units), 4)
        shares = [0.4 - step * k for k in range(encoders)]
        kept, covered = [], []
        for _ in range(repeats):
            items = answers(rng, unit, shares, 0.3, 0.6)
            standings = rank_means(dict(zip(_names(encoders), items.T, strict=True)), unit, Draws(), "best")
            kept.append("e0" in standings.best_set)
            covered.append(_covers_ranks(standings, shares))
        design = f"{encoders} encoders {100 * step:g} points apart, {units} units, 4 items"
        # With equal encoders the error rates are reached, with unequal ones they are bounds.
        most = 0.96 if step == 0 else 1.0
        rows.append(Row(design, "true best in the best set", (0.94, most), *share_of(kept)))
        rows.append(Row(design, "all ranks covered at once", (0.94, max(most, 0.97)), *share_of(covered)))
    return rows


def _names(encoders: int) -> list[str]:
    return [f"e{k}" for k in range(encoders)]


def _covers_ranks(standings: Standings, truth: Sequence[float]) -> bool:
    """Say whether every encoder has a rank in its interval; encoders that are equal may share any of their ranks."""
    for place, name in enumerate(_names(len(truth))):
        better = sum(other > truth[place] for other in truth)
        worse = sum(other < truth[place] for other in truth)
        if standings.rank_low[name] > better + 1 or standings.rank_high[name] < len(truth) - worse:
            return False
    return True


def size_of_the_best_set(repeats: int = 100) -> list[Row]:
    """How many of ten encoders in steps of one point may be the best, and how many Holm over all pairs leaves."""
    rng = np.random.default_rng(4)
    unit = np.arange(450)
    shares = [0.4 - 0.01 * k for k in range(10)]
    sizes, by_holm = [], []
    for _ in range(repeats):
        items = answers(rng, unit, shares, 0.0, 0.6)
        standings = rank_means(dict(zip(_names(10), items.T, strict=True)), unit, Draws(), "size")
        sizes.append(len(standings.best_set))
        by_holm.append(_set_by_holm(items, unit))
    design = "10 encoders 1 point apart, 450 units of 1 item"
    return [
        Row(design, "encoders in the best set", (5.2, 6.4), *_mean_of(sizes)),
        Row(design, "not separable from the highest by Holm over all pairs", (7.3, 8.3), *_mean_of(by_holm)),
    ]


def _set_by_holm(items: Floats, unit: Units) -> int:
    """Return how many encoders Holm over all pairs does not separate from the one with the highest share."""
    pairs = list(combinations(range(items.shape[1]), 2))
    p = [sign_flip_p(unit_sums(items[:, a] - items[:, b], unit), Draws(), "holm").p for a, b in pairs]
    highest = int(items.mean(axis=0).argmax())
    separated = sum(q <= 0.05 and highest in pair for q, pair in zip(holm(p), pairs, strict=True))
    return items.shape[1] - separated


def _mean_of(values: Sequence[float]) -> tuple[float, float]:
    return float(np.mean(values)), float(np.std(values, ddof=1)) / sqrt(len(values))


# --- correlations ----------------------------------------------------------------------------------------


def size_of_the_correlation_test(repeats: int = 2000) -> list[Row]:
    """How often two equally good encoders have different correlations at 5 %, with 999 patterns each."""
    rows = []
    for units, items, r, within in [(28, 4, 0.3, 0.3), (50, 1, 0.8, 0.0), (120, 4, 0.8, 0.5), (450, 2, 0.5, 0.3)]:
        rng = np.random.default_rng([5, units])
        unit = np.repeat(np.arange(units), items)
        rejected = []
        for _ in range(repeats):
            human, cosines = correlated(rng, unit, r, within, 0.5, 2)
            sums = [correlation_sums(human, y, unit, units, "spearman")[:, :, None] for y in cosines.T]
            exchange = CorrelationExchange.of(*sums, np.array([len(unit)]))
            extreme = exchange.extreme(rng.choice([-1.0, 1.0], size=(999, units)), np.array([0]))
            rejected.append(bool((1 + extreme[0]) / 1000 <= 0.05))
        design = f"{units} units, {items} items, Spearman, correlation {r} with the scores, {within} within units"
        rows.append(Row(design, "rejected at 5 %", (0.045, 0.055), *share_of(rejected)))
    return rows


def best_set_of_correlations(repeats: int = 400) -> list[Row]:
    """How often the true best is in the best set by correlation, and all ranks are covered at once."""
    rows = []
    for units, items, r in [(40, 3, 0.5), (120, 1, 0.8)]:
        rng = np.random.default_rng([6, units])
        unit = np.repeat(np.arange(units), items)
        kept, covered = [], []
        for _ in range(repeats):
            human, cosines = correlated(rng, unit, r, 0.3, 0.5, 4)
            candidates = dict(zip(_names(4), cosines.T, strict=True))
            standings = rank_correlations(human, candidates, unit, "spearman", Draws(), "best")
            kept.append("e0" in standings.best_set)
            covered.append(_covers_ranks(standings, [r] * 4))
        design = f"4 equal encoders, {units} units, {items} items, Spearman {r}"
        rows.append(Row(design, "true best in the best set", (0.935, 0.965), *share_of(kept)))
        rows.append(Row(design, "all ranks covered at once", (0.935, 0.97), *share_of(covered)))
    return rows


SIMULATIONS: dict[str, Callable[..., list[Row]]] = {
    "size_of_the_test": size_of_the_test,
    "coverage_of_differences": coverage_of_differences,
    "best_set_and_ranks": best_set_and_ranks,
    "size_of_the_best_set": size_of_the_best_set,
    "size_of_the_correlation_test": size_of_the_correlation_test,
    "best_set_of_correlations": best_set_of_correlations,
}
"""Every simulation of this file, by name."""
