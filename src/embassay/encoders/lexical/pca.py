"""Principal component analysis of sparse counts, which stay sparse."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Floats = NDArray[np.float64]
SMALL = 2_000
"""Rows or columns up to which the whole Gram matrix is decomposed, in a second or so."""
LEAST = 1e-10
"""Directions with less than this share of the largest variance are rounding,"""
NOTHING = 1e-14
"""and so are those with less than this share of all squares."""


def principal_axes(matrix: csr_array, dimensions: int, small: int = SMALL) -> tuple[Floats, Floats]:
    """Return the directions of the largest variance of the rows, and their mean.

    Small matrices go through the eigenvectors of the centred Gram matrix of rows or columns, whichever are fewer:
    exact, and every direction is found, also the last ones, which an iterative method needs longer for. Larger ones go
    through ARPACK (Lanczos), which needs products with the matrix only, centred in passing. Neither makes the matrix
    dense. Signs: the largest coefficient of each direction is positive, so that the same rows give the same bytes.

    Parameters
    ----------
    matrix
        (n, d) CSR.
    dimensions
        How many directions are wanted, 1 or more.
    small
        Rows or columns up to which a matrix is small.

    Returns
    -------
    axes
        (k, d) float64, orthonormal, the largest variance first; k is smaller than ``dimensions`` where the rows have
        fewer directions, and 0 where they are all equal.
    mean
        (d,) float64.
    """
    rows = matrix.astype(np.float64)
    mean = np.asarray(rows.mean(axis=0), dtype=np.float64).ravel()
    if min(rows.shape) > small:
        values, axes = _iterated(rows, dimensions)
    elif rows.shape[0] <= rows.shape[1]:
        values, axes = _by_rows(rows, mean, dimensions)
    else:
        gram = (rows.T @ rows).toarray()
        centred = gram - rows.shape[0] * np.outer(mean, mean)
        values, vectors = _largest(centred, dimensions)
        axes = vectors.T.copy()
    all_squares = float((rows.data**2).sum())
    smallest = max(LEAST * values.max(initial=0.0), NOTHING * all_squares)
    axes = axes[values > smallest]
    for axis in axes:
        # Rounded, so that of coefficients that are equal but for rounding the first decides.
        largest = np.abs(axis).round(9).argmax()
        axis *= np.sign(axis[largest])
    return axes, mean


def _by_rows(rows: csr_array, mean: Floats, dimensions: int) -> tuple[Floats, Floats]:
    """Return variances (times n − 1) and (k, d) axes from the (n, n) centred Gram matrix: axis = (X − mean)ᵀu / σ."""
    gram = (rows @ rows.T).toarray()
    row_means = gram.mean(axis=0)
    centred = gram - row_means - row_means[:, None] + row_means.mean()
    values, vectors = _largest(centred, dimensions)
    # Rounding may make the smallest variances negative.
    smallest = np.finfo(np.float64).tiny
    deviations = np.sqrt(np.maximum(values, smallest))
    sums = vectors.sum(axis=0)
    projected = np.asarray((rows.T @ vectors).T)
    axes = projected - sums[:, None] * mean
    return values, axes / deviations[:, None]


def _largest(gram: Floats, number: int) -> tuple[Floats, Floats]:
    """Return the largest eigenvalues, descending, and their eigenvectors in columns."""
    # All of them are computed: LAPACK's solver for a subset of them fails on some degenerate matrices.
    values, vectors = np.linalg.eigh(gram)
    return values[::-1][:number], vectors[:, ::-1][:, :number]


def _iterated(rows: csr_array, dimensions: int) -> tuple[Floats, Floats]:
    from sklearn.decomposition import PCA

    # ARPACK finds all directions but one.
    number = min(dimensions, min(rows.shape) - 1)
    fitted = PCA(number, svd_solver="arpack", random_state=0).fit(rows)
    return fitted.explained_variance_ * (rows.shape[0] - 1), fitted.components_
