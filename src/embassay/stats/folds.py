"""Cross-validation: which fold tests an item, and means over folds with their intervals and comparisons.

A mean over folds gives each fold the same weight, whatever its size: (1/F) Σ_f Σ_{i in f} x_i / n_f. For differences,
units are drawn whole, each item in its own fold, so a replicate is (1/F) Σ_f (Σ_u c_u·sum_uf / Σ_u c_u·n_uf), c the
resampling counts. Nothing is trained again: an interval is conditional on the classifiers that were trained on the
folds as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from embassay.result import MIN_UNITS, Estimate
from embassay.stats.families import Gap, PairedDifference, Roles, answer, pairs_of
from embassay.stats.permutation import SignFlips
from embassay.stats.resample import ABSENT, bootstrap_means, percentiles, tail, too_few, undefined_estimate
from embassay.stats.shares import (
    IntraUnitSums,
    Limits,
    PooledShare,
    guarded_wilson,
    intra_unit_sums,
    minority,
    pooled_correlation,
    pooled_sample_size,
)
from embassay.stats.units import Floats, Ints, effective_size, kish, unit_sums
from embassay.types import Draws


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


def shares_over_folds(values: Sequence[Floats], fold: Ints, unit: Ints) -> tuple[PooledShare, ...]:
    """Estimate shares as means over folds, such as accuracies of a cross-validation, each with its 95 % interval.

    The mean over folds of ratios is linearised (Cochran 1977, section 6.13; Särndal, Swensson & Wretman 1992, section
    5.5). With F folds, n_f defined items in fold f and w_i = 1/(F·n_f(i)), so that Σw = 1:

        p = Σ_i w_i x_i = (1/F) Σ_f p_f        z_u = Σ_{i in u} w_i (x_i − p_f(i))        v = U/(U − 1) · Σ_u z_u²

    A unit's items may lie in any folds; what they have in common adds up in z_u. The interval is Wilson's on
    n* = p(1 − p)/v, v widened and bounded as in :func:`~embassay.stats.units.effective_sample_size`: by
    Σ_i w_i² (x_i − p_f)² n_f/(n_f − 1), the variance of independent items, and Σ_i w_i (x_i − p)² · Σ_u W_u², that of
    units which agree, W_u = Σ_{i in u} w_i. With fewer than 10 right or 10 wrong answers n* is the pooled one, as in
    :func:`~embassay.stats.shares.share`, with 1/Σw² for n, 1/ΣW_u² for U_e, and 9·max w for the share of 9 answers.
    With one fold all of this is :func:`~embassay.stats.shares.share`.

    The bootstrap of such a mean covers only 28-72 % where 98 % or more are right, and often has no width. Nothing is
    trained again: the interval is conditional on the classifiers that were trained on the folds as they are.

    Parameters
    ----------
    values
        (n,) for each encoder, in [0, 1]: 1 right, 0 wrong; NaN is undefined.
    fold, unit
        (n,) codes from 0.

    Returns
    -------
    A share of each: no value where a fold has nothing defined, no interval under ``MIN_UNITS`` units. The
    correlation within units is pooled over the other encoders; the values do not depend on them.
    """
    if len(unit) == 0:
        return tuple(PooledShare(undefined_estimate(0), pooled=False) for _ in values)
    within = [intra_unit_sums(column, unit) for column in values]
    estimates = []
    for place, column in enumerate(values):
        others = [*within[:place], *within[place + 1 :]]
        pool = IntraUnitSums.total(others) if others else IntraUnitSums.nothing(1)
        value = _means(column[:, None], fold).mean()
        limits = fold_limits(column[:, None], fold, unit, pool)
        estimate = _estimate(column, unit, value, limits.low[0], limits.high[0])
        estimates.append(PooledShare(estimate, pooled=estimate.low is not None and bool(limits.pooled[0])))
    return tuple(estimates)


def fold_limits(columns: Floats, fold: Ints, unit: Ints, others: IntraUnitSums) -> Limits:
    """Return the limits of k shares that are means over folds; see :func:`shares_over_folds`.

    Parameters
    ----------
    columns
        (n, k) in [0, 1]; NaN is undefined.
    fold, unit
        (n,) codes from 0.
    others
        (k,) sums over the other encoders.

    Returns
    -------
    NaN where a fold has nothing defined.
    """
    defined = ~np.isnan(columns)
    weight = np.where(defined, _weights(columns, fold), 0.0)
    fold_means = _means(columns, fold)
    p = fold_means.mean(axis=0)
    deviation = np.where(defined, columns - fold_means[fold], 0.0)

    residuals, _ = unit_sums(weight * deviation, unit)
    unit_weights, _ = unit_sums(weight, unit)
    spread = kish(unit_weights)
    units = np.count_nonzero(unit_weights, axis=0)

    _, fold_sizes = unit_sums(columns, fold)
    correction = (fold_sizes / np.maximum(fold_sizes - 1, 1))[fold]
    independent = (weight**2 * deviation**2 * correction).sum(axis=0)
    agreed = (weight * np.where(defined, columns - p, 0.0) ** 2).sum(axis=0) / spread
    own = effective_size(p, residuals, units, spread, independent, agreed)

    effective_items = kish(weight)
    partners = effective_items / spread - 1
    pooled = pooled_sample_size(effective_items, spread, pooled_correlation(others, partners))
    limits = guarded_wilson(p, weight.max(axis=0), minority(columns), own, pooled)
    return limits._replace(pooled=limits.pooled & (partners > 0))


def compare_means_over_folds(
    values: Mapping[str, Floats], fold: Ints, unit: Ints, roles: Roles, draws: Draws, *purpose: str
) -> tuple[PairedDifference, ...]:
    """Compare the means over folds of encoders: one row for each question, family by family.

    As :func:`~embassay.stats.families.compare_means`, for shares: whole units are exchanged, over all folds at once.

    Parameters
    ----------
    values
        The (n,) shares of each encoder, all in the same order of items; NaN is undefined.
    fold, unit
        (n,) codes from 0.
    """
    level = {name: float(_means(items[:, None], fold).mean()) for name, items in values.items()}
    questions = roles.questions(level)
    pairs = pairs_of(questions, values)
    if not pairs or len(unit) == 0:
        return ()
    columns = np.stack([values[a] - values[b] for a, b in pairs], axis=1)
    low, high = _interval(columns, fold, unit, draws, *purpose)
    by_fold = _means(columns, fold)
    gaps = {}
    for place, pair in enumerate(pairs):
        mean = float(by_fold[:, place].mean())
        estimate = _estimate(columns[:, place], unit, mean, low[place], high[place])
        defined = estimate.value is not None and estimate.units > 1
        error = _error(columns[:, place], by_fold[:, place], fold, unit) if defined else None
        gaps[pair] = Gap(estimate, error)
    sums, _ = unit_sums(columns * _weights(columns, fold), unit)
    return answer(questions, gaps, lambda kept: SignFlips(sums[:, kept]), draws, *purpose)


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


def _interval(columns: Floats, fold: Ints, unit: Ints, draws: Draws, *purpose: str) -> tuple[Floats, Floats]:
    """Return the (k,) ends of the percentile intervals of differences of shares that are means over folds."""
    inside = fold[:, None] == np.arange(int(fold.max(initial=-1)) + 1)
    by_fold = np.where(inside[:, None, :], columns[:, :, None], ABSENT)
    table = by_fold.reshape(len(columns), -1)
    chosen = np.full(table.shape[1], True)
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
