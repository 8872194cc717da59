"""Holm's correction of a family of p-values."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embassay.stats.permutation import holm

P_VALUES = st.lists(st.floats(1e-6, 1), max_size=12)


def test_holm_by_hand():
    # Sorted 0.005, 0.01, 0.03, 0.04, times 4, 3, 2, 1: 0.02, 0.03, 0.06, 0.04 → 0.06 (never falls).
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))


def test_holm_gives_ties_the_same():
    # 0.02 three times, 0.5: 4·0.02 = 0.08 at first, then 3·0.02 and 2·0.02 are lifted to it.
    assert holm([0.02, 0.5, 0.02, 0.02]) == pytest.approx((0.08, 0.5, 0.08, 0.08))


def test_holm_is_at_most_1():
    assert holm([0.4, 0.9, 0.6]) == (1.0, 1.0, 1.0)


def test_holm_of_nothing_and_of_one():
    assert holm([]) == ()
    assert holm([0.03]) == (0.03,)


@given(P_VALUES, st.floats(1e-4, 0.5))
def test_holm_rejects_what_the_steps_reject(p, alpha):
    # Holm (1979): go through the sorted p and stop at the first that is not under α/(m − i).
    rejected = set()
    for i, index in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        if p[index] * (len(p) - i) >= alpha:
            break
        rejected.add(index)
    assert {i for i, q in enumerate(holm(p)) if q < alpha} == rejected


@given(P_VALUES)
def test_holm_lies_between_p_and_bonferroni_and_keeps_the_order(p):
    adjusted = holm(p)
    assert all(a <= q <= min(1.0, len(p) * a) * (1 + 1e-12) for a, q in zip(p, adjusted, strict=True))
    assert all(adjusted[i] <= adjusted[j] for i, j in combinations(np.argsort(p, kind="stable"), 2))


@given(P_VALUES.flatmap(lambda p: st.tuples(st.just(p), st.permutations(range(len(p))))))
def test_holm_does_not_depend_on_the_order(given_order):
    p, order = given_order
    assert holm([p[i] for i in order]) == pytest.approx(tuple(holm(p)[i] for i in order))


@given(st.lists(st.tuples(st.floats(1e-6, 1), st.floats(1, 3)), max_size=9))
def test_an_adjusted_p_rises_with_every_p(pairs):
    low = holm([p for p, _ in pairs])
    high = holm([min(1.0, p * factor) for p, factor in pairs])
    assert all(a <= b for a, b in zip(low, high, strict=True))
