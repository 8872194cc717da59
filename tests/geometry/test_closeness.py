"""The cosine of paired rows."""

from __future__ import annotations

from math import isnan, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array, csr_matrix
from scipy.spatial.distance import cosine as cosine_distance

from embassay.geometry import closeness
from embassay.geometry.closeness import paired_cosine

matrices = hnp.arrays(np.float32, st.tuples(st.integers(1, 6), st.integers(1, 9)), elements=st.floats(-8, 8, width=32))


def vectors(rows=60, width=384, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).normal(size=(2, rows, width)).astype(dtype)


def sparse_vectors(rows=60, width=500, seed=0):
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(2, rows, width)) * (rng.random((2, rows, width)) < 0.05)
    return dense.astype(np.float32)


def loop_cosine(u, v):
    dot = sum(float(x) * float(y) for x, y in zip(u, v, strict=True))
    scale = sqrt(sum(float(x) ** 2 for x in u)) * sqrt(sum(float(y) ** 2 for y in v))
    return dot / scale if scale else float("nan")


def same_bits(a, b):
    return a.dtype == b.dtype == np.float64 and a.tobytes() == b.tobytes()


def test_cosine_by_hand():
    # (3, 4)·(4, 3) = 24 of 5·5; (1, 0)·(0, 2) = 0; (1, 1)·(−2, −2) = −4 of √2·√8; (1, 1)·(1, 0) = 1 of √2.
    u = np.array([[3, 4], [1, 0], [1, 1], [1, 1]], dtype=np.float32)
    v = np.array([[4, 3], [0, 2], [-2, -2], [1, 0]], dtype=np.float32)
    assert paired_cosine(u, v) == pytest.approx([0.96, 0.0, -1.0, 0.7071067811865476], abs=1e-15)


@given(
    matrices.flatmap(
        lambda u: st.tuples(st.just(u), hnp.arrays(np.float32, u.shape, elements=st.floats(-8, 8, width=32)))
    )
)
def test_cosine_equals_a_loop(pair):
    u, v = pair
    for found, a, b in zip(paired_cosine(u, v), u, v, strict=True):
        expected = loop_cosine(a, b)
        assert found == pytest.approx(expected, abs=1e-12) or (isnan(found) and isnan(expected))


def test_cosine_agrees_with_scipy():
    u, v = vectors(dtype=np.float64)
    found = paired_cosine(u, v)
    assert found == pytest.approx([1 - cosine_distance(a, b) for a, b in zip(u, v, strict=True)], abs=1e-12)


def test_golden_cosine():
    # 0.1 and 0.3 as float32 are 13421773/2²⁷ and 5033165/2²⁴; 2ab/(a² + b²) of these in 50-digit decimals.
    found = paired_cosine(np.array([[0.1, 0.3]], dtype=np.float32), np.array([[0.3, 0.1]], dtype=np.float32))
    assert found == pytest.approx([0.59999998807907142240], abs=2e-16)


def test_float32_is_widened_before_it_is_multiplied():
    u, v = vectors()
    assert same_bits(paired_cosine(u, v), paired_cosine(u.astype(np.float64), v.astype(np.float64)))


def test_the_inputs_are_left_as_they_are():
    u, v = vectors(rows=3)
    before = u.copy(), v.copy()
    paired_cosine(u, v)
    assert (u == before[0]).all()
    assert (v == before[1]).all()


@pytest.mark.parametrize("length", [1e155, 1e200])
def test_a_row_whose_squares_overflow_is_undefined(length):
    u, v = np.array([[length, length], [1.0, 1.0]]), np.array([[1.0, 2.0], [length, length]])
    assert np.isnan(paired_cosine(u, v)).all()
    assert np.isnan(closeness.paired(u, v, ["cosine"])["cosine"]).all()


def test_a_zero_row_is_undefined():
    u = np.array([[0, 0], [1, 2], [0, 0]], dtype=np.float32)
    v = np.array([[1, 2], [0, 0], [0, 0]], dtype=np.float32)
    assert np.isnan(paired_cosine(u, v)).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_not_finite_is_undefined_and_touches_no_other(bad):
    u, v = vectors(rows=3, width=4)
    expected = paired_cosine(u, v)
    u[1, 2] = bad
    found = paired_cosine(u, v)
    assert np.isnan(found).tolist() == [False, True, False]
    assert found[[0, 2]].tolist() == expected[[0, 2]].tolist()


@pytest.mark.parametrize("other", [[0.0, 1.0], [1.0, -1.0]])
def test_infinity_is_undefined_without_a_warning(other):
    assert np.isnan(paired_cosine(np.array([[np.inf, np.inf]]), np.array([other]))).all()


@pytest.mark.parametrize("scale", [1e-30, 1e-15, 1e15, 1e30])
def test_huge_and_tiny_rows_have_the_cosine_of_plain_ones(scale):
    u, v = vectors(dtype=np.float64)
    expected = paired_cosine(u, v)
    assert paired_cosine((scale * u).astype(np.float32), v) == pytest.approx(expected, abs=1e-7)
    assert paired_cosine(scale * u, scale * v) == pytest.approx(expected, abs=1e-14)


def test_the_whole_range_of_float32_is_safe():
    limits = np.finfo(np.float32)
    u = np.array([[limits.max, limits.max], [limits.smallest_subnormal] * 2], dtype=np.float32)
    assert paired_cosine(u, u[::-1]) == pytest.approx([1.0, 1.0], abs=1e-15)


@given(matrices)
def test_a_vector_is_nearest_to_itself_and_farthest_from_its_opposite(u):
    for matrix, sign in [(u, 1.0), (-u, -1.0)]:
        found = paired_cosine(u, matrix)
        assert (np.isnan(found) == ~u.any(axis=1)).all()
        assert found[u.any(axis=1)] == pytest.approx(sign, abs=1e-14)


@settings(max_examples=300)
@given(matrices, st.floats(0.25, 4, width=32))
def test_rounding_never_leaves_the_range(u, factor):
    found = paired_cosine(u, np.float32(factor) * u)
    assert not (np.abs(found) > 1).any()


def test_the_clip_is_needed():
    # Unclipped, some of these cosines of a vector with a multiple of itself are 1 + 2⁻⁵².
    u = vectors(rows=2000, width=5, dtype=np.float64)[0]
    v = 3 * u
    raw = (u * v).sum(axis=1) / (np.sqrt((u * u).sum(axis=1)) * np.sqrt((v * v).sum(axis=1)))
    assert raw.max() > 1
    assert paired_cosine(u, v).max() == 1.0
    assert paired_cosine(u, -v).min() == -1.0


def test_the_cosine_is_symmetric_bit_for_bit():
    u, v = vectors()
    assert same_bits(paired_cosine(u, v), paired_cosine(v, u))


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_the_order_of_rows_changes_no_bit(make):
    u, v = vectors() if make is np.asarray else sparse_vectors()
    order = np.random.default_rng(1).permutation(len(u))
    assert same_bits(paired_cosine(make(u), make(v))[order], paired_cosine(make(u[order]), make(v[order])))


@pytest.mark.parametrize("make", [np.asarray, csr_array])
@pytest.mark.parametrize("width", [1, 2, 7, 8, 129, 384])
def test_the_number_of_rows_changes_no_bit(make, width):
    u, v = vectors(width=width)
    together = paired_cosine(make(u), make(v))
    alone = [paired_cosine(make(u[i : i + 1]), make(v[i : i + 1])) for i in range(len(u))]
    assert same_bits(together, np.concatenate(alone))


@pytest.mark.parametrize("block", [1, 7, 60, 10**6])
def test_the_block_size_changes_no_bit(block, monkeypatch):
    u, v = vectors()
    expected = paired_cosine(u, v)
    monkeypatch.setattr(closeness, "BLOCK", block)
    assert same_bits(paired_cosine(u, v), expected)


def test_more_rows_than_a_block():
    u, v = vectors(rows=closeness.BLOCK + 3, width=2)
    found = paired_cosine(u, v)
    assert len(found) == closeness.BLOCK + 3
    assert same_bits(found[-5:], paired_cosine(u[-5:], v[-5:]))


def test_the_memory_layout_changes_no_bit():
    u, v = vectors()
    assert same_bits(paired_cosine(np.asfortranarray(u), np.asfortranarray(v)), paired_cosine(u, v))


@pytest.mark.parametrize("make", [csr_array, csr_matrix])
def test_csr_equals_dense(make):
    u, v = sparse_vectors()
    found = paired_cosine(make(u), make(v))
    assert found.shape == (60,)
    assert found.dtype == np.float64
    assert found == pytest.approx(paired_cosine(u, v), abs=1e-14)


def test_a_zero_row_of_csr_is_undefined():
    u, v = sparse_vectors(rows=4)
    u[1], v[2] = 0, 0
    assert np.isnan(paired_cosine(csr_array(u), csr_array(v))).tolist() == [False, True, True, False]


def test_stored_zeros_and_unsorted_columns_of_csr_change_nothing():
    plain = csr_array(np.array([[1, 0, 2], [0, 3, 0]], dtype=np.float32))
    odd = csr_array(
        (np.array([2, 0, 1, 3], dtype=np.float32), np.array([2, 1, 0, 1]), np.array([0, 3, 4])), shape=(2, 3)
    )
    other = csr_array(np.array([[1, 1, 0], [1, 1, 1]], dtype=np.float32))
    assert paired_cosine(odd, other) == pytest.approx(paired_cosine(plain, other), abs=1e-15)


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_no_rows_have_no_cosines(make):
    none = make(np.empty((0, 4), dtype=np.float32))
    found = paired_cosine(none, none)
    assert found.shape == (0,)
    assert found.dtype == np.float64


def test_vectors_without_dimensions_are_undefined():
    assert np.isnan(paired_cosine(np.empty((2, 0)), np.empty((2, 0)))).all()
