"""Items that come in units: their sums, the variance of their mean, and how many independent items they are worth."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
Floats = NDArray[np.float64]


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
    return float(sizes.sum() ** 2 / (sizes * sizes).sum()) if sizes.any() else 0.0


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
    """Return n* = p(1 − p)/v*: how many independent items would make the share as unsure.

    v is the linearised variance over units. Where few units hold all the yes answers, v is itself unsure, so it is
    multiplied by (t/z)² (Korn & Graubard 1998), t on Satterthwaite's (1946) degrees of freedom 2v²/Var(v), at most the
    effective units less one; but not beyond p(1 − p)/(effective units), where all items of a unit agree. It is never
    less than s²/n, the variance of independent items: units that happen to agree are no proof. At p = 0 and p = 1 n* is
    the number of effective units. It is infinite where the items themselves agree (a constant encoder, whose every item
    is an expected 1/3, has nothing left to vary).
    """
    sums, sizes = unit_sums(values, unit)
    used = sizes > 0
    return worth(sums[used], sizes[used], float(((values - values.mean()) ** 2).sum()))


def worth(sums: Floats, sizes: Floats, squares: float) -> float:
    """Return n* of :func:`effective_number` from the sums and sizes of the units that have items, and Σ(x − p)²."""
    items, spread = float(sizes.sum()), effective_units(sizes)
    p = float(sums.sum() / items)
    if p in (0.0, 1.0):
        return spread
    units = len(sizes)
    linear = units / (units - 1) * float(((sums - p * sizes) ** 2).sum()) / items**2
    independent, agreed = squares / (items - 1) / items, squares / items / spread
    variance = max(linear, independent, min(_widened(linear, sums, sizes, spread), agreed))
    # Rounding leaves about 1e-33 where they agree.
    return float("inf") if variance < 1e-24 else p * (1 - p) / variance


def _widened(variance: float, sums: Floats, sizes: Floats, spread: float) -> float:
    """Return a variance times (t/z)² for how unsure it is."""
    from scipy.special import stdtrit

    squares = (sums - sums.sum() / sizes.sum() * sizes) ** 2
    total = squares.sum()
    gap = (squares**2).sum() - total**2 / np.count_nonzero(sizes)
    freedom = 2 * total**2 / gap if gap > 1e-12 * total**2 else float("inf")
    freedom = max(min(freedom, spread - 1), 1.0)
    quantile = (1 + LEVEL) / 2
    return variance * float(stdtrit(freedom, quantile) / NormalDist().inv_cdf(quantile)) ** 2
