"""Holm's correction of a family of p-values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embassay.stats.permutation import holm

P_VALUES = st.lists(st.floats(1e-6, 1), max_size=12)


def test_holm_by_hand():
    # Sorted 0.005, 0.01, 0.03, 0.04, times 4, 3, 2, 1: 0.02, 0.03, 0.06, 0.04 → 0.06 (never falls).
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))


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
