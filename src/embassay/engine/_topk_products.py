"""Fast products of queries and blocks of passages, each with a bound on how wrong it may be.

A product proposes; ``_topk_task`` decides. For unit vectors q, p of d numbers, in any order of summation and with
or without fused operations, |fl(q·p) − q·p| ≤ γ ‖q‖‖p‖ with γ = du / (1 − du), u = 2⁻²⁴ for float32 (Higham,
Accuracy and Stability of Numerical Algorithms, section 3.1). Scaling to unit length in the same precision adds half
as much again, conversions a few u. For bfloat16 the rounding of the vectors is measured, and by Cauchy and Schwarz
|q·p − q̃·p̃| ≤ ‖q‖‖p − p̃‖ + ‖q − q̃‖‖p̃‖; a result in bfloat16 adds 2⁻⁸ of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from embassay.cores import Each, by_itself, cores
from embassay.engine._topk_task import CHUNK, Floats, Ints, Task
from embassay.geometry.closeness import paired_dot

LEAST, MOST = 1e-12, 1e12
"""Lengths that single precision squares and multiplies without loss; other vectors are not for a fast product."""
ROWS = 512
"""Passages scaled at once: they should fit into the processor's cache."""
AT_ONCE = 16_384
"""Groups of scores looked through at once."""
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
    """|score − similarity / ‖query‖| ≤ per_query · length + extra, for (n,) queries and (B,) passages of a block.

    Scores below ``least``, of each query, are −∞.
    """

    per_query: Floats
    length: Floats
    extra: Floats
    least: Floats | None = None

    def most(self, queries: slice) -> Floats:
        """Return (b,) bounds that hold for all passages of the block."""
        return np.asarray(self.per_query[queries] * self.length.max() + self.extra.max())

    def blind(self, queries: slice, bars: Floats) -> NDArray[np.bool_]:
        """Return which of some queries have scores of −∞ that may reach their bar."""
        if self.least is None:
            return np.zeros(len(bars), np.bool_)
        return np.asarray(bars - self.most(queries) < self.least[queries])

    def of(self, query: Ints, column: Ints) -> Floats:
        """Return the bound of each pair."""
        return np.asarray(self.per_query[query] * self.length[column] + self.extra[column])


class Product(Protocol):
    """Multiplies a block of passages with blocks of queries; the scores stay where they were computed."""

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

    def multiply(self, queries: slice) -> None:
        """Work out the scores of some queries; columns that hold no passage are −∞."""
        ...

    def maxima(self) -> NDArray[Any]:
        """Return (b, G) scores, each the greatest of its query in one of G groups of columns."""
        ...

    def reaching(self, least: NDArray[Any]) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Yield (n,) rows, columns and scores that are not below the (b,) least of their query, part by part."""
        ...

    def lines(self, rows: Ints) -> NDArray[Any]:
        """Return the (n, B) scores of n queries, ascending."""
        ...

    def again(self, queries: Ints, columns: Ints) -> tuple[Floats, Floats] | None:
        """Return the (n,) scores of n pairs in float32 and their bounds; None where all scores are no coarser."""
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
        self.block, self.hidden, self.lengths = self.buffer[:0], np.empty(0, dtype=np.int64), np.empty(0)

    def load(
        self, task: Task, start: int, count: int, each: Each = by_itself
    ) -> tuple[Floats, NDArray[np.bool_]] | None:
        """Return the (B,) lengths and which of the B columns hold a passage; None for lengths beyond this precision."""
        size = min(count, task.passages.shape[0] - start)
        columns = -(-size // self.group) * self.group
        self.block = self.buffer[:columns]
        lengths = np.concatenate(each(lambda n, of: self._fill(task, start, part_of(size, n, of))))
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
        self.hidden, self.lengths = np.flatnonzero(~shown), lengths
        return lengths, shown

    def again(self, queries: Ints, columns: Ints) -> tuple[Floats, Floats]:
        """Return the (n,) scores of n pairs in this precision, and their bounds."""
        found = np.empty(len(queries))
        for start in range(0, len(queries), CHUNK):
            part = slice(start, start + CHUNK)
            found[part] = np.vecdot(self.queries[queries[part]], self.block[columns[part]])
        return found, self.error * self.lengths[columns]

    def _fill(self, task: Task, start: int, part: slice) -> Floats:
        """Put some passages into the block, at unit length for a cosine; return their lengths."""
        found = []
        for first in range(part.start, part.stop, ROWS):
            rows = slice(first, min(first + ROWS, part.stop))
            raw = np.asarray(task.passages[start + rows.start : start + rows.stop])
            raw = raw.astype(np.result_type(raw, self.dtype), copy=False)
            with np.errstate(all="ignore"):
                lengths = np.sqrt(np.vecdot(raw, raw)).astype(np.float64)
                if task.measure == "cosine":
                    scale = (1 / lengths).astype(raw.dtype)[:, None]
                    np.multiply(raw, scale, out=self.block[rows], casting="same_kind")
                else:
                    self.block[rows] = raw
            found.append(lengths)
        return np.concatenate(found) if found else np.empty(0)


def down(values: Floats, dtype: Any) -> NDArray[Any]:
    """Return values in another precision, not above what they were."""
    with np.errstate(over="ignore"):
        return np.asarray(values if dtype == np.float64 else np.nextafter(values.astype(dtype), dtype.type(-np.inf)))


def part_of(size: int, number: int, of: int) -> slice:
    """Return one of several equal parts of so many rows."""
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


class Grouped:
    """What products have in common whose scores are in float numbers: group by group they are looked through.

    Column j is in group j mod G, so that maxima are taken of whole rows.
    """

    _maxima: NDArray[Any]

    def maxima(self) -> NDArray[Any]:
        """Return (b, G) scores, each the greatest of its query in a group of columns."""
        return self._maxima

    def reaching(self, least: NDArray[Any]) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Yield rows, columns and scores that are not below the least of their query."""
        least = down(least, self._maxima.dtype)
        rows, groups = np.nonzero(self._maxima >= least[:, None])
        for start in range(0, len(rows), AT_ONCE):
            row, group = rows[start : start + AT_ONCE], groups[start : start + AT_ONCE]
            scores = self._members(row, group)
            hit, member = np.nonzero(scores >= least[row, None])
            yield row[hit], member * self._maxima.shape[1] + group[hit], scores[hit, member].astype(np.float64)

    def _members(self, rows: Ints, groups: Ints) -> NDArray[Any]:
        """Return the (n, g) scores of n groups."""
        raise NotImplementedError


class NumpyProduct(Grouped):
    """A matrix product of numpy, in float32 or float64."""

    def __init__(self, sizes: Sizes, data: Prepared):
        self.sizes, self._data = sizes, data
        self._room = np.empty(sizes.queries * len(data.buffer), data.dtype)
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

    def multiply(self, queries: slice) -> None:
        """Work out the scores."""
        rows, block = self._data.queries[queries], self._data.block
        self._scores = self._room[: len(rows) * len(block)].reshape(len(rows), len(block))
        np.matmul(rows, block.T, out=self._scores)
        if self._data.hidden.size:
            self._scores[:, self._data.hidden] = -np.inf
        self._maxima = np.asarray(self._grouped().max(axis=1))

    def _members(self, rows: Ints, groups: Ints) -> NDArray[Any]:
        return np.asarray(self._grouped()[rows, :, groups])

    def lines(self, rows: Ints) -> NDArray[Any]:
        """Return the scores of queries."""
        return np.asarray(self._scores[run(rows)])

    def again(self, queries: Ints, columns: Ints) -> tuple[Floats, Floats] | None:
        """Return nothing: no scores are coarser than float32."""
        return None

    def _grouped(self) -> NDArray[Any]:
        rows, columns = self._scores.shape
        return self._scores.reshape(rows, self.sizes.group, columns // self.sizes.group)
