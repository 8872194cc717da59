"""The runner of sentence-transformers models; the routes are described in ``runner.py``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from embassay.encoders.neural.batching import CHUNK, Ids, Rows
from embassay.encoders.neural.runner import PROBES, Runner

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

TOGETHER = 32
"""Number of texts per batch of the model's own ``encode``, if texts do not change each other's vectors."""
INPUTS = {"input_ids", "attention_mask", "token_type_ids"}
"""The inputs of a model that reads only tokens."""
UNPADDED = {"text": {"padding": False}, "common": {"return_tensors": None}}
"""Arguments with which sentence-transformers returns token ids without padding."""


@dataclass
class SentenceTransformersRunner(Runner):
    """A ``SentenceTransformer`` on one device.

    Attributes
    ----------
    side
        The side on which batches are padded.
    together
        Number of texts per batch of the model's own ``encode``.
    """

    side: str = "right"
    together: int = 1

    @property
    def transformer(self) -> PreTrainedModel | None:
        """The ``transformers`` model; None if there is none."""
        return getattr(self.model[0], "model", None)

    def candidates(self) -> Iterator[Self]:
        """Yield a runner for each route that the model may take, the fastest first."""
        side = getattr(getattr(self.model, "tokenizer", None), "padding_side", "right")
        yield replace(self, route="packed", side=side)
        yield replace(self, route="padded", side=side)
        if side != "right":
            yield replace(self, route="padded", side="right")
        yield replace(self, route="unpadded", side=side)
        yield replace(self, route="sentence-transformers", side=side)

    def agrees(self, alone: Mapping[str, Rows]) -> bool:
        """Return whether the probes get the same vectors by this route as alone; True for the model's own ``encode``.

        For that route, this also decides whether it may encode several texts together.
        """
        if self.route != "sentence-transformers":
            return all(map(self._takes_only_tokens, alone)) and super().agrees(alone)
        self.together = TOGETHER
        for prompt, rows in alone.items():
            if self._border is not None or not self.agree(self.encode_whole(PROBES, prompt), rows):
                self.together = 1
                break
        return True

    def encode_alone(self, texts: Sequence[str], prompt: str) -> Rows:
        """Return the (n, d) vectors of texts by the model's own ``encode``, one text at a time."""
        return self.encode_whole(texts, prompt)

    def tokenize(self, texts: Sequence[str], prompt: str) -> list[Ids]:
        """Return the token ids of each text with its prompt, truncated to the model's limit, without padding."""
        ids: list[Ids] = []
        for start in range(0, len(texts), CHUNK):
            chunk = list(texts[start : start + CHUNK])
            features = self.model.preprocess(chunk, prompt=prompt or None, processing_kwargs=UNPADDED)
            # int32, because the ids of all texts are in memory at once.
            ids += [np.array(text, dtype=np.int32) for text in features["input_ids"]]
        return ids

    def encode_whole(self, texts: Sequence[str], prompt: str) -> Rows:
        """Return the (n, d) vectors by the model's own ``encode``."""
        rows = self.model.encode(
            list(texts),
            batch_size=self.together,
            # An empty prompt is passed too, because the library would use the model's default prompt for None.
            prompt=prompt,
            convert_to_tensor=True,
            show_progress_bar=False,
        )
        return self._finished(rows)

    def _takes_only_tokens(self, prompt: str) -> bool:
        """Return whether the model reads only tokens: no images, and no position at which the prompt ends."""
        for module in self.model:
            # The pooling leaves the prompt out, so it needs to know where the prompt ends.
            if getattr(module, "include_prompt", True) is False:
                return False
        features = self.model.preprocess(list(PROBES), prompt=prompt or None)
        tensors = {name for name, value in features.items() if hasattr(value, "shape")}
        return tensors <= INPUTS

    def _padded(self, ids: Sequence[Ids]) -> Tensor:
        """Return the (n, d) vectors of tokenised texts, encoded as one padded batch."""
        tokens = {"input_ids": [text.tolist() for text in ids]}
        batch = self.model.tokenizer.pad(tokens, padding_side=self.side, return_tensors="pt")
        features = {name: value.to(self.model.device) for name, value in batch.items() if name in INPUTS}
        return self.model(features)["sentence_embedding"]

    def _pooled(self, states: Tensor, tokens: np.ndarray) -> Tensor:
        """Return the (n, d) vectors that the modules after the transformer make of its hidden states."""
        import torch

        mask = torch.ones(states.shape[:2], dtype=torch.long)
        features = {"token_embeddings": states, "attention_mask": mask}
        for module in list(self.model)[1:]:
            features = module(features)
        return features["sentence_embedding"]
