"""Batches of tokenised texts of equal length: in what order, and on which core they run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from embassay.core.errors import EncoderError
from embassay.core.processes.cores import cores, single_threads
from embassay.core.vectors import DenseVectors, Indices, VectorBatch

TokenIds = NDArray[np.int32]
WINDOW = 32_768
"""Number of texts that are tokenised and sorted together; meanwhile the next ones are tokenised."""
FIRST = 512
"""Number of texts in the first window, which is small because nothing can be encoded before it is tokenised."""
CHUNK = 256
"""Number of texts per call of the tokenizer, or of a model's own ``encode``."""
FIRST_CHUNK = 16
"""Number of texts in the first call of a model's own ``encode``."""
LEAST = 128
"""The smallest number of tokens for which another core is used."""


class Runner(ABC):
    """A loaded model on one device.

    Attributes
    ----------
    route
        How it computes, for ``run.json``. With ``sentence-transformers`` it reads texts, otherwise tokens.
    device
        The name of the device.
    tokens
        Maximum number of tokens in a batch of more than one text.
    one_per_core
        Whether batches run side by side, each on a single thread; otherwise one batch uses all threads.
    vocabulary
        The number of tokens that the model has embeddings for; None if that is not known.
    """

    route: str
    device: str
    tokens: int
    one_per_core: bool = False
    vocabulary: int | None = None

    @abstractmethod
    def token_ids(self, texts: Sequence[str], prompt: str) -> Iterable[Sequence[int]]:
        """Return the token ids of a few texts with their prompt, truncated to the model's limit; at least one each."""

    @abstractmethod
    def forward(self, ids: Sequence[TokenIds]) -> DenseVectors:
        """Return the (n, d) vectors of tokenised texts of equal length."""

    def tokenize(self, texts: Sequence[str], prompt: str) -> list[TokenIds]:
        """Return :meth:`token_ids` of any number of texts.

        Raises
        ------
        EncoderError
            For a token without an embedding: the tokenizer belongs to another model.
        """
        ids: list[TokenIds] = []
        for start in range(0, len(texts), CHUNK):
            # int32, because the ids of all texts are in memory at once.
            ids += [np.array(row, dtype=np.int32) for row in self.token_ids(texts[start : start + CHUNK], prompt)]
        largest = max((int(row.max()) for row in ids), default=0)
        if self.vocabulary is not None and largest >= self.vocabulary:
            raise EncoderError(
                f"the tokenizer returns the id {largest:,}, but the model has {self.vocabulary:,} tokens: "
                "the tokenizer belongs to another model"
            )
        return ids

    def encode_whole(self, texts: Sequence[str], prompt: str) -> DenseVectors:
        """Return the (n, d) vectors of texts, by default one text at a time."""
        return np.concatenate([self.forward([ids]) for ids in self.tokenize(texts, prompt)])


def check_finite(rows: DenseVectors, place: str = "", advice: str = "") -> None:
    """Raise EncoderError if a vector is not finite; ``place`` and ``advice`` stand around the message."""
    if not np.isfinite(rows).all():
        raise EncoderError(f"{place}the vectors contain NaN or infinity{advice}")


def run(runner: Runner, texts: Sequence[str], prompt: str) -> Iterator[VectorBatch]:
    """Yield (indices into ``texts``, their (m, d) vectors) of each batch, longest texts first."""
    if runner.route == "sentence-transformers":
        # The model does not only read tokens, so its texts are not tokenised here.
        # The first chunk is small, so that a slow model shows soon that it works.
        for start, stop in pairwise([0, *range(FIRST_CHUNK, len(texts), CHUNK), len(texts)]):
            yield np.arange(start, stop), runner.encode_whole(texts[start:stop], prompt)
        return

    def tokenize(window: Indices) -> list[TokenIds]:
        return runner.tokenize([texts[n] for n in window], prompt)

    with ThreadPoolExecutor(1) as tokenizer:
        # While a window is encoded, the next one is tokenised in another thread.
        pending: tuple[Indices, Future[list[TokenIds]]] | None = None
        for window in windows(texts):
            future = tokenizer.submit(tokenize, window)
            if pending is not None:
                yield from _encoded_window(runner, *pending)
            pending = window, future
        if pending is not None:
            yield from _encoded_window(runner, *pending)


def _encoded_window(runner: Runner, window: Indices, tokens: Future[list[TokenIds]]) -> Iterator[VectorBatch]:
    ids = tokens.result()
    for places, rows in _encoded(runner, ids):
        yield window[places], rows


def _encoded(runner: Runner, ids: Sequence[TokenIds]) -> Iterator[VectorBatch]:
    """Yield (indices, vectors) of tokenised texts."""
    lengths = [len(text) for text in ids]
    limit = runner.tokens
    threads: AbstractContextManager[ThreadPoolExecutor] = ThreadPoolExecutor(1)
    if runner.one_per_core:
        # If there are few texts, batches are smaller, so that every core has one.
        limit = min(limit, max(LEAST, sum(lengths) // cores()))
        threads = single_threads(max(1, min(cores(), sum(lengths) // LEAST)))

    def forward(places: Indices) -> VectorBatch:
        return places, runner.forward([ids[n] for n in places])

    with threads as pool:
        futures = deque(pool.submit(forward, places) for places in batches(lengths, limit))
        try:
            while futures:
                # No name for the future: with an error, it would keep this frame, and so the model, alive.
                yield futures.popleft().result()
        finally:
            for future in futures:
                future.cancel()


def encode_distinct(texts: Sequence[str], batches: Callable[[list[str]], Iterator[VectorBatch]]) -> DenseVectors:
    """Return the (n, d) vectors of n > 0 texts; each distinct text is encoded once.

    Parameters
    ----------
    batches
        Called with the distinct texts; yields (indices into them, their vectors).
    """
    distinct = list(dict.fromkeys(texts))
    matrix = np.zeros((0, 0), dtype=np.float32)
    # Batches come in any order.
    for places, rows in batches(distinct):
        if not matrix.size:
            matrix = np.empty((len(distinct), rows.shape[1]), dtype=np.float32)
        matrix[places] = rows
    row_of = {text: row for row, text in enumerate(distinct)}
    return np.asarray(matrix[[row_of[text] for text in texts]])


def windows(texts: Sequence[str]) -> Iterator[Indices]:
    """Yield indices of texts in windows of :data:`WINDOW`, longest texts first; the first window has :data:`FIRST`."""
    order = np.argsort([-len(text) for text in texts], kind="stable")
    for start, stop in pairwise([0, *range(FIRST, len(order), WINDOW), len(order)]):
        if start < stop:
            yield order[start:stop]


def batches(lengths: Sequence[int], limit: int) -> Iterator[Indices]:
    """Yield the indices of the texts of each batch, longest texts first; its texts have the same number of tokens.

    Parameters
    ----------
    lengths
        The number of tokens of each text.
    limit
        The maximum number of tokens in a batch of more than one text.
    """
    order = np.argsort([-n for n in lengths], kind="stable")
    for length, group in groupby(order, key=lambda n: lengths[n]):
        places = np.array(list(group))
        size = max(1, limit // max(length, 1))
        for start in range(0, len(places), size):
            yield places[start : start + size]
