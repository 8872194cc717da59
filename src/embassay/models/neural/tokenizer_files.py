"""The tokenizer in a model's folder (``tokenizer.json``), and the limits of texts in tokens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from embassay.core.errors import EncoderError, ModelNotFoundError
from embassay.models.neural.batching import Runner

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def read_tokenizer(folder: Path, *, lower: bool = False, limit: int | None = None) -> Tokenizer:
    """Return the tokenizer in ``tokenizer.json``, without padding.

    Parameters
    ----------
    lower
        Whether texts are lower-cased, whatever the tokenizer does.
    limit
        The number of tokens after which texts are truncated; None for no limit.

    Raises
    ------
    ModelNotFoundError
        If the file is damaged, or has no vocabulary.
    EncoderError
        If the limit leaves no room beside the special tokens of every text.
    """
    from tokenizers import Tokenizer, normalizers

    path = folder / "tokenizer.json"
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:
        raise ModelNotFoundError(f"{path}: damaged or not a tokenizer: {error}") from None
    if tokenizer.get_vocab_size() == 0:
        raise ModelNotFoundError(f"{path}: the tokenizer has no vocabulary; download or copy it again")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    if lower:
        others = [] if tokenizer.normalizer is None else [tokenizer.normalizer]
        tokenizer.normalizer = normalizers.Sequence([normalizers.Lowercase(), *others])
    check_limit(limit, len(tokenizer.encode("").ids))
    if limit is not None:
        tokenizer.enable_truncation(limit)
    return tokenizer


def check_limit(limit: int | None, least: int) -> None:
    """Raise EncoderError if a limit leaves no room beside ``least``, the number of special tokens of every text."""
    if limit is not None and limit <= least:
        raise EncoderError(
            f"the limit of {limit} tokens is too short: every text has {least} special tokens; set "
            f"max_length={least + 1} or more"
        )


class TokenizerRunner(Runner):
    """A model whose tokenizer is read from its folder."""

    tokenizer: Tokenizer

    def token_ids(self, texts: Sequence[str], prompt: str) -> list[list[int]]:
        """Return the token ids of texts with their prompt; of a text without tokens, the vocabulary's first token."""
        encodings = self.tokenizer.encode_batch([prompt + text for text in texts])
        return [encoding.ids or [0] for encoding in encodings]
