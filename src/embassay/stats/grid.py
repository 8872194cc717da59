"""Shares of items that pass two thresholds, averaged over a grid of thresholds without a loop over the grid.

Bansal et al. (2025) take every pair of tolerances (ε₁, ε₂) on a grid. For each pair they count the samples in each cell
of (condition 1, condition 2), and average over the grid. With F(m) = (number of grid values ≤ m)/K, the average of one
sample is a product: F₁F₂, F₁(1 − F₂), (1 − F₁)F₂ and (1 − F₁)(1 − F₂). So n samples take O(n) time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from embassay.stats.units import Floats, Ints

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

    def passed(self, margins: Floats) -> Ints:
        """Return the (n,) number of thresholds that each margin reaches: #{ε ≤ m}; 0 for NaN.

        If thresholds are equally spaced, the place is computed from the spacing and corrected by a comparison with the
        neighbouring thresholds. This is several times as fast as the binary search that is used otherwise.
        """
        if not self._even:
            reached = np.searchsorted(self.values, margins, side="right")
            return np.where(np.isnan(margins), 0, reached)
        values, reached_by = self._distinct
        last = len(values) - 1
        scale = 0.0
        if last:
            scale = last / (values[-1] - values[0])
        with np.errstate(invalid="ignore"):
            exact = np.nan_to_num((margins - values[0]) * scale, nan=-1.0)
        # The place of the highest threshold that is reached; −1 where none is.
        place = exact.clip(-1, last).astype(np.int64)
        padded = self._padded
        one_higher = (margins >= padded[place + 2]) & (place < last)
        place += one_higher
        one_lower = margins < padded[place + 1]
        place -= one_lower
        return np.asarray(reached_by[place + 1])

    def fraction(self, margins: Floats) -> Floats:
        """Return F of each margin, in [0, 1]; NaN where the margin is NaN."""
        return np.where(np.isnan(margins), np.nan, self.passed(margins) / self.size)

    @cached_property
    def _distinct(self) -> tuple[Floats, Ints]:
        """Return the (D,) distinct thresholds, and (D + 1,) how many of all K are reached with 0, 1, …, D of them."""
        values, counts = np.unique(self.values, return_counts=True)
        return values, np.concatenate([[0], np.cumsum(counts)])

    @cached_property
    def _padded(self) -> Floats:
        """Return the distinct thresholds between −∞ and ∞."""
        return np.concatenate([[-np.inf], self._distinct[0], [np.inf]])

    @cached_property
    def _even(self) -> bool:
        """Return whether the thresholds are spaced so equally that a computed place is wrong by at most one."""
        gaps = np.diff(self._distinct[0])
        if gaps.size == 0:
            return True
        spread = gaps.max() - gaps.min()
        return bool(spread < gaps.mean() / (2 * len(gaps)))


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
