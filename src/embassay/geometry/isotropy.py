"""How evenly vectors fill their space.

All figures are of rows scaled to unit length, as fractions. With V the (n, d) matrix of them, G = VᵀV and C the
covariance:

* I_A (Mu & Viswanath 2018, second order), sensitive to the mean:
  (n − ‖1ᵀV‖ + ½σ²_min) / (n + ‖1ᵀV‖ + ½σ²_max), σ the singular values, σ_min = 0 when n < d.
* IsoScore (Rudman et al. 2022). With λ the eigenvalues of C, λ̂ = √d·λ/‖λ‖, δ = ‖λ̂ − 1‖/√(2(d − √d)) and
  φ = (d − δ²(d − √d))²/d², it is (d·φ − 1)/(d − 1). Worked out, that is (tr(C)²/‖C‖²_F − 1)/(d − 1): no
  eigenvalues, any n. tr(C)²/‖C‖²_F is the participation ratio, an effective rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from embassay.geometry.closeness import Floats, unit_rows

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
    participation_ratio
        In [1, d]: how many dimensions the vectors use.
    mean_cosine
        In [-1/(n − 1), 1]: over all pairs; 0 when directions cancel out.
    rows, zeros
        How many vectors it rests on, and how many zero vectors were left out.
    """

    i_a: float
    isoscore: float
    participation_ratio: float
    mean_cosine: float
    rows: int
    zeros: int


def isotropy(vectors: Any) -> Isotropy:
    """Measure the isotropy of the rows of an (n, d) matrix, dense or CSR."""
    gram, total, rows = _gram(vectors)
    zeros = vectors.shape[0] - rows
    length = float(total @ total) ** 0.5
    mean_cosine = min(1.0, (length**2 - rows) / (rows * (rows - 1))) if rows > 1 else float("nan")
    ratio = _participation(gram, total, rows)
    score = _isoscore(ratio, vectors.shape[1])
    return Isotropy(_i_a(gram, vectors, length, rows), score, ratio, mean_cosine, rows, zeros)


def isoscore(vectors: Any) -> float:
    """Return IsoScore alone, in [0, 1]; NaN for fewer than two vectors or dimensions, or equal vectors."""
    return _isoscore(_participation(*_gram(vectors)), vectors.shape[1])


def _isoscore(ratio: float, width: int) -> float:
    return float(np.clip((ratio - 1) / (width - 1), 0.0, 1.0)) if width > 1 else float("nan")


def _gram(vectors: Any) -> tuple[Any, Floats, int]:
    return _sparse_gram(vectors) if issparse(vectors) else _dense_gram(vectors)


def _participation(gram: Any, total: Floats, rows: int) -> float:
    """Return tr(C)²/‖C‖²_F with n·C = G − (1ᵀV)ᵀ(1ᵀV)/n, the trace of G being n; NaN for equal vectors."""
    if rows < 2:
        return float("nan")
    trace = rows - float(total @ total) / rows
    if issparse(gram):
        # ‖G − ttᵀ/n‖² = ‖G‖² − 2 tᵀGt/n + (tᵀt/n)², so that the matrix stays sparse.
        square = float((gram.data**2).sum() - 2 * (total @ (gram @ total)) / rows + (total @ total / rows) ** 2)
    else:
        square = float(((gram - np.outer(total, total) / rows) ** 2).sum())
    return trace**2 / square if trace > EQUAL * rows else float("nan")


def _i_a(gram: Any, vectors: Any, length: float, rows: int) -> float:
    if rows < 2 or min(vectors.shape) > WIDEST:
        return float("nan")
    smallest, largest = _extreme_squares(gram, vectors, rows)
    return float(np.clip((rows - length + smallest / 2) / (rows + length + largest / 2), 0.0, 1.0))


def _extreme_squares(gram: Any, vectors: Any, rows: int) -> tuple[float, float]:
    """Return σ²_min (0 when n < d) and σ²_max."""
    from scipy.linalg import eigvalsh

    width = vectors.shape[1]
    if rows < width:
        if issparse(gram) and rows > 2:
            from scipy.sparse.linalg import eigsh

            small = _unit_sparse(vectors)
            # A fixed start, so that the figure is the same in every run; a constant one may be orthogonal to it.
            return 0.0, float(eigsh(small @ small.T, k=1, v0=np.cos(np.arange(rows)), return_eigenvectors=False)[0])
        dense = unit_rows(_nonzero(vectors.todense() if issparse(vectors) else vectors))
        return 0.0, float(eigvalsh(dense @ dense.T, subset_by_index=[rows - 1, rows - 1])[0])
    values = eigvalsh(gram.toarray() if issparse(gram) else gram)
    return max(0.0, float(values[0])), float(values[-1])


def _dense_gram(vectors: Any) -> tuple[Floats, Floats, int]:
    """Return VᵀV, 1ᵀV and the number of rows that are not zero.

    float32 vectors are multiplied in float32, block by block, and added up in float64.
    """
    from scipy.linalg.blas import dsyrk, ssyrk

    width = vectors.shape[1]
    half = ssyrk if vectors.dtype == np.float32 else dsyrk
    gram, total, rows = np.zeros((width, width)), np.zeros(width), 0
    for start in range(0, len(vectors), BLOCK):
        block = vectors[start : start + BLOCK]
        with np.errstate(over="ignore"):
            norms = np.sqrt(np.einsum("ij,ij->i", block, block))
        if not np.isfinite(norms).all() or norms.min() < TINY:
            block = np.asarray(block, dtype=np.float64)
            norms = np.sqrt(np.einsum("ij,ij->i", block, block))
        if not norms.all():
            block, norms = block[norms > 0], norms[norms > 0]
        block = np.ascontiguousarray(block / norms[:, None], dtype=vectors.dtype)
        # The transposed view is in Fortran order: no copy is made, and half the products.
        gram += half(1.0, block.T)
        total += block.sum(axis=0, dtype=np.float64)
        rows += len(block)
    return np.triu(gram) + np.triu(gram, 1).T, total, rows


def _sparse_gram(vectors: Any) -> tuple[Any, Floats, int]:
    unit = _unit_sparse(vectors)
    return unit.T @ unit, np.asarray(unit.sum(axis=0), dtype=np.float64).ravel(), unit.shape[0]


def _unit_sparse(vectors: Any) -> Any:
    from scipy.sparse import csr_array, diags_array

    rows = csr_array(vectors, dtype=np.float64)
    norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    rows = rows[norms > 0]
    return csr_array(diags_array(1 / norms[norms > 0]) @ rows)


def _nonzero(vectors: Any) -> Floats:
    """Return the rows of a dense matrix that are not zero, in float64."""
    dense = np.asarray(vectors, dtype=np.float64)
    return dense[dense.any(axis=1)]
