"""How a neural model encodes with torch: texts with the same number of tokens share a batch, so none is padded.

A text then has the vector that it has alone, up to rounding, whatever a model does with masks, with positions, and with
the side on which its tokenizer would pad. Rounding does depend on the number of texts in a batch, because it selects
the kernel of a product; so no route with torch promises equal bits.

``torch``
    Tokens are made here. For models that read only tokens.
``sentence-transformers``
    The model's own ``encode``, for models whose input is not only tokens; one text at a time if a text's vector depends
    on its batch. For ``st:`` only.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from embassay.core.errors import EncoderError
from embassay.core.vectors import DenseVectors
from embassay.models.neural.batching import Runner, TokenIds, check_finite

if TYPE_CHECKING:
    from torch import Tensor

ROUTES = ("torch", "sentence-transformers")
TOKENS_ON_CPU = 1_024
TOKENS_ON_DEVICE = 16_384
"""Number of tokens in a batch, on the CPU and on other devices; halved when memory runs out."""
LONGER = "A longer sentence, of rather more words than the two that stand before it here."
PROBES = ("No.", "It is not open.", LONGER, " ".join([LONGER] * 6))
"""A route must give these texts the vectors that the model gives them alone."""


@dataclass(kw_only=True)
class TorchRunner(Runner):
    """A loaded model on one device; :attr:`tokens` is lowered when memory runs out.

    Attributes
    ----------
    dtype
        The precision of the model.
    backend
        The forced route, or ``auto``.
    """

    model: Any
    dtype: str = "float32"
    backend: str = "auto"
    route: str = "torch"

    def __post_init__(self) -> None:
        """Set the size of batches for the device."""
        self.device = str(self.model.device)
        self.tokens = TOKENS_ON_CPU if self.device == "cpu" else TOKENS_ON_DEVICE

    @abstractmethod
    def _vectors(self, ids: Tensor) -> Tensor:
        """Return the (n, d) vectors of (n, length) token ids on the model's device."""

    def forward(self, ids: Sequence[TokenIds]) -> DenseVectors:
        """Return the (n, d) vectors of tokenised texts of equal length. If memory runs out, the batch is halved.

        Raises
        ------
        EncoderError
            If a single text does not fit into memory, or a vector is not finite.
        """
        import torch

        try:
            with torch.inference_mode():
                batch = torch.from_numpy(np.stack(ids).astype(np.int64))
                return self._finished(self._vectors(batch.to(self.model.device)))
        except (RuntimeError, MemoryError) as error:
            if not _out_of_memory(error):
                raise
        if len(ids) < 2:
            raise EncoderError(f"a text of {len(ids[0]):,} tokens does not fit into memory; set max_length=")
        # Computed from this batch, so that several threads that fail at the same time set the same limit.
        self.tokens = max(1, min(self.tokens, len(ids) * len(ids[0]) // 2))
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        middle = len(ids) // 2
        return np.concatenate([self.forward(ids[:middle]), self.forward(ids[middle:])])

    def _finished(self, rows: Tensor) -> DenseVectors:
        """Return (n, d) vectors as float32.

        Raises
        ------
        EncoderError
            If one is not finite.
        """
        vectors = np.asarray(rows.float().cpu().numpy(), dtype=np.float32)
        # Half precision overflows earlier than float32.
        check_finite(vectors, advice="" if self.dtype == "float32" else "; set dtype=float32")
        return vectors


def _out_of_memory(error: BaseException) -> bool:
    text = str(error).lower()
    return isinstance(error, MemoryError) or "out of memory" in text or "can't allocate memory" in text
