"""The runner of transformers models (``hf:``); the routes are described in ``runner.py``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from embassay.encoders.neural.batching import Ids, Rows
from embassay.encoders.neural.runner import Route, Runner

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

ROUTES: tuple[Route, ...] = ("packed", "padded", "unpadded")


@dataclass
class PooledRunner(Runner):
    """A :class:`PooledModel` on one device.

    Attributes
    ----------
    decoder
        Whether a token attends only to the tokens before it.
    left, passes_positions
        Whether batches are padded on the left, and whether the model gets the position of each token.
    """

    decoder: bool = False
    left: bool = False
    passes_positions: bool = False

    @property
    def transformer(self) -> PreTrainedModel:
        """The ``transformers`` model."""
        return self.model.model

    def candidates(self) -> Iterator[Self]:
        """Yield a runner for each route that the model may take, the fastest first.

        The caller takes the first one whose vectors agree with those of texts encoded alone.
        """
        # A packed batch gives the states of the last layer only, and its attention is not causal.
        if self.model.layer == -1 and not self.decoder:
            yield replace(self, route="packed")
        if self.decoder:
            # Padding on the left shifts the tokens of a text, so the model needs their positions.
            pads_left = self.model.tokenizer.padding_side == "left"
            yield replace(self, route="padded", left=pads_left, passes_positions=self.model.takes_positions)
        # Padding on the right needs no positions: it shifts no token, and under causal attention no token of the text
        # attends to it.
        yield replace(self, route="padded")
        yield replace(self, route="unpadded")

    def agrees(self, alone: Mapping[str, Rows]) -> bool:
        """Return whether the probes get the same vectors by this route as alone; always True without padding."""
        return self.route == "unpadded" or super().agrees(alone)

    def encode_alone(self, texts: Sequence[str], prompt: str) -> Rows:
        """Return the (n, d) vectors of texts, encoded one at a time."""
        return np.concatenate([self.forward([ids]) for ids in self.tokenize(texts, prompt)])

    def tokenize(self, texts: Sequence[str], prompt: str) -> list[Ids]:
        """Return the token ids of each text with its prompt, truncated to the model's limit, without padding."""
        ids: list[Ids] = self.model.tokenize(texts, prompt)
        return ids

    def _padded(self, ids: Sequence[Ids]) -> Tensor:
        return self.model.vectors(ids, self.left, self.passes_positions)

    def _pooled(self, states: Tensor, tokens: np.ndarray) -> Tensor:
        return self.model.pooled(states, tokens, np.ones(tokens.shape, dtype=bool))
