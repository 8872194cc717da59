"""Means over folds: by hand, against loops, and against the statistics that they generalise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embassay.stats.compare import compare
from embassay.stats.folds import compare_over_folds, contiguous_folds, means_over_folds
from embassay.stats.resample import counts, signs, tail
from embassay.types import Draws

NAN = float("nan")
DRAWS = Draws(0, 300)


def sample(seed=0, units=14):
    """Units of 3 to 5 items, each in every fold; values 0 and 1 for two encoders."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 6, size=units)
    unit = np.repeat(np.arange(units), sizes)
    fold = np.concatenate([np.arange(size) % 3 for size in sizes])
    a, b = ((rng.random(len(unit)) < share).astype(float) for share in (0.8, 0.6))
    return a, b, fold, unit


def loop_mean(values, fold, weight):
    """The mean over folds of weighted means, item by item."""
    parts = []
    for number in sorted(set(fold)):
        inside = [i for i in range(len(values)) if fold[i] == number and values[i] == values[i]]
        parts.append(sum(weight[i] * values[i] for i in inside) / sum(weight[i] for i in inside))
    return sum(parts) / len(parts)


def test_thirds_by_hand():
    # Groups of 3, 4, 5 and 7 in turn: 1+1+1, 2+1+1, 2+2+1, 3+2+2.
    labels = np.array([0] * 3 + [1] * 4 + [2] * 5 + [3] * 7)
    expected = [0, 1, 2, 0, 0, 1, 2, 0, 0, 1, 1, 2, 0, 0, 0, 1, 1, 2, 2]
    assert contiguous_folds(labels, 3).tolist() == expected


def test_the_order_of_items_decides_and_groups_may_be_interleaved():
    assert contiguous_folds(np.array([0, 1, 0, 1, 1, 0, 1]), 3).tolist() == [0, 0, 1, 0, 1, 2, 2]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.integers(1, 5))
def test_contiguous_folds_equal_array_split(labels, folds):
    found = contiguous_folds(np.array(labels), folds)
    for label in set(labels):
        members = np.flatnonzero(np.array(labels) == label)
        for number, part in enumerate(np.array_split(members, folds)):
            assert (found[part] == number).all()


def test_each_fold_has_the_same_weight():
    # Fold 0: 1 of 4 right, fold 1: 1 of 1: (1/4 + 1)/2, not 2/5.
    values, fold = np.array([1.0, 0, 0, 0, 1]), np.array([0, 0, 0, 0, 1])
    (found,) = means_over_folds([values], fold, np.arange(5), DRAWS, "x")
    assert found.value == pytest.approx(0.625)
    assert (found.items, found.units, found.reason) == (5, 5, "no interval under 10 units (5 here)")


def test_the_interval_is_that_of_a_loop_over_resamples():
    a, _, fold, unit = sample()
    (found,) = means_over_folds([a], fold, unit, DRAWS, "x")
    drawn = np.concatenate(list(counts(14, DRAWS, "x")))
    replicates = [loop_mean(a, fold, count[unit]) for count in drawn]
    share = tail(np.bincount(unit).astype(float))
    assert found.value == pytest.approx(loop_mean(a, fold, np.ones(len(a))))
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(replicates, [share, 1 - share])))
    assert found.low < found.value < found.high


def test_every_encoder_is_resampled_with_the_same_counts():
    a, b, fold, unit = sample()
    together = means_over_folds([a, b], fold, unit, DRAWS, "x")
    alone = (*means_over_folds([a], fold, unit, DRAWS, "x"), *means_over_folds([b], fold, unit, DRAWS, "x"))
    assert together == alone


def test_undefined_items_are_left_out_and_counted():
    a, _, fold, unit = sample()
    a[:4] = NAN
    (found,) = means_over_folds([a], fold, unit, DRAWS, "x")
    assert (found.items, found.undefined) == (len(a) - 4, 4)
    assert found.value == pytest.approx(loop_mean(a, fold, np.ones(len(a))))


def test_nothing_defined_in_a_fold_is_null_with_a_reason():
    a, _, fold, unit = sample()
    nothing, holes = np.full(len(a), NAN), np.where(fold == 1, NAN, a)
    found = means_over_folds([nothing, holes], fold, unit, DRAWS, "x")
    assert [e.value for e in found] == [None, None]
    assert [e.reason for e in found] == ["undefined for every item", "a fold has no item that is defined"]
    assert means_over_folds([], fold, unit, DRAWS, "x") == ()


def test_a_difference_is_that_of_the_means_and_its_p_that_of_a_loop_over_signs():
    a, b, fold, unit = sample()
    (found,) = compare_over_folds({"a": a, "b": b}, fold, unit, DRAWS, "x")
    one = np.ones(len(a))
    assert found.difference == pytest.approx(loop_mean(a, fold, one) - loop_mean(b, fold, one))
    flips = np.concatenate(list(signs(14, 9_999, DRAWS, "x")))
    flipped = np.array([loop_mean((a - b) * flip[unit], fold, one) for flip in flips[:2_000]])
    extreme = np.mean(np.abs(flipped) >= abs(found.difference) - 1e-9)
    # The first 2,000 of the 9,999 signs: within four standard errors of the whole.
    assert found.p == pytest.approx(extreme, abs=4 * (0.25 / 2_000) ** 0.5)
    assert found.low < found.difference < found.high
    assert found.p_holm == found.p


def test_on_one_fold_it_is_the_comparison_of_plain_means():
    a, b, _, unit = sample()
    b[3] = NAN
    ours = compare_over_folds({"a": a, "b": b}, np.zeros(len(a), dtype=np.int64), unit, DRAWS, "x")
    (theirs,) = compare({"a": a, "b": b}, unit, DRAWS, "x", of_shares=True)
    for name, value in vars(theirs).items():
        assert vars(ours[0])[name] == (value if isinstance(value, str) else pytest.approx(value)), name


def test_the_standard_error_is_near_the_spread_of_the_bootstrap():
    a, b, fold, unit = sample(units=200)
    (found,) = compare_over_folds({"a": a, "b": b}, fold, unit, DRAWS, "x")
    drawn = np.concatenate(list(counts(200, DRAWS, "y")))
    spread = np.std([loop_mean(a - b, fold, count[unit]) for count in drawn])
    assert found.error == pytest.approx(spread, rel=0.15)


def test_fewer_than_two_encoders_or_no_items_leave_nothing_to_compare():
    a, _, fold, unit = sample()
    none = np.zeros(0)
    empty = np.zeros(0, dtype=np.int64)
    assert compare_over_folds({"a": a}, fold, unit, DRAWS, "x") == ()
    assert compare_over_folds({"a": none, "b": none}, empty, empty, DRAWS, "x") == ()


def test_a_pair_that_is_nowhere_defined_together_has_no_difference():
    a, b, fold, unit = sample()
    a[::2], b[1::2] = NAN, NAN
    (found,) = compare_over_folds({"a": a, "b": b}, fold, unit, DRAWS, "x")
    assert (found.difference, found.p, found.p_holm) == (None, None, None)
