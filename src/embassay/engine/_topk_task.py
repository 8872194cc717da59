"""What is searched for, the similarities that decide, and the answer as it grows.

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
CHUNK = 512
"""Pairs of vectors that are gathered at once."""
ONE_BY_ONE = 8
"""So many places in one order are counted one by one; more of them through sorting it once."""


@dataclass(frozen=True)
class Task:
    """Queries (Q, d), passages (P, d), the first passage of each document or None, how many are wanted."""

    queries: Any
    passages: Any
    starts: Ints | None
    k: int
    measure: Similarity

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
        """(Q,) u·u of each query."""
        with np.errstate(all="ignore"):
            return paired_dot(self.queries, self.queries)

    @cached_property
    def _passage_squares(self) -> Floats:
        """(P,) p·p of each passage that a similarity was computed of so far; NaN else."""
        return np.full(self.passages.shape[0], np.nan)

    def document(self, passage: Ints) -> Ints:
        """Return the document of each passage."""
        if self.starts is None:
            return passage
        return np.asarray(np.searchsorted(self.starts, passage, side="right") - 1, dtype=np.int64)

    def rows(self, documents: Ints) -> tuple[Ints, Ints]:
        """Return the passages of several documents one after another, and where those of each begin."""
        if self.starts is None:
            return documents, np.arange(len(documents))
        sizes = self._sizes(documents)
        return spread(self.starts[documents], sizes), np.cumsum(sizes) - sizes

    def similarity(self, query: Ints, passage: Ints) -> Floats:
        """Return the (n,) similarities of n pairs: the numbers that everything is decided by."""
        out = np.empty(len(query))
        with np.errstate(all="ignore"):
            for start in range(0, len(query), CHUNK):
                part = slice(start, start + CHUNK)
                out[part] = paired_dot(self.queries[query[part]], self.passages[passage[part]])
            if self.measure == "cosine":
                return cosine_of(out, self.squares[query], self._squares_of(passage))
        return out

    def _squares_of(self, passage: Ints) -> Floats:
        """Return (n,) p·p; those of a passage are computed once."""
        known = self._passage_squares
        new = np.unique(passage[np.isnan(known[passage])])
        for start in range(0, len(new), CHUNK):
            part = new[start : start + CHUNK]
            rows = self.passages[part]
            known[part] = paired_dot(rows, rows)
        return known[passage]

    def of_documents(self, query: Ints, document: Ints) -> Floats:
        """Return the (n,) similarities of n queries and documents: that of the nearest passage."""
        out = np.empty(len(query))
        ends = np.cumsum(self._sizes(document))
        start = 0
        while start < len(query):
            done = ends[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, done + CHUNK * 16, side="right")))
            rows, begin = self.rows(document[start:stop])
            counts = np.diff(np.append(begin, len(rows)))
            values = self.similarity(np.repeat(query[start:stop], counts), rows)
            out[start:stop] = np.fmax.reduceat(values, begin)
            start = stop
        return out

    def _sizes(self, document: Ints) -> Ints:
        if self.starts is None:
            return np.ones(len(document), dtype=np.int64)
        ends = np.append(self.starts[1:], self.passages.shape[0])
        return np.asarray(ends[document] - self.starts[document])


class Answer:
    """The answer, query by query; queries that are never settled keep NaN and −1."""

    def __init__(self, task: Task, pairs: Ints):
        count, places = task.queries.shape[0], len(pairs)
        self.task, self.pairs = task, pairs
        self.documents = np.full((count, task.k), -1, dtype=np.int64)
        self.passages = self.documents.copy()
        self.similarity = np.full((count, task.k), np.nan)
        self.own = task.of_documents(pairs[:, 0], pairs[:, 1])
        self.greater, self.tied = np.full((2, places), -1, dtype=np.int64)
        self._order = np.argsort(pairs[:, 0], kind="stable")
        self._begin = np.searchsorted(pairs[self._order, 0], np.arange(count + 1))

    def pairs_of(self, query: int) -> Ints:
        """Return which pairs ask about a query."""
        return np.asarray(self._order[self._begin[query] : self._begin[query + 1]])

    def asked_of(self, queries: Ints) -> tuple[Ints, Ints]:
        """Return the pairs that ask about some queries: (n,) the place of each one's query among these, (n,) pairs."""
        begin, sizes = self._begin[queries], self._begin[queries + 1] - self._begin[queries]
        return np.repeat(np.arange(len(queries)), sizes), self._order[spread(begin, sizes)]

    def place(self, query: Ints, passage: Ints, value: Floats) -> None:
        """Fill in the nearest documents of queries, given (n,) passages that hold them, in any order."""
        known = ~np.isnan(value)
        query, passage, value = query[known], passage[known], value[known]
        document = self.task.document(passage)
        order = np.lexsort((passage, -value, document, query))
        order = order[new_runs(query[order], document[order])]
        order = order[np.lexsort((document[order], -value[order], query[order]))]
        row = query[order]
        rank = np.arange(len(row)) - np.searchsorted(row, row)
        order, row, rank = (a[rank < self.task.k] for a in (order, row, rank))
        self.documents[row, rank] = document[order]
        self.passages[row, rank] = passage[order]
        self.similarity[row, rank] = value[order]

    def found(self, route: str, k: int) -> Found:
        """Return what is known, cut to k documents."""
        documents, passages, similarity = self.documents[:, :k], self.passages[:, :k], self.similarity[:, :k]
        return Found(documents, passages, similarity, self.own, self.greater, self.tied, route)


def new_runs(*keys: NDArray[Any]) -> NDArray[np.bool_]:
    """Say where a run of equal keys begins, in sorted arrays."""
    new = np.ones(len(keys[0]), dtype=np.bool_)
    if len(new):
        new[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    return new


def count(scores: NDArray[Any], low: NDArray[Any], high: NDArray[Any]) -> tuple[Ints, Ints]:
    """Return, for each of m intervals, how many scores are above it, and how many above or inside.

    Parameters
    ----------
    scores
        (n,) without NaN.
    low, high
        (m,) the intervals, both ends included.
    """
    if len(low) > ONE_BY_ONE:
        line = np.sort(scores)
        above, least = np.searchsorted(line, high, side="right"), np.searchsorted(line, low, side="left")
        return len(line) - above, len(line) - least
    above = np.array([np.count_nonzero(scores > end) for end in high], dtype=np.int64)
    return above, np.array([np.count_nonzero(scores >= end) for end in low], dtype=np.int64)


def within(scores: NDArray[Any], low: NDArray[Any], high: NDArray[Any]) -> tuple[Ints, Ints]:
    """Return each pair of an interval and a score inside it."""
    if len(low) <= ONE_BY_ONE:
        inside = [np.flatnonzero((scores >= a) & (scores <= b)) for a, b in zip(low, high, strict=True)]
        return np.repeat(np.arange(len(low)), [len(i) for i in inside]), np.concatenate(inside)
    order = np.argsort(scores)
    begin = np.searchsorted(scores, low, side="left", sorter=order)
    sizes = np.searchsorted(scores, high, side="right", sorter=order) - begin
    return np.repeat(np.arange(len(low)), sizes), order[spread(begin, sizes)]


def spread(begin: Ints, sizes: Ints) -> Ints:
    """Return several ranges of whole numbers, one after another."""
    return np.asarray(np.arange(sizes.sum()) + np.repeat(begin - np.cumsum(sizes) + sizes, sizes))
