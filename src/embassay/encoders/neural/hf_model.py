"""A loaded transformers model and its tokenizer: texts to tokens, tokens to hidden states, states to vectors."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from embassay.encoders.neural.batching import CHUNK, Ids
from embassay.encoders.neural.pooling import Pooling, pool
from embassay.errors import EncoderError


@dataclass
class PooledModel:
    """A loaded model, its tokenizer, and how its hidden states become one vector.

    Attributes
    ----------
    layer
        Whose hidden states: -1 is the last; 0 the embeddings, before any layer.
    template
        What a text is put into, at ``{text}``; the text alone where empty.
    limit
        The most tokens that it reads; None for no limit.
    """

    model: Any
    tokenizer: Any
    pooling: Pooling
    layer: int = -1
    template: str = ""
    limit: int | None = None
    ends: tuple[str, str] = field(init=False)

    def __post_init__(self) -> None:
        """Check that the template holds the tokenizer's mask token, where that is what is read."""
        before, _, after = self.template.partition("{text}") if self.template else ("", "", "")
        self.ends = before, after
        if self.pooling != "mask":
            return
        mask = self.tokenizer.mask_token
        if mask is None:
            raise EncoderError("pooling=mask was asked for, but its tokenizer has no mask token")
        if self.template.count(mask) != 1:
            raise EncoderError(f"its mask token is {mask!r}: the template has to hold it once")

    @property
    def device(self) -> Any:
        """Where tokens have to be put."""
        return self.model.device

    def count(self, texts: Sequence[str], prompt: str) -> list[int]:
        """Return the number of tokens of each text, uncut, with prompt, template and special tokens."""
        return [max(1, n) for part in self._chunks(texts, prompt) for n in map(len, self._ids(part))]

    def tokenize(self, texts: Sequence[str], prompt: str) -> list[Ids]:
        """Return the token ids of each text, cut to what the model reads; of one without tokens, a special one.

        Raises
        ------
        EncoderError
            If the tokenizer knows tokens that the model does not.
        """
        found: list[Ids] = []
        for part in self._chunks(texts, prompt):
            if self.template and self.limit:
                ids = [self._within(text, row) for text, row in zip(part, self._ids(part), strict=True)]
            else:
                ids = self._ids(part, self.limit)
            found += [np.asarray(row or [self._nothing], dtype=np.int32) for row in ids]
        largest = max((int(row.max()) for row in found), default=0)
        if self._known is not None and largest >= self._known:
            raise EncoderError(
                f"its tokenizer gives the number {largest:,}, its model knows {self._known:,} tokens: "
                "they do not belong together"
            )
        return found

    def vectors(self, ids: Sequence[Ids], left: bool = False, placed: bool = False) -> Any:
        """Return the (n, d) vectors of tokenised texts in one padded batch, a tensor.

        Parameters
        ----------
        left
            Pad on the left.
        placed
            Tell the model at which position of its text each token stands.
        """
        import torch

        tokens, own = _padded(ids, self._padding, left)
        features = {"input_ids": torch.from_numpy(tokens), "attention_mask": torch.from_numpy(own)}
        if placed:
            features["position_ids"] = (features["attention_mask"].cumsum(dim=1) - 1).clamp(min=0)
        states = self._states({name: value.to(self.device) for name, value in features.items()})
        return self.pooled(states, tokens, own)

    def pooled(self, states: Any, tokens: Any, own: Any) -> Any:
        """Return the (n, d) vectors of (n, length, d) hidden states, of padded tokens and their mask."""
        import torch

        mask = torch.as_tensor(own, device=states.device)
        if self.pooling != "mask":
            return pool(states, mask, self.pooling)
        marked = torch.as_tensor(tokens == self.tokenizer.mask_token_id, device=states.device)
        return pool(states, mask, self.pooling, marked, first=self.tokenizer.mask_token in self.ends[0])

    @cached_property
    def takes_positions(self) -> bool:
        """Whether the model can be told where each token stands."""
        return "position_ids" in inspect.signature(self.model.forward).parameters

    def _states(self, features: Mapping[str, Any]) -> Any:
        if self.layer == -1:
            return self.model(**features).last_hidden_state
        states = self.model(**features, output_hidden_states=True).hidden_states
        if not -len(states) <= self.layer < len(states):
            raise EncoderError(f"it has {len(states) - 1} layers, layer={self.layer} is none of them")
        return states[self.layer]

    def _chunks(self, texts: Sequence[str], prompt: str) -> list[list[str]]:
        return [[prompt + text for text in texts[start : start + CHUNK]] for start in range(0, len(texts), CHUNK)]

    def _ids(self, texts: Sequence[str], limit: int | None = None) -> list[list[int]]:
        before, after = self.ends
        cut = {"truncation": True, "max_length": limit} if limit else {"truncation": False}
        texts = [f"{before}{text}{after}" for text in texts]
        found: list[list[int]] = self.tokenizer(texts, padding=False, return_attention_mask=False, **cut)["input_ids"]
        return found

    def _within(self, text: str, ids: list[int]) -> list[int]:
        """Return the ids of the longest beginning of a text that fits with its template: the template is never cut."""
        if self.limit is None or len(ids) <= self.limit:
            return ids
        short, long, found = 0, len(text), self._ids([""])[0]
        if len(found) > self.limit:
            raise EncoderError(f"the template alone takes {len(found)} tokens, it reads {self.limit}")
        while long - short > 1:
            middle = (short + long) // 2
            ids = self._ids([text[:middle]])[0]
            short, long, found = (middle, long, ids) if len(ids) <= self.limit else (short, middle, found)
        return found

    @cached_property
    def _known(self) -> int | None:
        """How many tokens the model has embeddings of; None where that cannot be told."""
        try:
            return int(self.model.get_input_embeddings().weight.shape[0])
        except (AttributeError, NotImplementedError):
            return None

    @cached_property
    def _padding(self) -> int:
        """What fills a batch up, which the attention does not see: the padding token, else the end token.

        A tokenizer may have got its padding token later than the model its embeddings; then any token does.
        """
        t = self.tokenizer
        known = [int(n) for n in (t.pad_token_id, t.eos_token_id) if n is not None]
        return next((n for n in known if self._known is None or n < self._known), 0)

    @cached_property
    def _nothing(self) -> int:
        """What stands for a text without tokens: the start token, else the end token, else the padding token."""
        t = self.tokenizer
        found = next((int(n) for n in (t.bos_token_id, t.eos_token_id, t.pad_token_id) if n is not None), None)
        if found is None:
            raise EncoderError("a text has no tokens, and its tokenizer has no special token that could stand for it")
        return found


def _padded(ids: Sequence[Ids], filling: int, left: bool) -> tuple[Any, Any]:
    """Return the (n, length) tokens of a batch, filled up on one side, and the mask of what is not filling."""
    length = max(map(len, ids))
    tokens = np.full((len(ids), length), filling, dtype=np.int64)
    own = np.zeros((len(ids), length), dtype=np.int64)
    for row, text in enumerate(ids):
        part = slice(length - len(text), None) if left else slice(len(text))
        tokens[row, part], own[row, part] = text, 1
    return tokens, own
