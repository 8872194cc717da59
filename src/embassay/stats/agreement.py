"""How far several annotators agree."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from embassay.stats.units import Floats

Level = Literal["interval", "ordinal"]
"""What ratings tell: how far they lie apart, or only which is the higher."""


def krippendorff(ratings: Floats, level: Level = "interval") -> float:
    """Return Krippendorff's alpha: 1 full agreement, 0 none beyond chance, below 0 worse.

    α = 1 − D_o/D_e, the mean squared difference of ratings within items over that of all ratings (Krippendorff 2011,
    "Computing Krippendorff's Alpha-Reliability"). Items with one rating do not count. Ordinal data: the same on
    midranks; his metric (section E), (Σ n_g − (n_c + n_k)/2)² over the values g from c to k, is their squared
    difference.

    Parameters
    ----------
    ratings
        (items, annotators); NaN where an annotator has not rated.
    level
        ``interval``: differences count; ``ordinal``: only the order does.

    Returns
    -------
    NaN where no item has two ratings, or all ratings are equal.
    """
    given = ~np.isnan(ratings)
    pairable = given & (given.sum(axis=1, keepdims=True) > 1)
    number = pairable.sum(axis=1)
    total = int(number.sum())
    if total == 0:
        return float("nan")
    if level == "ordinal":
        ratings = _midranks(ratings, pairable)
    # Less one of them, so that equal ratings are exactly 0.
    values = np.where(pairable, ratings - ratings[pairable][0], 0.0)
    # Σ over ordered pairs (x − y)² = 2(m Σx² − (Σx)²).
    within = 2 * (number * (values**2).sum(axis=1) - values.sum(axis=1) ** 2)
    observed = float((within[number > 1] / (number[number > 1] - 1)).sum()) / total
    expected = 2 * float(total * (values**2).sum() - values.sum() ** 2) / (total * (total - 1))
    return 1 - observed / expected if expected > 0 else float("nan")


def _midranks(ratings: Floats, pairable: NDArray[np.bool_]) -> Floats:
    """Return the mean rank of each rating among those that count, equal ones together; NaN where none counts."""
    _, code, counts = np.unique(ratings[pairable], return_inverse=True, return_counts=True)
    ranks = np.full(ratings.shape, np.nan)
    ranks[pairable] = (np.cumsum(counts) - (counts - 1) / 2)[code]
    return ranks
