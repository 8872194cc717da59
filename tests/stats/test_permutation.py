"""Permutation p-values: exact by convolution, enumerated, or drawn until the answer is settled."""

from __future__ import annotations

from itertools import product
from math import comb, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from embassay.stats import permutation
from embassay.stats.permutation import (
    ROUNDS,
    PValue,
    SignFlips,
    convolved_p,
    enumerated_p,
    monte_carlo_interval,
    p_values,
    random_signs,
    whole_multiples,
)
from embassay.types import Draws
from simulations.comparisons import sign_flip_p

DRAWS = Draws(seed=0, resamples=200)
# Fisher (1935), The Design of Experiments, section 21: Darwin's fifteen pairs of maize, differences in eighths of
# an inch. 863 of the 32,768 sign patterns reach the observed sum of 314 on one side, 1726 on both.
MAIZE = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48], dtype=float)


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


def continuous(units=60, shift=0.3, seed=0):
    return np.random.default_rng(seed).normal(shift, 1, size=units)


# --- by hand ---------------------------------------------------------------------------------------------


def test_p_by_hand():
    # |±1 ± 2 ± 4| reaches 7 for all-plus and all-minus only: 2 of 8 patterns.
    assert sign_flip_p(np.array([1.0, 2.0, 4.0]), DRAWS, "x") == PValue(0.25, "exact")


def test_four_wins_and_no_loss_have_a_p_of_an_eighth():
    # 2 of 2⁴ = 16 patterns; the 446 units without a difference count nowhere.
    assert sign_flip_p(discordant(4, 0), DRAWS, "x") == PValue(0.125, "exact")


def test_golden_p_of_darwins_maize():
    # The count is Fisher's own.
    assert sign_flip_p(MAIZE, DRAWS, "maize") == PValue(1726 / 32_768, "exact")
    assert enumerated_p(MAIZE) == 1726 / 32_768


# --- independent implementations -------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-5, 5), max_size=9), st.sampled_from([1, 2, 3, 6, 7, 10]))
def test_the_exact_p_is_that_of_all_patterns(whole, parts):
    sums = np.array(whole, dtype=float) / parts
    test = sign_flip_p(sums, DRAWS, "x")
    assert (test.method, test.error) == ("exact", 0.0)
    assert test.p == pytest.approx(brute_force_p(whole), rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(-3, 3, width=32), max_size=8))
def test_the_enumerated_p_is_that_of_all_patterns(sums):
    assert enumerated_p(np.array(sums)) == brute_force_p(sums)


@pytest.mark.parametrize(("wins", "losses"), [(15, 5), (60, 41), (300, 250), (30, 30), (6, 0)])
def test_the_p_of_single_yes_no_items_is_mcnemars_exact_one(wins, losses):
    # Independent implementation: scipy's binomial test of the items that differ.
    expected = stats.binomtest(wins, wins + losses, 0.5).pvalue
    assert sign_flip_p(discordant(wins, losses, 1200), DRAWS, "x").p == pytest.approx(expected, rel=1e-10)


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


def test_the_exact_p_agrees_with_scipys_permutation_test():
    sums = np.array([3.0, -1, 2, 2, 0, 4, -2, 1, 1, 3, -1, 2])
    reference = stats.permutation_test(
        (sums, np.zeros(12)),
        lambda x, y, axis: np.sum(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    ).pvalue
    assert sign_flip_p(sums, DRAWS, "x").p == pytest.approx(reference)


def test_a_drawn_p_agrees_with_the_exact_one():
    # Whole numbers have an exact p; multiplied by irrational factors near 1 they have to be drawn.
    rng = np.random.default_rng(1)
    whole = rng.integers(-2, 4, size=80).astype(float)
    exact = sign_flip_p(whole, DRAWS, "x")
    drawn = sign_flip_p(whole * (1 + 1e-4 * rng.random(80)), DRAWS, "x")
    assert (exact.method, drawn.method) == ("exact", "drawn")
    assert drawn.p == pytest.approx(exact.p, abs=5 * drawn.error + 1e-3)


# --- which method ----------------------------------------------------------------------------------------


def test_the_method_is_the_most_exact_one_that_fits():
    rng = np.random.default_rng(0)
    methods = [
        sign_flip_p(sums, DRAWS, "x").method
        for sums in (discordant(20, 9), continuous(20), np.append(continuous(20), np.zeros(9)), continuous(21))
    ]
    assert methods == ["exact", "enumerated", "enumerated", "drawn"]
    assert sign_flip_p(rng.integers(-9, 9, size=5000) / 6, DRAWS, "x").method == "exact"


@pytest.mark.parametrize(
    ("sums", "multiples"),
    [
        ([], []),
        ([0, 0], [0, 0]),
        ([2, -4, 0], [1, -2, 0]),
        ([1 / 3, -1 / 2, 0.1 + 0.2], [10, -15, 9]),
        ([5 / 6, 7 / 4], [10, 21]),
        ([1e-9, 2.2e-9, -np.pi * 1e-9], None),
        ([0.5, 1 / 2521], None),
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


def test_a_convolution_that_takes_too_much_is_not_begun():
    huge = np.append(np.random.default_rng(0).integers(-(10**9), 10**9, size=40).astype(float), 1.0)
    assert sign_flip_p(huge, DRAWS, "x").method == "drawn"
    assert sign_flip_p(huge[-15:], DRAWS, "x").method == "enumerated"


# --- properties ------------------------------------------------------------------------------------------


def near_0_05():
    """46 units won and 31 lost by one item, two won by two: the exact p is 0.05019."""
    return np.concatenate([discordant(46, 31), [2.0, 2.0]])


def test_an_exact_p_of_0_0502_is_not_significant_whatever_the_seed():
    # With 9,999 draws each, 46 % of the seeds call this significant.
    (test,) = {sign_flip_p(near_0_05(), Draws(seed), "x") for seed in range(50)}
    assert test == PValue(pytest.approx(0.0502, abs=5e-5), "exact")
    # Independent: single items and units of two are two binomial variables.
    ones, twos = stats.binom(77, 0.5).pmf(range(78)), stats.binom(2, 0.5).pmf(range(3))
    far = [o * t for j, o in enumerate(ones) for k, t in enumerate(twos) if abs(2 * j - 77 + 4 * k - 4) >= 19]
    assert test.p == pytest.approx(sum(far), rel=1e-10)


def test_a_drawn_p_of_0_0502_is_not_significant_whatever_the_seed(monkeypatch):
    monkeypatch.setattr(permutation, "MAX_REACH", -1)
    monkeypatch.setattr(permutation, "ROUNDS", (999, 2_999))
    tests = [sign_flip_p(near_0_05(), Draws(seed), "x") for seed in range(60)]
    assert {test.method for test in tests} == {"drawn"}
    assert min(test.p for test in tests) > 0.05
    # The estimates themselves lie on both sides: what is reported is the upper limit of the interval.
    assert min(test.p - 2.5 * test.error for test in tests) < 0.05


def test_draws_go_on_until_the_adjusted_p_is_settled():
    # p is about 0.0125, so 4·p is about 0.05: alone it is settled at once, in a family of four it takes more draws.
    units = 200
    z = stats.norm.isf(0.0125 / 2)
    pattern = np.where(np.arange(units) % 2, 1.0, -1.0) + z / sqrt(units - z * z)
    sums = (pattern * (1 + 1e-3 * np.random.default_rng(2).random(units)))[:, None]
    alone = p_values(SignFlips(sums), [[0]], DRAWS, "x")[0]
    level = p_values(SignFlips(np.repeat(sums, 4, axis=1)), [[0, 1, 2, 3]], DRAWS, "x")
    assert drawn_number(alone) == ROUNDS[0]
    assert {drawn_number(test) for test in level} > {ROUNDS[0]} or min(map(drawn_number, level)) > ROUNDS[0]


def drawn_number(test):
    return round(test.p * (1 - test.p) / test.error**2)


def test_only_what_is_unsettled_is_drawn_further(monkeypatch):
    monkeypatch.setattr(permutation, "MAX_REACH", -1)
    clear = near_0_05() + 1
    tests = p_values(SignFlips(np.stack([clear, near_0_05()], axis=1)), [[0], [1]], DRAWS, "x")
    assert drawn_number(tests[0]) == ROUNDS[0]
    assert tests[1].error < 0.0003


def test_the_p_of_a_pair_does_not_depend_on_the_pairs_beside_it():
    one, other = continuous(seed=1), continuous(seed=2, shift=0)
    alone = sign_flip_p(one, DRAWS, "x")
    beside = p_values(SignFlips(np.stack([other, one, discordant(9, 2, 60)], axis=1)), [[0, 2], [1]], DRAWS, "x")
    assert beside[1] == alone


def test_p_has_two_sides():
    for sums in (MAIZE, continuous(12), continuous()):
        assert sign_flip_p(sums, DRAWS, "x") == sign_flip_p(-sums, DRAWS, "x")


@pytest.mark.parametrize("sums", [np.ones(5000), np.full(60, np.pi), np.arange(1.0, 3000)])
def test_p_is_never_0(sums):
    assert sign_flip_p(sums, DRAWS, "x").p > 0


def test_a_tiny_p_is_still_exact():
    assert sign_flip_p(np.ones(900), DRAWS, "x").p == pytest.approx(2.0**-899)
    # 1 of 1000 lost: 2(1 + 1000) patterns of 2¹⁰⁰⁰.
    assert sign_flip_p(discordant(999, 1, 1000), DRAWS, "x").p == pytest.approx(2 * 1001 / 2.0**1000)
    assert sign_flip_p(discordant(497, 3, 500), DRAWS, "x").p == pytest.approx(
        2 * sum(comb(500, k) for k in range(4)) / 2**500
    )


@pytest.mark.parametrize("sums", [np.zeros(30), np.zeros(0), np.array([2.0]), np.array([0.0, -0.3]), [0.1, 0.2, -0.3]])
def test_no_difference_and_a_single_unit_have_a_p_of_1(sums):
    assert sign_flip_p(np.array(sums, dtype=float), DRAWS, "x").p == 1.0


def test_patterns_that_tie_but_for_rounding_are_as_extreme():
    sums = np.array([0.1, 0.2, -0.1, -0.2])
    assert enumerated_p(sums) == 1.0
    assert sign_flip_p(sums, DRAWS, "x").p == 1.0


# --- drawing ---------------------------------------------------------------------------------------------


def test_random_signs_are_fair_and_independent():
    drawn = np.concatenate(list(random_signs(np.random.default_rng(0), 20, 10_000, 1000)))
    assert set(np.unique(drawn)) == {-1.0, 1.0}
    products = drawn.T @ drawn / len(drawn) - np.eye(20)
    assert np.abs(products).max() < 5 / np.sqrt(len(drawn))
    assert np.abs(drawn.mean(axis=0)).max() < 5 / np.sqrt(len(drawn))


def test_the_size_of_the_blocks_changes_no_pattern():
    whole = np.concatenate(list(random_signs(np.random.default_rng(0), 70, 50, 1000)))
    parts = np.concatenate(list(random_signs(np.random.default_rng(0), 70, 50, 7)))
    assert (whole == parts).all()
    assert whole.shape == (50, 70)
    assert set(np.unique(whole)) == {-1.0, 1.0}
    assert abs(whole.mean()) < 0.1


def test_the_monte_carlo_interval_agrees_with_scipys():
    extreme = np.array([0, 1, 40, 499, 500])
    low, high = monte_carlo_interval(extreme, 500)
    for k, ends in zip(extreme, zip(low, high, strict=True), strict=True):
        reference = stats.binomtest(int(k), 500).proportion_ci(0.99)
        assert ends == pytest.approx((reference.low, reference.high), abs=1e-12)
