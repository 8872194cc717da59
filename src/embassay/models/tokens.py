"""Tokenizers that keep the case, for encoders with word vectors and for their training."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from embassay.core.errors import MissingExtraError
from embassay.models.base import UnknownWords
from embassay.stats.lexical.words import prepared
from embassay.stats.lexical.words import tokens as words_and_marks

WORD = r"\w+|[^\w\s]"
"""Words and single punctuation marks in fingerprints: of Latin letters, the pattern matches the same."""
TOKENS_VERSION = 2
"""In the fingerprints of encoders whose vectors are kept; to be raised when a text has other tokens."""
Cutting = Literal["words", "treebank"]
CutWords = Callable[[str], list[str]]


def cutter(tokens: Cutting, what: str, *, lower: bool = False) -> CutWords:
    """Return the function that cuts a text into its words.

    Parameters
    ----------
    tokens
        ``words``: words and single punctuation marks (:mod:`embassay.stats.lexical.words`); ``treebank``: nltk's
        ``TreebankWordTokenizer``.
    what
        What the tokens are for, for the message, for example ``"encoder 'words'"``.
    lower
        Lower-case the text first.

    Raises
    ------
    MissingExtraError
        If nltk is wanted and not installed.
    """
    cut = words_and_marks
    if tokens == "treebank":
        need_nltk(f"{what}, tokens=treebank,")
        cut = _treebank
    if lower:
        return lambda text: cut(text.lower())
    return cut


def need_nltk(what: str) -> None:
    """Raise MissingExtraError if nltk, which ``what`` needs, is not installed."""
    if importlib.util.find_spec("nltk") is None:
        raise MissingExtraError(what, "words")


def count_unknown(texts: Iterable[Sequence[str]], is_known: Callable[[str], bool]) -> UnknownWords:
    """Return (number of unknown words, number of words, number of texts without a known word)."""
    unknown = total = texts_without = 0
    for words in texts:
        known_words = sum(1 for word in words if is_known(word))
        unknown += len(words) - known_words
        total += len(words)
        texts_without += known_words == 0
    return unknown, total, texts_without


def _treebank(text: str) -> list[str]:
    """Return the words as nltk's ``TreebankWordTokenizer`` cuts them."""
    from nltk.tokenize.treebank import TreebankWordTokenizer

    words: list[str] = TreebankWordTokenizer().tokenize(prepared(text))
    return words
