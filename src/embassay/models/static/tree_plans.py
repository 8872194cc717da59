"""The order of computation for many trees at once: from the words up, and from every inner node down.

All nodes of the same height are computed together, and so are all unfolded vectors that are the same number of steps
below their node. So the number of calls depends on the height of the trees and not on the number of texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from embassay.core.vectors import Indices
from embassay.models.static.trees import Shape


@dataclass(frozen=True, eq=False)
class PlanLevel:
    """All inner nodes of one height, which are computed together.

    The *pool* of a level consists of the words whose parent has this height, in the plan's order, followed by the nodes
    of lower levels whose parent is not computed yet.

    Attributes
    ----------
    children
        (2m,) rows of the pool: left and right child of each of the m nodes.
    waiting
        The nodes that later levels need: indices into the m new nodes followed by the pool.
    """

    children: Indices
    waiting: Indices


@dataclass(frozen=True, eq=False)
class UnfoldingStep:
    """One step down from all ancestors at once: each of m vectors is unfolded into two, left and right.

    Attributes
    ----------
    words
        (k,) rows of the 2m new vectors that reconstruct a word.
    targets
        (k,) the row of each reconstructed word in the plan's order.
    inner
        (2m − k,) rows of the new vectors that reconstruct an inner node; the next step unfolds them.
    """

    words: Indices
    targets: Indices
    inner: Indices


@dataclass(frozen=True, eq=False)
class TreePlan:
    """The order of computation for the trees of n texts.

    Attributes
    ----------
    order
        (L,) the index of each word of the plan among the words of all texts: words without a parent first, then by the
        height of their parent.
    sizes
        The number of words without a parent, then with a parent of height 1, 2 …
    levels, steps
        The computation from the words up, and from all inner nodes down.
    roots
        (n,) the row of each text's root in the words followed by the inner nodes; −1 for a text without words.
    """

    order: Indices
    sizes: tuple[int, ...]
    levels: tuple[PlanLevel, ...]
    steps: tuple[UnfoldingStep, ...]
    roots: Indices

    @staticmethod
    def of(shapes: Sequence[Shape], unfold: bool = True) -> TreePlan:
        """Return the plan for the trees of n texts; without ``unfold`` it has no steps down."""
        # A binary tree of n words has n − 1 inner nodes.
        words = np.array([shape.leaves for shape in shapes], dtype=np.int64)
        inner = np.maximum(words - 1, 0)
        total_words = int(words.sum())
        heights = _joined([shape.heights for shape in shapes])

        # Nodes are numbered across all texts: all words first, then all inner nodes.
        first_word = np.cumsum(words) - words
        first_inner = total_words + np.cumsum(inner) - inner
        parts = []
        for shape, word_offset, inner_offset in zip(shapes, first_word, first_inner, strict=True):
            # Within a text, children are numbered 0 … n − 1 for words and from n on for inner nodes.
            is_word = shape.children < shape.leaves
            offset = np.where(is_word, word_offset, inner_offset - shape.leaves)
            parts.append(shape.children + offset)
        children = _joined(parts).reshape(-1, 2)
        # The last node of a text is its root; a text of one word has no inner node.
        root = np.where(words > 1, first_inner + words - 2, first_word)
        # The height of each node's parent; 0 if it has none.
        above = np.zeros(total_words + len(heights), dtype=np.int64)
        above[children] = heights[:, None]
        parent_heights = above[:total_words]

        # From here on, nodes are in the order in which they are computed. A level needs the words whose parents it
        # computes, and computes the inner nodes of its height.
        word_order = np.argsort(parent_heights, kind="stable")
        inner_order = np.argsort(heights, kind="stable")
        row = np.concatenate([_inverse(word_order), total_words + _inverse(inner_order)])
        ordered_children = row[children][inner_order]
        roots = np.full(len(shapes), -1, dtype=np.int64)
        roots[words > 0] = row[root[words > 0]]
        highest = int(heights.max(initial=0))
        words_by_height = np.bincount(parent_heights, minlength=highest + 1)
        inner_by_height = np.bincount(heights, minlength=highest + 1)
        return TreePlan(
            order=word_order,
            sizes=tuple(words_by_height.tolist()),
            levels=tuple(_levels(ordered_children, words_by_height, inner_by_height)),
            steps=tuple(_steps(ordered_children, total_words)) if unfold else (),
            roots=roots,
        )


def _levels(children: Indices, words_by_height: Indices, inner_by_height: Indices) -> list[PlanLevel]:
    """Return the levels, from the words up.

    Parameters
    ----------
    children
        (m, 2) rows of the leaves followed by the inner nodes, both in the plan's order.
    words_by_height
        The number of words with a parent of each height; at height 0, without a parent.
    inner_by_height
        The number of inner nodes of each height.
    """
    total_words = int(words_by_height.sum())
    total = total_words + len(children)
    word_ends = np.cumsum(words_by_height)
    inner_ends = np.cumsum(inner_by_height)
    is_child = np.zeros(total, dtype=bool)
    is_child[children.reshape(-1)] = True
    place_in_pool = np.zeros(total, dtype=np.int64)
    waiting = np.zeros(0, dtype=np.int64)
    levels = []
    for height in range(1, len(words_by_height)):
        new_words = np.arange(word_ends[height - 1], word_ends[height])
        pool = np.concatenate([new_words, waiting])
        place_in_pool[pool] = np.arange(len(pool))
        new_inner = np.arange(inner_ends[height - 1], inner_ends[height])
        merged = children[new_inner].reshape(-1)
        # Each node is merged once; afterwards no level needs it.
        is_child[merged] = False
        candidates = np.concatenate([total_words + new_inner, pool])
        still_needed = np.flatnonzero(is_child[candidates])
        levels.append(PlanLevel(place_in_pool[merged], still_needed))
        waiting = candidates[still_needed]
    return levels


def _steps(children: Indices, total_words: int) -> list[UnfoldingStep]:
    """Return the steps down from all inner nodes; ``children`` is that of :func:`_levels`."""
    steps = []
    nodes = np.arange(len(children))
    while len(nodes):
        below = children[nodes].reshape(-1)
        is_word = below < total_words
        steps.append(UnfoldingStep(np.flatnonzero(is_word), below[is_word], np.flatnonzero(~is_word)))
        nodes = below[~is_word] - total_words
    return steps


def _joined(arrays: Sequence[Indices]) -> Indices:
    if arrays:
        return np.concatenate(arrays)
    return np.zeros(0, dtype=np.int64)


def _inverse(order: Indices) -> Indices:
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order))
    return inverse
