"""Distributions of values: histograms, kernel densities, and the overlap of two densities."""

from __future__ import annotations

import numpy as np

from embassay.stats.units import Floats

FINE = 2048
"""The number of cells that a density is computed on."""


def histogram(values: Floats, low: float, high: float, bins: int = 40) -> tuple[Floats, Floats]:
    """Return the edges (bins + 1,) and the share of the defined values in each bin (bins,).

    Values outside [low, high] count in the first or last bin, values within a ten-thousandth of a bin below an edge
    in the bin above it. The shares add up to 1, or are all 0 without values.
    """
    defined = values[~np.isnan(values)]
    # The last digits of vectors depend on the processor; they must not decide on which side of an edge a value is.
    places = np.round((np.clip(defined, low, high) - low) * (bins / (high - low)), 4)
    counts = np.bincount(np.minimum(places.astype(int), bins - 1), minlength=bins)
    return np.linspace(low, high, bins + 1), counts / max(len(defined), 1)


def bandwidth(values: Floats) -> float:
    """Return Silverman's (1986, eq. 3.31) bandwidth: 0.9 · min(sd, IQR/1.34) · n^(-1/5); 0 where nothing varies."""
    if len(values) < 2:
        return 0.0
    deviation = float(values.std(ddof=1))
    lower, upper = np.percentile(values, [25, 75])
    from_quartiles = float(upper - lower) / 1.34
    # If more than half of the values are equal, the quartiles may coincide.
    spread = min(deviation, from_quartiles) or deviation
    return float(0.9 * spread * len(values) ** -0.2)


def density(values: Floats, grid: Floats, low: float, high: float) -> Floats:
    """Return the Gaussian kernel density of the defined values on an ascending grid within [low, high].

    ``low`` and ``high`` are the ends of the possible range. The density is reflected there, so that its area between
    them is 1. It is computed on 2048 cells; the density of equal values is one cell wide.

    Returns
    -------
    (len(grid),); all 0 without values.
    """
    defined = values[~np.isnan(values)]
    if len(defined) == 0:
        return np.zeros(len(grid))
    step = (high - low) / FINE
    counts, _ = np.histogram(np.clip(defined, low, high), bins=FINE, range=(low, high))

    width = bandwidth(defined)
    # Beyond five bandwidths the kernel is below 4e-6 of its height.
    cells = int(np.ceil(5 * width / step))
    reach = min(max(cells, 1), FINE)
    offsets = np.arange(-reach, reach + 1) * step
    kernel = np.exp(-0.5 * (offsets / max(width, step)) ** 2)
    kernel /= kernel.sum()

    mirrored = np.pad(counts.astype(float), reach, mode="symmetric")
    smooth = np.convolve(mirrored, kernel, mode="valid")
    heights = smooth / (len(defined) * step)
    return np.interp(grid, _centres(low, step), heights)


def overlap(first: Floats, second: Floats, low: float, high: float) -> float:
    """Return the overlapping coefficient ∫ min(f, g) (Inman & Bradley 1989) of the kernel densities of two samples.

    In [0, 1]: 1 for equal densities, 0 for disjoint ones; NaN if either sample has no defined value.
    """
    if np.isnan(first).all() or np.isnan(second).all():
        return float("nan")
    step = (high - low) / FINE
    grid = _centres(low, step)
    first_density = density(first, grid, low, high)
    second_density = density(second, grid, low, high)
    lower = np.minimum(first_density, second_density)
    return min(1.0, float(lower.sum() * step))


def _centres(low: float, step: float) -> Floats:
    """Return (2048,) the middles of the cells."""
    return np.asarray(low + (np.arange(FINE) + 0.5) * step, dtype=np.float64)
