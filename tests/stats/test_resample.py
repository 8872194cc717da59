"""Sums over units, resampling counts, means with their percentile interval."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from embassay.result import MIN_UNITS
from embassay.stats import resample
from embassay.stats.resample import bootstrap_means, counts, mean, percentiles, signs, undefined_estimate, unit_sums
from embassay.types import Draws

NAN = float("nan")
DRAWS = Draws(seed=0, resamples=200)
# Golden values were taken from this package with numpy 2.4.6 (PCG64); a change of stream changes every interval.
GOLDEN_COUNTS = [[0, 0, 3, 1, 2, 0], [2, 0, 1, 1, 1, 1], [0, 1, 0, 2, 2, 1]]
GOLDEN_SIGNS = [[1, -1, 1, -1, 1, -1, -1, 1], [-1, -1, -1, -1, 1, -1, 1, 1]]
GOLDEN_MEAN = (42.166666666666664, 20.664583333333336, 63.8375)


def all_counts(units, draws, *purpose):
    return np.concatenate(list(counts(units, draws, *purpose)))


def all_signs(units, number, draws, *purpose):
    return np.concatenate(list(signs(units, number, draws, *purpose)))


def clustered(units=30, size=4, seed=1):
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(units), size)
    return rng.normal(size=units)[unit] + rng.normal(size=units * size), unit


# --- unit_sums -------------------------------------------------------------------------------------------


def test_unit_sums_by_hand():
    # unit 0: 1 + 2 = 3 of two; unit 1: 5 of one, its NaN counts nowhere; unit 2: nothing defined.
    sums, sizes = unit_sums(np.array([1.0, 5.0, 2.0, NAN, NAN]), np.array([0, 1, 0, 1, 2]))
    assert sums.tolist() == [3.0, 5.0, 0.0]
    assert sizes.tolist() == [2.0, 1.0, 0.0]


def test_unit_sums_leaves_nan_out_of_its_own_column_only():
    sums, sizes = unit_sums(np.array([[1.0, NAN], [2.0, 4.0]]), np.array([0, 0]))
    assert sums.tolist() == [[3.0, 4.0]]
    assert sizes.tolist() == [[2.0, 1.0]]


def test_a_code_without_items_is_a_unit_of_size_0():
    sums, sizes = unit_sums(np.array([1.0, 2.0]), np.array([0, 2]))
    assert sums.tolist() == [1.0, 0.0, 2.0]
    assert sizes.tolist() == [1.0, 0.0, 1.0]


@given(st.lists(st.tuples(st.one_of(st.just(NAN), st.floats(-1e6, 1e6)), st.integers(0, 5)), min_size=1, max_size=40))
def test_unit_sums_equal_a_loop(rows):
    expected, number = {}, {}
    for value, code in rows:
        if value == value:
            expected[code] = expected.get(code, 0.0) + value
            number[code] = number.get(code, 0) + 1
    values, unit = np.array([v for v, _ in rows]), np.array([u for _, u in rows])
    sums, sizes = unit_sums(values, unit)
    assert sums == pytest.approx([expected.get(u, 0.0) for u in range(unit.max() + 1)], abs=1e-6)
    assert sizes.tolist() == [number.get(u, 0) for u in range(unit.max() + 1)]


def test_unit_sums_of_nothing_are_nothing():
    sums, sizes = unit_sums(np.empty((0, 2)), np.empty(0, dtype=np.int64))
    assert sums.shape == sizes.shape == (0, 2)


# --- counts and signs ------------------------------------------------------------------------------------


@pytest.mark.parametrize("units", [1, 2, 7, 450])
def test_every_row_of_counts_draws_as_many_units_as_there_are(units):
    drawn = all_counts(units, DRAWS, "x")
    assert drawn.shape == (DRAWS.resamples, units)
    assert drawn.min() >= 0
    assert (drawn.sum(axis=1) == units).all()


def test_counts_of_one_unit_are_one():
    assert (all_counts(1, DRAWS, "x") == 1).all()


def test_counts_are_binomial():
    # Each unit is drawn Binomial(U, 1/U) times. The pieces of a row are nearly independent: U = 50.
    drawn = all_counts(50, Draws(0, 2000), "theory")
    law = stats.binom(50, 1 / 50)
    observed = np.bincount(np.minimum(drawn, 5).ravel(), minlength=6)
    expected = drawn.size * np.append(law.pmf(range(5)), law.sf(4))
    assert stats.chisquare(observed, expected).pvalue > 1e-3
    assert np.abs(drawn.mean(axis=0) - 1).max() < 5 * np.sqrt(law.var() / 2000)


def test_signs_are_fair_and_independent():
    drawn = all_signs(20, 10_000, DRAWS, "theory")
    assert set(np.unique(drawn)) == {-1.0, 1.0}
    products = drawn.T @ drawn / len(drawn) - np.eye(20)
    assert np.abs(products).max() < 5 / np.sqrt(len(drawn))
    assert np.abs(drawn.mean(axis=0)).max() < 5 / np.sqrt(len(drawn))


def test_the_same_purpose_gives_the_same_draws():
    assert (all_counts(12, DRAWS, "a", "b") == all_counts(12, DRAWS, "a", "b")).all()
    assert (all_signs(12, 50, DRAWS, "a", "b") == all_signs(12, 50, DRAWS, "a", "b")).all()


@pytest.mark.parametrize(("draws", "purpose"), [(Draws(0, 200), "other"), (Draws(1, 200), "x")])
def test_another_purpose_or_seed_gives_other_draws(draws, purpose):
    assert (all_counts(12, DRAWS, "x") != all_counts(12, draws, purpose)).any()
    assert (all_signs(12, 50, DRAWS, "x") != all_signs(12, 50, draws, purpose)).any()


def test_more_resamples_begin_with_the_fewer():
    assert (all_counts(12, Draws(0, 300), "x")[:200] == all_counts(12, DRAWS, "x")).all()


@pytest.mark.parametrize("block", [1, 13, 200, 10**9])
def test_the_block_size_does_not_change_the_counts(block, monkeypatch):
    expected = all_counts(13, DRAWS, "x")
    monkeypatch.setattr(resample, "BLOCK", block)
    assert (all_counts(13, DRAWS, "x") == expected).all()


@pytest.mark.parametrize("units", [8, 12])
def test_the_block_size_does_not_change_the_signs(units, monkeypatch):
    expected = all_signs(units, 100, DRAWS, "x")
    monkeypatch.setattr(resample, "BLOCK", 7 * units)
    assert (all_signs(units, 100, DRAWS, "x") == expected).all()


@pytest.mark.parametrize("units", [5, 6, 7])
def test_the_block_size_does_not_change_the_signs_of_units_not_a_multiple_of_4(units, monkeypatch):
    expected = all_signs(units, 100, DRAWS, "x")
    monkeypatch.setattr(resample, "BLOCK", 7 * units)
    assert (all_signs(units, 100, DRAWS, "x") == expected).all()


def test_blocks_stay_under_the_limit(monkeypatch):
    monkeypatch.setattr(resample, "BLOCK", 100)
    blocks = list(counts(30, Draws(0, 10), "x"))
    assert [len(b) for b in blocks] == [3, 3, 3, 1]


def test_golden_counts_and_signs():
    assert all_counts(6, Draws(0, 3), "golden").tolist() == GOLDEN_COUNTS
    assert all_signs(8, 2, Draws(0), "golden").astype(int).tolist() == GOLDEN_SIGNS


# --- bootstrap_means -------------------------------------------------------------------------------------


def test_bootstrap_means_equal_a_loop_over_drawn_units():
    rng = np.random.default_rng(3)
    unit = rng.integers(0, 8, size=40)
    values = rng.normal(size=(40, 2))
    values[rng.random((40, 2)) < 0.2] = NAN
    drawn = all_counts(int(unit.max()) + 1, DRAWS, "loop")
    expected = np.empty((DRAWS.resamples, 2))
    for b, row in enumerate(drawn):
        sample = [v for u, times in enumerate(row) for _ in range(times) for v in values[unit == u]]
        expected[b] = np.nanmean(np.array(sample), axis=0)
    assert bootstrap_means(values, unit, DRAWS, "loop") == pytest.approx(expected, rel=1e-12)


def test_every_model_is_resampled_with_the_same_counts():
    a, unit = clustered(seed=1)
    b, _ = clustered(seed=2)
    together = bootstrap_means(np.stack([a, b], axis=1), unit, DRAWS, "x")
    alone = [bootstrap_means(v[:, None], unit, DRAWS, "x")[:, 0] for v in (a, b)]
    assert together == pytest.approx(np.stack(alone, axis=1), rel=1e-12)


def test_a_resample_without_a_defined_item_is_nan():
    # Only unit 0 has a value: a resample that misses it, (1/2)² of the draws of two units, has no mean.
    means = bootstrap_means(np.array([[3.0], [NAN]]), np.array([0, 1]), Draws(0, 1000), "x")[:, 0]
    assert np.unique(means[~np.isnan(means)]).tolist() == [3.0]
    assert np.isnan(means).mean() == pytest.approx(0.25, abs=5 * np.sqrt(0.25 * 0.75 / 1000))


def test_bootstrap_means_equal_every_possible_resample_in_law():
    # Three units with means 0, 1, 5: 27 equally likely resamples.
    exact = np.array([np.mean(drawn) for drawn in product([0.0, 1.0, 5.0], repeat=3)])
    means = bootstrap_means(np.array([[0.0], [1.0], [5.0]]), np.arange(3), Draws(0, 20_000), "law")[:, 0]
    for value in np.unique(exact):
        share = np.isclose(exact, value).mean()
        assert np.isclose(means, value).mean() == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / 20_000))


@pytest.mark.parametrize("block", [1, 100, 10**9])
def test_the_block_size_does_not_change_an_estimate(block, monkeypatch):
    values, unit = clustered()
    expected = mean(values, unit, DRAWS, "x")
    monkeypatch.setattr(resample, "BLOCK", block)
    found = mean(values, unit, DRAWS, "x")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-12)


# --- percentiles -----------------------------------------------------------------------------------------


def test_percentiles_by_hand():
    # 0, 1, …, 40: rank 0.025·40 = 1 and 0.975·40 = 39; the second column is ten times as large.
    column = np.arange(41.0)
    assert percentiles(np.stack([column, 10 * column], axis=1)) == pytest.approx(np.array([[1, 10], [39, 390]]))


def test_percentiles_leave_out_resamples_without_a_mean():
    column = np.append(np.arange(41.0), [NAN] * 7)[:, None]
    assert percentiles(column)[:, 0] == pytest.approx([1, 39])


# --- mean ------------------------------------------------------------------------------------------------


def test_mean_by_hand():
    # (1 + 2 + 6)/3 = 3; three units, so no interval.
    found = mean(np.array([1.0, 2.0, 6.0, NAN]), np.array([0, 1, 2, 2]), DRAWS, "x")
    assert (found.value, found.low, found.high) == (3.0, None, None)
    assert (found.items, found.units, found.undefined) == (3, 3, 1)
    assert found.reason == "no interval under 10 units (3 here)"


def test_the_mean_is_over_items_not_over_units():
    # Unit 0 has three items of 1, unit 1 one item of 5: 8/4 = 2, not (1 + 5)/2 = 3.
    assert mean(np.array([1.0, 1.0, 1.0, 5.0]), np.array([0, 0, 0, 1]), DRAWS, "x").value == 2.0


def test_mean_of_nothing_has_no_value_but_a_reason():
    found = mean(np.empty(0), np.empty(0, dtype=np.int64), DRAWS, "x")
    assert (found.value, found.low, found.high, found.items, found.units, found.undefined) == (None,) * 3 + (0, 0, 0)
    assert found.reason == "no items"


def test_mean_of_undefined_items_has_no_value_but_counts_them():
    found = mean(np.full(4, NAN), np.arange(4), DRAWS, "x")
    assert (found.value, found.items, found.units, found.undefined) == (None, 0, 0, 4)
    assert found.reason == "undefined for every item"
    assert found == undefined_estimate(4)


def test_a_single_unit_has_a_mean_but_no_interval():
    found = mean(np.arange(50.0), np.zeros(50, dtype=np.int64), DRAWS, "x")
    assert (found.value, found.low, found.units) == (24.5, None, 1)
    assert found.reason == "no interval under 10 units (1 here)"


@pytest.mark.parametrize(("units", "has"), [(MIN_UNITS - 1, False), (MIN_UNITS, True)])
def test_an_interval_begins_at_ten_units(units, has):
    found = mean(np.arange(float(units)), np.arange(units), DRAWS, "x")
    assert (found.low is not None, found.high is not None, found.reason is None) == (has, has, has)


def test_a_unit_whose_items_are_all_undefined_is_no_unit():
    values, unit = np.append(np.arange(9.0), NAN), np.arange(10)
    found = mean(values, unit, DRAWS, "x")
    assert (found.units, found.undefined, found.low) == (9, 1, None)


def test_a_constant_has_an_interval_of_no_width():
    found = mean(np.full(30, 1 / 3), np.repeat(np.arange(10), 3), DRAWS, "x")
    assert (found.low, found.high) == pytest.approx((1 / 3, 1 / 3), abs=1e-15)


def test_the_mean_does_not_depend_on_the_order_of_rows():
    values, unit = clustered()
    order = np.random.default_rng(5).permutation(len(values))
    a, b = mean(values, unit, DRAWS, "x"), mean(values[order], unit[order], DRAWS, "x")
    assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high), rel=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.floats(-100, 100), st.floats(0.01, 100))
def test_the_mean_moves_and_scales_with_its_values(seed, shift, scale):
    values, unit = clustered(units=12, seed=seed)
    a, b = mean(values, unit, DRAWS, "x"), mean(shift + scale * values, unit, DRAWS, "x")
    expected = [shift + scale * v for v in (a.value, a.low, a.high)]
    assert [b.value, b.low, b.high] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_relabelling_units_moves_the_interval_by_chance_only():
    values, unit = clustered(units=40)
    other = np.random.default_rng(6).permutation(40)[unit]
    draws = Draws(0, 5000)
    a, b = mean(values, unit, draws, "x"), mean(values, other, draws, "x")
    assert a.value == b.value
    # An end is a 2.5 % percentile: its error is √(0.025·0.975/5000)/φ(1.96) = 0.04 standard errors.
    width = (a.high - a.low) / 3.92
    assert (a.low, a.high) == pytest.approx((b.low, b.high), abs=5 * 0.04 * width)


def test_the_interval_agrees_with_scipy():
    values, unit = clustered(units=60, seed=9)
    sums, sizes = (np.bincount(unit, weights=w) for w in (values, np.ones_like(values)))
    reference = stats.bootstrap(
        (sums, sizes),
        lambda s, n, axis: s.sum(axis=axis) / n.sum(axis=axis),
        paired=True,
        n_resamples=20_000,
        method="percentile",
        rng=np.random.default_rng(0),
    )
    found = mean(values, unit, Draws(0, 20_000), "scipy")
    low, high = reference.confidence_interval
    # Error of the two ends together: √2·√(0.025·0.975/20000)/φ(1.96) = 0.027 standard errors; 4 of these.
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.11 * reference.standard_error)


def test_the_interval_agrees_with_theory_for_many_units():
    values, unit = clustered(units=2000, size=3)
    per_unit = values.reshape(2000, 3).mean(axis=1)
    error = per_unit.std(ddof=1) / np.sqrt(2000)
    found = mean(values, unit, Draws(0, 10_000), "theory")
    ends = found.value - 1.96 * error, found.value + 1.96 * error
    assert (found.low, found.high) == pytest.approx(ends, abs=0.2 * error)


def test_golden_mean():
    # Twelve units of one item, 0, 1, 4, …, 121: the mean is 506/12; 1000 resamples, seed 0.
    found = mean(np.arange(12.0) ** 2, np.arange(12), Draws(), "golden")
    assert (found.value, found.low, found.high) == pytest.approx(GOLDEN_MEAN, rel=1e-12)
