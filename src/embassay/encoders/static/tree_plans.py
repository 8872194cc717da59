"""The order in which many trees are worked off at once, from the words up and from every inner node down.

Nodes of one height are computed together, and so are all vectors that lie the same number of steps below the node that
they are unfolded from: the number of calls is that of the heights, whatever the number of texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from embassay.encoders.static.trees import Indices, Shape


@dataclass(frozen=True, eq=False)
class Level:
    """Inner nodes of one height, which are computed together.

    The *pool* of a level is the words whose parent has this height, in the plan's order, then the nodes that wait.

    Attributes
    ----------
    children
        (2m,) rows of the pool: left and right child of each of the m nodes.
    waiting
        Rows of the m new nodes followed by the pool: what a later level needs.
    """

    children: Indices
    waiting: Indices


@dataclass(frozen=True, eq=False)
class Step:
    """One step down from all ancestors at once: each vector of the step before gives two, left and right.

    Attributes
    ----------
    words
        (k,) rows of the 2m vectors that stand for a word.
    targets
        (k,) the word that each stands for, in the plan's order.
    inner
        (2m − k,) rows of those that stand for an inner node: what the next step starts from.
    """

    words: Indices
    targets: Indices
    inner: Indices


@dataclass(frozen=True, eq=False)
class Plan:
    """How many trees are evaluated together, from the words up and from every inner node down.

    Attributes
    ----------
    order
        (L,) which word each row of the leaves is, counted through all texts: words without a parent first, then by
        the height of their parent.
    sizes
        Rows without a parent, then rows with a parent of height 1, 2 …
    levels, steps
        From the words up, and from all inner nodes down.
    roots
        (n,) each text's row in the leaves followed by the inner nodes; −1 for a text without words.
    """

    order: Indices
    sizes: tuple[int, ...]
    levels: tuple[Level, ...]
    steps: tuple[Step, ...]
    roots: Indices

    @staticmethod
    def of(shapes: Sequence[Shape], unfold: bool = True) -> Plan:
        """Lay out the trees of n texts; without ``unfold`` there are no steps down."""
        words = np.array([shape.leaves for shape in shapes], dtype=np.int64)
        total, heights = int(words.sum()), _joined([shape.heights for shape in shapes])
        by_height = np.argsort(heights, kind="stable")
        first_word, first_inner = _starts(words), _starts(np.maximum(words - 1, 0))
        parents = _joined([_parents(shape) for shape in shapes])
        order = np.argsort(parents, kind="stable")
        # Rows of the leaves followed by the inner nodes, for words and inner nodes in the order of the texts.
        row = np.concatenate([_inverse(order), total + _inverse(by_height)])
        parts = [
            np.where(s.children < s.leaves, s.children + w, s.children - s.leaves + total + i)
            for s, w, i in zip(shapes, first_word.tolist(), first_inner.tolist(), strict=True)
        ]
        children = row[_joined(parts).reshape(-1, 2)][by_height]
        last = np.where(words > 1, total + first_inner + words - 2, first_word)
        roots = np.full(len(shapes), -1, dtype=np.int64)
        roots[words > 0] = row[last[words > 0]]
        depth = int(heights.max(initial=0))
        sizes = np.bincount(parents, minlength=depth + 1)
        return Plan(
            order,
            tuple(sizes.tolist()),
            tuple(_levels(children, sizes, np.bincount(heights, minlength=depth + 1))),
            tuple(_steps(children, total)) if unfold else (),
            roots,
        )


def _parents(shape: Shape) -> Indices:
    """Return the height of each word's parent; 0 where it has none."""
    above = np.zeros(max(2 * shape.leaves - 1, 0), dtype=np.int64)
    above[shape.children] = shape.heights[:, None]
    return above[: shape.leaves]


def _levels(children: Indices, sizes: Indices, inner: Indices) -> list[Level]:
    """Return the levels, from the words up; ``children`` are rows of leaves and inner nodes, by height."""
    total = int(sizes.sum())
    place = np.zeros(total + len(children), dtype=np.int64)
    words, nodes = np.cumsum(sizes), np.cumsum(inner)
    waits = np.zeros(total + len(children), dtype=bool)
    waits[children.reshape(-1)] = True
    waiting, found = np.zeros(0, dtype=np.int64), []
    for height in range(1, len(sizes)):
        pool = np.concatenate([np.arange(words[height - 1], words[height]), waiting])
        place[pool] = np.arange(len(pool))
        own = np.arange(nodes[height - 1], nodes[height])
        used = children[own].reshape(-1)
        both = np.concatenate([total + own, pool])
        waits[used] = False
        kept = np.flatnonzero(waits[both])
        found.append(Level(place[used], kept))
        waiting = both[kept]
    return found


def _steps(children: Indices, total: int) -> list[Step]:
    nodes, found = np.arange(len(children)), []
    while len(nodes):
        below = children[nodes].reshape(-1)
        word = below < total
        found.append(Step(np.flatnonzero(word), below[word], np.flatnonzero(~word)))
        nodes = below[~word] - total
    return found


def _joined(arrays: Sequence[Indices]) -> Indices:
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int64)


def _starts(sizes: Indices) -> Indices:
    return np.cumsum(sizes) - sizes


def _inverse(order: Indices) -> Indices:
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order))
    return inverse
