"""Fill gaps between two texts with a masked language model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from embassay.core.errors import MissingExtraError, ModelNotFoundError

if TYPE_CHECKING:
    from types import ModuleType

    from transformers import PreTrainedModel, PreTrainedTokenizerBase

LIKELIEST = 100
"""The most tokens that are considered for a gap."""
BATCH = 32
"""The number of gaps that the model fills at once."""


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
            import torch
            from transformers import AutoModelForMaskedLM, AutoTokenizer
            from transformers.utils import logging
        except ImportError:
            raise MissingExtraError("a masked language model", "hf") from None
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

    def fills(self, gaps: Sequence[tuple[str, str]]) -> list[tuple[str, ...]]:
        """Return the most likely whole words of each gap, in lower case, the most likely first.

        Word pieces and punctuation are left out. A text that exceeds the model's maximum length is truncated; it has
        no words if the gap is behind that.

        Parameters
        ----------
        gaps
            The texts before and after each.
        """
        texts = [f"{before}{self._tokenizer.mask_token}{after}" for before, after in gaps]
        words = list[tuple[str, ...]]()
        for start in range(0, len(texts), BATCH):
            words += self._of_batch(texts[start : start + BATCH])
        return words

    def _of_batch(self, texts: list[str]) -> Iterator[tuple[str, ...]]:
        """Yield the words of the masks of some texts."""
        encoded = self._tokenizer(texts, return_tensors="pt", truncation=True, padding=True, max_length=self._longest())
        with self._torch.no_grad():
            logits = self._model(**encoded).logits
        for row, tokens in enumerate(encoded["input_ids"].tolist()):
            best = list[int]()
            if self._tokenizer.mask_token_id in tokens:
                scores = logits[row, tokens.index(self._tokenizer.mask_token_id)]
                best = scores.topk(min(LIKELIEST, len(scores))).indices.tolist()
            words = [self._word(token) for token in best]
            yield tuple(word for word in words if word)

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
