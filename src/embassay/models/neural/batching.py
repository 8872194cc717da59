"""Batches of texts with the same number of tokens, so that none is padded: in what order, and on which core they run.

A text then has the vector that it has alone, up to rounding, whatever a model does with masks, with positions, and with
the side on which its tokenizer would pad.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from embassay.core.errors import EncoderError, ModelNotFoundError
from embassay.core.processes.cores import cores, single_threads
from embassay.core.samples.base import Role
from embassay.core.vectors import DenseVectors, Indices, VectorBatch, VectorMatrix
from embassay.models.base import Batch, Route

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TokenIds = NDArray[np.int32]
WINDOW = 32_768
"""Number of texts that are tokenised and sorted together; meanwhile the next ones are tokenised."""
FIRST = 512
"""Number of texts in the first window, which is small because nothing can be encoded before it is tokenised."""
CHUNK = 256
"""Number of texts per call of a tokenizer."""
LEAST = 128
"""The smallest number of tokens for which another core is used."""
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
    def route(self) -> Route:
        """How it computes, for ``run.json``."""
        return {}

    @abstractmethod
    def batches(self, texts: Sequence[str], prompt: str, role: Role) -> Iterator[Batch]:
        """Yield (indices into ``texts``, their (m, d) vectors) of each batch, longest texts first."""


class TokenizerRunner(Runner):
    """A model without torch, whose tokenizer is read from its folder.

    Attributes
    ----------
    one_per_core
        Whether batches run side by side, each on a single thread; otherwise one batch uses all threads.
    vocabulary
        The number of tokens that the model has embeddings for; None if that is not known.
    """

    tokenizer: Tokenizer
    one_per_core: bool = False
    vocabulary: int | None = None

    @abstractmethod
    def forward(self, ids: Sequence[TokenIds]) -> DenseVectors:
        """Return the (n, d) vectors of tokenised texts of equal length."""

    def batches(self, texts: Sequence[str], prompt: str, role: Role) -> Iterator[VectorBatch]:
        """Yield (indices into ``texts``, their (m, d) vectors) of each batch, longest texts first."""
        with ThreadPoolExecutor(1) as tokenizer:
            # While a window is encoded, the next one is tokenised in another thread.
            pending = deque[tuple[Indices, Future[list[TokenIds]]]]()
            for window in windows(texts):
                pending.append((window, tokenizer.submit(self.tokenize, [texts[n] for n in window], prompt)))
                if len(pending) > 1:
                    yield from self._encoded(*pending.popleft())
            while pending:
                yield from self._encoded(*pending.popleft())

    def tokenize(self, texts: Sequence[str], prompt: str) -> list[TokenIds]:
        """Return the token ids of texts with their prompt; of a text without tokens, the vocabulary's first token.

        Raises
        ------
        EncoderError
            For a token without an embedding: the tokenizer belongs to another model.
        """
        ids: list[TokenIds] = []
        for start in range(0, len(texts), CHUNK):
            encodings = self.tokenizer.encode_batch([prompt + text for text in texts[start : start + CHUNK]])
            # int32, because the ids of all texts are in memory at once.
            ids += [np.array(encoding.ids or [0], dtype=np.int32) for encoding in encodings]
        largest = max((int(row.max()) for row in ids), default=0)
        if self.vocabulary is not None and largest >= self.vocabulary:
            raise EncoderError(
                f"the tokenizer returns the id {largest:,}, but the model has {self.vocabulary:,} tokens: "
                "the tokenizer belongs to another model"
            )
        return ids

    def _encoded(self, window: Indices, tokens: Future[list[TokenIds]]) -> Iterator[VectorBatch]:
        """Yield (indices, vectors) of the texts of a window."""
        ids = tokens.result()
        lengths = [len(text) for text in ids]
        limit = self.tokens
        threads: AbstractContextManager[ThreadPoolExecutor] = ThreadPoolExecutor(1)
        if self.one_per_core:
            # If there are few texts, batches are smaller, so that every core has one.
            limit = min(limit, max(LEAST, sum(lengths) // cores()))
            threads = single_threads(max(1, min(cores(), sum(lengths) // LEAST)))

        def forward(places: Indices) -> VectorBatch:
            return window[places], self.forward([ids[n] for n in places])

        with threads as pool:
            futures = deque(pool.submit(forward, places) for places in batches(lengths, limit))
            try:
                while futures:
                    # No name for the future: with an error, it would keep this frame, and so the model, alive.
                    yield futures.popleft().result()
            finally:
                for future in futures:
                    future.cancel()


def read_tokenizer(folder: Path, *, lower: bool = False, limit: int | None = None) -> Tokenizer:
    """Return the tokenizer in ``tokenizer.json``, without padding.

    Parameters
    ----------
    lower
        Whether texts are lower-cased, whatever the tokenizer does.
    limit
        The number of tokens after which texts are truncated; None for no limit.

    Raises
    ------
    ModelNotFoundError
        If the file is damaged, or has no vocabulary.
    EncoderError
        If the limit leaves no room beside the special tokens of every text.
    """
    from tokenizers import Tokenizer, normalizers

    path = folder / "tokenizer.json"
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:
        raise ModelNotFoundError(f"{path}: damaged or not a tokenizer: {error}") from None
    if tokenizer.get_vocab_size() == 0:
        raise ModelNotFoundError(f"{path}: the tokenizer has no vocabulary; download or copy it again")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    if lower:
        others = [] if tokenizer.normalizer is None else [tokenizer.normalizer]
        tokenizer.normalizer = normalizers.Sequence([normalizers.Lowercase(), *others])
    check_limit(limit, len(tokenizer.encode("").ids))
    if limit is not None:
        tokenizer.enable_truncation(limit)
    return tokenizer


def check_limit(limit: int | None, least: int) -> None:
    """Raise EncoderError if a limit leaves no room beside ``least``, the number of special tokens of every text."""
    if limit is not None and limit <= least:
        raise EncoderError(
            f"the limit of {limit} tokens is too short: every text has {least} special tokens; set "
            f"max_length={least + 1} or more"
        )


def check_finite(rows: DenseVectors, place: str = "", advice: str = "") -> None:
    """Raise EncoderError if a vector is not finite; ``place`` and ``advice`` stand around the message."""
    if not np.isfinite(rows).all():
        raise EncoderError(f"{place}the vectors contain NaN or infinity{advice}")


def encode_distinct(texts: Sequence[str], batches: Callable[[list[str]], Iterator[Batch]]) -> VectorMatrix:
    """Return the (n, d) vectors of n > 0 texts, dense or CSR; each distinct text is encoded once.

    Parameters
    ----------
    batches
        Called with the distinct texts; yields (indices into them, their vectors).
    """
    distinct = list(dict.fromkeys(texts))
    # Batches come in any order.
    places, blocks = zip(*batches(distinct), strict=True)
    row_of = {distinct[place]: row for row, place in enumerate(np.concatenate(places))}
    rows = [row_of[text] for text in texts]
    if issparse(blocks[0]):
        return csr_array(vstack(blocks, format="csr")[rows])
    return np.asarray(np.concatenate(blocks)[rows])


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
