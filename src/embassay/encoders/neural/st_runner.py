"""How a sentence-transformers model is run: see ``runner.py`` for the routes."""

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
"""Texts that sentence-transformers encodes at a time, where they do not change each other."""
INPUTS = {"input_ids", "attention_mask", "token_type_ids"}
"""The inputs of a model that takes tokens and nothing else."""
AS_THEY_ARE = {"text": {"padding": False}, "common": {"return_tensors": None}}
"""What makes sentence-transformers return token ids without padding."""


@dataclass
class SentenceTransformersRunner(Runner):
    """A ``SentenceTransformer`` on one device.

    Attributes
    ----------
    side
        Where batches are padded.
    together
        Texts that the model's own ``encode`` is given at a time.
    """

    side: str = "right"
    together: int = 1

    @property
    def transformer(self) -> PreTrainedModel | None:
        """The ``transformers`` model; None where there is none."""
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
        """Say whether the route gives the vectors that the probes have alone; the model's own ``encode`` always may."""
        if self.route != "sentence-transformers":
            return all(map(self._takes_only_tokens, alone)) and super().agrees(alone)
        self.together = TOGETHER
        same = all(self.agree(self.encode_whole(PROBES, prompt), rows) for prompt, rows in alone.items())
        if self._border is not None or not same:
            self.together = 1
        return True

    def encode_alone(self, texts: Sequence[str], prompt: str) -> Rows:
        """Return the (n, d) vectors of texts that the model's own ``encode`` is given one by one."""
        return self.encode_whole(texts, prompt)

    def tokenize(self, texts: Sequence[str], prompt: str) -> list[Ids]:
        """Return the token ids of each text, cut to what the model reads, without padding."""
        ids: list[Ids] = []
        for start in range(0, len(texts), CHUNK):
            chunk = list(texts[start : start + CHUNK])
            features = self.model.preprocess(chunk, prompt=prompt or None, processing_kwargs=AS_THEY_ARE)
            ids += [np.array(text, dtype=np.int32) for text in features["input_ids"]]
        return ids

    def encode_whole(self, texts: Sequence[str], prompt: str) -> Rows:
        """Return the (n, d) vectors by the model's own ``encode``."""
        rows = self.model.encode(
            list(texts),
            batch_size=self.together,
            # The empty prompt too: without one the library puts in the model's default.
            prompt=prompt,
            convert_to_tensor=True,
            show_progress_bar=False,
        )
        return self._finished(rows)

    def _takes_only_tokens(self, prompt: str) -> bool:
        """Say whether tokens are all that the model is given: no images, no place where a prompt ends."""
        if any(getattr(module, "include_prompt", True) is False for module in self.model):
            return False
        features = self.model.preprocess(list(PROBES), prompt=prompt or None)
        tensors = {name for name, value in features.items() if hasattr(value, "shape")}
        return tensors <= INPUTS

    def _padded(self, ids: Sequence[Ids]) -> Tensor:
        tokens = {"input_ids": [text.tolist() for text in ids]}
        batch = self.model.tokenizer.pad(tokens, padding_side=self.side, return_tensors="pt")
        features = {name: value.to(self.model.device) for name, value in batch.items() if name in INPUTS}
        return self.model(features)["sentence_embedding"]

    def _pooled(self, states: Tensor, tokens: np.ndarray) -> Tensor:
        """Return the vectors of hidden states by the modules after the transformer."""
        import torch

        mask = torch.ones(states.shape[:2], dtype=torch.long)
        features = {"token_embeddings": states, "attention_mask": mask}
        for module in list(self.model)[1:]:
            features = module(features)
        return features["sentence_embedding"]
