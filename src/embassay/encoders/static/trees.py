"""Binary trees over the words of a text.

Nodes are numbered within a text: its n words from 0, left to right, then the n − 1 inner nodes, each after its
children; the last one is the root. A text of one word is a leaf; one of none has no node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]
SHAPES = 256
"""Shapes that are kept because another text of the same length will have the same."""


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
        (max(n − 1, 0),) the edges on the longest way from each inner node down to a word, 1 or more.
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
    heights = [0] * leaves
    for left, right in merges:
        heights.append(1 + max(heights[left], heights[right]))
    children = np.array(merges, dtype=np.int64).reshape(-1, 2)
    return Shape(leaves, children, np.array(heights[leaves:], dtype=np.int64))


@lru_cache(SHAPES)
def right(leaves: int) -> Shape:
    """Return the right-branching shape: (a (b (c d)))."""
    merges = [(leaves - 2, leaves - 1)] if leaves > 1 else []
    merges += [(word, leaves + place) for place, word in enumerate(range(leaves - 3, -1, -1))]
    return shape_of(leaves, merges)


@lru_cache(SHAPES)
def balanced(leaves: int) -> Shape:
    """Return the shape whose halves differ by one word at most, the left one being the longer: ((a b) c)."""
    merges: list[tuple[int, int]] = []

    def node(start: int, stop: int) -> int:
        if stop - start == 1:
            return start
        middle = (start + stop + 1) // 2
        merges.append((node(start, middle), node(middle, stop)))
        return leaves + len(merges) - 1

    if leaves:
        node(0, leaves)
    return shape_of(leaves, merges)


class Nesting:
    """Builds a shape from brackets as they open and close.

    A bracket of more than two parts is binarised to the right, (a b c) to (a (b c)); one of a single part is that
    part, and one of none is left out.
    """

    def __init__(self) -> None:
        """Begin with an outermost bracket that is open."""
        self._open: list[list[int]] = [[]]
        self._merges: list[tuple[int, int]] = []
        self.leaves = 0

    @property
    def depth(self) -> int:
        """The number of brackets that are open, the outermost not counted."""
        return len(self._open) - 1

    def open(self) -> None:
        """Open a bracket."""
        self._open.append([])

    def leaf(self) -> None:
        """Put in the next word."""
        self._open[-1].append(self.leaves)
        self.leaves += 1

    def close(self) -> None:
        """Close the bracket that was opened last."""
        parts = self._open.pop()
        if parts:
            self._open[-1].append(self._merged(parts))

    def shape(self) -> Shape:
        """Return the shape of all that was put in; brackets that are still open are closed."""
        while self.depth:
            self.close()
        if self._open[0]:
            self._open[0] = [self._merged(self._open[0])]
        # An inner node is −1, −2 … until the number of words is known.
        numbered = [tuple(n if n >= 0 else self.leaves - 1 - n for n in merge) for merge in self._merges]
        return shape_of(self.leaves, [(left, right) for left, right in numbered])

    def _merged(self, parts: Sequence[int]) -> int:
        node = parts[-1]
        for part in reversed(parts[:-1]):
            self._merges.append((part, node))
            node = -len(self._merges)
        return node
