"""Exact p-values of exchanging whole units, random signs, and what random patterns leave open."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from embassay.stats.permutation import (
    convolved_p,
    enumerated_p,
    monte_carlo_interval,
    random_signs,
    whole_multiples,
)

# Fisher (1935), The Design of Experiments, section 21: Darwin's fifteen pairs of maize, differences in eighths of
# an inch. 863 of the 32,768 sign patterns reach the observed sum of 314 on one side, 1726 on both.
MAIZE = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48], dtype=float)


def exact_p(sums):
    """Return the p of sums with a common step."""
    return convolved_p(whole_multiples(np.asarray(sums, dtype=float)))


def brute_force_p(sums):
    """Go through all patterns of signs, one by one."""
    observed, scale = abs(sum(sums)), sum(abs(s) for s in sums)
    extreme = 0
    for signs in product([1, -1], repeat=len(sums)):
        extreme += abs(sum(s * x for s, x in zip(signs, sums, strict=True))) >= observed - 1e-9 * scale
    return extreme / 2 ** len(sums)


def discordant(wins, losses, units=450):
    """Return unit sums of single yes/no items: so many won, so many lost, the others level."""
    return np.concatenate([np.ones(wins), -np.ones(losses), np.zeros(units - wins - losses)])


# --- by hand ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p_of", [exact_p, enumerated_p])
def test_p_by_hand(p_of):
    # |±1 ± 2 ± 4| reaches 7 for all-plus and all-minus only: 2 of 8 patterns. Fisher counted those of the maize.
    assert p_of(np.array([1.0, 2.0, 4.0])) == 0.25
    assert p_of(MAIZE) == 1726 / 32_768


def test_four_wins_and_no_loss_have_a_p_of_an_eighth():
    # 2 of 2⁴ = 16 patterns; the 446 units without a difference count nowhere.
    assert exact_p(discordant(4, 0)) == 0.125


# --- independent implementations -------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-5, 5), max_size=9), st.sampled_from([1, 2, 3, 6, 7, 10]))
def test_the_exact_p_is_that_of_all_patterns(whole, parts):
    assert exact_p(np.array(whole, dtype=float) / parts) == pytest.approx(brute_force_p(whole), rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(-3, 3, width=32), max_size=8))
def test_the_enumerated_p_is_that_of_all_patterns(sums):
    assert enumerated_p(np.array(sums)) == brute_force_p(sums)


@pytest.mark.parametrize(("wins", "losses"), [(15, 5), (60, 41), (300, 250), (30, 30), (6, 0)])
def test_the_p_of_single_yes_no_items_is_mcnemars_exact_one(wins, losses):
    # Independent implementation: scipy's binomial test of the items that differ.
    expected = stats.binomtest(wins, wins + losses, 0.5).pvalue
    assert exact_p(discordant(wins, losses, 1200)) == pytest.approx(expected, rel=1e-10)


def test_the_exact_p_of_thousands_of_units_agrees_with_a_convolution_by_polynomials():
    # Independent implementation: the coefficients of Π(1 + x^w), in whole numbers without any rounding.
    rng = np.random.default_rng(4)
    sums = rng.integers(-3, 4, size=1500) + (rng.random(1500) < 0.05)
    ways = 1
    weights = [abs(int(s)) for s in sums if s]
    spacing = len(weights) + 2
    for weight in weights:
        ways += ways << (weight * spacing)
    reach = (sum(weights) - abs(int(sums.sum()))) // 2
    lower = sum((ways >> (t * spacing)) & ((1 << spacing) - 1) for t in range(reach + 1))
    assert convolved_p(sums) == pytest.approx(2 * lower / 2 ** len(weights), rel=1e-9)


@pytest.mark.parametrize("p_of", [exact_p, enumerated_p])
def test_both_agree_with_scipys_permutation_test(p_of):
    sums = np.array([3.0, -1, 2, 2, 0, 4, -2, 1, 1, 3, -1, 2])
    reference = stats.permutation_test(
        (sums, np.zeros(12)),
        lambda x, y, axis: np.sum(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    ).pvalue
    assert p_of(sums) == pytest.approx(reference)


# --- a common step ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sums", "multiples"),
    [
        ([], []),
        ([0, 0], [0, 0]),
        ([2, -4, 0], [1, -2, 0]),
        ([1 / 3, -1 / 2, 0.1 + 0.2], [10, -15, 9]),
        ([5 / 6, 7 / 4], [10, 21]),
        ([1e-9, 2.2e-9, -np.pi * 1e-9], None),
        ([1, 1 / 2520], [2520, 1]),
        ([1, 1 / 2521], None),
        ([np.sqrt(2), 1], None),
        ([1e300, 1.0], None),
    ],
)
def test_the_common_step_of_sums(sums, multiples):
    step = whole_multiples(np.array(sums, dtype=float))
    assert (None if step is None else step.tolist()) == multiples


@settings(max_examples=50, deadline=None)
@given(st.lists(st.fractions(-4, 4, max_denominator=10), min_size=1, max_size=30))
def test_fractions_of_up_to_ten_have_a_common_step(fractions):
    # lcm(1 … 10) = 2520.
    multiples = whole_multiples(np.array([float(f) for f in fractions]))
    assert multiples is not None
    (steps,) = {f / int(m) for f, m in zip(fractions, multiples, strict=True) if m} or {1}
    assert all(f == steps * int(m) for f, m in zip(fractions, multiples, strict=True))


# --- properties ------------------------------------------------------------------------------------------


def test_a_tiny_p_is_exact_and_never_0():
    assert exact_p(np.ones(900)) == pytest.approx(2.0**-899)
    # 1 of 1000 lost: 2(1 + 1000) patterns of 2¹⁰⁰⁰.
    assert exact_p(discordant(999, 1, 1000)) == pytest.approx(2 * 1001 / 2.0**1000)
    assert exact_p(discordant(497, 3, 500)) == pytest.approx(2 * sum(comb(500, k) for k in range(4)) / 2**500)
    assert exact_p(np.ones(5000)) > 0


@pytest.mark.parametrize("sums", [np.zeros(30), np.zeros(0), np.array([2.0]), np.array([0.0, -0.3]), [0.1, 0.2, -0.3]])
def test_no_difference_and_a_single_unit_have_a_p_of_1(sums):
    assert exact_p(sums) == enumerated_p(np.asarray(sums, dtype=float)) == 1.0


def test_patterns_that_tie_but_for_rounding_are_as_extreme():
    assert enumerated_p(np.array([0.1, 0.2, -0.1, -0.2])) == 1.0


# --- random patterns -------------------------------------------------------------------------------------


def test_random_signs_are_fair_and_independent():
    drawn = np.concatenate(list(random_signs(np.random.default_rng(0), 20, 10_000, 1000)))
    assert set(np.unique(drawn)) == {-1.0, 1.0}
    products = drawn.T @ drawn / len(drawn) - np.eye(20)
    assert np.abs(products).max() < 5 / np.sqrt(len(drawn))
    assert np.abs(drawn.mean(axis=0)).max() < 5 / np.sqrt(len(drawn))


def test_the_monte_carlo_interval_agrees_with_scipys():
    extreme = np.array([0, 1, 40, 499, 500])
    low, high = monte_carlo_interval(extreme, 500)
    for k, ends in zip(extreme, zip(low, high, strict=True), strict=True):
        reference = stats.binomtest(int(k), 500).proportion_ci(0.99)
        assert ends == pytest.approx((reference.low, reference.high), abs=1e-12)
