"""Comparisons of systems: errors and power of the test, intervals of differences, the best list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import sqrt
from unittest.mock import patch

import numpy as np
from scipy import stats
from scipy.sparse.csgraph import connected_components

from embassay.core.metric_key import MetricKey
from embassay.core.result import Comparison, worse_systems
from embassay.core.types import Draws
from embassay.stats import patterns
from embassay.stats.exchange import CorrelationPair, exchanged_correlations
from embassay.stats.families import Roles, compare_means
from embassay.stats.labels import Labels
from embassay.stats.patterns import Exchanged, Patterns, mid_p
from simulations import Row, rate, simulation
from simulations.designs import (
    LABELS,
    Floats,
    Ints,
    label_normals,
    normals,
    one_label_each,
    stream,
    units_of_items,
)

# --- answers and cosines ---------------------------------------------------------------------------------


def answers(rng: np.random.Generator, unit: Ints, shares: Sequence[float], within: float, between: float) -> Floats:
    """Return (items, encoders) yes/no answers with these true shares.

    ``between`` is the correlation of the latent scores of two encoders on an item, ``within`` that of two items of a
    unit.
    """
    return _answers(lambda columns: normals(rng, unit, within, columns), shares, between)


def answers_by_label(
    rng: np.random.Generator, belongs: Floats, shares: Sequence[float], within: float, between: float
) -> Floats:
    """Return the same for items with several labels; see :func:`~simulations.designs.label_normals`."""
    return _answers(lambda columns: label_normals(rng, belongs, within, columns), shares, between)


def _answers(drawn: Callable[[int], Floats], shares: Sequence[float], between: float) -> Floats:
    hard, own = drawn(1), drawn(len(shares))
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


def labels_of(belongs: Floats) -> Labels:
    """Return the labels of items from the (n, labels) table of which belongs to which."""
    packed = np.packbits(belongs > 0, axis=1)
    # Rows as strings of bytes, which sort faster than rows of a table.
    rows = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel()
    _, first, code = np.unique(rows, return_index=True, return_inverse=True)
    return Labels.of(code, np.argwhere(belongs[first] > 0))


def compared(values: Mapping[str, Floats], belongs: Floats, roles: Roles, repeat: int) -> tuple[Comparison, ...]:
    """Compare shares of systems as a run does, without more patterns where a p is near 0.05, which take most time."""
    with patch.object(patterns, "ROUNDS", (9_999,)):
        return compare_means(KEY, values, labels_of(belongs), roles, Draws(repeat), of_shares=True, is_bounded=True)


# --- the test of a difference ----------------------------------------------------------------------------

KEY = MetricKey("accuracy")
BETWEEN = 0.5
PATTERNS, BATCH = 1999, 50
"""The patterns of a test, and how many tests have the same labels and patterns."""
UNITS = {
    "28 units, 1 item": partial(one_label_each, "1 item", 28),
    "20 units, 4 items": partial(one_label_each, "4 items", 20),
    "70 units, 7 items": partial(one_label_each, "7 items", 70),
    "70 units, Pareto": partial(one_label_each, "Pareto", 70),
}
DESIGNS = UNITS | LABELS
KNOWN = {
    ("120 questions with two of 50 pages each", 0.3): 0.10,
    ("120 questions with two of 50 pages each", 0.7): 0.14,
    ("120 questions on 50 pages", 0.7): 0.09,
    ("60 questions, a hub for 30 %", 0.7): 0.09,
    ("60 questions, a hub for 60 %", 0.7): 0.13,
}
"""The false alarms of designs beyond the limit: many items with several labels that agree strongly."""


def p_values(differences: Floats, labels: Labels, seed: int) -> Floats:
    """Return the (k,) mid-p of (n, k) differences, each alone."""
    exchanged = Exchanged.of(differences, Patterns(labels, Draws(seed), ("simulated",), PATTERNS))
    return np.array([mid_p(moved, seen) for moved, seen in zip(exchanged.moved.T, exchanged.observed, strict=True)])


def components(belongs: Floats) -> Labels:
    """Return units as connected components: items that share a label are one unit, and what these share."""
    _, unit = connected_components(belongs @ belongs.T)
    return Labels.of(unit)


def rejected(
    name: str, shares: Sequence[float], within: float, repeats: int, units_of=labels_of
) -> tuple[float, float]:
    """Return how often the second of two systems with these shares is called different, with the simulation's error."""
    rng = stream("test", name, shares, within)
    number = 0
    for batch in range(0, repeats, BATCH):
        belongs = DESIGNS[name](rng)
        pairs = [answers_by_label(rng, belongs, shares, within, BETWEEN) for _ in range(min(BATCH, repeats - batch))]
        differences = np.stack([pair[:, 1] - pair[:, 0] for pair in pairs], axis=1)
        number += int((p_values(differences, units_of(belongs), batch) <= 0.05).sum())
    return rate(number, repeats)


@simulation("test", "The test of a difference of shares: how often equally good systems are called different at 5 %")
def size_of_the_test(repeats: int = 2000) -> Iterator[Row]:
    """Cross labels with correlations."""
    for name in DESIGNS:
        for within in (0.0, 0.3, 0.7):
            most = KNOWN.get((name, within), 0.061)
            seen, error = rejected(name, (0.7, 0.7), within, repeats)
            yield Row(f"{name}, correlation {within:g}", "rejected at 5 %", (0.0, 0.061), seen, error, (0.0, most))


@simulation("power", "The test of a difference of shares: how often a true difference is found")
def power_of_the_test(repeats: int = 1000) -> Iterator[Row]:
    """Compare label patterns with the exchange of connected components, 10 and 20 points apart."""
    for name in LABELS:
        for difference, least in ((0.1, 0.2), (0.2, 0.8)):
            shares = (0.75, 0.75 + difference)
            design = f"{name}, correlation 0.1, {100 * difference:g} points"
            yield Row(design, "found", (least, 1.0), *rejected(name, shares, 0.1, repeats), (least, 1.0))
            seen = rejected(name, shares, 0.1, repeats, components)
            yield Row(design, "found by connected components", (0.0, 1.0), *seen, (0.0, 1.0))


@simulation("differences", "Differences of two shares: the interval that agrees with the test")
def coverage_of_differences(repeats: int = 300) -> Iterator[Row]:
    """Count how often the interval holds the truth; where few items differ, it is at least Newcombe's."""
    roles = Roles(("a",), lexical="b")
    for name in ("20 units, 4 items", "70 units, 7 items", *LABELS):
        for share, difference, within in [(0.7, 0.0, 0.3), (0.65, 0.2, 0.3), (0.97, 0.02, 0.0)]:
            rng = stream("differences", name, share, difference)
            held = []
            for repeat in range(repeats):
                belongs = DESIGNS[name](rng)
                a, b = answers_by_label(rng, belongs, (share + difference, share), within, BETWEEN).T
                (row,) = compared({"a": a, "b": b}, belongs, roles, repeat)
                # A page that is right for more than two thirds of the questions leaves no verdict.
                if row.low is None or row.high is None:
                    continue
                assert row.is_significant == (not row.low <= 0 <= row.high)
                held.append(row.low <= difference <= row.high)
            design = f"{name}, share {share}, {100 * difference:g} points, correlation {within:g}"
            least = 0.89 if (name, within) in KNOWN else 0.92
            yield Row(design, "coverage", (0.92, 0.97), *rate(sum(held), len(held)), accepted=(least, 1.0))


# --- the best list ---------------------------------------------------------------------------------------


@simulation("best", "The best list and the rank intervals")
def best_list(repeats: int = 400) -> Iterator[Row]:
    """How often the true best is out, and a rank interval does not hold the true rank."""
    for name in ("28 units, 1 item", "20 units, 4 items", "labels like pip's"):
        for systems, step in [(3, 0.05), (3, 0.02), (5, 0.02)]:
            rng = stream("best", name, systems, step)
            names = [f"e{place}" for place in range(systems)]
            shares = [0.8 - step * place for place in range(systems)]
            roles = Roles(tuple(names[:-1]), lexical=names[-1])
            is_out = 0
            for repeat in range(repeats):
                belongs = DESIGNS[name](rng)
                items = answers_by_label(rng, belongs, shares, 0.3, BETWEEN)
                values = dict(zip(names, items.T, strict=True))
                differences = compared(values, belongs, roles, repeat)
                is_out += "e0" in worse_systems(differences)
            design = f"{systems} systems {100 * step:g} points apart, {name}"
            yield Row(design, "the true best is out", (0.0, 0.03), *rate(is_out, repeats), accepted=(0.0, 0.03))


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
        number = 0
        for repeat in range(repeats):
            human, cosines = correlated(rng, unit, r, within, 0.5, 2)
            pair = CorrelationPair.of(human, *cosines.T, "spearman")
            exchanged = exchanged_correlations([pair], Patterns(Labels.of(unit), Draws(repeat), ("simulated",), 999))
            number += mid_p(exchanged.moved[:, 0], float(exchanged.observed[0])) <= 0.05
        design = f"{units} units, {sizes}, correlation {r} with the scores, {within} within units"
        yield Row(design, "rejected at 5 %", (0.0, 0.065), *rate(number, repeats), accepted=(0.0, 0.065))
