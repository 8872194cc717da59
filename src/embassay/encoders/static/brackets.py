"""Bracketed parses, Penn Treebank style: ``(S (NP (DT the) (NN shop)) (VP (VBZ is) (ADJP (JJ open))))``.

Source: Marcus, Santorini, Marcinkiewicz (1993), "Building a large annotated corpus of English: the Penn Treebank".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from embassay.encoders.static.trees import Nested, Tree, binarised

if TYPE_CHECKING:
    from nltk.tree import Tree as ParseTree

TRACE = "-NONE-"
"""The label of what is no word."""
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
"""How treebanks write brackets and quotation marks, lower-cased."""


def read(line: str) -> Tree:
    """Read one bracketed parse; its words are lower-cased, traces are left out.

    Raises
    ------
    ValueError
        For what is none, with what is wrong.
    """
    from nltk.tree import Tree as ParseTree

    if not line.strip():
        return binarised([])
    try:
        return binarised(_words(ParseTree.fromstring(line, read_leaf=_read_leaf)))
    except ValueError as error:
        # Of nltk's lines, the first says what is wrong and the second where; the others repeat the text.
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
