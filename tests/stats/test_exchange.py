"""Comparisons of correlations: standardised ranks of whole units change places."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from embassay.stats.correlate import bootstrap, correlation, standardised
from embassay.stats.exchange import (
    CorrelationExchange,
    coefficient,
    compare_correlations,
    correlation_sums,
)
from embassay.stats.families import Roles
from embassay.stats.resample import tail
from embassay.types import Draws

NAN = float("nan")
KINDS = ("pearson", "spearman")
DRAWS = Draws(seed=0, resamples=200)
AB = Roles(candidates=("b", "a"))


def clustered(units=40, size=3, seed=1, spread=(0.3, 1.0)):
    """Return human scores and two encoders that follow them with so much noise of their own."""
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(units), size)
    x = rng.normal(size=units)[unit] + rng.normal(size=units * size)
    a, b = (x + s * (rng.normal(size=units)[unit] + rng.normal(size=units * size)) for s in spread)
    return x, {"b": b, "a": a}, unit


def brute_force_p(x, a, b, unit, kind):
    """Exchange whole units item by item, in all patterns, and correlate again with numpy."""
    if kind == "spearman":
        x, a, b = (stats.rankdata(v) for v in (x, a, b))
    a, b = ((v - v.mean()) / v.std() for v in (a, b))
    names = np.unique(unit)
    gaps = []
    for keeps in product([True, False], repeat=len(names)):
        kept = np.array(keeps)[np.searchsorted(names, unit)]
        first, second = np.where(kept, a, b), np.where(kept, b, a)
        gaps.append(abs(np.corrcoef(x, first)[0, 1] - np.corrcoef(x, second)[0, 1]))
    return float(np.mean(np.array(gaps) >= gaps[0] - 1e-9))


# --- parts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_standardised_values_have_mean_0_and_variance_1(kind):
    z = standardised(np.array([3.0, 1e-3, 7, 7, -2]) * 1e180, kind)
    assert (z.mean(), (z * z).mean()) == pytest.approx((0, 1), abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_sums_give_the_coefficient(kind):
    x, ys, unit = clustered()
    sums = correlation_sums(x, ys["a"], unit, 45, kind)
    assert sums.shape == (3, 45)
    reference = stats.pearsonr if kind == "pearson" else stats.spearmanr
    assert coefficient(sums.sum(axis=1), len(x)) == pytest.approx(reference(x, ys["a"])[0])


def test_mixed_values_that_do_not_vary_have_a_coefficient_of_0():
    assert coefficient(np.array([[0.5], [2.0], [4.0]]), 1).tolist() == [0.0]


# --- p ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_enumerated_p_is_that_of_all_patterns(kind, seed):
    x, ys, unit = clustered(units=10, seed=seed, spread=(0.6, 0.9))
    ys["a"] = np.round(ys["a"], 1)
    (d,) = compare_correlations(x, ys, unit, kind, AB, DRAWS, "x")
    assert (d.p_method, d.p_error) == ("enumerated", 0.0)
    assert d.p == brute_force_p(x, ys["a"], ys["b"], unit, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_drawn_p_agrees_with_the_enumerated_one(kind):
    x, ys, unit = clustered(units=20, seed=3, spread=(0.6, 0.9))
    (enumerated,) = compare_correlations(x, ys, unit, kind, AB, DRAWS, "x")
    sums = [correlation_sums(x, ys[name], unit, 20, kind)[:, :, None] for name in "ab"]
    exchange = CorrelationExchange.of(*sums, np.array([len(x)]))
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(20_000, 20))
    drawn = exchange.extreme(signs, np.array([0]))[0] / 20_000
    assert drawn == pytest.approx(enumerated.p, abs=5 * np.sqrt(enumerated.p / 20_000) + 1e-4)


def test_golden_comparison():
    # Spearman's coefficients by scipy; p: 13,916 of the 2¹⁷ patterns; interval from this package with numpy 2.4.6.
    i = np.arange(36.0)
    x, ys = i % 9 + i / 7, {"b": (5 * i) % 23 + i, "a": i % 9 + (i % 5)}
    (d,) = compare_correlations(x, ys, np.arange(36) // 2, "spearman", AB, Draws(), "golden")
    assert d.difference == pytest.approx(stats.spearmanr(x, ys["a"])[0] - stats.spearmanr(x, ys["b"])[0])
    assert d.p == 13_916 / 2**17
    assert (d.low, d.high) == pytest.approx((-0.0795323000432598, 0.5840061310032496))


@pytest.mark.parametrize("kind", KINDS)
def test_the_difference_its_interval_and_error_are_those_of_paired_replicates(kind):
    x, ys, unit = clustered(units=30)
    x[:3], ys["a"][4:7] = NAN, NAN
    (d,) = compare_correlations(x, ys, unit, kind, AB, DRAWS, "x")
    assert (d.items, d.units) == (84, 29)
    masked = np.where(np.isnan(ys["a"]), NAN, x)
    assert d.difference == pytest.approx(correlation(masked, ys["a"], kind) - correlation(masked, ys["b"], kind))
    gaps = bootstrap(masked, ys["a"], unit, kind, DRAWS, "x") - bootstrap(masked, ys["b"], unit, kind, DRAWS, "x")
    assert d.error == pytest.approx(gaps.std(ddof=1))
    beyond = tail(np.bincount(unit[~np.isnan(masked)]).astype(np.float64))
    assert (d.low, d.high) == pytest.approx(tuple(np.quantile(gaps, [beyond, 1 - beyond])))


def test_the_families_are_those_of_the_roles():
    x, ys, unit = clustered()
    roles = Roles(("b", "a"), lexical=("tfidf",))
    found = compare_correlations(x, ys | {"tfidf": x[::-1]}, unit, "spearman", roles, DRAWS, "x")
    assert [(d.family, d.a, d.b, d.tests) for d in found] == [
        ("reference", "a", "b", 1),
        ("baseline", "b", "tfidf", 2),
        ("baseline", "a", "tfidf", 2),
    ]
    (alone,) = compare_correlations(x, ys, unit, "spearman", AB, DRAWS, "x")
    assert (found[0].p, found[0].difference) == (alone.p, alone.difference)


def test_a_monotone_map_of_the_cosines_changes_nothing_for_spearman():
    x, ys, unit = clustered()
    (d,) = compare_correlations(x, ys, unit, "spearman", AB, DRAWS, "x")
    (mapped,) = compare_correlations(x, {n: np.exp(y) for n, y in ys.items()}, unit, "spearman", AB, DRAWS, "x")
    assert mapped == d


@pytest.mark.parametrize("kind", KINDS)
def test_the_other_way_round_the_sign_turns(kind):
    x, ys, unit = clustered()
    (up,), (down,) = (
        compare_correlations(x, ys, unit, kind, Roles(("a", "b"), name), DRAWS, "x") for name in ("a", "b")
    )
    assert (up.difference, up.p) == pytest.approx((-down.difference, down.p))


# --- degenerate data -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("big", "has"), [(15, True), (16, False)])
def test_there_is_no_p_where_one_unit_holds_more_than_a_third_of_the_items(big, has):
    # 15 of 45 items, or 16 of 46.
    x, ys, _ = clustered(units=big + 30, size=1)
    unit = np.concatenate([np.zeros(big, dtype=np.int64), np.arange(1, 31)])
    (d,) = compare_correlations(x, ys, unit, "spearman", AB, DRAWS, "x")
    assert (d.p is not None, d.p_adjusted is not None) == (has, has)
    assert d.low is not None


def test_identical_encoders_do_not_differ():
    x, ys, unit = clustered()
    (d,) = compare_correlations(x, {"b": ys["a"], "a": 3 * ys["a"]}, unit, "spearman", AB, DRAWS, "x")
    assert (d.difference, d.low, d.high, d.p, d.error) == (0, 0, 0, 1, 0)


def test_under_ten_units_there_is_neither_interval_nor_p():
    x, ys, unit = clustered(units=9)
    (d,) = compare_correlations(x, ys, unit, "spearman", AB, DRAWS, "x")
    assert (d.low, d.high, d.p, d.units) == (None, None, None, 9)
    assert d.difference is not None


@pytest.mark.parametrize("items", [np.full(120, 0.3), np.full(120, NAN)])
def test_an_encoder_that_does_not_vary_has_no_difference(items):
    x, ys, unit = clustered()
    (d,) = compare_correlations(x, {"b": ys["b"], "a": items}, unit, "spearman", AB, DRAWS, "x")
    assert (d.difference, d.low, d.high, d.p, d.error, d.tests) == (None, None, None, None, None, 0)


def test_an_interval_agrees_with_the_test():
    for seed in range(12):
        x, ys, unit = clustered(units=14, seed=seed, spread=(0.6, 0.9))
        (d,) = compare_correlations(x, ys, unit, "spearman", AB, DRAWS, "x")
        assert (d.low <= 0 <= d.high) == (d.p > 0.05)


def test_no_encoders_make_no_comparison():
    x, _, unit = clustered()
    assert compare_correlations(x, {}, unit, "spearman", Roles(()), DRAWS, "x") == ()


def test_heavy_tails_leave_a_difference_of_pearson_s_without_interval_and_p():
    x, ys, unit = clustered(size=1, units=60)
    heavy = np.exp(1.5 * stats.zscore(x))
    (pearson,) = compare_correlations(heavy, ys, unit, "pearson", AB, DRAWS, "p")
    assert pearson.difference is not None
    assert (pearson.low, pearson.high, pearson.p) == (None, None, None)
    (spearman,) = compare_correlations(heavy, ys, unit, "spearman", AB, DRAWS, "p")
    assert None not in (spearman.low, spearman.high, spearman.p)
