"""The smallest difference that a test set shows, and the items that a smaller one needs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from embassay.stats.detectable import Precision, rounded_up
from embassay.stats.labels import Labels, effective_number

NAN = float("nan")
shares = st.lists(st.sampled_from([-1.0, 0.0, 0.0, 1.0]), min_size=12, max_size=60)


def precision(differences, unit=None, tests=1, bounded=True):
    differences = np.array(differences, dtype=float)
    labels = Labels.of(np.arange(len(differences)) if unit is None else np.asarray(unit))
    number = effective_number(labels, [np.abs(differences)], of_shares=True) if bounded else None
    return Precision.of(differences, labels, number, tests)


def test_the_formula_by_hand():
    # 20 of 100 single items differ: δ = z√((q − δ²)/n).
    found = precision([1.0] * 12 + [-1.0] * 8 + [0.0] * 80, tests=3)
    z = stats.norm.ppf(1 - 0.05 / 6) + stats.norm.ppf(0.8)
    difference = found.smallest_difference
    assert difference == pytest.approx(z * math.sqrt((0.2 - difference**2) / 100))
    # Where nothing differs, a share of at least δ of the items must.
    difference = precision([0.0] * 100).smallest_difference
    z = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    assert difference == pytest.approx(z * math.sqrt((difference - difference**2) / 100))


def test_other_means_by_their_error():
    differences = np.random.default_rng(1).normal(size=80)
    z = stats.t.ppf(0.975, 79) + stats.norm.ppf(0.8)
    error = differences.std(ddof=1) / math.sqrt(80)
    assert precision(differences, bounded=False).smallest_difference == pytest.approx(z * error)


@given(shares, st.integers(1, 5))
def test_twice_the_units_never_raise_it(differences, size):
    unit = np.arange(len(differences)) // size
    once = precision(differences, unit)
    twice = precision([*differences, *differences], [*unit, *(unit + 1000)])
    if once is not None:
        assert twice.smallest_difference <= once.smallest_difference + 1e-9


@given(shares, st.floats(0.01, 0.3))
def test_the_items_needed_have_that_smallest_difference(differences, target):
    found = precision(differences)
    if found is None:
        return
    needed = found.items_needed(target)
    assert found.grown(needed / found.items).smallest_difference <= target + 1e-9
    # Two digits: at most a tenth more than needed.
    assert found.grown(0.89 * needed / found.items).smallest_difference > target or needed < 20


def test_items_out_of_reach():
    assert precision(np.random.default_rng(0).normal(size=30), bounded=False).items_needed(1e-6) is None


def test_the_next_target_is_clearly_smaller():
    found = precision([1.0] * 12 + [-1.0] * 8 + [0.0] * 80)
    target, items = found.next_target(0.02)
    assert target == 0.05 <= 0.7 * found.smallest_difference
    assert items > 100


def test_without_a_verdict_there_is_no_precision():
    assert precision([1.0] * 9) is None
    assert precision([NAN] * 12) is None
    assert precision([0.5] * 12, bounded=False) is None


@pytest.mark.parametrize(("number", "rounded"), [(0.2, 1), (99.2, 100), (101, 110), (100.0000001, 100), (1649, 1700)])
def test_two_digits(number, rounded):
    assert rounded_up(number) == rounded
