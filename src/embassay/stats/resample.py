"""Resampling of whole units, as arithmetic on counts.

Every statistic here is a ratio of sums over units, Σ c·sum_u / Σ c·n_u with c the resampling counts, so a
bootstrap is one matrix product, and all quantities and all models share the same counts: what is resampled
together is paired (Efron & Tibshirani 1993, chapter 8; units as in the cluster bootstrap of Davison &
Hinkley 1997, section 3.8).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from embassay.randomness import generator
from embassay.result import MIN_UNITS, Estimate
from embassay.types import Draws

LEVEL = 0.95
BLOCK = 4_000_000
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


def counts(units: int, draws: Draws, *purpose: str) -> Iterator[NDArray[np.int64]]:
    """Yield the resampling counts in blocks: (b, units) each, b adding up to ``draws.resamples``.

    Each row says how often each unit is drawn in one resample of ``units`` units with replacement.
    """
    stream = generator(draws.seed, "bootstrap", *purpose)
    for size in _blocks(draws.resamples, units):
        drawn = stream.integers(0, units, size=(size, units))
        drawn += units * np.arange(size)[:, None]
        yield np.bincount(drawn.ravel(), minlength=size * units).reshape(size, units)


def signs(units: int, number: int, draws: Draws, *purpose: str) -> Iterator[Floats]:
    """Yield random signs in blocks: (b, units) of ±1 each, b adding up to ``number``."""
    stream = generator(draws.seed, "signs", *purpose)
    for size in _blocks(number, units):
        yield (2 * stream.integers(0, 2, size=(size, units)) - 1).astype(np.float64)


def bootstrap_means(values: Floats, unit: NDArray[np.int64], draws: Draws, *purpose: str) -> Floats:
    """Return the (resamples, k) means of bootstrap samples of whole units.

    Parameters
    ----------
    values
        (n, k); NaN is left out of its own column only.
    """
    sums, sizes = unit_sums(values, unit)
    blocks = (_ratio(c.astype(float), sums, sizes) for c in counts(len(sums), draws, *purpose))
    return np.concatenate(list(blocks))


def mean(values: Floats, unit: NDArray[np.int64], draws: Draws, *purpose: str) -> Estimate:
    """Estimate a mean with its percentile interval over units.

    Parameters
    ----------
    values
        (n,) any finite numbers; NaN is undefined.
    purpose
        Names the random stream: the same words give the same resamples to every model.

    Returns
    -------
    Estimate
        No value when nothing is defined, no interval under ``MIN_UNITS`` units.
    """
    defined = ~np.isnan(values)
    items, units = int(defined.sum()), len(np.unique(unit[defined]))
    if items == 0:
        return undefined_estimate(len(values))
    value = float(values[defined].mean())
    undefined = len(values) - items
    if units < MIN_UNITS:
        return Estimate(value, None, None, items, units, undefined, too_few(units))
    means = bootstrap_means(values[:, None], unit, draws, *purpose)
    low, high = percentiles(means)[:, 0]
    return Estimate(value, float(low), float(high), items, units, undefined)


def percentiles(means: Floats) -> Floats:
    """Return the (2, k) lower and upper ends of the central 95 % of (resamples, k) means."""
    return np.nanpercentile(means, [100 * (1 - LEVEL) / 2, 100 * (1 + LEVEL) / 2], axis=0)


def undefined_estimate(items: int) -> Estimate:
    """Return the estimate of nothing: no item was defined."""
    reason = "no items" if items == 0 else "undefined for every item"
    return Estimate(None, None, None, 0, 0, items, reason)


def too_few(units: int) -> str:
    """Say why a figure has no interval."""
    return f"no interval under {MIN_UNITS} units ({units} here)"


def _blocks(rows: int, width: int) -> Iterator[int]:
    block = max(1, BLOCK // max(width, 1))
    for start in range(0, rows, block):
        yield min(block, rows - start)


def _ratio(count: Floats, sums: Floats, sizes: Floats) -> Floats:
    total = count @ sizes
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = (count @ sums) / total
    return np.where(total > 0, ratio, np.nan)
