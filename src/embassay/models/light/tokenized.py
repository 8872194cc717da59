"""Models without torch, for which texts are tokenised here: those of the light route, and exported graphs."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from embassay.core.cores import cores, single_threads
from embassay.core.errors import EncoderError, ModelNotFoundError
from embassay.core.samples.base import Role
from embassay.core.vectors import DenseVectors, Indices, VectorBatch
from embassay.models.neural.batching import CHUNK, Runner, batches, check_limit, windows

if TYPE_CHECKING:
    from onnxruntime import SessionOptions
    from tokenizers import Tokenizer

TokenIds = NDArray[np.int32]
LEAST = 128
"""The smallest number of tokens for which another core is used."""


class TokenizerRunner(Runner):
    """A model without torch, whose tokenizer is read from its folder. Each batch runs on one thread, one per core.

    Attributes
    ----------
    vocabulary
        The number of tokens that the model has embeddings for; None if that is not known.
    """

    tokenizer: Tokenizer
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
        # If there are few texts, batches are smaller, so that every core has one.
        limit = min(self.tokens, max(LEAST, sum(lengths) // cores()))
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


def session_options() -> SessionOptions:
    """Return the settings of a session that computes on one thread per call."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return options


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
