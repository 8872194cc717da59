"""Binary trees over the words of a text: from bracketed parses, or from the number of words alone.

Bracketed parses are those of the Penn Treebank, ``(S (NP (DT the) (NN shop)) (VP (VBZ is) (ADJP (JJ open))))``.
Source: Marcus, Santorini, Marcinkiewicz (1993), "Building a large annotated corpus of English: the Penn Treebank".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from embassay.core.errors import EncoderError, SourceError, UnknownNameError
from embassay.core.store.hashes import sha256_of
from embassay.core.tables.texts import read_text
from embassay.stats.lexical.words import tokens

Tree: TypeAlias = tuple[str | None, ...]
"""The lower-cased words of a text, left to right. None merges the two parts before it: (a (b c)) is a b c None None."""
Merges: TypeAlias = list[tuple[int, int]]
"""The two nodes of each merge. Words are the nodes 0, 1 …; merges are −1, −2 …, each after the merges of its parts."""
TRACE = re.compile(r"\(\s*-NONE-\s[^()]*\)")
"""A trace, which is no word."""
PART = re.compile(r"(\()\s*[^\s()]*|([^\s()]+)|\)")
"""An opening bracket with its label, a word, or a closing bracket."""
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


def identity(source: str) -> str:
    """Return what trees of this source depend on besides the text: its name, or the content of the file."""
    return source if source in SHAPES else sha256_of(Path(source))


def parser(source: str) -> Callable[[str], Tree]:
    """Return the function that returns the tree of a text; it raises EncoderError for a text without a parse.

    Parameters
    ----------
    source
        ``right``, ``balanced``, or a file of bracketed parses.

    Raises
    ------
    UnknownNameError
        If there is no such source.
    SourceError
        If the file is not one of bracketed parses.
    """
    if source in SHAPES:
        shape = SHAPES[source]
        return lambda text: shape(tuple(tokens(text.lower())))
    if not Path(source).is_file():
        raise UnknownNameError("source of trees", source, (*SHAPES, "FILE"))
    tree_of = {letters("".join(words_of(tree))): tree for tree in [(), *read_brackets(Path(source))]}

    def find(text: str) -> Tree:
        tree = tree_of.get(letters(text))
        if tree is None:
            raise EncoderError(f"{source} has no parse of the text {text[:60]!r}; trees=right needs no parse")
        return tree

    return find


def read_brackets(path: Path) -> list[Tree]:
    """Return the trees of bracketed parses, with lower-cased words and without traces.

    A bracket of more than two parts branches to the right: (a b c) becomes (a (b c)). A bracket of one part is replaced
    by that part.

    Raises
    ------
    SourceError
        If the file is something else than bracketed parses.
    """
    # The trees so far of the file, and of each bracket that is open.
    opened: list[list[Tree]] = [[]]
    for bracket, word in PART.findall(TRACE.sub("", read_text(path))):
        if bracket:
            opened.append([])
        elif len(opened) == 1:
            raise SourceError(f"not bracketed parses: {word or ')'!r} is in no bracket", path)
        elif word:
            opened[-1].append((ESCAPED.get(word.lower(), word.lower()),))
        elif parts := opened.pop():
            opened[-1].append((*chain(*parts), *[None] * (len(parts) - 1)))
    if len(opened) > 1:
        raise SourceError("not bracketed parses: a bracket is not closed", path)
    return opened[0]


def letters(text: str) -> str:
    """Return the letters and digits of a text in lower case: parsers write marks and spaces in their own way."""
    return re.sub(r"\W|_", "", text).lower()
