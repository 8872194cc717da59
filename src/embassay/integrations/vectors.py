"""Vectors of an encoder for libraries that know dense arrays only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from embassay.errors import EncoderError, SpecError
from embassay.samples.base import Role
from embassay.types import Encoder

PROBE = "."
"""The text that is encoded to learn the number of dimensions where there are no texts."""


def dense(encoder: Encoder, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
    """Return the (n, d) float32 vectors of texts, also of an encoder that gives sparse ones.

    Where there are no texts, one is encoded to learn d.

    Raises
    ------
    SpecError
        For one text in the place of a list, and for what is no text.
    EncoderError
        If the encoder fails; also on that one text.
    """
    if isinstance(texts, (str, bytes)):
        raise SpecError("a list of texts is needed, not a single one: write [text]")
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise SpecError(f"text {place} must be a str, is {type(text).__name__}")
    if not texts:
        return _of_no_texts(encoder, role)
    vectors: Any = encoder.encode(list(texts), role)
    if issparse(vectors):
        vectors = vectors.toarray()
    return np.asarray(vectors, dtype=np.float32)


def _of_no_texts(encoder: Encoder, role: Role) -> NDArray[np.float32]:
    """Return an array of shape (0, d)."""
    try:
        return dense(encoder, [PROBE], role)[:0]
    except EncoderError as error:
        raise EncoderError(f"there are no texts, and how long vectors of {encoder.name!r} are is not known") from error
