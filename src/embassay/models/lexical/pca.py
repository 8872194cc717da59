"""Principal component analysis of sparse counts, which stay sparse."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Floats = NDArray[np.float64]
SMALL = 2_000
"""Up to this many rows or columns, the whole Gram matrix is decomposed, which takes about a second."""
LEAST = 1e-10
"""Directions with a smaller share of the largest variance are rounding errors."""
NOTHING = 1e-14
"""Directions with a smaller share of the sum of squares are rounding errors."""


def principal_axes(matrix: csr_array, dimensions: int) -> tuple[Floats, Floats]:
    """Return the principal axes of the rows, and their mean.

    For a small matrix, they are eigenvectors of the centred Gram matrix of its rows or columns, whichever are fewer.
    This is exact and finds all directions, also the last ones, for which an iterative method needs longer. For a larger
    matrix, ARPACK (Lanczos) is used, which only needs products with the centred matrix. Neither makes the matrix dense.
    The largest coefficient of each axis is positive, so the same rows give the same bytes.

    Parameters
    ----------
    matrix
        (n, d) CSR.
    dimensions
        Number of axes, 1 or more.

    Returns
    -------
    axes
        (k, d) float64, orthonormal, largest variance first; k is less than ``dimensions`` if the rows span fewer
        directions, and 0 if they are all equal.
    mean
        (d,) float64.
    """
    rows = matrix.astype(np.float64)
    mean = np.asarray(rows.mean(axis=0), dtype=np.float64).ravel()
    if min(rows.shape) > SMALL:
        variances, axes = _iterated(rows, dimensions)
    elif rows.shape[0] <= rows.shape[1]:
        # With an eigenvector u of the Gram matrix and σ² its eigenvalue, the axis is (X − mean)ᵀu / σ.
        gram = (rows @ rows.T).toarray()
        row_means = gram.mean(axis=0)
        variances, vectors = _largest(gram - row_means - row_means[:, None] + row_means.mean(), dimensions)
        axes = np.asarray((rows.T @ vectors).T) - vectors.sum(axis=0)[:, None] * mean
        # Rounding errors may make the smallest variances negative.
        axes /= np.sqrt(np.maximum(variances, np.finfo(np.float64).tiny))[:, None]
    else:
        gram = (rows.T @ rows).toarray()
        variances, vectors = _largest(gram - rows.shape[0] * np.outer(mean, mean), dimensions)
        axes = vectors.T.copy()
    smallest = max(LEAST * variances.max(initial=0.0), NOTHING * float((rows.data**2).sum()))
    axes = axes[variances > smallest]
    for axis in axes:
        # Rounded, so that among coefficients that are equal except for rounding errors the first one decides.
        largest = np.abs(axis).round(9).argmax()
        axis *= np.sign(axis[largest])
    return axes, mean


def _largest(gram: Floats, number: int) -> tuple[Floats, Floats]:
    """Return the largest eigenvalues, descending, and their eigenvectors as columns."""
    # All are computed, because LAPACK's solver for a subset fails on some degenerate matrices.
    values, vectors = np.linalg.eigh(gram)
    return values[::-1][:number], vectors[:, ::-1][:, :number]


def _iterated(rows: csr_array, dimensions: int) -> tuple[Floats, Floats]:
    """Return (k,) variances times n − 1, and (k, d) axes, by ARPACK."""
    from sklearn.decomposition import PCA

    # ARPACK finds at most all directions but one.
    number = min(dimensions, min(rows.shape) - 1)
    fitted = PCA(number, svd_solver="arpack", random_state=0).fit(rows)
    return fitted.explained_variance_ * (rows.shape[0] - 1), fitted.components_
