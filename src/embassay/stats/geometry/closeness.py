"""Five measures of how close two vectors are.

Values that go into results are computed in float64, row by row in a fixed order and without BLAS. So they do not depend
on the machine's BLAS kernels or on the number of rows.

| measure | definition | kind |
|---|---|---|
| cosine | u·v / (‖u‖‖v‖) | similarity |
| dot | u·v | similarity |
| l1, l2 | Σ|uᵢ − vᵢ|, ‖u − v‖ | distance |
| ned | ½ · Var(u − v) / (Var(u) + Var(v)), variance over the coordinates | distance in [0, 1] |

NED, the normalised Euclidean distance (Bansal et al. 2025, section 4), is 0 for vectors that differ by a constant, ½
for uncorrelated and 1 for opposite ones. The cosine of a zero vector and the NED of a constant vector are NaN.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

Floats = NDArray[np.float64]
Vectors: TypeAlias = "NDArray[np.floating] | csr_array"
"""Vectors as the (n, d) rows of a matrix, dense or CSR."""
Measure = Literal["cosine", "dot", "l1", "l2", "ned"]
MEASURES: tuple[Measure, ...] = get_args(Measure)
DISTANCES = frozenset({"l1", "l2", "ned"})
"""Measures that grow with distance; the others grow with similarity."""
BLOCK = 131_072
"""The most numbers in a dense block: the block and its products should stay in the processor's cache."""


def paired_cosine(u: Vectors, v: Vectors) -> Floats:
    """Return the cosine of each row of u with the same row of v: u·v / (‖u‖‖v‖).

    Parameters
    ----------
    u, v
        (n, d) dense or CSR.

    Returns
    -------
    (n,) float64 in [-1, 1], larger is nearer; NaN where a vector is zero or not finite.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        return cosine_of(paired_dot(u, v), paired_dot(u, u), paired_dot(v, v))


def cosine_of(dot: Floats, uu: Floats, vv: Floats) -> Floats:
    """Return u·v / (‖u‖‖v‖) from u·v, u·u and v·v, whose shapes broadcast: in [-1, 1], NaN where undefined."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        lengths = np.sqrt(uu) * np.sqrt(vv)
        cosine = dot / lengths
    # If the squares overflow, the lengths are infinite and the quotient would be 0.
    defined = np.isfinite(cosine) & np.isfinite(lengths)
    return np.where(defined, np.clip(cosine, -1.0, 1.0), np.nan)


def paired_similarity(u: Vectors, v: Vectors, measure: Literal["cosine", "dot"]) -> Floats:
    """Return the (n,) cosine or dot product of each row of u with the same row of v; see :func:`paired_cosine`."""
    if measure == "cosine":
        return paired_cosine(u, v)
    with np.errstate(invalid="ignore", over="ignore"):
        return paired_dot(u, v)


@dataclass(frozen=True)
class Moments:
    """Sums over each vector that the five measures need, computed once where a vector is in many pairs.

    Attributes
    ----------
    squares
        (n,) v·v.
    mean, variance
        (n,) over the coordinates; the variance of a constant vector is NaN.
    width
        The number of coordinates.
    """

    squares: Floats
    mean: Floats
    variance: Floats
    width: int

    @classmethod
    def of(cls, v: Vectors) -> Moments:
        """Return the moments of (n, d) vectors, dense or CSR."""
        width = v.shape[1]
        if issparse(v):
            v = v.astype(np.float64)
            mean = _sums(v) / width
            variance = np.where(_sparse_constant(v), np.nan, _sparse_variance(v))
            return cls(paired_dot(v, v), mean, variance, width)
        squares, mean, variance = np.empty((3, len(v)))
        for rows, (block,) in dense_blocks(v):
            squares[rows] = (block * block).sum(axis=1)
            mean[rows] = block.mean(axis=1)
            variance[rows] = np.where(_constant(block), np.nan, block.var(axis=1))
        return cls(squares, mean, variance, width)

    def take(self, rows: NDArray[np.int64]) -> Moments:
        """Return the moments of some of the vectors."""
        return Moments(self.squares[rows], self.mean[rows], self.variance[rows], self.width)


@dataclass(frozen=True)
class Sums:
    """Sums over each pair of vectors that the five measures need: u·v, Σ|uᵢ − vᵢ| and Σ(uᵢ − vᵢ)², (n,) each."""

    dot: Floats
    l1: Floats
    squared: Floats

    @classmethod
    def of(cls, u: Vectors, v: Vectors) -> Sums:
        """Return the sums of each row of u with the same row of v, in float64; dense or CSR."""
        if issparse(u):
            a, b = u.astype(np.float64), v.astype(np.float64)
            gap = a - b
            return cls(paired_dot(a, b), _sums(np.abs(gap)), paired_dot(gap, gap))
        dot, l1, squared = np.empty((3, len(u)))
        with np.errstate(invalid="ignore", over="ignore"):
            for rows, (a, b) in dense_blocks(u, v):
                gap = a - b
                dot[rows] = (a * b).sum(axis=1)
                squared[rows] = (gap * gap).sum(axis=1)
                l1[rows] = np.abs(gap, out=gap).sum(axis=1)
        return cls(dot, l1, squared)

    def measures(self, u: Moments, v: Moments) -> dict[Measure, Floats]:
        """Return the five measures of the pairs, raw: a distance is larger when farther. NaN where undefined.

        The variance of u − v is Σ(uᵢ − vᵢ)²/d − (mean of u − mean of v)².
        """
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            gap_variance = np.maximum(self.squared / u.width - (u.mean - v.mean) ** 2, 0.0)
            constant = np.isnan(u.variance) | np.isnan(v.variance)
            ned = 0.5 * gap_variance / (u.variance + v.variance)
            return {
                "cosine": cosine_of(self.dot, u.squares, v.squares),
                "dot": self.dot,
                "l1": self.l1,
                "l2": np.sqrt(self.squared),
                "ned": np.where(constant | ~np.isfinite(ned), np.nan, np.clip(ned, 0.0, 1.0)),
            }


def nearness(measure: Measure, values: Floats) -> Floats:
    """Return values for which larger is nearer: those of a similarity, or the negated ones of a distance."""
    return -values if measure in DISTANCES else values


def all_cosines(u: Vectors, v: Vectors) -> Floats:
    """Return the (n, m) float64 cosine of every row of u (n, d) with every row of v (m, d); NaN where undefined.

    A matrix product is used, so the last digits depend on the machine's BLAS kernels.
    """
    if issparse(u):
        products = csr_array(u.astype(np.float64) @ v.astype(np.float64).T).toarray()
        return cosine_of(products, paired_dot(u, u)[:, None], paired_dot(v, v)[None, :])
    a, b = np.asarray(u, np.float64), np.asarray(v, np.float64)
    return np.clip(unit_rows(a) @ unit_rows(b).T, -1.0, 1.0)


def mean_cosine(u: Vectors, v: Vectors) -> float:
    """Return the mean cosine of every row of u with every row of v: the dot product of their mean unit vectors.

    Zero vectors are left out; NaN where u or v has no other vector.
    """
    return float((_mean_unit_vector(u) * _mean_unit_vector(v)).sum())


def _mean_unit_vector(matrix: Vectors) -> Floats:
    """Return the (d,) mean of the rows scaled to length 1, without zero rows; NaN if all rows are zero."""
    norms = np.sqrt(paired_dot(matrix, matrix))
    used = norms > 0
    number = np.count_nonzero(used)
    if not number:
        return np.full(matrix.shape[1], np.nan)
    scale = np.zeros(len(norms))
    scale[used] = 1 / norms[used]
    if issparse(matrix):
        total = np.asarray(scale @ matrix, dtype=np.float64).ravel()
    else:
        unit = scale[:, None] * np.asarray(matrix, np.float64)
        total = unit.sum(axis=0)
    return np.asarray(total / number)


def unit_rows(v: Floats) -> Floats:
    """Return the (n, d) rows scaled to length 1; NaN where a row is zero or not finite."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        scaled = v / np.sqrt((v * v).sum(axis=1, keepdims=True))
    return np.where(np.isfinite(scaled).all(axis=1, keepdims=True), scaled, np.nan)


def dense_blocks(*matrices: Vectors) -> Iterator[tuple[slice, tuple[Floats, ...]]]:
    """Yield blocks of rows of several dense matrices, in float64: the slice, and the same rows of each matrix."""
    total, width = matrices[0].shape
    size = max(1, BLOCK // max(width, 1))
    for start in range(0, total, size):
        rows = slice(start, min(start + size, total))
        # Always in C order: the order of a sum changes its last digits.
        blocks = [np.asarray(matrix[rows], np.float64, order="C") for matrix in matrices]
        yield rows, tuple(blocks)


def paired_dot(u: Vectors, v: Vectors) -> Floats:
    """Return the (n,) dot product of each row of u with the same row of v, in float64; dense or CSR."""
    if issparse(u):
        a, b = csr_array(u, dtype=np.float64), csr_array(v, dtype=np.float64)
        return _sums(a.multiply(b))
    out = np.empty(len(u))
    for rows, (a, b) in dense_blocks(u, v):
        out[rows] = (a * b).sum(axis=1)
    return out


def _constant(block: Floats) -> NDArray[np.bool_]:
    """Return which rows are the same number in all coordinates.

    The coordinates are compared: by rounding, the computed variance of such a row may be above 0.
    """
    return np.asarray((block == block[:, :1]).all(axis=1))


def _sums(v: Vectors) -> Floats:
    """Return the (n,) sums of sparse rows."""
    return np.asarray(v.sum(axis=1), dtype=np.float64).ravel()


def _sparse_constant(v: csr_array) -> NDArray[np.bool_]:
    """Return which rows are constant: all coordinates zero, or none zero and all equal."""
    nonzero = _sums(v != 0)
    constant = np.asarray(nonzero == 0)
    full = np.flatnonzero(nonzero == v.shape[1])
    constant[full] = _constant(csr_array(v[full]).toarray())
    return constant


def _sparse_variance(v: csr_array) -> Floats:
    """Return the (n,) variance over the coordinates: the mean square less the squared mean."""
    width = v.shape[1]
    return np.asarray(paired_dot(v, v) / width - (_sums(v) / width) ** 2)
