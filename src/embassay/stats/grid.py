"""Shares of items that pass thresholds, averaged over a grid of thresholds, without a loop over the grid.

Bansal et al. (2025) count, for every pair of tolerances (ε₁, ε₂) on a grid, the samples in each cell of
(condition 1, condition 2) and average over the grid. With F(m) = (number of grid values ≤ m)/K, a sample's average
over a product grid factorises into F₁F₂, F₁(1 − F₂), (1 − F₁)F₂ and (1 − F₁)(1 − F₂): the same average, in O(n).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from embassay.stats.units import Floats, Ints

BINS = 10
CELLS = ("TT", "TF", "FT", "FF")


@dataclass(frozen=True, eq=False)
class Grid:
    """Thresholds in ascending order; a value may stand there more than once.

    Attributes
    ----------
    values
        (K,) K at least 1.
    """

    values: Floats

    @classmethod
    def spanning(cls, low: float, high: float, per_bin: int = 23) -> Grid:
        """Return the authors' axis: 10 equal bins, each with ``per_bin`` equally spaced values, both ends included.

        So inner bin edges count twice, and K = 10 · ``per_bin``.
        """
        edges = np.linspace(low, high, BINS + 1)
        bins = [np.linspace(start, end, per_bin) for start, end in pairwise(edges)]
        return cls(np.concatenate(bins))

    @property
    def size(self) -> int:
        """K."""
        return len(self.values)

    def passed(self, margins: Floats) -> Ints:
        """Return the (…) number of thresholds that each margin reaches: #{ε ≤ m}; 0 for NaN."""
        reached = np.searchsorted(self.values, margins, side="right")
        return np.where(np.isnan(margins), 0, reached)

    def fraction(self, margins: Floats) -> Floats:
        """Return F of each margin, in [0, 1]; NaN where the margin is NaN."""
        return np.where(np.isnan(margins), np.nan, self.passed(margins) / self.size)


def cells(first: Floats, second: Floats) -> Floats:
    """Return the share of the grid that each sample spends in each cell.

        TT = F₁F₂        TF = F₁(1 − F₂)        FT = (1 − F₁)F₂        FF = (1 − F₁)(1 − F₂)

    Parameters
    ----------
    first, second
        (n,) F₁ and F₂ of each sample, or 1 and 0 for a single pair of tolerances; or (draws, n).

    Returns
    -------
    (n, 4) for TT, TF, FT, FF, adding up to 1; NaN where either is; or (draws, 4, n).
    """
    both = first * second
    only_first = first * (1 - second)
    only_second = (1 - first) * second
    neither = (1 - first) * (1 - second)
    return np.stack([both, only_first, only_second, neither], axis=1)
