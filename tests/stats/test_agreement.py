"""How far annotators agree: Krippendorff's alpha for interval and ordinal data."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embassay.stats.agreement import krippendorff

NAN = float("nan")
# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section C: four observers, twelve units.
OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
).T
tables = st.integers(2, 4).flatmap(
    lambda k: st.lists(
        st.lists(st.one_of(st.integers(0, 5).map(float), st.just(NAN)), min_size=k, max_size=k), min_size=1, max_size=12
    )
)


def loop(ratings):
    """Average the squared difference over ordered pairs within items, each item's by its ratings less one."""
    items = [[v for v in row if v == v] for row in ratings]
    items = [row for row in items if len(row) > 1]
    everything = [v for row in items for v in row]
    n = len(everything)
    if not n or len(set(everything)) == 1:
        return NAN
    observed = sum(sum((a - b) ** 2 for a, b in permutations(row, 2)) / (len(row) - 1) for row in items) / n
    expected = sum((a - b) ** 2 for a, b in permutations(everything, 2)) / (n * (n - 1))
    return 1 - observed / expected


def ordinal_loop(ratings):
    """The same with (Σ n_g − (n_c + n_k)/2)² over the values g from c to k, n_g how often g counts."""
    items = [[v for v in row if v == v] for row in ratings]
    items = [row for row in items if len(row) > 1]
    everything = [v for row in items for v in row]
    n = len(everything)
    if not n or len(set(everything)) == 1:
        return NAN

    def metric(a, b):
        between = sum(min(a, b) <= v <= max(a, b) for v in everything)
        return (between - (everything.count(a) + everything.count(b)) / 2) ** 2

    observed = sum(sum(metric(a, b) for a, b in permutations(row, 2)) / (len(row) - 1) for row in items) / n
    return 1 - observed / (sum(metric(a, b) for a, b in permutations(everything, 2)) / (n * (n - 1)))


def test_golden_alpha_of_krippendorff():
    assert krippendorff(OBSERVERS) == pytest.approx(0.849, abs=5e-4)


def test_golden_ordinal_alpha_of_krippendorff():
    # The same table, section E.
    assert krippendorff(OBSERVERS, "ordinal") == pytest.approx(0.815, abs=5e-4)


@given(tables)
def test_ordinal_alpha_equals_krippendorffs_metric_and_sees_only_the_order(rows):
    ratings = np.array(rows)
    expected = ordinal_loop(rows)
    assert krippendorff(ratings, "ordinal") == pytest.approx(expected, abs=1e-9, nan_ok=True)
    assert krippendorff(np.exp(ratings), "ordinal") == pytest.approx(expected, abs=1e-9, nan_ok=True)


@given(tables)
def test_alpha_equals_a_loop_over_pairs(rows):
    ratings = np.array(rows)
    expected = loop(rows)
    assert krippendorff(ratings) == pytest.approx(expected, abs=1e-9, nan_ok=True)
    assert krippendorff(ratings[::-1, ::-1]) == pytest.approx(expected, abs=1e-9, nan_ok=True)
    assert krippendorff(3 * ratings - 7) == pytest.approx(expected, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("value", [2.0, 0.1, 1 / 3])
def test_alpha_of_ratings_that_are_all_equal_is_undefined(value):
    assert np.isnan(krippendorff(np.full((7, 3), value)))


def test_alpha_without_an_item_rated_twice_is_undefined():
    assert np.isnan(krippendorff(np.array([[1.0, NAN], [NAN, 2.0]])))
    assert np.isnan(krippendorff(np.empty((0, 3))))
