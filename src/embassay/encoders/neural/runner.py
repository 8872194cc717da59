"""How a neural model encodes batches: by the fastest route with which each text gets the vector that it has alone.

``packed``
    BERT on the CPU: the texts of a batch are concatenated without padding (``packed.py``); one batch per core.
``padded``
    Texts are sorted by their number of tokens, so that there is little padding. It is on the side that the tokenizer
    prefers, or on the right if that side changes vectors.
``unpadded``
    Only texts of equal length share a batch, for models whose vectors change with padding.
``sentence-transformers``
    The model's own ``encode``, for models whose input is not only tokens; one text at a time if a text's vector depends
    on its batch. For ``st:`` only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from embassay.encoders.neural.batching import (
    TOKENS,
    TOKENS_ON_DEVICE,
    Ids,
    Rows,
    border_of,
    groups,
    in_groups,
    run,
)
from embassay.encoders.neural.packed import PackedBert
from embassay.errors import EncoderError

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

Route = Literal["packed", "padded", "unpadded", "sentence-transformers"]
ROUTES: tuple[Route, ...] = ("packed", "padded", "unpadded", "sentence-transformers")
LONGER = "A longer sentence, of rather more words than the two that stand before it here."
PROBES = ("No.", "It is not open.", LONGER, " ".join([LONGER] * 6))
OTHERS = tuple(" ".join(["It is not open."] * n) for n in (1, 2, 3, 5, 8, 13, 21))
"""Texts of other lengths; the probes must have the same vectors in a batch with them as alone."""
AGREE = {"float32": 1e-11, "bfloat16": 1e-3, "float16": 1e-3}
"""The largest distance, 1 − cosine, between the vector of a text by a route and alone, for each precision."""
FAILURES = (EncoderError, RuntimeError, AttributeError, KeyError, IndexError, TypeError, ValueError)
"""Exceptions that a model may raise on a route that does not suit it."""


@dataclass(frozen=True)
class RunnerOptions:
    """What a route is checked with, and what is done to the vectors.

    Attributes
    ----------
    prompts
        The prompts of all roles. A route must give the right vectors with each of them.
    dtype
        The precision of the model.
    backend
        The forced route, or ``auto`` for the fastest.
    normalize, dim
        Whether vectors are scaled to unit length, and how many leading dimensions are kept (None: all).
    """

    prompts: Sequence[str]
    dtype: str = "float32"
    backend: str = "auto"
    normalize: bool = False
    dim: int | None = None


@dataclass
class Runner(ABC):
    """A loaded model on one device, with the route by which it encodes.

    Attributes
    ----------
    tokens
        Maximum number of tokens in a batch; it is lowered when memory runs out.
    packed
        The model's layers for the route ``packed``; None for other routes.
    batch_invariant
        Whether a text has the same vector in every batch, bit by bit.
    """

    model: Any
    options: RunnerOptions
    route: Route = "unpadded"
    tokens: int = 0
    packed: PackedBert | None = field(default=None, repr=False)
    batch_invariant: bool = False

    @property
    def device(self) -> str:
        """The device of the model."""
        return str(self.model.device)

    def fastest(self) -> Self:
        """Return a runner with the first route that gives each of four probe texts the vector that it has alone.

        If a backend is forced, only that route is tried.

        Raises
        ------
        EncoderError
            If the forced route does not suit this model, or the model cannot encode texts at all.
        """
        self.tokens = TOKENS.get(self.device.partition(":")[0], TOKENS_ON_DEVICE)
        prompts = self.options.prompts
        try:
            alone = {prompt: self.encode_alone(PROBES, prompt) for prompt in prompts}
        except (RuntimeError, TypeError, ValueError, AttributeError, KeyError, IndexError) as error:
            raise EncoderError(f"the model cannot encode texts: {type(error).__name__}: {error}") from error
        for runner in self.candidates():
            if self.options.backend in ("auto", runner.route) and runner.agrees(alone):
                prompt = ""
                if prompts:
                    prompt = prompts[0]
                runner.batch_invariant = is_batch_invariant(runner, prompt)
                return runner
        raise EncoderError(f"backend {self.options.backend!r} cannot run this model; leave --backend out")

    @abstractmethod
    def candidates(self) -> Iterator[Self]:
        """Yield a runner for each possible route, fastest first."""

    @abstractmethod
    def encode_alone(self, texts: Sequence[str], prompt: str) -> Rows:
        """Return the (n, d) vectors of texts, encoded one at a time."""

    @abstractmethod
    def tokenize(self, texts: Sequence[str], prompt: str) -> list[Ids]:
        """Return the token ids of each text with its prompt, truncated to the model's limit, without padding."""

    @property
    @abstractmethod
    def transformer(self) -> PreTrainedModel | None:
        """The ``transformers`` model; None if there is none."""

    @abstractmethod
    def _padded(self, ids: Sequence[Ids]) -> Tensor:
        """Return the (n, d) vectors of tokenised texts, encoded as one padded batch."""

    @abstractmethod
    def _pooled(self, states: Tensor, tokens: np.ndarray) -> Tensor:
        """Return the (n, d) vectors of texts of equal length: (n, length, d) hidden states, (n, length) token ids."""

    def agrees(self, alone: Mapping[str, Rows]) -> bool:
        """Return whether the probes get the same vectors by this route as ``alone``, which has them for each prompt."""
        try:
            if self.route == "packed":
                if not PackedBert.fits(self.transformer):
                    return False
                self.packed = PackedBert(self.transformer)
            for prompt, rows in alone.items():
                if not self.agree(self.forward(self.tokenize(PROBES, prompt)), rows):
                    return False
        except FAILURES:
            # A route that a model does not support fails in many ways. The last route, one text at a time, has already
            # worked, so a failure here only means a slower route.
            return False
        return True

    def agree(self, rows: Rows, expected: Rows) -> bool:
        """Return whether two (n, d) sets of vectors have the same directions, up to the model's precision."""
        if rows.shape != expected.shape or not np.isfinite(rows).all():
            return False
        # For unit vectors, 1 − cosine is half the squared distance, which loses no digits to cancellation.
        differences = _unit(rows) - _unit(expected)
        distances = (differences**2).sum(axis=1) / 2
        return bool(distances.max() <= AGREE[self.options.dtype])

    def forward(self, ids: Sequence[Ids]) -> Rows:
        """Return the (n, d) vectors of tokenised texts. If memory runs out, the batch is halved.

        Raises
        ------
        EncoderError
            If a single text does not fit into memory, or a vector is not finite.
        """
        import torch

        try:
            with torch.inference_mode():
                parts = groups(ids, equal_lengths=self.route == "unpadded", border=self._border)
                return self._finished(in_groups(ids, parts, self._batch))
        except (RuntimeError, MemoryError) as error:
            if not _out_of_memory(error):
                raise
            if len(ids) < 2:
                raise EncoderError(
                    f"a text of {len(ids[0]):,} tokens does not fit into memory; set max_length="
                ) from None
        # Computed from this batch, so that several threads that fail at the same time set the same limit.
        size = len(ids) * max(len(text) for text in ids)
        self.tokens = max(1, min(self.tokens, size // 2))
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        middle = len(ids) // 2
        return np.concatenate([self.forward(ids[:middle]), self.forward(ids[middle:])])

    def encode_whole(self, texts: Sequence[str], prompt: str) -> Rows:
        """Return the (n, d) vectors of texts as one batch."""
        return self.forward(self.tokenize(texts, prompt))

    def _batch(self, ids: Sequence[Ids]) -> Tensor:
        """Return the (n, d) vectors of tokenised texts, which are in ascending order of their lengths."""
        if self.packed is None:
            return self._padded(ids)
        return self._packed(self.packed, ids)

    def _packed(self, packed: PackedBert, ids: Sequence[Ids]) -> Tensor:
        """Return the (n, d) vectors of texts by the route ``packed``; texts of equal length are pooled together.

        With padding, the last bits of a text's sum would depend on the longest text of its batch.
        """
        import torch

        states = packed(ids)
        rows = []
        for _, group in groupby(range(len(ids)), key=lambda n: len(ids[n])):
            places = list(group)
            tokens = np.stack([ids[n] for n in places])
            rows.append(self._pooled(torch.stack([states[n] for n in places]), tokens))
        return torch.cat(rows)

    @cached_property
    def _border(self) -> int | None:
        return border_of(getattr(self.transformer, "config", None))

    def _finished(self, rows: Tensor) -> Rows:
        """Return (n, d) vectors as float32, first cut to ``dim``, then scaled, as sentence-transformers does."""
        import torch

        rows = rows[:, : self.options.dim]
        if self.options.normalize:
            rows = torch.nn.functional.normalize(rows, p=2, dim=1)
        vectors = np.asarray(rows.float().cpu().numpy(), dtype=np.float32)
        if not np.isfinite(vectors).all():
            # Half precision overflows earlier than float32.
            advice = "; set dtype=float32"
            if self.options.dtype == "float32":
                advice = ""
            raise EncoderError(f"the vectors contain NaN or infinity{advice}")
        return vectors


def is_batch_invariant(runner: Runner, prompt: str) -> bool:
    """Return whether texts have bit-identical vectors alone, together and among others.

    Only the packed route can have this property. On other routes the shape of the batch selects the kernel of a
    product, so a few probes would prove nothing.
    """
    if runner.route != "packed":
        return False

    def encoded(texts: Sequence[str]) -> Rows:
        rows: dict[int, Rows] = {}
        for places, vectors in run([runner], texts, prompt):
            rows.update(zip(places.tolist(), vectors, strict=True))
        return np.stack([rows[place] for place in range(len(texts))])

    alone = np.concatenate([encoded([text]) for text in PROBES])
    together = encoded(PROBES)
    among_others = encoded([*OTHERS, *PROBES])[len(OTHERS) :]
    return np.array_equal(alone, together) and np.array_equal(alone, among_others)


def _unit(rows: Rows) -> NDArray[np.float64]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows.astype(np.float64) / np.maximum(lengths, 1e-12))


def _out_of_memory(error: BaseException) -> bool:
    text = str(error).lower()
    return isinstance(error, MemoryError) or "out of memory" in text or "can't allocate memory" in text
