"""Shares of items that pass two thresholds, averaged over a grid of thresholds without a loop over the grid.

Bansal et al. (2025) take every pair of tolerances (ε₁, ε₂) on a grid. For each pair they count the samples in each cell
of (condition 1, condition 2), and average over the grid. With F(m) = (number of grid values ≤ m)/K, the average of one
sample is a product: F₁F₂, F₁(1 − F₂), (1 − F₁)F₂ and (1 − F₁)(1 − F₂). So n samples take O(n) time.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from embassay.stats.units import Floats

BINS = 10
CELLS = ("TT", "TF", "FT", "FF")


@dataclass(frozen=True, eq=False)
class Grid:
    """Thresholds in ascending order; values may repeat.

    Attributes
    ----------
    values
        (K,) the thresholds, K at least 1.
    """

    values: Floats

    @classmethod
    def spanning(cls, low: float, high: float, per_bin: int = 23) -> Grid:
        """Return the authors' axis: 10 equal bins, each with ``per_bin`` equally spaced values, both ends included.

        Therefore inner bin edges occur twice, and K = 10 · ``per_bin``.
        """
        edges = np.linspace(low, high, BINS + 1)
        bins = [np.linspace(start, end, per_bin) for start, end in pairwise(edges)]
        return cls(np.concatenate(bins))

    @property
    def size(self) -> int:
        """K."""
        return len(self.values)

    @property
    def ends(self) -> str:
        """The lowest and the highest threshold and their number, for signatures."""
        return f"{self.values[0]:.10g},{self.values[-1]:.10g},{self.size}"

    def fraction(self, margins: Floats) -> Floats:
        """Return F of each margin, the share of the thresholds that it reaches; NaN where the margin is NaN."""
        reached = np.searchsorted(self.values, margins, side="right")
        return np.where(np.isnan(margins), np.nan, reached / self.size)


def cells(first: Floats, second: Floats) -> Floats:
    """Return the share of the grid on which each sample is in each cell.

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
