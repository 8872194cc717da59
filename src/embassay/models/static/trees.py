"""Binary trees over the words of a text: from bracketed parses, or from the number of words alone.

Bracketed parses are those of the Penn Treebank, ``(S (NP (DT the) (NN shop)) (VP (VBZ is) (ADJP (JJ open))))``.
Source: Marcus, Santorini, Marcinkiewicz (1993), "Building a large annotated corpus of English: the Penn Treebank".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from embassay.core.errors import SourceError, UnknownNameError
from embassay.core.tables.texts import read_text
from embassay.core.types import sha256_of
from embassay.models.tokens import need_nltk
from embassay.stats.lexical.words import tokens

Tree: TypeAlias = tuple[str | None, ...]
"""The lower-cased words of a text, left to right. None merges the two parts before it: (a (b c)) is a b c None None."""
Merges: TypeAlias = list[tuple[int, int]]
"""The two nodes of each merge. Words are the nodes 0, 1 …; merges are −1, −2 …, each after the merges of its parts."""
TRACE = "-NONE-"
"""The label of traces, which are not words."""
ESCAPED = {
    "-lrb-": "(",
    "-rrb-": ")",
    "-lsb-": "[",
    "-rsb-": "]",
    "-lcb-": "{",
    "-rcb-": "}",
    "``": '"',
    "''": '"',
}
"""The characters for brackets and quotation marks in treebanks, by their lower-cased escapes."""


def right(words: Tree) -> Tree:
    """Return the right-branching tree: (a (b (c d)))."""
    return (*words, *[None] * (len(words) - 1))


def balanced(words: Tree) -> Tree:
    """Return the tree that is split in the middle, with the longer half on the left: ((a b) c)."""
    if len(words) < 2:
        return words
    middle = (len(words) + 1) // 2
    return (*balanced(words[:middle]), *balanced(words[middle:]), None)


def words_of(tree: Tree) -> list[str]:
    """Return the words of a tree."""
    return [word for word in tree if word is not None]


def joined(trees: Sequence[Tree]) -> tuple[Merges, list[int]]:
    """Return the merges of several trees, with the words of all numbered from 0, and the roots of those with words."""
    merges: Merges = []
    nodes: list[int] = []
    word = 0
    for part in chain.from_iterable(trees):
        if part is None:
            second, first = nodes.pop(), nodes.pop()
            merges.append((first, second))
            nodes.append(-len(merges))
        else:
            nodes.append(word)
            word += 1
    # The nodes without a parent are left.
    return merges, nodes


SHAPES = {"right": right, "balanced": balanced}
"""The sources of trees that need the words only."""


def check_source(name: str) -> str:
    """Return a source of trees after checking that it can be used.

    Parameters
    ----------
    name
        ``right``, ``balanced``, or a file of bracketed parses.

    Raises
    ------
    UnknownNameError
        If there is no such source.
    MissingExtraError
        For a file, if nltk, which reads it, is not installed.
    """
    if name not in SHAPES:
        if not Path(name).is_file():
            raise UnknownNameError("source of trees", name, (*SHAPES, "FILE"))
        need_nltk(f"trees={name}")
    return name


def identity(source: str) -> str:
    """Return what trees of this source depend on besides the text: its name, and the content of a file."""
    return source if source in SHAPES else f"{source} {sha256_of(Path(source))}"


def parser(source: str) -> Callable[[str], Tree]:
    """Return the function that returns the tree of a text; it raises ValueError for a text without a parse.

    Raises
    ------
    InputError
        If the source cannot be used, or the file is not one of bracketed parses.
    """
    if check_source(source) in SHAPES:
        shape = SHAPES[source]
        return lambda text: shape(tuple(tokens(text.lower())))
    try:
        trees = read_brackets(read_text(Path(source)))
    except ValueError as error:
        raise SourceError(f"not bracketed parses: {error}", source) from None
    tree_of = {_letters("".join(words_of(tree))): tree for tree in [(), *trees]}

    def find(text: str) -> Tree:
        if _letters(text) not in tree_of:
            raise ValueError(f"{source} has no parse of the text {text[:60]!r}; trees=right needs no parse")
        return tree_of[_letters(text)]

    return find


def read_brackets(text: str) -> list[Tree]:
    """Return the trees of bracketed parses, with lower-cased words and without traces.

    A bracket of more than two parts branches to the right: (a b c) becomes (a (b c)). A bracket of one part is replaced
    by that part.

    Raises
    ------
    ValueError
        If the text is something else than bracketed parses.
    """
    from nltk.tokenize import SExprTokenizer
    from nltk.tree import Tree as Bracket

    brackets = [Bracket.fromstring(part, remove_empty_top_bracketing=True) for part in SExprTokenizer().tokenize(text)]
    return [_binary(bracket) for bracket in brackets]


def _binary(bracket: Any) -> Tree:
    """Return the tree of a bracket of nltk, or of a word."""
    if isinstance(bracket, str):
        return (ESCAPED.get(bracket.lower(), bracket.lower()),)
    if bracket.label() == TRACE:
        return ()
    parts = [part for part in map(_binary, bracket) if part]
    return (*chain.from_iterable(parts), *[None] * (len(parts) - 1))


def _letters(text: str) -> str:
    """Return the letters and digits of a text in lower case: parsers write marks and spaces in their own way."""
    return re.sub(r"\W|_", "", text).lower()
