"""The exact search: fast products propose, float64 similarities in a fixed order decide.

1. Blocks of passages are multiplied with all queries in float32. The error of a product has a proven bound.
2. Each query has a bar: the similarity that at least k of the documents so far reach. A passage whose product is below
   the bar by more than the error is dropped. For a pair whose rank is wanted, documents whose product is above the
   similarity of the pair by more than the error are counted, and those below it are not.
3. The other passages are *open*: their similarity of ``geometry.closeness`` in float64 is computed, and decides.

Where float32 leaves much open, the products are computed again in float64. Those of sparse vectors always are.

Each of n threads takes every n-th block and keeps its own answer. Answers about different documents merge exactly, so
no result depends on the blocks, the threads, the device, or the parts in which passages are searched.

Vectors are scaled before they are multiplied: queries to length 1; passages to length 1 for a cosine, or divided by the
length of the longest passage of the block for a dot product. So no length is above 1. Then a product of vectors of d
numbers, summed in any order, differs from the exact one by at most γ = du / (1 − du), with u = 2⁻²⁴ for float32
(Higham, Accuracy and Stability of Numerical Algorithms, section 3.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from threading import Event
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array, diags_array, issparse

from embassay.core.processes.cores import cores, in_threads
from embassay.core.vectors import Neighbours, Similarity
from embassay.stats.geometry.closeness import cosine_of, dense_blocks, paired_dot

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Matrix: TypeAlias = "np.ndarray | csr_array"
"""Vectors, one per row: dense with any floating-point type, or sparse."""
PASSAGES, QUERIES = 8192, 512
"""The number of passages, and of queries, that are multiplied at once."""
STRIP = 64
"""The number of queries whose products are compared at once: the products should stay in the processor's cache."""
OPEN = 128
"""With more open passages for each query of a strip (plus 4k), float64 products are faster than single similarities."""
DENSE_PAIRS, SPARSE_PAIRS = 512, 16_384
"""The number of pairs of vectors that are copied at once: dense ones should stay in the processor's cache."""
SHORTEST, LONGEST = 1e-280, 1e280
"""Squared lengths between which float64 neither overflows nor underflows."""


class ImpreciseProductError(Exception):
    """The error of a product exceeds its bound: some chips multiply with less precision than requested."""


@dataclass(frozen=True)
class SearchTask:
    """The input of a search.

    Attributes
    ----------
    queries, passages
        (Q, d) and (P, d), both dense or both CSR.
    starts
        (N,) the first passage of each document; None if every passage is a document.
    k
        The number of documents wanted for each query, at least 1.
    pairs
        (R, 2) queries and documents whose ranks are wanted.
    """

    queries: Matrix
    passages: Matrix
    starts: Ints | None
    k: int
    similarity_function: Similarity
    pairs: Ints

    @property
    def sparse(self) -> bool:
        """Whether the vectors are CSR."""
        return bool(issparse(self.passages))

    @property
    def documents(self) -> int:
        """The number of documents."""
        return int(self.passages.shape[0]) if self.starts is None else len(self.starts)

    @cached_property
    def query_squares(self) -> Floats:
        """(Q,) q·q of each query."""
        return squares_of(self.queries)

    @cached_property
    def defined(self) -> Bools:
        """(Q,) whether a query has any similarity: a vector that is zero or whose square overflows has no cosine."""
        if self.similarity_function == "dot":
            return np.ones(len(self.query_squares), dtype=np.bool_)
        return np.asarray((self.query_squares > 0) & np.isfinite(self.query_squares))

    @cached_property
    def query_lengths(self) -> Floats:
        """(Q,) the length of each query; NaN if it cannot be scaled to length 1 without overflow."""
        return np.where(is_scalable(self.query_squares), np.sqrt(self.query_squares), np.nan)

    @property
    def pair_similarity(self) -> Floats:
        """(R,) the similarity of each pair; NaN if undefined."""
        return self.nearest_of_pairs[0]

    @cached_property
    def nearest_of_pairs(self) -> tuple[Floats, Ints]:
        """(R,) the similarity of each pair, NaN if undefined, and the passage of its document nearest to the query."""
        return self.similarity(self.pairs[:, 0], self.pairs[:, 1])

    @cached_property
    def _pairs_by_query(self) -> tuple[Ints, Ints]:
        """The pairs of defined queries, ordered by query, and (Q + 1,) where those of each query begin."""
        order = np.argsort(self.pairs[:, 0], kind="stable")
        order = order[self.defined[self.pairs[order, 0]]]
        return order, np.searchsorted(self.pairs[order, 0], np.arange(self.queries.shape[0] + 1))

    def pairs_of(self, queries: Ints) -> tuple[Ints, Ints]:
        """Return the pairs of (n,) queries: (m,) ascending places in ``queries``, and (m,) places in ``pairs``."""
        order, begin = self._pairs_by_query
        places, positions = ranges(begin[queries], begin[queries + 1])
        return places, order[positions]

    def first_passages(self, documents: Ints) -> Ints:
        """Return the first passage of each document; for the number of documents, the number of passages."""
        if self.starts is None:
            return documents
        return np.append(self.starts, self.passages.shape[0])[documents]

    def documents_of(self, passages: Ints) -> Ints:
        """Return the document of each passage."""
        if self.starts is None:
            return passages
        return np.asarray(np.searchsorted(self.starts, passages, side="right") - 1)

    def similarity(self, query: Ints, document: Ints) -> tuple[Floats, Ints]:
        """Return the (n,) similarities of n queries and documents, and the nearest passage of each document.

        NaN where no passage has a similarity. These similarities decide every rank and are returned to the user.
        """
        place, passage = ranges(self.first_passages(document), self.first_passages(document + 1))
        _, similarity, passage = nearest_passages(place, passage, self.passage_similarity(query[place], passage))
        return similarity, passage

    def passage_similarity(self, query: Ints, passage: Ints) -> Floats:
        """Return the (n,) similarities of n queries and passages; NaN where undefined."""
        dots, squares = np.empty(len(query)), np.empty(len(query))
        step = SPARSE_PAIRS if self.sparse else DENSE_PAIRS
        with np.errstate(all="ignore"):
            for start in range(0, len(query), step):
                part = slice(start, start + step)
                rows = self.passages[passage[part]]
                dots[part] = paired_dot(self.queries[query[part]], rows)
                if self.similarity_function == "cosine":
                    squares[part] = paired_dot(rows, rows)
        if self.similarity_function == "dot":
            return dots
        return cosine_of(dots, self.query_squares[query], squares)


class NearestSoFar:
    """The nearest documents so far, and what determines the ranks of the pairs' documents.

    Attributes
    ----------
    documents, passages, similarity
        (Q, k) the nearest documents of each query, the nearest first, with their nearest passages and similarities; −1
        and NaN mark empty places.
    greater, tied
        (R,) the number of documents that are nearer than the document of each pair, and of those that are as near.
    """

    def __init__(self, task: SearchTask):
        """Start without any document."""
        shape = (task.queries.shape[0], task.k)
        self.documents = np.full(shape, -1, dtype=np.int64)
        self.passages = np.full(shape, -1, dtype=np.int64)
        self.similarity = np.full(shape, np.nan)
        self.greater = np.zeros(len(task.pairs), dtype=np.int64)
        self.tied = np.zeros(len(task.pairs), dtype=np.int64)

    def bars(self, queries: Ints) -> Floats:
        """Return the similarity of the k-th nearest document so far of some queries; −inf if there are fewer."""
        bars = self.similarity[queries, -1]
        return np.where(np.isnan(bars), -np.inf, bars)

    def add(self, query: Ints, document: Ints, passage: Ints, similarity: Floats) -> None:
        """Add (n,) new documents, each for a query, and keep the k nearest."""
        k = self.documents.shape[1]
        # The rows of the queries that get documents are made anew from their old content and the new documents.
        changed = np.unique(query)
        rows = np.concatenate([np.repeat(changed, k), query])
        documents = np.concatenate([self.documents[changed].ravel(), document])
        passages = np.concatenate([self.passages[changed].ravel(), passage])
        similarities = np.concatenate([self.similarity[changed].ravel(), similarity])

        # By query, then the nearest first, then by index; NaN, which marks an empty place, is sorted last.
        order = np.lexsort((documents, -similarities, rows))
        rows = rows[order]
        rank = np.arange(len(rows)) - np.searchsorted(rows, rows)
        is_among_nearest = rank < k
        nearest = order[is_among_nearest]
        cells = (rows[is_among_nearest], rank[is_among_nearest])
        self.documents[cells] = documents[nearest]
        self.passages[cells] = passages[nearest]
        self.similarity[cells] = similarities[nearest]

    def merge(self, other: NearestSoFar) -> None:
        """Add the answer of a search of other documents."""
        cells = np.nonzero(other.documents >= 0)
        self.add(cells[0], other.documents[cells], other.passages[cells], other.similarity[cells])
        self.greater += other.greater
        self.tied += other.tied

    def result(self, task: SearchTask, k: int) -> Neighbours:
        """Return the k nearest documents and the ranks of the pairs."""
        undefined = np.isnan(task.pair_similarity)
        # A document without a similarity is ranked after all that have one. If none has one, there is no order.
        rankless = ~task.defined[task.pairs[:, 0]] | (undefined & (self.greater == 0))
        return Neighbours(
            documents=self.documents[:, :k],
            passages=self.passages[:, :k],
            similarity=self.similarity[:, :k],
            own=task.pair_similarity,
            own_passages=np.where(undefined, -1, task.nearest_of_pairs[1]),
            greater=np.where(rankless, -1, self.greater),
            tied=np.where(rankless, -1, self.tied),
        )


class NumpyProduct:
    """Products of numpy and scipy; ``gpu.py`` has those of torch. Several threads may use one at once."""

    def load(self, rows: Matrix) -> Any:
        """Return vectors in the form that ``multiply`` takes, of which rows can be sliced."""
        return rows

    def multiply(self, queries: Any, passages: Any) -> np.ndarray:
        """Return the (b, B) products of loaded vectors."""
        products = queries @ passages.T
        return np.asarray(products.toarray() if issparse(products) else products)


@dataclass(frozen=True)
class PassageBlock:
    """The passages of some whole documents.

    Attributes
    ----------
    first, first_passage
        The first document, and its first passage.
    passages
        (B, d) as they are searched.
    documents
        (B,) the number of each passage's document within the block, ascending from 0.
    scale
        (B,) the factors by which they are scaled; NaN for a passage that cannot be scaled, and is always open.
    unit
        The factor by which similarities are divided.
    undefined
        Places of passages that have no similarity.
    """

    first: int
    first_passage: int
    passages: Matrix
    documents: Ints
    scale: Floats
    unit: float
    undefined: Ints

    @classmethod
    def of(cls, task: SearchTask, first: int, last: int) -> PassageBlock:
        """Read the passages of the documents first, …, last − 1."""
        start, stop = task.first_passages(np.array([first, last])).tolist()
        documents = task.documents_of(np.arange(start, stop)) - first
        passages = task.passages[start:stop]
        if not task.sparse:
            # A memory-mapped array would be read again in each step.
            passages = np.asarray(passages)
        squares = squares_of(passages)
        scale = np.full(len(squares), np.nan)
        scalable = is_scalable(squares)
        unit, undefined = 1.0, np.zeros(len(squares), dtype=np.bool_)
        if task.similarity_function == "cosine":
            undefined = ~((squares > 0) & np.isfinite(squares))
            scale[scalable] = 1 / np.sqrt(squares[scalable])
            scale[undefined] = 0
        else:
            # Dot products keep their order if all are divided by one number.
            unit = float(np.sqrt(squares[scalable].max(initial=0))) or 1.0
            # The square of a very short vector is 0 as well, and it must not count as a zero vector.
            zero = squares == 0
            zero[zero] = np.asarray(abs(passages[zero]).sum(axis=1)).ravel() == 0
            scale[scalable | zero] = 1 / unit
        return cls(first, start, passages, documents, scale, unit, np.flatnonzero(undefined))

    @property
    def count(self) -> int:
        """The number of documents."""
        return int(self.documents[-1]) + 1

    @cached_property
    def first_of_documents(self) -> Ints:
        """The place of each document's first passage."""
        return np.flatnonzero(np.diff(self.documents, prepend=-1))

    def rows(self, dtype: DTypeLike) -> Matrix:
        """Return the (B, d) scaled passages."""
        return scaled(self.passages, self.scale, dtype)


def scan(
    task: SearchTask, product: NumpyProduct, dtype: DTypeLike, part: tuple[int, int] | None = None
) -> NearestSoFar:
    """Find the nearest documents and the ranks of the pairs, with products in the precision ``dtype``.

    Parameters
    ----------
    part
        The first document to be searched, and the one before which to stop; all if None.

    Raises
    ------
    ImpreciseProductError
        If the error of a product is seen to exceed its bound.
    """
    answer = NearestSoFar(task)
    first, last = part or (0, task.documents)
    if first == last or not task.queries.shape[0]:
        return answer
    edges = block_edges(task, first, last)
    rows = scaled(task.queries, 1 / task.query_lengths, dtype)
    stopped = Event()

    def work(thread: int, threads: int) -> NearestSoFar:
        scanner = Scanner(task, rows, product)
        # Squared lengths may overflow; such vectors are always open.
        with np.errstate(all="ignore"):
            for number in range(thread, len(edges) - 1, threads):
                scanner.scan(PassageBlock.of(task, edges[number], edges[number + 1]), stopped)
        return scanner.answer

    for of_thread in in_threads(thread_count(task), work, stopped.set):
        answer.merge(of_thread)
    return answer


def thread_count(task: SearchTask) -> int:
    """Return the number of threads: one for each core, fewer for small searches."""
    queries, passages = task.queries.shape[0], task.passages.shape[0]
    return int(min(cores(), 1 + passages // 2048, 1 + queries * passages // 2_000_000))


def block_edges(task: SearchTask, first: int, last: int) -> list[int]:
    """Return the first document of each block, and ``last``; all threads get equally many blocks."""
    start, stop = task.first_passages(np.array([first, last])).tolist()
    threads = thread_count(task)
    rounds = -(-(stop - start) // (threads * PASSAGES))
    edges = np.linspace(start, stop, threads * rounds + 1).astype(np.int64)
    if task.starts is not None:
        # A block has whole documents, even if a document is longer than a block should be.
        edges = np.searchsorted(task.starts, edges)
    return [int(edge) for edge in np.unique(edges)]


class Scanner:
    """The search of one thread: compares all queries with blocks of passages and collects an answer."""

    def __init__(self, task: SearchTask, queries: Matrix, product: NumpyProduct):
        """Start with an empty answer; ``queries`` are the scaled ones."""
        self.task, self.product = task, product
        self.answer = NearestSoFar(task)
        self._queries, self._loaded = queries, product.load(queries)
        self._bags_of_words = False

    def scan(self, block: PassageBlock, stopped: Event) -> None:
        """Compare all queries with the passages of a block."""
        rows = block.rows(self._queries.dtype)
        self._bags_of_words = is_positive(self._queries) and is_positive(rows)
        loaded = self.product.load(rows)
        # A block of one long document may have more passages than usual; it gets fewer queries at once.
        step = max(1, PASSAGES * QUERIES // rows.shape[0])
        for start in range(0, self.task.queries.shape[0], step):
            if stopped.is_set():
                return
            scores = self.product.multiply(self._loaded[start : start + step], loaded)
            for first in range(0, len(scores), STRIP):
                strip = scores[first : first + STRIP]
                self._decide(block, start + first + np.arange(len(strip)), strip)

    def _decide(self, block: PassageBlock, queries: Ints, scores: np.ndarray) -> None:
        """Update the answer from the (n, B) products of (n,) queries with a block.

        A product is the similarity divided by the query's unit, up to the error.
        """
        task = self.task
        units = task.query_lengths[queries] * block.unit
        if task.similarity_function == "cosine":
            # A cosine does not depend on the length.
            units /= units
        error = rounding(task.queries.shape[1], scores.dtype)
        # −inf: there is no similarity. NaN, of vectors that cannot be scaled: it is unknown.
        scores[:, block.undefined] = -np.inf
        scores[~task.defined[queries]] = -np.inf
        places, pairs = task.pairs_of(queries)
        own = task.pair_similarity[pairs]
        # A document without a similarity is ranked after all others.
        exact = np.where(np.isnan(own), -np.inf, own / units[places])
        # The error has room for the conversion, and comparisons in one precision are twice as fast.
        low, high = ((exact + sign * error).astype(scores.dtype) for sign in (-1, 1))

        is_open = self._may_be_near(block, scores, self.answer.bars(queries) / units, error)
        above = np.empty((len(pairs), scores.shape[1]), dtype=np.bool_)
        for place, least, most, of_pair in zip(places, low, high, above, strict=True):
            np.greater(scores[place], most, out=of_pair)
            # Not "least <= scores <= most": comparisons with NaN are false, and what is unknown is open.
            is_open[place] |= ~((scores[place] < least) | of_pair)
        opened = np.flatnonzero(is_open)
        if scores.dtype == np.float32 and len(opened) > len(scores) * (OPEN + 4 * task.k):
            precise = scaled(task.queries[queries], 1 / task.query_lengths[queries], np.float64)
            self._decide(block, queries, precise @ block.rows(np.float64).T)
            return

        row, column = np.divmod(opened, scores.shape[1])
        passage, document = block.first_passage + column, block.documents[column]
        similarity = self._similarity(queries[row], passage, scores[row, column])
        if (np.abs(scores[row, column] - similarity / units[row]) > error).any():
            raise ImpreciseProductError
        if task.starts is not None:
            # Of each document, only the open passage with the greatest similarity counts.
            key, similarity, passage = nearest_passages(row * block.count + document, passage, similarity)
            row, document = np.divmod(key, block.count)
        bars = self.answer.bars(queries)[row]
        # A document that only reaches the bar cannot enter: the answer has k documents as near with a lower index.
        near = ~np.isnan(similarity) & ((similarity > bars) | np.isneginf(bars))
        self.answer.add(queries[row[near]], block.first + document[near], passage[near], similarity[near])

        begin = np.searchsorted(row, np.arange(len(scores) + 1))
        number, position = ranges(begin[places], begin[places + 1])
        self._count(block, pairs, above, number, document[position], similarity[position])

    def _count(
        self, block: PassageBlock, pairs: Ints, above: Bools, number: Ints, document: Ints, similarity: Floats
    ) -> None:
        """Count the documents of a block that are nearer than the document of a pair, and those that are as near.

        Parameters
        ----------
        pairs
            (m,) places of pairs.
        above
            (m, B) which passages are nearer by their products alone.
        number, document, similarity
            (n,) the places in ``pairs`` of those to which documents are compared of which a passage is open, these
            documents, and their similarities.
        """
        nearer = above
        if self.task.starts is not None:
            nearer = np.logical_or.reduceat(above, block.first_of_documents, axis=1)
        own = self.task.pair_similarity[pairs][number]
        # A document without a similarity is ranked after all others, and is as near as another one without.
        is_nearer = (similarity > own) | (np.isnan(own) & ~np.isnan(similarity))
        is_equal = (similarity == own) | (np.isnan(own) & np.isnan(similarity))
        # A passage that is not open may be nearer than the open one.
        is_counted = nearer[number, document]
        self.answer.greater[pairs] += np.array([np.count_nonzero(row) for row in nearer], dtype=np.int64)
        self.answer.greater[pairs] += np.bincount(number[is_nearer & ~is_counted], minlength=len(pairs))
        self.answer.tied[pairs] += np.bincount(number[is_equal & ~is_counted], minlength=len(pairs))

    def _may_be_near(self, block: PassageBlock, scores: np.ndarray, bars: Floats, error: float) -> Bools:
        """Return which passages may be those of the k nearest documents; those with an unknown similarity may."""
        k = self.task.k
        # −inf means that there is no similarity, and is below every bar.
        least = np.maximum((bars - error).astype(scores.dtype), np.finfo(scores.dtype).min)
        near: Bools = ~(scores < least[:, None])
        many = np.flatnonzero([np.count_nonzero(row) > 4 * k for row in near])
        if len(many):
            # k documents of this block may reach a higher bar. Both their products and the compared one may be off.
            of_firsts = scores[many][:, block.first_of_documents]
            least[many] = np.fmax(least[many], reached_by(of_firsts, k) - 2 * error)
            near[many] = ~(scores[many] < least[many, None])
        return near

    def _similarity(self, query: Ints, passage: Ints, scores: np.ndarray) -> Floats:
        """Return the (n,) exact similarities of queries and passages with these products."""
        if not self._bags_of_words:
            return self.task.passage_similarity(query, passage)
        # Most bags share no word. Then the product is 0, and so is the similarity, which is not computed.
        similarity = np.zeros(len(query))
        shared = np.flatnonzero(scores)
        similarity[shared] = self.task.passage_similarity(query[shared], passage[shared])
        return similarity


def rounding(width: int, dtype: DTypeLike) -> float:
    """Return the most that a product of scaled vectors may differ from the float64 similarity on the same scale."""
    # 16 more roundings than the sum has, for conversions. The float64 term covers the lengths and the similarity that
    # decides; 1 % is a margin.
    relative = (width + 16) * float(np.finfo(dtype).eps) / 2
    if relative >= 1:
        return np.inf
    return 1.01 * (relative / (1 - relative) + (3 * width + 64) * 2.0**-53)


def is_positive(rows: Matrix) -> bool:
    """Return whether a matrix is sparse with numbers so far above 0 that their products do not become 0."""
    return bool(issparse(rows) and csr_array(rows).data.min(initial=1.0) > 1e-150)


def scaled(rows: Matrix, scale: Floats, dtype: DTypeLike) -> Matrix:
    """Return (n, d) rows times (n,) numbers, computed in float64 and stored as ``dtype``; CSR stays in float64."""
    if issparse(rows):
        return (diags_array(scale) @ rows.astype(np.float64)).tocsr()
    out = np.empty(rows.shape, dtype)
    for part, (block,) in dense_blocks(rows):
        np.multiply(block, scale[part, None], out=out[part], casting="same_kind")
    return out


def is_scalable(squares: Floats) -> Bools:
    """Return which vectors can be divided by their length, given their squared lengths."""
    return np.asarray((squares > SHORTEST) & (squares < LONGEST))


def squares_of(rows: Matrix) -> Floats:
    """Return the (n,) squared lengths of rows."""
    with np.errstate(all="ignore"):
        return paired_dot(rows, rows)


def reached_by(scores: np.ndarray, k: int) -> Floats:
    """Return for each row of (n, N) scores a score that at least k of them reach; −inf where there are too few."""
    # The scores of a row are divided into about 8k groups. The k-th greatest of the groups' maxima is hardly below the
    # k-th greatest score, and much faster to find.
    size = max(1, scores.shape[1] // (8 * k))
    groups = scores.shape[1] // size
    if groups < k:
        return np.full(len(scores), -np.inf)
    maxima = scores[:, : size * groups].reshape(-1, size, groups).max(axis=1)
    maxima[np.isnan(maxima)] = -np.inf
    return np.asarray(np.partition(maxima, -k, axis=1)[:, -k], dtype=np.float64)


def ranges(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Return the concatenated ranges first[i], …, last[i] − 1, and for each of their numbers its i."""
    sizes = last - first
    of_range = np.repeat(np.arange(len(first)), sizes)
    begin = np.cumsum(sizes) - sizes
    return of_range, np.arange(len(of_range)) + (first - begin)[of_range]


def nearest_passages(key: Ints, passage: Ints, similarity: Floats) -> tuple[Ints, Floats, Ints]:
    """Return the distinct of (n,) ascending keys, the greatest similarity of each, and the first passage with it."""
    begin = np.flatnonzero(np.diff(key, prepend=-1))
    # fmax ignores NaN where there is another number.
    greatest = np.fmax.reduceat(similarity, begin)
    has_greatest = similarity == np.repeat(greatest, np.diff(begin, append=len(key)))
    # Others get a number that is higher than any passage.
    candidates = np.where(has_greatest, passage, np.iinfo(np.int64).max)
    return key[begin], greatest, np.minimum.reduceat(candidates, begin)
