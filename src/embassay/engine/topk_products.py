"""Fast products of queries and blocks of passages, with a bound on their error.

Vectors are scaled in float64 before they are multiplied: queries to length 1; passages to length 1 for a cosine, or
divided by the length of the longest passage of the block for a dot product. So no length is above 1. Then a product of
vectors of d numbers, summed in any order, differs from the exact one by at most γ = du / (1 − du), with u = 2⁻²⁴ for
float32 (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array, diags_array, issparse

from embassay.engine.topk_answer import Bools, Floats, Ints, Matrix, SearchTask, ranges
from embassay.geometry.closeness import dense_blocks, paired_dot

SHORTEST, LONGEST = 1e-280, 1e280
"""Squared lengths between which float64 neither overflows nor underflows."""
MOST_LANES = 64
"""Documents with more passages than this are not arranged in lanes; see :class:`Lanes`."""


def rounding(width: int, dtype: DTypeLike) -> float:
    """Return the most that a product of scaled vectors may differ from the float64 similarity on the same scale."""
    # 16 more roundings than the sum has, for conversions. The float64 term covers the lengths and the similarity that
    # decides; 1 % is a margin.
    relative = (width + 16) * float(np.finfo(dtype).eps) / 2
    if relative >= 1:
        return np.inf
    return 1.01 * (relative / (1 - relative) + (3 * width + 64) * 2.0**-53)


def usual(squares: Floats) -> Bools:
    """Return which vectors can be divided by their length; the others are compared one by one in float64."""
    return np.asarray((squares > SHORTEST) & (squares < LONGEST))


def scaled(rows: Matrix, scale: Floats, dtype: DTypeLike, out: np.ndarray | None = None) -> Matrix:
    """Return (n, d) rows times (n,) numbers, computed in float64 and stored as ``dtype``; CSR stays in float64."""
    if issparse(rows):
        return (diags_array(scale) @ rows.astype(np.float64)).tocsr()
    if out is None:
        out = np.empty(rows.shape, dtype)
    with np.errstate(all="ignore"):
        for part, (block,) in dense_blocks(rows):
            np.multiply(block, scale[part, None], out=out[part], casting="same_kind")
    return out


class Queries:
    """The queries whose similarity is defined, scaled.

    Attributes
    ----------
    ids
        (n,) their places among all queries.
    lengths
        (n,) the factor by which similarities were divided: the length, or 1 for a cosine; NaN for a query that cannot
        be scaled.
    rows
        (n, d) the scaled queries.
    """

    def __init__(self, task: SearchTask, dtype: DTypeLike):
        """Scale the queries to unit length, so that products in ``dtype`` neither overflow nor underflow."""
        self.task = task
        self.ids = np.flatnonzero(task.defined)
        squares = task.query_squares[self.ids]
        scalable = usual(squares)
        lengths = np.sqrt(np.where(scalable, squares, 1.0))
        self._scale = np.where(scalable, 1 / lengths, 0.0)
        # A cosine does not depend on the length, so the scaling need not be undone.
        if task.measure == "cosine":
            lengths = np.ones(len(squares))
        self.lengths = np.where(scalable, lengths, np.nan)
        self.rows = self.take(np.arange(len(self.ids)), dtype)

    def take(self, places: Ints, dtype: DTypeLike) -> Matrix:
        """Return some scaled queries in another precision."""
        return scaled(self.task.queries[self.ids[places]], self._scale[places], dtype)


@dataclass(frozen=True)
class Lanes:
    """An order of the passages of some documents in which the greatest score of each document is computed fast.

    Lane 0 holds the first passages of all documents, lane 1 the second passages of those that have two, and so on.
    Documents with more passages come before those with fewer. So the maximum of a lane and the beginning of lane 0 is
    one operation on contiguous columns. Documents with very many passages come last, the passages of each together.

    ``np.maximum.reduceat`` would be simpler, but is much slower over short runs of columns.

    Attributes
    ----------
    documents
        (N,) the documents, in the order of lane 0.
    passages
        (B,) the passages, in this order.
    widths
        The number of documents in each lane.
    long
        The number of passages of each document at the end.
    """

    documents: Ints
    passages: Ints
    widths: list[int]
    long: list[int]

    @classmethod
    def of(cls, sizes: Ints) -> Lanes:
        """Order the documents, which have (N,) numbers of passages, and their passages lane by lane."""
        # By descending size, and the long documents at the end.
        is_long = sizes > MOST_LANES
        documents = np.lexsort((-sizes, is_long))
        rank = np.empty(len(sizes), dtype=np.int64)
        rank[documents] = np.arange(len(sizes))

        # For each passage: the rank of its document, its number in the document, and its lane. The passages of the long
        # documents share one last lane, in which those of a document stand together.
        rank_of_document = np.repeat(rank, sizes)
        number_in_document = ranges(np.zeros(len(sizes), dtype=np.int64), sizes)
        lane = np.where(np.repeat(is_long, sizes), MOST_LANES, number_in_document)
        passages = np.lexsort((number_in_document, rank_of_document, lane))

        widths = np.bincount(lane[lane < MOST_LANES])
        long = sizes[documents[is_long[documents]]]
        return cls(documents, passages, widths.tolist(), long.tolist())

    def greatest(self, scores: np.ndarray) -> np.ndarray:
        """Return the (b, N) greatest scores of documents, given the (b, B) scores of passages; NaN if one is NaN."""
        greatest = np.empty((len(scores), len(self.documents)), scores.dtype)
        # Short documents: first the first passages of all, then the second passages of those that have one, and so on.
        # A few comparisons of wide blocks are much faster than one for each document.
        begin = 0
        for number, width in enumerate(self.widths):
            passages = scores[:, begin : begin + width]
            so_far = greatest[:, :width]
            if number == 0:
                so_far[:] = passages
            else:
                np.maximum(so_far, passages, out=so_far)
            begin += width
        # Long documents, which stand last: the passages of each are neighbours.
        first_long = len(self.documents) - len(self.long)
        for column, size in enumerate(self.long, start=first_long):
            scores[:, begin : begin + size].max(axis=1, out=greatest[:, column])
            begin += size
        return greatest


@dataclass(frozen=True)
class Block:
    """The passages of several whole documents.

    Attributes
    ----------
    documents
        (N,) the documents in the order of their scores.
    start
        The first passage.
    passages
        (B,) the passages in the order of their scores.
    lanes
        The order of the passages; None if every passage is a document.
    raw, scale, rows
        (B, d) the passages, (B,) the factors by which they are scaled, and (B, d) the scaled passages.
    unit
        The factor by which similarities are divided.
    undefined, unusual
        Places of passages that have no similarity, and of those that cannot be scaled.
    """

    documents: Ints
    start: int
    passages: Ints
    lanes: Lanes | None
    raw: Matrix
    scale: Floats
    rows: Matrix
    unit: float
    undefined: Ints
    unusual: Ints

    @classmethod
    def of(cls, task: SearchTask, first: int, last: int, room: np.ndarray) -> Block:
        """Scale the passages of the documents first, …, last − 1; dense ones are written into ``room``."""
        documents = np.arange(first, last)
        begins = task.first_passages(np.arange(first, last + 1))
        start, stop = int(begins[0]), int(begins[-1])
        passages = np.arange(start, stop)
        raw = task.passages[start:stop]
        lanes = None
        if task.starts is not None:
            lanes = Lanes.of(np.diff(begins))
            documents = documents[lanes.documents]
            passages = passages[lanes.passages]
            raw = raw[lanes.passages]
        if not task.sparse:
            # A memory-mapped array would be read again in each step below.
            raw = np.asarray(raw)

        scaling = _scaling_for_cosine(raw) if task.measure == "cosine" else _scaling_for_dot(raw)
        out = None if task.sparse else room[: stop - start]
        return cls(
            documents=documents,
            start=start,
            passages=passages,
            lanes=lanes,
            raw=raw,
            scale=scaling.scale,
            rows=scaled(raw, scaling.scale, room.dtype, out),
            unit=scaling.unit,
            undefined=np.flatnonzero(scaling.undefined),
            unusual=np.flatnonzero(scaling.unusual),
        )

    @cached_property
    def columns(self) -> Ints:
        """(B,) the column of the scores for each passage, in the order of passages."""
        columns = np.empty(len(self.passages), dtype=np.int64)
        columns[self.passages - self.start] = np.arange(len(self.passages))
        return columns

    @cached_property
    def precise_rows(self) -> NDArray[np.float64]:
        """(B, d) the scaled passages in float64."""
        return np.asarray(scaled(self.raw, self.scale, np.float64))

    @cached_property
    def positive(self) -> bool:
        """Whether products are 0 only for vectors that share no dimension; see :func:`positive`."""
        return positive(self.rows)

    @cached_property
    def first_defined(self) -> Ints:
        """(N,) the first passage of each document that has a similarity."""
        passages = self.passages.copy()
        passages[self.undefined] = np.iinfo(np.int64).max
        return np.asarray(-self.of_documents(-passages[None, :])[0])

    def mark(self, scores: np.ndarray) -> None:
        """Set (b, B) scores to −inf for passages without a similarity, and to NaN for unusual ones."""
        scores[:, self.undefined] = -np.inf
        scores[:, self.unusual] = np.nan

    def of_documents(self, scores: np.ndarray) -> np.ndarray:
        """Return the (b, N) scores of the documents, given those of the passages: the greatest; NaN if one is NaN."""
        return scores if self.lanes is None else self.lanes.greatest(scores)


def positive(rows: Matrix) -> bool:
    """Return whether a matrix is sparse with numbers above 0 whose products cannot underflow to 0."""
    if not issparse(rows):
        return False
    return bool(csr_array(rows).data.min(initial=1.0) > 1e-150)


@dataclass(frozen=True)
class _Scaling:
    """How the (B, d) passages of a block are scaled.

    Attributes
    ----------
    scale
        (B,) the factors; 0 for a passage that cannot be scaled. It is undefined, a zero vector or unusual.
    unit
        The factor by which similarities are divided.
    undefined, unusual
        (B,) which passages have no similarity, and of which the score is unknown: these are compared in float64.
    """

    scale: Floats
    unit: float
    undefined: Bools
    unusual: Bools


def _scaling_for_cosine(rows: Matrix) -> _Scaling:
    """Scale each passage to unit length."""
    squares = _squares(rows)
    scalable = usual(squares)
    scale = np.zeros(len(squares))
    scale[scalable] = 1 / np.sqrt(squares[scalable])
    undefined = ~((squares > 0) & np.isfinite(squares))
    return _Scaling(scale, 1.0, undefined, unusual=~scalable & ~undefined)


def _scaling_for_dot(rows: Matrix) -> _Scaling:
    """Divide all passages by the length of the longest one, so that their dot products keep their order."""
    squares = _squares(rows)
    scalable = usual(squares)
    longest = float(np.sqrt(squares[scalable].max(initial=0)))
    unit = longest or 1.0
    scale = np.where(scalable, 1 / unit, 0.0)
    nothing_undefined = np.zeros(len(squares), np.bool_)
    return _Scaling(scale, unit, nothing_undefined, unusual=~scalable & ~_all_zero(rows, squares))


def _squares(rows: Matrix) -> Floats:
    with np.errstate(all="ignore"):
        return paired_dot(rows, rows)


def _all_zero(rows: Matrix, squares: Floats) -> Bools:
    """Return which rows are zero vectors; the square of a very short vector is 0 as well."""
    zero = squares == 0
    candidates = rows[np.flatnonzero(zero)]
    nonzero_numbers = np.asarray((candidates != 0).sum(axis=1)).ravel()
    zero[zero] = nonzero_numbers == 0
    return np.asarray(zero)


class Product(Protocol):
    """Multiplies the queries that it is constructed with by blocks of passages; several threads may use it at once."""

    def __init__(self, queries: Any): ...

    def load(self, rows: Any) -> Any:
        """Return (B, d) passages in the form that ``multiply`` takes."""
        ...

    def multiply(self, queries: slice, loaded: Any, out: np.ndarray) -> None:
        """Write the (b, B) scores of some queries."""
        ...


class NumpyProduct:
    """A matrix product of numpy."""

    def __init__(self, queries: np.ndarray):
        self.queries = queries

    def load(self, rows: np.ndarray) -> np.ndarray:
        """Return the passages as they are."""
        return rows

    def multiply(self, queries: slice, loaded: np.ndarray, out: np.ndarray) -> None:
        """Write the scores."""
        np.matmul(self.queries[queries], loaded.T, out=out)


class SparseProduct:
    """A product of sparse matrices, in float64."""

    def __init__(self, queries: csr_array):
        self.queries = queries

    def load(self, rows: csr_array) -> csr_array:
        """Return the transposed passages."""
        return rows.T.tocsr()

    def multiply(self, queries: slice, loaded: csr_array, out: np.ndarray) -> None:
        """Write the scores."""
        (self.queries[queries] @ loaded).toarray(out=out)
