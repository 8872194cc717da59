"""Five measures of how near two vectors are, of paired rows, and the cosines of all pairs."""

from __future__ import annotations

from fractions import Fraction
from math import isnan, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array, csr_matrix
from scipy.spatial import distance

from embassay.stats.geometry import closeness
from embassay.stats.geometry.closeness import (
    MEASURES,
    Moments,
    Sums,
    all_cosines,
    mean_cosine,
    nearness,
    paired_cosine,
    paired_dot,
    unit_rows,
)

SHAPES = st.tuples(st.integers(1, 5), st.integers(1, 7))
WHOLE = st.integers(-8, 8).map(float)
"""Whole numbers, so that an exact oracle and constant vectors are both there."""
both = SHAPES.flatmap(lambda shape: st.tuples(*[hnp.arrays(np.float32, shape, elements=WHOLE)] * 2))


def vectors(rows=60, width=384, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).normal(size=(2, rows, width)).astype(dtype)


def variance(values):
    mean = sum(values) / len(values)
    return sum((x - mean) ** 2 for x in values) / len(values)


def loop(measure, u, v):
    """Work a measure out number by number in exact fractions, with a square root at the end."""
    u, v = [Fraction(float(x)) for x in u], [Fraction(float(x)) for x in v]
    dot = sum(x * y for x, y in zip(u, v, strict=True))
    if measure == "dot":
        return float(dot)
    if measure == "l1":
        return float(sum(abs(x - y) for x, y in zip(u, v, strict=True)))
    if measure == "l2":
        return sqrt(sum((x - y) ** 2 for x, y in zip(u, v, strict=True)))
    if measure == "cosine":
        scale = sqrt(sum(x * x for x in u)) * sqrt(sum(y * y for y in v))
        return float(dot) / scale if scale else float("nan")
    if len(set(u)) == 1 or len(set(v)) == 1:
        return float("nan")
    apart = variance([x - y for x, y in zip(u, v, strict=True)])
    return float(apart / (variance(u) + variance(v)) / 2)


def paired(u, v):
    """Return the five measures of the same rows."""
    return Sums.of(u, v).measures(Moments.of(u), Moments.of(v))


def same(found, expected, tolerance=1e-12):
    return found == pytest.approx(expected, abs=tolerance, nan_ok=True)


def same_bits(a, b):
    return all(a[m].dtype == b[m].dtype == np.float64 and a[m].tobytes() == b[m].tobytes() for m in MEASURES)


def test_the_five_measures_by_hand():
    # u − v = (0, 1, −1): l1 = 2, l2 = √2; u·v = 1 + 2 + 12 = 15; ‖u‖² = 14, ‖v‖² = 18;
    # Var(u − v) = ⅔, Var(u) = ⅔, Var(v) = (1 + 1 + 4)/3 = 2: NED = ½ · ⅔ / (8/3) = ⅛.
    found = paired(np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 1.0, 4.0]]))
    expected = {"cosine": 15 / sqrt(14 * 18), "dot": 15, "l1": 2, "l2": sqrt(2), "ned": 1 / 8}
    assert {m: v.item() for m, v in found.items()} == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("make", [np.asarray, csr_array])
@pytest.mark.parametrize("measure", MEASURES)
@settings(deadline=None)
@given(pair=both)
def test_the_measures_equal_a_loop_in_fractions(make, measure, pair):
    u, v = pair
    expected = np.array([loop(measure, a, b) for a, b in zip(u, v, strict=True)])
    assert same(paired(make(u), make(v))[measure], expected)
    if measure in ("cosine", "dot"):
        alone = paired_cosine if measure == "cosine" else paired_dot
        assert same(alone(make(u), make(v)), expected)


@pytest.mark.parametrize("make", [np.asarray, csr_array])
@settings(deadline=None)
@given(pair=both)
def test_all_cosines_equal_a_loop_in_fractions(make, pair):
    u, v = pair
    assert same(all_cosines(make(u), make(v)), np.array([[loop("cosine", a, b) for b in v] for a in u]))


@pytest.mark.parametrize(
    ("measure", "oracle"),
    [
        ("cosine", lambda a, b: 1 - distance.cosine(a, b)),
        ("dot", np.vdot),
        ("l1", distance.cityblock),
        ("l2", distance.euclidean),
        ("ned", lambda a, b: 0.5 * np.var(a - b) / (np.var(a) + np.var(b))),
    ],
)
def test_the_measures_agree_with_scipy_and_numpy(measure, oracle):
    u, v = vectors(rows=20, dtype=np.float64)
    expected = [oracle(a, b) for a, b in zip(u, v, strict=True)]
    assert paired(u, v)[measure] == pytest.approx(expected, abs=1e-12, rel=1e-12)


@pytest.mark.parametrize("width", [1, 2, 3, 7, 384])
@pytest.mark.parametrize("value", [0.1, 1 / 3, -7.3, 1e-20, 1e20])
def test_constant_vectors_have_no_ned_whatever_rounding_leaves_them(width, value):
    constant = np.full((1, width), value, dtype=np.float32)
    other = np.arange(width, dtype=np.float32)[None]
    for a, b in [(constant, other), (other, constant), (constant, constant)]:
        for make in (np.asarray, csr_array):
            assert np.isnan(paired(make(a), make(b))["ned"]).all()


@pytest.mark.parametrize("block", [1, 7, 60, 10**6])
def test_the_block_size_changes_no_bit(block, monkeypatch):
    u, v = vectors()
    expected = paired(u, v)
    monkeypatch.setattr(closeness, "BLOCK", block)
    assert same_bits(paired(u, v), expected)


@pytest.mark.parametrize("make", [np.asarray, csr_array])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_not_finite_has_no_cosine_and_touches_no_other(make, bad):
    u, v = vectors(rows=3, width=4)
    expected = paired_cosine(u, v)
    u[1, 2] = bad
    found = paired_cosine(make(u), make(v))
    assert np.isnan(found).tolist() == [False, True, False]
    assert found[[0, 2]] == pytest.approx(expected[[0, 2]], abs=1e-14)
    assert np.isnan(all_cosines(make(u), make(v))).tolist() == [[False] * 3, [True] * 3, [False] * 3]


@pytest.mark.parametrize("length", [1e155, 1e200])
def test_a_row_whose_squares_overflow_has_no_cosine(length):
    u, v = np.array([[length, length], [1.0, 1.0]]), np.array([[1.0, 2.0], [length, length]])
    assert np.isnan(paired_cosine(u, v)).all()


def test_nearness_turns_distances_round_and_leaves_similarities():
    values = np.array([0.5, -2.0, np.nan])
    for measure in MEASURES:
        expected = -values if measure in {"l1", "l2", "ned"} else values
        assert nearness(measure, values).tolist() == pytest.approx(expected.tolist(), nan_ok=True)


@pytest.mark.parametrize("make", [np.asarray, csr_array, csr_matrix])
@settings(deadline=None)
@given(pair=both)
def test_the_mean_cosine_equals_a_double_loop_without_zero_vectors(make, pair):
    u, v = pair
    cosines = [loop("cosine", a, b) for a in u for b in v]
    defined = [c for c in cosines if not isnan(c)]
    expected = sum(defined) / len(defined) if defined else float("nan")
    assert mean_cosine(make(u), make(v)) == pytest.approx(expected, abs=1e-14, nan_ok=True)


@settings(deadline=None)
@given(both)
def test_unit_rows_have_length_1_and_the_same_direction(pair):
    u = pair[0].astype(np.float64)
    found = unit_rows(u)
    for row, unit in zip(u, found, strict=True):
        length = sqrt(sum(x * x for x in row))
        if length:
            assert unit == pytest.approx([x / length for x in row], abs=1e-15)
        else:
            assert all(isnan(x) for x in unit)
