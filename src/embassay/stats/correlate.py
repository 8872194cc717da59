"""Correlations with intervals over independent units.

Ranks are taken again in every resample: with c the resampling counts, an item of count c stands for c tied items,
so its midrank is (sum of the counts below) + (counts tied with it + 1)/2, and Spearman's coefficient is Pearson's
of the midranks, weighted by c. Sorted once; a resample is cumulative sums.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from embassay.result import MIN_UNITS, Estimate
from embassay.stats.resample import counts, percentiles, tail, too_few, undefined_estimate
from embassay.stats.units import LEVEL, Floats
from embassay.types import Draws

Kind = Literal["pearson", "spearman"]
BLOCK = 2_000_000
DIGITS = 12
"""Decimals of what is compared: beyond them there is only rounding."""
MIN_ITEMS = 4
"""Under this many items there is no correlation to speak of."""


def correlation(x: Floats, y: Floats, kind: Kind) -> float:
    """Return the coefficient of the items defined in both, in [-1, 1]; NaN where one of them does not vary."""
    both = ~(np.isnan(x) | np.isnan(y))
    if not both.any():
        return float("nan")
    weights = np.ones((1, int(both.sum())))
    return float(_weighted(_scale(x[both], kind)(weights), _scale(y[both], kind)(weights), weights)[0])


def influences(x: Floats, y: Floats, kind: Kind) -> Floats:
    """Return (n,) values whose mean is the coefficient and whose spread is about that of its estimate.

    With z the standardised values (ranks, for Spearman): z_x·z_y − (r/2)(z_x² + z_y²) + r, the influence function of a
    correlation (Devlin, Gnanadesikan & Kettenring 1975) put at r. The standard error of a difference of two
    coefficients is that of the difference of their influences.

    Returns
    -------
    NaN where either is undefined; all NaN where one does not vary.
    """
    both = ~(np.isnan(x) | np.isnan(y))
    ones = np.ones((1, int(both.sum())))
    found = np.full(len(x), np.nan)
    r = correlation(x, y, kind)
    if np.isnan(r):
        return found
    a, b = (np.broadcast_to(_scale(v[both], kind)(ones), ones.shape)[0] for v in (x, y))
    a, b = ((v - v.mean()) / v.std() for v in (a, b))
    found[both] = np.round(a * b - r / 2 * (a * a + b * b) + r, DIGITS)
    return found


def correlate(x: Floats, y: Floats, unit: NDArray[np.int64], kind: Kind, draws: Draws, *purpose: str) -> Estimate:
    """Estimate a correlation with its percentile interval over units.

    Parameters
    ----------
    x, y
        (n,) NaN is undefined.
    purpose
        Names the random stream; the same words give the same resamples to every model.

    Returns
    -------
    Estimate
        No value under ``MIN_ITEMS`` items or where one of them does not vary; no interval under ``MIN_UNITS`` units.
    """
    both = ~(np.isnan(x) | np.isnan(y))
    items, undefined = int(both.sum()), int((~both).sum())
    value = correlation(x, y, kind) if items >= MIN_ITEMS else float("nan")
    if items == 0:
        return undefined_estimate(len(x))
    codes = np.unique(unit[both], return_inverse=True)[1]
    units = int(codes.max()) + 1
    if np.isnan(value):
        few = f"only {items} item{'s' * (items > 1)}, {MIN_ITEMS} are needed"
        reason = few if items < MIN_ITEMS else "one side does not vary"
        return Estimate(None, None, None, items, units, undefined, reason)
    if units < MIN_UNITS:
        return Estimate(value, None, None, items, units, undefined, too_few(units))
    beyond = np.array([tail(np.bincount(codes).astype(np.float64))])
    (low,), (high,) = percentiles(bootstrap(x, y, unit, kind, draws, *purpose)[:, None], beyond)
    return Estimate(value, float(low), float(high), items, units, undefined)


def bootstrap(x: Floats, y: Floats, unit: NDArray[np.int64], kind: Kind, draws: Draws, *purpose: str) -> Floats:
    """Return the (resamples,) correlations of bootstrap samples of whole units; NaN where one does not vary."""
    both = ~(np.isnan(x) | np.isnan(y))
    of_x, of_y = (_scale(v[both], kind) for v in (x, y))
    size = max(1, BLOCK // max(int(both.sum()), 1))
    found = []
    for block in counts(int(unit.max(initial=-1)) + 1, draws, *purpose):
        for start in range(0, len(block), size):
            weights = block[start : start + size, unit[both]].astype(np.float64)
            found.append(_weighted(of_x(weights), of_y(weights), weights))
    return np.concatenate(found)


def _scale(values: Floats, kind: Kind) -> Callable[[Floats], Floats]:
    """Return what the values are under (b, n) weights: themselves, or their (b, n) weighted midranks."""
    if kind == "pearson":
        # Of size 1, so that squares neither vanish nor overflow.
        scaled = values / (np.abs(values).max(initial=0.0) or 1.0)
        return lambda weights: scaled[None, :]
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if len(values) else order
    group = np.empty(len(values), dtype=np.intp)
    group[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(values))))

    def ranks(weights: Floats) -> Floats:
        tied = np.add.reduceat(weights[:, order], starts, axis=1) if len(starts) else weights
        midrank = np.cumsum(tied, axis=1) - tied + (tied + 1) / 2
        return np.asarray(midrank[:, group])

    return ranks


def _weighted(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Return Pearson's coefficient of each row under its weights."""
    total = weights.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        dx, dy = (v - ((v * weights).sum(axis=1) / total)[:, None] for v in (x, y))
        xy, xx, yy = ((weights * p).sum(axis=1) for p in (dx * dy, dx * dx, dy * dy))
        varies = (xx > 1e-12 * total * (x * x).max(axis=1)) & (yy > 1e-12 * total * (y * y).max(axis=1))
        r = xy / (np.sqrt(xx) * np.sqrt(yy))
    return np.where(varies, np.clip(r, -1.0, 1.0), np.nan)


def across_models(x: Floats, y: Floats, kind: Kind) -> Estimate:
    """Estimate a correlation over a handful of models, with Fisher's interval.

    tanh(artanh r ± z·SE), SE = 1/√(n − 3) for Pearson (Fisher 1921), √((1 + r²/2)/(n − 3)) for Spearman (Bonett &
    Wright 2000). It takes the models for a random sample of models, which they are not: say so beside it.

    Parameters
    ----------
    x, y
        (n,) one number for each model; NaN is undefined.

    Returns
    -------
    Estimate
        No value under ``MIN_ITEMS`` models or where one side does not vary; no interval where r is ±1.
    """
    both = ~(np.isnan(x) | np.isnan(y))
    models = int(both.sum())
    left_out = len(x) - models
    value = correlation(x, y, kind) if models >= MIN_ITEMS else float("nan")
    if np.isnan(value):
        few = f"only {models} model{'s' * (models != 1)}, {MIN_ITEMS} are needed"
        reason = few if models < MIN_ITEMS else "one side does not vary"
        return Estimate(None, None, None, models, models, left_out, reason)
    value = max(-1.0, min(1.0, round(value, DIGITS)))
    if abs(value) == 1:
        return Estimate(value, None, None, models, models, left_out, "no interval for a perfect correlation")
    error = ((1 + value**2 / 2 if kind == "spearman" else 1) / (models - 3)) ** 0.5
    reach = NormalDist().inv_cdf((1 + LEVEL) / 2) * error
    low, high = (float(np.tanh(np.arctanh(value) + sign * reach)) for sign in (-1, 1))
    return Estimate(value, low, high, models, models, left_out)
