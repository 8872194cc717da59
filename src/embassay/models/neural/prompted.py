"""Encoders whose model has a prompt for each role, and options that are applied to finished vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from embassay.core.samples.base import ROLES, Role
from embassay.core.types import Card, Encoder
from embassay.core.vectors import DenseVectors, Indices, VectorBatch
from embassay.models.base import BaseEncoder, Prompts, supported_similarity
from embassay.models.neural.batching import Runner, encode_distinct, run
from embassay.models.neural.model_options import ModelOptions, derived_vectors
from embassay.models.neural.prompts import unprompted_texts

if TYPE_CHECKING:
    from tokenizers import Tokenizer


class PromptedEncoder(BaseEncoder, ABC):
    """A model with a prompt for each role, and with options that are applied to finished vectors.

    A subclass is a frozen dataclass with the field ``options``.
    """

    options: ModelOptions

    @cached_property
    def prompts(self) -> Prompts:
        """The prompt of each role; empty if it has none."""
        return {**self._configured_prompts, **self.options.prompts}

    @property
    def _configured_prompts(self) -> Prompts:
        """The prompts without the options that name others."""
        return dict.fromkeys(ROLES, "")

    @property
    @abstractmethod
    def _model_limit(self) -> int | None:
        """The model's own limit of a text, in tokens; None for no limit."""

    @property
    def max_tokens(self) -> int | None:
        """The number of tokens after which texts are truncated; None for no limit."""
        limits = (self.options.max_length, self._model_limit)
        return min((limit for limit in limits if limit), default=None)

    @property
    @abstractmethod
    def _tokenizer(self) -> Tokenizer:
        """The tokenizer by itself, which neither truncates nor pads: tokens are counted without loading the model."""

    @abstractmethod
    def load_runner(self) -> Runner:
        """Load the model."""

    def encode(self, texts: Sequence[str], role: Role = "text") -> DenseVectors:
        """Return (n, d) float32, each text with its role's prompt; equal texts are encoded once."""
        if not texts:
            return np.zeros((0, self.options.dim or 1), dtype=np.float32)
        return encode_distinct(texts, lambda distinct: self.batches(distinct, role))

    def batches(self, texts: Sequence[str], role: Role) -> Iterator[VectorBatch]:
        """Yield (indices into ``texts``, their (m, d) float32 vectors) of each batch as soon as it is ready."""
        for places, rows in run(self.runner, texts, self.prompts[role]):
            yield places, self.derive(rows)

    def count_tokens(self, texts: Sequence[str], role: Role) -> Indices:
        """Return the number of tokens of each text before truncation, prompt and special tokens included."""
        encodings = self._tokenizer.encode_batch([self.prompts[role] + text for text in texts])
        return np.array([len(encoding.ids) for encoding in encodings], dtype=np.int64)

    @cached_property
    def full(self) -> Self | None:
        """The same model without the options that are applied to finished vectors; None where there are none."""
        if self.options.of_model == self.options:
            return None
        # Each subclass is a dataclass.
        return cast("Self", replace(cast("Any", self), options=self.options.of_model))

    def derive(self, rows: DenseVectors) -> DenseVectors:
        """Return this encoder's vectors from those of :attr:`full`; see :func:`derived_vectors`."""
        return derived_vectors(rows, self.options)

    def prepare(self) -> None:
        """Load the model."""
        _ = self.runner

    def release(self) -> None:
        """Release the loaded model; it is loaded again for the next text."""
        vars(self).pop("runner", None)
        if self.full is not None:
            self.full.release()

    @cached_property
    def runner(self) -> Runner:
        """The loaded model."""
        if self.full is not None:
            return self.full.runner
        return self.load_runner()

    def _describe(self, head: str, similarity: str, warnings: Sequence[str], **known: Any) -> Card:
        """Return the card.

        Parameters
        ----------
        head
            Scheme and target: the spec without options.
        similarity
            The model's own similarity; the option has precedence.
        known
            Other fields of the card.
        """
        prompt_warnings = unprompted_texts(self.prompts)
        if similarity not in ("cosine", "dot") and self.options.similarity is None:
            prompt_warnings.append(f"the model's similarity {similarity!r} is not supported; cosine is used instead")
        spec = [head]
        for name, value in self.options.explicit.items():
            spec.append(f"{name}={'true' if value is True else value}")
        return Card(
            ",".join(spec),
            target=head,
            options=self.options.explicit,
            prompts={role: prompt for role, prompt in self.prompts.items() if prompt},
            max_tokens=self.max_tokens,
            # Each subclass is an encoder.
            full=cast("Encoder | None", self.full),
            warnings=(*warnings, *prompt_warnings),
            similarity=self.options.similarity or supported_similarity(similarity),
            **known,
        )
