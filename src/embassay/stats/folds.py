"""Cross-validation: which fold tests an item, and means over folds with their intervals and comparisons.

A mean over folds gives each fold the same weight, whatever its size: (1/F) Σ_f Σ_{i in f} x_i / n_f. Units are drawn
whole, each item in its own fold, so a replicate is (1/F) Σ_f (Σ_u c_u·sum_uf / Σ_u c_u·n_uf), c the resampling counts.
Nothing is trained again: an interval is conditional on the classifiers that were trained on the folds as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from embassay.result import MIN_UNITS, Estimate
from embassay.stats.compare import Difference, corrected, permutation_p
from embassay.stats.resample import ABSENT, bootstrap_means, percentiles, tail, too_few, undefined_estimate
from embassay.stats.units import Floats, unit_sums
from embassay.types import Draws

Ints = NDArray[np.int64]


def contiguous_folds(labels: Ints, folds: int) -> Ints:
    """Return the (n,) fold that tests each item: contiguous parts of every class in the order of items.

    A class of m items gives m // folds to each fold, and one more to each of the first m mod folds: scikit-learn's
    stratified folds of 2015, as White et al. (2015, section 3.3) used them.

    Parameters
    ----------
    labels
        (n,) class codes from 0.
    folds
        How many, 1 or more; a class with fewer items leaves the last folds without one.
    """
    sizes = np.bincount(labels)
    order = np.argsort(labels, kind="stable")
    within = np.empty(len(labels), dtype=np.int64)
    within[order] = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    least, more = np.divmod(sizes[labels], folds)
    longer = more * (least + 1)
    found = np.where(within < longer, within // (least + 1), more + (within - longer) // np.maximum(least, 1))
    return np.asarray(found, dtype=np.int64)


def means_over_folds(
    values: Sequence[Floats], fold: Ints, unit: Ints, draws: Draws, *purpose: str
) -> tuple[Estimate, ...]:
    """Estimate means over folds, all with the same resamples; percentile intervals over units.

    Parameters
    ----------
    values
        (n,) each, for example one for each encoder; NaN is undefined.
    fold, unit
        (n,) codes from 0.
    purpose
        Names the random stream.

    Returns
    -------
    An Estimate of each: no value where a fold has nothing defined, no interval under ``MIN_UNITS`` units.
    """
    if not values:
        return ()
    columns = np.stack(values, axis=1)
    low, high = _interval(columns, fold, unit, draws, *purpose)
    value = _means(columns, fold).mean(axis=0)
    return tuple(_estimate(x, unit, *ends) for x, *ends in zip(columns.T, value, low, high, strict=True))


def compare_over_folds(
    values: Mapping[str, Floats], fold: Ints, unit: Ints, draws: Draws, *purpose: str
) -> tuple[Difference, ...]:
    """Compare the means over folds of all pairs of encoders, paired on the same items; one call is one family.

    As :func:`~embassay.stats.compare.compare`, for shares: signs of whole units are flipped, over all folds at once.

    Parameters
    ----------
    values
        The (n,) shares of each encoder, all in the same order of items; NaN is undefined.
    fold, unit
        (n,) codes from 0.
    """
    pairs = list(combinations(values, 2))
    if not pairs or len(unit) == 0:
        return ()
    gaps = np.stack([values[a] - values[b] for a, b in pairs], axis=1)
    weighted = gaps * _weights(gaps, fold)
    p = permutation_p(weighted, unit, draws, *purpose)
    low, high = _interval(gaps, fold, unit, draws, *purpose, of_differences=True)
    means = _means(gaps, fold)
    found = []
    for place, pair in enumerate(pairs):
        estimate = _estimate(gaps[:, place], unit, means[:, place].mean(), low[place], high[place])
        error = _error(gaps[:, place], means[:, place], fold, unit)
        found.append(_difference(pair, estimate, float(p[place]), error))
    return corrected(found)


def _difference(pair: tuple[str, str], estimate: Estimate, p: float, error: float) -> Difference:
    e = estimate
    if e.value is None:
        return Difference(*pair, None, None, None, None, None, 0, 0, None)
    return Difference(*pair, e.value, e.low, e.high, p, None, e.items, e.units, error if e.units > 1 else None)


def _estimate(values: Floats, unit: Ints, value: float, low: float, high: float) -> Estimate:
    defined = ~np.isnan(values)
    items, units = int(defined.sum()), len(np.unique(unit[defined]))
    if np.isnan(value):
        return undefined_estimate(len(values)) if not items else _unfolded(len(values))
    if units < MIN_UNITS:
        return Estimate(float(value), None, None, items, units, len(values) - items, too_few(units))
    return Estimate(float(value), float(low), float(high), items, units, len(values) - items)


def _unfolded(items: int) -> Estimate:
    return Estimate(None, None, None, 0, 0, items, "a fold has no item that is defined")


def _means(columns: Floats, fold: Ints) -> Floats:
    """Return (folds, k) means of the defined items of each fold; NaN where there is none."""
    sums, sizes = unit_sums(columns, fold)
    return np.asarray(np.divide(sums, sizes, out=np.full(sums.shape, np.nan), where=sizes > 0))


def _weights(columns: Floats, fold: Ints) -> Floats:
    """Return (n, k) 1/(F·n_f): the weighted items add up to the mean over folds."""
    _, sizes = unit_sums(columns, fold)
    return np.asarray(1 / (len(sizes) * np.maximum(sizes, 1))[fold])


def _interval(
    columns: Floats, fold: Ints, unit: Ints, draws: Draws, *purpose: str, of_differences: bool = False
) -> tuple[Floats, Floats]:
    """Return the (k,) ends of the percentile intervals of means over folds."""
    inside = fold[:, None] == np.arange(int(fold.max(initial=-1)) + 1)
    by_fold = np.where(inside[:, None, :], columns[:, :, None], ABSENT)
    table = by_fold.reshape(len(columns), -1)
    chosen = np.full(table.shape[1], of_differences)
    drawn = bootstrap_means(table, unit, draws, *purpose, differences=chosen)
    replicates = drawn.reshape(len(drawn), columns.shape[1], -1).mean(axis=2)
    _, sizes = unit_sums(columns, unit)
    return percentiles(replicates, np.array([tail(column) for column in sizes.T]))


def _error(gap: Floats, means: Floats, fold: Ints, unit: Ints) -> float:
    """Return the standard error over units of a mean over folds: the linearised sum of ratios (Cochran 1977, 6.13)."""
    residual = (gap - means[fold]) * _weights(gap[:, None], fold)[:, 0]
    sums, sizes = unit_sums(residual, unit)
    units = int(np.count_nonzero(sizes))
    return float((units / max(units - 1, 1) * (sums**2).sum()) ** 0.5)
