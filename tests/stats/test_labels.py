"""Unit labels: which items depend on each other, and how many independent ones they count as."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from embassay.stats.labels import Labels, effective_number

label_sets = st.lists(st.frozensets(st.integers(0, 8), min_size=1, max_size=3), min_size=10, max_size=40)


def labels_of(sets):
    """Return the labels of items, each with its set of labels."""
    distinct = sorted({tuple(sorted(of_item)) for of_item in sets})
    unit = np.array([distinct.index(tuple(sorted(of_item))) for of_item in sets])
    pairs = [(place, label) for place, of_set in enumerate(distinct) for label in of_set]
    return Labels.of(unit, np.array(pairs))


def loop_kernel(sets):
    """K_ij = |L_i ∩ L_j|/√(|L_i||L_j|), pair by pair."""
    return np.array([[len(a & b) / math.sqrt(len(a) * len(b)) for b in sets] for a in sets])


def loop_effective_number(sets, rows, of_shares):
    """n* from the matrix of all pairs of items."""
    n, kernel = len(sets), loop_kernel(sets)
    g = kernel.sum() / n - 1
    if g < 1e-9:
        return n
    units = n / (1 + g)
    above, below = 1.5 * g, 3 * g
    for row in rows:
        e = np.array(row) - np.mean(row)
        if not e.any() or units <= 1 + 1e-9:
            continue
        v = 1 if of_shares else np.mean(e**2)
        above += (units / (units - 1) * (e @ kernel @ e) - e @ e) / v
        below += g * (e @ e) / v
    rho = min(max(above / below, 0), 1)
    effect = (1 + g * rho) * (stats.t.ppf(0.975, max(units - 1, 1)) / stats.norm.ppf(0.975)) ** 2
    return n / min(max(effect, 1), 1 + g)


@given(label_sets, st.integers(0, 100), st.booleans())
def test_the_effective_number_is_that_of_all_pairs_of_items(sets, seed, of_shares):
    rng = np.random.default_rng(seed)
    rows = rng.random((3, len(sets)))
    if of_shares:
        rows = np.rint(rows)
    labels = labels_of(sets)
    assert labels.partners == pytest.approx(loop_kernel(sets).sum() / len(sets) - 1, abs=1e-9)
    found = effective_number(labels, list(rows), of_shares=of_shares)
    assert found == pytest.approx(loop_effective_number(sets, rows, of_shares), rel=1e-9)
    assert labels.effective_units - 1e-9 <= found <= labels.items + 1e-9


@pytest.mark.parametrize("of_shares", [True, False])
def test_systems_that_do_not_vary_or_are_undefined_say_nothing(of_shares):
    labels, row = Labels.of(np.repeat(np.arange(20), 3)), np.tile([0.0, 1, 1], 20)
    alone = effective_number(labels, [row], of_shares=of_shares)
    assert effective_number(labels, [np.full(60, np.nan), row, np.ones(60)], of_shares=of_shares) == alone


def test_one_label_each_gives_units():
    labels = Labels.of(np.array([3, 3, 3, 7, 9, 9]))
    assert (labels.sets, labels.labels, labels.largest, labels.is_partition) == (3, 3, 3, True)
    assert labels.effective_units == pytest.approx(36 / 14)  # Kish: (Σn)²/Σn²
    assert labels.sums(np.ones(6)).tolist() == [3, 1, 2]


def test_a_question_with_two_right_pages_by_hand():
    # Questions about a, about a and b, about b: the second shares 1/√2 with each of the others.
    labels = labels_of([{0}, {0, 1}, {1}])
    assert labels.partners == pytest.approx(4 / math.sqrt(2) / 3)
    assert labels.of_items(np.array([True, False, True])).partners == 0


@pytest.mark.parametrize(
    ("unit", "reason"),
    [
        (np.arange(9), "9 independent units, 10 are needed"),
        (np.array([0] * 30 + list(range(1, 15))), "one unit holds 30 of 44"),
        (np.array([0] * 28 + list(range(1, 15))), ""),
        (np.arange(10), ""),
    ],
)
def test_too_few_units_say_so(unit, reason):
    found = Labels.of(unit).too_few
    assert reason in found
    assert bool(found) is bool(reason)
