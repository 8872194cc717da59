"""Isotropy against hand-worked matrices, naive definitions, and the IsoScore package."""

from __future__ import annotations

from math import isnan, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from embassay.stats.geometry import isotropy as module
from embassay.stats.geometry.closeness import unit_rows
from embassay.stats.geometry.isotropy import isotropy

seeds = st.integers(0, 2**32 - 1)


def vectors(n=200, d=12, seed=0, dtype=np.float64, shift=0.5):
    """Vectors of uneven spread around a mean that is not 0."""
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, d)) * np.linspace(0.3, 2, d) + shift).astype(dtype)


def spread(rows, width, seed):
    """Vectors that are surely not nearly equal, whatever the seed."""
    return np.vstack([vectors(rows, width, seed), np.eye(width)[:2]])


def sparse_vectors(n=150, d=40, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.2)).astype(np.float32)


def naive(v):
    """I_A, IsoScore, the plug-in participation ratio and the mean cosine, as the module's docstring defines them."""
    v = v[np.abs(v).sum(axis=1) > 0].astype(np.float64)
    v = v / np.linalg.norm(v, axis=1, keepdims=True)
    n, d = v.shape
    sigma = np.linalg.svd(v, compute_uv=False)
    smallest = sigma[-1] if n >= d else 0.0
    length = np.linalg.norm(v.sum(axis=0))
    i_a = (n - length + smallest**2 / 2) / (n + length + sigma[0] ** 2 / 2)
    values = np.linalg.eigvalsh(np.cov(v.T, bias=True))
    hat = sqrt(d) * values / np.linalg.norm(values)
    delta = np.linalg.norm(hat - 1) / sqrt(2 * (d - sqrt(d)))
    phi = (d - delta**2 * (d - sqrt(d))) ** 2 / d**2
    cosines = [v[i] @ v[j] for i in range(n) for j in range(n) if i != j]
    return i_a, (d * phi - 1) / (d - 1), values.sum() ** 2 / (values**2).sum(), np.mean(cosines)


def four(found):
    return found.i_a, found.isoscore, found.participation_ratio_plugin, found.mean_cosine


E1, E2 = [1.0, 0.0], [0.0, 1.0]


@pytest.mark.parametrize(
    ("rows", "i_a", "score", "ratio", "cosine"),
    [
        # ±e₁, ±e₂: G = 2I, 1ᵀV = 0, C = ½I: I_A = (4 + 1)/(4 + 1); of 12 ordered pairs 4 are opposite.
        ([E1, [-1, 0], E2, [0, -1]], 1, 1, 2, -1 / 3),
        # e₁, e₂: G = I, ‖1ᵀV‖ = √2, C = ¼(1, −1)(1, −1)ᵀ: tr ½, ‖C‖² ¼.
        ([E1, E2], (2.5 - sqrt(2)) / (2.5 + sqrt(2)), 0, 1, 0),
        # e₁, −e₁: σ² = 2, 0: I_A = 2/(2 + 1); one direction.
        ([E1, [-1, 0]], 2 / 3, 0, 1, -1),
        # e₁ twice, e₂ twice: G = 2I, ‖1ᵀV‖ = 2√2; of 12 pairs 4 are equal.
        ([E1, E1, E2, E2], (5 - 2 * sqrt(2)) / (5 + 2 * sqrt(2)), 0, 1, 1 / 3),
        # e₁, e₂ of three dimensions: σ_min = 0, as n < d.
        ([[1, 0, 0], [0, 1, 0]], (2 - sqrt(2)) / (2.5 + sqrt(2)), 0, 1, 0),
        # Three directions at 120°: G = 3/2 I: I_A = (3 + ¾)/(3 + ¾); cosines −½.
        ([[1, 0], [-0.5, sqrt(0.75)], [-0.5, -sqrt(0.75)]], 1, 1, 2, -1 / 2),
    ],
)
@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_tiny_matrices_by_hand(make, rows, i_a, score, ratio, cosine):
    found = isotropy(make(np.array(rows)))
    assert four(found) == pytest.approx((i_a, score, ratio, cosine), abs=1e-14)
    assert found.rows == len(rows)


@settings(deadline=None)
@given(seeds, st.integers(2, 12), st.integers(1, 40))
def test_the_figures_equal_their_definitions(seed, width, rows):
    v = spread(rows, width, seed)
    assert four(isotropy(v)) == pytest.approx(naive(v), abs=1e-10)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-6), (np.float64, 1e-7)])
@pytest.mark.parametrize(("rows", "width", "shift"), [(300, 8, 0.0), (500, 32, 0.5), (900, 128, 2.0)])
def test_isoscore_agrees_with_the_package_of_its_authors(dtype, tolerance, rows, width, shift):
    # IsoScore 2.0.1 from PyPI (Rudman et al. 2022); it takes (points, dimensions) and scales no rows.
    pytest.importorskip("torch")
    package = pytest.importorskip("IsoScore.IsoScore")
    v = unit_rows(vectors(rows, width, shift=shift)).astype(dtype)
    assert isotropy(v).isoscore == pytest.approx(float(package.IsoScore(v)), abs=tolerance)


@pytest.mark.parametrize("make", [np.asarray, csr_array])
@pytest.mark.parametrize("shape", [(60, 12), (8, 12)])
def test_zero_vectors_are_left_out(make, shape):
    v = vectors(*shape)
    holed = np.insert(v, [0, 3, 3, len(v)], 0, axis=0)
    found = isotropy(make(holed))
    assert four(found) == pytest.approx(four(isotropy(make(v))), abs=1e-13)
    assert found.rows == len(v)


def test_the_largest_singular_value_of_csr_is_found_though_its_rows_cancel_out():
    # 30 times e₁ and −e₁, and 20 other directions once: σ²_max = 60, 1ᵀV = the sum of the others.
    v = np.zeros((80, 400))
    v[:30, 0], v[30:60, 0], v[range(60, 80), range(1, 21)] = 1, -1, 1
    assert isotropy(csr_array(v)).i_a == pytest.approx((80 - sqrt(20)) / (80 + sqrt(20) + 60 / 2), abs=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("block", [1, 7, 64])
def test_the_block_size_matters_by_rounding_only(dtype, block, monkeypatch):
    v = vectors(dtype=dtype)
    expected = four(isotropy(v))
    monkeypatch.setattr(module, "BLOCK", block)
    assert four(isotropy(v)) == pytest.approx(expected, rel=1e-6 if dtype == np.float32 else 1e-13)


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_i_a_is_left_out_where_the_matrix_would_be_too_wide(make, monkeypatch):
    monkeypatch.setattr(module, "WIDEST", 5)
    found = isotropy(make(vectors(20, 6)))
    assert isnan(found.i_a)
    assert not np.isnan(four(found)[1:]).any()
    assert not isnan(isotropy(make(vectors(5, 6))).i_a)
    assert not isnan(isotropy(make(vectors(20, 5))).i_a)
