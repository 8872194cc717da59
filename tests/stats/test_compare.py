"""Differences between encoders: permutation p, Holm, the paired interval, what a corpus can show."""

from __future__ import annotations

from itertools import combinations, product
from math import isnan, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from embassay.stats.compare import (
    ALPHA,
    POWER,
    Difference,
    compare,
    holm,
    not_separable,
    permutation_p,
    smallest_difference,
)
from embassay.stats.resample import mean, means
from embassay.types import Draws

NAN = float("nan")
DRAWS = Draws(seed=0, resamples=200)
# Fisher (1935), The Design of Experiments, section 21: Darwin's fifteen pairs of maize, differences in eighths of
# an inch. 863 of the 32,768 sign patterns reach the observed sum of 314 on one side, 1726 on both.
MAIZE = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48], dtype=float)
P_VALUES = st.lists(st.floats(1e-6, 1), max_size=12)


def exact_p(sums):
    """Enumerate all sign patterns; as extreme forgives rounding of the sums themselves."""
    flips = np.array(list(product([1, -1], repeat=len(sums)))) @ sums
    return float((np.abs(flips) >= abs(np.sum(sums)) - 1e-9 * np.abs(sums).sum()).mean())


def error_of_p(p, number=9_999, times=5):
    return times * sqrt(p * (1 - p) / number) + 1 / number


def clustered(units=40, size=3, seed=1, shift=0.3):
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(units), size)
    a, b = (rng.normal(size=units)[unit] + rng.normal(size=units * size) for _ in "ab")
    return a + shift, b, unit


def verdict(a, b, p_holm):
    p = None if p_holm is None else p_holm / 10
    return Difference(a, b, 0.1, None, None, p, p_holm, 10, 10, 0.1)


# --- permutation_p ---------------------------------------------------------------------------------------


def test_p_by_hand():
    # Sums 1, 2, 4: |±1 ± 2 ± 4| reaches 7 for all-plus and all-minus only: 2 of 8 patterns.
    p = permutation_p(np.array([[1.0], [2.0], [4.0]]), np.arange(3), DRAWS, "hand")
    assert p == pytest.approx([0.25], abs=error_of_p(0.25))


def test_golden_p_of_darwins_maize():
    assert exact_p(MAIZE) == 1726 / 32_768
    p = permutation_p(MAIZE[:, None], np.arange(15), DRAWS, "maize")
    assert p == pytest.approx([1726 / 32_768], abs=error_of_p(1726 / 32_768))


@pytest.mark.parametrize("units", [4, 7, 10])
def test_p_agrees_with_all_sign_patterns_of_units(units):
    rng = np.random.default_rng(units)
    unit = rng.permutation(np.repeat(np.arange(units), 3))
    gaps = rng.integers(-1, 2, size=(3 * units, 4)) / 3 + np.array([0, 0.1, 0.2, 0.3])
    expected = [exact_p(np.bincount(unit, weights=column)) for column in gaps.T]
    for p, exact in zip(permutation_p(gaps, unit, DRAWS, "exact"), expected, strict=True):
        assert p == pytest.approx(exact, abs=error_of_p(exact))


def test_p_agrees_with_scipy():
    a, b, unit = clustered(units=12)
    sums = np.bincount(unit, weights=a - b)
    reference = stats.permutation_test(
        (sums, np.zeros(12)),
        lambda x, y, axis: np.sum(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    ).pvalue
    assert permutation_p((a - b)[:, None], unit, DRAWS, "scipy") == pytest.approx(
        [reference], abs=error_of_p(reference)
    )


def test_p_of_many_units_agrees_with_the_normal_law():
    a, b, unit = clustered(units=800, shift=0.1)
    sums = np.bincount(unit, weights=a - b)
    expected = 2 * stats.norm.sf(abs(sums.sum()) / np.sqrt(np.sum(sums**2)))
    assert 0.001 < expected < 0.9
    assert permutation_p((a - b)[:, None], unit, DRAWS, "n") == pytest.approx(
        [expected], abs=error_of_p(expected) + 0.003
    )


@pytest.mark.parametrize(("columns", "number"), [(1, 9_999), (24, 9_999), (25, 10_000), (40, 16_000)])
def test_p_is_never_0_and_has_the_number_of_flips_that_holm_needs(columns, number):
    # All 60 units alike: another pattern is as extreme with probability 2⁻⁵⁹.
    p = permutation_p(np.ones((60, columns)), np.arange(60), DRAWS, "never")
    assert (p == 1 / (1 + number)).all()


def test_p_of_one_unit_is_1():
    assert permutation_p(np.array([[0.5], [0.25]]), np.zeros(2, dtype=np.int64), DRAWS, "x").tolist() == [1.0]


def test_p_of_no_difference_is_1():
    assert permutation_p(np.zeros((20, 1)), np.arange(20), DRAWS, "x").tolist() == [1.0]


def test_p_has_two_sides():
    a, b, unit = clustered()
    gaps = np.stack([a - b, b - a], axis=1)
    up, down = permutation_p(gaps, unit, DRAWS, "sides")
    assert up == down


def test_the_sign_of_a_whole_unit_is_flipped():
    # Two units of fifty equal items: 2 of 4 patterns reach the sum. Flipping items would give 1/10,000.
    p = permutation_p(np.ones((100, 1)), np.repeat([0, 1], 50), DRAWS, "unit")
    assert p == pytest.approx([0.5], abs=error_of_p(0.5))


def test_undefined_items_do_not_count():
    a, b, unit = clustered(units=12)
    gap = (a - b)[:, None]
    more = np.concatenate([gap, [[NAN], [NAN]]])
    assert permutation_p(more, np.append(unit, [0, 5]), DRAWS, "x") == permutation_p(gap, unit, DRAWS, "x")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=2, max_size=12).filter(sum), st.sampled_from([3, 7, 10]))
def test_patterns_that_tie_but_for_rounding_are_as_extreme(whole, parts):
    # In whole numbers ties are exact; in thirds, sevenths and tenths they differ in the last bits.
    sums, unit = np.array(whole, dtype=float)[:, None], np.arange(len(whole))
    assert permutation_p(sums / parts, unit, DRAWS, "ties") == permutation_p(sums, unit, DRAWS, "ties")


def test_a_sum_of_0_but_for_rounding_is_reached_by_every_pattern():
    sums = np.array([0.1, 0.2, -0.1, -0.2])
    assert sums.sum() == pytest.approx(0, abs=1e-16)
    assert exact_p(sums) == 1.0
    assert permutation_p(sums[:, None], np.arange(4), DRAWS, "zero").tolist() == [1.0]


def test_p_does_not_depend_on_the_columns_beside_it():
    a, b, unit = clustered()
    alone = permutation_p((a - b)[:, None], unit, DRAWS, "x")
    beside = permutation_p(np.stack([np.cos(a), a - b, b], axis=1), unit, DRAWS, "x")
    assert beside[1] == alone[0]


# --- holm ------------------------------------------------------------------------------------------------


def test_holm_by_hand():
    # Sorted 0.005, 0.01, 0.03, 0.04, times 4, 3, 2, 1: 0.02, 0.03, 0.06, 0.04 → 0.06 (never falls).
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))


def test_holm_gives_ties_the_same():
    # 0.02 three times, 0.5: 4·0.02 = 0.08 at first, then 3·0.02 and 2·0.02 are lifted to it.
    assert holm([0.02, 0.5, 0.02, 0.02]) == pytest.approx((0.08, 0.5, 0.08, 0.08))


def test_holm_is_at_most_1():
    assert holm([0.4, 0.9, 0.6]) == (1.0, 1.0, 1.0)


def test_holm_of_nothing_and_of_one():
    assert holm([]) == ()
    assert holm([0.03]) == (0.03,)


@given(P_VALUES, st.floats(1e-4, 0.5))
def test_holm_rejects_what_the_steps_reject(p, alpha):
    # Holm (1979): go through the sorted p and stop at the first that is not under α/(m − i).
    rejected = set()
    for i, index in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        if p[index] * (len(p) - i) >= alpha:
            break
        rejected.add(index)
    assert {i for i, q in enumerate(holm(p)) if q < alpha} == rejected


@given(P_VALUES)
def test_holm_lies_between_p_and_bonferroni_and_keeps_the_order(p):
    adjusted = holm(p)
    assert all(a <= q <= min(1.0, len(p) * a) * (1 + 1e-12) for a, q in zip(p, adjusted, strict=True))
    assert all(adjusted[i] <= adjusted[j] for i, j in combinations(np.argsort(p, kind="stable"), 2))


@given(P_VALUES.flatmap(lambda p: st.tuples(st.just(p), st.permutations(range(len(p))))))
def test_holm_does_not_depend_on_the_order(given_order):
    p, order = given_order
    assert holm([p[i] for i in order]) == pytest.approx(tuple(holm(p)[i] for i in order))


# --- compare ---------------------------------------------------------------------------------------------


def test_compare_by_hand():
    # a − b on the items defined for both: 1 − 0, 2 − 0, 0 − 3 → 0/3 = 0, three units, so no interval. Sums 1, 2, −3:
    # every pattern reaches 0, so p = 1.
    (found,) = compare({"a": np.array([1.0, 2, 0, 9]), "b": np.array([0.0, 0, 3, NAN])}, np.arange(4), DRAWS, "hand")
    assert (found.a, found.b, found.difference, found.low, found.high) == ("a", "b", 0.0, None, None)
    assert (found.p, found.p_holm, found.items, found.units) == (1.0, 1.0, 3, 3)
    # Residuals 1, 2, −3: v = 3/2 · 14/9 = 7/3.
    assert found.error == pytest.approx(sqrt(7 / 3))


def test_all_pairs_are_compared_in_the_order_given():
    values = {name: np.arange(12.0) * k for k, name in enumerate("dbca")}
    found = compare(values, np.arange(12), DRAWS, "x")
    assert [(d.a, d.b) for d in found] == [("d", "b"), ("d", "c"), ("d", "a"), ("b", "c"), ("b", "a"), ("c", "a")]


@pytest.mark.parametrize("values", [{}, {"a": np.arange(12.0)}])
def test_fewer_than_two_encoders_make_no_pair(values):
    assert compare(values, np.arange(12), DRAWS, "x") == ()


def test_no_items_make_no_difference():
    assert compare({"a": np.empty(0), "b": np.empty(0)}, np.empty(0, dtype=np.int64), DRAWS, "x") == ()


def test_the_interval_is_that_of_the_mean_of_the_gaps():
    a, b, unit = clustered()
    (found,) = compare({"a": a, "b": b}, unit, DRAWS, "x")
    expected = mean(a - b, unit, DRAWS, "x")
    assert (found.difference, found.low, found.high) == pytest.approx((expected.value, expected.low, expected.high))


def test_the_interval_of_shares_is_that_of_the_mean_of_differences_of_shares():
    rng = np.random.default_rng(4)
    a, b, unit = *(rng.integers(0, 2, size=(2, 60)).astype(float)), np.repeat(np.arange(20), 3)
    (found,) = compare({"a": a, "b": b}, unit, DRAWS, "x", of_shares=True)
    (plain,) = compare({"a": a, "b": b}, unit, DRAWS, "x")
    expected = means([(a - b)[:, None]], unit, DRAWS, "x", differences=np.array([True]))[0][0]
    assert (found.difference, found.low, found.high) == pytest.approx((expected.value, expected.low, expected.high))
    assert (found.difference, found.p, found.error) == (plain.difference, plain.p, plain.error)
    assert (found.low, found.high) != (plain.low, plain.high)


def test_a_minus_b_is_b_minus_a_the_other_way_round():
    a, b, unit = clustered()
    (up,), (down,) = (compare(v, unit, DRAWS, "x") for v in ({"a": a, "b": b}, {"b": b, "a": a}))
    assert (up.difference, up.low, up.high) == pytest.approx((-down.difference, -down.high, -down.low))
    assert (up.p, up.error) == (down.p, pytest.approx(down.error))


def test_undefined_items_are_left_out_pairwise():
    a, b, unit = clustered(units=12)
    c = a + b
    a, b = a.copy(), b.copy()
    a[:3], b[2:6] = NAN, NAN
    found = {(d.a, d.b): d for d in compare({"a": a, "b": b, "c": c}, unit, DRAWS, "x")}
    assert {pair: d.items for pair, d in found.items()} == {("a", "b"): 30, ("a", "c"): 33, ("b", "c"): 32}
    assert {pair: d.units for pair, d in found.items()} == {("a", "b"): 10, ("a", "c"): 11, ("b", "c"): 11}
    assert found["a", "b"].difference == pytest.approx(np.mean(a[6:] - b[6:]))
    assert found["a", "c"].difference == pytest.approx(np.mean(a[3:] - c[3:]))


def test_a_pair_without_a_common_item_has_no_figures_and_is_not_counted_by_holm():
    a, b, unit = clustered(units=12)
    a, never, c = np.append(a, NAN), np.full(37, NAN), np.append(b, NAN)
    never[-1] = 1.0
    found = {(d.a, d.b): d for d in compare({"a": a, "never": never, "c": c}, np.append(unit, 12), DRAWS, "x")}
    assert found["a", "never"] == Difference("a", "never", None, None, None, None, None, 0, 0, None)
    assert found["never", "c"].p_holm is None
    assert found["a", "c"].p_holm == found["a", "c"].p


def test_under_ten_units_there_is_a_p_but_no_interval():
    a, b, unit = clustered(units=9)
    (found,) = compare({"a": a, "b": b}, unit, DRAWS, "x")
    assert (found.low, found.high, found.units) == (None, None, 9)
    assert 0 < found.p <= 1


def test_ten_units_have_an_interval():
    a, b, unit = clustered(units=10)
    (found,) = compare({"a": a, "b": b}, unit, DRAWS, "x")
    assert found.low < found.difference < found.high


def test_a_single_unit_has_a_difference_but_neither_interval_nor_error():
    (found,) = compare({"a": np.ones(20), "b": np.zeros(20)}, np.zeros(20, dtype=np.int64), DRAWS, "x")
    assert (found.difference, found.low, found.high, found.error, found.p, found.units) == (
        1.0,
        None,
        None,
        None,
        1.0,
        1,
    )


def test_equal_encoders_do_not_differ():
    a, _, unit = clustered()
    (found,) = compare({"a": a, "b": a.copy()}, unit, DRAWS, "x")
    assert (found.difference, found.low, found.high, found.p, found.p_holm, found.error) == (0, 0, 0, 1, 1, 0)


def test_p_holm_is_holm_of_the_family():
    rng = np.random.default_rng(2)
    unit = np.repeat(np.arange(40), 2)
    values = {name: rng.normal(0.2 * k, 1, size=80) for k, name in enumerate("abcd")}
    found = compare(values, unit, DRAWS, "x")
    assert [d.p_holm for d in found] == list(holm([d.p for d in found]))


def test_another_encoder_moves_no_other_pair():
    a, b, unit = clustered()
    (alone,) = compare({"a": a, "b": b}, unit, DRAWS, "x")
    beside = compare({"c": a * b, "a": a, "b": b}, unit, DRAWS, "x")[-1]
    assert (beside.a, beside.b, beside.p, beside.items, beside.units) == ("a", "b", alone.p, alone.items, alone.units)
    assert (beside.difference, beside.low, beside.high) == pytest.approx((alone.difference, alone.low, alone.high))


def test_the_order_of_rows_moves_nothing():
    a, b, unit = clustered()
    order = np.random.default_rng(3).permutation(len(a))
    (x,) = compare({"a": a, "b": b}, unit, DRAWS, "x")
    (y,) = compare({"a": a[order], "b": b[order]}, unit[order], DRAWS, "x")
    assert (x.difference, x.low, x.high, x.p, x.error) == pytest.approx((y.difference, y.low, y.high, y.p, y.error))


def test_error_is_the_standard_error_of_unit_means():
    a, b, unit = clustered(units=40, size=3)
    (found,) = compare({"a": a, "b": b}, unit, DRAWS, "x")
    per_unit = (a - b).reshape(40, 3).mean(axis=1)
    assert found.error == pytest.approx(stats.sem(per_unit))


def test_golden_comparison():
    # Taken from this package with numpy 2.4.6: 0, 1, 4, …, 121 against 0, 10, …, 110; 1000 resamples, seed 0. The
    # exact p is 32 of 4096 patterns; the difference is −154/12.
    i = np.arange(12.0)
    (found,) = compare({"a": i**2, "b": 10 * i}, np.arange(12), Draws(), "golden")
    golden = (-154 / 12, -20.02117847486367, -5.333333333333333, 0.0068)
    assert (found.difference, found.low, found.high, found.p) == pytest.approx(golden, rel=1e-12)
    assert exact_p(i**2 - 10 * i) == pytest.approx(32 / 4096)


# --- not_separable ---------------------------------------------------------------------------------------


def test_not_separable_names_the_best_first_and_keeps_the_order():
    differences = [verdict("d", "best", 0.2), verdict("best", "b", 0.9), verdict("best", "c", 0.01)]
    assert not_separable("best", ["b", "c", "best", "d"], differences) == ("best", "b", "d")


def test_not_separable_goes_by_holm_at_five_per_cent():
    differences = [verdict("best", "b", np.nextafter(ALPHA, 0)), verdict("best", "c", ALPHA)]
    assert not_separable("best", ["best", "b", "c"], differences) == ("best", "c")


def test_a_difference_without_a_p_separates_nothing():
    assert not_separable("best", ["best", "b"], [verdict("best", "b", None)]) == ("best", "b")


def test_differences_between_others_separate_nothing():
    assert not_separable("best", ["best", "b", "c"], [verdict("b", "c", 0.001)]) == ("best", "b", "c")


def test_the_best_alone():
    assert not_separable("best", ["best"], []) == ("best",)


# --- smallest_difference ---------------------------------------------------------------------------------


def test_smallest_difference_by_hand():
    # z = 1.959964 + 0.841621 = 2.801585; 2.801585 · 0.05 = 0.140079. The floor is 7.848880/1007.84888 = 0.007788.
    assert smallest_difference(0.05, 1000) == pytest.approx(0.140079, abs=1e-6)
    assert smallest_difference(0.0, 1000) == pytest.approx(0.007788, abs=1e-6)


def test_smallest_difference_of_ten_pairs_by_hand():
    # α/20 = 0.0025: z = 2.807034 + 0.841621 = 3.648655.
    assert smallest_difference(0.05, 1000, pairs=10) == pytest.approx(0.182433, abs=1e-6)


@pytest.mark.parametrize("pairs", [1, 3, 45])
@pytest.mark.parametrize("error", [0.01, 0.08])
def test_the_smallest_difference_is_found_in_four_cases_of_five(error, pairs):
    true = smallest_difference(error, 10**6, pairs)
    bar = stats.norm.isf(ALPHA / (2 * pairs)) * error
    assert stats.norm.sf(bar, loc=true, scale=error) == pytest.approx(POWER, abs=1e-12)


@given(st.integers(2, 10**6), st.integers(1, 500))
def test_the_floor_is_the_gap_that_equals_z_of_its_own_error(units, pairs):
    gap = smallest_difference(0.0, units, pairs)
    z = stats.norm.isf(ALPHA / (2 * pairs)) + stats.norm.isf(1 - POWER)
    assert 0 < gap < 1
    assert gap == pytest.approx(z * sqrt(gap * (1 - gap) / units))


@given(st.floats(0, 0.5), st.integers(2, 10_000), st.integers(1, 100))
def test_the_smallest_difference_falls_with_units_and_grows_with_pairs_and_error(error, units, pairs):
    here = smallest_difference(error, units, pairs)
    assert smallest_difference(error, units + 1, pairs) <= here
    assert smallest_difference(error, units, pairs + 1) > here
    assert smallest_difference(error + 0.01, units, pairs) >= here
    assert not isnan(here)


def test_without_a_number_of_units_there_is_no_floor():
    # z = 2.801585 as above.
    assert smallest_difference(0.05, None) == pytest.approx(0.140079, abs=1e-6)
    assert smallest_difference(0.001, None) == pytest.approx(0.00280159, abs=1e-8)


def test_no_pairs_count_as_one():
    assert smallest_difference(0.05, 100, 0) == smallest_difference(0.05, 100, 1)
