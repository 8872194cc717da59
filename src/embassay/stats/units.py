"""Sums over units, the variance of a mean of items in units, and the effective number of items.

*Units* are independent of each other: documents, groups of paraphrases, clusters of sentences. The items of one unit
may depend on each other. Notation in this package: unit u has n_u items with the sum S_u, n = Σ n_u, p = Σ S_u / n.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from embassay.core.arrays import Bools as Bools
from embassay.core.arrays import Floats as Floats
from embassay.core.arrays import Ints as Ints

LEVEL = 0.95
"""The confidence of all intervals."""
UPPER = (1 + LEVEL) / 2
"""The quantile at the upper end of a two-sided interval: 0.975."""


def unit_codes(unit: Ints) -> Ints:
    """Return the units of some items, renumbered from 0 without gaps."""
    codes = np.unique(unit, return_inverse=True)[1]
    return np.asarray(codes, dtype=np.int64)


def ranges(starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Return the numbers start … end − 1 of all ranges in one array, and the index of each number's range."""
    sizes = ends - starts
    range_of_number = np.repeat(np.arange(len(starts)), sizes)
    # In the result, the numbers of a range begin where those of the ranges before it end.
    begin_in_result = np.cumsum(sizes) - sizes
    place_in_range = np.arange(len(range_of_number)) - begin_in_result[range_of_number]
    return starts[range_of_number] + place_in_range, range_of_number


def unit_sums(values: Floats, unit: Ints) -> tuple[Floats, Floats]:
    """Sum values over units; undefined (NaN) items are left out.

    Parameters
    ----------
    values
        (n,) or (n, k).
    unit
        (n,) unit codes from 0.

    Returns
    -------
    sums, sizes
        Both (units,) or (units, k): the sum S_u and the number n_u of the defined items in each unit.
    """
    columns = values
    if values.ndim == 1:
        columns = values[:, None]
    units = int(unit.max(initial=-1)) + 1
    sums = np.zeros((units, columns.shape[1]))
    sizes = np.zeros((units, columns.shape[1]))
    for column, items in enumerate(columns.T):
        defined = ~np.isnan(items)
        filled = np.where(defined, items, 0.0)
        sum_of_unit = np.bincount(unit, weights=filled, minlength=units)
        size_of_unit = np.bincount(unit, weights=defined, minlength=units)
        # Cut to the number of units, because bincount may return one zero where there are no items.
        sums[:, column] = sum_of_unit[:units]
        sizes[:, column] = size_of_unit[:units]
    shape = (units, *values.shape[1:])
    return sums.reshape(shape), sizes.reshape(shape)


def effective_units(sizes: Floats) -> float:
    """Return U_e = (Σ n_u)²/Σ n_u²: the number of equal units that would spread the items as evenly (Kish 1965)."""
    if not sizes.any():
        return 0.0
    return float(kish(sizes))


def kish(weights: Floats) -> Floats:
    """Return the effective number of weights, (Σ w)²/Σ w², over the first axis (Kish 1965).

    Parameters
    ----------
    weights
        (n,) or (n, k), none negative; items of weight 0 are left out.

    Returns
    -------
    () or (k,), from 1 to n; NaN where all weights are 0.
    """
    total = weights.sum(axis=0)
    squares = (weights * weights).sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(total**2 / squares)


def ratio_variance(values: Floats, unit: Ints) -> float:
    """Return the variance of a mean whose items come in units.

    The linearised variance of the ratio p = Σ S_u / Σ n_u over U units (Cochran 1977, section 6.13):

        v = U/(U − 1) · Σ_u (S_u − p·n_u)² / n²

    NaN for a single unit.
    """
    sums, sizes = unit_sums(values, unit)
    units = np.count_nonzero(sizes)
    items = sizes.sum()
    if units < 2:
        return float("nan")
    mean = sums.sum() / items
    residuals = sums - mean * sizes
    correction = units / (units - 1)
    return float(correction * np.sum(residuals**2) / items**2)


def effective_sample_size(sums: Floats, sizes: Floats, squares: Floats) -> Floats:
    """Return the effective sample size of a share: n* = p(1 − p)/v*, v* its variance over units.

    v* is the linearised variance v of :func:`ratio_variance`, with three corrections:

    1. Where few units hold all the yes answers, v is itself uncertain. It is multiplied by (t/z)² (Korn & Graubard
       1998), with t on Satterthwaite's (1946) degrees of freedom 2v²/Var(v), at most U_e − 1.
    2. The corrected variance is at most s²/U_e, the variance if all items of a unit agreed; s² is that of the items.
    3. v* is at least s²/n, the variance of independent items: a smaller v is taken for chance.

    At p = 0 and p = 1, and with a single unit, n* is U_e. It is infinite where the items do not vary, for example for a
    constant encoder, for which every item has the expected value 1/3.

    Parameters
    ----------
    sums, sizes
        (units,) or (units, k): S_u and n_u; a size may be 0.
    squares
        () or (k,) Σ(x − p)² over the items.

    Returns
    -------
    () or (k,), at least 1; NaN where no item is defined.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        items = sizes.sum(axis=0)
        kish_units = kish(sizes)
        p = sums.sum(axis=0) / items
        residuals = (sums - p * sizes) / items
        independent = squares / np.maximum(items - 1, 1) / items
        agreed = squares / items / kish_units
    units = np.count_nonzero(sizes, axis=0)
    return effective_size(p, residuals, units, kish_units, independent, agreed)


def satterthwaite(squared: Floats, units: Ints | int, kish_units: Floats) -> Floats:
    """Return the degrees of freedom of a variance over units: 2v²/Var(v), from 1 to U_e − 1 (Satterthwaite 1946).

    Parameters
    ----------
    squared
        (units,) or (units, k): the squared residual of each unit, whose variance estimates Var(v).
    units, kish_units
        () or (k,) U, the number of units with items, and U_e, Kish's effective number of units.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        total = squared.sum(axis=0)
        # Where the squares are all equal, rounding may leave a tiny variance, even a negative one.
        variance_of_squares = (squared**2).sum(axis=0) - total**2 / units
        squares_vary = variance_of_squares > 1e-12 * total**2
        freedom = np.where(squares_vary, 2 * total**2 / variance_of_squares, np.inf)
    return np.asarray(np.maximum(np.minimum(freedom, kish_units - 1), 1.0))


def effective_size(
    p: Floats, residuals: Floats, units: Ints, kish_units: Floats, independent: Floats, agreed: Floats
) -> Floats:
    """Return n* of a share from the linearised residuals of its units; see :func:`effective_sample_size`.

    Parameters
    ----------
    p
        (k,) the share.
    residuals
        (units, k) the linearised residual (S_u − p·n_u)/n of each unit: v = U/(U − 1) · Σ residual².
    units, kish_units
        (k,) U, the number of units with items, and U_e, Kish's effective number of units.
    independent, agreed
        (k,) the variance of the share if all items were independent, and if all items of a unit agreed.
    """
    from scipy.special import stdtrit

    squared = residuals**2
    with np.errstate(divide="ignore", invalid="ignore"):
        total = squared.sum(axis=0)
        linear = units / (units - 1) * total

        t = stdtrit(satterthwaite(squared, units, kish_units), UPPER)
        z = NormalDist().inv_cdf(UPPER)
        widened = linear * (t / z) ** 2

        at_most_agreed = np.minimum(widened, agreed)
        at_least_independent = np.maximum(linear, independent)
        variance = np.maximum(at_least_independent, at_most_agreed)
        # Where the items do not vary, rounding leaves a variance of about 1e-33.
        number = np.where(variance < 1e-24, np.inf, p * (1 - p) / variance)
    return np.where((p <= 0) | (p >= 1) | (units < 2), kish_units, number)
