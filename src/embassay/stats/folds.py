"""Cross-validation: the fold that tests each item, and means over folds with their intervals and comparisons.

A mean over F folds gives each fold the same weight, whatever its number n_f of items:

    p = (1/F) Σ_f p_f        p_f = Σ_{i in f} x_i / n_f

No classifier is trained again: an interval is conditional on the classifiers that were trained on these folds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from embassay.randomness import generator
from embassay.result import Estimate
from embassay.stats.labels import Labels
from embassay.stats.resample import undefined_estimate
from embassay.stats.shares import wilson
from embassay.stats.units import Floats, Ints, effective_size, kish, unit_sums

FOLDS = 5
"""Folds over which a setting is chosen."""


@dataclass(frozen=True)
class ChosenSettings:
    """A setting that was chosen for each fold on the units of two others.

    Attributes
    ----------
    fold
        (n,) the fold of each item; a unit has one fold.
    of_fold
        (F,) the column that was chosen for each fold.
    of_all
        The column that is chosen on all units.
    curve
        (settings,) the mean of each column.
    """

    fold: Ints
    of_fold: Ints
    of_all: int
    curve: Floats


def chosen_over_folds(values: Floats, unit: Ints) -> ChosenSettings:
    """Choose the column with the highest mean, for each of 5 folds of whole units on the items of the next two.

    What an item has in the column of its fold is independent of the choice, so the mean is unbiased for choosing on 2/5
    of the units. No two folds choose for each other: of two folds, say f does not choose for g. Given all units but
    those of f, both columns and the error of g are fixed, and the error of f has mean 0. So the errors of the folds are
    uncorrelated, and the usual standard error holds. With all other folds it is up to a fifth too small. Of equal
    columns, the middle one is chosen.

    Parameters
    ----------
    values
        (n, settings) with NaN in the rows of undefined items.
    unit
        (n,) unit codes from 0; 10 units or more have a defined item.
    """
    is_defined = ~np.isnan(values).any(axis=1)
    has_items = np.bincount(unit, weights=is_defined) > 0
    # Units with a defined item are dealt first, so that each fold has as many of them.
    shuffled = generator(0, "folds").permutation(len(has_items))
    dealt = shuffled[np.argsort(~has_items[shuffled], kind="stable")]
    fold_of_unit = np.empty(len(dealt), dtype=np.int64)
    fold_of_unit[dealt] = np.arange(len(dealt)) % FOLDS
    fold = fold_of_unit[unit]

    def best(means: Floats) -> int:
        """Return the middle one of the best columns."""
        columns = np.flatnonzero(means >= means.max() - 1e-12)
        return int(columns[len(columns) // 2])

    steps = (fold - np.arange(FOLDS)[:, None]) % FOLDS
    of_fold = [best(values[is_defined & ((ahead == 1) | (ahead == 2))].mean(axis=0)) for ahead in steps]
    curve = values[is_defined].mean(axis=0)
    return ChosenSettings(fold, np.array(of_fold), best(curve), curve)


def contiguous_folds(labels: Ints, folds: int) -> Ints:
    """Return the (n,) fold that tests each item: every class is cut into contiguous parts, in the order of items.

    A class of m items gives m // folds items to each fold, and one more to each of the first m mod folds. These are the
    stratified folds of scikit-learn in 2015, which White et al. (2015, section 3.3) used.

    Parameters
    ----------
    labels
        (n,) class codes from 0.
    folds
        The number of folds, at least 1; a class with fewer items has none in the last folds.
    """
    fold = np.zeros(len(labels), dtype=np.int64)
    for label in np.unique(labels):
        items = np.flatnonzero(labels == label)
        for number, part in enumerate(np.array_split(items, folds)):
            fold[part] = number
    return fold


def shares_over_folds(values: Mapping[str, Floats], fold: Ints, labels: Labels) -> dict[str, Estimate]:
    """Estimate shares as means over folds, such as accuracies of a cross-validation, each with its 95 % interval.

    Parameters
    ----------
    values
        (n,) for each encoder, in [0, 1]: 1 right, 0 wrong; NaN is undefined.
    fold
        (n,) codes from 0.

    Returns
    -------
    No value where a fold has no defined item; no interval where the items say too little about others.
    """
    return {name: _share_over_folds(column, fold, labels) for name, column in values.items()}


def _share_over_folds(values: Floats, fold: Ints, labels: Labels) -> Estimate:
    """Estimate a mean over folds with Wilson's interval on n* = p(1 − p)/v, v its variance over units.

    The mean over folds of ratios is linearised (Cochran 1977, section 6.13; Särndal, Swensson & Wretman 1992, section
    5.5). With w_i = 1/(F·n_f(i)), so that Σw = 1:

        p = Σ_i w_i x_i        z_u = Σ_{i in u} w_i (x_i − p_f(i))        v = U/(U − 1) · Σ_u z_u²

    A unit's items may be in several folds; z_u adds up what they have in common. v is widened and bounded as in
    :func:`~embassay.stats.units.effective_size`, by the variances

        of independent items     Σ_i w_i² (x_i − p_f)² · n_f/(n_f − 1)
        of units that agree      Σ_i w_i (x_i − p)² · Σ_u W_u²,  W_u = Σ_{i in u} w_i
    """
    defined = ~np.isnan(values)
    items, undefined = int(defined.sum()), int((~defined).sum())
    if not items:
        return undefined_estimate(undefined)
    fold_means = _fold_means(values[:, None], fold)[:, 0]
    if np.isnan(fold_means).any():
        return Estimate(None, None, None, 0, 0, len(values), "a fold has no item that is defined")
    p = float(fold_means.mean())
    reason = labels.of_items(defined).too_few
    unit = labels.label_set
    if reason:
        return Estimate(p, None, None, items, labels.of_items(defined).sets, undefined, reason)

    weight = np.where(defined, fold_weights(values, fold), 0.0)
    from_fold_mean = np.where(defined, values - fold_means[fold], 0.0)
    from_mean = np.where(defined, values - p, 0.0)
    # z_u and W_u.
    residuals, _ = unit_sums(weight * from_fold_mean, unit)
    unit_weights, _ = unit_sums(weight, unit)
    units = int(np.count_nonzero(unit_weights))
    effective_units = kish(unit_weights)
    fold_sizes = np.bincount(fold, weights=defined)
    correction = (fold_sizes / np.maximum(fold_sizes - 1, 1))[fold]
    independent = (weight**2 * from_fold_mean**2 * correction).sum()
    agreed = (weight * from_mean**2).sum() / effective_units
    number = effective_size(
        np.array([p]),
        residuals[:, None],
        np.array([units]),
        np.array([effective_units]),
        np.array([independent]),
        np.array([agreed]),
    )
    low, high = wilson(p, float(number[0]))
    return Estimate(p, low, high, items, units, undefined)


def _fold_means(columns: Floats, fold: Ints) -> Floats:
    """Return the (folds, k) means p_f of the defined items of each fold; NaN for a fold without defined items."""
    sums, sizes = unit_sums(columns, fold)
    return sums / np.where(sizes > 0, sizes, np.nan)


def fold_weights(values: Floats, fold: Ints) -> Floats:
    """Return the (n,) or (n, k) weights 1/(F·n_f) with which the defined items add up to the mean over folds."""
    _, sizes = unit_sums(values, fold)
    weight_of_fold = 1 / (len(sizes) * np.maximum(sizes, 1))
    return np.asarray(weight_of_fold[fold])
