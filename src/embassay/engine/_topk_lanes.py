"""What a pass over the passages carries along: lanes of queries, and the block that they meet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.engine._topk_products import Bound
from embassay.engine._topk_task import Answer, Floats, Ints, spread

LINES = 32
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
    pairs, own, begin
        (n,) pairs to count for, row by row, and their similarities over the query's length; (b + 1,) where those of
        each row begin.
    floor
        (b,) the least of these similarities; infinite where nothing is asked.
    lost
        Pairs whose document has no similarity to the query.
    surely, unsure
        Pair and document: surely nearer, and cut by a block's border. Pair and passage: that must be computed.
    left
        (b,) how many must be computed.
    """

    queries: slice
    ids: Ints
    bar: Floats
    given_up: NDArray[np.bool_]
    pairs: Ints
    own: Floats
    begin: Ints
    floor: Floats
    lost: Ints
    left: Ints
    kept: tuple[NDArray[Any], ...]
    waiting: list[tuple[NDArray[Any], ...]] = field(default_factory=list)
    surely: list[tuple[Ints, Ints]] = field(default_factory=list)
    unsure: list[tuple[Ints, Ints]] = field(default_factory=list)

    def asked_of(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return what some rows ask: (n,) which of these rows, and (n,) where in ``pairs``."""
        sizes = self.begin[rows + 1] - self.begin[rows]
        return np.repeat(np.arange(len(rows)), sizes), spread(self.begin[rows], sizes)


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
    size = len(part)
    row, pairs = answer.asked_of(part)
    lost = np.isnan(answer.own[pairs])
    out, row, pairs = pairs[lost], row[~lost], pairs[~lost]
    answer.greater[pairs] = answer.tied[pairs] = 0
    own = answer.own[pairs]
    if answer.task.measure == "dot":
        own = own / np.sqrt(answer.task.squares[part])[row]
    floor = np.full(size, np.inf)
    np.minimum.at(floor, row, own)
    return Lane(
        slice(start, start + size),
        part,
        bar=np.full(size, -np.inf),
        given_up=np.zeros(size, np.bool_),
        pairs=pairs,
        own=own,
        begin=np.searchsorted(row, np.arange(size + 1)),
        floor=floor,
        lost=out,
        left=np.zeros(size, np.int64),
        kept=(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0)),
    )
