"""Cross-validation: the fold that tests each item, and means over folds with their intervals and comparisons.

A mean over F folds gives each fold the same weight, whatever its number n_f of items:

    p = (1/F) Σ_f p_f        p_f = Σ_{i in f} x_i / n_f

No classifier is trained again: an interval is conditional on the classifiers that were trained on these folds.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from embassay.core.result import Estimate
from embassay.stats.labels import Labels
from embassay.stats.resample import undefined_estimate
from embassay.stats.shares import wilson
from embassay.stats.units import Floats, Ints, effective_size, kish, unit_sums


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
        return undefined_estimate(len(values), "a fold has no item that is defined")
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


def mean_over_folds(values: Floats, fold: Ints) -> float | None:
    """Return the mean over folds of (n,) values; None where a fold has no defined item."""
    means = _fold_means(values[:, None], fold)
    return None if np.isnan(means).any() else float(means.mean())


def fold_weights(values: Floats, fold: Ints) -> Floats:
    """Return the (n,) or (n, k) weights 1/(F·n_f) with which the defined items add up to the mean over folds."""
    _, sizes = unit_sums(values, fold)
    weight_of_fold = 1 / (len(sizes) * np.maximum(sizes, 1))
    return np.asarray(weight_of_fold[fold])
