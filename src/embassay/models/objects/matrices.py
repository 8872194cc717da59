"""Checking the vectors that a user's object or function returns."""

from __future__ import annotations

from typing import Any

from scipy.sparse import csr_array, issparse

from embassay.core.errors import EncoderError
from embassay.core.vectors import VectorMatrix, as_array, as_float32, described


def off_device(rows: Any) -> Any:
    """Return a tensor of torch as float32 in main memory; anything else as it is."""
    return rows.detach().cpu().float() if hasattr(rows, "detach") else rows


def real_matrix(rows: object) -> VectorMatrix:
    """Return the vectors of texts, from a tensor as well, as (n, d) float32, dense or CSR.

    Raises
    ------
    EncoderError
        If they are not an (n, d) array of real numbers.
    """
    matrix = as_array(off_device(rows))
    if matrix.dtype.kind not in "fiub" or matrix.ndim != 2:
        raise EncoderError(f"the encoder returned {described(rows, matrix)}, not an (n, d) array of real numbers")
    if issparse(matrix):
        matrix = csr_array(matrix)
    vectors: VectorMatrix = as_float32(matrix)
    return vectors
