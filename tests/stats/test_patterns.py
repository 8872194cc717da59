"""Tests and intervals from patterns of labels."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from embassay.core.types import Draws
from embassay.stats.labels import Labels
from embassay.stats.patterns import (
    Exchanged,
    Interval,
    Patterns,
    mid_p,
    newcombe,
    settled,
    step_down,
)
from stats.test_labels import labels_of

DRAWS = Draws()
gaps = st.lists(st.sampled_from([-1.0, 0.0, 0.0, 1.0]), min_size=12, max_size=40)


def exchanged(differences, labels=None, number=9_999):
    columns = np.array(differences, dtype=float).reshape(len(differences), -1)
    labels = labels or Labels.of(np.arange(len(columns)))
    return Exchanged.of(columns, Patterns(labels, DRAWS, ("test",), number))


def test_p_is_that_of_all_signs():
    # 3 won and 1 lost: |T*| is 4 in 2 of 16 patterns and 2 in 8, so the mid-p is (2 + 8/2)/16. Units without a
    # difference change nothing.
    found = exchanged([1, 1, 1, -1, *[0] * 8])
    assert len(found.moved) == 2**11 - 1  # all but that which flips nothing; the first sign is fixed
    assert mid_p(found.moved[:, 0], found.observed[0]) == pytest.approx(6 / 16)


@pytest.mark.parametrize(("won", "lost"), [(14, 3), (9, 1), (20, 20), (5, 0)])
def test_p_of_single_items_is_the_mid_p_of_the_sign_test(won, lost):
    differences = [*[1] * won, *[-1] * lost, *[0] * 30]
    found = exchanged(differences, number=99_999)
    wins = np.arange(won + lost + 1)
    mass, sizes = stats.binom.pmf(wins, won + lost, 0.5), np.abs(2 * wins - won - lost)
    exact = mass[sizes > won - lost].sum() + mass[sizes == won - lost].sum() / 2
    assert mid_p(found.moved[:, 0], found.observed[0]) == pytest.approx(exact, abs=4 * np.sqrt(exact / 99_999) + 1e-5)


def test_patterns_flip_units_whole_and_shared_labels_together_more_often_than_others():
    unit = np.repeat(np.arange(20), 3)
    signs = Patterns(Labels.of(unit), DRAWS, ("x",)).sums(np.eye(60))
    assert (signs.reshape(-1, 20, 3) == signs.reshape(-1, 20, 3)[:, :, :1]).all()
    # Items with the labels a, a and b, b: correlation of signs is 2/π·arcsin(K), K the correlation of the sums.
    shared = labels_of([{0}, {0, 1}, {1}, *({label} for label in range(2, 14))])
    signs = Patterns(shared, DRAWS, ("x",)).sums(np.eye(15))
    expected = 2 / np.pi * np.arcsin(1 / np.sqrt(2))
    assert np.mean(signs[:, 0] * signs[:, 1]) == pytest.approx(expected, abs=0.03)
    assert np.mean(signs[:, 0] * signs[:, 2]) == pytest.approx(0, abs=0.03)


def test_more_patterns_begin_with_the_fewer_ones():
    for labels in (Labels.of(np.arange(30)), labels_of([{0, n} for n in range(1, 31)])):
        few = Patterns(labels, DRAWS, ("x",), 99).sums(np.eye(30))
        assert np.array_equal(few, Patterns(labels, DRAWS, ("x",), 500).sums(np.eye(30))[:99])


def loop_interval(differences, signs, level):
    """The values δ that the test of d − δ does not reject, from the patterns one by one: Hartigan's typical values."""
    candidates, ties = [], 1
    for pattern in signs:
        flipped, kept = differences[pattern < 0], differences[pattern > 0]
        if len(flipped) and len(kept):
            candidates.append((flipped.mean(), kept.mean()))
        else:
            ties += 1
    smaller = sorted(min(pair) for pair in candidates)
    for value in smaller:
        below = sum(other < value - 1e-12 for other in smaller)
        equal = sum(abs(other - value) <= 1e-12 for other in smaller)
        if (below + equal + ties / 2) / (len(signs) + 1) > level:
            return value
    return None


def test_the_low_end_is_the_loop_s():
    differences = np.array([1.0, 1, 1, 0, -1, 1, 0, 1, 1, -0.5, 1, 0])
    signs = np.array([(1, *rest) for rest in product((1, -1), repeat=11)][1:])
    found = exchanged(differences).interval(0)
    assert found.low == pytest.approx(loop_interval(differences, signs, 0.05))
    assert found.high == pytest.approx(-loop_interval(-differences, signs, 0.05))


def contains_0(interval):
    return not (interval.is_above_0 or interval.is_below_0)


@settings(max_examples=100, deadline=None)
@given(gaps, st.booleans(), st.integers(0, 1000))
def test_an_interval_contains_0_exactly_if_p_is_above_5_percent(differences, share_labels, seed):
    labels = None
    if share_labels:
        rng = np.random.default_rng(seed)
        labels = labels_of([set(rng.choice(12, rng.integers(1, 3), replace=False)) for _ in differences])
    found = exchanged(differences, labels, 999)
    p = mid_p(found.moved[:, 0], found.observed[0]) if any(differences) else 1.0
    interval = found.interval(0)
    assert contains_0(interval) == (p > 0.05)
    assert min(differences) - 1e-9 <= interval.low <= interval.high <= max(differences) + 1e-9


@settings(max_examples=60, deadline=None)
@given(gaps, st.integers(0, 39))
def test_one_more_won_item_never_makes_a_verdict_worse(differences, place):
    before = np.array(differences)
    place %= len(before)
    after = before.copy()
    after[place] = min(after[place] + 1, 1)
    moved = exchanged(np.stack([before, after], axis=1), number=999)
    first, second = (mid_p(moved.moved[:, pair], moved.observed[pair]) for pair in (0, 1))
    if before.sum() >= 0:
        assert second <= first + 1e-12
    else:
        assert second >= first - 1e-12 or after.sum() > 0


@pytest.mark.parametrize("seed", range(4))
def test_a_family_is_corrected_step_by_step(seed):
    """Against a naive step-down: the largest first, each against the maximum of those that remain."""
    rng = np.random.default_rng(seed)
    columns = rng.choice([-1.0, 0, 1], size=(40, 4), p=[0.2, 0.5, 0.3]) + rng.choice([0.0, 0.3])
    found = exchanged(columns, number=499)
    corrected = step_down(found.observed, found.moved)
    scale = [np.sqrt(np.mean(found.moved[:, k] ** 2)) for k in range(4)]
    sizes = [abs(found.observed[k]) / scale[k] for k in range(4)]
    order, last = sorted(range(4), key=lambda k: -sizes[k]), 0.0
    for place, k in enumerate(order):
        above = equal = 0
        for pattern in found.moved:
            largest = max(abs(pattern[other]) / scale[other] for other in order[place:])
            above += largest > sizes[k] + 1e-9
            equal += abs(largest - sizes[k]) <= 1e-9
        last = max(last, (above + (equal + 1) / 2) / 500)
        assert corrected.adjusted[k] == pytest.approx(last)
    assert (corrected.adjusted >= corrected.p - 1e-12).all()
    for k in range(4):
        contains = contains_0(found.interval(k, corrected.level[k]))
        assert contains == (corrected.adjusted[k] > 0.05)


def test_what_differs_nowhere_is_not_significant():
    found = exchanged(np.stack([np.zeros(40), np.ones(40)], axis=1))
    corrected = step_down(found.observed, found.moved)
    assert corrected.adjusted[0] == corrected.p[0] == 1
    assert corrected.adjusted[1] < 0.001


def test_more_patterns_are_drawn_while_a_verdict_is_open():
    numbers = []

    def exchange(patterns):
        numbers.append(patterns.number)
        return Exchanged.of(columns, patterns)

    # 12 won and 4 lost of 16: a mid-p of .0490 by the sign test.
    columns = np.array([*[1.0] * 12, *[-1.0] * 4, *[0.0] * 24])[:, None]
    settled(Patterns(Labels.of(np.arange(40)), DRAWS, ("x",)), exchange, [[0]])
    assert numbers == [9_999, 99_999, 999_999]
    numbers.clear()
    columns = np.array([*[1.0] * 20, *[0.0] * 20])[:, None]
    settled(Patterns(Labels.of(np.arange(40)), DRAWS, ("x",)), exchange, [[0]])
    assert numbers == [9_999]


def test_an_end_at_0_that_is_open_excludes_it():
    assert contains_0(Interval(0.0, 0.3))
    assert Interval(0.0, 0.3, low_is_open=True).is_above_0
    assert Interval(-0.3, 0.0, high_is_open=True).is_below_0


def test_newcombe_by_hand():
    # Nothing differs: both shares are 0 of 33, whose upper limit is z²/(n + z²).
    low, high = newcombe(np.zeros(60), 33)
    z2 = stats.norm.ppf(0.975) ** 2
    assert (low, high) == (pytest.approx(-z2 / (33 + z2)), pytest.approx(z2 / (33 + z2)))
    # Of 50, 12 are won and 2 lost: .24 with Wilson's [.143, .374], and .04 [.011, .135]; r = −√(.0096/.7296).
    differences = np.array([1.0] * 12 + [-1.0] * 2 + [0.0] * 36)
    w, wl, wh, lost, ll, lh = 0.24, 0.14297, 0.37411, 0.04, 0.01105, 0.13459
    r = -np.sqrt(w * lost / ((1 - w) * (1 - lost)))
    below = np.sqrt((w - wl) ** 2 + (lh - lost) ** 2 - 2 * r * (w - wl) * (lh - lost))
    above = np.sqrt((wh - w) ** 2 + (lost - ll) ** 2 - 2 * r * (wh - w) * (lost - ll))
    assert newcombe(differences, 50) == (pytest.approx(0.2 - below, abs=1e-3), pytest.approx(0.2 + above, abs=1e-3))
