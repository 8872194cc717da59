"""The exact search: block by block of passages, each with all queries.

1. A fast product gives every document a score, which is off by at most a proven bound.
2. Each query knows a bar: the similarity that k documents seen so far reach. A document whose score is surely below the
   bar is dropped. For a pair whose rank is wanted, documents that are surely nearer or surely farther are counted.
3. The float64 similarity of every other document is computed, and decides.

Where float32 leaves too many documents open, the query is multiplied with the block once more in float64.

Each thread takes every n-th block and has an answer of its own; the answers are merged in the end.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.engine.cores import cores, side_by_side
from embassay.engine.topk_answer import Answer, Floats, Ints, SearchTask
from embassay.engine.topk_products import Block, Product, Queries, positive, rounding

PASSAGES, QUERIES = 8192, 512
"""Passages and queries that are multiplied at once."""
STRIP = 64
"""Queries whose scores are looked through at once: they should stay in the processor's cache."""
OPEN = 256
"""A second product is cheaper than to compute more similarities of a query and the documents of a block one by one."""
FEW = 8
"""So many limits are compared with all scores one after another; for more of them the scores are sorted."""


class ImpreciseProductError(Exception):
    """A product is further off than it may be: some chips multiply in less precision than they are asked to."""


def scan(task: SearchTask, make_product: Callable[[Any], Product], dtype: Any) -> Answer:
    """Find the nearest documents and the ranks of the pairs, with products in some precision.

    Raises
    ------
    ImpreciseProductError
        If a product is found to be further off than its precision allows.
    """
    queries, edges, stopped = Queries(task, dtype), block_edges(task), Event()
    product = make_product(queries.rows)
    longest = int(np.diff(task.first_passages(edges)).max(initial=0))
    # Rows are written into the same memory, block after block; sparse ones have their own.
    shape = (0, 0) if task.sparse else (longest, task.passages.shape[1])

    def work(thread: int, threads: int) -> Answer:
        scanner, room = Scanner(task, queries, product), np.empty(shape, dtype)
        # Lengths may overflow; what has none is compared in another way.
        with np.errstate(all="ignore"):
            for number in range(thread, len(edges) - 1, threads):
                if stopped.is_set():
                    break
                scanner.scan(Block.of(task, edges[number], edges[number + 1], room), stopped)
        return scanner.answer

    answer = Answer(task)
    if not (len(queries.ids) and task.documents):
        return answer
    with side_by_side(thread_count(task)) as each:
        try:
            for part in each(work):
                answer.merge(part)
        except BaseException:
            # The threads would go on to the end, after Ctrl-C as well.
            stopped.set()
            raise
    return answer


def thread_count(task: SearchTask) -> int:
    """Return how many threads are worth it."""
    queries, passages = task.queries.shape[0], task.passages.shape[0]
    return int(min(cores(), 1 + passages // 2048, 1 + queries * passages // 2_000_000))


def block_edges(task: SearchTask) -> Ints:
    """Return the documents that blocks begin with, and the number of documents: as many blocks for each thread."""
    passages, threads = task.passages.shape[0], thread_count(task)
    blocks = threads * -(-passages // (threads * PASSAGES))
    edges = np.linspace(0, passages, blocks + 1).astype(np.int64)
    # A block has whole documents, even if one is longer than a block should be.
    return np.unique(edges if task.starts is None else np.searchsorted(task.starts, edges))


class Scanner:
    """What one thread does."""

    def __init__(self, task: SearchTask, queries: Queries, product: Product):
        self.task, self.queries, self.product = task, queries, product
        self.answer = Answer(task)
        self._positive = positive(queries.rows)
        self._room = np.empty(0, queries.rows.dtype)

    def scan(self, block: Block, stopped: Event) -> None:
        """Compare all queries with the passages of a block."""
        count, size = len(self.queries.ids), block.rows.shape[0]
        step = max(1, min(QUERIES, PASSAGES * QUERIES // size))
        loaded = self.product.load(block.rows)
        if len(self._room) < min(step, count) * size:
            self._room = np.empty(min(step, count) * size, self._room.dtype)
        for start in range(0, count, step):
            if stopped.is_set():
                return
            part = slice(start, min(start + step, count))
            scores = self._room[: (part.stop - start) * size].reshape(-1, size)
            self.product.multiply(part, loaded, scores)
            for top in range(start, part.stop, STRIP):
                rows = np.arange(top, min(top + STRIP, part.stop))
                self._decide(rows, scores[rows[0] - start : rows[-1] + 1 - start], block)

    def _decide(self, rows: Ints, scores: NDArray[Any], block: Block) -> None:
        """Take in what (n, B) scores of some queries say, and compute what they leave open."""
        task, ids, lengths = self.task, self.queries.ids[rows], self.queries.lengths[rows]
        error = rounding(task.queries.shape[1], scores.dtype)
        scores[np.isnan(lengths)] = np.nan
        block.mark(scores)
        scores = block.of_documents(scores)
        units = lengths * block.unit
        is_open = self._may_be_near(ids, scores, units, error)
        row, pairs = task.pairs_of(ids)
        low, high = rank_limits(task.own[pairs] / units[row], error, scores.dtype)
        open_between(is_open, scores, row, low, high)

        if scores.dtype == np.float32:
            crowded = np.array([np.count_nonzero(line) for line in is_open]) > OPEN + 4 * task.k
            if crowded.any():
                precise = self.queries.take(rows[crowded], np.float64) @ block.precise_rows.T
                self._decide(rows[crowded], precise, block)
                is_open[crowded] = False
                settled_here = ~crowded[row]
                row, pairs, high = row[settled_here], pairs[settled_here], high[settled_here]

        which, column = np.divmod(np.flatnonzero(is_open), is_open.shape[1])
        score = scores[which, column]
        similarity, passage = self._similarity(ids[which], column, score, block)
        if (np.abs(score - similarity / units[which]) > error).any():
            raise ImpreciseProductError
        bars = self.answer.bars(ids)[which]
        # Documents as near as the bar come too late: the answer has k of them with a lower index.
        near = (similarity > bars) | np.isneginf(bars)
        self.answer.add(ids[which[near]], block.first + column[near], passage[near], similarity[near])
        if len(pairs):
            scores[which, column] = -np.inf
            self.answer.greater[pairs] += count_above(scores, row, high)
            self.answer.count(pairs, ids[which], similarity)

    def _may_be_near(self, ids: Ints, scores: NDArray[Any], units: Floats, error: float) -> NDArray[np.bool_]:
        """Say which documents may be among the k nearest; those of unknown score are."""
        k, kind = self.task.k, scores.dtype
        # A score of −inf means that there is no similarity, and is below every bar.
        least = np.maximum(down(self.answer.bars(ids) / units - error, kind), np.finfo(kind).min)
        near: NDArray[np.bool_] = ~(scores < least[:, None])
        many = np.flatnonzero(np.array([np.count_nonzero(line) for line in near]) > 4 * k)
        if len(many):
            # The block alone raises the bar; the score that k documents reach is off by the error, like any other.
            raised = down(reached_by(scores[many], k) - 2 * error, kind)
            least[many] = np.fmax(least[many], raised)
            near[many] = ~(scores[many] < least[many, None])
        return near

    def _similarity(self, query: Ints, column: Ints, scores: NDArray[Any], block: Block) -> tuple[Floats, Ints]:
        """Return the similarities of queries and documents of a block, and their nearest passages."""
        if not (self._positive and block.positive):
            return self.task.similarity(query, block.first + column)
        # Most pairs of bags of words share nothing: a similarity of exactly 0, to all passages that have one.
        similarity, passage = np.zeros(len(query)), block.first_defined[column]
        some = np.flatnonzero(scores)
        similarity[some], passage[some] = self.task.similarity(query[some], block.first + column[some])
        return similarity, passage


def down(values: Floats, dtype: Any) -> NDArray[Any]:
    """Return values in another precision, not above what they were."""
    with np.errstate(over="ignore"):
        return np.asarray(values if dtype == np.float64 else np.nextafter(values.astype(dtype), dtype.type(-np.inf)))


def reached_by(scores: NDArray[Any], k: int) -> Floats:
    """Return for each row of (n, N) scores one that k of them reach; −inf where there are too few."""
    count = scores.shape[1]
    # The k-th greatest of the maxima of many groups is hardly below that of all scores, and found much faster.
    size = max(1, count // (8 * k))
    groups = count // size
    if groups < k:
        return np.full(len(scores), -np.inf)
    maxima = scores[:, : size * groups].reshape(-1, size, groups).max(axis=1)
    maxima[np.isnan(maxima)] = -np.inf
    return np.asarray(np.partition(maxima, groups - k, axis=1)[:, groups - k], dtype=np.float64)


def rank_limits(own: Floats, error: float, dtype: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return between what scores documents may be as near as (m,) given ones, whose similarities are NaN or scaled."""
    own = np.where(np.isnan(own), -np.inf, own)
    return down(own - error, dtype), -down(-own - error, dtype)


def open_between(
    is_open: NDArray[np.bool_], scores: NDArray[Any], row: Ints, low: NDArray[Any], high: NDArray[Any]
) -> None:
    """Open documents whose score is between one of m pairs of limits for their row, or NaN."""
    few, many = in_turns(row)
    for rows, part in few:
        is_open[rows] |= ~((scores[rows] < low[part, None]) | (scores[rows] > high[part, None]))
    for line, pairs in many:
        # All intervals are equally wide: the last that begins at or below a score is the one to ask.
        begins, ends = np.sort(low[pairs]), np.sort(high[pairs])
        last = np.searchsorted(begins, scores[line], side="right") - 1
        is_open[line] |= np.isnan(scores[line]) | ((last >= 0) & (scores[line] <= ends[last]))


def count_above(scores: NDArray[Any], row: Ints, limits: NDArray[Any]) -> Ints:
    """Return how many scores of its row are above each of m limits; no score is NaN."""
    counts = np.zeros(len(row), dtype=np.int64)
    few, many = in_turns(row)
    for rows, part in few:
        counts[part] = [np.count_nonzero(line) for line in scores[rows] > limits[part, None]]
    for line, pairs in many:
        counts[pairs] = scores.shape[1] - np.searchsorted(np.sort(scores[line]), limits[pairs], side="right")
    return counts


def in_turns(row: Ints) -> tuple[list[tuple[Any, Ints]], list[tuple[int, Ints]]]:
    """Group (m,) ascending rows: (rows, places) with each row once, and (row, places) of rows that are there often."""
    turn = np.arange(len(row)) - np.searchsorted(row, row)
    often = (np.bincount(row) > FEW)[row]
    many = [(line, np.flatnonzero(row == line)) for line in np.unique(row[often]).tolist()]
    few = []
    for number in range(turn[~often].max(initial=-1) + 1):
        part = np.flatnonzero((turn == number) & ~often)
        rows = row[part]
        # A slice takes rows without copying them.
        together = rows[-1] - rows[0] + 1 == len(rows)
        few.append((slice(rows[0], rows[-1] + 1) if together else rows, part))
    return few, many
