"""Vectors of an encoder for libraries that know dense arrays only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from embassay.samples import Role
from embassay.types import Encoder


def dense(encoder: Encoder, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
    """Return the (n, d) float32 vectors of texts, also of an encoder that gives sparse ones."""
    found = encoder.encode(list(texts), role)
    return np.asarray(found.toarray() if issparse(found) else found, dtype=np.float32)
