"""A choice and what it is worth on other items: by hand, against a loop, and by properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embassay.core.randomness import generator
from embassay.stats.choosing import DIVISIONS, FOLDS, best_column, cross_fit


def drawn(seed, settings=5):
    """Items in units of 1 to 6 with numbers that have gaps, a criterion, and values."""
    rng = np.random.default_rng(seed)
    unit = np.repeat(3 * np.arange(23), rng.integers(1, 7, 23))
    return rng.random((len(unit), settings)), rng.random((len(unit), settings)), rng.permutation(unit)


def test_of_equal_columns_the_middle_one_is_best():
    assert best_column(np.array([0.1, 0.5, 0.5, 0.5 + 1e-15, 0.2])) == 2
    assert best_column(np.array([0.1, 0.5, 0.2])) == 1


def test_one_lucky_unit_of_ten():
    """Everywhere else the first column is worth nothing, and the second one is not chosen but for the lucky fold."""
    criterion = np.column_stack([np.eye(10)[3], np.full(10, 0.05)])
    value, columns = cross_fit(criterion, criterion, np.arange(10), seed=0)
    # Two of ten units are in the fold of the lucky one, which has 0.05 each; the others have 0.
    assert value == pytest.approx(0.01)
    assert columns.count(1) == DIVISIONS


@pytest.mark.parametrize("seed", range(3))
def test_it_is_that_of_a_loop(seed):
    criterion, values, unit = drawn(seed)
    random = generator(seed, "folds of a choice")
    means, expected_columns = [], []
    for _ in range(DIVISIONS):
        order = random.permutation(23)
        fold_of = {3 * code: order[code] % FOLDS for code in range(23)}
        in_fold = [fold_of[one] for one in unit]
        column_of = {}
        for number in range(FOLDS):
            others = [row for row, fold in zip(criterion, in_fold, strict=True) if fold != number]
            column_of[number] = int(np.argmax(np.mean(others, axis=0)))
            expected_columns.append(column_of[number])
        means.append(np.mean([row[column_of[fold]] for row, fold in zip(values, in_fold, strict=True)]))
    own = values[:, np.argmax(criterion.mean(axis=0))].mean()
    value, columns = cross_fit(criterion, values, unit, seed)
    assert value == pytest.approx(min(np.mean(means), own))
    assert columns == expected_columns


@given(st.integers(0, 10_000))
def test_it_is_never_above_the_value_on_the_items_it_is_chosen_on(seed):
    criterion, values, unit = drawn(seed)
    value, _ = cross_fit(criterion, values, unit, seed=0)
    assert values.min() <= value <= values[:, best_column(criterion.mean(axis=0))].mean() + 1e-12
