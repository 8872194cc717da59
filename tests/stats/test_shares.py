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
from embassay.stats.shares import (
    IntraUnitSums,
    ShareSummary,
    intra_unit_sums,
    minority,
    pooled_correlation,
    pooled_sample_size,
    share,
    shares_of_encoders,
    wilson,
)
from embassay.stats.units import effective_number, ratio_variance
from simulations.intervals import of_counts

NAN = float("nan")
Z = stats.norm.ppf(0.975)

answer = st.sampled_from([0.0, 1.0, 1 / 3])
yes_no_rows = st.lists(st.tuples(st.sampled_from([0.0, 1.0, 1 / 3]), st.integers(0, 14)), min_size=1, max_size=80)
rows_of_many_units = st.tuples(yes_no_rows, st.lists(answer, min_size=MIN_UNITS, max_size=MIN_UNITS)).map(
    lambda drawn: [*drawn[0], *zip(drawn[1], range(MIN_UNITS), strict=True)]
)
"""Rows with an answer of each of the fewest units that have an interval."""


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


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))))
def test_wilson_agrees_with_scipy(counted):
    n, yes = counted
    reference = stats.binomtest(yes, n).proportion_ci(method="wilson")
    assert wilson(yes / n, n) == pytest.approx((reference.low, reference.high), abs=1e-12)


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


@given(st.integers(20, 300).flatmap(lambda n: st.tuples(st.just(n), st.integers(10, n - 10))))
def test_share_of_many_independent_answers_is_wilson_of_one_item_less(counted):
    n, yes = counted
    found = share(np.arange(n) < yes, np.arange(n))
    low, high = wilson(yes / n, n - 1)
    assert found.low <= low + 1e-12
    assert found.high >= high - 1e-12
    if 11 < yes < n - 11:
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)


@given(st.integers(10, 300).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, min(9, n)))))
def test_share_of_few_independent_answers_is_wilson_of_all_items(counted):
    # g = 0: D = min((t/1.96)², 1) = 1.
    n, yes = counted
    found = share(np.arange(n) < yes, np.arange(n))
    assert (found.low, found.high) == pytest.approx(wilson(yes / n, n), abs=1e-9)


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


def test_a_constant_third_has_the_interval_of_few_answers():
    # No item differs from the commonest value, so nothing says how the next items would be: no other encoder, n* = 12.
    found = share(np.full(48, 1 / 3), np.repeat(np.arange(12), 4))
    assert found.value == pytest.approx(1 / 3)
    assert (found.low, found.high) == pytest.approx(wilson(1 / 3, 12))


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


# --- intra_unit_sums -------------------------------------------------------------------------------------


def loop_intra_unit_sums(values, unit):
    """A and B unit by unit, as they are printed: n·p(1 − p) stands for Σ(x − p)²."""
    n, p = len(values), sum(values) / len(values)
    units = sorted(set(unit))
    sizes = [sum(w == u for w in unit) for u in units]
    sums = [sum(v for v, w in zip(values, unit, strict=True) if w == u) for u in units]
    g = sum(size * (size - 1) for size in sizes) / n
    spread = n / (1 + g)
    between = sum((s - p * size) ** 2 for s, size in zip(sums, sizes, strict=True))
    return spread / (spread - 1) * between - n * p * (1 - p), p * (1 - p) * n * g


def test_intra_unit_sums_by_hand():
    # Units (1, 1), (0), (1, 0): n = 5, p = 3/5, g = (2 + 0 + 2)/5 = 0.8, U_e = 5/1.8 = 25/9, U_e/(U_e − 1) = 25/16;
    # Σ(S − p n)² = 1.04 as for the variance above: A = 1.625 − 1.2 = 0.425, B = 0.24·5·0.8 = 0.96.
    found = intra_unit_sums(np.array([1.0, 1.0, 0.0, 1.0, 0.0]), np.array([0, 0, 1, 2, 2]))
    assert found.excess == pytest.approx([0.425])
    assert found.agreement == pytest.approx([0.96])


yes_no_only = st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.integers(0, 14)), min_size=2, max_size=80)


@given(yes_no_only.filter(lambda rows: len({u for _, u in rows}) > 1))
def test_intra_unit_sums_equal_a_loop(rows):
    values, unit = [v for v, _ in rows], [u for _, u in rows]
    found = intra_unit_sums(np.array(values), np.array(unit))
    assert (found.excess[0], found.agreement[0]) == pytest.approx(loop_intra_unit_sums(values, unit), abs=1e-9)


@given(yes_no_rows)
def test_intra_unit_sums_do_not_tell_yes_from_no(rows):
    values, unit = np.array([v for v, _ in rows]), np.array([u for _, u in rows])
    a, b = intra_unit_sums(values, unit), intra_unit_sums(1 - values, unit)
    assert a.excess == pytest.approx(b.excess, abs=1e-9)
    assert a.agreement == pytest.approx(b.agreement, abs=1e-9)


def test_units_that_agree_have_a_correlation_of_about_one():
    found = intra_unit_sums(np.repeat([1.0] * 30 + [0.0] * 70, 4), np.repeat(np.arange(100), 4))
    # (U/(U − 1)·n·p(1 − p)·4 − n·p(1 − p))/(3·n·p(1 − p)) = (400/99 − 1)/3.
    assert found.excess / found.agreement == pytest.approx((400 / 99 - 1) / 3)


@pytest.mark.parametrize(("a", "b"), [(1.0, 3.0), (0.5, 0.5), (3.0, 1.0)])
def test_the_ratio_agrees_with_the_correlation_that_was_drawn(a, b):
    rng = np.random.default_rng(5)
    unit = np.repeat(np.arange(20_000), rng.integers(1, 8, size=20_000))
    values = (rng.random(len(unit)) < rng.beta(a, b, size=20_000)[unit]).astype(float)
    found = intra_unit_sums(values, unit)
    assert found.excess / found.agreement == pytest.approx(1 / (1 + a + b), abs=0.015)


@pytest.mark.parametrize(
    ("values", "unit"),
    [
        ([], []),
        ([NAN, NAN], [0, 1]),
        ([1.0, 0.0, 1.0], [4, 4, 4]),
        ([1.0, 1.0, 1.0], [0, 1, 1]),
        ([1 / 3] * 4, [0, 0, 1, 1]),
    ],
)
def test_intra_unit_sums_of_what_says_nothing_are_zero(values, unit):
    found = intra_unit_sums(np.array(values), np.array(unit, dtype=np.int64))
    assert found.excess == pytest.approx([0])
    assert found.agreement == pytest.approx([0])


def test_intra_unit_sums_leave_out_what_is_undefined_or_absent():
    values, unit = clustered(units=12)
    plain = intra_unit_sums(values, unit)
    found = intra_unit_sums(np.append(values, [NAN, ABSENT]), np.append(unit, [3, 77]))
    assert found.excess == pytest.approx(plain.excess)
    assert found.agreement == pytest.approx(plain.agreement)


def test_the_order_of_encoders_does_not_move_their_total():
    parts = [intra_unit_sums(*clustered(seed=seed)) for seed in range(5)]
    one, two = IntraUnitSums.total(parts), IntraUnitSums.total(parts[::-1])
    assert (one.excess.tolist(), one.agreement.tolist()) == (two.excess.tolist(), two.agreement.tolist())
    assert one.excess == pytest.approx(sum(part.excess for part in parts))


# --- few answers -----------------------------------------------------------------------------------------


def sums(excess, agreement):
    return IntraUnitSums(np.array([excess]), np.array([agreement]))


def test_pooled_correlation_by_hand():
    # g = 2: (10 + 6)/(26 + 6) = 1/2, moved by a fifth of the way to 1.
    assert pooled_correlation(sums(10.0, 26.0), np.array([2.0])) == pytest.approx([0.6])


@pytest.mark.parametrize(
    ("excess", "agreement", "partners", "expected"),
    [(0, 0, 2, 1), (-50, 20, 2, 0.2), (90, 20, 2, 1), (0, 0, 0, 0), (5, 9, 0, 0)],
)
def test_pooled_correlation_at_the_ends(excess, agreement, partners, expected):
    # No others: all agree. Less than by chance: 0, shrunk. More than all: 1. Single items: nothing to correlate.
    found = pooled_correlation(sums(float(excess), float(agreement)), np.array([float(partners)]))
    assert found == pytest.approx([expected])


def test_pooled_sample_size_by_hand():
    # 40 items in 10 units of 4, ρ = 0.2: 1 + 3·0.2 = 1.6, times (2.262157/1.959964)² = 1.332138: D = 2.131421.
    found = pooled_sample_size(np.array([40.0]), np.array([10.0]), np.array([0.2]))
    assert found == pytest.approx([40 / 2.131421], rel=1e-6)


@given(st.floats(1, 500), st.floats(1, 50), st.floats(0, 1))
def test_pooled_sample_size_lies_between_units_and_items(spread, each, correlation):
    found = pooled_sample_size(np.array([spread * each]), np.array([spread]), np.array([correlation]))
    assert spread * (1 - 1e-9) <= found[0] <= spread * each * (1 + 1e-9)


def units_of_122():
    """122 items in 28 units, 18 of four and 10 of five: the effective units, 27.67, that the old limits tell."""
    return np.repeat(np.arange(28), [4] * 18 + [5] * 10)


@pytest.mark.parametrize(("yes", "high"), [(0, 0.081), (1, 0.096), (2, 0.109), (3, 0.122)])
@pytest.mark.parametrize("together", [False, True])
def test_golden_upper_limits_of_few_answers(yes, high, together):
    # A review of version 0.1 gives upper limits of 8.1, 9.6, 10.9 and 12.2 % for 0-3 yes of 122 items in 28 units, in
    # place of 12.2, 12.4, 7.7 and 7.7 %. All of these follow from the sizes above, the new ones with ρ₀ = 0.322.
    unit = units_of_122()
    values = np.zeros(122)
    first_of_each = np.flatnonzero(np.diff(unit, prepend=-1))
    values[np.arange(yes) if together else first_of_each[:yes]] = 1.0
    partners = (18 * 12 + 10 * 20) / 122
    # ΣA + 3g and ΣB + 3g of 0.322·k and k.
    found = share(values, unit, sums(0.322 * 1000 - 3 * partners, 1000 - 3 * partners))
    assert found.high == pytest.approx(high, abs=5e-4)


def loop_limits(values, unit, others):
    """The rule for shares, written out with lists."""
    n, p, yes = len(values), sum(values) / len(values), sum(values)
    sizes = [sum(w == u for w in unit) for u in sorted(set(unit))]
    g = sum(size * (size - 1) for size in sizes) / n
    spread = n / (1 + g)
    excess, agreement = (sum(part) for part in zip((0, 0), *others, strict=True))
    rho = 0.0
    if g > 0:
        rho = min(max((excess + 3 * g) / (agreement + 3 * g), 0), 1)
        rho += 0.2 * (1 - rho)
    ratio = stats.t.ppf(0.975, max(spread - 1, 1)) / Z
    pooled = n / min((1 + g * rho) * ratio**2, 1 + g)
    if min(yes, n - yes) < 10:
        return loop_wilson(p, pooled)
    low, high = loop_wilson(p, loop_effective_number(values, unit))
    return min(low, loop_wilson(max(p, 1 - 9 / n), pooled)[0]), max(high, loop_wilson(min(p, 9 / n), pooled)[1])


def loop_wilson(p, n):
    spread = math.sqrt(Z**2 * (p * (1 - p) / n + Z**2 / (4 * n * n)))
    return tuple((p + Z**2 / (2 * n) + sign * spread) / (1 + Z**2 / n) for sign in (-1, 1))


def drawn(seed, units, p, spread=1.0):
    """Units of 1 to 6 items, beta-binomial answers."""
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(units), rng.integers(1, 7, size=units))
    chance = rng.beta(max(p, 1e-9) * spread, max(1 - p, 1e-9) * spread, size=units)
    return (rng.random(len(unit)) < chance[unit]).astype(float), unit, rng


@settings(deadline=None)
@given(
    st.integers(0, 10_000), st.integers(10, 40), st.sampled_from([0.0, 0.02, 0.2, 0.6, 0.97, 1.0]), st.integers(0, 3)
)
def test_the_interval_equals_a_loop(seed, units, p, others):
    values, unit, rng = drawn(seed, units, p)
    tables = [(rng.random(len(unit)) < 0.4).astype(float) for _ in range(others)]
    parts = [intra_unit_sums(table, unit) for table in tables]
    pool = IntraUnitSums.total(parts) if parts else None
    found = share(values, unit, pool)
    expected = loop_limits(values.tolist(), unit.tolist(), [loop_intra_unit_sums(t.tolist(), unit) for t in tables])
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-9)
    assert shares_of_encoders([{"x": v} for v in (values, *tables)], unit)[0]["x"].estimate == found


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000), st.integers(10, 60), st.floats(0, 1))
def test_the_upper_limit_never_falls_as_the_first_answers_become_yes(seed, units, correlation):
    # In any order, up to nine; with ten and more it is never under that of nine.
    _, unit, rng = drawn(seed, units, 0.5)
    others = sums(1000 * correlation, 1000.0)
    values, highs = np.zeros(len(unit)), []
    for place in rng.permutation(len(unit)):
        highs.append(share(values, unit, others).high)
        values[place] = 1.0
    assert (np.diff(highs[:10]) >= -1e-12).all()
    assert min(highs[10:], default=1) >= highs[min(9, len(highs) - 1)] - 1e-12


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(10, 40), st.sampled_from([0.02, 0.5, 0.97]))
def test_the_more_the_others_agree_the_wider(seed, units, p):
    values, unit, _ = drawn(seed, units, p)
    found = [share(values, unit, sums(1000 * rho, 1000.0)) for rho in (0.0, 0.3, 1.0)]
    assert found[0].value == found[1].value == found[2].value
    widths = [e.high - e.low for e in found]
    assert widths == sorted(widths)


@settings(deadline=None)
@given(rows_of_many_units, st.floats(0, 1))
def test_limits_are_in_range_and_hold_the_share_and_mirror(rows, correlation):
    values, unit = np.array([v for v, _ in rows]), np.array([u for _, u in rows])
    others = sums(100 * correlation, 100.0)
    found, mirrored = share(values, unit, others), share(1 - values, unit, others)
    assert 0 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((found.low, found.high), abs=1e-9)


def test_minority_by_hand():
    # 2 yes of 5 defined; 1/3 is the commonest of four; one value; nothing defined.
    table = np.array(
        [[1, 1 / 3, 0.5, NAN], [1, 1 / 3, 0.5, NAN], [0, 1, 0.5, NAN], [0, 0, NAN, NAN], [0, NAN, NAN, ABSENT]]
    )
    assert minority(table).tolist() == [2, 2, 0, 0]


@given(st.lists(st.sampled_from([0.0, 1.0, 1 / 3, 0.5, NAN]), min_size=1, max_size=40))
def test_minority_equals_a_count(values):
    defined = [v for v in values if v == v]
    expected = len(defined) - max((defined.count(v) for v in set(defined)), default=0)
    assert minority(np.array(values)[:, None]).tolist() == [expected]


def test_an_encoder_that_ties_nearly_everywhere_has_few_answers():
    # Two of 122 items are not tied: the variance over units would give ±0.7 points.
    values, unit = np.full(122, 1 / 3), units_of_122()
    values[[3, 90]] = 1.0
    found = share(values, unit, sums(320.0, 1000.0))
    assert found.low < found.value - 0.1
    assert found.high > found.value + 0.1


# --- tables ----------------------------------------------------------------------------------------------


def table_of(seed, units=15):
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(units), 3)
    table = (rng.random((3 * units, 3)) < [0.05, 0.5, 0.97]).astype(float)
    table[rng.random(table.shape) < 0.05] = NAN
    return table, unit


def estimates(table, unit, others=None):
    """The estimates of the columns of a table."""
    return tuple(share.estimate for share in ShareSummary.of(table, unit).estimates(others))


def of_tables(tables, unit):
    """The estimates of encoders' tables."""
    found = shares_of_encoders([dict(enumerate(table.T)) for table in tables], unit)
    return [tuple(share.estimate for share in shares.values()) for shares in found]


def test_a_table_gives_what_its_columns_give():
    table, unit = table_of(0)
    other = intra_unit_sums(table_of(1)[0], unit)
    columns = [
        share(values, unit, sums(*pair))
        for values, *pair in zip(table.T, other.excess.tolist(), other.agreement.tolist(), strict=True)
    ]
    for a, b in zip(estimates(table, unit, other), columns, strict=True):
        assert (a.items, a.units, a.undefined) == (b.items, b.units, b.undefined)
        assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high), abs=1e-12)


def test_each_encoder_has_the_pool_of_the_others():
    tables = [table_of(seed)[0] for seed in range(3)]
    unit = table_of(0)[1]
    found = of_tables(tables, unit)
    others = IntraUnitSums.total([intra_unit_sums(tables[0], unit), intra_unit_sums(tables[2], unit)])
    assert found[1] == estimates(tables[1], unit, others)
    reordered = of_tables([tables[2], tables[1], tables[0]], unit)
    assert reordered[1] == found[1]
    assert of_tables(tables[:1], unit)[0] == estimates(tables[0], unit)
    assert shares_of_encoders([], unit) == ()
    assert shares_of_encoders([{}, {}], unit) == ({}, {})


def test_a_share_that_an_encoder_lacks_is_pooled_over_those_that_have_it():
    (first, unit), (second, _), (third, _) = (table_of(seed) for seed in range(3))
    figures = [{"rare": first[:, 0], "half": first[:, 1]}, {"half": second[:, 1]}, {"rare": third[:, 0]}]
    found = shares_of_encoders(iter(figures), unit)
    assert [list(shares) for shares in found] == [["rare", "half"], ["half"], ["rare"]]
    assert found[0]["rare"].estimate == share(first[:, 0], unit, intra_unit_sums(third[:, 0], unit))
    assert found[2]["rare"].estimate == share(third[:, 0], unit, intra_unit_sums(first[:, 0], unit))


def test_it_is_said_which_limits_rest_on_the_other_encoders():
    # 40 units of 5: 100 yes, 3 yes, and 3 yes of single items.
    unit, single = np.repeat(np.arange(40), 5), np.arange(200)
    many, few = (np.arange(200) % 2).astype(float), (np.arange(200) < 3).astype(float)
    other = {"many": (np.arange(200) % 3 == 0).astype(float), "few": (np.arange(200) % 70 == 0).astype(float)}
    ours = shares_of_encoders([{"many": many, "few": few}, other], unit)[0]
    assert {name: found.pooled for name, found in ours.items()} == {"many": False, "few": True}
    assert not shares_of_encoders([{"few": few}, {"few": other["few"]}], single)[0]["few"].pooled
    # Under ten units there are no limits.
    assert not shares_of_encoders([{"few": few}], unit // 5)[0]["few"].pooled


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(10, 40), st.sampled_from([0.0, 0.02, 0.1, 0.2, 0.6, 0.97, 1.0]))
def test_limits_that_do_not_rest_on_the_others_do_not_move_with_them(seed, units, p):
    values, unit, rng = drawn(seed, units, p)
    other = (rng.random(len(unit)) < 0.4).astype(float)
    (alone,) = shares_of_encoders([{"x": values}], unit)
    beside = shares_of_encoders([{"x": values}, {"x": other}], unit)[0]
    assert alone["x"].estimate.value == beside["x"].estimate.value
    if not alone["x"].pooled and not beside["x"].pooled:
        assert alone == beside


def test_limits_from_counts_are_those_of_the_items():
    values, unit = clustered(p=0.05)
    summary = ShareSummary.of(values[:, None], unit)
    counted = of_counts(np.bincount(unit, weights=values)[:, None], np.bincount(unit)[:, None].astype(float))
    for one, other in zip(counted.limits(None), summary.limits(None), strict=True):
        assert one == pytest.approx(other)
    assert counted.minority.tolist() == summary.minority.tolist()


def test_limits_of_nothing_are_undefined():
    low, high, _ = ShareSummary.of(np.full((3, 1), np.nan), np.arange(3)).limits(None)
    assert np.isnan(low).all()
    assert np.isnan(high).all()
