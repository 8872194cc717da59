"""How near two vectors are.

Figures that are kept are computed here in float64, row by row in a fixed order and without BLAS, so that
they do not depend on the machine's kernels or on how many rows there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

Floats = NDArray[np.float64]
BLOCK = 16_384


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
        dot, uu, vv = _paired_dot(u, v), _paired_dot(u, u), _paired_dot(v, v)
        cosine = dot / (np.sqrt(uu) * np.sqrt(vv))
    return np.where(np.isfinite(cosine), np.clip(cosine, -1.0, 1.0), np.nan)


def _paired_dot(u: Any, v: Any) -> Floats:
    if issparse(u):
        return np.asarray(u.astype(np.float64).multiply(v.astype(np.float64)).sum(axis=1), dtype=np.float64).ravel()
    out = np.empty(len(u))
    for start in range(0, len(u), BLOCK):
        rows = slice(start, start + BLOCK)
        # In C order whatever the input's: the order of the sum is part of the result.
        out[rows] = (u[rows].astype(np.float64, order="C") * v[rows].astype(np.float64, order="C")).sum(axis=1)
    return out
