"""Models that sentence-transformers runs: loaded, checked for missing weights, and fed texts of equal length."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from embassay.core.errors import EncoderError, first_line_of
from embassay.core.samples.base import Role
from embassay.core.vectors import DenseVectors
from embassay.models.base import Batch, Route
from embassay.models.neural.batching import (
    TOKENS_ON_CPU,
    TOKENS_ON_DEVICE,
    Runner,
    batches,
    check_limit,
)
from embassay.models.neural.model_files import tensors

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

BACKENDS = ("auto", "light", "torch")
"""What ``--backend`` may name."""
UNUSED = ("pooler", "lm_head", "position_ids")
"""Parts of the names of tensors that may be missing, because no vector depends on them."""
NOISY = ("transformers", "sentence_transformers", "accelerate", "datasets")
"""Libraries that report what is no business of the user."""


@dataclass
class LibraryRunner(Runner):
    """A model of sentence-transformers on one device; :attr:`tokens` is lowered when memory runs out.

    Its own ``encode`` makes the vectors, so that all that its files say is done.

    Attributes
    ----------
    limit
        The number of tokens after which texts are truncated; None for no limit.
    truncates
        Whether longer texts are truncated, and not refused: truncation would cut a template.
    """

    model: Any
    limit: int | None = None
    truncates: bool = True
    tokens: int = field(init=False)

    def __post_init__(self) -> None:
        """Set the size of batches for the device, and the limit of the model's tokenizer."""
        self.tokens = TOKENS_ON_CPU if self.model.device.type == "cpu" else TOKENS_ON_DEVICE
        if self.limit and self.limit != self.model.max_seq_length:
            self.model.max_seq_length = self.limit
        if self._tokenizer is not None:
            check_limit(self.limit, len(self._tokenizer("")["input_ids"]))

    @cached_property
    def _tokenizer(self) -> PreTrainedTokenizerBase | None:
        """The tokenizer of the model's transformer, which may be that of documents only; None without a transformer."""
        tokenizers = [getattr(module, "tokenizer", None) for module in self.model.modules()]
        return next(filter(callable, tokenizers), None)

    @property
    def route(self) -> Route:
        """How it computes, for ``run.json``."""
        return {
            "device": str(self.model.device),
            "dtype": str(self.model.dtype).removeprefix("torch."),
            "backend": "torch",
            "tokens_per_batch": self.tokens,
            "batch_invariant": False,
        }

    def batches(self, texts: Sequence[str], prompt: str, role: Role) -> Iterator[Batch]:
        """Yield (indices into ``texts``, their (m, d) vectors) of each batch, longest texts first."""
        lengths = self._lengths([prompt + text for text in texts])
        for places in batches(texts, lengths, self.tokens):
            # The model cannot encode a text without any token.
            full = [texts[n] if lengths[n] else self._nothing() for n in places]
            yield places, self.encode(full, prompt, role)

    def encode(self, texts: list[str], prompt: str, role: Role) -> DenseVectors:
        """Return the (n, d) float32 vectors of texts of equal length. If memory runs out, the batch is halved.

        Raises
        ------
        EncoderError
            If a single text does not fit into memory.
        """
        # An empty prompt is passed too, because the library would use the model's default prompt for None.
        options = {"prompt": prompt, "task": None if role == "text" else role, "batch_size": len(texts)}
        try:
            rows = self.model.encode(texts, convert_to_tensor=True, show_progress_bar=False, **options)
            vectors: DenseVectors = rows.to_dense().float().cpu().numpy()
            return vectors
        except RuntimeError as error:
            if "memory" not in str(error):
                raise
            if len(texts) == 1:
                raise EncoderError("a text does not fit into memory; set max_length=") from error
            self.tokens = max(1, self.tokens // 2)
            middle = len(texts) // 2
            return np.concatenate([self.encode(half, prompt, role) for half in (texts[:middle], texts[middle:])])

    def _lengths(self, texts: list[str]) -> list[int]:
        """Return the number of tokens of each text; 1 for a model without a transformer.

        Raises
        ------
        EncoderError
            If a text is longer than the limit and may not be truncated.
        """
        if self._tokenizer is None:
            return [1] * len(texts)
        ids = self._tokenizer(texts, truncation=self.truncates, verbose=False)["input_ids"]
        lengths = list(map(len, ids))
        if not self.truncates and self.limit and max(lengths) > self.limit:
            raise EncoderError(
                f"a text has {max(lengths)} tokens with the template, and the limit is {self.limit}: only texts "
                "without a template are truncated"
            )
        return lengths

    def _nothing(self) -> str:
        """Return the text for a text without tokens: the start token, otherwise the end or the padding token."""
        tokenizer: Any = self._tokenizer
        return tokenizer.bos_token or tokenizer.eos_token or tokenizer.pad_token or ""


def check_weights(model: PreTrainedModel, folder: Path, unused: Sequence[str] = UNUSED) -> None:
    """Raise an error if weights of a loaded model are missing from the files of its folder: they are random then.

    A name may also be absent because the weight is tied to another one or was renamed. Only the library knows, and
    then loads the model once more.

    Raises
    ------
    EncoderError
        With the number of missing weights and the names of the first ones.
    """
    stored = {name for name, _ in tensors(folder)}
    prefix = f"{model.base_model_prefix}."

    def is_used(name: str) -> bool:
        return not any(part in name for part in unused)

    # The files of a model with a head have the name of the base model before each name.
    absent = [n for n in model.state_dict() if not stored & {n, prefix + n, n.removeprefix(prefix)}]
    if not any(map(is_used, absent)):
        return
    _, info = type(model).from_pretrained(
        str(folder), config=model.config, local_files_only=True, output_loading_info=True
    )
    missing = sorted(filter(is_used, info["missing_keys"]))
    if missing:
        raise EncoderError(
            f"{len(missing)} of the model's weights are missing from its files (first: {', '.join(missing[:3])})"
        )


def available_device(device: str) -> str:
    """Return the name of a device for torch; for ``auto``, the fastest kind that is available.

    Raises
    ------
    EncoderError
        If the device is not available.
    """
    import torch

    if device == "auto":
        from sentence_transformers.util import get_device_name

        return str(get_device_name())
    try:
        torch.zeros(1, device=device)
    except Exception as error:
        # Of whatever kind: torch has another one for each kind of device.
        raise EncoderError(f"device {device!r} is not available ({first_line_of(error)}); leave --device out") from None
    return device


@contextmanager
def quiet() -> Iterator[None]:
    """Hide the progress bars of transformers, and the messages of the libraries around it; errors are still raised."""
    from transformers.utils import logging as transformers_logging

    has_bars = transformers_logging.is_progress_bar_enabled()
    transformers_logging.disable_progress_bar()
    try:
        with quiet_loggers(*NOISY):
            yield
    finally:
        if has_bars:
            transformers_logging.enable_progress_bar()


@contextmanager
def quiet_loggers(*names: str) -> Iterator[None]:
    """Hide the messages that libraries log under these names."""
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
