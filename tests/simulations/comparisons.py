"""Comparisons of encoders: errors of the tests, intervals of differences, best sets and ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import sqrt

import numpy as np
from scipy import stats

from embassay.stats.best import Standings, rank_correlations, rank_means
from embassay.stats.exchange import CorrelationExchange, correlation_sums
from embassay.stats.families import consistent_interval
from embassay.stats.permutation import PValue, SignFlips, holm, p_values
from embassay.stats.resample import means
from embassay.types import Draws
from simulations import Row, mean_of, rate, simulation
from simulations.designs import Floats, Ints, normals, units_of_items

# --- answers and cosines ---------------------------------------------------------------------------------


def answers(rng: np.random.Generator, unit: Ints, shares: Sequence[float], within: float, between: float) -> Floats:
    """Return (items, encoders) yes/no answers with these true shares.

    ``between`` is the correlation of the latent scores of two encoders on an item, ``within`` that of two items of a
    unit.
    """
    hard = normals(rng, unit, within, 1)
    own = normals(rng, unit, within, len(shares))
    latent = sqrt(between) * hard + sqrt(1 - between) * own
    return (latent < stats.norm.ppf(np.array(shares))).astype(np.float64)


def correlated(
    rng: np.random.Generator, unit: Ints, r: float, within: float, between: float, encoders: int
) -> tuple[Floats, Floats]:
    """Return (items,) human scores and (items, encoders) cosines that correlate with them by r.

    ``between`` is the correlation of the errors of two encoders.
    """
    human = normals(rng, unit, within, 1)
    shared = normals(rng, unit, within, 1)
    own = normals(rng, unit, within, encoders)
    errors = sqrt(between) * shared + sqrt(1 - between) * own
    return human[:, 0], r * human + sqrt(1 - r * r) * errors


def unit_sums(gaps: Floats, unit: Ints) -> Floats:
    """Return the sums over units."""
    return np.bincount(unit, weights=gaps)


def sign_flip_p(sums: Floats, draws: Draws, *purpose: str) -> PValue:
    """Return the p-value of one pair on its own, from the (units,) sums of its differences."""
    return p_values(SignFlips(sums[:, None]), [[0]], draws, *purpose)[0]


# --- the test of a difference ----------------------------------------------------------------------------


def error_rate(design: str, figure: str, rejected: Sequence[bool], wanted: tuple[float, float]) -> Row:
    """Return the row of a test whose truth is no difference; it is accepted in the range that is wanted."""
    return Row(design, figure, wanted, *rate(sum(rejected), len(rejected)), accepted=wanted)


@simulation("test", "The test of a difference of shares: how often equally good encoders are called different at 5 %")
def size_of_the_test(repeats: int = 2000) -> Iterator[Row]:
    """Cross units with sizes, shares and correlations; a discrete test stays below 5 % where few answers differ."""
    for units in (28, 70, 155, 450):
        for sizes, share, within in [("1 item", 0.3, 0.0), ("7 items", 0.1, 0.3), ("Pareto", 0.5, 0.7)]:
            rng = np.random.default_rng([1, units, len(sizes)])
            rejected = []
            for _ in range(repeats):
                unit = units_of_items(sizes, units, rng)
                a, b = answers(rng, unit, [share, share], within, 0.5).T
                rejected.append(sign_flip_p(unit_sums(a - b, unit), Draws(), "size").p <= 0.05)
            design = f"{units} units, {sizes}, share {share}, correlation {within}"
            yield error_rate(design, "rejected at 5 %", rejected, (0.0, 0.05))


@simulation("power", "The test of a difference of shares: how often a true difference is found")
def power_of_the_test(repeats: int = 1000) -> Iterator[Row]:
    """Draw differences that 80 % power should find, as planned from the normal law of the difference."""
    for units, share, within in [(70, 0.3, 0.0), (155, 0.5, 0.3), (450, 0.3, 0.0), (450, 0.7, 0.3)]:
        rng = np.random.default_rng([7, units, int(10 * share)])
        unit = units_of_items("4 items", units, rng)
        difference = detectable_difference(rng, unit, share, within, draws=4 * repeats)
        found = []
        for _ in range(repeats):
            a, b = answers(rng, unit, [share + difference, share], within, 0.5).T
            found.append(sign_flip_p(unit_sums(a - b, unit), Draws(), "power").p <= 0.05)
        design = (
            f"{units} units, 4 items, share {share}, correlation {within}, difference {100 * difference:.1f} points"
        )
        yield Row(design, "found", (0.77, 0.83), *rate(sum(found), repeats), accepted=(0.75, 0.85))


def detectable_difference(rng: np.random.Generator, unit: Ints, share: float, within: float, draws: int) -> float:
    """Return the difference that a normal law finds with 80 % power at 5 %: (1.96 + 0.84) standard errors.

    The standard error is that of so many drawn pairs which differ by as much; three rounds settle it.
    """
    difference = 0.0
    for _ in range(3):
        pairs = (answers(rng, unit, [share + difference, share], within, 0.5) for _ in range(draws))
        seen = [float((pair[:, 0] - pair[:, 1]).mean()) for pair in pairs]
        difference = (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * float(np.std(seen))
    return difference


@simulation("differences", "Differences of two shares: the interval that agrees with the test")
def coverage_of_differences(repeats: int = 1000) -> Iterator[Row]:
    """Count how often the interval holds the truth, and what agreement with the test adds to it."""
    for units in (28, 120, 450):
        for share, difference in [(0.3, 0.0), (0.02, 0.0), (0.3, 0.08)]:
            # Where the truth is 0, the interval holds it exactly as often as the test does not reject: 95 %, and more
            # where few answers differ and the test is discrete.
            accepted = (0.95, 1.0) if difference == 0 else (0.93, 1.0)
            rng = np.random.default_rng([2, units, int(100 * share), int(100 * difference)])
            covered, moved, width = [], [], []
            for low, high, plain_low, plain_high in _intervals(rng, units, share, difference, repeats):
                covered.append(low <= difference <= high)
                moved.append((low, high) != (plain_low, plain_high))
                width.append((high - low) / max(plain_high - plain_low, 1e-12) - 1)
            design = f"{units} units, 7 items, share {share}, difference {100 * difference:g} points"
            yield Row(design, "coverage", (0.93, 0.97), *rate(sum(covered), repeats), accepted=accepted)
            yield Row(design, "intervals that were moved", (0.0, 0.15), *rate(sum(moved), repeats), accepted=(0, 0.15))
            yield Row(design, "width added", (-0.01, 0.03), *mean_of(width), accepted=(-0.01, 0.03))


def _intervals(
    rng: np.random.Generator, units: int, share: float, difference: float, repeats: int, groups: int = 20
) -> Iterator[tuple[float, float, float, float]]:
    """Yield low and high, as reported and before they were made to agree with the test."""
    unit = units_of_items("7 items", units, rng)
    for group in range(groups):
        pairs = [answers(rng, unit, [share + difference, share], 0.3, 0.6) for _ in range(repeats // groups)]
        gaps = np.stack([pair[:, 0] - pair[:, 1] for pair in pairs], axis=1)
        estimates = means([gaps], unit, Draws(group), "coverage", differences=np.full(gaps.shape[1], True))[0]
        for estimate, gap in zip(estimates, gaps.T, strict=True):
            p = sign_flip_p(unit_sums(gap, unit), Draws(), "coverage").p
            assert estimate.value is not None and estimate.low is not None and estimate.high is not None
            reported = consistent_interval(estimate.low, estimate.high, estimate.value, p)
            yield (*reported, estimate.low, estimate.high)


# --- the best set and the ranks --------------------------------------------------------------------------


@simulation("best", "The best set and the rank intervals, by means")
def best_set_and_ranks(repeats: int = 600) -> Iterator[Row]:
    """How often the true best is in the best set, and all true ranks are in their intervals at once."""
    for units, encoders, step in [(28, 4, 0.0), (120, 10, 0.0), (450, 4, 0.0), (120, 4, 0.02), (450, 10, 0.01)]:
        rng = np.random.default_rng([3, units, encoders, int(1000 * step)])
        unit = units_of_items("4 items", units, rng)
        shares = [0.4 - step * k for k in range(encoders)]
        kept, covered = [], []
        for _ in range(repeats):
            items = answers(rng, unit, shares, 0.3, 0.6)
            standings = rank_means(
                dict(zip(_names(encoders), items.T, strict=True)), unit, Draws(), "best", of_shares=True
            )
            kept.append("e0" in standings.best_set)
            covered.append(_covers_ranks(standings, shares))
        design = f"{encoders} encoders {100 * step:g} points apart, {units} units, 4 items"
        # With equal encoders the error rates are reached, with unequal ones they are bounds.
        most = 0.97 if step == 0 else 1.0
        yield _held(design, "true best in the best set", kept, (0.94, most))
        yield _held(design, "all ranks covered at once", covered, (0.94, most))


def _held(design: str, figure: str, held: Sequence[bool], wanted: tuple[float, float]) -> Row:
    return Row(design, figure, wanted, *rate(sum(held), len(held)), accepted=wanted)


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


@simulation("best-size", "The size of the best set, beside Holm over all pairs")
def size_of_the_best_set(repeats: int = 100) -> Iterator[Row]:
    """How many of ten encoders in steps of one point may be the best, and how many Holm over all pairs leaves."""
    rng = np.random.default_rng(4)
    unit = np.arange(450)
    shares = [0.4 - 0.01 * k for k in range(10)]
    sizes, by_holm = [], []
    for _ in range(repeats):
        items = answers(rng, unit, shares, 0.0, 0.6)
        standings = rank_means(dict(zip(_names(10), items.T, strict=True)), unit, Draws(), "size", of_shares=True)
        sizes.append(len(standings.best_set))
        by_holm.append(_set_by_holm(items, unit))
    design = "10 encoders 1 point apart, 450 units of 1 item"
    fewer = [holm_size - size for size, holm_size in zip(sizes, by_holm, strict=True)]
    yield _number(design, "encoders in the best set", sizes, (1, 10))
    yield _number(design, "not separable from the highest by Holm over all pairs", by_holm, (1, 10))
    yield _number(design, "fewer in the best set than by Holm", fewer, (1, 10))


def _number(design: str, figure: str, values: Sequence[float], wanted: tuple[float, float]) -> Row:
    return Row(design, figure, wanted, *mean_of(values), accepted=wanted, number=True)


def _set_by_holm(items: Floats, unit: Ints) -> int:
    """Return how many encoders Holm over all pairs does not separate from the one with the highest share."""
    pairs = list(combinations(range(items.shape[1]), 2))
    p = [sign_flip_p(unit_sums(items[:, a] - items[:, b], unit), Draws(), "holm").p for a, b in pairs]
    highest = int(items.mean(axis=0).argmax())
    separated = sum(q <= 0.05 and highest in pair for q, pair in zip(holm(p), pairs, strict=True))
    return items.shape[1] - separated


# --- correlations ----------------------------------------------------------------------------------------


@simulation("correlations", "The test of a difference of correlations: how often equals are called different at 5 %")
def size_of_the_correlation_test(repeats: int = 2000) -> Iterator[Row]:
    """Draw designs of Spearman's coefficient; each test has 999 patterns."""
    for units, sizes, r, within in [
        (28, "4 items", 0.3, 0.3),
        (50, "1 item", 0.8, 0.0),
        (120, "4 items", 0.8, 0.5),
        (450, "2 items", 0.5, 0.3),
    ]:
        rng = np.random.default_rng([5, units])
        unit = units_of_items(sizes, units, rng)
        rejected = []
        for _ in range(repeats):
            human, cosines = correlated(rng, unit, r, within, 0.5, 2)
            sums = [correlation_sums(human, y, unit, units, "spearman")[:, :, None] for y in cosines.T]
            exchange = CorrelationExchange.of(*sums, np.array([len(unit)]))
            extreme = exchange.extreme(rng.choice([-1.0, 1.0], size=(999, units)), np.array([0]))
            rejected.append(bool((1 + extreme[0]) / 1000 <= 0.05))
        design = f"{units} units, {sizes}, correlation {r} with the scores, {within} within units"
        yield error_rate(design, "rejected at 5 %", rejected, (0.0, 0.055))


@simulation("best-correlations", "The best set and the rank intervals, by correlations")
def best_set_of_correlations(repeats: int = 400) -> Iterator[Row]:
    """How often the true best is in the best set by correlation, and all ranks are covered at once."""
    for units, sizes, r in [(40, "3 items", 0.5), (120, "1 item", 0.8)]:
        rng = np.random.default_rng([6, units])
        unit = units_of_items(sizes, units, rng)
        kept, covered = [], []
        for _ in range(repeats):
            human, cosines = correlated(rng, unit, r, 0.3, 0.5, 4)
            candidates = dict(zip(_names(4), cosines.T, strict=True))
            standings = rank_correlations(human, candidates, unit, "spearman", Draws(), "best")
            kept.append("e0" in standings.best_set)
            covered.append(_covers_ranks(standings, [r] * 4))
        design = f"4 equal encoders, {units} units, {sizes}, Spearman {r}"
        yield _held(design, "true best in the best set", kept, (0.93, 0.97))
        yield _held(design, "all ranks covered at once", covered, (0.93, 0.97))
