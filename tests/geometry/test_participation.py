"""The unbiased participation ratio: by hand, naive loops over quadruples, simulations with a known covariance."""

from __future__ import annotations

from itertools import permutations
from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from embassay.stats.geometry.closeness import unit_rows
from embassay.stats.geometry.isotropy import isotropy
from embassay.stats.geometry.participation import Scatter

seeds = st.integers(0, 2**32 - 1)


def vectors(rows, width, seed=0, shift=0.5):
    """Vectors of uneven spread around a mean that is not 0."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, width)) * np.linspace(0.3, 2, width) + shift


def scatter(rows):
    """The sums over centred rows, by their definitions."""
    centred = rows - rows.mean(axis=0)
    lengths = (centred**2).sum(axis=1)
    return Scatter(len(rows), lengths.sum(), ((centred.T @ centred) ** 2).sum(), (lengths**2).sum())


def over_tuples(rows):
    """tr(Σ)² and tr(Σ²) as means over all pairs, triples and quadruples of different rows (Chen et al. 2010)."""
    products = rows @ rows.T
    everyone = range(len(rows))
    pairs = list(permutations(everyone, 2))
    triples = list(permutations(everyone, 3))
    quadruples = list(permutations(everyone, 4))
    apart = np.mean([products[i, j] * products[k, m] for i, j, k, m in quadruples])
    of_square = (
        np.mean([products[i, j] ** 2 for i, j in pairs])
        - 2 * np.mean([products[i, j] * products[j, k] for i, j, k in triples])
        + apart
    )
    squared = (
        np.mean([products[i, i] * products[j, j] for i, j in pairs])
        - 2 * np.mean([products[i, i] * products[j, k] for i, j, k in triples])
        + apart
    )
    return squared, of_square


def naive_ratio(rows):
    squared, of_square = over_tuples(unit_rows(rows))
    return squared / of_square


# --- the estimators --------------------------------------------------------------------------------------


def test_four_rows_by_hand():
    # ±e₁, ±e₂, centred: T = 4, S = ‖2I‖² = 8, Q = 4. (4)₂ = 12, (4)₃ = (4)₄ = 24.
    # tr(Σ²): (8 − 4)/12 − 2(8 − 8)/24 + (16 + 16 − 24)/24 = ⅔.
    # tr(Σ)²: (16 − 4)/12 − 2(8 − 16)/24 + 8/24 = 2.
    found = Scatter(4, 4.0, 8.0, 4.0)
    assert found.trace_of_square() == pytest.approx(2 / 3, abs=1e-15)
    assert found.trace_squared() == pytest.approx(2, abs=1e-15)
    assert found.participation_ratio() == pytest.approx(3, abs=1e-14)


@settings(deadline=None, max_examples=25)
@given(seeds, st.integers(4, 7), st.integers(1, 9))
def test_the_estimators_equal_naive_loops_over_pairs_triples_and_quadruples(seed, rows, width):
    v = vectors(rows, width, seed)
    found = scatter(v)
    assert (found.trace_squared(), found.trace_of_square()) == pytest.approx(over_tuples(v), rel=1e-9, abs=1e-9)


def test_the_estimator_of_tr_of_the_square_is_that_of_himeno_and_yamada():
    # Himeno & Yamada (2014): (n − 1)/(n(n − 2)(n − 3)) ((n − 1)(n − 2) tr(S²) + tr(S)² − n q), S with n − 1 below,
    # q = Σ‖x − x̄‖⁴/(n − 1).
    v = vectors(23, 9)
    n, covariance = len(v), np.cov(v.T)
    fourth = (((v - v.mean(axis=0)) ** 2).sum(axis=1) ** 2).sum() / (n - 1)
    bracket = (n - 1) * (n - 2) * (covariance**2).sum() + np.trace(covariance) ** 2 - n * fourth
    assert scatter(v).trace_of_square() == pytest.approx((n - 1) / (n * (n - 2) * (n - 3)) * bracket, rel=1e-12)


@pytest.mark.parametrize(("rows", "repeats"), [(4, 20_000), (8, 10_000), (40, 2_000)])
def test_both_estimators_are_unbiased_for_a_gaussian_with_a_mean(rows, repeats):
    spread = np.array([2.0, 1.5, 1.0, 0.5, 0.2])
    rng = np.random.default_rng(rows)
    samples = rng.normal(size=(repeats, rows, 5)) * spread + np.array([3.0, -1.0, 0.0, 2.0, 5.0])
    found = np.array([(s.trace_squared(), s.trace_of_square()) for s in map(scatter, samples)])
    truth = (spread**2).sum() ** 2, (spread**4).sum()
    error = found.std(axis=0) / np.sqrt(repeats)
    assert (np.abs(found.mean(axis=0) - truth) < 4 * error).all()


# --- the participation ratio of vectors ------------------------------------------------------------------


@pytest.mark.parametrize("make", [np.asarray, csr_array])
@pytest.mark.parametrize("shape", [(7, 3), (7, 7), (6, 11)])
def test_it_equals_the_naive_loops_with_more_and_with_fewer_rows_than_dimensions(make, shape):
    v = vectors(*shape)
    found = isotropy(make(v))
    assert found.participation_ratio == pytest.approx(naive_ratio(v), rel=1e-9)
    expected = (naive_ratio(v) - 1) / (shape[1] - 1)
    assert found.isoscore_unbiased == pytest.approx(min(max(expected, 0), 1), abs=1e-9)


# --- what is undefined -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_under_four_rows_there_is_no_estimate(rows):
    found = isotropy(vectors(rows, 5))
    assert isnan(found.participation_ratio)
    assert isnan(found.isoscore_unbiased)
