"""The arrays that encoders return: checked, and as float32."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from embassay.core.errors import EncoderError, quoted
from embassay.core.formatting import counted
from embassay.core.vectors import DenseVectors, VectorMatrix


def dense_rows(vectors: VectorMatrix) -> DenseVectors:
    """Return (n, d) vectors as a dense array of float32."""
    return np.asarray(vectors if isinstance(vectors, np.ndarray) else vectors.toarray(), dtype=np.float32)


def checked_vectors(output: Any, texts: Sequence[str]) -> Any:
    """Return the output of an encoder for n texts as (n, d) float32, dense or CSR.

    Raises
    ------
    EncoderError
        If it is not an (n, d) array of real numbers, or a vector has NaN or infinity; the message names the text.
    """
    vectors = csr_array(output) if issparse(output) else np.asarray(output)
    if vectors.dtype.kind not in "biuf" or vectors.ndim != 2 or vectors.shape[0] != len(texts) or not vectors.shape[1]:
        returned = f"{type(output).__name__} of dtype {vectors.dtype} and shape {vectors.shape}"
        expected = f"({len(texts)}, d) for {counted(len(texts), 'text')}"
        raise EncoderError(f"it returned {returned}, not real numbers of shape {expected}")
    # A number that is too large becomes infinite. The sum of a row is finite if and only if all its numbers are:
    # float64 holds any sum of float32.
    with np.errstate(over="ignore", invalid="ignore"):
        vectors = vectors.astype(np.float32, copy=False)
        is_finite = np.isfinite(np.asarray(vectors.sum(axis=1, dtype=np.float64)).ravel())
    if not is_finite.all():
        index = int(is_finite.argmin())
        raise EncoderError(
            "it returned a vector with NaN or infinity, or with a number too large for float32, for text "
            f"{index + 1} of the {len(texts)} in its batch, {quoted(texts[index])}"
        )
    return vectors
