"""Principal component analysis of sparse counts, which stay sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
SMALL = 2_000
"""Rows or columns up to which the whole Gram matrix is decomposed, in a second or so."""
LEAST = 1e-10
"""Directions with less than this share of the largest variance are rounding,"""
NOTHING = 1e-14
"""and so are those with less than this share of all squares."""


def principal_axes(matrix: Any, dimensions: int) -> tuple[Floats, Floats]:
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
    if min(rows.shape) > SMALL:
        values, axes = _iterated(rows, dimensions)
    elif rows.shape[0] <= rows.shape[1]:
        values, axes = _by_rows(rows, mean, dimensions)
    else:
        gram = (rows.T @ rows).toarray() - rows.shape[0] * np.outer(mean, mean)
        values, vectors = _largest(gram, dimensions)
        axes = vectors.T
    axes = axes[values > max(LEAST * values.max(initial=0.0), NOTHING * float((rows.data**2).sum()))]
    # Rounded, so that of coefficients that are equal but for rounding the first decides.
    place = np.abs(axes).round(9).argmax(axis=1) if len(axes) else np.zeros(0, dtype=np.int64)
    return axes * np.sign(axes[np.arange(len(axes)), place])[:, None], mean


def _by_rows(rows: Any, mean: Floats, dimensions: int) -> tuple[Floats, Floats]:
    """Return variances (times n − 1) and (k, d) axes from the (n, n) centred Gram matrix: axis = (X − mean)ᵀu / σ."""
    gram = (rows @ rows.T).toarray()
    across = gram.mean(axis=0)
    values, vectors = _largest(gram - across - across[:, None] + across.mean(), dimensions)
    lengths = np.sqrt(np.maximum(values, np.finfo(np.float64).tiny))
    axes = np.asarray((rows.T @ vectors).T) - vectors.sum(axis=0)[:, None] * mean
    return values, axes / lengths[:, None]


def _largest(gram: Floats, number: int) -> tuple[Floats, Floats]:
    """Return the largest eigenvalues, descending, and their eigenvectors in columns."""
    # All of them are computed: LAPACK's solver for a subset of them fails on some degenerate matrices.
    values, vectors = np.linalg.eigh(gram)
    return values[::-1][:number], vectors[:, ::-1][:, :number]


def _iterated(rows: Any, dimensions: int) -> tuple[Floats, Floats]:
    from sklearn.decomposition import PCA

    number = min(dimensions, min(rows.shape) - 1)
    found = PCA(number, svd_solver="arpack", random_state=0).fit(rows)
    return found.explained_variance_ * (rows.shape[0] - 1), found.components_
