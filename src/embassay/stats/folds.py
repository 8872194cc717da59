"""Cross-validation: the fold that tests each item, and means over folds with their intervals and comparisons.

A mean over F folds gives each fold the same weight, whatever its number n_f of items:

    p = (1/F) Σ_f p_f        p_f = Σ_{i in f} x_i / n_f

For differences, whole units are resampled and items keep their folds, so a replicate is
(1/F) Σ_f (Σ_u c_u·S_uf / Σ_u c_u·n_uf), c the resampling counts. No classifier is trained again: an interval is
conditional on the classifiers that were trained on these folds.
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


def shares_over_folds(values: Sequence[Floats], fold: Ints, unit: Ints) -> tuple[PooledShare, ...]:
    """Estimate shares as means over folds, such as accuracies of a cross-validation, each with its 95 % interval.

    The limits are those of :func:`fold_limits`. The bootstrap of such a mean covers only 28-72 % where 98 % or more
    are right, and often has no width.

    Parameters
    ----------
    values
        (n,) for each encoder, in [0, 1]: 1 right, 0 wrong; NaN is undefined.
    fold, unit
        (n,) codes from 0.

    Returns
    -------
    One share for each encoder: no value where a fold has no defined item, no interval under ``MIN_UNITS`` units. The
    correlation within units is pooled over the other encoders, so only the limits depend on them.
    """
    if len(unit) == 0:
        return tuple(PooledShare(undefined_estimate(0), pooled=False) for _ in values)
    within = [intra_unit_sums(column, unit) for column in values]
    estimates = []
    for place, column in enumerate(values):
        others = [*within[:place], *within[place + 1 :]]
        pool = IntraUnitSums.nothing(1)
        if others:
            pool = IntraUnitSums.total(others)
        table = column[:, None]
        limits = fold_limits(table, fold, unit, pool)
        mean = float(_fold_means(table, fold).mean())
        estimate = _estimate(column, unit, mean, limits.low[0], limits.high[0])
        has_interval = estimate.low is not None
        estimates.append(PooledShare(estimate, has_interval and bool(limits.pooled[0])))
    return tuple(estimates)


def fold_limits(columns: Floats, fold: Ints, unit: Ints, others: IntraUnitSums) -> Limits:
    """Return the 95 % limits of k shares that are means over folds.

    The mean over folds of ratios is linearised (Cochran 1977, section 6.13; Särndal, Swensson & Wretman 1992, section
    5.5). With w_i = 1/(F·n_f(i)), so that Σw = 1:

        p = Σ_i w_i x_i        z_u = Σ_{i in u} w_i (x_i − p_f(i))        v = U/(U − 1) · Σ_u z_u²

    A unit's items may be in several folds; z_u adds up what they have in common. The interval is Wilson's on
    n* = p(1 − p)/v, where v is widened and bounded as in :func:`~embassay.stats.units.effective_sample_size`, by the
    variances

        of independent items     Σ_i w_i² (x_i − p_f)² · n_f/(n_f − 1)
        of units that agree      Σ_i w_i (x_i − p)² · Σ_u W_u²,  W_u = Σ_{i in u} w_i

    With fewer than 10 right or 10 wrong answers n* is the pooled one, as in :func:`~embassay.stats.shares.share`, with
    1/Σw² for n, 1/ΣW_u² for U_e, and 9·max w for the share of 9 answers. With one fold all of this is
    :func:`~embassay.stats.shares.share`.

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
    NaN where a fold has no defined item.
    """
    defined = ~np.isnan(columns)
    weight = np.where(defined, _weights(columns, fold), 0.0)

    # x_i − p_f(i) and x_i − p.
    fold_means = _fold_means(columns, fold)
    p = fold_means.mean(axis=0)
    from_fold_mean = np.where(defined, columns - fold_means[fold], 0.0)
    from_mean = np.where(defined, columns - p, 0.0)

    # z_u and W_u.
    residuals, _ = unit_sums(weight * from_fold_mean, unit)
    unit_weights, _ = unit_sums(weight, unit)
    units = np.count_nonzero(unit_weights, axis=0)
    effective_units = kish(unit_weights)

    _, fold_sizes = unit_sums(columns, fold)
    correction = (fold_sizes / np.maximum(fold_sizes - 1, 1))[fold]
    independent = (weight**2 * from_fold_mean**2 * correction).sum(axis=0)
    agreed = (weight * from_mean**2).sum(axis=0) / effective_units
    unpooled = effective_size(p, residuals, units, effective_units, independent, agreed)

    effective_items = kish(weight)
    partners = effective_items / effective_units - 1
    correlation = pooled_correlation(others, partners)
    pooled = pooled_sample_size(effective_items, effective_units, correlation)
    limits = guarded_wilson(p, weight.max(axis=0), minority(columns), unpooled, pooled)
    return limits._replace(pooled=limits.pooled & (partners > 0))


def compare_means_over_folds(
    values: Mapping[str, Floats], fold: Ints, unit: Ints, roles: Roles, draws: Draws, *purpose: str
) -> tuple[PairedDifference, ...]:
    """Compare the means over folds of encoders: one row for each question, family by family.

    As :func:`~embassay.stats.families.compare_means`, for shares: a unit is exchanged in all folds at once.

    Parameters
    ----------
    values
        The (n,) shares of each encoder, all in the same order of items; NaN is undefined.
    fold, unit
        (n,) codes from 0.
    """
    means = {}
    for name, items in values.items():
        means[name] = float(_fold_means(items[:, None], fold).mean())
    questions = roles.questions(means)
    pairs = pairs_of(questions, values)
    if not pairs or len(unit) == 0:
        return ()
    differences = np.stack([values[a] - values[b] for a, b in pairs], axis=1)
    low, high = _percentile_interval(differences, fold, unit, draws, *purpose)
    fold_means = _fold_means(differences, fold)
    gaps = {}
    for column, pair in enumerate(pairs):
        items = differences[:, column]
        means_of_pair = fold_means[:, column]
        mean = float(means_of_pair.mean())
        estimate = _estimate(items, unit, mean, low[column], high[column])
        error = None
        if estimate.value is not None and estimate.units > 1:
            error = _standard_error(items, means_of_pair, fold, unit)
        gaps[pair] = Gap(estimate, error)
    weighted = differences * _weights(differences, fold)
    sums, _ = unit_sums(weighted, unit)
    return answer(questions, gaps, lambda places: SignFlips(sums[:, places]), draws, *purpose)


def _estimate(values: Floats, unit: Ints, mean: float, low: float, high: float) -> Estimate:
    """Return the estimate of a mean over folds; no value where a fold has no defined item."""
    defined = ~np.isnan(values)
    items = int(defined.sum())
    undefined = len(values) - items
    if items == 0:
        return undefined_estimate(len(values))
    if np.isnan(mean):
        return Estimate(None, None, None, 0, 0, len(values), "a fold has no item that is defined")
    units = len(np.unique(unit[defined]))
    if units < MIN_UNITS:
        return Estimate(mean, None, None, items, units, undefined, too_few(units))
    return Estimate(mean, float(low), float(high), items, units, undefined)


def _fold_means(columns: Floats, fold: Ints) -> Floats:
    """Return the (folds, k) means p_f of the defined items of each fold; NaN for a fold without defined items."""
    sums, sizes = unit_sums(columns, fold)
    return sums / np.where(sizes > 0, sizes, np.nan)


def _weights(columns: Floats, fold: Ints) -> Floats:
    """Return the (n, k) weights 1/(F·n_f), with which the items add up to the mean over folds."""
    _, sizes = unit_sums(columns, fold)
    weight_of_fold = 1 / (len(sizes) * np.maximum(sizes, 1))
    return np.asarray(weight_of_fold[fold])


def _percentile_interval(
    differences: Floats, fold: Ints, unit: Ints, draws: Draws, *purpose: str
) -> tuple[Floats, Floats]:
    """Return the (k,) low and high ends of the percentile intervals of differences of shares over folds.

    Each pair and fold is one column, in which the items of the other folds are absent. All columns share the resamples.
    """
    items, pairs = differences.shape
    folds = int(fold.max(initial=-1)) + 1
    table = np.full((items, pairs, folds), ABSENT)
    for number in range(folds):
        in_fold = fold == number
        table[in_fold, :, number] = differences[in_fold]

    columns = table.reshape(items, pairs * folds)
    of_shares = np.full(pairs * folds, True)
    fold_means = bootstrap_means(columns, unit, draws, *purpose, differences=of_shares)
    replicates = fold_means.reshape(-1, pairs, folds).mean(axis=2)

    _, sizes = unit_sums(differences, unit)
    tails = np.array([tail(column) for column in sizes.T])
    return percentiles(replicates, tails)


def _standard_error(gap: Floats, fold_means: Floats, fold: Ints, unit: Ints) -> float:
    """Return √v, v the linearised variance over units of a mean over folds; see :func:`fold_limits`."""
    weights = _weights(gap[:, None], fold)[:, 0]
    residuals = (gap - fold_means[fold]) * weights
    sums, sizes = unit_sums(residuals, unit)
    units = int(np.count_nonzero(sizes))
    correction = units / max(units - 1, 1)
    variance = correction * (sums**2).sum()
    return float(variance**0.5)
