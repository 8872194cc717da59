"""How far several annotators agree."""

from __future__ import annotations

from typing import Literal

import numpy as np

from embassay.stats.correlate import midranks
from embassay.stats.units import Floats

Level = Literal["interval", "ordinal"]
"""What ratings tell: how far they lie apart, or only which is the higher."""


def krippendorff(ratings: Floats, level: Level = "interval") -> float:
    """Return Krippendorff's alpha: 1 full agreement, 0 none beyond chance, below 0 worse.

    α = 1 − D_o/D_e (Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability"), D_o and D_e the mean squared
    differences of two ratings of one item, and of any two ratings. With m_i ratings of item i and N in all:

        D_o = (1/N) Σ_i Σ_{pairs in i} (x − y)²/(m_i − 1)        D_e = Σ_{all pairs} (x − y)²/(N(N − 1))

    over ordered pairs, of which Σ (x − y)² = 2(m Σx² − (Σx)²). Items with one rating do not count. For ordinal data
    the ratings are replaced by midranks: Krippendorff's ordinal metric (section E), (Σ n_g − (n_c + n_k)/2)² over the
    values g from c to k, is their squared difference.

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
    # Less one of them, so that equal ratings are exactly 0.
    values[pairable] = scale - scale[0]

    several = per_item > 1
    within = 2 * (per_item * (values**2).sum(axis=1) - values.sum(axis=1) ** 2)
    observed = float((within[several] / (per_item[several] - 1)).sum()) / total
    overall = 2 * float(total * (values**2).sum() - values.sum() ** 2)
    expected = overall / (total * (total - 1))
    return 1 - observed / expected if expected > 0 else float("nan")
