"""Means over folds: by hand, against loops, and against the statistics that they generalise."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from embassay.core.metric_key import MetricKey
from embassay.core.types import Draws
from embassay.stats import folds
from embassay.stats.families import Roles, compare_means
from embassay.stats.folds import contiguous_folds
from embassay.stats.labels import Labels
from embassay.stats.shares import wilson
from embassay.stats.units import effective_sample_size

KEY = MetricKey("accuracy")
NAN = float("nan")


def share_over_folds(values, fold, unit):
    return folds.shares_over_folds({"a": values}, fold, Labels.of(unit))["a"]


def difference_over_folds(a, b, fold, unit):
    (found,) = compare_means(
        KEY,
        {"a": a, "b": b},
        Labels.of(unit),
        Roles(("a", "b")),
        Draws(),
        "x",
        of_shares=True,
        is_bounded=True,
        fold=fold,
    )
    return found


def sample(seed=0, units=14):
    """Units of 3 to 5 items, each in every fold; values 0 and 1 for two encoders."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 6, size=units)
    unit = np.repeat(np.arange(units), sizes)
    fold = np.concatenate([np.arange(size) % 3 for size in sizes])
    a, b = ((rng.random(len(unit)) < share).astype(float) for share in (0.8, 0.6))
    return a, b, fold, unit


def loop_mean(values, fold):
    """The mean over folds of means, item by item."""
    parts = []
    for number in sorted(set(fold)):
        inside = [values[i] for i in range(len(values)) if fold[i] == number and values[i] == values[i]]
        parts.append(sum(inside) / len(inside))
    return sum(parts) / len(parts)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.integers(1, 5))
def test_contiguous_folds_equal_array_split(labels, folds):
    found = contiguous_folds(np.array(labels), folds)
    for label in set(labels):
        members = np.flatnonzero(np.array(labels) == label)
        for number, part in enumerate(np.array_split(members, folds)):
            assert (found[part] == number).all()


def test_each_fold_has_the_same_weight():
    # Fold 0: 1 of 4 right, fold 1: 1 of 1: (1/4 + 1)/2, not 2/5.
    values, fold = np.array([1.0, 0, 0, 0, 1]), np.array([0, 0, 0, 0, 1])
    found = share_over_folds(values, fold, np.arange(5))
    assert found.value == pytest.approx(0.625)
    assert (found.items, found.units, found.low) == (5, 5, None)
    assert found.reason == "no interval: 5 independent units, 10 are needed"


def loop_limits(values, fold, unit):
    """Wilson's interval on the linearised variance of the mean over folds, written out item by item."""
    items = [i for i in range(len(values)) if values[i] == values[i]]
    folds, units = sorted(set(fold)), sorted({unit[i] for i in items})
    size = {f: sum(fold[i] == f for i in items) for f in folds}
    mean = {f: sum(values[i] for i in items if fold[i] == f) / size[f] for f in folds}
    p = sum(mean.values()) / len(folds)
    weight = {i: 1 / (len(folds) * size[fold[i]]) for i in items}
    residual = [sum(weight[i] * (values[i] - mean[fold[i]]) for i in items if unit[i] == u) for u in units]
    of_unit = [sum(weight[i] for i in items if unit[i] == u) for u in units]
    kish = 1 / sum(w**2 for w in of_unit)
    if p in (0, 1):
        return loop_wilson(p, kish)
    squares, n = [r**2 for r in residual], len(units)
    linear = n / (n - 1) * sum(squares)
    gap = sum((s - sum(squares) / n) ** 2 for s in squares)
    freedom = max(min(2 * sum(squares) ** 2 / gap, kish - 1), 1) if gap > 1e-12 * sum(squares) ** 2 else kish - 1
    widened = linear * (stats.t.ppf(0.975, freedom) / stats.norm.ppf(0.975)) ** 2
    independent = sum(
        weight[i] ** 2 * (values[i] - mean[fold[i]]) ** 2 * size[fold[i]] / (size[fold[i]] - 1) for i in items
    )
    agreed = sum(weight[i] * (values[i] - p) ** 2 for i in items) / kish
    return loop_wilson(p, p * (1 - p) / max(linear, independent, min(widened, agreed)))


def loop_wilson(p, n):
    z2 = stats.norm.ppf(0.975) ** 2
    spread = math.sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n * n)))
    return tuple((p + z2 / (2 * n) + sign * spread) / (1 + z2 / n) for sign in (-1, 1))


def test_the_interval_by_hand():
    # Twelve groups of two, one item in each of two folds. Groups 0-2 have both right, 3-5 the first, 6-8 the second,
    # 9-11 none: 6 of 12 right in each fold, p = 1/2, w = 1/24. z_u = ±1/24 six times and 0 six times:
    # v = 12/11 · 6/576 = 1/88. The squares 1/576 and 0 leave 2·6²/3 = 24 degrees of freedom, at most 12 − 1 = 11:
    # (2.200985/1.959964)² = 1.261073, v* = 0.0143304. Independent items give 24/576 · 1/4 · 12/11 = 1/88 too, agreement
    # 1/4/12 = 0.0208: n* = 0.25/0.0143304 = 17.4454, and Wilson has z²/n* = 0.220199:
    # (0.5 ± √(0.220199(0.25 + 0.220199/4)) − …)/1.220199: spread √(0.0671718)/1.220199 = 0.212405.
    first = np.repeat([1.0, 1.0, 0.0, 0.0], 3)
    second = np.repeat([1.0, 0.0, 1.0, 0.0], 3)
    fold, unit = np.repeat([0, 1], 12), np.tile(np.arange(12), 2)
    found = share_over_folds(np.append(first, second), fold, unit)
    assert (found.value, found.items, found.units) == (0.5, 24, 12)
    assert (found.low, found.high) == pytest.approx((0.5 - 0.212405, 0.5 + 0.212405), abs=1e-5)


@settings(deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.05, 0.5, 0.8, 0.98, 1.0]), st.integers(10, 25))
def test_the_interval_equals_a_loop(seed, p, units):
    rng = np.random.default_rng(seed)
    _, _, fold, unit = sample(seed, units)
    values = (rng.random(len(unit)) < p).astype(float)
    values[rng.random(len(unit)) < 0.05] = NAN
    found = share_over_folds(values, fold, unit)
    if found.low is not None:
        assert (found.low, found.high) == pytest.approx(loop_limits(values, fold, unit), abs=1e-9)


@settings(deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.1, 0.5, 0.9]))
def test_with_one_fold_it_is_the_variance_of_a_share_over_units(seed, p):
    _, _, fold, unit = sample(seed)
    values = (np.random.default_rng(seed).random(len(unit)) < p).astype(float)
    found = share_over_folds(values, np.zeros_like(fold), unit)
    squares = np.asarray(((values - values.mean()) ** 2).sum())
    number = effective_sample_size(np.bincount(unit, weights=values), np.bincount(unit).astype(float), squares)
    assert (found.low, found.high) == pytest.approx(wilson(values.mean(), float(number)), abs=1e-12)


def test_undefined_items_are_left_out_and_counted():
    a, _, fold, unit = sample()
    a[:4] = NAN
    found = share_over_folds(a, fold, unit)
    assert (found.items, found.undefined) == (len(a) - 4, 4)
    assert found.value == pytest.approx(loop_mean(a, fold))


def test_nothing_defined_in_a_fold_is_null_with_a_reason():
    a, _, fold, unit = sample()
    for values, reason in (
        (np.full(len(a), NAN), "undefined for every item"),
        (np.where(fold == 1, NAN, a), "a fold has no item that is defined"),
    ):
        found = share_over_folds(values, fold, unit)
        assert (found.value, found.reason) == (None, reason)
        # Nothing was measured of any item.
        assert (found.items, found.units, found.undefined) == (0, 0, len(a))
    empty = np.zeros(0, dtype=np.int64)
    assert share_over_folds(np.zeros(0), empty, empty).reason == "no items"


def test_a_difference_is_that_of_the_means_and_its_p_that_of_a_loop_over_signs():
    a, b, fold, unit = sample(units=10)
    found = difference_over_folds(a, b, fold, unit)
    assert found.difference == pytest.approx(loop_mean(a, fold) - loop_mean(b, fold))
    flipped = [abs(loop_mean((a - b) * np.array(flip)[unit], fold)) for flip in product([1.0, -1.0], repeat=10)]
    larger, equal = np.array(flipped) > flipped[0] + 1e-9, np.abs(np.array(flipped) - flipped[0]) <= 1e-9
    assert found.p == pytest.approx(larger.mean() + equal.mean() / 2)
    assert found.low < found.difference < found.high


def test_a_pair_that_is_nowhere_defined_together_has_no_difference():
    a, b, fold, unit = sample()
    a[::2], b[1::2] = NAN, NAN
    found = difference_over_folds(a, b, fold, unit)
    assert (found.difference, found.p, found.p_holm) == (None, None, None)
