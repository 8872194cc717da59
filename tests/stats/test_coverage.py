"""How often intervals hold the truth and tests reject it, in seeded simulations of clustered data.

The bounds are those of the method and not of its aim: 95 % is reached with many units; with 40, linearised
and percentile intervals fall short by one or two points. Every bound is widened by three binomial errors.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from embassay.randomness import generator
from embassay.stats.compare import compare, permutation_p
from embassay.stats.resample import bootstrap_means, mean, percentiles
from embassay.stats.shares import share, wilson
from embassay.types import Draws

SIZE = 4
CORRELATION = 0.3


def yes_no(rng, repeats, units, p):
    """Draw beta-binomial answers, (repeats, units · 4), of correlation 0.3 within a unit."""
    spread = (1 - CORRELATION) / CORRELATION
    chance = rng.beta(p * spread, (1 - p) * spread, size=(repeats, units))
    return (rng.random((repeats, units * SIZE)) < np.repeat(chance, SIZE, axis=1)).astype(float)


def numbers(rng, repeats, units, law):
    """Draw numbers of mean 0 whose units differ as much as the items within one."""
    of_unit = {"normal": rng.standard_normal, "skewed": lambda size: rng.exponential(size=size) - 1}[law]
    return np.repeat(of_unit(size=(repeats, units)), SIZE, axis=1) + of_unit(size=(repeats, units * SIZE))


def units_of(units):
    return np.repeat(np.arange(units), SIZE)


def allowance(rate, repeats):
    return 3 * sqrt(rate * (1 - rate) / repeats)


def coverage_of_shares(units, p, repeats=1000):
    answers = yes_no(generator(0, "share", str(units), str(p)), repeats, units, p)
    found = [share(row, units_of(units)) for row in answers]
    return np.mean([e.low <= p <= e.high for e in found])


def coverage_of_means(values, units, true, groups=20):
    """Bootstrap in groups of columns: within a group the counts are shared, between groups they are not."""
    hits = []
    for group, columns in enumerate(np.array_split(values, groups)):
        low, high = percentiles(bootstrap_means(columns.T, units_of(units), Draws(), "coverage", str(group)))
        hits.append((low <= true) & (true <= high))
    return np.concatenate(hits).mean()


def coverage_of_differences(draw, units, true, calls=100, pairs=4):
    """Compare eight encoders a call, of which four pairs have nothing in common."""
    hits = []
    for call in range(calls):
        rng = generator(call, "difference", str(units), str(true))
        values = {}
        for k in range(pairs):
            values[f"a{k}"], values[f"b{k}"] = draw(rng, units)
        found = {(d.a, d.b): d for d in compare(values, units_of(units), Draws(seed=call), "coverage")}
        of_pairs = [found[f"a{k}", f"b{k}"] for k in range(pairs)]
        hits += [d.low <= true <= d.high for d in of_pairs]
    return np.mean(hits)


def size_of_the_test(gaps, unit, groups=40):
    p = [permutation_p(g.T, unit, Draws(), "size", str(i)) for i, g in enumerate(np.array_split(gaps, groups))]
    return (np.concatenate(p) <= 0.05).mean()


# The least and the most that hold, before the allowance; 2 % of 40 and 120 units of four are 3 and 10 yes answers.
@pytest.mark.parametrize("p", [0.02, 0.1, 0.5, 0.9])
@pytest.mark.parametrize(("units", "least", "most"), [(40, 0.93, 0.97), (120, 0.92, 0.97), (450, 0.94, 0.96)])
def test_the_interval_of_a_share_holds(units, p, least, most):
    covered = coverage_of_shares(units, p)
    assert least - allowance(least, 1000) <= covered <= most + allowance(most, 1000)


@pytest.mark.parametrize("p", [0.1, 0.5])
def test_wilson_on_items_would_not_hold(p):
    # 4 items of correlation 0.3 have 1.9 times the variance: about 84 %.
    answers = yes_no(generator(0, "items", str(p)), 1000, 120, p)
    ends = [wilson(row.mean(), row.size) for row in answers]
    assert np.mean([low <= p <= high for low, high in ends]) < 0.89


@pytest.mark.parametrize(("units", "most"), [(40, 0.80), (120, 0.92)])
def test_the_percentile_interval_of_a_small_share_would_not_hold(units, most):
    answers = yes_no(generator(0, "percentile", str(units)), 1000, units, 0.02)
    assert coverage_of_means(answers, units, 0.02) < most


@pytest.mark.parametrize(
    ("law", "units", "least"),
    [
        ("normal", 40, 0.93),
        ("normal", 120, 0.94),
        ("normal", 450, 0.94),
        ("skewed", 40, 0.915),
        ("skewed", 120, 0.935),
        ("skewed", 450, 0.94),
    ],
)
def test_the_interval_of_a_mean_holds(law, units, least):
    values = numbers(generator(0, "mean", law, str(units)), 1000, units, law)
    covered = coverage_of_means(values, units, 0.0)
    assert least - allowance(least, 1000) <= covered <= 0.955 + allowance(0.955, 1000)


def test_the_simulated_interval_is_that_of_mean():
    values = numbers(generator(0, "same"), 3, 40, "skewed")
    low, high = percentiles(bootstrap_means(values.T, units_of(40), Draws(), "same"))
    found = [mean(row, units_of(40), Draws(), "same") for row in values]
    assert [e.low for e in found] == pytest.approx(low)
    assert [e.high for e in found] == pytest.approx(high)


def two_shares(p, q):
    def draw(rng, units):
        return yes_no(rng, 1, units, p)[0], yes_no(rng, 1, units, q)[0]

    return draw


def two_means(law, shift):
    def draw(rng, units):
        both = numbers(rng, 1, units, law)[0]
        return both + numbers(rng, 1, units, law)[0] + shift, both + numbers(rng, 1, units, law)[0]

    return draw


@pytest.mark.parametrize(
    ("draw", "units", "true", "least"),
    [
        (two_shares(0.6, 0.5), 40, 0.1, 0.925),
        (two_shares(0.6, 0.5), 120, 0.1, 0.935),
        (two_shares(0.95, 0.85), 120, 0.1, 0.93),
        (two_means("normal", 0.3), 40, 0.3, 0.925),
        (two_means("skewed", 0.0), 120, 0.0, 0.935),
    ],
    ids=["shares-40", "shares-120", "high-shares-120", "normal-40", "skewed-120"],
)
def test_the_interval_of_a_difference_holds(draw, units, true, least):
    covered = coverage_of_differences(draw, units, true)
    assert least - allowance(least, 400) <= covered <= 0.96 + allowance(0.96, 400)


@pytest.mark.parametrize("units", [12, 40, 120])
@pytest.mark.parametrize("kind", ["shares", "numbers"])
def test_the_permutation_test_has_its_size(kind, units):
    # Exchangeable within units: both encoders have unit effects of their own and one in common.
    rng = generator(0, "size", kind, str(units))
    a, b = (yes_no(rng, 1000, units, 0.3) if kind == "shares" else numbers(rng, 1000, units, "skewed") for _ in "ab")
    rejected = size_of_the_test(a - b, units_of(units))
    # Shares tie, so their test may reject less often than 5 %.
    assert 0.05 - (0.02 if kind == "shares" else 0) - allowance(0.05, 1000) <= rejected <= 0.05 + allowance(0.05, 1000)


def test_flipping_items_instead_of_units_would_reject_too_often():
    rng = generator(0, "size of items")
    a, b = (yes_no(rng, 1000, 40, 0.3) for _ in "ab")
    assert size_of_the_test(a - b, np.arange(40 * SIZE)) > 0.10
