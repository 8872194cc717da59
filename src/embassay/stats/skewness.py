"""Johnson's (1978) correction of a mean and its test for the skewness of what is averaged.

Where most units gain a little and few lose much, a sample with few of the losses has both too high a mean and too small
an error, so a test and an interval that take the mean and its error as independent say "better" far too often. With n
units, their skewness γ and a = γ/(6√n), Johnson's modified t is t + a·(1 + 2t²).

It is used on one side only, where it makes a claim weaker: a test is corrected if the mean lies on the other side of 0
than the long tail, and an interval is made longer at the end of the long tail. What a sample does not show, no
correction sees: if no unit with a large loss was drawn, the mean is too high without a sign of it.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from embassay.stats.units import LEVEL, Floats, Ints, effective_units, ratio_variance, unit_sums


def asymmetry(residuals: Floats) -> Floats:
    """Return a = γ/(6√n) over the first axis; 0 where nothing varies.

    Parameters
    ----------
    residuals
        (units,) or (units, k): the sum of each unit less the mean times its number of items, times any factor. A unit
        without items has 0 and does not count.
    """
    squares = (residuals**2).sum(axis=0)
    cubes = (residuals**3).sum(axis=0)
    # γ = (Σr³/n)/(Σr²/n)^1.5, so that n cancels in γ/(6√n).
    scale = np.where(squares > 0, squares, 1.0) ** 1.5
    return np.asarray(cubes / scale / 6)


def corrected_t(t: Floats, a: Floats) -> Floats:
    """Return t corrected for skewness where that brings it nearer to 0, but not beyond.

    Parameters
    ----------
    t, a
        Of one shape: the mean in standard errors, and :func:`asymmetry`.
    """
    corrected = t + a * (1 + 2 * t * t)
    is_beyond = corrected * t < 0
    nearer = np.where(is_beyond, 0.0, corrected)
    return np.asarray(np.where(np.abs(nearer) < np.abs(t), nearer, t))


def corrected_p(values: Floats, unit: Ints) -> float:
    """Return the two-sided p of Johnson's t of a mean over units; 0 where the correction changes nothing.

    Parameters
    ----------
    values
        (n,) defined items.
    unit
        (n,) unit codes.
    """
    from scipy.special import stdtr

    sums, sizes = unit_sums(values, unit)
    mean = sums.sum() / sizes.sum()
    variance = ratio_variance(values, unit)
    if not variance > 0:
        return 0.0
    t = mean / variance**0.5
    a = asymmetry(sums - mean * sizes)
    corrected = float(corrected_t(t, a))
    if corrected == t:
        return 0.0
    return float(2 * stdtr(max(effective_units(sizes) - 1, 1.0), -abs(corrected)))


def longer_tails(sums: Floats, sizes: Floats, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Return by how much the low and the high end of percentile intervals of means must move outwards, (k,) each.

    The ends of Johnson's interval are ±t + a·(1 + 2t²) standard errors from the mean; those of the percentile interval
    have a·(t² − 1) already. So the end of the long tail moves by a·(2 + t²).

    Parameters
    ----------
    sums, sizes
        (units, k) the sum and the number of the items of each unit.
    level
        That of the two-sided interval.

    Returns
    -------
    The first is 0 or below, the second 0 or above.
    """
    t = NormalDist().inv_cdf((1 + level) / 2)
    shifts = []
    # Column by column, so that no other column changes the last digit of one.
    for of_units, counts in zip(sums.T.copy(), sizes.T.copy(), strict=True):
        items, units = counts.sum(), np.count_nonzero(counts)
        if units < 2:
            shifts.append(0.0)
            continue
        residuals = (of_units - of_units.sum() / items * counts) / items
        error = (units / (units - 1) * (residuals**2).sum()) ** 0.5
        shifts.append(float(error * asymmetry(residuals) * (2 + t * t)))
    shift = np.array(shifts)
    return np.minimum(shift, 0.0), np.maximum(shift, 0.0)
