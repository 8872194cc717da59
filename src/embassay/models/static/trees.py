"""Binary trees over the words of a text, from the number of words alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import TypeAlias

from embassay.core.errors import UnknownNameError
from embassay.stats.lexical.words import tokens

Tree: TypeAlias = tuple[str | None, ...]
"""The lower-cased words of a text, left to right. None merges the two parts before it: (a (b c)) is a b c None None."""
Merges: TypeAlias = list[tuple[int, int]]
"""The two nodes of each merge. Words are the nodes 0, 1 …; merges are −1, −2 …, each after the merges of its parts."""


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
"""The trees that a text can have."""


def parser(shape: str) -> Callable[[str], Tree]:
    """Return the function that returns the tree of a text: a ``right``-branching or a ``balanced`` one.

    Raises
    ------
    UnknownNameError
        If there is no such shape.
    """
    if shape not in SHAPES:
        raise UnknownNameError("shape of trees", shape, SHAPES)
    make = SHAPES[shape]
    return lambda text: make(tuple(tokens(text.lower())))
