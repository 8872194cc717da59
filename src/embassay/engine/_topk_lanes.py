"""What a pass over the passages carries along: lanes of queries, and the block that they meet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.engine._topk_products import Bound
from embassay.engine._topk_task import Answer, Floats, Ints

LINES = 16
"""Queries all of whose scores are looked at together: they should fit into the processor's cache."""
CROWD = 1024
"""A query is given up when it keeps more than so many candidates and 4k, or leaves so many documents open."""


@dataclass
class Lane:
    """A block of b queries on its way through the passages.

    Attributes
    ----------
    queries, ids
        Where the queries are among those of the product, and (b,) which they are.
    bar
        (b,) lengths of the query times this is a similarity that k documents reach.
    given_up
        (b,) which queries keep too much.
    kept, waiting
        Candidates: row, passage, lower and upper end of the similarity over the query's length.
    asked
        By row: pairs to count for, and their similarities over the query's length.
    floor
        (b,) the least of these; infinite where nothing is asked.
    single
        (b,) the pair of each row that has one only; −1 else.
    surely, unsure
        Pair and passage: of a document surely nearer that a block's border cuts; that must be computed.
    """

    queries: slice
    ids: Ints
    bar: Floats
    given_up: NDArray[np.bool_]
    asked: dict[int, tuple[Ints, Floats]]
    floor: Floats
    single: Ints
    kept: tuple[NDArray[Any], ...]
    waiting: list[tuple[NDArray[Any], ...]] = field(default_factory=list)
    surely: list[tuple[Ints, Ints]] = field(default_factory=list)
    unsure: list[tuple[Ints, Ints]] = field(default_factory=list)
    unsure_of: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Block:
    """Where a block of passages is, and which documents are in it.

    Attributes
    ----------
    start, size
        The first passage, and how many there are.
    first, starts
        The first document, and (n,) where each begins in the block; None where every passage is a document.
    cut
        Documents at its two ends that go on beyond the block.
    """

    answer: Answer
    start: int
    size: int
    bound: Bound
    first: int
    starts: Ints | None
    cut: tuple[int, ...]

    @classmethod
    def at(cls, answer: Answer, start: int, count: int, bound: Bound) -> Block:
        """Describe the block of so many passages from one on."""
        starts, total = answer.task.starts, answer.task.passages.shape[0]
        size = min(count, total - start)
        if starts is None:
            return cls(answer, start, size, bound, start, None, ())
        first = int(np.searchsorted(starts, start, side="right")) - 1
        last = int(np.searchsorted(starts, start + size, side="left"))
        local = np.maximum(starts[first:last] - start, 0)
        end = starts[last] if last < len(starts) else total
        cut = ({0} if starts[first] < start else set()) | ({last - first - 1} if end > start + size else set())
        return cls(answer, start, size, bound, first, local, tuple(sorted(cut)))

    def of_documents(self, lines: NDArray[Any]) -> NDArray[Any]:
        """Return the (b, n) scores of the documents of the block, given those of its passages."""
        lines = lines[:, : self.size]
        return lines if self.starts is None else np.asarray(np.maximum.reduceat(lines, self.starts, axis=1))


def lane_of(answer: Answer, ids: Ints, start: int, count: int) -> Lane:
    """Return the lane of some queries, at the start."""
    part = ids[start : start + count]
    scale = np.ones(len(part)) if answer.task.measure == "cosine" else np.sqrt(answer.task.squares[part])
    asked, floor, single = {}, np.full(len(part), np.inf), np.full(len(part), -1)
    for row, query in enumerate(part.tolist() if len(answer.pairs) else ()):
        pairs = answer.pairs_of(query)
        pairs = pairs[~np.isnan(answer.own[pairs])]
        if len(pairs):
            asked[row] = pairs, answer.own[pairs] / scale[row]
            floor[row] = asked[row][1].min()
            single[row] = pairs[0] if len(pairs) == 1 else -1
            answer.greater[pairs] = answer.tied[pairs] = 0
    queries, bar, given_up = slice(start, start + len(part)), np.full(len(part), -np.inf), np.zeros(len(part), np.bool_)
    nothing = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0))
    return Lane(queries, part, bar, given_up, asked, floor, single, nothing)


def down(values: Floats, dtype: Any) -> NDArray[Any]:
    """Return values in another precision, not above what they were."""
    return np.asarray(values if dtype == np.float64 else np.nextafter(values.astype(dtype), dtype.type(-np.inf)))
