"""How evenly vectors fill their space.

All values are computed from rows scaled to unit length; they are fractions. With V the (n, d) matrix of these rows,
G = VᵀV and C their covariance:

* I_A (Mu & Viswanath 2018, second order), sensitive to the mean:
  (n − ‖1ᵀV‖ + ½σ²_min) / (n + ‖1ᵀV‖ + ½σ²_max), σ the singular values, σ_min = 0 when n < d.
* IsoScore (Rudman et al. 2022). With λ the eigenvalues of C, λ̂ = √d·λ/‖λ‖, δ = ‖λ̂ − 1‖/√(2(d − √d)) and
  φ = (d − δ²(d − √d))²/d², it is (d·φ − 1)/(d − 1). Worked out, that is (tr(C)²/‖C‖²_F − 1)/(d − 1): no
  eigenvalues, any n. tr(C)²/‖C‖²_F is the participation ratio, an effective rank.

Both published formulas describe the n vectors at hand. The participation ratio of what they were sampled from is
larger: 280 vectors of a Gaussian that varies equally in 384 directions have one of 161. ``participation_ratio`` is the
estimate without that bias (``geometry/participation.py``), ``participation_ratio_plugin`` the formula as it stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from embassay.geometry.closeness import Floats
from embassay.geometry.participation import Scatter

BLOCK = 8192
TINY = 1e-15
"""Norms in float32 below this have lost digits, or are 0 where the vector is not."""
EQUAL = 1e-6
"""Unit vectors whose variance is below this are equal, but for the rounding of float32."""
WIDEST = 8192
"""The most dimensions that a dense Gram matrix is made for; I_A needs all its singular values."""


@dataclass(frozen=True)
class Isotropy:
    """Isotropy of n vectors; NaN where it is undefined.

    Attributes
    ----------
    i_a
        In [0, 1]: 1 when every direction carries the same weight. NaN where the smaller of n and d is over
        ``WIDEST``, as all singular values are needed.
    isoscore
        In [0, 1]: 1 when the covariance is a multiple of the identity, 0 when it has one direction only.
    isoscore_unbiased
        In [0, 1]: the same from ``participation_ratio``.
    participation_ratio
        How many dimensions the vectors use, estimated without the bias of few vectors: by chance it may be above d.
        NaN for fewer than four vectors, and for few vectors that are orthogonal.
    participation_ratio_plugin
        In [1, min(d, n − 1)]: the ratio of these vectors' own covariance.
    mean_cosine
        In [-1/(n − 1), 1]: over all pairs; 0 when directions cancel out.
    rows, zeros
        How many vectors it rests on, and how many zero vectors were left out.
    """

    i_a: float
    isoscore: float
    isoscore_unbiased: float
    participation_ratio: float
    participation_ratio_plugin: float
    mean_cosine: float
    rows: int
    zeros: int


@dataclass(frozen=True)
class _Products:
    """All that the measures need of n unit vectors in d dimensions, V.

    Attributes
    ----------
    gram
        The smaller of VᵀV (d, d) and VVᵀ (n, n), dense or sparse; both have the same positive eigenvalues.
    of_rows
        Whether ``gram`` is VVᵀ.
    total
        (d,) 1ᵀV.
    rows
        n, zero vectors left out.
    """

    gram: Any
    of_rows: bool
    total: Floats
    rows: int

    @property
    def length(self) -> float:
        """‖1ᵀV‖."""
        return float(np.sqrt(self.total @ self.total))


def isotropy(vectors: Any) -> Isotropy:
    """Measure the isotropy of the rows of an (n, d) matrix, dense or CSR."""
    products = _products(vectors)
    rows, width = products.rows, vectors.shape[1]
    mean_cosine = float("nan")
    if rows > 1:
        mean_cosine = min(1.0, (products.length**2 - rows) / (rows * (rows - 1)))
    ratio = _participation(vectors, products)
    plugin = _participation_plugin(products)
    return Isotropy(
        i_a=_i_a(products, vectors.shape),
        isoscore=_isoscore(plugin, width),
        isoscore_unbiased=_isoscore(ratio, width),
        participation_ratio=ratio,
        participation_ratio_plugin=plugin,
        mean_cosine=mean_cosine,
        rows=rows,
        zeros=vectors.shape[0] - rows,
    )


def isoscore(vectors: Any) -> float:
    """Return IsoScore alone, in [0, 1]; NaN for fewer than two vectors or dimensions, or equal vectors."""
    return _isoscore(_participation_plugin(_products(vectors)), vectors.shape[1])


def _isoscore(ratio: float, width: int) -> float:
    if width < 2:
        return float("nan")
    return float(np.clip((ratio - 1) / (width - 1), 0.0, 1.0))


def _products(vectors: Any) -> _Products:
    return _sparse_products(vectors) if issparse(vectors) else _dense_products(vectors)


def _participation_plugin(products: _Products) -> float:
    """Return tr(C)²/‖C‖²_F; NaN for equal vectors."""
    if _equal(products):
        return float("nan")
    return float(_trace(products) ** 2 / _centred_square(products))


def _participation(vectors: Any, products: _Products) -> float:
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
    """Return n·tr(C) = tr(VᵀV) − ‖1ᵀV‖²/n, the trace of VᵀV being n."""
    return products.rows - float(products.total @ products.total) / products.rows


def _equal(products: _Products) -> bool:
    """Say whether there are fewer than two vectors, or all are equal but for rounding."""
    return products.rows < 2 or _trace(products) <= EQUAL * products.rows


def _squared_distances(vectors: Any, mean: Floats) -> Floats:
    """Return (n,) the squared distance of each unit vector from their mean, summed in float64."""
    if issparse(vectors):
        # ‖x‖² − 2x·m + ‖m‖², so that the rows stay sparse.
        unit = _unit_sparse(vectors)
        squares = np.asarray(unit.multiply(unit).sum(axis=1)).ravel()
        return np.asarray(np.maximum(squares - 2 * (unit @ mean) + mean @ mean, 0.0))
    blocks = []
    for start in range(0, len(vectors), BLOCK):
        centred = _unit_dense(vectors[start : start + BLOCK]) - mean
        blocks.append(np.einsum("ij,ij->i", centred, centred))
    return np.concatenate(blocks)


def _centred_square(products: _Products) -> float:
    """Return ‖n·C‖²_F = ‖VᵀV − ttᵀ/n‖²_F, t = 1ᵀV; for VVᵀ it is ‖HVVᵀH‖²_F, H = I − 11ᵀ/n."""
    gram, total, rows = products.gram, products.total, products.rows
    # Expanded below where the matrix is sparse, so that it stays sparse: K = VVᵀ, k the means of its columns, m their
    # mean; G = VᵀV.
    if products.of_rows:
        means = np.asarray(gram.mean(axis=0), dtype=np.float64).ravel()
        mean = means.mean()
        if issparse(gram):
            # ‖HKH‖² = ‖K‖² − 2n‖k‖² + n²m²
            return float((gram.data**2).sum() - 2 * rows * (means @ means) + (rows * mean) ** 2)
        centred = gram - means - means[:, None] + mean
        return float((centred**2).sum())
    if issparse(gram):
        # ‖G − ttᵀ/n‖² = ‖G‖² − 2 tᵀGt/n + (tᵀt/n)²
        return float((gram.data**2).sum() - 2 * (total @ (gram @ total)) / rows + (total @ total / rows) ** 2)
    centred = gram - np.outer(total, total) / rows
    return float((centred**2).sum())


def _i_a(products: _Products, shape: tuple[int, int]) -> float:
    """Return I_A = (n − ‖1ᵀV‖ + ½σ²_min)/(n + ‖1ᵀV‖ + ½σ²_max), σ the singular values of V.

    NaN for fewer than two vectors, and where both numbers of ``shape`` are over ``WIDEST``.

    Parameters
    ----------
    shape
        The numbers of vectors, zero vectors included, and of dimensions.
    """
    if products.rows < 2 or min(shape) > WIDEST:
        return float("nan")
    smallest, largest = _extreme_squares(products, width=shape[1])
    numerator = products.rows - products.length + smallest / 2
    denominator = products.rows + products.length + largest / 2
    return float(np.clip(numerator / denominator, 0.0, 1.0))


def _extreme_squares(products: _Products, width: int) -> tuple[float, float]:
    """Return σ²_min (0 when n < d) and σ²_max.

    All eigenvalues are computed: LAPACK's solver for a subset of them fails on some degenerate matrices, for example of
    centred orthogonal vectors.
    """
    gram = products.gram
    if issparse(gram) and products.rows < width and products.rows > 2:
        return 0.0, _largest_sparse(gram)
    values = np.linalg.eigvalsh(gram.toarray() if issparse(gram) else gram)
    if products.rows < width:
        return 0.0, float(values[-1])
    return max(0.0, float(values[0])), float(values[-1])


def _largest_sparse(gram: Any) -> float:
    """Return the largest eigenvalue of a sparse symmetric matrix."""
    from scipy.sparse.linalg import ArpackError, eigsh

    # A fixed start, so that the value is the same in every run; a constant one may be orthogonal to the eigenvector.
    start = np.cos(np.arange(gram.shape[0]))
    try:
        return float(eigsh(gram, k=1, v0=start, return_eigenvectors=False)[0])
    except ArpackError:
        return float(np.linalg.eigvalsh(gram.toarray())[-1])


def _dense_products(vectors: Any) -> _Products:
    """Return the products of dense vectors: of the rows, VVᵀ, where there are fewer rows than dimensions, else VᵀV.

    float32 vectors are multiplied in float32, block by block, and added up in float64.
    """
    from scipy.linalg.blas import dsyrk, ssyrk

    count, width = vectors.shape
    syrk = ssyrk if vectors.dtype == np.float32 else dsyrk
    if count < width:
        unit = _unit_dense(vectors)
        # Of the rows in C order, the transposed view is the (d, n) matrix in Fortran order: no copy is made.
        upper = syrk(1.0, unit.T, trans=1).astype(np.float64) if len(unit) else np.zeros((0, 0))
        return _Products(
            gram=_symmetric(upper),
            of_rows=True,
            total=unit.sum(axis=0, dtype=np.float64),
            rows=len(unit),
        )
    upper, total, rows = np.zeros((width, width)), np.zeros(width), 0
    for start in range(0, count, BLOCK):
        unit = _unit_dense(vectors[start : start + BLOCK])
        upper += syrk(1.0, unit.T)
        total += unit.sum(axis=0, dtype=np.float64)
        rows += len(unit)
    return _Products(gram=_symmetric(upper), of_rows=False, total=total, rows=rows)


def _symmetric(upper: Floats) -> Floats:
    """Fill in the lower triangle, which BLAS leaves out: half the products."""
    return np.triu(upper) + np.triu(upper, 1).T


def _unit_dense(block: Any) -> Any:
    """Return the rows that are not zero at unit length, in the block's own precision and C order."""
    dtype = block.dtype
    with np.errstate(over="ignore"):
        norms = _norms(block)
    if not np.isfinite(norms).all() or norms.min(initial=1.0) < TINY:
        block = np.asarray(block, dtype=np.float64)
        norms = _norms(block)
    nonzero = norms > 0
    if not nonzero.all():
        block, norms = block[nonzero], norms[nonzero]
    return np.ascontiguousarray(block / norms[:, None], dtype=dtype)


def _norms(block: Any) -> Any:
    """Return the lengths of the rows, in the block's own precision."""
    return np.sqrt(np.einsum("ij,ij->i", block, block))


def _sparse_products(vectors: Any) -> _Products:
    unit = _unit_sparse(vectors)
    total = np.asarray(unit.sum(axis=0), dtype=np.float64).ravel()
    # Of many rows, the products of all pairs would no longer be sparse.
    of_rows = unit.shape[0] < min(unit.shape[1], WIDEST)
    gram = unit @ unit.T if of_rows else unit.T @ unit
    return _Products(gram, of_rows, total, unit.shape[0])


def _unit_sparse(vectors: Any) -> Any:
    from scipy.sparse import csr_array, diags_array

    rows = csr_array(vectors, dtype=np.float64)
    norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    rows = rows[norms > 0]
    return csr_array(diags_array(1 / norms[norms > 0]) @ rows)
