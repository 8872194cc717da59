"""Models without torch, for which texts are tokenised here: those of the light route, and exported graphs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from embassay.core.cores import cores, single_threads
from embassay.core.errors import ModelNotFoundError
from embassay.core.samples.base import Role
from embassay.core.vectors import DenseVectors, Indices, VectorBatch
from embassay.models.neural.batching import Runner, batches, check_limit
from embassay.models.neural.modules import transformer_settings

if TYPE_CHECKING:
    from onnxruntime import SessionOptions
    from tokenizers import Tokenizer

LEAST = 128
"""The smallest number of tokens for which another core is used."""


class TokenizerRunner(Runner):
    """A model without torch, whose tokenizer is read from its folder. Each batch runs on one thread, one per core."""

    tokenizer: Tokenizer

    @abstractmethod
    def forward(self, ids: Indices) -> DenseVectors:
        """Return the (n, d) vectors of texts of equal length, from their (n, t) token ids."""

    def batches(self, texts: Sequence[str], prompt: str, role: Role) -> Iterator[VectorBatch]:
        """Yield (indices into ``texts``, their (m, d) vectors) of each batch, longest texts first."""
        encodings = self.tokenizer.encode_batch([prompt + text for text in texts])
        # A text without tokens has the vocabulary's first one: the runtime refuses a token without an embedding.
        ids = [encoding.ids or [0] for encoding in encodings]
        lengths = [len(text) for text in ids]
        # If there are few texts, batches are smaller, so that every core has one.
        limit = min(self.tokens, max(LEAST, sum(lengths) // cores()))
        parts = list(batches(texts, lengths, limit))
        with single_threads(max(1, min(cores(), sum(lengths) // LEAST))) as pool:
            try:
                vectors = pool.map(self.forward, (np.array([ids[n] for n in places]) for places in parts))
                yield from zip(parts, vectors, strict=True)
            finally:
                pool.shutdown(cancel_futures=True)


def session_options() -> SessionOptions:
    """Return the settings of a session that computes on one thread per call."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # It raises its errors, and would also print them.
    options.log_severity_level = 4
    return options


def read_tokenizer(folder: Path, limit: int | None = None) -> Tokenizer:
    """Return the tokenizer in ``tokenizer.json``, without padding; it lower-cases if the settings beside it say so.

    Parameters
    ----------
    limit
        The number of tokens after which texts are truncated; None for no limit.

    Raises
    ------
    ModelNotFoundError
        If the file is damaged.
    EncoderError
        If the limit leaves no room beside the special tokens of every text.
    """
    from tokenizers import Tokenizer, normalizers

    path = folder / "tokenizer.json"
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:
        raise ModelNotFoundError(f"{path}: damaged or not a tokenizer: {error}") from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    if transformer_settings(folder).get("do_lower_case"):
        others = [] if tokenizer.normalizer is None else [tokenizer.normalizer]
        tokenizer.normalizer = normalizers.Sequence([normalizers.Lowercase(), *others])
    check_limit(limit, len(tokenizer.encode("").ids))
    if limit is not None:
        tokenizer.enable_truncation(limit)
    return tokenizer
