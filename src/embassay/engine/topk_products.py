"""Fast products of queries and blocks of passages, and how wrong they may be at most.

Before vectors are multiplied they are scaled in float64: queries to length 1; passages to length 1 for a cosine, and by
the length of the longest in their block for a dot product. No length is then above 1, and for vectors of d numbers and
any order of summation a product differs from the exact one by at most γ = du / (1 − du), u = 2⁻²⁴ for float32 (Higham,
Accuracy and Stability of Numerical Algorithms, section 3.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import diags_array, issparse

from embassay.engine.topk_answer import Floats, Ints, SearchTask
from embassay.geometry.closeness import dense_blocks, paired_dot

SHORTEST, LONGEST = 1e-280, 1e280
"""Squared lengths between which float64 neither overflows nor underflows."""


def rounding(width: int, dtype: Any) -> float:
    """Return by how much a product of scaled vectors may differ from the float64 similarity on the same scale."""
    # Sixteen roundings more than the sum has, for conversions; what float64 adds are the lengths and the decision.
    relative = (width + 16) * float(np.finfo(dtype).eps) / 2
    if relative >= 1:
        return np.inf
    return 1.01 * (relative / (1 - relative) + (3 * width + 64) * 2.0**-53)


def usual(squares: Floats) -> NDArray[np.bool_]:
    """Say which vectors have a length that can be scaled by; the others are compared one by one in float64."""
    return np.asarray((squares > SHORTEST) & (squares < LONGEST))


def scaled(rows: Any, scale: Floats, dtype: Any, out: NDArray[Any] | None = None) -> Any:
    """Return (n, d) rows times (n,) numbers, multiplied in float64 and kept in another precision; CSR in float64."""
    if not isinstance(rows, np.ndarray):
        return (diags_array(scale) @ rows.astype(np.float64)).tocsr()
    out = np.empty(rows.shape, dtype) if out is None else out
    with np.errstate(all="ignore"):
        for part, (block,) in dense_blocks(rows):
            np.multiply(block, scale[part, None], out=out[part], casting="same_kind")
    return out


class Queries:
    """The queries that have a similarity to something.

    Attributes
    ----------
    ids
        (n,) which they are.
    lengths
        (n,) what their similarities are divided by: their lengths, or 1 for a cosine; NaN where that is impossible.
    rows
        (n, d) scaled.
    """

    def __init__(self, task: SearchTask, dtype: Any):
        self.task = task
        self.ids = np.flatnonzero(task.defined)
        squares = task.squares[self.ids]
        lengths = np.sqrt(np.where(usual(squares), squares, np.nan))
        self._scale = np.where(np.isnan(lengths), 0.0, 1 / lengths)
        self.lengths = np.where(np.isnan(lengths), np.nan, 1.0) if task.measure == "cosine" else lengths
        self.rows = self.take(np.arange(len(self.ids)), dtype)

    def take(self, places: Ints, dtype: Any) -> Any:
        """Return some scaled queries in another precision."""
        return scaled(self.task.queries[self.ids[places]], self._scale[places], dtype)


@dataclass
class Block:
    """The passages of several whole documents.

    Attributes
    ----------
    first, start
        The first document, and its first passage.
    raw, scale, rows
        (B, d) the passages, (B,) what they are multiplied by, and (B, d) the result.
    unit
        What similarities are divided by.
    undefined, unusual
        Passages that have no similarity, and those that cannot be scaled.
    starts
        (N,) where each document begins; None where every passage is a document.
    """

    first: int
    start: int
    raw: Any
    scale: Floats
    rows: Any
    unit: float
    undefined: Ints
    unusual: Ints
    starts: Ints | None

    @classmethod
    def of(cls, task: SearchTask, first: int, last: int, room: NDArray[Any]) -> Block:
        """Scale the passages of the documents from the first to before the last; ``room`` may hold the result."""
        start, stop = (int(place) for place in task.first_passages(np.array([first, last])))
        raw = task.passages[start:stop] if task.sparse else np.asarray(task.passages[start:stop])
        with np.errstate(all="ignore"):
            squares = paired_dot(raw, raw)
        scalable = usual(squares)
        lengths = np.sqrt(np.where(scalable, squares, 1.0))
        if task.measure == "cosine":
            unit, scale = 1.0, np.where(scalable, 1 / lengths, 0.0)
            undefined = ~((squares > 0) & np.isfinite(squares))
            unusual = ~scalable & ~undefined
        else:
            unit = float(lengths[scalable].max(initial=0)) or 1.0
            scale, undefined = np.where(scalable, 1 / unit, 0.0), np.zeros(len(squares), np.bool_)
            unusual = ~scalable & ~_all_zero(raw, squares)
        rows = scaled(raw, scale, room.dtype, None if task.sparse else room[: stop - start])
        starts = None if task.starts is None else task.starts[first:last] - start
        return cls(first, start, raw, scale, rows, unit, np.flatnonzero(undefined), np.flatnonzero(unusual), starts)

    @cached_property
    def precise_rows(self) -> NDArray[np.float64]:
        """(B, d) the scaled passages in float64."""
        return np.asarray(scaled(self.raw, self.scale, np.float64))

    @cached_property
    def positive(self) -> bool:
        """Whether products are 0 only where nothing is shared."""
        return positive(self.rows)

    @cached_property
    def first_defined(self) -> Ints:
        """(N,) the first passage of each document that has a similarity."""
        place = np.arange(self.rows.shape[0])
        place[self.undefined] = len(place)
        first = place if self.starts is None else np.minimum.reduceat(place, self.starts)
        return np.asarray(self.start + first)

    def mark(self, scores: NDArray[Any]) -> None:
        """Mark in (b, B) scores what they do not say: −inf without a similarity, NaN where it is unknown."""
        scores[:, self.undefined] = -np.inf
        scores[:, self.unusual] = np.nan

    def of_documents(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return the (b, N) scores of the documents, given those of the passages: the greatest; NaN if one is NaN."""
        return scores if self.starts is None else np.asarray(np.maximum.reduceat(scores, self.starts, axis=1))


def positive(rows: Any) -> bool:
    """Say whether a matrix is sparse and products with its like are 0 only where nothing is shared."""
    return bool(issparse(rows) and rows.data.min(initial=1.0) > 1e-150)


def _all_zero(rows: Any, squares: Floats) -> NDArray[np.bool_]:
    """Say which rows are zero vectors; the square of a very short vector is 0 as well."""
    zero = squares == 0
    zero[zero] = np.asarray((rows[np.flatnonzero(zero)] != 0).sum(axis=1)).ravel() == 0
    return np.asarray(zero)


class Product(Protocol):
    """Multiplies queries, which it is made with, and blocks of passages; several threads may use it at once."""

    def __init__(self, queries: Any): ...

    def load(self, rows: Any) -> Any:
        """Return (B, d) passages in the form that ``multiply`` takes."""
        ...

    def multiply(self, queries: slice, loaded: Any, out: NDArray[Any]) -> None:
        """Write the (b, B) scores of some queries."""
        ...


class NumpyProduct:
    """A matrix product of numpy."""

    def __init__(self, queries: NDArray[Any]):
        self.queries = queries

    def load(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the passages as they are."""
        return rows

    def multiply(self, queries: slice, loaded: NDArray[Any], out: NDArray[Any]) -> None:
        """Write the scores."""
        np.matmul(self.queries[queries], loaded.T, out=out)


class SparseProduct:
    """A product of sparse matrices, in float64."""

    def __init__(self, queries: Any):
        self.queries = queries

    def load(self, rows: Any) -> Any:
        """Return the passages turned."""
        return rows.T.tocsr()

    def multiply(self, queries: slice, loaded: Any, out: NDArray[Any]) -> None:
        """Write the scores."""
        (self.queries[queries] @ loaded).toarray(out=out)
