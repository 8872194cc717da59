"""Overlaps by hand and against sets, their interval against all patterns, and what follows from it."""

from itertools import product

import numpy as np
import pytest

from embassay.core.result import Screening
from embassay.core.types import Draws
from embassay.stats.overlap import (
    COMPARED,
    FLOOR,
    interval,
    judged,
    overlaps,
    questions_to_decide,
)

NONE = np.nan


def rows(*lists, width=0):
    """Return lists of documents as an array, with NaN after the last ones."""
    width = max(width, *map(len, lists))
    return np.array([[*row, *[NONE] * (width - len(row))] for row in lists], dtype=np.float64)


def test_overlaps_by_hand():
    exact = rows(range(10), range(10), [7, 8, 9], [], width=10)
    listed = rows(range(10), [*range(8), 90, 91], [9, 8, 1], [1, 2, 3])
    np.testing.assert_array_equal(overlaps(listed, exact), [1, 0.8, 2 / 3, NONE])
    # A list that ends early, and an empty one.
    np.testing.assert_array_equal(overlaps(rows(range(4), [], width=4), exact[:2]), [0.4, 0])


def test_a_document_that_is_as_near_as_the_last_one_counts_like_it():
    # Documents 8 to 12 are equally near.
    exact = rows(range(13))
    assert overlaps(rows([*range(8), 12, 11]), exact) == 1
    assert overlaps(rows([*range(7), 12, 11, 10]), exact) == 1
    assert overlaps(rows([*range(8), 13, 11]), exact) == 0.9
    # What comes after the tenth place does not count.
    assert overlaps(rows([20, *range(13)]), exact) == 0.9
    # With 20, still more may be as near.
    assert np.isnan(overlaps(rows(range(10)), rows(range(20))))
    assert overlaps(rows(range(10)), rows(range(19))) == 1


def test_overlaps_are_those_of_sets():
    rng = np.random.default_rng(0)
    exact = np.stack([rng.permutation(40)[:14] for _ in range(50)]).astype(np.float64)
    listed = np.stack([rng.permutation(40)[:12] for _ in range(50)]).astype(np.float64)
    for depth in (3, COMPARED):
        expected = [
            len(set(a[:depth]) & set(b[: min(14, 2 * depth - 1)])) / depth for a, b in zip(listed, exact, strict=True)
        ]
        np.testing.assert_array_equal(overlaps(listed, exact[:, : 2 * depth - 1], depth), expected)


def ends_of_all_patterns(values):
    """Return the typical values of a small number of items from all patterns, the slow way."""
    count = len(values)
    smaller, larger, ties = [], [], 0.5
    for pattern in product([True, False], repeat=count):
        chosen = np.array(pattern)
        if chosen.all() or not chosen.any():
            ties += 0.5
            continue
        ends = sorted([values[chosen].mean(), values[~chosen].mean()])
        smaller.append(ends[0])
        larger.append(ends[1])

    def first_above(ends):
        values = np.unique(np.round(ends, 12))
        p_just_above = [(np.count_nonzero(ends <= delta + 1e-12) + ties) / (2**count + 1) for delta in values]
        return next(delta for delta, p in zip(values, p_just_above, strict=True) if p > 0.05)

    return first_above(np.array(smaller)), -first_above(-np.array(larger))


@pytest.mark.parametrize("seed", range(4))
def test_the_interval_is_that_of_all_patterns(seed):
    values = np.random.default_rng(seed).binomial(10, 0.9, 13) / 10
    low, high = interval(values, Draws())
    expected_low, _ = ends_of_all_patterns(np.append(values, 0.5))
    _, expected_high = ends_of_all_patterns(values)
    assert low == pytest.approx(expected_low, abs=0.012)
    assert high == pytest.approx(expected_high, abs=0.012)
    assert low <= values.mean() <= high


def verdict(values):
    return Screening("mine", "copy", "m", "int8", **judged(np.array(values), Draws()))


def test_what_follows_from_the_interval():
    same = verdict([1.0] * 60)
    assert (same.outcome, same.overlap, same.high, same.more_questions) == ("same", 1, 1, None)
    # One more question with half of its list is in the lower end.
    assert FLOOR < same.low < 0.985
    assert verdict([1.0] * 30).outcome == "same"
    differs = verdict([0.2, 0.3] * 30)
    assert (differs.outcome, differs.overlap) == ("differs", pytest.approx(0.25))
    assert differs.low <= 0.25 <= differs.high < FLOOR
    near = verdict([1.0, 1.0, 0.8, 1.0, 1.0, 0.9] * 10)
    assert near.outcome == "near"
    assert near.low < FLOOR <= near.high
    assert near.more_questions == questions_to_decide(np.array([1.0, 1.0, 0.8, 1.0, 1.0, 0.9] * 10))


def test_under_30_questions_there_is_the_value_only():
    few = verdict([1.0] * 29)
    assert (few.overlap, few.questions, few.outcome) == (1, 29, "few")
    assert few.low is few.high is few.more_questions is None


@pytest.mark.parametrize(("mean", "questions"), [(0.93, 60), (0.99, 40), (0.955, 60), (0.948, 100)])
def test_as_many_questions_decide_as_are_said(mean, questions):
    values = np.repeat([1.0, 0.5], [questions - round(2 * questions * (1 - mean)), round(2 * questions * (1 - mean))])
    more = questions_to_decide(values)
    # Two digits.
    assert more == float(f"{more:.2g}")
    # With as many questions like these, and one more, an end of the normal interval is at the floor.
    spread = 1.96 * np.append(values, 0.5).std(ddof=1) / np.sqrt(questions + more)
    distance = max(abs(values.mean() - FLOOR), 0.001)
    assert more == 1 or spread == pytest.approx(distance, rel=0.05)
