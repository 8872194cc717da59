"""The search task with its float64 similarities, and the answer, to which blocks of documents are added.

Documents may be proposed by any product; the float64 similarity of ``geometry.closeness`` decides and is returned.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from embassay.geometry.closeness import cosine_of, paired_dot
from embassay.vectors import Found, Similarity

Floats = NDArray[np.float64]
Matrix: TypeAlias = "np.ndarray | csr_array"
"""Vectors, one per row: dense with any floating-point type, or sparse."""
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
DENSE_PAIRS, SPARSE_PAIRS = 512, 16_384
"""The number of pairs of vectors that are copied at once: dense ones should stay in the processor's cache."""


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
    measure: Similarity
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
        with np.errstate(all="ignore"):
            return paired_dot(self.queries, self.queries)

    @cached_property
    def defined(self) -> Bools:
        """(Q,) whether a query has any similarity: a vector that is zero or whose square overflows has no cosine."""
        if self.measure == "dot":
            return np.ones(len(self.query_squares), dtype=np.bool_)
        return np.asarray((self.query_squares > 0) & np.isfinite(self.query_squares))

    @cached_property
    def pair_similarity(self) -> Floats:
        """(R,) the similarity of each pair."""
        return self._nearest_of_pairs[0]

    @cached_property
    def pair_passages(self) -> Ints:
        """(R,) the passage of each pair's document that is nearest to the query."""
        return self._nearest_of_pairs[1]

    @cached_property
    def _nearest_of_pairs(self) -> tuple[Floats, Ints]:
        return self.similarity(self.pairs[:, 0], self.pairs[:, 1])

    @cached_property
    def _pairs_by_query(self) -> tuple[Ints, Ints]:
        """(R,) the places of the pairs ordered by query, and (Q + 1,) where the pairs of each query begin."""
        order = np.argsort(self.pairs[:, 0], kind="stable")
        return order, np.searchsorted(self.pairs[order, 0], np.arange(self.queries.shape[0] + 1))

    def pairs_of(self, queries: Ints) -> tuple[Ints, Ints]:
        """Return the pairs of (n,) queries: (m,) ascending places in ``queries``, and (m,) places in ``pairs``."""
        order, begin = self._pairs_by_query
        first = begin[queries]
        sizes = begin[queries + 1] - first
        places = np.repeat(np.arange(len(queries)), sizes)
        return places, order[ranges(first, sizes)]

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

    def passages_of(self, documents: Ints) -> tuple[Ints, Ints]:
        """Return all passages of (n,) documents: (m,) ascending places in ``documents``, and (m,) passages."""
        first = self.first_passages(documents)
        sizes = self.first_passages(documents + 1) - first
        return np.repeat(np.arange(len(documents)), sizes), ranges(first, sizes)

    def similarity(self, query: Ints, document: Ints) -> tuple[Floats, Ints]:
        """Return the (n,) similarities of n queries and documents, and the nearest passage of each document.

        NaN where no passage has a similarity. These similarities decide every rank and are returned to the user.
        """
        if self.starts is None:
            return self.passage_similarity(query, document), document
        place, passage = self.passages_of(document)
        return self.nearest(place, passage, self.passage_similarity(query[place], passage))

    def nearest(self, place: Ints, passage: Ints, similarity: Floats) -> tuple[Floats, Ints]:
        """Return the greatest similarity of the passages at each place, and the first passage that has it.

        Parameters
        ----------
        place, passage, similarity
            (m,) each; places ascend from 0 without gaps.
        """
        if not len(place):
            return np.empty(0), np.empty(0, dtype=np.int64)
        begin = np.flatnonzero(np.diff(place, prepend=-1))
        # fmax ignores NaN where there is another number.
        greatest = np.fmax.reduceat(similarity, begin)
        # All other passages get a number that is higher than any passage.
        candidates = np.where(similarity == greatest[place], passage, self.passages.shape[0])
        return greatest, np.minimum.reduceat(candidates, begin)

    def passage_similarity(self, query: Ints, passage: Ints) -> Floats:
        """Return the (n,) similarities of n queries and passages; NaN where undefined."""
        dots = np.empty(len(query))
        squares = np.empty(len(query))
        step = SPARSE_PAIRS if self.sparse else DENSE_PAIRS
        with np.errstate(all="ignore"):
            for start in range(0, len(query), step):
                part = slice(start, start + step)
                rows = self.passages[passage[part]]
                dots[part] = paired_dot(self.queries[query[part]], rows)
                if self.measure == "cosine":
                    squares[part] = paired_dot(rows, rows)
        if self.measure == "dot":
            return dots
        return cosine_of(dots, self.query_squares[query], squares)


class Answer:
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
        self.task = task
        shape = (task.queries.shape[0], task.k)
        self.documents = np.full(shape, -1, dtype=np.int64)
        self.passages = np.full(shape, -1, dtype=np.int64)
        self.similarity = np.full(shape, np.nan)
        pairs = len(task.pairs)
        self.greater = np.zeros(pairs, dtype=np.int64)
        self.tied = np.zeros(pairs, dtype=np.int64)

    def bars(self, queries: Ints) -> Floats:
        """Return the similarity of the k-th nearest document so far of some queries; −inf if there are fewer."""
        bars = self.similarity[queries, -1]
        return np.where(np.isnan(bars), -np.inf, bars)

    def add(self, query: Ints, document: Ints, passage: Ints, similarity: Floats) -> None:
        """Add (n,) documents, each for a query, and keep the k nearest; those without a similarity are dropped."""
        k = self.task.k
        defined = np.flatnonzero(~np.isnan(similarity))
        # The rows of the queries that get documents are made anew from their old content and the new documents.
        changed = np.unique(query[defined])
        rows = np.concatenate([np.repeat(changed, k), query[defined]])
        documents = np.concatenate([self.documents[changed].ravel(), document[defined]])
        passages = np.concatenate([self.passages[changed].ravel(), passage[defined]])
        similarities = np.concatenate([self.similarity[changed].ravel(), similarity[defined]])

        # By query, then the nearest first; NaN, which marks an empty place, is sorted last.
        order = np.lexsort((documents, -similarities, rows))
        rows = rows[order]
        first_of_query = np.searchsorted(rows, rows)
        rank = np.arange(len(rows)) - first_of_query
        is_among_nearest = rank < k
        nearest = order[is_among_nearest]
        cells = (rows[is_among_nearest], rank[is_among_nearest])
        self.documents[cells] = documents[nearest]
        self.passages[cells] = passages[nearest]
        self.similarity[cells] = similarities[nearest]

    def count(self, pairs: Ints, query: Ints, similarity: Floats) -> None:
        """Count (n,) documents, each for a query, that are nearer than, or as near as, the documents of (m,) pairs.

        Pairs and documents are sorted together, by query and then by distance, once with pairs before tied documents
        and once after them. The documents that stand before a pair, less those of earlier queries, are the nearer ones
        in the first order, and the nearer and the tied ones in the second.
        """
        query_of_pair = self.task.pairs[pairs, 0]
        queries = np.concatenate([query_of_pair, query])
        # lexsort puts NaN last and treats all NaN as tied: documents without a similarity are the farthest.
        distance = -np.concatenate([self.task.pair_similarity[pairs], similarity])
        is_document = np.arange(len(queries)) >= len(pairs)
        of_earlier_queries = np.searchsorted(np.sort(query), query_of_pair)

        # lexsort sorts by its last key first. Its first key decides ties: False stands before True.
        pairs_first = np.lexsort((is_document, distance, queries))
        documents_before = _true_before(is_document, pairs_first)
        nearer = documents_before[: len(pairs)] - of_earlier_queries
        documents_first = np.lexsort((~is_document, distance, queries))
        documents_before = _true_before(is_document, documents_first)
        nearer_or_tied = documents_before[: len(pairs)] - of_earlier_queries
        self.greater[pairs] += nearer
        self.tied[pairs] += nearer_or_tied - nearer

    def merge(self, other: Answer) -> None:
        """Add the answer of a search of other documents."""
        cells = np.nonzero(other.documents >= 0)
        self.add(cells[0], other.documents[cells], other.passages[cells], other.similarity[cells])
        self.greater += other.greater
        self.tied += other.tied

    def result(self, route: str, k: int) -> Found:
        """Return the k nearest documents and the ranks of the pairs."""
        task = self.task
        query_undefined = ~task.defined[task.pairs[:, 0]]
        # A document without a similarity is ranked after all that have one. If none has one, there is no order.
        nothing_defined = np.isnan(task.pair_similarity) & (self.greater == 0)
        rankless = query_undefined | nothing_defined
        return Found(
            documents=self.documents[:, :k],
            passages=self.passages[:, :k],
            similarity=self.similarity[:, :k],
            own=task.pair_similarity,
            own_passages=np.where(np.isnan(task.pair_similarity), -1, task.pair_passages),
            greater=np.where(rankless, -1, self.greater),
            tied=np.where(rankless, -1, self.tied),
            route=route,
        )


def ranges(first: Ints, sizes: Ints) -> Ints:
    """Return the concatenated ranges first[i], first[i] + 1, …, first[i] + sizes[i] − 1."""
    begin = np.cumsum(sizes) - sizes
    return np.asarray(np.arange(sizes.sum()) + np.repeat(first - begin, sizes))


def _true_before(mask: Bools, order: Ints) -> Ints:
    """Return for each item of a mask the number of true items up to and including it in the given order."""
    counts = np.empty(len(mask), dtype=np.int64)
    counts[order] = np.cumsum(mask[order])
    return counts
