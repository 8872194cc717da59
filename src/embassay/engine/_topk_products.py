"""Fast products of queries and blocks of passages, each with a bound on how wrong it may be.

A product proposes; ``_topk_task`` decides. For unit vectors q, p of d numbers, in any order of summation and with
or without fused operations, |fl(q·p) − q·p| ≤ γ ‖q‖‖p‖ with γ = du / (1 − du), u = 2⁻²⁴ for float32 (Higham,
Accuracy and Stability of Numerical Algorithms, section 3.1). Scaling to unit length in the same precision adds half
as much again, conversions a few u. For bfloat16 the rounding of the vectors is measured, and by Cauchy and Schwarz
|q·p − q̃·p̃| ≤ ‖q‖‖p − p̃‖ + ‖q − q̃‖‖p̃‖; a result in bfloat16 adds 2⁻⁸ of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from embassay.cores import Each, by_itself, cores
from embassay.engine._topk_task import Floats, Ints, Task
from embassay.geometry.closeness import paired_dot

LEAST, MOST = 1e-12, 1e12
"""Lengths that single precision squares and multiplies without loss; other vectors are not for a fast product."""
ROWS = 512
"""Passages scaled at once: they should fit into the processor's cache."""
WORTH = 128
"""Queries that are worth a core of their own."""


@dataclass(frozen=True)
class Sizes:
    """Passages and queries multiplied at once, and of how many scores a maximum is taken first, a multiple of 8."""

    passages: int = 8192
    queries: int = 512
    group: int = 32


@dataclass(frozen=True)
class Bound:
    """|score − similarity / ‖query‖| ≤ per_query · length + extra, for (b,) queries and (B,) passages of a block."""

    per_query: Floats
    length: Floats
    extra: Floats

    def most(self, queries: slice) -> Floats:
        """Return (b,) bounds that hold for all passages of the block."""
        return np.asarray(self.per_query[queries] * self.length.max() + self.extra.max())

    def of(self, query: Ints, column: Ints) -> Floats:
        """Return the bound of each pair."""
        return np.asarray(self.per_query[query] * self.length[column] + self.extra[column])


class Product(Protocol):
    """Multiplies a block of passages with blocks of queries; the scores stay where they were computed.

    The B columns form B / g groups: column j is in group j mod (B / g), so that maxima are taken of whole rows.
    """

    sizes: Sizes

    def crew(self, queries: int) -> Sequence[Product]:
        """Return this, and others of the same vectors with scores of their own that may multiply at the same time."""
        ...

    def load(self, task: Task, start: int, each: Each = by_itself) -> tuple[Bound, NDArray[np.bool_]] | None:
        """Take the passages from ``start`` on, for the whole crew and with its threads; None if it cannot.

        Returns
        -------
        The bounds, and which of the B columns hold a passage.
        """
        ...

    def multiply(self, queries: slice) -> NDArray[Any]:
        """Return the (b, B / g) maxima of the groups; columns that hold no passage are −∞."""
        ...

    def members(self, rows: Ints, groups: Ints) -> NDArray[Any]:
        """Return the (n, g) scores of n groups."""
        ...

    def lines(self, rows: Ints) -> NDArray[Any]:
        """Return the (n, B) scores of n queries, ascending."""
        ...


def rounding(width: int, unit: float) -> float:
    """Return the bound for a product of vectors of length 1, scaling, conversions and the decision's own included."""
    return 1.01 * ((1.5 * width + 32) * unit + (2 * width + 32) * 2.0**-53)


class Prepared:
    """Queries and one block of passages in the precision of a product, at unit length where that is wanted."""

    def __init__(self, task: Task, ids: Ints, sizes: Sizes, dtype: Any):
        width = task.queries.shape[1]
        self.group, self.dtype = sizes.group, np.dtype(dtype)
        self.error = rounding(width, float(np.finfo(dtype).eps) / 2)
        self.queries = np.empty((len(ids), width), dtype)
        for start in range(0, len(ids), sizes.queries):
            part = ids[start : start + sizes.queries]
            self.queries[start : start + len(part)] = task.queries[part] / np.sqrt(task.squares[part])[:, None]
        self.buffer = np.empty((-(-sizes.passages // sizes.group) * sizes.group, width), dtype)
        self.block, self.hidden = self.buffer[:0], np.empty(0, dtype=np.int64)

    def load(
        self, task: Task, start: int, count: int, each: Each = by_itself
    ) -> tuple[Floats, NDArray[np.bool_]] | None:
        """Return the (B,) lengths and which of the B columns hold a passage; None for lengths beyond this precision."""
        size = min(count, task.passages.shape[0] - start)
        columns = -(-size // self.group) * self.group
        self.block = self.buffer[:columns]
        lengths = np.concatenate(each(lambda n, of: self._fill(task, start, _part(size, n, of))))
        odd = np.flatnonzero(~((lengths > LEAST) & (lengths < MOST)))
        shown = np.zeros(columns, dtype=np.bool_)
        shown[:size] = True
        if odd.size:
            raw = np.asarray(task.passages[start + odd])
            if not _empty(raw.astype(np.result_type(raw, self.dtype), copy=False), shown, odd, task.measure):
                return None
            self.block[odd] = 0
        lengths[odd] = 1.0
        if task.measure == "cosine":
            lengths = np.ones(columns)
        else:
            # Upwards, past their own rounding.
            lengths = np.append(lengths * (1 + 2 * self.error), np.ones(columns - size))
        self.block[size:] = 0
        self.hidden = np.flatnonzero(~shown)
        return lengths, shown

    def _fill(self, task: Task, start: int, part: slice) -> Floats:
        """Put some passages into the block, at unit length for a cosine; return their lengths."""
        found = []
        for first in range(part.start, part.stop, ROWS):
            rows = slice(first, min(first + ROWS, part.stop))
            raw = np.asarray(task.passages[start + rows.start : start + rows.stop])
            raw = raw.astype(np.result_type(raw, self.dtype), copy=False)
            with np.errstate(all="ignore"):
                lengths = np.sqrt(np.einsum("ij,ij->i", raw, raw)).astype(np.float64)
                if task.measure == "cosine":
                    scale = (1 / lengths).astype(raw.dtype)[:, None]
                    np.multiply(raw, scale, out=self.block[rows], casting="same_kind")
                else:
                    self.block[rows] = raw
            found.append(lengths)
        return np.concatenate(found) if found else np.empty(0)


def _part(size: int, number: int, of: int) -> slice:
    """Return one of several parts of so many rows."""
    return slice(size * number // of, size * (number + 1) // of)


def run(rows: Ints) -> Any:
    """Return ascending rows as a slice where they follow each other, so that taking them copies nothing."""
    first, last = int(rows[0]), int(rows[-1])
    return slice(first, last + 1) if last - first + 1 == len(rows) else rows


def _empty(rows: NDArray[Any], shown: NDArray[np.bool_], odd: Ints, measure: str) -> bool:
    """Say whether passages of an odd length are but zeros; hide those without a cosine."""
    if measure == "dot":
        return not rows.any()
    with np.errstate(all="ignore"):
        squares = paired_dot(rows, rows)
    shown[odd] = False
    return bool(((squares == 0) | np.isnan(squares)).all())


class NumpyProduct:
    """A matrix product of numpy, in float32 or float64."""

    def __init__(self, task: Task, ids: Ints, sizes: Sizes, dtype: Any = np.float32):
        self.sizes, self._data = sizes, Prepared(task, ids, sizes, dtype)
        self._room = np.empty(sizes.queries * len(self._data.buffer), dtype)
        self._scores = self._room[:0].reshape(0, 0)

    def crew(self, queries: int) -> Sequence[Product]:
        """Return a product for each core that there are enough queries for."""
        others = [copy(self) for _ in range(1, min(cores(), queries // WORTH))]
        for other in others:
            other._room = np.empty_like(self._room)
        return [self, *others]

    def load(self, task: Task, start: int, each: Each = by_itself) -> tuple[Bound, NDArray[np.bool_]] | None:
        """Take the passages from ``start`` on."""
        loaded = self._data.load(task, start, self.sizes.passages, each)
        if loaded is None:
            return None
        lengths, shown = loaded
        return Bound(np.full(len(self._data.queries), self._data.error), lengths, np.zeros(len(lengths))), shown

    def multiply(self, queries: slice) -> NDArray[Any]:
        """Return the maxima of the groups."""
        rows, block = self._data.queries[queries], self._data.block
        self._scores = self._room[: len(rows) * len(block)].reshape(len(rows), len(block))
        np.matmul(rows, block.T, out=self._scores)
        if self._data.hidden.size:
            self._scores[:, self._data.hidden] = -np.inf
        return np.asarray(self._grouped().max(axis=1))

    def members(self, rows: Ints, groups: Ints) -> NDArray[Any]:
        """Return the scores of groups."""
        return np.asarray(self._grouped()[rows, :, groups])

    def lines(self, rows: Ints) -> NDArray[Any]:
        """Return the scores of queries."""
        return np.asarray(self._scores[run(rows)])

    def _grouped(self) -> NDArray[Any]:
        rows, columns = self._scores.shape
        return self._scores.reshape(rows, self.sizes.group, columns // self.sizes.group)
