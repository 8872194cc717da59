"""Isotropy: how evenly vectors are spread over the directions of their space.

All values are computed from rows scaled to unit length. With V the (n, d) matrix of these rows,
G = VᵀV and C their covariance:

* I_A (Mu & Viswanath 2018, second order), sensitive to the mean:
  (n − ‖1ᵀV‖ + ½σ²_min) / (n + ‖1ᵀV‖ + ½σ²_max), σ the singular values, σ_min = 0 when n < d.
* IsoScore (Rudman et al. 2022). With λ the eigenvalues of C, λ̂ = √d·λ/‖λ‖, δ = ‖λ̂ − 1‖/√(2(d − √d)) and
  φ = (d − δ²(d − √d))²/d², it is (d·φ − 1)/(d − 1). This simplifies to (tr(C)²/‖C‖²_F − 1)/(d − 1), which needs no
  eigenvalues and holds for any n. tr(C)²/‖C‖²_F is the participation ratio, an effective rank.

Both published formulas describe the n vectors themselves. The participation ratio of their distribution is larger: for
280 vectors sampled from a Gaussian with equal variance in 384 directions, the formula gives 161.
``participation_ratio_plugin`` is this formula, ``participation_ratio`` an estimate without the bias
(``stats/geometry/participation.py``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, issparse

from embassay.stats.geometry.closeness import Floats, Vectors
from embassay.stats.geometry.participation import Scatter

BLOCK = 8192
"""The number of rows that are scaled and multiplied at once."""
TINY = 1e-15
"""A float32 norm below this may have lost digits to underflow, or be 0; it is computed again in float64."""
EQUAL = 1e-6
"""Unit vectors whose variance is at most this are treated as equal: it is the rounding error of float32."""
WIDEST = 4096
"""The largest Gram matrix whose eigenvalues, which I_A needs, are computed: it takes seconds."""


@dataclass(frozen=True)
class Isotropy:
    """Isotropy of n vectors; NaN where it is undefined.

    Attributes
    ----------
    i_a
        In [0, 1]: 1 when every direction carries the same weight. NaN where the smaller of n and d is above
        ``WIDEST``, because the smallest singular value is needed.
    isoscore
        In [0, 1]: 1 when the covariance is a multiple of the identity, 0 when it has one direction only.
    isoscore_unbiased
        In [0, 1]: IsoScore computed from ``participation_ratio``.
    participation_ratio
        The number of dimensions that the vectors use, estimated without the bias of small samples; by chance it may be
        above d. NaN for fewer than four vectors, and for few vectors that are orthogonal to each other.
    participation_ratio_plugin
        In [1, min(d, n − 1)]: the same, computed from the sample covariance.
    mean_cosine
        In [-1/(n − 1), 1]: the mean over all pairs of different vectors; 0 when their directions cancel out.
    rows
        n; zero vectors are left out.
    """

    i_a: float
    isoscore: float
    isoscore_unbiased: float
    participation_ratio: float
    participation_ratio_plugin: float
    mean_cosine: float
    rows: int


@dataclass(frozen=True)
class _Products:
    """The products of n unit vectors V in d dimensions, from which the measures are computed.

    Attributes
    ----------
    gram
        The smaller of VᵀV (d, d) and VVᵀ (n, n); both have the same positive eigenvalues. Of sparse vectors with more
        than ``WIDEST`` rows and columns it is VᵀV, sparse.
    of_rows
        Whether ``gram`` is VVᵀ.
    total
        (d,) 1ᵀV, the sum of the rows.
    rows
        n, without zero vectors.
    """

    gram: Vectors
    of_rows: bool
    total: Floats
    rows: int

    @property
    def length(self) -> float:
        """‖1ᵀV‖."""
        return float(np.sqrt(self.total @ self.total))


def isotropy(vectors: Vectors) -> Isotropy:
    """Measure the isotropy of the rows of an (n, d) matrix, dense or CSR."""
    products = _products(vectors)
    width = vectors.shape[1]
    ratio = _participation(vectors, products)
    plugin = _participation_plugin(products)
    return Isotropy(
        i_a=_i_a(products, vectors.shape),
        isoscore=_isoscore(plugin, width),
        isoscore_unbiased=_isoscore(ratio, width),
        participation_ratio=ratio,
        participation_ratio_plugin=plugin,
        mean_cosine=_mean_cosine(products),
        rows=products.rows,
    )


def _mean_cosine(products: _Products) -> float:
    """Return the mean cosine of two different rows, (‖1ᵀV‖² − n)/(n(n − 1)); NaN for fewer than two rows."""
    rows = products.rows
    if rows < 2:
        return float("nan")
    # ‖1ᵀV‖² adds up the cosines of all ordered pairs; those of the rows with themselves are n times 1.
    sum_of_cosines = products.length**2 - rows
    return min(1.0, sum_of_cosines / (rows * (rows - 1)))


def _isoscore(ratio: float, width: int) -> float:
    """Return (participation ratio − 1)/(d − 1), limited to [0, 1]; NaN for d below 2."""
    if width < 2:
        return float("nan")
    return float(np.clip((ratio - 1) / (width - 1), 0.0, 1.0))


def _products(vectors: Vectors) -> _Products:
    """Return the products of (n, d) vectors, dense or CSR, scaled to unit length; zero vectors are left out."""
    if issparse(vectors):
        return _sparse_products(vectors)
    return _dense_products(vectors)


def _participation_plugin(products: _Products) -> float:
    """Return tr(C)²/‖C‖²_F; NaN for equal vectors."""
    if _equal(products):
        return float("nan")
    return float(_trace(products) ** 2 / _centred_square(products))


def _participation(vectors: Vectors, products: _Products) -> float:
    """Estimate the participation ratio without bias; NaN for equal vectors too."""
    if _equal(products):
        return float("nan")
    squares = _squared_distances(vectors, products.total / products.rows)
    scatter = Scatter(
        rows=products.rows,
        trace=float(squares.sum()),
        square=_centred_square(products),
        fourth=float(squares @ squares),
    )
    return scatter.participation_ratio()


def _trace(products: _Products) -> float:
    """Return n·tr(C) = tr(VᵀV) − ‖1ᵀV‖²/n; tr(VᵀV) = n, because rows have unit length."""
    return products.rows - float(products.total @ products.total) / products.rows


def _equal(products: _Products) -> bool:
    """Return whether there are fewer than two vectors, or all are equal up to rounding."""
    return products.rows < 2 or _trace(products) <= EQUAL * products.rows


def _squared_distances(vectors: Vectors, mean: Floats) -> Floats:
    """Return (n,) the squared distance of each unit vector from their mean, summed in float64."""
    if issparse(vectors):
        # ‖x − m‖² as ‖x‖² − 2x·m + ‖m‖², because x − m would not be sparse.
        unit = _unit_sparse(vectors)
        squares = np.asarray(unit.multiply(unit).sum(axis=1)).ravel()
        distances = squares - 2 * (unit @ mean) + mean @ mean
        return np.asarray(np.maximum(distances, 0.0))
    blocks = []
    for start in range(0, len(vectors), BLOCK):
        centred = _unit_dense(vectors[start : start + BLOCK]) - mean
        blocks.append(np.einsum("ij,ij->i", centred, centred))
    return np.concatenate(blocks)


def _centred_square(products: _Products) -> float:
    """Return ‖n·C‖²_F, from whichever Gram matrix there is.

    With G = VᵀV and t = 1ᵀV it is ‖G − ttᵀ/n‖²_F; with K = VVᵀ and H = I − 11ᵀ/n it is ‖HKH‖²_F.
    """
    gram, total, rows = products.gram, products.total, products.rows
    if issparse(gram):
        # Centring would make the matrix dense: ‖G − ttᵀ/n‖² = ‖G‖² − 2 tᵀGt/n + (tᵀt/n)².
        square = (csr_array(gram).data ** 2).sum()
        mixed = 2 * (total @ (gram @ total)) / rows
        removed = (total @ total / rows) ** 2
        return float(square - mixed + removed)
    if products.of_rows:
        means = gram.mean(axis=0)
        centred = gram - means - means[:, None] + means.mean()
    else:
        centred = gram - np.outer(total, total) / rows
    return float((centred**2).sum())


def _i_a(products: _Products, shape: tuple[int, int]) -> float:
    """Return I_A = (n − ‖1ᵀV‖ + ½σ²_min)/(n + ‖1ᵀV‖ + ½σ²_max), σ the singular values of V.

    NaN for fewer than two vectors, and where both numbers of ``shape`` are above ``WIDEST``.

    Parameters
    ----------
    shape
        The numbers of vectors, zero vectors included, and of dimensions.
    """
    if products.rows < 2 or min(shape) > WIDEST:
        return float("nan")
    # All eigenvalues are computed: LAPACK's solver for a few of them fails on some degenerate matrices, for example of
    # centred orthogonal vectors.
    squares = np.linalg.eigvalsh(products.gram)
    # Rounding may leave a slightly negative one.
    smallest = max(0.0, float(squares[0])) if products.rows >= shape[1] else 0.0
    largest = float(squares[-1])
    numerator = products.rows - products.length + smallest / 2
    denominator = products.rows + products.length + largest / 2
    return float(np.clip(numerator / denominator, 0.0, 1.0))


def _dense_products(vectors: NDArray[np.floating]) -> _Products:
    """Return the products of dense vectors: VVᵀ if there are fewer rows than dimensions, else VᵀV.

    float32 vectors are multiplied in float32, block by block; the blocks are added up in float64.
    """
    from scipy.linalg.blas import dsyrk, ssyrk

    count, width = vectors.shape
    syrk = ssyrk if vectors.dtype == np.float32 else dsyrk
    if count < width:
        unit = _unit_dense(vectors[:count])
        upper = np.zeros((0, 0))
        if len(unit):
            # The transposed view of rows in C order is a (d, n) matrix in Fortran order, so BLAS makes no copy.
            upper = syrk(1.0, unit.T, trans=1).astype(np.float64)
        return _Products(
            gram=_symmetric(upper),
            of_rows=True,
            total=unit.sum(axis=0, dtype=np.float64),
            rows=len(unit),
        )
    upper = np.zeros((width, width))
    total = np.zeros(width)
    rows = 0
    for start in range(0, count, BLOCK):
        unit = _unit_dense(vectors[start : start + BLOCK])
        upper += syrk(1.0, unit.T)
        total += unit.sum(axis=0, dtype=np.float64)
        rows += len(unit)
    return _Products(gram=_symmetric(upper), of_rows=False, total=total, rows=rows)


def _symmetric(upper: Floats) -> Floats:
    """Copy the upper triangle to the lower one, which syrk does not compute."""
    return np.triu(upper) + np.triu(upper, 1).T


def _unit_dense(block: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the nonzero rows scaled to unit length, in the block's own precision and C order."""
    dtype = block.dtype
    with np.errstate(over="ignore"):
        norms = _norms(block)
    overflows = not np.isfinite(norms).all()
    underflows = norms.min(initial=1.0) < TINY
    if overflows or underflows:
        block = np.asarray(block, dtype=np.float64)
        norms = _norms(block)
    nonzero = norms > 0
    if not nonzero.all():
        block, norms = block[nonzero], norms[nonzero]
    return np.ascontiguousarray(block / norms[:, None], dtype=dtype)


def _norms(block: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the lengths of the rows, in the block's own precision."""
    norms: NDArray[np.floating] = np.sqrt(np.einsum("ij,ij->i", block, block))
    return norms


def _sparse_products(vectors: csr_array) -> _Products:
    """Return the products of CSR vectors: VVᵀ for few rows, else VᵀV."""
    unit = _unit_sparse(vectors)
    rows, width = unit.shape
    total = np.asarray(unit.sum(axis=0), dtype=np.float64).ravel()
    # With many rows VVᵀ is hardly sparse any more, and larger than VᵀV.
    of_rows = rows < min(width, WIDEST)
    gram = unit @ unit.T if of_rows else unit.T @ unit
    if min(rows, width) <= WIDEST:
        gram = gram.toarray()
    return _Products(gram, of_rows, total, rows)


def _unit_sparse(vectors: csr_array) -> csr_array:
    """Return the nonzero rows scaled to unit length, CSR in float64."""
    rows = csr_array(vectors, dtype=np.float64)
    squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    norms = np.sqrt(squares)
    nonzero = norms > 0
    scale = diags_array(1 / norms[nonzero])
    return csr_array(scale @ rows[nonzero])
