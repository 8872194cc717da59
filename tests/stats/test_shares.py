"""Shares with Wilson's interval on the effective number of items."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq

from embassay.result import MIN_UNITS
from embassay.stats.resample import ABSENT
from embassay.stats.shares import share, wilson
from embassay.stats.units import effective_number, ratio_variance

NAN = float("nan")
Z = stats.norm.ppf(0.975)

yes_no_rows = st.lists(st.tuples(st.sampled_from([0.0, 1.0, 1 / 3]), st.integers(0, 14)), min_size=1, max_size=80)


def clustered(units=40, size=4, p=0.3, seed=1):
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(units), size)
    return (rng.random(units * size) < rng.beta(2 * p, 2 * (1 - p), size=units)[unit]).astype(float), unit


def loop_variance(values, unit):
    """v = U/(U − 1) · Σ_u (sum_u − p·n_u)² / n², unit by unit."""
    p, total = sum(values) / len(values), 0.0
    for u in set(unit):
        mine = [v for v, w in zip(values, unit, strict=True) if w == u]
        total += (sum(mine) - p * len(mine)) ** 2
    units = len(set(unit))
    return units / (units - 1) * total / len(values) ** 2


def loop_effective_number(values, unit):
    """Write n* out unit by unit: Korn & Graubard (1998) with Satterthwaite's (1946) degrees of freedom."""
    n, p = len(values), sum(values) / len(values)
    units = sorted(set(unit))
    sizes = [sum(w == u for w in unit) for u in units]
    kish = n**2 / sum(size**2 for size in sizes)
    if p in (0, 1):
        return kish
    residuals = [sum(v - p for v, w in zip(values, unit, strict=True) if w == u) ** 2 for u in units]
    total, middle = sum(residuals), sum(residuals) / len(units)
    linear = len(units) / (len(units) - 1) * total / n**2
    spread = sum((r - middle) ** 2 for r in residuals)
    freedom = 2 * total**2 / spread if spread > 1e-12 * total**2 else math.inf
    freedom = max(1, min(freedom, kish - 1))
    widened = linear * (stats.t.ppf(0.975, freedom) / Z) ** 2
    of_items = sum((v - p) ** 2 for v in values) / n
    variance = max(linear, of_items / (n - 1), min(widened, of_items / kish))
    return p * (1 - p) / variance if variance > 1e-24 else math.inf


# --- wilson ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("yes", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_golden_wilson_of_newcombe(yes, n, low, high):
    # Newcombe (1998), Statistics in Medicine 17:857-872, table I, method 3 (score, no continuity correction).
    assert wilson(yes / n, n) == pytest.approx((low, high), abs=5e-5)


def test_wilson_by_hand():
    # p = 1/2, n = 4, z² = 3.8415: centre 1/2; spread √(3.8415(1/16 + 3.8415/64))/(1 + 3.8415/4) = 0.68606/1.96037.
    assert wilson(0.5, 4) == pytest.approx((0.5 - 0.34996, 0.5 + 0.34996), abs=2e-5)


@given(
    st.integers(1, 500).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), st.sampled_from([0.8, 0.95, 0.99])
)
def test_wilson_agrees_with_scipy(counted, level):
    n, yes = counted
    reference = stats.binomtest(yes, n).proportion_ci(confidence_level=level, method="wilson")
    assert wilson(yes / n, n, level) == pytest.approx((reference.low, reference.high), abs=1e-12)


@given(st.floats(0.001, 0.999), st.floats(0.5, 1e6))
def test_the_ends_of_wilson_are_where_the_score_test_turns(p, n):
    low, high = wilson(p, n)

    def gap(true):
        return (p - true) ** 2 * n - Z**2 * true * (1 - true)

    assert low == pytest.approx(brentq(gap, 0, p, xtol=1e-15), abs=1e-9)
    assert high == pytest.approx(brentq(gap, p, 1, xtol=1e-15), abs=1e-9)


@given(st.floats(0, 1), st.floats(0.5, 1e9))
def test_wilson_stays_in_range_holds_the_share_and_mirrors(p, n):
    low, high = wilson(p, n)
    assert 0 <= low <= p + 1e-15
    assert p - 1e-15 <= high <= 1
    mirrored = wilson(1 - p, n)
    assert (1 - mirrored[1], 1 - mirrored[0]) == pytest.approx((low, high), abs=1e-9)


def test_wilson_at_the_ends_does_not_collapse():
    # At p = 0 the formula is (0, z²/(n + z²)): 3.8415/23.8415.
    assert wilson(0.0, 20) == (0.0, pytest.approx(Z**2 / (20 + Z**2)))
    assert wilson(1.0, 20) == (pytest.approx(20 / (20 + Z**2)), 1.0)


def test_wilson_of_an_infinite_number_is_the_share():
    assert wilson(1 / 3, math.inf) == (1 / 3, 1 / 3)


# --- ratio_variance --------------------------------------------------------------------------------------


def test_ratio_variance_by_hand():
    # Units (1, 1), (0), (1, 0): p = 3/5; residuals 2 − 6/5 = 0.8, −0.6, 1 − 6/5 = −0.2, squares 0.64 + 0.36 + 0.04
    # = 1.04; v = 3/2 · 1.04/25 = 0.0624.
    values, unit = np.array([1.0, 1.0, 0.0, 1.0, 0.0]), np.array([0, 0, 1, 2, 2])
    assert ratio_variance(values, unit) == pytest.approx(0.0624)


@given(yes_no_rows)
def test_ratio_variance_equals_a_loop(rows):
    values, unit = [v for v, _ in rows], [u for _, u in rows]
    if len(set(unit)) == 1:
        assert math.isnan(ratio_variance(np.array(values), np.array(unit)))
    else:
        expected = loop_variance(values, unit)
        assert ratio_variance(np.array(values), np.array(unit)) == pytest.approx(expected, abs=1e-15)


def test_ratio_variance_of_equal_units_is_that_of_the_mean_of_unit_means():
    values, unit = clustered(units=25, size=4)
    per_unit = values.reshape(25, 4).mean(axis=1)
    assert ratio_variance(values, unit) == pytest.approx(per_unit.var(ddof=1) / 25)


def test_ratio_variance_agrees_with_the_jackknife():
    # The delete-one-unit jackknife differs from the linearised variance by a term of order 1/U.
    rng = np.random.default_rng(4)
    unit = np.repeat(np.arange(400), rng.integers(1, 7, size=400))
    values = (rng.random(len(unit)) < rng.beta(1, 2, size=400)[unit]).astype(float)
    left_out = np.array([values[unit != u].mean() for u in range(400)])
    jackknife = 399 / 400 * np.sum((left_out - left_out.mean()) ** 2)
    assert ratio_variance(values, unit) == pytest.approx(jackknife, rel=0.02)


def test_ratio_variance_leaves_out_undefined_items_and_units_without_any():
    values, unit = clustered(units=12)
    more = np.append(values, [NAN, NAN, NAN]), np.append(unit, [3, 12, 40])
    assert ratio_variance(*more) == pytest.approx(ratio_variance(values, unit), rel=1e-12)


def test_ratio_variance_of_one_unit_is_undefined():
    assert math.isnan(ratio_variance(np.array([0.0, 1.0]), np.array([3, 3])))


def test_ratio_variance_of_repeated_items_does_not_shrink():
    # Asking every item of a unit three times over tells nothing new.
    values, unit = clustered()
    assert ratio_variance(np.repeat(values, 3), np.repeat(unit, 3)) == pytest.approx(ratio_variance(values, unit))


# --- effective_number ------------------------------------------------------------------------------------


def test_effective_number_by_hand():
    # Ten units of four, five with one yes and five with three: p = 1/2; residuals ±1, v = 10/9 · 10/1600 = 0.0069444.
    # All squares agree, so Var(v) = 0 and 9 degrees of freedom: (2.262157/1.959964)² = 1.332138, v* = 0.0092510, less
    # than 0.25/10 where the items of a unit all agree; n* = 0.25/0.0092510 = 27.024, not 36.
    values = np.array([1, 0, 0, 0] * 5 + [1, 1, 1, 0] * 5, dtype=float)
    assert effective_number(values, np.repeat(np.arange(10), 4)) == pytest.approx(36 / 1.332138, rel=1e-6)


def test_effective_number_where_two_units_hold_all_yes_by_hand():
    # Twenty units of four, two with two yes: p = 0.05; residuals 1.8 twice, −0.2 eighteen times, squares 3.24 and 0.04,
    # sum 7.2, v = 20/19 · 7.2/6400 = 0.00118421. Σ squares² = 2·10.4976 + 18·0.0016 = 21.024, less 7.2²/20 = 18.432, so
    # 2·51.84/18.432 = 5.625 degrees of freedom, not 19.
    values = np.array([1, 1, 0, 0] * 2 + [0, 0, 0, 0] * 18, dtype=float)
    widened = 0.00118421 * (stats.t.ppf(0.975, 5.625) / Z) ** 2
    assert widened < 0.0475 / 20
    assert effective_number(values, np.repeat(np.arange(20), 4)) == pytest.approx(0.0475 / widened, rel=1e-5)


def test_effective_number_at_full_agreement_by_hand():
    # The units of the hand-worked variance 0.0624: sizes 2, 1, 2, so 25/9 effective units, 16/9 degrees of freedom and
    # t = 4.9: v·(t/z)² = 0.39 is more than 0.24·9/25 = 0.0864, where the items of a unit agree: n* = 25/9.
    values, unit = np.array([1.0, 1.0, 0.0, 1.0, 0.0]), np.array([0, 0, 1, 2, 2])
    assert effective_number(values, unit) == pytest.approx(25 / 9)


@settings(deadline=None)
@given(yes_no_rows.filter(lambda rows: len({u for _, u in rows}) > 1))
def test_effective_number_equals_a_loop(rows):
    values, unit = [v for v, _ in rows], [u for _, u in rows]
    found = effective_number(np.array(values), np.array(unit))
    assert found == pytest.approx(loop_effective_number(values, unit), rel=1e-6)


@settings(deadline=None)
@given(yes_no_rows.filter(lambda rows: len({u for _, u in rows}) > 1 and 0 < sum(v for v, _ in rows) < len(rows)))
def test_few_units_widen_the_variance_but_not_beyond_full_agreement(rows):
    values, unit = np.array([v for v, _ in rows]), np.array([u for _, u in rows])
    p, found = values.mean(), effective_number(values, unit)
    if found < math.inf:
        sizes = np.bincount(unit)
        plain = max(ratio_variance(values, unit), values.var(ddof=1) / len(values))
        agreed = values.var() * np.sum(sizes**2) / len(values) ** 2
        assert plain * (1 - 1e-9) <= p * (1 - p) / found <= max(plain, agreed) * (1 + 1e-9)


def test_very_many_units_widen_nothing():
    values, unit = clustered(units=20_000)
    assert effective_number(values, unit) == pytest.approx(
        values.mean() * (1 - values.mean()) / ratio_variance(values, unit), rel=1e-3
    )


def test_units_of_one_item_count_one_less_than_items():
    # v = p(1 − p)/(U − 1) for single items.
    assert effective_number(np.array([1.0] * 6 + [0.0] * 14), np.arange(20)) == pytest.approx(19)


def test_units_that_agree_with_themselves_count_as_one_item_each():
    values = np.repeat([1.0] * 6 + [0.0] * 14, 5)
    assert effective_number(values, np.repeat(np.arange(20), 5)) == pytest.approx(19)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_at_the_ends_the_number_of_units_counts(value):
    assert effective_number(np.full(60, value), np.repeat(np.arange(20), 3)) == 20


@pytest.mark.parametrize("items", [30, 3000])
@pytest.mark.parametrize("value", [1 / 3, 0.1, 2 / 3])
def test_constant_shares_count_as_infinitely_many(value, items):
    unit = np.random.default_rng(0).integers(0, 12, size=items)
    assert effective_number(np.full(items, value), unit) == math.inf


# --- share -----------------------------------------------------------------------------------------------


def test_share_by_hand():
    # Ten units of four, five with one yes and five with three: n* = 27.024 as worked above. Wilson: centre 1/2, spread
    # √(3.841459(0.25/27.024 + 3.841459/(4·27.024²)))/(1 + 3.841459/27.024) = 0.201467/1.142149 = 0.176393.
    values = np.array([1, 0, 0, 0] * 5 + [1, 1, 1, 0] * 5, dtype=float)
    found = share(values, np.repeat(np.arange(10), 4))
    assert found.value == pytest.approx(0.5)
    assert (found.low, found.high) == pytest.approx((0.5 - 0.176393, 0.5 + 0.176393), abs=1e-5)
    assert (found.items, found.units, found.undefined, found.reason) == (40, 10, 0, None)


def test_share_of_units_that_nearly_agree_by_hand():
    # Ten units of two: six (1, 1), two (1, 0), two (0, 0): p = 14/20 = 0.7; residuals 0.6, −0.4, −1.4:
    # 6·0.36 + 2·0.16 + 2·1.96 = 6.4; v = 10/9·6.4/400 = 0.017778; 9 degrees of freedom (2·40.96/4.416 = 18.6 at most
    # 10 − 1): 1.332138·v = 0.023683 is more than 0.21/10, where all agree, so n* = 10, not 0.21/v = 11.8.
    values = np.array([1, 1] * 6 + [1, 0] * 2 + [0, 0] * 2, dtype=float)
    found = share(values, np.repeat(np.arange(10), 2))
    assert found.value == pytest.approx(0.7)
    assert (found.low, found.high) == pytest.approx(wilson(0.7, 10))
    assert (found.items, found.units, found.undefined, found.reason) == (20, 10, 0, None)


@given(st.integers(10, 300).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n - 1))))
def test_share_of_independent_items_is_wilson_of_one_item_less(counted):
    n, yes = counted
    found = share(np.arange(n) < yes, np.arange(n))
    assert (found.low, found.high) == pytest.approx(wilson(yes / n, n - 1), abs=1e-9)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_shares_of_0_and_1_have_the_interval_of_their_units(value):
    found = share(np.full(60, value), np.repeat(np.arange(20), 3))
    reference = stats.binomtest(int(20 * value), 20).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((reference.low, reference.high), abs=1e-12)
    assert value in (found.low, found.high)


def test_units_that_agree_by_chance_still_have_an_interval():
    # 12 units with one yes and one no each: v = 0 over units, so the items' own variance counts:
    # s² = 24/23 · 1/4 and n* = p(1 − p)/(s²/24) = 23.
    values, unit = np.tile([1.0, 0.0], 12), np.repeat(np.arange(12), 2)
    assert effective_number(values, unit) == pytest.approx(23)
    found = share(values, unit)
    assert (found.low, found.high) == pytest.approx(wilson(0.5, 23))


def test_a_constant_third_has_an_interval_of_no_width():
    found = share(np.full(48, 1 / 3), np.repeat(np.arange(12), 4))
    assert found.value == found.low == found.high == pytest.approx(1 / 3)


def test_share_of_nothing_has_no_value_but_a_reason():
    found = share(np.empty(0), np.empty(0, dtype=np.int64))
    assert (found.value, found.low, found.high, found.items, found.units, found.undefined) == (None,) * 3 + (0, 0, 0)
    assert found.reason == "no items"


def test_share_of_undefined_items_has_no_value_but_counts_them():
    found = share(np.full(5, NAN), np.arange(5))
    assert (found.value, found.items, found.units, found.undefined) == (None, 0, 0, 5)
    assert found.reason == "undefined for every item"


def test_undefined_items_and_units_without_defined_items_are_left_out():
    values, unit = clustered(units=12)
    plain = share(values, unit)
    found = share(np.append(values, [NAN] * 3), np.append(unit, [3, 77, 77]))
    assert (found.value, found.low, found.high, found.items, found.units) == (
        plain.value,
        plain.low,
        plain.high,
        plain.items,
        plain.units,
    )
    assert found.undefined == 3


def test_absent_items_are_no_items_of_a_share():
    values, unit = clustered(units=12)
    plain = share(values, unit)
    assert share(np.append(values, [ABSENT] * 3), np.append(unit, [3, 77, 77])) == plain
    assert share(np.append(values, [ABSENT, NAN]), np.append(unit, [3, 3])).undefined == 1
    assert share(np.full(4, ABSENT), np.arange(4)).reason == "no items"


@pytest.mark.parametrize(("units", "has"), [(1, False), (MIN_UNITS - 1, False), (MIN_UNITS, True)])
def test_an_interval_begins_at_ten_units(units, has):
    found = share(np.tile([0.0, 1.0, 1.0], units), np.repeat(np.arange(units), 3))
    assert found.value == pytest.approx(2 / 3)
    assert (found.low is not None, found.high is not None) == (has, has)
    assert found.reason == (None if has else f"no interval under 10 units ({units} here)")


@settings(deadline=None)
@given(yes_no_rows, st.randoms(use_true_random=False))
def test_share_depends_neither_on_row_order_nor_on_unit_codes(rows, random):
    values, unit = np.array([v for v, _ in rows]), np.array([u for _, u in rows])
    order, codes = list(range(len(rows))), list(range(100, 115))
    random.shuffle(order)
    random.shuffle(codes)
    a, b = share(values, unit), share(values[order], np.array(codes)[unit][order])
    assert (a.items, a.units, a.undefined, a.reason) == (b.items, b.units, b.undefined, b.reason)
    for x, y in [(a.value, b.value), (a.low, b.low), (a.high, b.high)]:
        assert (x is None and y is None) or x == pytest.approx(y, abs=1e-9)


def test_no_and_yes_mirror():
    values, unit = clustered()
    a, b = share(values, unit), share(1 - values, unit)
    assert (1 - b.value, 1 - b.high, 1 - b.low) == pytest.approx((a.value, a.low, a.high))


def test_clustering_widens_the_interval():
    values = np.repeat([1.0] * 12 + [0.0] * 28, 4)
    grouped, alone = share(values, np.repeat(np.arange(40), 4)), share(values, np.arange(160))
    assert grouped.value == alone.value
    assert grouped.high - grouped.low > 1.8 * (alone.high - alone.low)


def test_golden_share():
    # One unit in eight all yes, the others all no: v as for 40 single items, so n* = 39. On paper:
    # centre 0.125 + 3.84146/78 = 0.174249, spread √(3.84146(0.109375/39 + 3.84146/6084)) = 0.114886, over 1.098499.
    found = share(np.repeat([1.0] * 5 + [0.0] * 35, 4), np.repeat(np.arange(40), 4))
    assert (found.value, found.low, found.high) == pytest.approx((0.125, 0.05404, 0.26321), abs=2e-5)
