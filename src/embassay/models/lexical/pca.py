"""Principal component analysis of sparse counts: counts come in, the axes of their largest variance go out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Floats = NDArray[np.float64]
NOTHING = 1e-14
"""Directions with a smaller share of the sum of squares are rounding errors."""


def principal_axes(matrix: csr_array, dimensions: int) -> tuple[Floats, Floats]:
    """Return the principal axes of the rows, and their mean.

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
    number = min(dimensions, *rows.shape)
    if 2 * number > min(rows.shape):
        # An iterative method needs longer for most of all directions, and does not find the last ones.
        mean = rows.mean(axis=0)
        _, lengths, axes = np.linalg.svd(rows.toarray() - mean, full_matrices=False)
    else:
        from sklearn.decomposition import PCA

        # The counts stay sparse.
        fitted = PCA(number, svd_solver="arpack", random_state=0).fit(rows)
        mean, lengths, axes = fitted.mean_, fitted.singular_values_, fitted.components_
    smallest = NOTHING * (rows.data**2).sum()
    return axes[:number][lengths[:number] ** 2 > smallest], mean
