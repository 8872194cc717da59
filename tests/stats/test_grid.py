"""Shares averaged over a grid of thresholds, against the loop over the grid that they replace."""

from __future__ import annotations

import numpy as np
import pytest

from embassay.stats.grid import Grid, cells

NAN = float("nan")
AXES = [(-1.0, 1.0), (0.0, 0.37), (-0.0123, 0.4567)]


def loop(first, second, one, two, per_bin):
    """Bansal et al. (2025), as described: every pair of tolerances of every pair of bins, every sample in one cell.

    np.linspace edges into 10 bins, ``per_bin`` values in each, both ends included. Returns the
    average over the pairs of the share of the samples in TT, TF, FT and FF.
    """
    shares, pairs = np.zeros(4), 0
    edges_1, edges_2 = np.linspace(*one, 11), np.linspace(*two, 11)
    for i in range(10):
        for e1 in np.linspace(edges_1[i], edges_1[i + 1], per_bin):
            t1 = first >= e1
            for j in range(10):
                for e2 in np.linspace(edges_2[j], edges_2[j + 1], per_bin):
                    t2 = second >= e2
                    tt = np.count_nonzero(t1 & t2)
                    tf, ft = np.count_nonzero(t1) - tt, np.count_nonzero(t2) - tt
                    shares += np.array([tt, tf, ft, len(first) - tt - tf - ft]) / len(first)
                    pairs += 1
    return shares / pairs


# --- Grid ------------------------------------------------------------------------------------------------


def test_fraction_by_hand():
    # Thresholds 0, 0.1, 0.2. 0.1 reaches two of them, itself included; 0.05 one; 0.3 all; −0.1 none; NaN none.
    grid = Grid(np.array([0.0, 0.1, 0.2]))
    margins = np.array([0.1, 0.05, 0.3, -0.1, NAN])
    assert grid.fraction(margins)[:4] == pytest.approx([2 / 3, 1 / 3, 1, 0])
    assert np.isnan(grid.fraction(margins)[4])
    assert grid.size == 3


def test_a_threshold_that_stands_twice_counts_twice():
    # 0, 1, 1, 2: 1 reaches three, 2 all four, 0 one.
    assert Grid(np.array([0.0, 1.0, 1.0, 2.0])).fraction(np.array([1.0, 2.0, 0.0])).tolist() == [3 / 4, 1, 1 / 4]


def test_spanning_by_hand():
    # Ten bins of two values, both ends included: every inner edge stands twice.
    expected = [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10]
    assert Grid.spanning(0.0, 10.0, 2).values == pytest.approx(expected)


def test_the_authors_have_23_values_in_a_bin():
    assert Grid.spanning(0, 1).size == 230


# --- cells -----------------------------------------------------------------------------------------------


def test_cells_by_hand():
    # Thresholds 0, 0.1, 0.2 on both axes. First 0.1, 0.05, 0.3: F₁ = 2/3, 1/3, 1; second −0.1, 0.2, 0.05: F₂ = 0, 1,
    # 1/3. F₁F₂, F₁(1 − F₂), (1 − F₁)F₂, (1 − F₁)(1 − F₂): 0, 2/3, 0, 1/3; 1/3, 0, 2/3, 0; 1/3, 2/3, 0, 0.
    grid = Grid(np.array([0.0, 0.1, 0.2]))
    first, second = np.array([0.1, 0.05, 0.3]), np.array([-0.1, 0.2, 0.05])
    expected = np.array([[0, 2, 0, 1], [1, 0, 2, 0], [1, 2, 0, 0]]) / 3
    assert cells(grid.fraction(first), grid.fraction(second)) == pytest.approx(expected, abs=1e-15)


def test_cells_of_an_undefined_margin_are_undefined():
    found = cells(np.array([NAN, 0.5, 0.5]), np.array([0.5, NAN, 0.5]))
    assert np.isnan(found).all(axis=1).tolist() == [True, True, False]
    assert not np.isnan(found[2]).any()


@pytest.mark.parametrize("per_bin", [23, 11])
@pytest.mark.parametrize(("one", "two"), [(AXES[0], AXES[0]), (AXES[1], AXES[2]), (AXES[2], (0.25, 0.25))])
def test_cells_equal_the_loop_over_all_pairs_of_tolerances(one, two, per_bin):
    rng = np.random.default_rng(per_bin)
    axes = Grid.spanning(*one, per_bin), Grid.spanning(*two, per_bin)

    def margins(grid):
        # A third on thresholds, a third one ulp beside them, a third anywhere; edges, which stand twice, included.
        on, near = rng.choice(grid.values, 12), rng.choice(grid.values, 12)
        edges = np.linspace(grid.values[0], grid.values[-1], 11)[[0, 5, 10]]
        near = np.nextafter(near, rng.choice([-np.inf, np.inf], 12))
        return rng.permutation(np.concatenate([on, near, edges, rng.uniform(-1.2, 1.2, 12)]))

    first, second = (margins(grid) for grid in axes)
    shares = loop(first, second, one, two, per_bin)
    found = cells(*(axis.fraction(m) for axis, m in zip(axes, (first, second), strict=True))).mean(axis=0)
    assert found == pytest.approx(shares, abs=1e-12)
    assert found.sum() == pytest.approx(1, abs=1e-12)
