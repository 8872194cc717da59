"""Binary trees over the words of a text.

Nodes are numbered within a text: its n words from 0, left to right, then the n − 1 inner nodes, each after its
children; the last one is the root. A text of one word is a leaf; one of none has no node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from embassay.core.vectors import Indices

Nested: TypeAlias = "Sequence[Nested | str]"
"""Nested lists of words; an ``nltk.Tree`` is one."""
SHAPES = 256
"""Number of cached shapes; texts of the same length have the same one."""


@dataclass(frozen=True, eq=False)
class Shape:
    """The form of one tree, without its words.

    Attributes
    ----------
    leaves
        The number of words, n.
    children
        (max(n − 1, 0), 2) the left and the right child of each inner node.
    heights
        (max(n − 1, 0),) the height of each inner node: the edges on its longest path down to a word, 1 or more.
    """

    leaves: int
    children: Indices
    heights: Indices


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree and its words, left to right."""

    words: tuple[str, ...]
    shape: Shape


def shape_of(leaves: int, merges: Sequence[tuple[int, int]]) -> Shape:
    """Return the shape of n words and the n − 1 merges of two nodes, each after the merges of its children."""
    # Words have height 0. The children of a merge come before it, so their heights are known.
    heights = [0] * leaves
    for first, second in merges:
        height_of_children = max(heights[first], heights[second])
        heights.append(height_of_children + 1)
    inner_heights = np.array(heights[leaves:], dtype=np.int64)
    # Reshaped, because an empty list of merges would have one dimension only.
    children = np.array(merges, dtype=np.int64).reshape(-1, 2)
    return Shape(leaves, children, inner_heights)


@lru_cache(SHAPES)
def right(leaves: int) -> Shape:
    """Return the right-branching shape: (a (b (c d)))."""
    merges = []
    last = leaves - 1
    for word in range(leaves - 2, -1, -1):
        merges.append((word, last))
        last = leaves + len(merges) - 1
    return shape_of(leaves, merges)


@lru_cache(SHAPES)
def balanced(leaves: int) -> Shape:
    """Return the shape that is always split in the middle, with the longer half on the left: ((a b) c)."""
    merges: list[tuple[int, int]] = []

    def node(start: int, stop: int) -> int:
        """Add the merges of the words from start to stop − 1; return the number of their root."""
        if stop - start == 1:
            return start
        middle = (start + stop + 1) // 2
        merges.append((node(start, middle), node(middle, stop)))
        return leaves + len(merges) - 1

    if leaves:
        node(0, leaves)
    return shape_of(leaves, merges)


def binarised(nested: Nested) -> Tree:
    """Return the binary tree of nested lists of words.

    A list of more than two parts branches to the right: [a, b, c] becomes (a (b c)). A list of one part is replaced by
    that part, and an empty list is left out.

    Raises
    ------
    RecursionError
        If it is nested too deeply for Python.
    """
    words: list[str] = []
    merges: list[tuple[int, int]] = []

    def node_of(part: Nested | str) -> int | None:
        """Return the node of a part; inner nodes are −1, −2 … because the number of words is not known yet."""
        if isinstance(part, str):
            words.append(part)
            return len(words) - 1
        nodes = [node for node in map(node_of, part) if node is not None]
        if not nodes:
            return None
        merged = nodes.pop()
        while nodes:
            merges.append((nodes.pop(), merged))
            merged = -len(merges)
        return merged

    node_of(nested)
    leaves = len(words)
    numbered = []
    for pair in merges:
        # The inner node −1 gets the number after the last word, −2 the next one, and so on.
        first, second = (node if node >= 0 else leaves - 1 - node for node in pair)
        numbered.append((first, second))
    return Tree(tuple(words), shape_of(leaves, numbered))
