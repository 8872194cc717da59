"""Bracketed parses, Penn Treebank style: ``(S (NP (DT the) (NN shop)) (VP (VBZ is) (ADJP (JJ open))))``.

Source: Marcus, Santorini, Marcinkiewicz (1993), "Building a large annotated corpus of English: the Penn Treebank".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from embassay.models.static.trees import Nested, Tree, binarised

if TYPE_CHECKING:
    from nltk.tree import Tree as ParseTree

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


def read(line: str) -> Tree:
    """Return the tree of a bracketed parse, with lower-cased words and without traces.

    Raises
    ------
    ValueError
        If the line is not a bracketed parse.
    """
    from nltk.tree import Tree as ParseTree

    if not line.strip():
        return binarised([])
    try:
        return binarised(_words(ParseTree.fromstring(line, read_leaf=_read_leaf)))
    except ValueError as error:
        # The first line of nltk's message is the problem, the second its position; the others repeat the text.
        lines = str(error).removeprefix("Tree.read(): ").splitlines()
        problem = " ".join(line.strip() for line in lines[:2])
        raise ValueError(f"not a bracketed parse: {problem}") from None


def _read_leaf(word: str) -> str:
    word = word.lower()
    return ESCAPED.get(word, word)


def _words(tree: ParseTree) -> list[Nested | str]:
    """Return the nested words of a tree, without its traces."""
    if not len(tree):
        raise ValueError(f"the bracket ({tree.label()}) contains no word; write (LABEL word)")
    if tree.label() == TRACE:
        return []
    return [part if isinstance(part, str) else _words(part) for part in tree]
