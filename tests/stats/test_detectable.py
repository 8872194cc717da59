"""The minimum detectable difference and the units needed: one formula, two sides of it."""

from __future__ import annotations

import math
from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from embassay.stats.detectable import Precision, effective_items, precision_of, precision_of_pair, precision_of_values
from embassay.stats.families import Roles, compare_means
from embassay.stats.units import effective_number, freedom_of_variance, ratio_variance
from embassay.types import Draws
from simulations.comparisons import sign_flip_p

NAN = float("nan")
DRAWS = Draws(seed=0, resamples=50)
PRECISIONS = st.builds(
    Precision,
    error=st.floats(0, 0.5),
    effective_items=st.none() | st.floats(1, 1e6),
    units=st.integers(10, 10_000),
    items=st.integers(10_000, 100_000),
    tests=st.integers(1, 60),
).filter(lambda p: p.effective_items is not None or p.error > 1e-6)


def yes_no(units=60, size=4, seed=0, shares=(0.5, 0.6, 0.55)):
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(units), size)
    hard = rng.normal(size=units)[unit]
    values = {
        name: (hard + rng.normal(size=len(unit)) < sqrt(2) * stats.norm.ppf(p)).astype(float)
        for name, p in zip("abcdefg", shares, strict=False)
    }
    return values, unit


# --- by hand ---------------------------------------------------------------------------------------------


def test_by_hand():
    # z = 1.959964 + 0.841621 = 2.801585; 2.801585 · 0.05 = 0.140079. The floor is 7.848880/1007.84888 = 0.007788.
    assert Precision(0.05, 1000, 450, 3000).minimum_detectable_difference == pytest.approx(0.140079, abs=1e-6)
    assert Precision(0.0, 1000, 450, 3000).minimum_detectable_difference == pytest.approx(0.007788, abs=1e-6)
    # Two points instead of fourteen: (0.140079/0.02)² = 49.05535 times the 450 units, and as many items per unit.
    assert Precision(0.05, 1000, 450, 3000).units_needed(0.02) == math.ceil(49.05535 * 450)
    assert Precision(0.05, 1000, 450, 3000).items_needed(0.02) == math.ceil(22_075 * 3000 / 450)
    # By the floor: 7.848880 · 0.998/(0.002 · 1000) = 3.916591 times the 450 units.
    assert Precision(0.0, 1000, 450, 3000).units_needed(0.002) == math.ceil(3.916591 * 450)


def test_ten_tests_by_hand():
    # α/20 = 0.0025: z = 2.807034 + 0.841621 = 3.648655.
    assert Precision(0.05, None, 450, 450, 10).minimum_detectable_difference == pytest.approx(0.182433, abs=1e-6)


# --- properties ------------------------------------------------------------------------------------------


@given(PRECISIONS)
def test_the_units_needed_for_the_minimum_detectable_difference_are_those_there_are(precision):
    assert precision.units_needed(precision.minimum_detectable_difference) == precision.units
    assert precision.items_needed(precision.minimum_detectable_difference) == precision.items


@given(PRECISIONS, st.floats(0.001, 0.9))
def test_with_the_units_needed_the_difference_is_detectable_and_with_one_fewer_it_is_not(precision, difference):
    def with_units(units):
        growth = units / precision.units
        effective = None if precision.effective_items is None else precision.effective_items * growth
        return Precision(precision.error / sqrt(growth), effective, units, precision.items, precision.tests)

    needed = precision.units_needed(difference)
    assert with_units(needed).minimum_detectable_difference <= difference * (1 + 1e-8)
    if needed > 10:
        assert with_units(needed - 1).minimum_detectable_difference > difference * (1 - 1e-8)


@given(PRECISIONS, st.floats(0.001, 0.5))
def test_a_smaller_difference_takes_more_units_and_so_do_more_tests(precision, difference):
    here = precision.units_needed(difference)
    assert precision.units_needed(difference / 2) >= here
    more = Precision(precision.error, precision.effective_items, precision.units, precision.items, precision.tests + 5)
    assert more.units_needed(difference) >= here
    assert more.minimum_detectable_difference > precision.minimum_detectable_difference


@pytest.mark.parametrize("tests", [1, 3, 45])
@pytest.mark.parametrize("error", [0.01, 0.08])
def test_the_difference_is_found_in_four_cases_of_five_by_the_normal_law(error, tests):
    true = Precision(error, None, 100, 100, tests).minimum_detectable_difference
    bar = stats.norm.isf(0.05 / (2 * tests)) * error
    assert stats.norm.sf(bar, loc=true, scale=error) == pytest.approx(0.8, abs=1e-12)


@given(st.floats(2, 1e6), st.integers(1, 100))
def test_the_floor_is_the_difference_that_equals_z_times_its_own_error(items, tests):
    gap = Precision(0.0, items, 10, 10, tests).minimum_detectable_difference
    z = stats.norm.isf(0.05 / (2 * tests)) + stats.norm.isf(0.2)
    assert gap == pytest.approx(z * sqrt(gap * (1 - gap) / items))


def test_a_true_difference_of_that_size_is_found_in_four_cases_of_five_by_the_test():
    # Against the permutation test itself: 200 units, a right alone with 20 %, b with 10.9 %. 600 runs: ± 4.9 points.
    rng = np.random.default_rng(0)
    spread = sqrt((0.2 + 0.109 - 0.091**2) / 200)
    assert Precision(spread, 200, 200, 200).minimum_detectable_difference == pytest.approx(0.109, abs=0.0015)
    found = 0
    for _ in range(600):
        drawn = rng.random(200)
        sums = (drawn < 0.211).astype(float) - (drawn > 1 - 0.102)
        found += sign_flip_p(sums, DRAWS, "x").p <= 0.05
    assert found / 600 == pytest.approx(0.8, abs=0.05)


def test_where_no_item_differs_the_floor_is_that_of_whole_units_that_differ():
    """48 units of 25 items: where items differ by themselves, a twentieth of the floor is found in four cases of five.

    So it is not stated where hardly an item differs (``Verdict.detectable``). 400 runs: ± 4 points.
    """
    unit = np.repeat(np.arange(48), 25)
    precision = precision_of_values(np.ones(1200), np.ones(1200), unit, of_shares=True)
    assert precision.minimum_detectable_difference == pytest.approx(0.141, abs=0.001)
    rng = np.random.default_rng(0)
    losses = rng.random((400, 48, 25)) < 0.0073
    found = [sign_flip_p(-of_units.sum(axis=1).astype(float), DRAWS, "x").p <= 0.05 for of_units in losses]
    assert np.mean(found) == pytest.approx(0.8, abs=0.05)


# --- from comparisons ------------------------------------------------------------------------------------


def test_the_least_precise_pair_with_the_reference_counts():
    values, unit = yes_no()
    found = compare_means(values, unit, Roles(tuple("abc")), DRAWS, "x", of_shares=True)
    precision = precision_of(found, values, unit, of_shares=True)
    each = []
    for d in found:
        gaps = values[d.a] - values[d.b]
        freedom = freedom_of_variance(gaps, unit)
        each.append(Precision(d.error, effective_items(unit, np.abs(gaps)), d.units, d.items, 2, freedom=freedom))
    assert precision == max(each, key=lambda p: p.minimum_detectable_difference)
    assert (precision.tests, precision.units, precision.items) == (2, 60, 240)


def test_baselines_and_other_families_change_nothing():
    values, unit = yes_no(shares=(0.5, 0.6, 0.55, 0.5))
    plain = compare_means(values, unit, Roles(tuple("abc")), DRAWS, "x", of_shares=True)
    wider = compare_means(values, unit, Roles(tuple("abc"), lexical=("d",), all_pairs=True), DRAWS, "x", of_shares=True)
    candidates = {name: values[name] for name in "abc"}
    assert precision_of(plain, candidates, unit, of_shares=True) == precision_of(
        wider, candidates, unit, of_shares=True
    )


@pytest.mark.parametrize(("units", "of_each"), [(60, 1), (150, 4)])
def test_no_significant_difference_is_far_below_the_detectable_one_of_its_pair(units, of_each):
    # Some of the eight are clearly worse: after their rejection the correction of the others is smaller.
    rng = np.random.default_rng(3)
    unit = np.repeat(np.arange(units), of_each)
    ratios = []
    for _ in range(12):
        hardness = np.repeat(rng.random(units), of_each)
        values = {
            f"m{place}": (0.7 * hardness + 0.3 * rng.random(len(unit)) < share).astype(float)
            for place, share in enumerate((0.7, 0.3, 0.4, 0.45, 0.6, 0.62, 0.65, 0.7))
        }
        for difference in compare_means(values, unit, Roles(tuple(values)), Draws(0, 100), of_shares=True):
            if difference.significant:
                precision = precision_of_pair(difference, values, unit, of_shares=True)
                ratios.append(abs(difference.difference) / precision.minimum_detectable_difference)
    assert len(ratios) > 20
    # Significance begins at 1.96 standard errors, and a power of 80 % is reached at 2.80: 0.7.
    assert min(ratios) > 0.65


def test_one_candidate_is_taken_twice():
    values, unit = yes_no(shares=(0.5,))
    precision = precision_of((), values, unit, of_shares=True)
    assert precision.error == pytest.approx(sqrt(2 * ratio_variance(values["a"], unit)))
    assert (precision.effective_items, precision.tests) == (effective_items(unit, values["a"]), 1)


def test_effective_items_are_between_units_and_items():
    values, unit = yes_no()
    assert effective_items(unit, values["a"]) == pytest.approx(min(max(effective_number(values["a"], unit), 60), 240))
    whole_units = (np.arange(60) % 2)[unit].astype(float)
    assert effective_items(unit, whole_units) == pytest.approx(60)
    assert effective_items(unit, np.full(240, 1 / 3)) == 240


def test_where_answers_hang_together_and_differences_do_not_the_floor_counts_the_differences():
    # Whole units are right or wrong for both, and one encoder misses one more item in every tenth unit.
    unit = np.repeat(np.arange(200), 5)
    old = (np.arange(200) % 2)[unit].astype(float)
    new = old.copy()
    new[5 * np.arange(1, 200, 20)] = 0
    precision = precision_of_values(old, new, unit, of_shares=True)
    assert effective_items(unit, old) == pytest.approx(200)
    assert precision.effective_items > 900
    (found,) = compare_means({"old": old, "new": new}, unit, Roles(("old", "new")), DRAWS, "x", of_shares=True)
    assert found.p < 0.01
    assert abs(found.difference) > 0.65 * precision.minimum_detectable_difference


def test_a_plan_takes_the_upper_limit_of_the_variance():
    rng = np.random.default_rng(0)
    values, unit = rng.normal(size=25), np.arange(25)
    assert freedom_of_variance(values, unit) <= 24
    precision = Precision(0.1, None, 25, 25, freedom=24)
    assert precision.sure.error == pytest.approx(0.1 * sqrt(24 / stats.chi2.ppf(0.2, 24)))
    assert Precision(0.1, None, 25, 25).sure.error == 0.1
    assert precision.sure.units_needed(0.05) > precision.units_needed(0.05)
    target = replace(precision, error=0.3).next_target(0.02)
    assert target["more_units"] == replace(precision, error=0.3).sure.units_needed(target["target"]) - 25


# --- degenerate data -------------------------------------------------------------------------------------


def test_identical_shares_have_the_floor_and_identical_means_have_nothing():
    values, unit = yes_no(shares=(0.5,))
    values["b"] = values["a"].copy()
    found = compare_means(values, unit, Roles(("a", "b")), DRAWS, "x", of_shares=True)
    precision = precision_of(found, values, unit, of_shares=True)
    assert precision.error == 0
    assert 0 < precision.minimum_detectable_difference < 1
    assert precision_of(found, values, unit, of_shares=False) is None


@pytest.mark.parametrize("values", [{}, {"a": np.ones(6)}, {"a": np.full(6, NAN)}, {"a": np.ones(6), "b": np.ones(6)}])
def test_without_two_units_there_is_no_precision(values):
    assert precision_of((), values, np.zeros(6, dtype=np.int64), of_shares=True) is None


@pytest.mark.parametrize("difference", [0.0, -0.1, NAN])
def test_a_difference_that_is_not_above_0_is_refused(difference):
    with pytest.raises(ValueError, match="a difference must be above 0 to be planned for"):
        Precision(0.1, None, 10, 10).units_needed(difference)


def test_the_next_target_needs_what_the_units_needed_say():
    # 2.8016·0.1 = 0.28 is detectable: 0.15 is at most 0.7 of that and takes (0.28/0.15)² = 3.488 times as many units.
    assert Precision(0.1, None, 10, 20).next_target(0.02) == {"target": 0.15, "more_units": 25, "more_items": 50}
    assert Precision(0.001, None, 10, 20).next_target(0.02) == {}
    # Where smaller differences matter, the target is smaller: 7.5 times the margin.
    assert Precision(0.1, None, 10, 20).next_target(0.01)["target"] == 0.075
    # At the floor the number grows like 1/d: z²·0.85/(0.15·10) = 4.448 times as many, and not (0.44/0.15)² = 8.6.
    floor = Precision(0.0, 10, 10, 10)
    assert floor.minimum_detectable_difference > 0.4
    assert floor.next_target(0.02) == {"target": 0.15, "more_units": 35, "more_items": 35}
