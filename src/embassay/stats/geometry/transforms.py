"""Linear transforms that are meant to make embeddings more isotropic: standardise, whiten, remove top components.

A transform is fitted on one set of vectors (for retrieval: the documents) and applied to any vectors of the same
encoder. Rows are scaled to unit length before and after it (Roychowdhury et al. 2024, section 3.4; ``remove_pcs`` after
Mu & Viswanath 2018).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from embassay.stats.geometry.closeness import Floats, unit_rows

Name = Literal["standardize", "whiten", "remove_pcs"]
NAMES: tuple[Name, ...] = get_args(Name)
NEGLIGIBLE = 1e-10
"""A direction whose eigenvalue or variance is at most this share of the largest is treated as having no variance."""


@dataclass(frozen=True)
class Transform:
    """A fitted transform: rows are scaled to unit length, centred by ``mean``, transformed and scaled again.

    Attributes
    ----------
    mean
        (d,).
    matrix
        ``standardize``: (d,) one factor for each dimension. ``whiten``: (d, k), by which centred rows are multiplied.
        ``remove_pcs``: (d, k) orthonormal axes; the projection of the rows on them is subtracted.
    rank
        The number of directions with variance after the transform.
    removes
        Whether the axes in ``matrix`` are removed (``remove_pcs``) instead of being multiplied by.
    """

    mean: Floats
    matrix: Floats
    rank: int
    removes: bool = False

    def apply(self, vectors: Any) -> Floats:
        """Return the (n, k) transformed rows at unit length; NaN for a row that is zero before or after."""
        centred = unit_rows(np.asarray(vectors, dtype=np.float64)) - self.mean
        if self.removes:
            # Two thin products; a (d, d) projection would cost d² whatever n is.
            return unit_rows(centred - (centred @ self.matrix) @ self.matrix.T)
        if self.matrix.ndim == 1:
            return unit_rows(centred * self.matrix)
        return unit_rows(centred @ self.matrix)


def fit(name: Name, vectors: Any) -> Transform | None:
    """Fit a transform on (n, d) dense vectors; zero vectors are left out.

    ``standardize``
        scales each dimension to mean 0 and variance 1;
    ``whiten``
        turns the covariance into the identity (PCA whitening); directions without variance are dropped;
    ``remove_pcs``
        centres the rows and removes their first max(1, d // 100) principal components.

    Returns
    -------
    None if fewer than two vectors are not zero, all are equal, or no direction is left.
    """
    rows = np.asarray(vectors, dtype=np.float64)
    rows = unit_rows(rows[rows.any(axis=1)])
    if len(rows) < 2:
        return None
    mean = rows.mean(axis=0)
    centred = rows - mean
    total_variance = (centred**2).sum()
    # Written with "not", so that NaN is refused as well.
    if not total_variance > NEGLIGIBLE * len(rows):
        return None
    if name == "remove_pcs":
        matrix, rank = _remove_pcs(centred, max(1, centred.shape[1] // 100))
    else:
        matrix, rank = _SCALED[name](centred)
    return Transform(mean, matrix, rank, removes=name == "remove_pcs") if rank else None


def _standardize(centred: Floats) -> tuple[Floats, int]:
    """Return (d,) 1/standard deviation, 0 for a constant dimension, and the number of dimensions that vary."""
    variance = (centred**2).mean(axis=0)
    used = variance > NEGLIGIBLE * variance.max()
    scale = np.zeros_like(variance)
    scale[used] = 1 / np.sqrt(variance[used])
    return scale, int(used.sum())


def _whiten(centred: Floats) -> tuple[Floats, int]:
    """Return the (d, k) whitening matrix, the principal axes over the square roots of their eigenvalues, and k."""
    eigenvalues, axes = _principal_components(centred)
    used = eigenvalues > NEGLIGIBLE * eigenvalues[0]
    deviations = np.sqrt(eigenvalues[used])
    return axes[:, used] / deviations, int(used.sum())


def _remove_pcs(centred: Floats, removed: int) -> tuple[Floats, int]:
    """Return the (d, k) first principal axes, and how many directions with variance remain without them."""
    eigenvalues, axes = _principal_components(centred)
    top = axes[:, :removed]
    with_variance = np.count_nonzero(eigenvalues > NEGLIGIBLE * eigenvalues[0])
    # There may be fewer axes than are to be removed.
    remaining = int(with_variance) - top.shape[1]
    return top, max(remaining, 0)


def _principal_components(centred: Floats) -> tuple[Floats, Floats]:
    """Return the k eigenvalues of the covariance of (n, d) centred rows, largest first, and their (d, k) unit vectors.

    k is d if there are at least d rows. With fewer rows, k counts the directions with variance only.
    """
    rows, width = centred.shape
    if rows >= width:
        covariance = centred.T @ centred / rows
        return _eigh_largest_first(covariance)

    # XXᵀ/n is smaller than the covariance XᵀX/n and has the same positive eigenvalues: if u is an eigenvector of
    # XXᵀ/n, then Xᵀu is one of XᵀX/n.
    products = centred @ centred.T / rows
    eigenvalues, row_vectors = _eigh_largest_first(products)
    # Where the eigenvalue is 0, Xᵀu is 0 as well and has no direction.
    used = eigenvalues > NEGLIGIBLE * eigenvalues[0]
    axes = centred.T @ row_vectors[:, used]
    lengths = np.linalg.norm(axes, axis=0)
    return eigenvalues[used], axes / lengths


def _eigh_largest_first(symmetric: Floats) -> tuple[Floats, Floats]:
    """Return the eigenvalues of a symmetric matrix, largest first, and their eigenvectors as columns."""
    eigenvalues, vectors = np.linalg.eigh(symmetric)
    return eigenvalues[::-1], vectors[:, ::-1]


_SCALED = {"standardize": _standardize, "whiten": _whiten}
