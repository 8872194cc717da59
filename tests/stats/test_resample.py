"""Sums over units, resampling counts, means with their percentile interval."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from embassay.core.result import MIN_UNITS
from embassay.core.types import Draws
from embassay.stats import resample
from embassay.stats.permutation import convolved_p
from embassay.stats.resample import (
    ABSENT,
    UnitSums,
    bootstrap_means,
    counts,
    mean,
    means,
    percentiles,
    pseudo_items,
    tail,
    undefined_estimate,
)
from embassay.stats.units import effective_units, satterthwaite, unit_sums

NAN = float("nan")
DRAWS = Draws(seed=0, resamples=200)
# Golden values were taken from this package with numpy 2.4.6 (PCG64); a change of stream changes every interval.
GOLDEN_COUNTS = [[0, 0, 3, 1, 2, 0], [2, 0, 1, 1, 1, 1], [0, 1, 0, 2, 2, 1]]
GOLDEN_MEAN = (42.166666666666664, 18.457643050272655, 67.45902361639402)


def all_counts(units, draws, *purpose):
    return np.concatenate(list(counts(units, draws, *purpose)))


def clustered(units=30, size=4, seed=1):
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(units), size)
    return rng.normal(size=units)[unit] + rng.normal(size=units * size), unit


def expanded(units):
    """Return Hesterberg's (2015) share beyond each end, for units of one size."""
    return stats.norm.cdf(-np.sqrt(units / (units - 1)) * stats.t.ppf(0.975, units - 1))


# --- unit_sums -------------------------------------------------------------------------------------------


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


# --- counts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("units", [1, 2, 7, 450])
def test_every_row_of_counts_draws_as_many_units_as_there_are(units):
    drawn = all_counts(units, DRAWS, "x")
    assert drawn.shape == (DRAWS.resamples, units)
    assert drawn.min() >= 0
    assert (drawn.sum(axis=1) == units).all()


def test_counts_are_binomial():
    # Each unit is drawn Binomial(U, 1/U) times. The pieces of a row are nearly independent: U = 50.
    drawn = all_counts(50, Draws(0, 2000), "theory")
    law = stats.binom(50, 1 / 50)
    observed = np.bincount(np.minimum(drawn, 5).ravel(), minlength=6)
    expected = drawn.size * np.append(law.pmf(range(5)), law.sf(4))
    assert stats.chisquare(observed, expected).pvalue > 1e-3
    assert np.abs(drawn.mean(axis=0) - 1).max() < 5 * np.sqrt(law.var() / 2000)


@pytest.mark.parametrize("block", [1, 13, 200, 10**9])
def test_the_block_size_does_not_change_the_counts(block, monkeypatch):
    expected = all_counts(13, DRAWS, "x")
    monkeypatch.setattr(resample, "BLOCK", block)
    assert (all_counts(13, DRAWS, "x") == expected).all()


def test_golden_counts():
    assert all_counts(6, Draws(0, 3), "golden").tolist() == GOLDEN_COUNTS


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
    assert bootstrap_means(UnitSums.of(values, unit), DRAWS, "loop") == pytest.approx(expected, rel=1e-12)


def test_a_resample_without_a_defined_item_is_nan():
    # Only unit 0 has a value: a resample that misses it, (1/2)² of the draws of two units, has no mean.
    means = bootstrap_means(UnitSums.of(np.array([[3.0], [NAN]]), np.array([0, 1])), Draws(0, 1000), "x")[:, 0]
    assert np.unique(means[~np.isnan(means)]).tolist() == [3.0]
    assert np.isnan(means).mean() == pytest.approx(0.25, abs=5 * np.sqrt(0.25 * 0.75 / 1000))


def test_bootstrap_means_equal_every_possible_resample_in_law():
    # Three units with means 0, 1, 5: 27 equally likely resamples.
    exact = np.array([np.mean(drawn) for drawn in product([0.0, 1.0, 5.0], repeat=3)])
    means = bootstrap_means(UnitSums.of(np.array([[0.0], [1.0], [5.0]]), np.arange(3)), Draws(0, 20_000), "law")[:, 0]
    for value in np.unique(exact):
        share = np.isclose(exact, value).mean()
        assert np.isclose(means, value).mean() == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / 20_000))


# --- percentiles -----------------------------------------------------------------------------------------


def test_percentiles_by_hand():
    # 0, 1, …, 40: rank 0.025·40 = 1 and 0.975·40 = 39; the second column is ten times as large and leaves 5 % outside:
    # rank 2 and 38.
    column = np.arange(41.0)
    low, high = percentiles(np.stack([column, 10 * column], axis=1), np.array([0.025, 0.05]))
    assert low == pytest.approx([1, 20])
    assert high == pytest.approx([39, 380])


def test_percentiles_leave_out_resamples_without_a_mean():
    column = np.append(np.arange(41.0), [NAN] * 7)[:, None]
    low, high = percentiles(column, np.array([0.025]))
    assert (*low, *high) == pytest.approx((1, 39))


# --- effective_units and tail ----------------------------------------------------------------------------


def test_effective_units_by_hand():
    # (3 + 1 + 2)²/(9 + 1 + 4) = 36/14; an empty unit changes nothing.
    assert effective_units(np.array([3.0, 1.0, 0.0, 2.0])) == pytest.approx(36 / 14)


def test_the_degrees_of_freedom_by_hand():
    # Σ = 4, the variance of the squares is 10 − 16/4 = 6: 2·16/6; at most U_e − 1, and at least 1.
    squared = np.array([1.0, 3.0, 0.0, 0.0])
    assert satterthwaite(squared, 4, np.array([9.0, 4.0, 1.5])).tolist() == pytest.approx([16 / 3, 3, 1])


def test_tail_by_hand():
    # Ten equal units: t₀.₉₇₅ on 9 degrees of freedom is 2.262157, times √(10/9) = 2.384521; Φ(−2.384521) = 0.008551.
    assert tail(np.full(10, 4.0)) == pytest.approx(0.008551, abs=1e-6)


@given(st.lists(st.integers(1, 30), min_size=2, max_size=60))
def test_tail_follows_hesterberg(sizes):
    n = np.array(sizes, dtype=float)
    t = stats.t.ppf(0.975, max(n.sum() ** 2 / np.sum(n**2) - 1, 1))
    assert tail(n) == pytest.approx(stats.norm.cdf(-np.sqrt(len(n) / (len(n) - 1)) * t), rel=1e-9, abs=1e-300)
    assert 0 <= tail(n) < 0.025


@pytest.mark.parametrize("sizes", [[], [0.0], [5.0], [0.0, 7.0]])
def test_tail_of_fewer_than_two_units_is_that_of_a_plain_percentile_interval(sizes):
    assert tail(np.array(sizes)) == pytest.approx(0.025)


# --- UnitSums --------------------------------------------------------------------------------------------


def test_a_difference_of_shares_has_some_items_of_each_sign_by_hand():
    # ¾ item of either sign. Unit 0 twice, +¾ three times, −¾ once: (2 + ¾·(3 − 1))/(4 + ¾·4) = 3.5/7; each unit once,
    # none of these: 2/3; the column that is no difference: 2/4 and 2/3.
    column = np.array([1.0, 0.0, 1.0])
    found = UnitSums.of(np.stack([column, column], axis=1), np.array([0, 0, 1]), np.array([True, False]))
    assert found.pseudo.tolist() == [0.75, 0.0]
    means_of = found.resampled(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([[3.0, 1.0], [0.0, 0.0]]))
    assert means_of == pytest.approx(np.array([[0.5, 0.5], [2 / 3, 2 / 3]]))


def test_how_many_items_of_each_sign_by_hand():
    unit = np.repeat(np.arange(20), 10)
    one_by_one = np.where(np.arange(200) % 10 == 3, -1.0, 0.0)
    whole = np.where(unit < 4, 1.0, 0.0)
    # One item of each unit differs: 200 items are worth as many independent ones or more, n/n* = 199/200 with s²/n.
    assert pseudo_items(one_by_one, unit) == pytest.approx(200 / 199)
    # Whole units differ: 200 items are worth 20 units, n/n* = 10 but for U/(U − 1), and half a unit is the most.
    assert pseudo_items(whole, unit) == 5
    # None differs: the units are what there is.
    assert pseudo_items(np.zeros(200), unit) == 5
    # Single items: half a one, as Agresti & Min add.
    assert pseudo_items(np.sign(whole), np.arange(200)) == 0.5
    assert pseudo_items(np.full(200, NAN), unit) == 0
    assert pseudo_items(np.where(unit == 0, 1.0, NAN), unit) == 5
    # Ties that share the same expected difference everywhere leave nothing to vary.
    assert pseudo_items(np.full(200, 1 / 3), unit) == 0.5


def test_many_questions_about_few_documents_do_not_drown_what_they_show():
    # 48 units of 25, 30 items differ one by one, 25 of them +1: the permutation test says p = .001 or so, and the
    # interval leaves 0 out. With half a unit of either sign it was (−.01, .05).
    gaps = np.zeros(1200)
    gaps[np.random.default_rng(0).choice(1200, 30, replace=False)] = [1.0] * 25 + [-1.0] * 5
    unit = np.repeat(np.arange(48), 25)
    found = means([gaps[:, None]], unit, DRAWS, "x", differences=np.array([True]))[0][0]
    assert 0.004 < found.low < found.value < found.high < 0.03
    assert convolved_p(np.bincount(unit, weights=gaps).astype(np.int64)) < 0.005


@given(
    st.integers(1, 5).flatmap(
        lambda k: st.lists(
            st.tuples(st.integers(0, 6), st.lists(st.one_of(st.just(NAN), st.floats(-9, 9)), min_size=k, max_size=k)),
            min_size=1,
            max_size=30,
        )
    )
)
def test_unit_sums_of_a_table_are_those_of_its_columns(rows):
    unit, table = np.array([u for u, _ in rows]), np.array([v for _, v in rows])
    found = UnitSums.of(table, unit)
    sums, sizes = unit_sums(table, unit)
    assert found.sums == pytest.approx(sums, abs=1e-9)
    assert (found.sizes[:, found.pattern] == sizes).all()
    assert found.tails == pytest.approx([tail(n) for n in sizes.T])
    assert found.sizes.shape[1] == len({np.isnan(column).tobytes() for column in table.T})


# --- means -----------------------------------------------------------------------------------------------


def test_means_are_the_means_of_each_column_of_each_table():
    a, unit = clustered(seed=1)
    b, _ = clustered(seed=2)
    b[:6] = NAN
    found = means(iter([np.stack([a, b], axis=1), (a - b)[:, None]]), unit, DRAWS, "x")
    expected = [mean(v, unit, DRAWS, "x") for v in (a, b, a - b)]
    assert [len(table) for table in found] == [2, 1]
    for e, f in zip(expected, [*found[0], *found[1]], strict=True):
        assert (f.value, f.low, f.high) == pytest.approx((e.value, e.low, e.high), rel=1e-12)
        assert (f.items, f.units, f.undefined, f.reason) == (e.items, e.units, e.undefined, e.reason)


def test_the_interval_is_the_expanded_percentiles_of_the_bootstrap_means():
    values, unit = clustered(units=15)
    replicates = bootstrap_means(UnitSums.of(values[:, None], unit), DRAWS, "x")[:, 0]
    found = mean(values, unit, DRAWS, "x")
    expected = np.quantile(replicates, [expanded(15), 1 - expanded(15)])
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-12)


def test_the_levels_go_by_the_units_that_a_column_has():
    # Twenty units of which the second column has ten, of which one holds half of its items: 9 + 9 = 18 items,
    # 18²/(81 + 9) = 3.6 effective units.
    unit = np.concatenate([np.arange(20), np.zeros(8, dtype=int)])
    full = np.random.default_rng(2).normal(size=28)
    part = np.where((unit >= 10) & (unit < 20), NAN, full)
    found = means([np.stack([full, part], axis=1)], unit, Draws(), "x")[0]
    replicates = bootstrap_means(UnitSums.of(np.stack([full, part], axis=1), unit), Draws(), "x")
    beyond = stats.norm.cdf(-np.sqrt(10 / 9) * stats.t.ppf(0.975, 3.6 - 1))
    assert (found[1].low, found[1].high) == pytest.approx(np.quantile(replicates[:, 1], [beyond, 1 - beyond]))
    beyond = stats.norm.cdf(-np.sqrt(20 / 19) * stats.t.ppf(0.975, 28**2 / (81 + 19) - 1))
    assert (found[0].low, found[0].high) == pytest.approx(np.quantile(replicates[:, 0], [beyond, 1 - beyond]))


def test_a_difference_of_shares_without_any_difference_has_an_interval_around_0():
    # In 40 units of two items, one item (half a unit) of either sign, drawn Poisson(1) times: the mean is
    # ½(h₊ − h₋)/(40 + ½(h₊ + h₋)) in units.
    nothing, unit = np.zeros((80, 2)), np.repeat(np.arange(40), 2)
    plain, difference = means([nothing], unit, Draws(0, 4000), "x", differences=np.array([False, True]))[0]
    assert (plain.value, plain.low, plain.high) == (0, 0, 0)
    assert (difference.value, difference.items, difference.units) == (0, 80, 40)
    up, down = np.random.default_rng(0).binomial(40, 1 / 40, size=(2, 400_000))
    law = np.quantile((up - down) / 2 / (40 + (up + down) / 2), [expanded(40), 1 - expanded(40)])
    assert (difference.low, difference.high) == pytest.approx(law, abs=0.002)


def test_absent_items_are_no_items_of_a_column_and_undefined_ones_are():
    values, unit = clustered(units=12)
    part = values.copy()
    part[:4], part[4:7] = ABSENT, NAN
    nowhere = np.full(48, ABSENT)
    found = means([np.stack([values, part, nowhere], axis=1)], unit, DRAWS, "x")[0]
    expected = mean(np.where(np.isfinite(part), part, NAN), unit, DRAWS, "x")
    assert (found[0].items, found[0].undefined) == (48, 0)
    assert (found[1].value, found[1].low, found[1].high) == pytest.approx((expected.value, expected.low, expected.high))
    assert (found[1].items, found[1].units, found[1].undefined) == (41, 11, 3)
    assert found[2] == undefined_estimate(0)


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


@pytest.mark.parametrize(("units", "has"), [(MIN_UNITS - 1, False), (MIN_UNITS, True)])
def test_an_interval_begins_at_ten_units(units, has):
    found = mean(np.arange(float(units)), np.arange(units), DRAWS, "x")
    assert (found.low is not None, found.high is not None, found.reason is None) == (has, has, has)


def test_a_unit_whose_items_are_all_undefined_is_no_unit():
    values, unit = np.append(np.arange(9.0), NAN), np.arange(10)
    found = mean(values, unit, DRAWS, "x")
    assert (found.units, found.undefined, found.low) == (9, 1, None)


def test_the_interval_agrees_with_scipy():
    values, unit = clustered(units=60, seed=9)
    sums, sizes = (np.bincount(unit, weights=w) for w in (values, np.ones_like(values)))
    reference = stats.bootstrap(
        (sums, sizes),
        lambda s, n, axis: s.sum(axis=axis) / n.sum(axis=axis),
        paired=True,
        n_resamples=20_000,
        method="percentile",
        confidence_level=1 - 2 * expanded(60),
        rng=np.random.default_rng(0),
    )
    found = mean(values, unit, Draws(0, 20_000), "scipy")
    low, high = reference.confidence_interval
    # Error of the two ends together, at Φ(−2.02): √2·√(0.022·0.978/20000)/φ(2.02) = 0.028 standard errors; 4 of these.
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.11 * reference.standard_error)


def test_the_interval_agrees_with_theory_for_many_units():
    values, unit = clustered(units=2000, size=3)
    per_unit = values.reshape(2000, 3).mean(axis=1)
    error = per_unit.std(ddof=1) / np.sqrt(2000)
    found = mean(values, unit, Draws(0, 10_000), "theory")
    ends = found.value - 1.96 * error, found.value + 1.96 * error
    assert (found.low, found.high) == pytest.approx(ends, abs=0.2 * error)


def test_golden_mean():
    # Twelve units of one item, 0, 1, 4, …, 121: the mean is 506/12; 1000 resamples, seed 0. Before the percentiles were
    # expanded (1.1 % beyond each end for twelve units) the ends of the same replicates were 20.66 and 63.84.
    found = mean(np.arange(12.0) ** 2, np.arange(12), Draws(), "golden")
    plain = np.quantile(
        bootstrap_means(UnitSums.of((np.arange(12.0) ** 2)[:, None], np.arange(12)), Draws(), "golden"), [0.025, 0.975]
    )
    assert plain == pytest.approx([20.664583333333336, 63.8375], rel=1e-12)
    assert (found.value, found.low, found.high) == pytest.approx(GOLDEN_MEAN, rel=1e-12)
