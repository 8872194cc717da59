"""Fill a gap between two texts with a masked language model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from embassay.core.errors import MissingExtraError, ModelNotFoundError

if TYPE_CHECKING:
    from transformers import FillMaskPipeline, PreTrainedTokenizerBase

LIKELIEST = 100
"""The most tokens that are considered for a gap."""


class Masked:
    """A masked language model such as ``bert-large-uncased``, the one of HEROS, on the CPU."""

    def __init__(self, folder: Path, name: str):
        """Load the model.

        Parameters
        ----------
        folder, name
            Its files, and its name on the data card.

        Raises
        ------
        MissingExtraError
            If transformers or torch is not installed.
        ModelNotFoundError
            If it is no masked language model or lacks the head that predicts words.
        """
        self.name = name
        try:
            from transformers import AutoModelForMaskedLM, AutoTokenizer, FillMaskPipeline
        except ImportError:
            raise MissingExtraError("a masked language model", "hf") from None
        try:
            self._tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            model, report = AutoModelForMaskedLM.from_pretrained(
                folder, local_files_only=True, output_loading_info=True
            )
        except (OSError, ValueError) as error:
            raise ModelNotFoundError(f"{folder}: cannot be read as a masked language model: {error}") from None
        if report["missing_keys"]:
            # The library would initialise them randomly.
            problem = f"weights of its masked language model are missing (first: {min(report['missing_keys'])})"
            raise ModelNotFoundError(f"{folder}: {problem}; name a folder that has them, as bert-base-uncased has")
        self._pipeline: FillMaskPipeline = FillMaskPipeline(model=model.eval(), tokenizer=self._tokenizer, device="cpu")
        # Tokenizers mark either the beginning of a word (Ġ or ▁) or its continuation (##).
        self._marks_beginnings = any(entry.startswith(("Ġ", "▁")) for entry in self._tokenizer.get_vocab())

    def fills(self, before: str, after: str) -> tuple[str, ...]:
        """Return the most likely whole words between two texts, in lower case, the most likely first.

        Word pieces and punctuation are left out.
        """
        text = f"{before}{self._tokenizer.mask_token}{after}"
        guesses = self._pipeline(text, top_k=min(LIKELIEST, len(self._tokenizer)))
        pieces = self._tokenizer.convert_ids_to_tokens([guess["token"] for guess in guesses])
        words = [self._word(piece) for piece in pieces]
        return tuple(word for word in words if word)

    def _word(self, piece: str) -> str:
        """Return a token as a word; empty for a word piece that continues a word, and for punctuation."""
        begins_word = piece[:1] in "Ġ▁" if self._marks_beginnings else not piece.startswith("##")
        word = piece.lstrip("Ġ▁")
        return word.lower() if begins_word and word.isalpha() else ""
