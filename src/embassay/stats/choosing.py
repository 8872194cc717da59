"""A setting that is chosen on items with known answers, such as the weight of a fusion, and its value on other items.

The setting that is best on all items is used, so its own value there is too high. Its value on others is estimated by
cross-fitting (Stone 1974, "Cross-Validatory Choice and Assessment of Statistical Predictions", section 3): each of 5
folds of whole units is given the setting that is best on the other four, and what these choices are worth is averaged
over 20 divisions into folds.
"""

from __future__ import annotations

import numpy as np

from embassay.core.randomness import generator
from embassay.stats.units import Floats, Ints, unit_codes

FOLDS = 5
DIVISIONS = 20


def best_column(means: Floats) -> int:
    """Return the column with the highest mean; of equal ones, the middle one."""
    columns = np.flatnonzero(means >= means.max() - 1e-12)
    return int(columns[len(columns) // 2])


def cross_fit(criterion: Floats, values: Floats, unit: Ints, seed: int) -> tuple[float, list[int]]:
    """Estimate what the column with the highest mean criterion is worth on other items than those it is chosen on.

    Parameters
    ----------
    criterion, values
        (n, settings) what a column is chosen by, and what it is judged by.
    unit
        (n,) units, each of which is in one fold; 5 or more.

    Returns
    -------
    value
        The expected mean; at most that of the column on these items, which choosing makes too high, never too low.
    columns
        The column that was chosen for each fold of each division.
    """
    random = generator(seed, "folds of a choice")
    codes = unit_codes(unit)
    items = np.arange(len(codes))
    means, columns = [], list[int]()
    for _ in range(DIVISIONS):
        fold = (random.permutation(codes.max() + 1) % FOLDS)[codes]
        of_fold = [best_column(criterion[fold != number].mean(axis=0)) for number in range(FOLDS)]
        means.append(values[items, np.array(of_fold)[fold]].mean())
        columns += of_fold
    own = values[:, best_column(criterion.mean(axis=0))].mean()
    return float(min(np.mean(means), own)), columns
