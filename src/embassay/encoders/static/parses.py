"""The sources of trees: brackets in the text or in a file, a parser, or only the number of words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from embassay.corpora.io.texts import read_text
from embassay.encoders.objects.user_modules import function_of
from embassay.encoders.static import link_parser
from embassay.encoders.static.brackets import read
from embassay.encoders.static.trees import Tree, balanced, right
from embassay.encoders.tokens import need_nltk
from embassay.errors import EncoderError, SourceError, SpecError, UnknownNameError, reason_of
from embassay.lexical.words import tokens
from embassay.types import sha256_of

SOURCES = ("brackets", "link-parser", "right", "balanced")
"""Bracketed parses as texts; the program ``link-parser``; right-branching trees; trees split in the middle. Other
sources are a file of bracketed parses, and ``python:module:callable``, which takes a list of texts and returns their
parses.
"""
PYTHON = "python:"


@dataclass(frozen=True)
class Parsed:
    """Trees of texts, in their order.

    Attributes
    ----------
    sent
        Number of texts of at least two words that were sent to a parser; 0 without a parser.
    fell_back
        Number of those that it could not parse; they have right-branching trees.
    """

    trees: tuple[Tree, ...]
    sent: int = 0
    fell_back: int = 0


def check_source(name: str, place: str) -> str:
    """Return a source of trees after checking that it can be used.

    Parameters
    ----------
    place
        The encoder or command that uses it, for the message.

    Raises
    ------
    SpecError, MissingExtraError, UnknownNameError
        If its program or nltk is not installed, or if there is no such source.
    """
    if name.startswith(PYTHON):
        function_of(name.removeprefix(PYTHON))
    elif name not in SOURCES and not Path(name).is_file():
        raise UnknownNameError("source of trees", name, (*SOURCES, "FILE", "python:module:callable"))
    if name not in SOURCES or name == "brackets":
        need_nltk(f"{place}, trees={name},")
    if name == "link-parser" and not link_parser.installed():
        raise SpecError(
            f"{place}: the program {link_parser.PROGRAM} is not installed: {link_parser.INSTALL}; "
            "trees=right needs no program"
        )
    return name


def identity(source: str) -> str:
    """Return what trees of this source depend on besides the text: its name, and a parser's version or content."""
    if source == "link-parser":
        return f"{source} {link_parser.version()}"
    if source.startswith(PYTHON):
        return f"{source} {function_of(source.removeprefix(PYTHON))[1]}"
    return source if source in SOURCES else f"{source} {sha256_of(Path(source))}"


def words(texts: Sequence[str], source: str) -> list[tuple[str, ...]]:
    """Return the lower-cased words of each text: the leaves of its brackets, else words and single punctuation marks.

    Raises
    ------
    ValueError
        As :func:`parse`.
    """
    if source == "brackets" or source not in SOURCES:
        return [tree.words for tree in parse(texts, source).trees]
    return [tuple(tokens(text.lower())) for text in texts]


def parse(texts: Sequence[str], source: str) -> Parsed:
    """Return the tree of each text.

    Raises
    ------
    ValueError
        If a text should be a bracketed parse and is none, or a file has no parse of it; its second argument is the
        text's place, from 0.
    EncoderError
        If the parser fails.
    """
    if source.startswith(PYTHON):
        texts = _parses_of(texts, source)
    elif source not in SOURCES:
        trees_of_file = _trees_in(source, sha256_of(Path(source)))
        for place, text in enumerate(texts):
            if _letters(text) not in trees_of_file:
                raise ValueError(f"{source} has no parse of a text", place)
        return Parsed(tuple(trees_of_file[_letters(text)] for text in texts))
    if source == "brackets" or source.startswith(PYTHON):
        return Parsed(tuple(_bracketed(text, place) for place, text in enumerate(texts)))
    all_words = words(texts, source)
    if source != "link-parser":
        shape_of_length = balanced
        if source == "right":
            shape_of_length = right
        return Parsed(tuple(Tree(text_words, shape_of_length(len(text_words))) for text_words in all_words))
    trees = []
    sent = fell_back = 0
    for text_words, tree in zip(all_words, link_parser.parse(texts), strict=True):
        # A text that the parser cannot parse gets a right-branching tree.
        trees.append(tree or Tree(text_words, right(len(text_words))))
        if len(text_words) > 1:
            sent += 1
            fell_back += tree is None
    return Parsed(tuple(trees), sent, fell_back)


def _bracketed(text: str, place: int) -> Tree:
    """Return the tree of a bracketed parse; the error for another text has the text's place as second argument."""
    try:
        return read(text)
    except ValueError as error:
        raise ValueError(str(error), place) from None


def _parses_of(texts: Sequence[str], source: str) -> list[str]:
    """Return the bracketed parses that a callable makes of texts; an empty text has an empty one."""
    function, _ = function_of(source.removeprefix(PYTHON))
    try:
        parses = [str(parse_of_text) for parse_of_text in function(list(texts))]  # type: ignore[attr-defined]
    except Exception as error:
        raise EncoderError(f"trees={source}: {reason_of(error)}") from error
    if len(parses) != len(texts):
        raise EncoderError(f"trees={source}: {len(parses):,} parses of {len(texts):,} texts")
    return parses


@lru_cache(maxsize=1)
def _trees_in(path: str, sha256: str) -> dict[str, Tree]:
    """Return the trees of a file of bracketed parses, which may have several lines each, by the letters of the text.

    Raises
    ------
    SourceError
        If it is not such a file.
    """
    from nltk.tokenize import SExprTokenizer

    try:
        trees = [read(parse_of_text) for parse_of_text in SExprTokenizer().tokenize(read_text(Path(path)))]
    except ValueError as error:
        raise SourceError(str(error), path) from None
    # An empty text has no parse.
    return {"": read("")} | {_letters("".join(tree.words)): tree for tree in trees}


def _letters(text: str) -> str:
    """Return the letters and digits of a text in lower case: parsers write marks and spaces in their own way."""
    return re.sub(r"\W|_", "", text).lower()
