"""An encoder as SentEval's ``batcher(params, batch)`` (Conneau & Kiela 2018, section 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from embassay.errors import SpecError
from embassay.integrations.vectors import dense
from embassay.run.resolve import load_encoder
from embassay.types import Encoder

EMPTY = "."
"""Replaces a sentence without tokens, as in SentEval's own examples."""
Sentence = Sequence[str | bytes] | str | bytes
Batcher = Callable[[object, Sequence[Sentence]], NDArray[np.float32]]


def batcher(encoder: Encoder | str) -> Batcher:
    """Return the function that SentEval calls with its settings and a batch of sentences, each a list of tokens.

    Tokens are joined by spaces, as in SentEval's own examples for encoders with their own tokenizer. Bytes, which some
    of its data sets contain, are decoded as UTF-8.

    Parameters
    ----------
    encoder
        An encoder from :func:`embassay.encoder`, fitted if it learns from texts, or anything that this function takes.

    Raises
    ------
    InputError
        If there is no such encoder.
    """
    loaded = load_encoder(encoder)

    def encode(params: object, batch: Sequence[Sentence]) -> NDArray[np.float32]:
        """Return the (n, d) vectors of a batch."""
        texts = [_joined(place, sentence) or EMPTY for place, sentence in enumerate(batch)]
        return dense(loaded, texts, "text")

    return encode


def _joined(place: int, sentence: Sentence) -> str:
    # A str is iterable too: its letters would be taken for tokens.
    if isinstance(sentence, (str, bytes)):
        return _text(place, sentence)
    if not isinstance(sentence, Iterable):
        raise SpecError(f"sentence {place} must be a list of tokens, is {type(sentence).__name__}")
    return " ".join(_text(place, token) for token in sentence)


def _text(place: int, token: str | bytes) -> str:
    if isinstance(token, str):
        return token
    if not isinstance(token, bytes):
        raise SpecError(f"sentence {place}: a token must be str or bytes, is {type(token).__name__}")
    try:
        return token.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SpecError(f"sentence {place}: {token!r} is not UTF-8") from error
