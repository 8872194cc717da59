"""Changes of the space that are said to make embeddings more isotropic, and better.

Fitted on one set of vectors (for retrieval: the documents), applied to any, then scaled to unit length again
(Roychowdhury et al. 2024, section 3.4; ``remove_pcs`` after Mu & Viswanath 2018). The vectors are scaled to unit
length first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from embassay.geometry.closeness import Floats, unit_rows

Name = Literal["standardize", "whiten", "remove_pcs"]
NAMES: tuple[Name, ...] = get_args(Name)
NEGLIGIBLE = 1e-10
"""Eigenvalues (and variances) below this share of the largest are no directions."""


@dataclass(frozen=True)
class Transform:
    """A fitted transform: rows are scaled to unit length, centred by ``mean``, transformed and scaled again.

    Attributes
    ----------
    mean
        (d,).
    matrix
        (d,) factors of the dimensions (``standardize``); (d, k) to multiply by (``whiten``); or, where ``removes``,
        (d, k) orthonormal axes whose parts are subtracted (``remove_pcs``).
    rank
        How many directions are left.
    fitted_on
        How many vectors it was fitted on.
    removes
        Whether the axes in ``matrix`` are removed rather than multiplied by.
    """

    mean: Floats
    matrix: Floats
    rank: int
    fitted_on: int
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


def fit(name: Name, vectors: Any) -> Transform:
    """Fit a transform on (n, d) dense vectors, n at least 2; zero vectors are left out.

    ``standardize``: each dimension to mean 0 and variance 1. ``whiten``: the covariance to the identity (PCA
    whitening; eigenvalues below ``NEGLIGIBLE`` of the largest are dropped). ``remove_pcs``: centred, without the
    top max(1, d // 100) principal components.

    Raises
    ------
    ValueError
        If fewer than two vectors are not zero, all are equal, or no direction is left.
    """
    rows = np.asarray(vectors, dtype=np.float64)
    rows = unit_rows(rows[rows.any(axis=1)])
    if len(rows) < 2:
        raise ValueError(f"a transform needs at least two nonzero vectors, got {len(rows)}")
    mean = rows.mean(axis=0)
    centred = rows - mean
    if not (centred**2).sum() > NEGLIGIBLE * len(rows):
        raise ValueError("a transform needs vectors that are not all equal")
    matrix, rank = _FITTED[name](centred)
    if rank < 1:
        raise ValueError(f"{name} leaves no direction")
    return Transform(mean, matrix, rank, len(rows), removes=name == "remove_pcs")


def _standardize(centred: Floats) -> tuple[Floats, int]:
    variance = (centred**2).mean(axis=0)
    used = variance > NEGLIGIBLE * variance.max()
    scale = np.zeros_like(variance)
    scale[used] = 1 / np.sqrt(variance[used])
    return scale, int(used.sum())


def _whiten(centred: Floats) -> tuple[Floats, int]:
    values, axes = _principal(centred)
    used = values > NEGLIGIBLE * values[0]
    return axes[:, used] / np.sqrt(values[used]), int(used.sum())


def _remove_pcs(centred: Floats) -> tuple[Floats, int]:
    values, axes = _principal(centred)
    top = axes[:, : max(1, centred.shape[1] // 100)]
    remaining = np.count_nonzero(values > NEGLIGIBLE * values[0]) - top.shape[1]
    return top, max(int(remaining), 0)


def _principal(centred: Floats) -> tuple[Floats, Floats]:
    """Return the k eigenvalues of the covariance, largest first, and their (d, k) unit vectors, k at most min(n, d).

    With fewer rows than dimensions they come from the (n, n) matrix of the rows' products, which has the same
    eigenvalues: an eigenvector u of it belongs to the axis Xᵀu / ‖Xᵀu‖. Directions without variance are left out then.
    """
    rows, width = centred.shape
    if rows >= width:
        values, axes = np.linalg.eigh(centred.T @ centred / rows)
        return values[::-1], axes[:, ::-1]
    values, row_axes = np.linalg.eigh(centred @ centred.T / rows)
    values, row_axes = values[::-1], row_axes[:, ::-1]
    used = values > NEGLIGIBLE * values[0]
    axes = centred.T @ row_axes[:, used]
    return values[used], axes / np.linalg.norm(axes, axis=0)


_FITTED = {"standardize": _standardize, "whiten": _whiten, "remove_pcs": _remove_pcs}
