"""What a masked language model would put between two texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from embassay.errors import MissingExtraError, ModelNotFoundError

if TYPE_CHECKING:
    from types import ModuleType

    from transformers import PreTrainedModel, PreTrainedTokenizerBase

LIKELIEST = 100
"""Fills that are returned, at most."""


class Masked:
    """A masked language model in a local folder, such as ``bert-large-uncased``, on the CPU; nothing is downloaded."""

    def __init__(self, folder: Path):
        """Load the model.

        Raises
        ------
        MissingExtraError
            If transformers or torch is not installed.
        ModelNotFoundError
            If the folder holds no masked language model.
        """
        self.name = str(folder)
        try:
            import torch
            from transformers import AutoModelForMaskedLM, AutoTokenizer
        except ImportError:
            raise MissingExtraError("a masked language model", "hf") from None
        if not (folder / "config.json").is_file():
            raise ModelNotFoundError(f"{folder}: not the folder of a masked language model (no config.json)")
        try:
            self._tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            self._model: PreTrainedModel = AutoModelForMaskedLM.from_pretrained(folder, local_files_only=True).eval()
        except (OSError, ValueError) as error:
            raise ModelNotFoundError(f"{folder}: cannot be read as a masked language model: {error}") from None
        if self._tokenizer.mask_token is None:
            raise ModelNotFoundError(f"{folder}: the tokenizer has no mask token")
        self._torch: ModuleType = torch

    def fills(self, before: str, after: str) -> tuple[str, ...]:
        """Return the likeliest whole words between two texts, in lower case, the likeliest first.

        Word pieces and punctuation are left out. A text that is longer than the model reads is cut.
        """
        text = f"{before}{self._tokenizer.mask_token}{after}"
        encoded = self._tokenizer(text, return_tensors="pt", truncation=True, max_length=self._longest())
        places = (encoded["input_ids"][0] == self._tokenizer.mask_token_id).nonzero()
        if not len(places):
            return ()
        with self._torch.no_grad():
            logits = self._model(**encoded).logits[0, int(places[0])]
        best = logits.topk(min(LIKELIEST, len(logits))).indices.tolist()
        return tuple(word for token in best if (word := self._word(token)))

    def _longest(self) -> int:
        return min(int(self._tokenizer.model_max_length), int(self._model.config.max_position_embeddings), 512)

    def _word(self, token: int) -> str:
        """Return a token as a word; empty for a piece of one, or a mark."""
        piece = str(self._tokenizer.convert_ids_to_tokens(token))
        begins = piece[:1] in "Ġ▁" or not (piece.startswith("##") or self._marks_beginnings())
        word = piece.lstrip("Ġ▁")
        return word.lower() if begins and word.isalpha() else ""

    def _marks_beginnings(self) -> bool:
        """Say whether the tokenizer marks a word's beginning rather than its continuation."""
        return any(str(piece).startswith(("Ġ", "▁")) for piece in list(self._tokenizer.get_vocab())[:2000])
