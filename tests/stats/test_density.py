"""Histograms, kernel densities within bounds, and the area that two of them share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from embassay.stats.density import bandwidth, density, histogram, overlap

NAN = float("nan")
CENTRES = -1 + (np.arange(2048) + 0.5) / 1024
cosines = st.lists(st.one_of(st.floats(-1, 1), st.just(NAN)), min_size=1, max_size=60)


def normal(centre, spread, n=20_000):
    """Return the n quantiles of a normal law: a sample without chance."""
    return stats.norm.ppf((np.arange(n) + 0.5) / n, centre, spread)


def reflected(values, grid, low, high):
    """Sum scipy's density at a point and at its mirror images beyond the ends."""
    kernel = stats.gaussian_kde(values, bw_method=bandwidth(values) / values.std(ddof=1))
    return kernel(grid) + kernel(2 * low - grid) + kernel(2 * high - grid)


# --- histogram -------------------------------------------------------------------------------------------


def test_histogram_by_hand():
    # Bins [0, 1), [1, 2), [2, 3), [3, 4]: 0 and 0.5; 1 on its edge; none; 3.5, 4 on the last edge, and 9 from beyond;
    # −1 goes to the first. 3, 1, 0 and 3 of seven; the NaN is not one of them.
    edges, shares = histogram(np.array([0, 0.5, 1, 3.5, 4, 9, -1, NAN]), 0, 4, bins=4)
    assert edges.tolist() == [0, 1, 2, 3, 4]
    assert shares == pytest.approx([3 / 7, 1 / 7, 0, 3 / 7])


@given(cosines, st.integers(1, 50))
def test_the_shares_of_a_histogram_add_up_to_1_or_0(values, bins):
    edges, shares = histogram(np.array(values), -0.5, 0.75, bins)
    assert (len(edges), len(shares)) == (bins + 1, bins)
    assert (edges[0], edges[-1]) == (-0.5, 0.75)
    assert (shares >= 0).all()
    assert shares.sum() == pytest.approx(0 if np.isnan(values).all() else 1)


def test_rounding_does_not_move_a_value_over_an_edge():
    values = np.array([0.3, 0.7, 1.0])
    for noise in (-1e-7, 0, 1e-7):
        assert histogram(values + noise, 0, 2, 20)[1][[3, 7, 10]].tolist() == [1 / 3] * 3


def test_histogram_of_nothing_is_0():
    for values in (np.empty(0), np.full(3, NAN)):
        assert histogram(values, 0, 1)[1].tolist() == [0.0] * 40


# --- bandwidth -------------------------------------------------------------------------------------------


def test_bandwidth_by_hand():
    # 0, 1, 2, 3, 4: sd = √2.5 = 1.581, IQR = 2, 2/1.34 = 1.49254 is the smaller; 5^(−1/5) = 0.724780;
    # 0.9 · 1.49254 · 0.724780 = 0.973585.
    assert bandwidth(np.arange(5.0)) == pytest.approx(0.973585, abs=1e-6)
    # 0, 1: sd = 0.707107, IQR = 0.5, 0.5/1.34 = 0.373134; 2^(−1/5) = 0.870551; 0.9 · 0.373134 · 0.870551.
    assert bandwidth(np.arange(2.0)) == pytest.approx(0.292349, abs=1e-6)


def test_bandwidth_where_most_values_agree_is_that_of_the_standard_deviation():
    # Seven zeros and a one: IQR = 0; sd² = (1 − 1/8)/7 = 0.125; 8^(−1/5) = 0.659754; 0.9 · 0.353553 · 0.659754.
    assert bandwidth(np.array([0.0] * 7 + [1.0])) == pytest.approx(0.209932, abs=1e-6)


@pytest.mark.parametrize("values", [[], [0.3], [0.25] * 9])
def test_bandwidth_of_what_does_not_vary_is_0(values):
    assert bandwidth(np.array(values)) == 0


# --- density ---------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(cosines)
def test_a_density_has_the_area_1_and_is_nowhere_negative(values):
    found = density(np.array(values), CENTRES, -1, 1)
    assert np.isfinite(found).all()
    assert (found >= -1e-12).all()
    assert found.sum() / 1024 == pytest.approx(0 if np.isnan(values).all() else 1, abs=1e-9)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_density_agrees_with_scipy_in_the_interior(seed):
    rng = np.random.default_rng(seed)
    values = np.concatenate([rng.normal(-0.2, 0.05, 150), rng.normal(0.3, 0.1, 250)])
    grid = np.linspace(-1, 1, 201)
    expected = stats.gaussian_kde(values, bw_method=bandwidth(values) / values.std(ddof=1))(grid)
    assert density(values, grid, -1, 1) == pytest.approx(expected, abs=0.005 * expected.max())


@pytest.mark.parametrize("law", [stats.uniform(0, 1), stats.beta(1, 6), stats.beta(0.5, 0.5)])
def test_a_density_is_reflected_at_both_ends(law):
    values = law.rvs(size=500, random_state=np.random.default_rng(3))
    grid = np.linspace(0, 1, 101)
    expected = reflected(values, grid, 0, 1)
    assert density(values, grid, 0, 1) == pytest.approx(expected, abs=0.01 * expected.max())


def test_a_density_leaves_out_undefined_values():
    values, grid = normal(0.2, 0.1, 50), np.linspace(-1, 1, 41)
    assert (density(np.append(values, [NAN] * 9), grid, -1, 1) == density(values, grid, -1, 1)).all()


def test_a_density_of_nothing_is_0():
    for values in (np.empty(0), np.full(3, NAN)):
        assert density(values, np.linspace(0, 1, 5), 0, 1).tolist() == [0.0] * 5


# --- overlap ---------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(cosines.filter(lambda v: not np.isnan(v).all()), cosines.filter(lambda v: not np.isnan(v).all()))
def test_overlap_is_symmetric_in_range_and_1_with_itself(first, second):
    a, b = np.array(first), np.array(second)
    assert overlap(a, b, -1, 1) == overlap(b, a, -1, 1)
    assert 0 <= overlap(a, b, -1, 1) <= 1
    assert overlap(a, a.copy(), -1, 1) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("distance", [0.5, 1.0, 2.0, 3.0])
def test_overlap_of_two_normals_at_a_distance(distance):
    # Inman & Bradley (1989): 2Φ(−δ/2), δ in standard deviations, which smoothing widens by less than 1 %.
    found = overlap(normal(0, 0.1), normal(0.1 * distance, 0.1), -1, 1)
    assert found == pytest.approx(2 * stats.norm.cdf(-distance / 2), abs=0.006)


def test_overlap_without_values_is_undefined():
    some = np.array([0.1, 0.2])
    for none in (np.empty(0), np.full(3, NAN)):
        assert np.isnan(overlap(none, some, -1, 1))
        assert np.isnan(overlap(some, none, -1, 1))
