"""Items that come in units: their sums, the variance of their mean, and how many independent items they are worth."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
UPPER = (1 + LEVEL) / 2
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def unit_sums(values: Floats, unit: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Sum values over units; undefined (NaN) items count nowhere.

    Parameters
    ----------
    values
        (n,) or (n, k).
    unit
        (n,) unit codes from 0.

    Returns
    -------
    sums, sizes
        Both (units,) or (units, k): the sum and the number of the defined items in each unit.
    """
    columns = values[:, None] if values.ndim == 1 else values
    size = int(unit.max(initial=-1)) + 1
    defined = ~np.isnan(columns)
    filled = np.where(defined, columns, 0.0)
    sums, sizes = (
        np.stack([np.bincount(unit, weights=c, minlength=size)[:size] for c in block.T], axis=1)
        for block in (filled, defined.astype(float))
    )
    shape = (size, *values.shape[1:])
    return sums.reshape(shape), sizes.reshape(shape)


def effective_units(sizes: Floats) -> float:
    """Return (Σ n_u)²/Σ n_u²: how many units of equal size would spread the items as evenly (Kish 1965)."""
    return float(kish(sizes)) if sizes.any() else 0.0


def kish(weights: Floats) -> Floats:
    """Return (Σ w)²/Σ w² over the first axis: the number of equal weights that are as unsure as these (Kish 1965).

    Parameters
    ----------
    weights
        (n,) or (n, k), none negative; 0 for what does not take part. Without any weight the result is undefined (NaN).
    """
    with np.errstate(invalid="ignore"):
        return np.asarray(weights.sum(axis=0) ** 2 / (weights * weights).sum(axis=0))


def ratio_variance(values: Floats, unit: NDArray[np.int64]) -> float:
    """Return the variance of a mean whose items come in units.

    v = U/(U − 1) · Σ_u (sum_u − p·n_u)² / n²: the linearised variance of the ratio Σ sum_u / Σ n_u
    (Cochran 1977, section 6.13). Undefined (NaN) for a single unit.
    """
    sums, sizes = unit_sums(values, unit)
    units, items = np.count_nonzero(sizes), sizes.sum()
    if units < 2:
        return float("nan")
    residual = sums - sums.sum() / items * sizes
    return float(units / (units - 1) * np.sum(residual**2) / items**2)


def effective_number(values: Floats, unit: NDArray[np.int64]) -> float:
    """Return the effective number of items n* of a share; see :func:`effective_sample_size`.

    Parameters
    ----------
    values
        (n,) in [0, 1], all defined.
    unit
        (n,) unit codes.
    """
    sums, sizes = unit_sums(values, unit)
    return float(effective_sample_size(sums, sizes, np.asarray(((values - values.mean()) ** 2).sum())))


def effective_sample_size(sums: Floats, sizes: Floats, squares: Floats) -> Floats:
    """Return n* = p(1 − p)/v*: how many independent items would make a share as unsure.

    v is the linearised variance over units. Where few units hold all the yes answers, v is itself unsure, so it is
    multiplied by (t/z)² (Korn & Graubard 1998), t on Satterthwaite's (1946) degrees of freedom 2v²/Var(v), at most the
    effective units less one; but not beyond s²/(effective units), where all items of a unit agree. It is never
    less than s²/n, the variance of independent items: units that happen to agree are no proof. At p = 0 and p = 1, and
    with a single unit, n* is the number of effective units. It is infinite where the items themselves agree (a constant
    encoder, whose every item is an expected 1/3, has nothing left to vary).

    Parameters
    ----------
    sums, sizes
        (units,) or (units, k): the sum and the number of the defined items in each unit; a size may be 0.
    squares
        () or (k,) Σ(x − p)² over the items.

    Returns
    -------
    () or (k,), at least 1; NaN where there is no item.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        items, spread = sizes.sum(axis=0), kish(sizes)
        p = sums.sum(axis=0) / items
        residuals = (sums - p * sizes) / items
        independent = squares / np.maximum(items - 1, 1) / items
        agreed = squares / items / spread
    return effective_size(p, residuals, np.count_nonzero(sizes, axis=0), spread, independent, agreed)


def effective_size(
    p: Floats, residuals: Floats, units: Ints, spread: Floats, independent: Floats, agreed: Floats
) -> Floats:
    """Return n* of a share from the linearised residuals of its units; see :func:`effective_sample_size`.

    Parameters
    ----------
    p
        (k,) the share.
    residuals
        (units, k) how much each unit moves the share: they add up to 0, and v = U/(U − 1) · Σ residual².
    units, spread
        (k,) how many units have items, and how many equal units they are as good as.
    independent, agreed
        (k,) the variance of the share if all items were independent, and if all items of a unit agreed.
    """
    from scipy.special import stdtrit

    squared = residuals**2
    with np.errstate(divide="ignore", invalid="ignore"):
        total = squared.sum(axis=0)
        linear = units / (units - 1) * total

        gap = (squared**2).sum(axis=0) - total**2 / units
        freedom = np.where(gap > 1e-12 * total**2, 2 * total**2 / gap, np.inf)
        freedom = np.maximum(np.minimum(freedom, spread - 1), 1.0)
        widened = linear * (stdtrit(freedom, UPPER) / NormalDist().inv_cdf(UPPER)) ** 2

        variance = np.maximum(np.maximum(linear, independent), np.minimum(widened, agreed))
        # Rounding leaves about 1e-33 where the items agree.
        number = np.where(variance < 1e-24, np.inf, p * (1 - p) / variance)
    return np.where((p <= 0) | (p >= 1) | (units < 2), spread, number)
