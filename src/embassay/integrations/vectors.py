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

SOME = "."
"""A text whose vector tells how long vectors are, where there is no other."""


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
        return _none(encoder, role)
    found: Any = encoder.encode(list(texts), role)
    return np.asarray(found.toarray() if issparse(found) else found, dtype=np.float32)


def _none(encoder: Encoder, role: Role) -> NDArray[np.float32]:
    """Return (0, d)."""
    try:
        return dense(encoder, [SOME], role)[:0]
    except EncoderError as error:
        raise EncoderError(f"there are no texts, and how long vectors of {encoder.name!r} are is not known") from error
