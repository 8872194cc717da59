"""A transformers model with its tokenizer: from texts to tokens, hidden states, and one vector per text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from embassay.core.errors import EncoderError
from embassay.models.neural.runner import TorchRunner

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedTokenizerBase

Pooling = Literal["mean", "cls", "max", "last", "mask", "pooler"]


@dataclass(kw_only=True)
class PooledRunner(TorchRunner):
    """A model and its tokenizer, with the pooling that turns hidden states into one vector per text.

    Attributes
    ----------
    layer
        The layer whose hidden states are pooled: -1 is the last one, 0 are the embeddings before the first layer.
    template
        A text into which each text is inserted at ``{text}``; empty for the text alone.
    limit
        Texts are truncated after this many tokens; None for no limit.
    """

    tokenizer: PreTrainedTokenizerBase
    pooling: Pooling
    layer: int
    template: str
    limit: int | None

    def __post_init__(self) -> None:
        """Check the backend, and that the template has the tokenizer's mask token if it is pooled."""
        super().__post_init__()
        # A model with code of its own may lack the method. Its token ids are then not checked.
        with suppress(AttributeError, NotImplementedError):
            self.vocabulary = int(self.model.get_input_embeddings().weight.shape[0])
        if self.backend not in ("auto", "torch"):
            raise EncoderError(f"backend {self.backend!r} cannot run this model; leave --backend out")
        if self.pooling == "mask":
            mask = self.tokenizer.mask_token
            if mask is None:
                raise EncoderError("pooling=mask cannot be used: the tokenizer has no mask token")
            if self.template.count(mask) != 1:
                raise EncoderError(f"the template must contain the mask token {mask!r} exactly once")

    def token_ids(self, texts: Sequence[str], prompt: str) -> Iterable[Sequence[int]]:
        """Return the token ids of texts, truncated to the limit; one special token for an empty text."""
        prompted = [prompt + text for text in texts]
        if self.template and self.limit:
            # The tokenizer would cut the end of the template.
            all_ids = templated_ids(self.tokenizer, self.template, prompted)
            rows = [self._within(text, ids, self.limit) for text, ids in zip(prompted, all_ids, strict=True)]
        else:
            rows = templated_ids(self.tokenizer, self.template, prompted, self.limit)
        return [row or [self._nothing] for row in rows]

    def _vectors(self, ids: Tensor) -> Tensor:
        """Return the (n, d) float32 vectors of (n, length) token ids.

        ======  =====================================================================================
        mean    the mean over the text's tokens
        max     the maximum of each coordinate over the text's tokens
        cls     the text's first token
        last    the text's last token
        mask    the mask token of PromptBERT's template (Jiang et al. 2022, section 3)
        pooler  the first token after the model's own pooling layer, as SimCSE's supervised models have it
        ======  =====================================================================================
        """
        import torch

        features = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        if self.pooling == "pooler":
            pooled: Tensor = self.model(**features).pooler_output
            return pooled.float()
        states = self._states(features).float()
        if self.pooling == "mean":
            return states.mean(dim=1)
        if self.pooling == "max":
            return states.amax(dim=1)
        if self.pooling == "cls":
            return states[:, 0]
        if self.pooling == "last":
            return states[:, -1]
        # A text may contain the mask token, too: that of the template is the first or the last one.
        is_mask = (ids == self.tokenizer.mask_token_id).int()
        places = ids.shape[1] - 1 - is_mask.flip(1).argmax(dim=1)
        if str(self.tokenizer.mask_token) in self.template.partition("{text}")[0]:
            places = is_mask.argmax(dim=1)
        return states[torch.arange(len(states)), places.to(states.device)]

    def _states(self, features: dict[str, Tensor]) -> Tensor:
        """Return the (n, length, d) hidden states of the layer."""
        # All hidden states together would take much more memory than the last ones.
        if self.layer == -1:
            return self.model(**features).last_hidden_state
        states = self.model(**features, output_hidden_states=True).hidden_states
        if not -len(states) <= self.layer < len(states):
            raise EncoderError(f"layer={self.layer} does not exist: the model has {len(states) - 1} layers")
        return states[self.layer]

    def _within(self, text: str, ids: list[int], limit: int) -> list[int]:
        """Return the ids of the longest beginning of a text that fits with the template, which is never truncated."""
        if len(ids) <= limit:
            return ids

        def beginning(characters: int) -> list[int]:
            return templated_ids(self.tokenizer, self.template, [text[:characters]])[0]

        template_alone = len(beginning(0))
        if template_alone > limit:
            raise EncoderError(f"the template alone has {template_alone} tokens, the model's limit is {limit}")
        return beginning(bisect_right(range(1, len(text)), limit, key=lambda n: len(beginning(n))))

    @cached_property
    def _nothing(self) -> int:
        """The token of a text without tokens: the start token, otherwise the end token or the padding token."""
        tokenizer = self.tokenizer
        for token in (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id):
            if token is not None:
                return int(token)
        raise EncoderError("a text has no tokens, and the tokenizer has no special token to use in their place")


def templated_ids(
    tokenizer: PreTrainedTokenizerBase, template: str, texts: Sequence[str], limit: int | None = None
) -> list[list[int]]:
    """Return the token ids of texts within a template, truncated to ``limit`` tokens if it is set."""
    encoded: Any = tokenizer(
        [within(template, text) for text in texts],
        padding=False,
        return_attention_mask=False,
        truncation=bool(limit),
        max_length=limit,
    )
    ids: list[list[int]] = encoded["input_ids"]
    return ids


def within(template: str, text: str) -> str:
    """Return a text within a template; the text alone if that is empty."""
    return template.replace("{text}", text) if template else text
