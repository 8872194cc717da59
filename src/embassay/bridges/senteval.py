"""An encoder as SentEval's ``batcher(params, batch)`` (Conneau & Kiela 2018, section 4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.bridges._vectors import dense
from embassay.types import Encoder

EMPTY = "."
"""Stands for a sentence without tokens, as in SentEval's own examples."""
Batcher = Callable[[Any, Sequence[Sequence[str] | str]], NDArray[np.float32]]


def batcher(encoder: Encoder) -> Batcher:
    """Return the function that SentEval calls with its settings and a batch of sentences, each a list of tokens.

    Tokens are joined by blanks, as SentEval's own examples do for encoders that cut texts themselves.

    Parameters
    ----------
    encoder
        Made by :func:`embassay.encoder`, and fitted where it learns from texts.
    """

    def encode(params: Any, batch: Sequence[Sequence[str] | str]) -> NDArray[np.float32]:
        """Return the (n, d) vectors of a batch."""
        texts = [sentence if isinstance(sentence, str) else " ".join(sentence) for sentence in batch]
        return dense(encoder, [text or EMPTY for text in texts], "text")

    return encode
