"""gensim, epoch by epoch: each with its own random stream and its share of the falling learning rate."""

from __future__ import annotations

import importlib.util
import logging
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

import numpy as np

from embassay.errors import InputError, MissingExtraError
from embassay.randomness import generator
from embassay.training.shared import Advance

RATE, LAST_RATE = 0.025, 0.0001
"""The learning rate at the beginning and at the end; in between it falls linearly."""
STEP = 500
"""Sentences between two reports."""


def require_gensim(what: str) -> None:
    """Raise InputError where gensim is not installed."""
    if importlib.util.find_spec("gensim") is not None:
        return
    if sys.version_info >= (3, 14):
        raise InputError(f"{what} needs gensim, which is not to be had for Python 3.14; use Python 3.13")
    raise MissingExtraError(what, "words")


def made_with() -> dict[str, str]:
    """Return the versions that the numbers depend on."""
    return {name: version(name) for name in ("gensim", "numpy", "scipy")}


def hash_word(word: str) -> int:
    """Return a hash that is the same in every process, unlike Python's own."""
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))


def seed_of(seed: int, *purpose: str) -> int:
    """Return a seed for gensim, below 2**32."""
    return int(generator(seed, *purpose).integers(2**32))


def train_epoch(
    model: Any, items: Sequence[Any], epoch: int, epochs: int, seed: int, purpose: str, advance: Advance
) -> None:
    """Train one epoch (from 0) on one thread; what it does depends on the model's arrays, the epoch and the seed only.

    Parameters
    ----------
    items
        What gensim reads: lists of words, or tagged documents.
    """
    # gensim draws from the old interface of numpy.
    model.random = np.random.RandomState(seed_of(seed, purpose, f"epoch {epoch}"))
    step = (RATE - LAST_RATE) / epochs
    told = _Told(items, lambda done: advance(epoch * len(items) + done, epochs * len(items)))
    with _quiet():
        model.train(
            told,
            total_examples=len(items),
            epochs=1,
            start_alpha=RATE - step * epoch,
            end_alpha=RATE - step * (epoch + 1),
        )
    advance((epoch + 1) * len(items), epochs * len(items))


class _Told:
    """A sequence that says now and then how far it has been read."""

    def __init__(self, items: Sequence[Any], tell: Callable[[int], None]):
        self._items, self._tell = items, tell

    def __iter__(self) -> Iterator[Any]:
        for place, item in enumerate(self._items):
            if place % STEP == 0:
                self._tell(place)
            yield item


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep gensim from giving advice on standard error meanwhile: one call for each epoch is what we want."""
    logger = logging.getLogger("gensim")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)
