"""The sources of trees: brackets in the text or in a file, or only the number of words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from embassay.core.errors import SourceError, UnknownNameError
from embassay.core.tables.texts import read_text
from embassay.core.types import sha256_of
from embassay.models.static.brackets import read
from embassay.models.static.trees import Tree, balanced, right
from embassay.models.tokens import need_nltk
from embassay.stats.lexical.words import tokens

SOURCES = ("brackets", "right", "balanced")
"""Bracketed parses as texts; right-branching trees; trees split in the middle. The other source is a file of bracketed
parses.
"""


def check_source(name: str, place: str) -> str:
    """Return a source of trees after checking that it can be used.

    Parameters
    ----------
    place
        The encoder or command that uses it, for the message.

    Raises
    ------
    MissingExtraError, UnknownNameError
        If nltk is not installed for brackets, or if there is no such source.
    """
    if name not in SOURCES and not Path(name).is_file():
        raise UnknownNameError("source of trees", name, (*SOURCES, "FILE"))
    if name not in SOURCES or name == "brackets":
        need_nltk(f"{place}, trees={name},")
    return name


def identity(source: str) -> str:
    """Return what trees of this source depend on besides the text: its name, and the content of a file."""
    return source if source in SOURCES else f"{source} {sha256_of(Path(source))}"


def parse(texts: Sequence[str], source: str) -> list[Tree]:
    """Return the tree of each text.

    Raises
    ------
    ValueError
        If a text should be a bracketed parse and is none, or a file has no parse of it; its second argument is the
        text's place, from 0.
    """
    if source == "brackets":
        return [_bracketed(text, place) for place, text in enumerate(texts)]
    if source not in SOURCES:
        trees_of_file = _trees_in(source, sha256_of(Path(source)))
        for place, text in enumerate(texts):
            if _letters(text) not in trees_of_file:
                raise ValueError(f"{source} has no parse of a text", place)
        return [trees_of_file[_letters(text)] for text in texts]
    shape_of_length = balanced
    if source == "right":
        shape_of_length = right
    trees = []
    for text in texts:
        text_words = tuple(tokens(text.lower()))
        trees.append(Tree(text_words, shape_of_length(len(text_words))))
    return trees


def _bracketed(text: str, place: int) -> Tree:
    """Return the tree of a bracketed parse; the error for another text has the text's place as second argument."""
    try:
        return read(text)
    except ValueError as error:
        raise ValueError(str(error), place) from None


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
