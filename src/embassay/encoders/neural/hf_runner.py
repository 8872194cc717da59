"""How a transformers model is run: by the fastest route that gives what each text gives alone.

``packed``
    A BERT encoder on the CPU, without padding (``_packed``), a batch on each core.
``padded``
    Texts sorted by their number of tokens; on the side that the tokenizer says, else on the right.
``unpadded``
    Texts of one length at a time, for models that padding changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any, Literal

import numpy as np

from embassay.encoders.neural.company import Ids, border_of, groups
from embassay.encoders.neural.hf_model import PooledModel
from embassay.encoders.neural.packed import PackedBert
from embassay.encoders.neural.runner import (
    AGREE,
    PROBES,
    TOKENS,
    TOKENS_ON_DEVICE,
    Rows,
    agree,
    finished,
    in_groups,
    is_batch_invariant,
    within_memory,
)
from embassay.errors import EncoderError

Route = Literal["packed", "padded", "unpadded"]
ROUTES: tuple[Route, ...] = ("packed", "padded", "unpadded")


@dataclass
class PooledRunner:
    """A loaded model on one device, and how it is run.

    Attributes
    ----------
    tokens
        The most tokens of a batch.
    left, placed
        Whether batches are padded on the left, and whether the model is told where each token stands.
    batch_invariant
        Whether a text has the same vector in every batch, bit by bit.
    """

    model: PooledModel
    normalize: bool = False
    dim: int | None = None
    route: Route = "unpadded"
    tokens: int = 0
    left: bool = False
    placed: bool = False
    packed: Any = field(default=None, repr=False)
    batch_invariant: bool = False

    @classmethod
    def of(
        cls, model: PooledModel, dtype: str, prompt: str, forced: str, normalize: bool, dim: int | None, decoder: bool
    ) -> PooledRunner:
        """Take the first route that gives what each of four texts gives alone, or the one that is forced.

        Raises
        ------
        EncoderError
            If the forced route is not for this model, or it cannot be run on tokens alone.
        """
        tokens = TOKENS.get(str(model.device).partition(":")[0], TOKENS_ON_DEVICE)
        try:
            ids = sorted(model.tokenize(PROBES, prompt), key=len)
            own = np.concatenate([cls(model, normalize, dim).forward([row]) for row in ids])
        except (RuntimeError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise EncoderError(f"it cannot be run on texts: {type(error).__name__}: {error}") from error
        for route, left, placed in _candidates(model, decoder):
            found = cls(model, normalize, dim, route, tokens, left, placed)
            if forced in ("auto", route) and found._works(ids, own, AGREE[dtype]):
                found.batch_invariant = is_batch_invariant(found, prompt)
                return found
        raise EncoderError(f"the backend {forced!r} is not for this model; leave --backend out")

    def tokenize(self, texts: Sequence[str], prompt: str) -> list[Ids]:
        """Return the token ids of each text, cut to what the model reads, without padding."""
        return self.model.tokenize(texts, prompt)

    def forward(self, ids: Sequence[Ids]) -> Rows:
        """Return the (n, d) vectors of tokenised texts; where memory does not suffice, in halves."""
        return within_memory(self, ids, self._rows)

    def whole(self, texts: Sequence[str], prompt: str) -> Rows:
        """Return the (n, d) vectors of texts."""
        return self.forward(self.tokenize(texts, prompt))

    def _works(self, ids: Sequence[Ids], own: Rows, within: float) -> bool:
        if self.route == "unpadded":
            return True
        try:
            if self.route == "packed":
                self.packed = PackedBert(self.model.model)
            return agree(self.forward(ids), own, within)
        except (EncoderError, RuntimeError, AttributeError, KeyError, IndexError, TypeError, NotImplementedError):
            return False

    def _rows(self, ids: Sequence[Ids]) -> Rows:
        """Return the (n, d) vectors; texts are put in the order of their lengths, and back."""
        parts = groups(ids, self.route == "unpadded", self._border)
        return finished(in_groups(ids, parts, self._batch), self.dim, self.normalize, self.model.model.dtype)

    @cached_property
    def _border(self) -> int | None:
        return border_of(self.model.model.config)

    def _batch(self, ids: Sequence[Ids]) -> Any:
        if self.route != "packed":
            return self.model.vectors(ids, self.left, self.placed)
        import torch

        states = self.packed(ids)
        pooled = []
        # Without any padding: a sum over positions would depend on the longest text of the batch in the last bits.
        for length, places in groupby(range(len(ids)), key=lambda n: len(ids[n])):
            same = list(places)
            tokens = np.stack([ids[n] for n in same]).astype(np.int64)
            own = np.ones((len(same), length), dtype=bool)
            pooled.append(self.model.pooled(torch.stack([states[n] for n in same]), tokens, own))
        return torch.cat(pooled)


def _candidates(model: PooledModel, decoder: bool) -> Iterator[tuple[Route, bool, bool]]:
    """Yield (route, whether it pads on the left, whether it tells positions), the fastest first.

    A decoder is padded as its tokenizer says, each token's position said; padding on the right moves no position, and
    under causal attention no token of the text sees it, so that needs nothing to be said.
    """
    if model.layer == -1 and not decoder and PackedBert.fits(model.model):
        yield "packed", False, False
    if decoder:
        yield "padded", model.tokenizer.padding_side == "left", model.takes_positions
    yield "padded", False, False
    yield "unpadded", False, False
