"""Correlations, with ranks taken again in every resample, and their percentile interval over units."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from embassay.core.result import MIN_UNITS
from embassay.core.types import Draws
from embassay.stats import correlate as module
from embassay.stats.correlate import (
    across_models,
    bootstrap,
    correlate,
    correlation,
    influences,
    kurtosis,
    midranks,
)
from embassay.stats.resample import counts

NAN = float("nan")
DRAWS = Draws(seed=0, resamples=100)
KINDS = ["pearson", "spearman"]
REFERENCE = {"pearson": stats.pearsonr, "spearman": stats.spearmanr}
# Anscombe (1973), The American Statistician 27:17-21, set I: all four sets have the coefficient 0.816.
ANSCOMBE = (
    np.array([10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5], dtype=float),
    np.array([8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68]),
)
# A few distinct values, so that ties are common.
tied_pairs = st.lists(
    st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(0, 5)), min_size=4, max_size=40
).filter(lambda rows: len({x for x, _, _ in rows}) > 1 and len({y for _, y, _ in rows}) > 1)


def clustered(units=30, size=4, seed=1, r=0.6):
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(units), size)
    x, e = (rng.normal(size=units)[unit] + rng.normal(size=units * size) for _ in "xe")
    return x, r * x + np.sqrt(1 - r * r) * e, unit


def coefficient(x, y, kind):
    """Return scipy's coefficient; NaN where one side does not vary."""
    if len(set(x)) < 2 or len(set(y)) < 2:
        return NAN
    return REFERENCE[kind](x, y).statistic


def repeated(x, y, unit, kind, draws, *purpose):
    """Repeat the items of each unit as often as it is drawn, and correlate those."""
    drawn = np.concatenate(list(counts(int(unit.max()) + 1, draws, *purpose)))
    defined = ~np.isnan(x + y)
    found = []
    for row in drawn:
        item = np.repeat(np.flatnonzero(defined), row[unit[defined]])
        found.append(coefficient(x[item], y[item], kind))
    return np.array(found)


def expanded(units):
    """Return Hesterberg's (2015) share beyond each end, for units of one size."""
    return stats.norm.cdf(-np.sqrt(units / (units - 1)) * stats.t.ppf(0.975, units - 1))


# --- correlation -----------------------------------------------------------------------------------------


def test_spearman_by_hand():
    # Ranks 1 … 5 against 2, 1, 4, 3, 5: Σd² = 4, 1 − 6·4/(5·24) = 0.8.
    x, y = np.array([0.1, 0.2, 0.5, 0.9, 7.0]), np.array([20.0, 10.0, 40.0, 30.0, 50.0])
    assert correlation(x, y, "spearman") == pytest.approx(0.8)


def test_midranks_are_scipys():
    values = np.random.default_rng(0).integers(0, 9, size=60).astype(float)
    assert midranks(values).tolist() == stats.rankdata(values).tolist()


def test_pearson_by_hand():
    # 1, 2, 3, 4 against 1, 3, 2, 6 about 2½ and 3: Σxy = 3 + 0 − ½ + 4½ = 7, Σx² = 5, Σy² = 4 + 0 + 1 + 9 = 14.
    x, y = np.array([1.0, 2, 3, 4]), np.array([1.0, 3, 2, 6])
    assert correlation(x, y, "pearson") == pytest.approx(7 / np.sqrt(70))


def test_golden_pearson_of_anscombe():
    assert correlation(*ANSCOMBE, "pearson") == pytest.approx(0.816, abs=5e-4)


@pytest.mark.parametrize("kind", KINDS)
@given(tied_pairs)
def test_correlation_agrees_with_scipy_on_ties(kind, rows):
    x, y, _ = np.array(rows, dtype=float).T
    assert correlation(x, y, kind) == pytest.approx(coefficient(x, y, kind), abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("r", [-0.95, 0.0, 0.3, 0.999])
def test_correlation_agrees_with_scipy(kind, r):
    x, y, _ = clustered(r=r)
    assert correlation(x, y, kind) == pytest.approx(coefficient(x, y, kind), abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_correlation_leaves_out_items_undefined_in_either(kind):
    x, y, _ = clustered(units=5)
    expected = correlation(x[4:], y[4:], kind)
    x, y = x.copy(), y.copy()
    x[:2], y[1:4] = NAN, NAN
    assert correlation(x, y, kind) == expected


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, -0.7, 1e6])
@pytest.mark.parametrize("n", [4, 6, 37, 100])
def test_a_constant_side_has_no_correlation(kind, value, n):
    for x, y in [(np.full(n, value), np.arange(float(n))), (np.arange(float(n)), np.full(n, value))]:
        assert np.isnan(correlation(x, y, kind))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, -0.7, 1e6])
@pytest.mark.parametrize("n", [4, 6, 37, 100])
def test_a_constant_side_has_no_influences(kind, value, n):
    # Six times 0.1 has, in floating point, a standard deviation of 1e-17.
    for x, y in [(np.full(n, value), np.arange(float(n))), (np.arange(float(n)), np.full(n, value))]:
        assert np.isnan(influences(x, y, kind)).all()


# --- influences ------------------------------------------------------------------------------------------


def test_influences_by_hand():
    # z_x = −1, 1, −1, 1. y = −1, −1, 1, 3 about ½: −1½, −1½, ½, 2½, of variance 11/4, so z_y² = 9/11, 9/11, 1/11,
    # 25/11. Products 1½, −1½, −½, 2½, over √(11/4), of mean r = ½/√(11/4). Influence: product − (r/2)(1 + z_y²) + r.
    x, y = np.array([-1.0, 1, -1, 1]), np.array([-1.0, -1, 1, 3])
    r = 0.5 / np.sqrt(11 / 4)
    product = np.array([1.5, -1.5, -0.5, 2.5]) / np.sqrt(11 / 4)
    expected = product - r / 2 * (1 + np.array([9, 9, 1, 25]) / 11) + r
    assert influences(x, y, "pearson") == pytest.approx(expected)


@pytest.mark.parametrize("kind", KINDS)
@given(tied_pairs)
def test_the_mean_of_the_influences_is_the_coefficient(kind, rows):
    x, y, _ = np.array(rows, dtype=float).T
    assert influences(x, y, kind).mean() == pytest.approx(coefficient(x, y, kind), abs=1e-12)


@pytest.mark.parametrize("r", [0.0, 0.6, 0.95])
def test_influences_say_what_leaving_an_item_out_would_do(r):
    # Jackknife: (n − 1)(r − r₋ᵢ) is the influence less r but for terms of order 1/n.
    x, y, _ = clustered(units=100, r=r)
    left_out = np.array([correlation(np.delete(x, i), np.delete(y, i), "pearson") for i in range(400)])
    all_in = correlation(x, y, "pearson")
    jackknife = 399 * (all_in - left_out)
    found = influences(x, y, "pearson") - all_in
    assert np.abs(jackknife - found).max() < 0.05 * np.abs(found).max()


@pytest.mark.parametrize("r", [0.0, 0.5, 0.8, 0.95])
def test_the_spread_of_the_influences_is_that_of_the_coefficient(r):
    # Independent normal pairs: (1 − r²)/√n for Pearson.
    rng = np.random.default_rng(7)
    x, e = rng.normal(size=(2, 20_000))
    found = influences(x, r * x + np.sqrt(1 - r * r) * e, "pearson")
    assert found.std() == pytest.approx(1 - r * r, rel=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_influences_are_undefined_where_an_item_is(kind):
    x, y, _ = clustered(units=5)
    x[3], y[7] = NAN, NAN
    found = influences(x, y, kind)
    assert np.flatnonzero(np.isnan(found)).tolist() == [3, 7]
    assert np.nanmean(found) == pytest.approx(correlation(x, y, kind), abs=1e-12)


# --- bootstrap -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25, deadline=None)
@given(tied_pairs)
def test_a_replicate_is_the_correlation_of_the_items_repeated(kind, rows):
    x, y = (np.array(column, dtype=float) for column in list(zip(*rows, strict=True))[:2])
    unit = np.array([u for _, _, u in rows])
    draws = Draws(0, 40)
    expected = repeated(x, y, unit, kind, draws, "x")
    found = bootstrap(x, y, unit, kind, draws, "x")
    assert np.isnan(found).tolist() == np.isnan(expected).tolist()
    assert found == pytest.approx(expected, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_replicate_leaves_out_undefined_items(kind):
    x, y, unit = clustered(units=12)
    order = np.random.default_rng(4).permutation(len(x))
    x, y, unit = x[order], y[order], unit[order]
    x[:5], y[3:9] = NAN, NAN
    expected = repeated(x, y, unit, kind, DRAWS, "x")
    assert bootstrap(x, y, unit, kind, DRAWS, "x") == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("block", [1, 500, 10**9])
def test_the_block_size_changes_no_replicate(kind, block, monkeypatch):
    x, y, unit = clustered()
    expected = bootstrap(x, y, unit, kind, DRAWS, "x")
    monkeypatch.setattr(module, "BLOCK", block)
    assert bootstrap(x, y, unit, kind, DRAWS, "x") == pytest.approx(expected, abs=1e-12)


# --- correlate -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_interval_is_the_expanded_percentiles_of_the_replicates(kind):
    x, y, unit = clustered(units=15)
    found = correlate(x, y, unit, kind, DRAWS, "x")
    replicates = repeated(x, y, unit, kind, DRAWS, "x")
    assert found.value == pytest.approx(coefficient(x, y, kind), abs=1e-12)
    assert found.low == pytest.approx(np.quantile(replicates, expanded(15)), abs=1e-9)
    assert found.high == pytest.approx(np.quantile(replicates, 1 - expanded(15)), abs=1e-9)
    assert (found.items, found.units, found.undefined, found.reason) == (60, 15, 0, None)


def test_the_interval_of_many_items_agrees_with_fishers_z():
    # Independent normal pairs: atanh r ± 1.96/√(n − 3).
    x, y, _ = clustered(units=2000, size=1)
    found = correlate(x, y, np.arange(2000), "pearson", Draws(0, 4000), "fisher")
    low, high = np.tanh(np.arctanh(found.value) + np.array([-1.96, 1.96]) / np.sqrt(1997))
    error = (1 - found.value**2) / np.sqrt(2000)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.25 * error)


@pytest.mark.parametrize("kind", KINDS)
def test_resamples_in_which_a_side_does_not_vary_are_left_out(kind):
    # x differs in one unit of eleven, which a resample misses in 35 % of cases: (10/11)¹¹ = 0.350.
    x = np.array([0.1] * 10 + [0.7])
    y, unit = np.arange(11.0), np.arange(11)
    replicates = bootstrap(x, y, unit, kind, Draws(0, 1000), "x")
    assert np.isnan(replicates).mean() == pytest.approx((10 / 11) ** 11, abs=5 * np.sqrt(0.35 * 0.65 / 1000))
    found = correlate(x, y, unit, kind, Draws(0, 1000), "x")
    assert (found.low, found.high) == pytest.approx(np.nanquantile(replicates, [expanded(11), 1 - expanded(11)]))


@pytest.mark.parametrize("kind", KINDS)
def test_undefined_items_and_units_without_defined_items_are_left_out(kind):
    x, y, unit = clustered(units=12)
    x[:6], y[4:8] = NAN, NAN
    found = correlate(x, y, unit, kind, DRAWS, "x")
    assert (found.items, found.units, found.undefined) == (40, 10, 8)
    assert found.value == pytest.approx(coefficient(x[8:], y[8:], kind), abs=1e-12)
    replicates = repeated(x, y, unit, kind, DRAWS, "x")
    assert found.low == pytest.approx(np.quantile(replicates, expanded(10)), abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("items", "has"), [(1, False), (3, False), (4, True)])
def test_a_correlation_begins_at_four_items(kind, items, has):
    found = correlate(np.arange(float(items)), np.arange(float(items)) ** 2, np.arange(items), kind, DRAWS, "x")
    assert (found.value is not None) == has
    assert (found.low, found.high, found.items, found.units) == (None, None, items, items)
    assert found.reason == (
        f"no interval under 10 units ({items} here)" if has else f"only {items} item{'s' * (items > 1)}, 4 are needed"
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("units", "has"), [(1, False), (MIN_UNITS - 1, False), (MIN_UNITS, True)])
def test_an_interval_begins_at_ten_units(kind, units, has):
    x, y, unit = clustered(units=units)
    found = correlate(x, y, unit, kind, DRAWS, "x")
    assert found.value is not None
    assert (found.low is not None, found.high is not None) == (has, has)
    assert found.reason == (None if has else f"no interval under 10 units ({units} here)")


@pytest.mark.parametrize("kind", KINDS)
def test_a_constant_side_has_no_value_but_a_reason(kind):
    found = correlate(np.full(20, 0.1), np.arange(20.0), np.arange(20), kind, DRAWS, "x")
    assert (found.value, found.low, found.high, found.items, found.units) == (None, None, None, 20, 20)
    assert found.reason == "one side does not vary"


@pytest.mark.parametrize("kind", KINDS)
def test_a_correlation_of_nothing_has_no_value_but_a_reason(kind):
    nothing = correlate(np.empty(0), np.empty(0), np.empty(0, dtype=np.int64), kind, DRAWS, "x")
    assert (nothing.value, nothing.items, nothing.units, nothing.undefined) == (None, 0, 0, 0)
    assert nothing.reason == "no items"
    x = np.array([0.1, NAN, 0.3, NAN])
    found = correlate(x, x[::-1], np.arange(4), kind, DRAWS, "x")
    assert (found.value, found.items, found.units, found.undefined) == (None, 0, 0, 4)
    assert found.reason == "undefined for every item"


# --- over a handful of models ----------------------------------------------------------------------------


def test_fisher_s_interval_by_hand():
    # Twelve models, r = 0.8: artanh 0.8 = 1.0986, SE = 1/√9; tanh(1.0986 ± 1.96/3) = 0.4180 and 0.9416.
    turn = np.arange(12) * np.pi / 6
    found = across_models(np.cos(turn), 0.8 * np.cos(turn) + 0.6 * np.sin(turn), "pearson")
    assert (found.value, found.low, found.high) == pytest.approx((0.8, 0.4180, 0.9416), abs=1e-4)
    assert (found.items, found.units, found.undefined, found.reason) == (12, 12, 0, None)


def test_the_interval_of_ranks_is_wider_by_bonett_and_wright():
    # ρ = 1 − 6·4/(5·24) = 0.8: SE² = (1 + 0.32)/2, artanh 0.8 ± 1.96·0.8124 = −0.4937 and 2.6909.
    found = across_models(np.arange(5.0), np.array([1.0, 0, 2, 4, 3]), "spearman")
    assert (found.value, found.low, found.high) == pytest.approx((0.8, np.tanh(-0.4937), np.tanh(2.6909)), abs=1e-4)


@given(st.integers(4, 20), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_over_models_it_equals_scipy_and_scipy_s_fisher_interval(models, seed):
    x, y = np.random.default_rng(seed).normal(size=(2, models))
    found, oracle = across_models(x, y, "pearson"), stats.pearsonr(x, y)
    ends = oracle.confidence_interval(0.95)
    assert (found.value, found.low, found.high) == pytest.approx((oracle.statistic, ends.low, ends.high), abs=1e-9)
    ranked = across_models(x, y, "spearman")
    assert ranked.value == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)
    assert (ranked.low is None) == (abs(ranked.value) == 1)


@pytest.mark.parametrize("kind", KINDS)
def test_under_four_models_there_is_no_correlation(kind):
    found = across_models(np.arange(3.0), np.array([0.1, 0.4, 0.2]), kind)
    assert (found.value, found.low, found.reason) == (None, None, "only 3 models, 4 are needed")
    one = across_models(np.array([1.0, NAN]), np.array([1.0, 2.0]), kind)
    assert (one.items, one.undefined, one.reason) == (1, 1, "only 1 model, 4 are needed")


@pytest.mark.parametrize("kind", KINDS)
def test_models_without_a_figure_are_left_out_of_a_correlation(kind):
    x, y = np.array([0.1, 0.5, NAN, 0.2, 0.9, 0.4]), np.array([1.0, 3.0, 2.0, 2.5, 4.0, NAN])
    found = across_models(x, y, kind)
    assert (found.items, found.undefined) == (4, 2)
    assert found.value == across_models(x[[0, 1, 3, 4]], y[[0, 1, 3, 4]], kind).value


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_perfect_correlation_over_models_has_no_interval(kind, sign):
    found = across_models(np.arange(6) / 7, sign * np.arange(6) / 3, kind)
    assert (found.value, found.low, found.high) == (sign, None, None)
    assert found.reason == "no interval for a perfect correlation"


@pytest.mark.parametrize("kind", KINDS)
def test_models_that_are_all_the_same_correlate_with_nothing(kind):
    found = across_models(np.full(6, 0.3), np.arange(6.0), kind)
    assert (found.value, found.items, found.reason) == (None, 6, "one side does not vary")


def test_pearson_of_heavy_tails_has_no_interval_and_says_why():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 200))
    assert kurtosis(x) == pytest.approx(stats.kurtosis(x, fisher=False))
    x[0] = 40.0
    unit = np.arange(200)
    found = correlate(x, y, unit, "pearson", DRAWS, "x")
    assert found.value == pytest.approx(stats.pearsonr(x, y)[0])
    assert (found.low, found.high) == (None, None)
    assert found.reason == (
        f"no interval: a few items far from the others decide it (kurtosis {kurtosis(x):.0f}); see Spearman's"
    )
    assert correlate(x, y, unit, "spearman", DRAWS, "x").low is not None
