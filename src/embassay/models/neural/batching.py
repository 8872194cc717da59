"""Batches of texts with the same number of tokens, so that none is padded, the longest first.

A text then has the vector that it has alone, up to rounding, whatever a model does with masks, with positions, and with
the side on which its tokenizer would pad.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from embassay.core.errors import EncoderError
from embassay.core.samples.base import Role
from embassay.core.vectors import Indices
from embassay.models.base import Batch, Route

TOKENS_ON_CPU = 1_024
TOKENS_ON_DEVICE = 16_384
"""Number of tokens in a batch, on the CPU and on other devices."""


class Runner(ABC):
    """A loaded model.

    Attributes
    ----------
    tokens
        Maximum number of tokens in a batch of more than one text.
    """

    tokens: int

    @property
    @abstractmethod
    def route(self) -> Route:
        """How it computes, for ``run.json``."""

    @abstractmethod
    def batches(self, texts: Sequence[str], prompt: str, role: Role) -> Iterator[Batch]:
        """Yield (indices into ``texts``, their (m, d) vectors) of each batch, longest texts first."""


def check_limit(limit: int | None, least: int) -> None:
    """Raise EncoderError if a limit leaves no room beside ``least``, the number of special tokens of every text."""
    if limit is not None and limit <= least:
        raise EncoderError(
            f"the limit of {limit} tokens is too short: every text has {least} special tokens; set "
            f"max_length={least + 1} or more"
        )


def batches(texts: Sequence[str], lengths: Sequence[int], limit: int) -> Iterator[Indices]:
    """Yield the indices of the texts of each batch, longest texts first; its texts have the same number of tokens.

    Parameters
    ----------
    lengths
        The number of tokens of each text.
    limit
        The maximum number of tokens in a batch of more than one text.
    """
    # By tokens, then by characters.
    order = np.lexsort(([-len(text) for text in texts], [-n for n in lengths]))
    for length, group in groupby(order, key=lambda n: lengths[n]):
        places = np.array(list(group))
        size = max(1, limit // max(length, 1))
        for start in range(0, len(places), size):
            yield places[start : start + size]
