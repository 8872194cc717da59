"""Agreement of several annotators."""

from __future__ import annotations

from typing import Literal

import numpy as np

from embassay.stats.correlate import midranks
from embassay.stats.units import Floats

Level = Literal["interval", "ordinal"]
"""Whether the differences of ratings have a meaning (interval), or only their order (ordinal)."""


def krippendorff(ratings: Floats, level: Level = "interval") -> float:
    """Return Krippendorff's alpha, at most 1: 1 is full agreement, 0 that of chance, below 0 less than chance.

    α = 1 − D_o/D_e (Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability"), D_o and D_e the mean squared
    differences of two ratings of one item, and of any two ratings. With m_i ratings of item i and N in all:

        D_o = (1/N) Σ_i Σ_{pairs in i} (x − y)²/(m_i − 1)        D_e = Σ_{all pairs} (x − y)²/(N(N − 1))

    over ordered pairs; for m values Σ (x − y)² = 2(m Σx² − (Σx)²). Items with one rating are left out. Ordinal ratings
    are replaced by their midranks, because Krippendorff's ordinal metric (section E), (Σ n_g − (n_c + n_k)/2)² over
    the values g from c to k, is the squared difference of midranks.

    Parameters
    ----------
    ratings
        (items, annotators); NaN where an annotator has not rated.
    level
        ``interval``: differences are used; ``ordinal``: only the order is.

    Returns
    -------
    Alpha; NaN if no item has two ratings, or if all ratings are equal.
    """
    rated = ~np.isnan(ratings)
    pairable = rated & (rated.sum(axis=1, keepdims=True) > 1)
    per_item = pairable.sum(axis=1)
    total = int(per_item.sum())
    if total == 0:
        return float("nan")
    scale = ratings[pairable]
    if level == "ordinal":
        scale = midranks(scale)
    values = np.zeros(ratings.shape)
    # One rating is subtracted, so that equal ratings become exactly 0 and leave no rounding error.
    values[pairable] = scale - scale[0]

    # Σ (x − y)² over the ordered pairs of each item, then D_o.
    sums = values.sum(axis=1)
    squares = (values**2).sum(axis=1)
    within = 2 * (per_item * squares - sums**2)
    several = per_item > 1
    observed = float((within[several] / (per_item[several] - 1)).sum()) / total

    # The same over all ordered pairs, then D_e.
    overall = 2 * float(total * (values**2).sum() - values.sum() ** 2)
    expected = overall / (total * (total - 1))
    if expected <= 0:
        return float("nan")
    return 1 - observed / expected
