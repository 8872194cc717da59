"""How many dimensions vectors use, estimated without the bias of few vectors.

The participation ratio of a covariance Σ is tr(Σ)²/tr(Σ²): k for k equal directions. With the sample covariance in
Σ's place it is too small, the more so the fewer vectors there are: n vectors never use more than n − 1 dimensions.

Both traces have unbiased estimators (Chen, Zhang & Zhong 2010, "Tests for high-dimensional covariance matrices",
section 2): means over all tuples of *different* rows. With K the products of the rows and Σ* over different indices,

    tr(Σ²)   Σ* K_ij²/(n)₂   − 2 Σ* K_ij K_jk/(n)₃ + Σ* K_ij K_kl/(n)₄        (n)ₖ = n(n − 1)…(n − k + 1)
    tr(Σ)²   Σ* K_ii K_jj/(n)₂ − 2 Σ* K_ii K_jk/(n)₃ + Σ* K_ij K_kl/(n)₄

They equal the means, over quadruples of different rows, of ¼((xᵢ − xⱼ)·(xₖ − xₗ))² and of ¼‖xᵢ − xⱼ‖²‖xₖ − xₗ‖²: so
they are never negative, and a shift of all rows does not move them. The rows can therefore be centred first. Then every
row of K sums to 0, and three sums say it all: T = Σ K_ii, S = Σ_ij K_ij² = ‖Σᵢ xᵢxᵢᵀ‖²_F and Q = Σ K_ii². With

    Σ* K_ij² = S − Q             Σ* K_ij K_jk = 2Q − S        Σ* K_ij K_kl = T² + 2S − 6Q
    Σ* K_ii K_jj = T² − Q        Σ* K_ii K_jk = 2Q − T²

the estimators take as long as the sample covariance does.
"""

from __future__ import annotations

from dataclasses import dataclass

ROUNDING = 1e-6
"""Of tr(Σ)²/n: an estimate of tr(Σ²) below it is what products of float32 leave where the truth is 0."""


@dataclass(frozen=True)
class Scatter:
    """The sums that n centred rows are summed up by.

    Attributes
    ----------
    rows
        n.
    trace
        T, the sum of the squared lengths.
    square
        S, the squared Frobenius norm of Σᵢ xᵢxᵢᵀ, which is that of the rows' products, too.
    fourth
        Q, the sum of the fourth powers of the lengths.
    """

    rows: int
    trace: float
    square: float
    fourth: float

    def trace_squared(self) -> float:
        """Estimate tr(Σ)², n at least 4; never negative but for rounding."""
        return self._estimate(over_pairs=self.trace**2 - self.fourth, over_triples=2 * self.fourth - self.trace**2)

    def trace_of_square(self) -> float:
        """Estimate tr(Σ²), n at least 4; never negative but for rounding."""
        return self._estimate(over_pairs=self.square - self.fourth, over_triples=2 * self.fourth - self.square)

    def _estimate(self, over_pairs: float, over_triples: float) -> float:
        """Estimate tr(Σ²) or tr(Σ)²: mean over pairs − 2 · mean over triples + mean over quadruples.

        The means are over all tuples of different rows. The sum over quadruples is the same for both traces,
        Σ* K_ij K_kl = T² + 2S − 6Q; see the module's documentation.

        Parameters
        ----------
        over_pairs, over_triples
            The sums Σ* over pairs and triples: for tr(Σ²) of K_ij² and of K_ij K_jk, for tr(Σ)² of K_ii K_jj and of
            K_ii K_jk.
        """
        pairs = self.rows * (self.rows - 1)
        triples = pairs * (self.rows - 2)
        quadruples = triples * (self.rows - 3)
        over_quadruples = self.trace**2 + 2 * self.square - 6 * self.fourth
        return over_pairs / pairs - 2 * over_triples / triples + over_quadruples / quadruples

    def participation_ratio(self) -> float:
        """Estimate tr(Σ)²/tr(Σ²) from the two unbiased estimates.

        Not cut off: by chance it may be above the number of dimensions. NaN for fewer than four rows, and where no two
        differences of rows have a direction in common, so that tr(Σ²) is estimated as 0: few rows that are orthogonal.
        """
        if self.rows < 4:
            return float("nan")
        numerator, denominator = self.trace_squared(), self.trace_of_square()
        if not denominator > ROUNDING * numerator / self.rows:
            return float("nan")
        return numerator / denominator
