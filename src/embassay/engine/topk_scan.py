"""The exact search: block by block of passages, each with all queries.

1. A fast product gives every document a score, which is off by at most a proven bound.
2. Each query has a bar: the similarity that k documents seen so far reach. A document whose score is surely below the
   bar is dropped. For a pair whose rank is wanted, documents that are surely nearer or surely farther are counted.
3. The float64 similarity of every other document is computed, and decides.

Where float32 leaves too many documents open, the query is multiplied with the block once more in float64.

Each thread takes every n-th block and has an answer of its own; the answers are merged in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from threading import Event

import numpy as np
from numpy.typing import DTypeLike

from embassay.engine.cores import cores, side_by_side
from embassay.engine.topk_answer import Answer, Bools, Floats, Ints, Matrix, SearchTask
from embassay.engine.topk_products import Block, Product, Queries, positive, rounding

PASSAGES, QUERIES = 8192, 512
"""Passages and queries that are multiplied at once."""
STRIP = 64
"""Queries whose scores are looked through at once: they should stay in the processor's cache."""
OPEN = 256
"""A second product is cheaper than to compute more similarities of a query and the documents of a block one by one."""
FEW = 8
"""Up to this many limits of a query are compared with all its scores one by one; for more the scores are sorted."""


class ImpreciseProductError(Exception):
    """A product is further off than it may be: some chips multiply in less precision than they are asked to."""


def scan(task: SearchTask, make_product: Callable[[Matrix], Product], dtype: DTypeLike) -> Answer:
    """Find the nearest documents and the ranks of the pairs, with products in some precision.

    Raises
    ------
    ImpreciseProductError
        If a product is found to be further off than its precision allows.
    """
    answer = Answer(task)
    queries = Queries(task, dtype)
    if not (len(queries.ids) and task.documents):
        return answer
    edges = block_edges(task)
    product = make_product(queries.rows)
    stopped = Event()
    longest = int(np.diff(task.first_passages(edges)).max(initial=0))

    def work(thread: int, threads: int) -> Answer:
        scanner = Scanner(task, queries, product)
        # Rows are scaled into the same memory, block after block; sparse ones have their own.
        room = np.empty((0, 0) if task.sparse else (longest, task.passages.shape[1]), dtype)
        # Lengths may overflow; vectors of such lengths are compared in another way.
        with np.errstate(all="ignore"):
            for number in range(thread, len(edges) - 1, threads):
                if stopped.is_set():
                    break
                block = Block.of(task, edges[number], edges[number + 1], room)
                scanner.scan(block, stopped)
        return scanner.answer

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
    rounds = -(-passages // (threads * PASSAGES))
    edges = np.linspace(0, passages, threads * rounds + 1).astype(np.int64)
    if task.starts is not None:
        # A block has whole documents, even if one is longer than a block should be.
        edges = np.searchsorted(task.starts, edges)
    return np.unique(edges)


@dataclass(frozen=True)
class Strip:
    """The scores of some queries in a block.

    Attributes
    ----------
    rows, queries
        (n,) the queries' places among those that have a similarity to something, and among all.
    passages, documents
        (n, B) and (n, N) scores: −inf without a similarity, NaN where it is unknown.
    units
        (n,) the similarity that a score of 1 stands for.
    error
        How far a score may be from the similarity, in units.
    """

    rows: Ints
    queries: Ints
    passages: np.ndarray
    documents: np.ndarray
    units: Floats
    error: float

    @property
    def dtype(self) -> np.dtype:
        """The precision of the scores."""
        return self.documents.dtype


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
                strip = self._strip(rows, scores[rows[0] - start : rows[-1] + 1 - start], block)
                self._decide(strip, block)

    def _strip(self, rows: Ints, scores: np.ndarray, block: Block) -> Strip:
        """Return what (n, B) products of some queries say; the products are overwritten."""
        lengths = self.queries.lengths[rows]
        scores[np.isnan(lengths)] = np.nan
        block.mark(scores)
        error = rounding(self.task.queries.shape[1], scores.dtype)
        return Strip(rows, self.queries.ids[rows], scores, block.of_documents(scores), lengths * block.unit, error)

    def _decide(self, strip: Strip, block: Block) -> None:
        """Take in what the scores of some queries say, and compute the similarities that they leave open."""
        task = self.task
        row_of_pair, pairs = task.pairs_of(strip.queries)
        pair_scores = task.pair_similarity[pairs] / strip.units[row_of_pair]
        low, high = rank_limits(pair_scores, strip.error, strip.dtype)
        is_open = self._may_be_near(strip)
        for place, part in runs(row_of_pair):
            is_open[place] |= between(strip.documents[place], low[part], high[part])

        if strip.dtype == np.float32:
            crowded = count_true(is_open) > OPEN + 4 * task.k
            if crowded.any():
                rows = strip.rows[crowded]
                precise = self.queries.take(rows, np.float64) @ block.precise_rows.T
                self._decide(self._strip(rows, precise, block), block)
                is_open[crowded] = False
                remaining = ~crowded[row_of_pair]
                row_of_pair, pairs, high = row_of_pair[remaining], pairs[remaining], high[remaining]

        row, column = np.divmod(np.flatnonzero(is_open), is_open.shape[1])
        query = strip.queries[row]
        similarity, passage = self._similarity(strip, row, column, block)
        if (np.abs(strip.documents[row, column] - similarity / strip.units[row]) > strip.error).any():
            raise ImpreciseProductError
        bars = self.answer.bars(query)
        # Documents as near as the bar come too late: the answer has k of them with a lower index.
        near = (similarity > bars) | np.isneginf(bars)
        self.answer.add(query[near], block.documents[column[near]], passage[near], similarity[near])
        if not len(pairs):
            return
        # Documents of known similarity are counted by it, all others by their scores.
        self.answer.count(pairs, query, similarity)
        strip.documents[row, column] = -np.inf
        for place, part in runs(row_of_pair):
            self.answer.greater[pairs[part]] += count_above(strip.documents[place], high[part])

    def _may_be_near(self, strip: Strip) -> Bools:
        """Say which documents may be among the k nearest; those of unknown score are."""
        k, scores = self.task.k, strip.documents
        bars = self.answer.bars(strip.queries) / strip.units
        # A score of −inf means that there is no similarity, and is below every bar.
        least = np.maximum(down(bars - strip.error, strip.dtype), np.finfo(strip.dtype).min)
        near: Bools = ~(scores < least[:, None])
        many = np.flatnonzero(count_true(near) > 4 * k)
        if len(many):
            # The block alone raises the bar; the score that k documents reach is off by the error, like any other.
            raised = down(reached_by(scores[many], k) - 2 * strip.error, strip.dtype)
            least[many] = np.fmax(least[many], raised)
            near[many] = ~(scores[many] < least[many, None])
        return near

    def _similarity(self, strip: Strip, row: Ints, column: Ints, block: Block) -> tuple[Floats, Ints]:
        """Return the similarities of n queries and documents of a block, and the documents' nearest passages."""
        if not (self._positive and block.positive):
            return self._computed(strip, row, column, block)
        # Most pairs of bags of words share nothing: a similarity of exactly 0, to all passages that have one.
        similarity = np.zeros(len(row))
        passage = block.first_defined[column]
        some = np.flatnonzero(strip.documents[row, column])
        similarity[some], passage[some] = self._computed(strip, row[some], column[some], block)
        return similarity, passage

    def _computed(self, strip: Strip, row: Ints, column: Ints, block: Block) -> tuple[Floats, Ints]:
        """Compute similarities in float64, of those passages only that may be the nearest of their document."""
        documents = block.documents[column]
        if self.task.starts is None:
            return self.task.similarity(strip.queries[row], documents)
        place, passage = self.task.passages_of(documents)
        scores = strip.passages[row[place], block.columns[passage - block.start]]
        # Both scores may be off by the error.
        least = strip.documents[row, column].astype(np.float64) - 2 * strip.error
        may_be_nearest = ~(scores < least[place])
        place, passage = place[may_be_nearest], passage[may_be_nearest]
        similarity = self.task.passage_similarity(strip.queries[row[place]], passage)
        return self.task.nearest(place, passage, similarity)


def count_true(mask: Bools) -> Ints:
    """Return how many are true in each row; several times as fast as a sum over an axis."""
    return np.array([np.count_nonzero(row) for row in mask], dtype=np.int64)


def down(values: Floats, dtype: np.dtype) -> np.ndarray:
    """Return values in another precision, not above what they were."""
    if dtype == np.float64:
        return values
    with np.errstate(over="ignore"):
        return np.asarray(np.nextafter(values.astype(dtype), dtype.type(-np.inf)))


def reached_by(scores: np.ndarray, k: int) -> Floats:
    """Return for each row of (n, N) scores one that k of them reach; −inf where there are too few."""
    count = scores.shape[1]
    # The k-th greatest of the maxima of many groups is hardly below that of all scores, and found much faster.
    size = max(1, count // (8 * k))
    groups = count // size
    if groups < k:
        return np.full(len(scores), -np.inf)
    maxima = scores[:, : size * groups].reshape(-1, size, groups).max(axis=1)
    maxima[np.isnan(maxima)] = -np.inf
    kth = np.partition(maxima, groups - k, axis=1)[:, groups - k]
    return np.asarray(kth, dtype=np.float64)


def rank_limits(scores: Floats, error: float, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Return between what scores documents may be as near as others are, whose (m,) exact scores are known or NaN."""
    exact = np.where(np.isnan(scores), -np.inf, scores)
    return down(exact - error, dtype), -down(-exact - error, dtype)


def runs(rows: Ints) -> Iterator[tuple[int, slice]]:
    """Yield each of (m,) ascending rows once, and where it stands."""
    begins = np.flatnonzero(np.diff(rows, prepend=-1))
    for begin, end in pairwise([*begins.tolist(), len(rows)]):
        yield int(rows[begin]), slice(begin, end)


def between(scores: np.ndarray, low: np.ndarray, high: np.ndarray) -> Bools:
    """Say which of (N,) scores are between one of m pairs of limits, or NaN; all pairs are equally far apart."""
    if len(low) <= FEW:
        inside = np.zeros(len(scores), dtype=np.bool_)
        for least, most in zip(low, high, strict=True):
            inside |= ~((scores < least) | (scores > most))
        return inside
    begins, ends = np.sort(low), np.sort(high)
    # The intervals are equally wide, so the last one that begins at or below a score also ends last.
    last = np.searchsorted(begins, scores, side="right") - 1
    return np.asarray(np.isnan(scores) | ((last >= 0) & (scores <= ends[last])))


def count_above(scores: np.ndarray, limits: np.ndarray) -> Ints:
    """Return how many of (N,) scores are above each of m limits; no score is NaN."""
    if len(limits) <= FEW:
        return np.array([np.count_nonzero(scores > limit) for limit in limits], dtype=np.int64)
    return np.asarray(len(scores) - np.searchsorted(np.sort(scores), limits, side="right"))
