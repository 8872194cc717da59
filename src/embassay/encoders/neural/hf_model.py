"""A transformers model with its tokenizer: from texts to tokens, hidden states, and one vector per text."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from embassay.encoders.neural.batching import CHUNK, Ids
from embassay.encoders.neural.pooling import Pooling, pool
from embassay.errors import EncoderError

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


@dataclass
class PooledModel:
    """A model and its tokenizer, with the pooling that turns hidden states into one vector per text.

    Attributes
    ----------
    model
        The loaded model; None if tokens are only counted.
    layer
        The layer whose hidden states are pooled: -1 is the last one, 0 are the embeddings before the first layer.
    template
        A text into which each text is inserted at ``{text}``; empty for the text alone.
    limit
        Texts are truncated after this many tokens; None for no limit.
    ends
        The parts of the template before and after the text.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    pooling: Pooling
    layer: int = -1
    template: str = ""
    limit: int | None = None
    ends: tuple[str, str] = field(init=False)

    def __post_init__(self) -> None:
        """Check that the template contains the tokenizer's mask token, if that token is pooled."""
        before, _, after = self.template.partition("{text}")
        self.ends = before, after
        if self.pooling != "mask":
            return
        mask = self.tokenizer.mask_token
        if mask is None:
            raise EncoderError("pooling=mask cannot be used: the tokenizer has no mask token")
        if self.template.count(mask) != 1:
            raise EncoderError(f"the template must contain the mask token {mask!r} exactly once")

    @property
    def device(self) -> torch.device:
        """The device of the model."""
        return self.model.device

    def count(self, texts: Sequence[str], prompt: str) -> list[int]:
        """Return the number of tokens of each text before truncation, with prompt, template and special tokens."""
        counts = []
        for chunk in self._chunks(texts, prompt):
            counts += [max(1, len(ids)) for ids in self._ids(chunk)]
        return counts

    def tokenize(self, texts: Sequence[str], prompt: str) -> list[Ids]:
        """Return the token ids of each text, truncated to the limit; at least one special token for an empty text.

        Raises
        ------
        EncoderError
            If the tokenizer has more tokens than the model.
        """
        tokenised: list[Ids] = []
        for chunk in self._chunks(texts, prompt):
            if self.template and self.limit:
                # The tokenizer would cut the end of the template.
                all_ids = self._ids(chunk)
                ids = [self._within(text, text_ids) for text, text_ids in zip(chunk, all_ids, strict=True)]
            else:
                ids = self._ids(chunk, self.limit)
            tokenised += [np.asarray(row or [self._nothing], dtype=np.int32) for row in ids]
        largest = max((int(row.max()) for row in tokenised), default=0)
        if self._vocabulary is not None and largest >= self._vocabulary:
            raise EncoderError(
                f"the tokenizer returns the id {largest:,}, but the model has {self._vocabulary:,} tokens: "
                "the tokenizer belongs to another model"
            )
        return tokenised

    def vectors(self, ids: Sequence[Ids], left: bool = False, passes_positions: bool = False) -> Tensor:
        """Return the (n, d) vectors of tokenised texts, encoded as one padded batch.

        Parameters
        ----------
        left
            Pad on the left.
        passes_positions
            Pass the position of each token within its text to the model.
        """
        import torch

        longest = max(len(text) for text in ids)
        tokens = np.full((len(ids), longest), self._padding, dtype=np.int64)
        mask = np.zeros((len(ids), longest), dtype=np.int64)
        for row, text in enumerate(ids):
            start = 0
            if left:
                start = longest - len(text)
            stop = start + len(text)
            tokens[row, start:stop] = text
            mask[row, start:stop] = 1
        features = {"input_ids": torch.from_numpy(tokens), "attention_mask": torch.from_numpy(mask)}
        if passes_positions:
            positions = features["attention_mask"].cumsum(dim=1) - 1
            features["position_ids"] = positions.clamp(min=0)
        on_device = {name: value.to(self.device) for name, value in features.items()}
        states = self._states(on_device)
        return self.pooled(states, tokens, mask)

    def pooled(self, states: Tensor, tokens: np.ndarray, mask: np.ndarray) -> Tensor:
        """Return the (n, d) vectors of (n, length, d) hidden states; ``mask`` (n, length) is 0 for padding tokens."""
        import torch

        real = torch.as_tensor(mask, device=states.device)
        if self.pooling != "mask":
            return pool(states, real, self.pooling)
        marked = torch.as_tensor(tokens == self.tokenizer.mask_token_id, device=states.device)
        return pool(states, real, self.pooling, marked, first=self.tokenizer.mask_token in self.ends[0])

    @cached_property
    def takes_positions(self) -> bool:
        """Whether the model accepts the position of each token."""
        return "position_ids" in inspect.signature(self.model.forward).parameters

    def _states(self, features: Mapping[str, Tensor]) -> Tensor:
        """Return the (n, length, d) hidden states of the layer."""
        # All hidden states together would take much more memory than the last ones.
        if self.layer == -1:
            return self.model(**features).last_hidden_state
        states = self.model(**features, output_hidden_states=True).hidden_states
        if not -len(states) <= self.layer < len(states):
            raise EncoderError(f"layer={self.layer} does not exist: the model has {len(states) - 1} layers")
        return states[self.layer]

    def _chunks(self, texts: Sequence[str], prompt: str) -> Iterator[list[str]]:
        """Yield the texts with their prompt, in chunks that the tokenizer is called with."""
        for start in range(0, len(texts), CHUNK):
            yield [prompt + text for text in texts[start : start + CHUNK]]

    def _ids(self, texts: Sequence[str], limit: int | None = None) -> list[list[int]]:
        """Return the token ids of texts within the template, truncated to ``limit`` tokens if it is set."""
        before, after = self.ends
        encoded = self.tokenizer(
            [f"{before}{text}{after}" for text in texts],
            padding=False,
            return_attention_mask=False,
            truncation=bool(limit),
            max_length=limit,
        )
        ids: list[list[int]] = encoded["input_ids"]
        return ids

    def _within(self, text: str, ids: list[int]) -> list[int]:
        """Return the ids of the longest beginning of a text that fits with the template, which is never truncated."""
        if self.limit is None or len(ids) <= self.limit:
            return ids
        longest_fitting = self._ids([""])[0]
        if len(longest_fitting) > self.limit:
            raise EncoderError(
                f"the template alone has {len(longest_fitting)} tokens, the model's limit is {self.limit}"
            )
        # Bisection over the number of characters: with the template, `fits` characters fit and `exceeds` do not.
        fits, exceeds = 0, len(text)
        while exceeds - fits > 1:
            middle = (fits + exceeds) // 2
            ids = self._ids([text[:middle]])[0]
            if len(ids) <= self.limit:
                fits, longest_fitting = middle, ids
            else:
                exceeds = middle
        return longest_fitting

    @cached_property
    def _vocabulary(self) -> int | None:
        """The number of tokens that the model has embeddings for; None if it has no such attribute."""
        try:
            return int(self.model.get_input_embeddings().weight.shape[0])
        except (AttributeError, NotImplementedError):
            # A model with code of its own may lack the method. Its token ids are then not checked.
            return None

    @cached_property
    def _padding(self) -> int:
        """The token that pads a batch: the padding token, otherwise the end token. The attention mask hides it.

        If the model has no embedding for either, because they were added to the tokenizer later, it is token 0.
        """
        for token in (self.tokenizer.pad_token_id, self.tokenizer.eos_token_id):
            if token is not None and (self._vocabulary is None or token < self._vocabulary):
                return int(token)
        return 0

    @cached_property
    def _nothing(self) -> int:
        """The token of a text without tokens: the start token, otherwise the end token or the padding token."""
        tokenizer = self.tokenizer
        for token in (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id):
            if token is not None:
                return int(token)
        raise EncoderError("a text has no tokens, and the tokenizer has no special token to use in their place")
