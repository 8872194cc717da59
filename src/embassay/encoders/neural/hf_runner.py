"""How a transformers model is run whose hidden states are pooled here: see ``runner.py`` for the routes."""

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
        Whether each token sees those before it only.
    left, placed
        Whether batches are padded on the left, and whether the model is given the position of each token.
    """

    decoder: bool = False
    left: bool = False
    placed: bool = False

    @property
    def transformer(self) -> PreTrainedModel:
        """The ``transformers`` model."""
        return self.model.model

    def candidates(self) -> Iterator[Self]:
        """Yield a runner for each route that the model may take, the fastest first.

        A decoder is padded as its tokenizer says, with the position of each token. Padding on the right changes no
        position, and under causal attention no token of the text sees it, so that positions need not be given.
        """
        if self.model.layer == -1 and not self.decoder:
            yield replace(self, route="packed")
        if self.decoder:
            left = self.model.tokenizer.padding_side == "left"
            yield replace(self, route="padded", left=left, placed=self.model.takes_positions)
        yield replace(self, route="padded")
        yield replace(self, route="unpadded")

    def agrees(self, alone: Mapping[str, Rows]) -> bool:
        """Say whether the route gives the vectors that the probes have alone; without padding it does."""
        return self.route == "unpadded" or super().agrees(alone)

    def encode_alone(self, texts: Sequence[str], prompt: str) -> Rows:
        """Return the (n, d) vectors of texts that are encoded one by one."""
        return np.concatenate([self.forward([ids]) for ids in self.tokenize(texts, prompt)])

    def tokenize(self, texts: Sequence[str], prompt: str) -> list[Ids]:
        """Return the token ids of each text, cut to what the model reads, without padding."""
        ids: list[Ids] = self.model.tokenize(texts, prompt)
        return ids

    def _padded(self, ids: Sequence[Ids]) -> Tensor:
        return self.model.vectors(ids, self.left, self.placed)

    def _pooled(self, states: Tensor, tokens: np.ndarray) -> Tensor:
        return self.model.pooled(states, tokens, np.ones(tokens.shape, dtype=bool))
