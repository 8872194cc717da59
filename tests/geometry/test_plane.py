"""Where a vector falls on the plane of two others."""

from __future__ import annotations

from dataclasses import fields
from math import pi, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from embassay.stats.geometry.plane import Plane, project

NAMES = [f.name for f in fields(Plane)]
PLANAR = ["angle", "from_a", "from_b", "position", "share"]
seeds = st.integers(0, 2**32 - 1)


def one(a, b, t):
    found = project(*(np.array([v], dtype=np.float64) for v in (a, b, t)))
    return {name: getattr(found, name).item() for name in NAMES}


def random(n=50, d=16, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).normal(size=(3, n, d)).astype(dtype)


def angle_of(u, v):
    """Angle of two vectors, exact also near 0 and π."""
    u, v = u / np.linalg.norm(u), v / np.linalg.norm(v)
    return 2 * np.arctan2(np.linalg.norm(u - v), np.linalg.norm(u + v))


@pytest.mark.parametrize(
    ("t", "from_a", "from_b", "position"),
    [
        ((5, 0), 0, pi / 2, 0),  # a
        ((0, 2), pi / 2, 0, 1),  # b
        ((1, 1), pi / 4, pi / 4, 1 / 2),  # half way: φ = 45° of 90°
        ((sqrt(3), 1), pi / 6, pi / 3, 1 / 3),  # φ = 30°
        ((-1, 1), 3 * pi / 4, pi / 4, 3 / 2),  # φ = 135°: beyond b
        ((1, -1), pi / 4, 3 * pi / 4, -1 / 2),  # φ = −45°: beyond a
        ((0, -1), pi / 2, pi, -1),  # −b
        ((-1, -1), 3 * pi / 4, 3 * pi / 4, -3 / 2),  # φ = −135°
    ],
)
def test_two_dimensions_by_hand(t, from_a, from_b, position):
    # a and b at a right angle, of lengths 2 and 3.
    found = one((2, 0), (0, 3), t)
    expected = {"angle": pi / 2, "from_a": from_a, "from_b": from_b, "position": position, "share": 1}
    assert found == pytest.approx({**expected, "norm_ratio": 2 / 3}, abs=1e-15)


@pytest.mark.parametrize("t", [(0, 0, 1), (0, 0, -7), (1e-7, 0, 1)])
def test_a_vector_that_is_orthogonal_to_the_plane_has_no_projection(t):
    found = one((1, 0, 0), (1, 1, 0), t)
    assert np.isnan([found[name] for name in PLANAR]).all()
    assert found["norm_ratio"] == pytest.approx(1 / sqrt(2), abs=1e-15)


@pytest.mark.parametrize("factor", [1, 2, 0.1, 1e-5, -1, -3, -1e7])
def test_parallel_vectors_span_no_plane(factor):
    a, _, t = random(n=20)
    found = project(a, factor * a, t)
    for name in PLANAR:
        assert np.isnan(getattr(found, name)).all()
    assert found.norm_ratio == pytest.approx(1 / abs(factor), rel=1e-14)


def test_zero_vectors_span_no_plane_and_have_no_ratio():
    e1, e2, zero = (1, 0, 0), (0, 1, 0), (0, 0, 0)
    for a, b in [(zero, e2), (e1, zero), (zero, zero)]:
        assert np.isnan(list(one(a, b, e1).values())).all()
    found = one(e1, e2, zero)
    assert np.isnan([found[name] for name in PLANAR]).all()
    assert found["norm_ratio"] == 1


@settings(deadline=None)
@given(seeds, st.integers(3, 40))
def test_the_projection_is_the_least_squares_fit(seed, width):
    a, b, t = random(n=4, d=width, seed=seed)
    found = project(a, b, t)
    for row in range(4):
        x, y = np.linalg.lstsq(np.stack([a[row], b[row]], axis=1), t[row])[0]
        p = x * a[row] + y * b[row]
        assert found.share[row] == pytest.approx(np.linalg.norm(p) / np.linalg.norm(t[row]), abs=1e-9)
        assert found.angle[row] == pytest.approx(angle_of(a[row], b[row]), abs=1e-12)
        assert found.from_a[row] == pytest.approx(angle_of(a[row], p), abs=1e-6)
        assert found.from_b[row] == pytest.approx(angle_of(b[row], p), abs=1e-6)
        # The projection lies on b's side of a when its share of b is positive.
        signed = np.sign(y) * angle_of(a[row], p) / angle_of(a[row], b[row])
        assert found.position[row] == pytest.approx(signed, abs=1e-6)
        assert found.norm_ratio[row] == pytest.approx(np.linalg.norm(a[row]) / np.linalg.norm(b[row]), rel=1e-12)


def sparse_vectors(n=200, d=300, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(3, n, d)) * (rng.random((3, n, d)) < 0.1)).astype(np.float32)


def test_csr_equals_dense():
    a, b, t = sparse_vectors()
    dense, sparse = project(a, b, t), project(*(csr_array(v) for v in (a, b, t)))
    for name in NAMES:
        # A position near −π or π of a tiny angle may differ by more than an angle does.
        assert getattr(sparse, name) == pytest.approx(getattr(dense, name), abs=1e-10, nan_ok=True)
