"""Encoding the texts of a builder in blocks, so that its progress can be shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from embassay.core.types import Encoder
from embassay.testsets.base import Advance

BLOCK = 512
"""The number of texts that are encoded between two progress reports."""


def vectors_of(texts: Sequence[str], encoder: Encoder, advance: Advance) -> Any:
    """Return the (n, d) vectors of distinct texts, dense or CSR, of an encoder that is fitted on them first."""
    from scipy import sparse

    fitted = encoder.fit(texts)
    blocks = []
    for start in range(0, len(texts), BLOCK):
        blocks.append(fitted.encode(texts[start : start + BLOCK], "text"))
        advance(min(start + BLOCK, len(texts)), len(texts))
    if sparse.issparse(blocks[0]):
        return sparse.vstack(blocks, format="csr")
    return np.concatenate(blocks)
