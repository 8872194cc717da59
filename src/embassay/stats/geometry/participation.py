"""The participation ratio: how many dimensions vectors use, estimated without the bias of small samples.

The participation ratio of a covariance Σ is tr(Σ)²/tr(Σ²). It is k if the variance is the same in k directions and 0 in
all others. Computed from the sample covariance it is too small, most of all for few vectors: n vectors span at most
n − 1 dimensions around their mean.

Both traces have unbiased estimators (Chen, Zhang & Zhong 2010, "Tests for high-dimensional covariance matrices",
section 2): means over all tuples of *different* rows. With K_ij = xᵢ·xⱼ and Σ* the sum over different indices,

    tr(Σ²)   Σ* K_ij²/(n)₂   − 2 Σ* K_ij K_jk/(n)₃ + Σ* K_ij K_kl/(n)₄        (n)ₖ = n(n − 1)…(n − k + 1)
    tr(Σ)²   Σ* K_ii K_jj/(n)₂ − 2 Σ* K_ii K_jk/(n)₃ + Σ* K_ij K_kl/(n)₄

They equal the means, over quadruples of different rows, of ¼((xᵢ − xⱼ)·(xₖ − xₗ))² and of ¼‖xᵢ − xⱼ‖²‖xₖ − xₗ‖².
Therefore they are never negative, and adding the same vector to all rows does not change them. So the rows may be
centred first. Then every row of K sums to 0, and three sums are enough: T = Σ K_ii, S = Σ_ij K_ij² = ‖Σᵢ xᵢxᵢᵀ‖²_F and
Q = Σ K_ii². With

    Σ* K_ij² = S − Q             Σ* K_ij K_jk = 2Q − S        Σ* K_ij K_kl = T² + 2S − 6Q
    Σ* K_ii K_jj = T² − Q        Σ* K_ii K_jk = 2Q − T²

the estimators cost no more than the sample covariance.
"""

from __future__ import annotations

from dataclasses import dataclass

ROUNDING = 1e-6
"""An estimate of tr(Σ²) at most this share of tr(Σ)²/n is the rounding error of float32 products; it counts as 0."""


@dataclass(frozen=True)
class Scatter:
    """Three sums over n centred rows, from which the traces are estimated; see the top of this module.

    Attributes
    ----------
    rows
        n.
    trace
        T, the sum of the squared lengths.
    square
        S, the squared Frobenius norm of Σᵢ xᵢxᵢᵀ, which equals that of K.
    fourth
        Q, the sum of the fourth powers of the lengths.
    """

    rows: int
    trace: float
    square: float
    fourth: float

    def trace_squared(self) -> float:
        """Estimate tr(Σ)², n at least 4; never negative, except by rounding."""
        over_pairs = self.trace**2 - self.fourth
        over_triples = 2 * self.fourth - self.trace**2
        return self._estimate(over_pairs, over_triples)

    def trace_of_square(self) -> float:
        """Estimate tr(Σ²), n at least 4; never negative, except by rounding."""
        over_pairs = self.square - self.fourth
        over_triples = 2 * self.fourth - self.square
        return self._estimate(over_pairs, over_triples)

    def _estimate(self, over_pairs: float, over_triples: float) -> float:
        """Estimate tr(Σ²) or tr(Σ)²: mean over pairs − 2 · mean over triples + mean over quadruples.

        The means are over all tuples of different rows; see the top of this module.

        Parameters
        ----------
        over_pairs, over_triples
            The sums Σ* over pairs and triples: for tr(Σ²) of K_ij² and of K_ij K_jk, for tr(Σ)² of K_ii K_jj and of
            K_ii K_jk.
        """
        # The number of tuples of different rows: (n)₂, (n)₃ and (n)₄.
        pairs = self.rows * (self.rows - 1)
        triples = pairs * (self.rows - 2)
        quadruples = triples * (self.rows - 3)

        # Σ* K_ij K_kl = T² + 2S − 6Q is the same for both traces.
        over_quadruples = self.trace**2 + 2 * self.square - 6 * self.fourth

        mean_over_pairs = over_pairs / pairs
        mean_over_triples = over_triples / triples
        mean_over_quadruples = over_quadruples / quadruples
        return mean_over_pairs - 2 * mean_over_triples + mean_over_quadruples

    def participation_ratio(self) -> float:
        """Estimate tr(Σ)²/tr(Σ²) from the two unbiased estimates.

        It is not limited to the number of dimensions, which it may exceed by chance. NaN for fewer than four rows, and
        where tr(Σ²) is estimated as 0, which happens for few rows that are orthogonal to each other.
        """
        if self.rows < 4:
            return float("nan")
        trace_squared = self.trace_squared()
        trace_of_square = self.trace_of_square()
        rounding_error = ROUNDING * trace_squared / self.rows
        # Written with "not", so that NaN gives NaN.
        if not trace_of_square > rounding_error:
            return float("nan")
        return trace_squared / trace_of_square
