"""The runner of sentence-transformers models; the routes are described in ``runner.py``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from embassay.core.errors import EncoderError, reason_of
from embassay.core.vectors import DenseVectors
from embassay.models.neural.model_options import unit
from embassay.models.neural.runner import PROBES, TorchRunner

if TYPE_CHECKING:
    from torch import Tensor

TOGETHER = 32
"""Number of texts per batch of the model's own ``encode``, if texts do not change each other's vectors."""
INPUTS = {"input_ids", "attention_mask", "token_type_ids"}
"""The inputs of a model that reads only tokens."""
UNPADDED = {"text": {"padding": False}, "common": {"return_tensors": None}}
"""Arguments with which sentence-transformers returns token ids without padding."""
AGREE = {"float32": 1e-11, "bfloat16": 1e-3, "float16": 1e-3}
"""The largest distance, 1 − cosine, between the vectors of a text by two routes, for each precision."""


@dataclass(kw_only=True)
class SentenceTransformersRunner(TorchRunner):
    """A ``SentenceTransformer`` on one device.

    Attributes
    ----------
    prompts
        The prompts of all roles. A route must give the right vectors with each of them.
    together
        Number of texts per batch of the model's own ``encode``.
    """

    prompts: Sequence[str]
    together: int = 1

    def fastest(self) -> Self:
        """Choose the route, by the vectors of four probe texts with each prompt; return the runner.

        Raises
        ------
        EncoderError
            If the forced route does not suit this model, or the model cannot encode texts at all.
        """
        backend = self.backend
        try:
            alone = {prompt: self.encode_whole(PROBES, prompt) for prompt in self.prompts}
        except (RuntimeError, TypeError, ValueError, AttributeError, KeyError, IndexError) as error:
            raise EncoderError(f"the model cannot encode texts: {reason_of(error)}") from error
        if backend in ("auto", "torch") and all(self._reads_tokens(prompt, rows) for prompt, rows in alone.items()):
            self.route = "torch"
        elif backend in ("auto", "sentence-transformers"):
            self.route = "sentence-transformers"
            self.together = TOGETHER
            if not all(self._agree(self.encode_whole(PROBES, prompt), rows) for prompt, rows in alone.items()):
                self.together = 1
        else:
            raise EncoderError(f"backend {backend!r} cannot run this model; leave --backend out")
        return self

    def token_ids(self, texts: Sequence[str], prompt: str) -> Iterable[Sequence[int]]:
        """Return the token ids of texts with their prompt, truncated to the model's limit."""
        features = self.model.preprocess(list(texts), prompt=prompt or None, processing_kwargs=UNPADDED)
        ids: list[list[int]] = features["input_ids"]
        return ids

    def encode_whole(self, texts: Sequence[str], prompt: str) -> DenseVectors:
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

    def _reads_tokens(self, prompt: str, alone: DenseVectors) -> bool:
        """Return whether the model reads only tokens, and gives the probes by their tokens the vectors ``alone``."""
        # A pooling that leaves the prompt out needs to know where the prompt ends.
        if any(getattr(module, "include_prompt", True) is False for module in self.model):
            return False
        try:
            features = self.model.preprocess(list(PROBES), prompt=prompt or None)
            if not {name for name, value in features.items() if hasattr(value, "shape")} <= INPUTS:
                return False
            rows = np.concatenate([self.forward([ids]) for ids in self.tokenize(PROBES, prompt)])
        except Exception:
            # The model's own encode has worked, so a failure of whatever kind only means that route.
            return False
        return self._agree(rows, alone)

    def _agree(self, rows: DenseVectors, expected: DenseVectors) -> bool:
        """Return whether two (n, d) sets of vectors have the same directions, up to the model's precision."""
        if rows.shape != expected.shape:
            return False
        # For unit vectors, 1 − cosine is half the squared distance, which loses no digits to cancellation.
        differences = unit(rows) - unit(expected)
        distances = (differences**2).sum(axis=1) / 2
        return bool(distances.max() <= AGREE[self.dtype])

    def _vectors(self, ids: Tensor) -> Tensor:
        import torch

        features = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        return self.model(features)["sentence_embedding"]
