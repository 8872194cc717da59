"""Comparisons of correlations: standardised ranks of whole units change places."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from embassay.core.metric_key import MetricKey
from embassay.core.types import Draws
from embassay.stats import patterns
from embassay.stats.correlate import bootstrap, correlation, standardised
from embassay.stats.exchange import coefficient, compare_correlations, correlation_terms
from embassay.stats.families import Roles
from embassay.stats.labels import Labels
from embassay.stats.resample import tail

KEY = MetricKey("accuracy")
NAN = float("nan")
KINDS = ("pearson", "spearman")
DRAWS = Draws(seed=0, resamples=200)
AB = Roles(candidates=("a", "b"))


def compared(x, ys, unit, kind="spearman", roles=AB, draws=DRAWS):
    return compare_correlations(KEY, x, ys, Labels.of(unit), kind, roles, draws, "x")


def clustered(units=40, size=3, seed=1, spread=(0.3, 1.0)):
    """Return human scores and two encoders that follow them with so much noise of their own."""
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(units), size)
    x = rng.normal(size=units)[unit] + rng.normal(size=units * size)
    a, b = (x + s * (rng.normal(size=units)[unit] + rng.normal(size=units * size)) for s in spread)
    return x, {"b": b, "a": a}, unit


def brute_force_p(x, a, b, unit, kind):
    """Exchange whole units item by item, in all patterns, and correlate again with numpy: the mid-p."""
    if kind == "spearman":
        x, a, b = (stats.rankdata(v) for v in (x, a, b))
    a, b = ((v - v.mean()) / v.std() for v in (a, b))
    names = np.unique(unit)
    gaps = []
    for keeps in product([True, False], repeat=len(names)):
        kept = np.array(keeps)[np.searchsorted(names, unit)]
        first, second = np.where(kept, a, b), np.where(kept, b, a)
        gaps.append(abs(np.corrcoef(x, first)[0, 1] - np.corrcoef(x, second)[0, 1]))
    larger, equal = np.array(gaps) > gaps[0] + 1e-9, np.abs(np.array(gaps) - gaps[0]) <= 1e-9
    return float(larger.mean() + equal.mean() / 2)


# --- parts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_standardised_values_have_mean_0_and_variance_1(kind):
    z = standardised(np.array([3.0, 1e-3, 7, 7, -2]) * 1e180, kind)
    assert (z.mean(), (z * z).mean()) == pytest.approx((0, 1), abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_sums_of_the_terms_give_the_coefficient(kind):
    x, ys, _ = clustered()
    terms = correlation_terms(x, ys["a"], kind)
    assert terms.shape == (3, len(x))
    reference = stats.pearsonr if kind == "pearson" else stats.spearmanr
    assert coefficient(terms.sum(axis=1), len(x)) == pytest.approx(reference(x, ys["a"])[0])


def test_mixed_values_that_do_not_vary_have_a_coefficient_of_0():
    assert coefficient(np.array([[0.5], [2.0], [4.0]]), 1).tolist() == [0.0]


# --- p ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_p_of_few_units_is_that_of_all_patterns(kind, seed):
    x, ys, unit = clustered(units=10, seed=seed, spread=(0.6, 0.9))
    ys["a"] = np.round(ys["a"], 1)
    (d,) = compared(x, ys, unit, kind)
    assert d.p == d.p_holm == brute_force_p(x, ys["a"], ys["b"], unit, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_drawn_p_agrees_with_that_of_all_patterns(kind, monkeypatch):
    x, ys, unit = clustered(units=12, seed=3, spread=(0.6, 0.9))
    (of_all,) = compared(x, ys, unit, kind)
    monkeypatch.setattr(patterns, "MAX_ENUMERATED", 0)
    (drawn,) = compared(x, ys, unit, kind)
    assert drawn.p != of_all.p
    assert drawn.p == pytest.approx(of_all.p, abs=5 * np.sqrt(of_all.p / 10_000) + 1e-4)


def test_golden_comparison():
    # Spearman's coefficients by scipy; p by brute force (the mid-p of 2¹² patterns); interval with numpy 2.4.6.
    i = np.arange(36.0)
    x, ys = i % 9 + i / 7, {"b": (5 * i) % 23 + i, "a": i % 9 + (i % 5)}
    (d,) = compared(x, ys, np.arange(36) // 3, draws=Draws())
    assert d.difference == pytest.approx(stats.spearmanr(x, ys["a"])[0] - stats.spearmanr(x, ys["b"])[0])
    assert d.p == brute_force_p(x, ys["a"], ys["b"], np.arange(36) // 3, "spearman")
    assert (d.low, d.high) == pytest.approx((-0.14282886677710485, 0.7678410148840926))


@pytest.mark.parametrize("kind", KINDS)
def test_the_difference_and_its_interval_are_those_of_paired_replicates(kind):
    x, ys, unit = clustered(units=30)
    x[:3], ys["a"][4:7] = NAN, NAN
    (d,) = compared(x, ys, unit, kind)
    assert (d.items, d.units) == (84, 29)
    masked = np.where(np.isnan(ys["a"]), NAN, x)
    assert d.difference == pytest.approx(correlation(masked, ys["a"], kind) - correlation(masked, ys["b"], kind))
    gaps = bootstrap(masked, ys["a"], unit, kind, DRAWS, "x") - bootstrap(masked, ys["b"], unit, kind, DRAWS, "x")
    beyond = tail(np.bincount(unit[~np.isnan(masked)]).astype(np.float64))
    assert (d.low, d.high) == pytest.approx(tuple(np.quantile(gaps, [beyond, 1 - beyond])))


def test_the_families_are_those_of_the_roles():
    x, ys, unit = clustered()
    roles = Roles(("a", "b"), lexical="tfidf")
    found = compared(x, ys | {"tfidf": x[::-1]}, unit, roles=roles)
    assert [(d.family, d.a, d.b, d.pairs_in_family) for d in found] == [
        ("main", "a", "tfidf", 1),
        ("lexical", "b", "tfidf", 1),
        ("models", "a", "b", 1),
    ]
    (alone,) = compared(x, ys, unit)
    assert found[2] == alone


def test_several_pairs_of_a_family_are_corrected_together():
    x, ys, unit = clustered(spread=(0.6, 0.9))
    found = compared(x, ys | {"c": x[::-1]}, unit, roles=Roles(("a", "b", "c")))
    assert {d.pairs_in_family for d in found} == {3}
    assert all(d.p_holm >= d.p for d in found)
    # Each alone has the shorter interval; that of the last step is not widened.
    ys = ys | {"c": x[::-1]}
    alone = [compared(x, ys, unit, roles=Roles((d.a, d.b)))[0] for d in found]
    widened = [(d.low, d.high) != (one.low, one.high) for d, one in zip(found, alone, strict=True)]
    assert all(d.low <= one.low and one.high <= d.high for d, one in zip(found, alone, strict=True))
    assert widened == [False, True, True]


def test_a_monotone_map_of_the_cosines_changes_nothing_for_spearman():
    x, ys, unit = clustered()
    assert compared(x, {n: np.exp(y) for n, y in ys.items()}, unit) == compared(x, ys, unit)


@pytest.mark.parametrize("kind", KINDS)
def test_the_other_way_round_the_sign_turns(kind):
    x, ys, unit = clustered()
    (up,), (down,) = (compared(x, ys, unit, kind, Roles(("a", "b"), name)) for name in ("a", "b"))
    assert (up.difference, up.p) == pytest.approx((-down.difference, down.p))


# --- degenerate data -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("big", "has"), [(15, True), (16, False)])
def test_there_is_no_verdict_where_one_unit_holds_more_than_a_third_of_the_items(big, has):
    # 15 of 45 items, or 16 of 46.
    x, ys, _ = clustered(units=big + 30, size=1)
    unit = np.concatenate([np.zeros(big, dtype=np.int64), np.arange(1, 31)])
    (d,) = compared(x, ys, unit)
    assert [figure is not None for figure in (d.p, d.p_holm, d.low, d.high)] == [has] * 4
    assert d.difference is not None


def test_identical_encoders_do_not_differ():
    x, ys, unit = clustered()
    (d,) = compared(x, {"b": ys["a"], "a": 3 * ys["a"]}, unit)
    assert (d.difference, d.low, d.high, d.p) == (0, 0, 0, 1)


def test_under_ten_units_there_is_neither_interval_nor_p():
    x, ys, unit = clustered(units=9)
    (d,) = compared(x, ys, unit)
    assert (d.low, d.high, d.p, d.units) == (None, None, None, 9)
    assert d.difference is not None


@pytest.mark.parametrize("items", [np.full(120, 0.3), np.full(120, NAN)])
def test_an_encoder_that_does_not_vary_has_no_difference(items):
    x, ys, unit = clustered()
    (d,) = compared(x, {"b": ys["b"], "a": items}, unit)
    assert (d.difference, d.low, d.high, d.p, d.pairs_in_family) == (None, None, None, None, 0)


def test_an_interval_agrees_with_the_test():
    for seed in range(12):
        x, ys, unit = clustered(units=14, seed=seed, spread=(0.6, 0.9))
        (d,) = compared(x, ys, unit)
        assert (d.low <= 0 <= d.high) == (d.p > 0.05)


def test_no_encoders_make_no_comparison():
    x, _, unit = clustered()
    assert compared(x, {}, unit, roles=Roles(())) == ()


def test_heavy_tails_leave_a_difference_of_pearson_s_without_interval_and_p():
    x, ys, unit = clustered(size=1, units=60)
    heavy = np.exp(1.5 * stats.zscore(x))
    (pearson,) = compared(heavy, ys, unit, "pearson")
    assert pearson.difference is not None
    assert (pearson.low, pearson.high, pearson.p) == (None, None, None)
    (spearman,) = compared(heavy, ys, unit)
    assert None not in (spearman.low, spearman.high, spearman.p)
