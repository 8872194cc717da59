"""Vectors of an encoder for libraries that only accept dense arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from embassay.core.errors import EncoderError, SpecError
from embassay.core.samples.base import Role
from embassay.core.types import Encoder
from embassay.core.vectors import dense_rows

PROBE = "."
"""The text that is encoded to find the number of dimensions if there are no texts."""


def dense(encoder: Encoder, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
    """Return the (n, d) float32 vectors of texts as a dense array, also if the encoder returns sparse vectors.

    If there are no texts, a single text is encoded to find d.

    Raises
    ------
    SpecError
        For a single text instead of a list, or an element that is not a text.
    EncoderError
        If the encoder fails, also on that single text.
    """
    # A str is a sequence of texts too: each letter would get a vector.
    if isinstance(texts, (str, bytes)):
        raise SpecError("needs a list of texts, not a single text: write [text]")
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise SpecError(f"text {place} must be a str, is {type(text).__name__}")
    if not texts:
        return _of_no_texts(encoder, role)
    return dense_rows(encoder.encode(list(texts), role))


def _of_no_texts(encoder: Encoder, role: Role) -> NDArray[np.float32]:
    """Return an array of shape (0, d)."""
    try:
        return dense(encoder, [PROBE], role)[:0]
    except EncoderError as error:
        raise EncoderError(f"no texts, and the number of dimensions of {encoder.name!r} is unknown") from error
