"""Projections from sums of pairs: the same as from the vectors, up to the rounding of float64."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embassay.stats.geometry.closeness import Moments
from embassay.stats.geometry.plane import project, project_by_products

FIELDS = ("from_a", "from_b", "position", "share", "norm_ratio")


def drawn(seed, rows=7, width=5, number=3):
    rng = np.random.default_rng(seed)
    numbers = rng.integers(-1, 2, size=(number, rows, width)) if seed % 2 else rng.normal(size=(number, rows, width))
    return numbers.astype(np.float32)


def test_moments_of_some_vectors_are_those_of_these_vectors():
    (u,) = drawn(0, number=1)
    rows = np.array([3, 0, 3])
    for one, other in zip(vars(Moments.of(u).take(rows)).values(), vars(Moments.of(u[rows])).values(), strict=True):
        assert np.array_equal(one, other)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**31).map(lambda n: 2 * n))
def test_a_projection_by_products_is_the_projection(seed):
    a, b, t = drawn(seed)
    plane = project(a, b, t)
    wide = [block.astype(np.float64) for block in (a, b, t)]
    norms = [np.linalg.norm(block, axis=1) for block in wide]
    products = [(wide[2] * block).sum(axis=1) for block in wide[:2]]
    found = project_by_products(plane.angle, *products, *norms)
    for name in FIELDS:
        assert getattr(found, name) == pytest.approx(getattr(plane, name), abs=1e-9)


def test_a_vector_opposite_to_a_lies_on_the_side_of_b_whatever_rounding_says():
    a, b = np.array([[0.3, 0.1, 0.7]]), np.array([[0.2, 0.9, 0.1]])
    plane = project(a, b, -a)
    norms = [np.linalg.norm(v, axis=1) for v in (a, b, a)]
    for noise in (-1e-16, 0.0, 1e-16):
        found = project_by_products(plane.angle, -(a * a).sum(axis=1), -(a * b).sum(axis=1) + noise, *norms)
        assert found.position == pytest.approx(np.pi / plane.angle)
