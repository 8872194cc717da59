"""What is searched, the float64 similarities that decide, and the answer as it grows.

Whatever proposes a document, what is decided and returned is the float64 number of ``geometry.closeness``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from embassay.geometry.closeness import cosine_of, paired_dot
from embassay.vectors import Found, Similarity

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
DENSE_PAIRS, SPARSE_PAIRS = 512, 16_384
"""Pairs of vectors that are copied at once: dense ones should stay in the processor's cache."""


@dataclass(frozen=True)
class SearchTask:
    """What is searched.

    Attributes
    ----------
    queries, passages
        (Q, d) and (P, d), both dense or both CSR.
    starts
        (N,) the first passage of each document; None where every passage is a document.
    k
        How many documents are wanted for each query, at least 1.
    pairs
        (R, 2) query and document whose rank is wanted.
    """

    queries: Any
    passages: Any
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
    def squares(self) -> Floats:
        """(Q,) q·q of each query."""
        with np.errstate(all="ignore"):
            return paired_dot(self.queries, self.queries)

    @cached_property
    def defined(self) -> NDArray[np.bool_]:
        """(Q,) whether a query has a similarity to anything: a zero or overflowing vector has no cosine."""
        if self.measure == "dot":
            return np.ones(len(self.squares), dtype=np.bool_)
        return np.asarray((self.squares > 0) & np.isfinite(self.squares))

    @cached_property
    def own(self) -> Floats:
        """(R,) the similarity of each pair."""
        return self.similarity(self.pairs[:, 0], self.pairs[:, 1])[0]

    @cached_property
    def _pairs_by_query(self) -> tuple[Ints, Ints]:
        """(R,) the pairs, query by query, and (Q + 1,) where those of each query begin."""
        order = np.argsort(self.pairs[:, 0], kind="stable")
        return order, np.searchsorted(self.pairs[order, 0], np.arange(self.queries.shape[0] + 1))

    def pairs_of(self, queries: Ints) -> tuple[Ints, Ints]:
        """Return the pairs that ask about (n,) queries: (m,) the place of each one's query among these, (m,) pairs."""
        order, begin = self._pairs_by_query
        sizes = begin[queries + 1] - begin[queries]
        place = np.arange(sizes.sum()) + np.repeat(begin[queries] - np.cumsum(sizes) + sizes, sizes)
        return np.repeat(np.arange(len(queries)), sizes), order[place]

    def first_passages(self, documents: Ints) -> Ints:
        """Return the first passage of each document; the number of passages for the document after the last."""
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

        NaN where no passage has a similarity. These are the numbers that everything is decided by.
        """
        if self.starts is None or not len(query):
            return self._of_passages(query, document), document
        first = self.first_passages(document)
        sizes = self.first_passages(document + 1) - first
        begin = np.cumsum(sizes) - sizes
        passage = np.arange(sizes.sum()) + np.repeat(first - begin, sizes)
        values = self._of_passages(np.repeat(query, sizes), passage)
        nearest = np.fmax.reduceat(values, begin)
        # Of passages that are equally near, the first one counts.
        candidates = np.where(values == np.repeat(nearest, sizes), passage, self.passages.shape[0])
        return nearest, np.minimum.reduceat(candidates, begin)

    def _of_passages(self, query: Ints, passage: Ints) -> Floats:
        dots, squares = np.empty((2, len(query)))
        step = SPARSE_PAIRS if self.sparse else DENSE_PAIRS
        with np.errstate(all="ignore"):
            for start in range(0, len(query), step):
                part = slice(start, start + step)
                rows = self.passages[passage[part]]
                dots[part] = paired_dot(self.queries[query[part]], rows)
                if self.measure == "cosine":
                    squares[part] = paired_dot(rows, rows)
        return dots if self.measure == "dot" else cosine_of(dots, self.squares[query], squares)


class Answer:
    """The answer as it grows: the nearest documents so far, and how many are nearer than those of the pairs."""

    def __init__(self, task: SearchTask):
        count = task.queries.shape[0]
        self.task = task
        self.documents = np.full((count, task.k), -1, dtype=np.int64)
        self.passages = self.documents.copy()
        self.similarity = np.full((count, task.k), np.nan)
        self.greater, self.tied = np.zeros((2, len(task.pairs)), dtype=np.int64)

    def bars(self, queries: Ints) -> Floats:
        """Return the similarity that k documents reach, of some queries; −inf while there are fewer."""
        bars = self.similarity[queries, -1]
        return np.where(np.isnan(bars), -np.inf, bars)

    def add(self, query: Ints, document: Ints, passage: Ints, similarity: Floats) -> None:
        """Keep the k nearest of the documents so far and (n,) further ones; a NaN is not kept."""
        k, known = self.task.k, np.flatnonzero(~np.isnan(similarity))
        queries = np.unique(query[known])
        rows = np.concatenate([np.repeat(queries, k), query[known]])
        documents = np.concatenate([self.documents[queries].ravel(), document[known]])
        passages = np.concatenate([self.passages[queries].ravel(), passage[known]])
        values = np.concatenate([self.similarity[queries].ravel(), similarity[known]])
        # NaN, the mark of an empty place, is sorted last.
        order = np.lexsort((documents, -values, rows))
        rank = np.arange(len(order)) - np.searchsorted(rows[order], rows[order])
        order, rank = order[rank < k], rank[rank < k]
        self.documents[rows[order], rank] = documents[order]
        self.passages[rows[order], rank] = passages[order]
        self.similarity[rows[order], rank] = values[order]

    def count(self, pairs: Ints, query: Ints, similarity: Floats) -> None:
        """Count which of (n,) further documents, each for a query, are nearer than those of (m,) pairs, or as near."""
        asked = self.task.pairs[pairs, 0]
        queries = np.concatenate([asked, query])
        # NaN is sorted last and is equal to NaN: that is the order of what has no similarity.
        farness = -np.concatenate([self.task.own[pairs], similarity])
        is_document = np.arange(len(queries)) >= len(pairs)
        others = np.searchsorted(np.sort(query), asked)
        before = np.empty(len(queries), dtype=np.int64)
        order = np.lexsort((is_document, farness, queries))
        before[order] = np.cumsum(is_document[order])
        nearer = before[: len(pairs)] - others
        order = np.lexsort((~is_document, farness, queries))
        before[order] = np.cumsum(is_document[order])
        self.greater[pairs] += nearer
        self.tied[pairs] += before[: len(pairs)] - others - nearer

    def merge(self, other: Answer) -> None:
        """Take in the answer from other documents."""
        query, place = np.nonzero(other.documents >= 0)
        cells = (query, place)
        self.add(query, other.documents[cells], other.passages[cells], other.similarity[cells])
        self.greater += other.greater
        self.tied += other.tied

    def found(self, route: str, k: int) -> Found:
        """Return the answer."""
        # Nothing has a place where the query has no similarity to anything.
        placeless = ~self.task.defined[self.task.pairs[:, 0]] | (np.isnan(self.task.own) & (self.greater == 0))
        self.greater[placeless] = self.tied[placeless] = -1
        nearest = (self.documents[:, :k], self.passages[:, :k], self.similarity[:, :k])
        return Found(*nearest, self.task.own, self.greater, self.tied, route)
