"""The sources of trees: brackets in the text, a parser, or only the number of words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from embassay.encoders.static import link_parser
from embassay.encoders.static.brackets import read
from embassay.encoders.static.trees import Tree, balanced, right
from embassay.encoders.tokens import WORD, need_nltk
from embassay.errors import SpecError, UnknownNameError

TreeSource = Literal["brackets", "link-parser", "right", "balanced"]
"""Bracketed parses as texts; the program ``link-parser``; right-branching trees; trees split in the middle."""
SOURCES: tuple[TreeSource, ...] = get_args(TreeSource)


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


def check_source(name: str, place: str) -> TreeSource:
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
    if name not in SOURCES:
        raise UnknownNameError("source of trees", name, SOURCES)
    source: TreeSource = name
    if source == "brackets":
        need_nltk(f"{place}, trees=brackets,")
    if source == "link-parser" and not link_parser.installed():
        raise SpecError(
            f"{place}: the program {link_parser.PROGRAM} is not installed: {link_parser.INSTALL}; "
            "trees=right needs no program"
        )
    return source


def identity(source: TreeSource) -> str:
    """Return what trees of this source depend on besides the text: its name, and the version of a parser."""
    if source == "link-parser":
        return f"{source} {link_parser.version()}"
    return source


def words(texts: Sequence[str], source: TreeSource) -> list[tuple[str, ...]]:
    """Return the lower-cased words of each text: the leaves of its brackets, else words and single punctuation marks.

    Raises
    ------
    ValueError
        As :func:`parse`.
    """
    if source == "brackets":
        return [_bracketed(text, place).words for place, text in enumerate(texts)]
    return [tuple(re.findall(WORD, text.lower())) for text in texts]


def parse(texts: Sequence[str], source: TreeSource) -> Parsed:
    """Return the tree of each text.

    Raises
    ------
    ValueError
        If a text should be a bracketed parse and is none; its second argument is the text's place, from 0.
    EncoderError
        If the parser fails.
    """
    if source == "brackets":
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
