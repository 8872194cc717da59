"""Means of values in [0, 1] with Wilson's interval on the effective number of items."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from embassay.core.result import MIN_UNITS
from embassay.stats.labels import Labels, effective_number
from embassay.stats.resample import ABSENT
from embassay.stats.shares import bounded_mean, bounded_means, wilson

NAN = float("nan")
Z = stats.norm.ppf(0.975)


def clustered(units=40, size=4, p=0.3, seed=1):
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(units), size)
    return (rng.random(units * size) < rng.beta(2 * p, 2 * (1 - p), size=units)[unit]).astype(float), Labels.of(unit)


# --- wilson ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("yes", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_golden_wilson_of_newcombe(yes, n, low, high):
    # Newcombe (1998), Statistics in Medicine 17:857-872, table I, method 3 (score, no continuity correction).
    assert wilson(yes / n, n) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))))
def test_wilson_agrees_with_scipy(counted):
    n, yes = counted
    reference = stats.binomtest(yes, n).proportion_ci(method="wilson")
    assert wilson(yes / n, n) == pytest.approx((reference.low, reference.high), abs=1e-12)


def test_wilson_at_the_ends_does_not_collapse():
    # At p = 0 the formula is (0, z²/(n + z²)): 3.8415/23.8415.
    assert wilson(0.0, 20) == (0.0, pytest.approx(Z**2 / (20 + Z**2)))
    assert wilson(1.0, 20) == (pytest.approx(20 / (20 + Z**2)), 1.0)


# --- means -----------------------------------------------------------------------------------------------


def test_a_share_of_single_items_is_plain_wilson():
    values = np.array([1.0] * 9 + [0.0] * 21)
    found = bounded_means({"a": values}, Labels.of(np.arange(30)), ["a"], of_shares=True)["a"]
    assert (found.value, found.items, found.units) == (0.3, 30, 30)
    assert (found.low, found.high) == pytest.approx(wilson(0.3, 30))


def test_all_systems_share_one_effective_number():
    first, labels = clustered()
    second, _ = clustered(seed=2, p=0.6)
    found = bounded_means({"a": first, "b": second}, labels, ["a", "b"], of_shares=True)
    number = effective_number(labels, [first, second], of_shares=True)
    assert labels.effective_units < number < labels.items
    for name, values in (("a", first), ("b", second)):
        assert (found[name].low, found[name].high) == pytest.approx(wilson(values.mean(), number))


def test_systems_that_are_derived_from_others_do_not_move_the_number():
    first, labels = clustered()
    copy = 1 - first
    alone = bounded_means({"a": first}, labels, ["a"], of_shares=True)
    assert bounded_means({"a": first, "copy": copy}, labels, ["a"], of_shares=True)["a"] == alone["a"]


def test_a_mean_of_values_between_0_and_1_is_known_better():
    values = np.tile([0.5, 1.0, 0.5, 0.25], 10)
    found = bounded_mean(values, Labels.of(np.arange(40)), 1.0, of_shares=False)
    mean, variance = values.mean(), values.var(ddof=1)
    assert (found.low, found.high) == pytest.approx(wilson(mean, 40 * mean * (1 - mean) / variance))
    # As a share it would be less sure.
    assert bounded_mean(values, Labels.of(np.arange(40)), 1.0, of_shares=True).low < found.low


@given(st.lists(st.floats(0, 1), min_size=12, max_size=40), st.booleans())
def test_no_interval_leaves_the_range(values, of_shares):
    found = bounded_mean(np.array(values), Labels.of(np.arange(len(values))), 1.5, of_shares=of_shares)
    assert 0 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1


def test_undefined_and_absent_items_are_left_out():
    values = np.array([1.0, 0.0, NAN, ABSENT] * 10)
    found = bounded_means({"a": values}, Labels.of(np.arange(40)), ["a"], of_shares=True)["a"]
    assert (found.value, found.items, found.undefined) == (0.5, 20, 10)
    # The effective number is that of the 30 items that belong to the mean; this system lacks a third of them.
    assert (found.low, found.high) == pytest.approx(wilson(0.5, 20))


def test_nothing_defined():
    found = bounded_means({"a": np.full(20, NAN)}, Labels.of(np.arange(20)), ["a"], of_shares=True)["a"]
    assert (found.value, found.undefined, found.reason) == (None, 20, "undefined for every item")
    assert bounded_means({}, Labels.of(np.arange(3)), [], of_shares=True) == {}


def test_too_few_units_have_no_interval():
    found = bounded_mean(np.ones(MIN_UNITS - 1), Labels.of(np.arange(MIN_UNITS - 1)), 1.0, of_shares=True)
    assert (found.value, found.low) == (1, None)
    assert f"{MIN_UNITS - 1} independent units" in found.reason
    hub = Labels.of(np.array([0] * 40 + list(range(1, 15))))
    assert bounded_mean(np.ones(54), hub, 1.0, of_shares=True).low is None
