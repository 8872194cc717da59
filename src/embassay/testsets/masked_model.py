"""Fill the gap between two texts with a masked language model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from embassay.errors import MissingExtraError, ModelNotFoundError

if TYPE_CHECKING:
    from types import ModuleType

    from transformers import PreTrainedModel, PreTrainedTokenizerBase

LIKELIEST = 100
"""The most tokens that are considered for a gap."""


class Masked:
    """A masked language model in a local folder, such as ``bert-large-uncased``, on the CPU; nothing is downloaded."""

    def __init__(self, folder: Path):
        """Load the model.

        Raises
        ------
        MissingExtraError
            If transformers or torch is not installed.
        ModelNotFoundError
            If the folder holds no masked language model, or one without the head that predicts words.
        """
        self.name = str(folder)
        try:
            import torch
            from transformers import AutoModelForMaskedLM, AutoTokenizer
            from transformers.utils import logging
        except ImportError:
            raise MissingExtraError("a masked language model", "hf") from None
        if not (folder / "config.json").is_file():
            raise ModelNotFoundError(f"{folder}: not the folder of a masked language model (no config.json)")
        # The library would print a table of the missing weights, which become one message here.
        verbosity = logging.get_verbosity()
        logging.set_verbosity_error()
        try:
            self._tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            model, report = AutoModelForMaskedLM.from_pretrained(
                folder, local_files_only=True, output_loading_info=True
            )
        except (OSError, ValueError) as error:
            raise ModelNotFoundError(f"{folder}: cannot be read as a masked language model: {error}") from None
        finally:
            logging.set_verbosity(verbosity)
        missing = sorted(report["missing_keys"])
        if missing:
            # The library would initialise them randomly.
            problem = f"{len(missing)} weights of its masked language model are missing from the files"
            remedy = "name a folder that has the head, such as that of bert-base-uncased"
            raise ModelNotFoundError(
                f"{folder}: {problem} (first: {missing[0]}), so its words would be random; {remedy}"
            )
        if self._tokenizer.mask_token is None:
            raise ModelNotFoundError(f"{folder}: the tokenizer has no mask token")
        self._model: PreTrainedModel = model.eval()
        self._torch: ModuleType = torch
        # Tokenizers mark either the beginning of a word (Ġ or ▁) or its continuation (##).
        self._marks_beginnings = any(entry.startswith(("Ġ", "▁")) for entry in self._tokenizer.get_vocab())

    def fills(self, before: str, after: str) -> tuple[str, ...]:
        """Return the most likely whole words between two texts, in lower case, the most likely first.

        Word pieces and punctuation are left out. A text that exceeds the model's maximum length is truncated.
        """
        text = f"{before}{self._tokenizer.mask_token}{after}"
        encoded = self._tokenizer(text, return_tensors="pt", truncation=True, max_length=self._longest())
        places = (encoded["input_ids"][0] == self._tokenizer.mask_token_id).nonzero()
        if not len(places):
            return ()
        with self._torch.no_grad():
            logits = self._model(**encoded).logits[0, int(places[0])]
        best = logits.topk(min(LIKELIEST, len(logits))).indices.tolist()
        words = [self._word(token) for token in best]
        return tuple(word for word in words if word)

    def _longest(self) -> int:
        """Return the maximum number of tokens, at most 512."""
        of_tokenizer = int(self._tokenizer.model_max_length)
        of_model = int(self._model.config.max_position_embeddings)
        return min(of_tokenizer, of_model, 512)

    def _word(self, token: int) -> str:
        """Return a token as a word; empty for a word piece that continues a word, and for punctuation."""
        piece = str(self._tokenizer.convert_ids_to_tokens(token))
        begins_word = piece[:1] in "Ġ▁"
        if not begins_word:
            begins_word = not piece.startswith("##") and not self._marks_beginnings
        word = piece.lstrip("Ġ▁")
        return word.lower() if begins_word and word.isalpha() else ""
