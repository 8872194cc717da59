"""How near two vectors are, by five measures.

Figures that are kept are computed here in float64, row by row in a fixed order and without BLAS, so that
they do not depend on the machine's kernels or on how many rows there are.

| measure | definition | kind |
|---|---|---|
| cosine | u·v / (‖u‖‖v‖) | similarity |
| dot | u·v | similarity |
| l1, l2 | Σ|uᵢ − vᵢ|, ‖u − v‖ | distance |
| ned | ½ · Var(u − v) / (Var(u) + Var(v)), variance over the coordinates | distance in [0, 1] |

NED, the normalised Euclidean distance, is 0 for vectors equal up to a shift, ½ for unrelated and 1 for opposite
ones (Bansal et al. 2025, section 4). A zero vector has no cosine, a constant vector no NED: NaN.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

Floats = NDArray[np.float64]
Measure = Literal["cosine", "dot", "l1", "l2", "ned"]
MEASURES: tuple[Measure, ...] = get_args(Measure)
DISTANCES = frozenset({"l1", "l2", "ned"})
"""Measures that grow with distance; the others grow with similarity."""
BLOCK = 131_072
"""Numbers of a dense block, so that the block and its products stay in the processor's cache."""


def paired_cosine(u: Any, v: Any) -> Floats:
    """Return the cosine of each row of u with the same row of v: u·v / (‖u‖‖v‖).

    Parameters
    ----------
    u, v
        (n, d) dense or CSR.

    Returns
    -------
    (n,) float64 in [-1, 1], larger is nearer; NaN where a vector is zero or not finite.
    """
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        dot, uu, vv = paired_dot(u, v), paired_dot(u, u), paired_dot(v, v)
        return cosine_of(dot, uu, vv)


def cosine_of(dot: Floats, uu: Floats, vv: Floats) -> Floats:
    """Return u·v / (‖u‖‖v‖), given u·v, u·u and v·v, of shapes that go together: in [-1, 1], NaN where undefined."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        lengths = np.sqrt(uu) * np.sqrt(vv)
        cosine = dot / lengths
    # Of vectors so long that their squares overflow, a quotient of 0 would be none.
    return np.where(np.isfinite(cosine) & np.isfinite(lengths), np.clip(cosine, -1.0, 1.0), np.nan)


def paired(u: Any, v: Any, measures: Sequence[Measure] = MEASURES) -> dict[Measure, Floats]:
    """Return several measures of each row of u with the same row of v, in one pass over the vectors.

    Parameters
    ----------
    u, v
        (n, d) dense or CSR.

    Returns
    -------
    {measure: (n,) float64}, raw: a distance is larger when farther. NaN where it is undefined.
    """
    if issparse(u):
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            return {measure: _of_sparse(measure, u.astype(np.float64), v.astype(np.float64)) for measure in measures}
    found: dict[Measure, Floats] = {measure: np.empty(u.shape[0]) for measure in measures}
    for rows, (a, b) in dense_blocks(u, v):
        for measure in measures:
            found[measure][rows] = _of_block(measure, a, b)
    return found


@dataclass(frozen=True)
class Moments:
    """What the five measures need of each vector alone, so that many pairs of the same vectors are cheap.

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
    def of(cls, v: Any) -> Moments:
        """Return the moments of (n, d) vectors, dense or CSR."""
        if issparse(v):
            wide = v.astype(np.float64)
            mean = np.asarray(wide.sum(axis=1), dtype=np.float64).ravel() / v.shape[1]
            variance = np.where(_sparse_constant(wide), np.nan, _sparse_variance(wide))
            return cls(paired_dot(wide, wide), mean, variance, v.shape[1])
        squares, mean, variance = np.empty((3, len(v)))
        for rows, (block,) in dense_blocks(v):
            squares[rows], mean[rows] = (block * block).sum(axis=1), block.mean(axis=1)
            variance[rows] = np.where(_constant(block), np.nan, block.var(axis=1))
        return cls(squares, mean, variance, v.shape[1])

    def take(self, rows: NDArray[np.int64]) -> Moments:
        """Return the moments of some of the vectors."""
        return Moments(self.squares[rows], self.mean[rows], self.variance[rows], self.width)


@dataclass(frozen=True)
class Sums:
    """What the five measures need of each pair of vectors: u·v, Σ|uᵢ − vᵢ| and Σ(uᵢ − vᵢ)², (n,) each."""

    dot: Floats
    l1: Floats
    squared: Floats

    @classmethod
    def of(cls, u: Any, v: Any) -> Sums:
        """Return the sums of each row of u with the same row of v, in float64; dense or CSR."""
        if issparse(u):
            a, b = u.astype(np.float64), v.astype(np.float64)
            gap = a - b
            l1 = np.asarray(np.abs(gap).sum(axis=1), dtype=np.float64).ravel()
            return cls(paired_dot(a, b), l1, paired_dot(gap, gap))
        dot, l1, squared = np.empty((3, len(u)))
        with np.errstate(invalid="ignore", over="ignore"):
            for rows, (a, b) in dense_blocks(u, v):
                gap = a - b
                dot[rows], squared[rows] = (a * b).sum(axis=1), (gap * gap).sum(axis=1)
                l1[rows] = np.abs(gap, out=gap).sum(axis=1)
        return cls(dot, l1, squared)

    def measures(self, u: Moments, v: Moments) -> dict[Measure, Floats]:
        """Return the five measures of the pairs, as :func:`paired` does, up to the rounding of float64.

        The variance of u − v is Σ(uᵢ − vᵢ)²/d − (mean of u − mean of v)².
        """
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            of_gap = np.maximum(self.squared / u.width - (u.mean - v.mean) ** 2, 0.0)
            constant = np.isnan(u.variance) | np.isnan(v.variance)
            return {
                "cosine": cosine_of(self.dot, u.squares, v.squares),
                "dot": self.dot,
                "l1": self.l1,
                "l2": np.sqrt(self.squared),
                "ned": _ned(u.variance, v.variance, of_gap, constant),
            }


def nearness(measure: Measure, values: Floats) -> Floats:
    """Return closeness s, larger is nearer: the values of a similarity, minus those of a distance."""
    return -values if measure in DISTANCES else values


def all_pairs(u: Any, v: Any, measure: Measure = "cosine") -> Floats:
    """Return a measure of every row of u with every row of v.

    Cosine, dot and NED go through one matrix product in float64, so their last digits depend on the machine's
    kernels; figures that are kept are recomputed by :func:`paired`.

    Parameters
    ----------
    u, v
        (n, d) and (m, d), dense or CSR.

    Returns
    -------
    (n, m) float64, raw; NaN where it is undefined.
    """
    from scipy.spatial.distance import cdist

    if measure in ("cosine", "dot") and issparse(u):
        return _sparse_products(u, v, measure)
    a, b = (_dense(x) for x in (u, v))
    if measure == "l1":
        return np.asarray(cdist(a, b, "cityblock"))
    if measure == "l2":
        return np.asarray(cdist(a, b, "euclidean"))
    if measure == "dot":
        return np.asarray(a @ b.T)
    if measure == "cosine":
        return np.clip(unit_rows(a) @ unit_rows(b).T, -1.0, 1.0)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        (a, va), (b, vb) = _centred(a), _centred(b)
        ned = 0.5 - (a @ b.T) / (a.shape[1] * (va[:, None] + vb[None, :]))
    return np.where(np.isfinite(ned), np.clip(ned, 0.0, 1.0), np.nan)


def mean_cosine(u: Any, v: Any) -> float:
    """Return the mean cosine of every row of u with every row of v, from the sums of their unit vectors.

    Zero vectors are left out; NaN where nothing is left.
    """
    sums = []
    for matrix in (u, v):
        norms = np.sqrt(paired_dot(matrix, matrix))
        kept = np.flatnonzero(norms > 0)
        if not kept.size:
            return float("nan")
        scale = np.zeros(len(norms))
        scale[kept] = 1 / norms[kept]
        total = scale @ matrix if issparse(matrix) else (scale[:, None] * np.asarray(matrix, np.float64)).sum(axis=0)
        sums.append(np.asarray(total, dtype=np.float64).ravel() / kept.size)
    return float((sums[0] * sums[1]).sum())


def unit_rows(v: Floats) -> Floats:
    """Return the (n, d) rows scaled to length 1; NaN where a row is zero or not finite."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        scaled = v / np.sqrt((v * v).sum(axis=1, keepdims=True))
    return np.where(np.isfinite(scaled).all(axis=1, keepdims=True), scaled, np.nan)


def dense_blocks(*matrices: Any) -> Iterator[tuple[slice, tuple[Floats, ...]]]:
    """Yield blocks of the same rows of several dense matrices, in float64."""
    total, width = matrices[0].shape
    size = max(1, BLOCK // max(width, 1))
    for start in range(0, total, size):
        rows = slice(start, min(start + size, total))
        # In C order whatever the input's: the order of the sums is part of the result.
        yield rows, tuple(np.asarray(m[rows], np.float64, order="C") for m in matrices)


def paired_dot(u: Any, v: Any) -> Floats:
    """Return the (n,) dot product of each row of u with the same row of v, in float64; dense or CSR."""
    if issparse(u):
        return np.asarray(u.astype(np.float64).multiply(v.astype(np.float64)).sum(axis=1), dtype=np.float64).ravel()
    out = np.empty(len(u))
    for rows, (a, b) in dense_blocks(u, v):
        out[rows] = (a * b).sum(axis=1)
    return out


def _of_block(measure: Measure, a: Floats, b: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        if measure == "cosine":
            return cosine_of((a * b).sum(axis=1), (a * a).sum(axis=1), (b * b).sum(axis=1))
        if measure == "dot":
            return np.asarray((a * b).sum(axis=1))
        if measure == "l1":
            return np.asarray(np.abs(a - b).sum(axis=1))
        if measure == "l2":
            return np.asarray(np.sqrt(((a - b) ** 2).sum(axis=1)))
        return _ned(a.var(axis=1), b.var(axis=1), (a - b).var(axis=1), _constant(a) | _constant(b))


def _of_sparse(measure: Measure, u: Any, v: Any) -> Floats:
    if measure == "cosine":
        return paired_cosine(u, v)
    if measure == "dot":
        return paired_dot(u, v)
    gap = u - v
    if measure == "l1":
        return np.asarray(np.abs(gap).sum(axis=1), dtype=np.float64).ravel()
    if measure == "l2":
        return np.sqrt(paired_dot(gap, gap))
    constant = _sparse_constant(u) | _sparse_constant(v)
    return _ned(_sparse_variance(u), _sparse_variance(v), _sparse_variance(gap), constant)


def _ned(of_u: Floats, of_v: Floats, of_gap: Floats, constant: NDArray[np.bool_]) -> Floats:
    ned = 0.5 * of_gap / (of_u + of_v)
    return np.where(constant | ~np.isfinite(ned), np.nan, np.clip(ned, 0.0, 1.0))


def _constant(block: Floats) -> NDArray[np.bool_]:
    """Say which rows are the same number in all coordinates; by comparison, as rounding leaves them a variance."""
    return np.asarray((block == block[:, :1]).all(axis=1))


def _sparse_constant(v: Any) -> NDArray[np.bool_]:
    used = np.asarray((v != 0).sum(axis=1)).ravel()
    full = np.flatnonzero(used == v.shape[1])
    constant = np.asarray(used == 0)
    constant[full] = _constant(_dense(v[full]))
    return constant


def _sparse_variance(v: Any) -> Floats:
    width = v.shape[1]
    mean = np.asarray(v.sum(axis=1), dtype=np.float64).ravel() / width
    return np.asarray(paired_dot(v, v) / width - mean**2)


def _sparse_products(u: Any, v: Any, measure: Measure) -> Floats:
    a, b = (m.astype(np.float64) for m in (u, v))
    dot = np.asarray((a @ b.T).todense(), dtype=np.float64)
    if measure == "dot":
        return np.asarray(dot, dtype=np.float64)
    uu, vv = paired_dot(a, a), paired_dot(b, b)
    with np.errstate(invalid="ignore", divide="ignore"):
        return cosine_of(dot, uu[:, None], vv[None, :])


def _centred(v: Floats) -> tuple[Floats, Floats]:
    """Return the rows less their means, and their variances; NaN for a constant row."""
    variance = np.where(_constant(v), np.nan, v.var(axis=1))
    return v - v.mean(axis=1, keepdims=True), variance


def _dense(v: Any) -> Floats:
    return np.asarray(v.todense() if issparse(v) else v, dtype=np.float64)
