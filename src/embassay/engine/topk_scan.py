"""The exact search: every block of passages is compared with all queries.

1. A fast product gives every document a score, whose error has a proven bound.
2. Each query has a bar: the similarity that at least k of the documents so far reach. A document whose score is below
   the bar by more than the error is dropped. For a pair whose rank is wanted, documents whose score is above or below
   that of the pair's document by more than the error are counted by their score.
3. The other documents are *open*: their float64 similarity is computed, and decides.

If float32 leaves too many documents of a query open, the query is multiplied with the block again in float64.

Each of n threads takes every n-th block and keeps its own answer; at the end the answers are merged.
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
"""The number of passages, and of queries, that are multiplied at once."""
STRIP = 64
"""The number of queries whose scores are evaluated at once: the scores should stay in the processor's cache."""
OPEN = 256
"""With more open documents of a query in a block (plus 4k), a float64 product is faster than single similarities."""
FEW = 8
"""Up to this many limits of a query are compared with all scores one by one; for more, the scores are sorted."""


class ImpreciseProductError(Exception):
    """The error of a product exceeds its bound: some chips multiply with less precision than requested."""


def scan(task: SearchTask, make_product: Callable[[Matrix], Product], dtype: DTypeLike) -> Answer:
    """Find the nearest documents and the ranks of the pairs, with products in the precision ``dtype``.

    Raises
    ------
    ImpreciseProductError
        If the error of a product is seen to exceed its bound.
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
        # The scaled rows of each block overwrite those of the block before; sparse blocks are new matrices.
        room = np.empty((0, 0) if task.sparse else (longest, task.passages.shape[1]), dtype)
        # Squared lengths may overflow; such vectors are compared one by one in float64.
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
            # Without this the threads would go on to the end, also after Ctrl-C.
            stopped.set()
            raise
    return answer


def thread_count(task: SearchTask) -> int:
    """Return the number of threads: one for each core, fewer for small searches."""
    queries, passages = task.queries.shape[0], task.passages.shape[0]
    by_passages = 1 + passages // 2048
    by_products = 1 + queries * passages // 2_000_000
    return int(min(cores(), by_passages, by_products))


def block_edges(task: SearchTask) -> Ints:
    """Return the first document of each block, and the number of documents; all threads get equally many blocks."""
    passages, threads = task.passages.shape[0], thread_count(task)
    rounds = -(-passages // (threads * PASSAGES))
    edges = np.linspace(0, passages, threads * rounds + 1).astype(np.int64)
    if task.starts is not None:
        # A block has whole documents, even if a document is longer than a block should be.
        edges = np.searchsorted(task.starts, edges)
    return np.unique(edges)


@dataclass(frozen=True)
class Strip:
    """The scores of some queries in a block.

    Attributes
    ----------
    rows, queries
        (n,) the places of the queries among those whose similarity is defined, and among all queries.
    passages, documents
        (n, B) and (n, N) scores: −inf where there is no similarity, NaN where the score is unknown.
    units
        (n,) similarity = score · unit, up to the error.
    error
        The bound on |similarity/unit − score|.
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
    """The search of one thread: compares queries with blocks of passages and collects an answer."""

    def __init__(self, task: SearchTask, queries: Queries, product: Product):
        """Start with an empty answer; ``product`` must have been made of the rows of ``queries``."""
        self.task, self.queries, self.product = task, queries, product
        self.answer = Answer(task)
        self._queries_positive = positive(queries.rows)
        self._room = np.empty(0, queries.rows.dtype)

    def scan(self, block: Block, stopped: Event) -> None:
        """Compare all queries with the passages of a block."""
        queries, passages = len(self.queries.ids), block.rows.shape[0]
        # A block of one long document may have more passages than usual; it gets fewer queries at once.
        step = max(1, min(QUERIES, PASSAGES * QUERIES // passages))
        loaded = self.product.load(block.rows)
        # All products are written to the same memory, which grows with the largest block.
        largest = min(step, queries) * passages
        if len(self._room) < largest:
            self._room = np.empty(largest, self._room.dtype)
        for start in range(0, queries, step):
            if stopped.is_set():
                return
            stop = min(start + step, queries)
            scores = self._room[: (stop - start) * passages].reshape(-1, passages)
            self.product.multiply(slice(start, stop), loaded, scores)
            for first in range(start, stop, STRIP):
                end = min(first + STRIP, stop)
                strip = self._strip(np.arange(first, end), scores[first - start : end - start], block)
                self._decide(strip, block)

    def _strip(self, rows: Ints, scores: np.ndarray, block: Block) -> Strip:
        """Turn the (n, B) products of some queries into scores, in place, and return them as a strip."""
        lengths = self.queries.lengths[rows]
        # The products of a query that cannot be scaled have no meaning.
        scores[np.isnan(lengths)] = np.nan
        block.mark(scores)
        return Strip(
            rows=rows,
            queries=self.queries.ids[rows],
            passages=scores,
            documents=block.of_documents(scores),
            units=lengths * block.unit,
            error=rounding(self.task.queries.shape[1], scores.dtype),
        )

    def _decide(self, strip: Strip, block: Block) -> None:
        """Update the answer from the scores of a strip, and from the similarities of the documents that are open."""
        task = self.task
        row_of_pair, pairs = task.pairs_of(strip.queries)
        pair_scores = task.pair_similarity[pairs] / strip.units[row_of_pair]
        low, high = rank_limits(pair_scores, strip.error, strip.dtype)
        # A document is open if its score does not decide whether it is among the k nearest, or nearer than the document
        # of a pair. Its similarity is then computed in float64.
        is_open = self._may_be_near(strip)
        # A document whose score may be equal to that of a pair's document is open as well.
        for place, part in runs(row_of_pair):
            is_open[place] |= between(strip.documents[place], low[part], high[part])

        if strip.dtype == np.float32:
            crowded = count_true(is_open) > OPEN + 4 * task.k
            if crowded.any():
                # These queries are decided by products in float64, and are done with this block.
                rows = strip.rows[crowded]
                precise = self.queries.take(rows, np.float64) @ block.precise_rows.T
                self._decide(self._strip(rows, precise, block), block)
                is_open[crowded] = False
                remaining = ~crowded[row_of_pair]
                row_of_pair = row_of_pair[remaining]
                pairs = pairs[remaining]
                high = high[remaining]

        row, column = np.divmod(np.flatnonzero(is_open), is_open.shape[1])
        query = strip.queries[row]
        document = block.documents[column]
        similarity, passage = self._similarity(strip, row, column, block)
        deviation = strip.documents[row, column] - similarity / strip.units[row]
        if (np.abs(deviation) > strip.error).any():
            raise ImpreciseProductError

        bars = self.answer.bars(query)
        # A document that only reaches the bar cannot enter: the answer has k documents as near with a lower index.
        near = (similarity > bars) | np.isneginf(bars)
        self.answer.add(query[near], document[near], passage[near], similarity[near])
        if not len(pairs):
            return
        # Documents whose similarity was computed are counted by it, all others by their scores.
        self.answer.count(pairs, query, similarity)
        strip.documents[row, column] = -np.inf
        for place, part in runs(row_of_pair):
            self.answer.greater[pairs[part]] += count_above(strip.documents[place], high[part])

    def _may_be_near(self, strip: Strip) -> Bools:
        """Return which documents may be among the k nearest; those with an unknown score may."""
        k, scores = self.task.k, strip.documents
        bars = self.answer.bars(strip.queries) / strip.units
        # A score of −inf means that there is no similarity, and is below every bar.
        least = np.maximum(down(bars - strip.error, strip.dtype), np.finfo(strip.dtype).min)
        near: Bools = ~(scores < least[:, None])
        many = np.flatnonzero(count_true(near) > 4 * k)
        if len(many):
            # k documents of this block may reach a higher bar. Both their scores and the compared one may be off by the
            # error.
            raised = down(reached_by(scores[many], k) - 2 * strip.error, strip.dtype)
            least[many] = np.fmax(least[many], raised)
            near[many] = ~(scores[many] < least[many, None])
        return near

    def _similarity(self, strip: Strip, row: Ints, column: Ints, block: Block) -> tuple[Floats, Ints]:
        """Return the (n,) similarities of n queries and documents of a block, and the documents' nearest passages.

        Parameters
        ----------
        row, column
            (n,) the places of the query and the document in the scores of the strip.
        """
        # With numbers above 0 only, such as counts of words, a score is 0 exactly where query and document share no
        # word. That is so for most pairs: their similarity is 0 for each defined passage, and is not computed.
        zero_means_nothing_shared = self._queries_positive and block.positive
        if not zero_means_nothing_shared:
            return self._computed(strip, row, column, block)
        similarity = np.zeros(len(row))
        passage = block.first_defined[column]
        shares_words = np.flatnonzero(strip.documents[row, column])
        similarity[shares_words], passage[shares_words] = self._computed(
            strip, row[shares_words], column[shares_words], block
        )
        return similarity, passage

    def _computed(self, strip: Strip, row: Ints, column: Ints, block: Block) -> tuple[Floats, Ints]:
        """Return similarities in float64, computed only for passages that may be the nearest of their document.

        The parameters and the result are those of :meth:`_similarity`.
        """
        documents = block.documents[column]
        if self.task.starts is None:
            return self.task.similarity(strip.queries[row], documents)
        # All passages of the documents, and for each the place of its document among the n.
        place, passage = self.task.passages_of(documents)
        scores = strip.passages[row[place], block.columns[passage - block.start]]
        # The nearest passage has the greatest score up to the error. Both scores that are compared may be off by it.
        least = strip.documents[row, column].astype(np.float64) - 2 * strip.error
        # Not "scores >= least": a passage whose score is NaN may be the nearest too.
        may_be_nearest = ~(scores < least[place])
        place, passage = place[may_be_nearest], passage[may_be_nearest]
        similarity = self.task.passage_similarity(strip.queries[row[place]], passage)
        return self.task.nearest(place, passage, similarity)


def count_true(mask: Bools) -> Ints:
    """Return the number of true values in each row; several times as fast as a sum over an axis."""
    return np.array([np.count_nonzero(row) for row in mask], dtype=np.int64)


def down(values: Floats, dtype: np.dtype) -> np.ndarray:
    """Return values rounded down to another precision, so that none is above what it was."""
    if dtype == np.float64:
        return values
    # A conversion rounds to the nearest value, which may be above; the next lower one is not.
    with np.errstate(over="ignore"):
        return np.asarray(np.nextafter(values.astype(dtype), dtype.type(-np.inf)))


def reached_by(scores: np.ndarray, k: int) -> Floats:
    """Return for each row of (n, N) scores a score that at least k of them reach; −inf where there are too few."""
    # The scores of a row are divided into about 8k groups. The k-th greatest of the groups' maxima is hardly below the
    # k-th greatest score, and much faster to find.
    count = scores.shape[1]
    size = max(1, count // (8 * k))
    groups = count // size
    if groups < k:
        return np.full(len(scores), -np.inf)
    maxima = scores[:, : size * groups].reshape(-1, size, groups).max(axis=1)
    maxima[np.isnan(maxima)] = -np.inf
    place_of_kth = groups - k
    kth_greatest = np.partition(maxima, place_of_kth, axis=1)[:, place_of_kth]
    return np.asarray(kth_greatest, dtype=np.float64)


def rank_limits(scores: Floats, error: float, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and the highest score of documents that may be as near as documents with (m,) exact scores.

    NaN stands for a document without a similarity.
    """
    exact = np.where(np.isnan(scores), -np.inf, scores)
    return down(exact - error, dtype), -down(-exact - error, dtype)


def runs(rows: Ints) -> Iterator[tuple[int, slice]]:
    """Yield each distinct value of (m,) ascending rows, and the slice where it stands."""
    begins = np.flatnonzero(np.diff(rows, prepend=-1))
    for begin, end in pairwise([*begins.tolist(), len(rows)]):
        yield int(rows[begin]), slice(begin, end)


def between(scores: np.ndarray, low: np.ndarray, high: np.ndarray) -> Bools:
    """Return which of (N,) scores lie within any of m intervals of equal width, or are NaN."""
    if len(low) <= FEW:
        inside = np.zeros(len(scores), dtype=np.bool_)
        for least, most in zip(low, high, strict=True):
            # Comparisons with NaN are false, so NaN counts as inside.
            outside = (scores < least) | (scores > most)
            inside |= ~outside
        return inside
    begins, ends = np.sort(low), np.sort(high)
    # The intervals are equally wide, so the last one that begins at or below a score also ends last.
    last_begun = np.searchsorted(begins, scores, side="right") - 1
    is_inside = (last_begun >= 0) & (scores <= ends[last_begun])
    return np.asarray(np.isnan(scores) | is_inside)


def count_above(scores: np.ndarray, limits: np.ndarray) -> Ints:
    """Return the number of (N,) scores above each of m limits; no score is NaN."""
    if len(limits) <= FEW:
        return np.array([np.count_nonzero(scores > limit) for limit in limits], dtype=np.int64)
    return np.asarray(len(scores) - np.searchsorted(np.sort(scores), limits, side="right"))
