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

from embassay.engine._topk_prepared import Prepared
from embassay.engine._topk_task import Floats, Ints
from embassay.engine.cores import cores

AT_ONCE = 16_384
"""Groups of scores looked through at once."""
FOR_A_CORE = 128
"""Queries that are worth a core of their own."""


@dataclass(frozen=True)
class Bound:
    """|score − similarity / ‖query‖| ≤ per_query · length + extra, for (n,) queries and (B,) passages of a block.

    Scores of 8 bits are coarse: below ``least``, of each query, they are −∞.
    """

    per_query: Floats
    length: Floats
    extra: Floats
    least: Floats | None = None

    @property
    def coarse(self) -> bool:
        """Whether scores only propose, and are all to be looked at again; no maxima of them are kept."""
        return self.least is not None

    def most(self, queries: slice) -> Floats:
        """Return (b,) bounds that hold for all passages of the block."""
        return np.asarray(self.per_query[queries] * self.length.max() + self.extra.max())

    def blind(self, queries: slice, bars: Floats) -> NDArray[np.bool_]:
        """Return which of some queries have scores of −∞ that may reach their bar."""
        if self.least is None:
            return np.zeros(len(bars), np.bool_)
        return np.asarray(~(bars - self.most(queries) >= self.least[queries]))

    def of(self, query: Ints, column: Ints) -> Floats:
        """Return the bound of each pair."""
        return np.asarray(self.per_query[query] * self.length[column] + self.extra[column])


class Product(Protocol):
    """Multiplies a block of passages with blocks of queries; the scores stay where they were computed."""

    @property
    def data(self) -> Prepared:
        """The vectors. While ``data.now`` is multiplied, ``data.begin`` and ``data.fill`` prepare the next block."""
        ...

    def crew(self, queries: int) -> Sequence[Product]:
        """Return this, and others of the same vectors with scores of their own that may multiply at the same time."""
        ...

    def turn(self) -> Bound | None:
        """Let the whole crew multiply the next block, which is filled in; return its bounds, None if it cannot be."""
        ...

    def multiply(self, queries: slice) -> None:
        """Work out the scores of some queries; columns that hold no passage are −∞."""
        ...

    def maxima(self) -> NDArray[Any]:
        """Return (b, G) scores, each the greatest of its query in one of G groups; not where scores are coarse."""
        ...

    def reaching(self, least: NDArray[Any]) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Yield (n,) rows, columns and scores that are not below the (b,) least of their query, part by part."""
        ...

    def lines(self, rows: Ints) -> NDArray[Any]:
        """Return the (n, B) scores of n queries, given in ascending order; not where scores are coarse."""
        ...

    def again(self, queries: Ints, columns: Ints) -> tuple[Floats, Floats] | None:
        """Return the (n,) scores of n pairs in float32 and their bounds; None where all scores are no coarser."""
        ...


def down(values: Floats, dtype: Any) -> NDArray[Any]:
    """Return values in another precision, not above what they were."""
    with np.errstate(over="ignore"):
        return np.asarray(values if dtype == np.float64 else np.nextafter(values.astype(dtype), dtype.type(-np.inf)))


def as_slice(rows: Ints) -> Any:
    """Return ascending rows as a slice where they follow each other, so that taking them copies nothing."""
    first, last = int(rows[0]), int(rows[-1])
    return slice(first, last + 1) if last - first + 1 == len(rows) else rows


class FloatProduct:
    """What products have in common whose scores are in float numbers: group by group they are looked through.

    Column j is in group j mod G, so that maxima are taken of whole rows.
    """

    data: Any
    _scores: Any
    _maxima: NDArray[Any]

    def turn(self) -> Bound | None:
        """Let the crew multiply the next block."""
        return self._bound(self.data.now) if self.data.turn() else None

    def maxima(self) -> NDArray[Any]:
        """Return (b, G) scores, each the greatest of its query in a group of columns."""
        return self._maxima

    def reaching(self, least: NDArray[Any]) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Yield rows, columns and scores that are not below the least of their query."""
        least = down(least, self._maxima.dtype)
        # What is not a number is among them, and shows in the end.
        rows, groups = np.nonzero(~(self._maxima < least[:, None]))
        for start in range(0, len(rows), AT_ONCE):
            row, group = rows[start : start + AT_ONCE], groups[start : start + AT_ONCE]
            scores = self._members(row, group)
            hit, member = np.nonzero(~(scores < least[row, None]))
            yield row[hit], member * self._maxima.shape[1] + group[hit], scores[hit, member].astype(np.float64)

    def _bound(self, block: Any) -> Bound:
        """Return the bounds of a block that is to be multiplied."""
        raise NotImplementedError

    def _members(self, rows: Ints, groups: Ints) -> NDArray[Any]:
        """Return the (n, g) scores of n groups."""
        raise NotImplementedError

    def _grouped(self) -> Any:
        """Return the scores as (b, g, G)."""
        rows, columns = self._scores.shape
        group = self.data.sizes.group
        return self._scores.reshape(rows, group, columns // group)


class NumpyProduct(FloatProduct):
    """A matrix product of numpy, in float32 or float64."""

    def __init__(self, data: Prepared):
        self.data = data
        self._room = np.empty(data.sizes.queries * data.columns, data.dtype)
        self._scores = self._room[:0].reshape(0, 0)

    def crew(self, queries: int) -> Sequence[Product]:
        """Return a product for each core that there are enough queries for."""
        others = [copy(self) for _ in range(1, min(cores(), queries // FOR_A_CORE))]
        for other in others:
            other._room = np.empty_like(self._room)
        return [self, *others]

    def multiply(self, queries: slice) -> None:
        """Work out the scores."""
        rows, block = self.data.queries[queries], self.data.now
        self._scores = self._room[: len(rows) * len(block.rows)].reshape(len(rows), len(block.rows))
        np.matmul(rows, block.rows.T, out=self._scores)
        if not block.shown.all():
            self._scores[:, block.hidden] = -np.inf
        self._maxima = np.asarray(self._grouped().max(axis=1))

    def lines(self, rows: Ints) -> NDArray[Any]:
        """Return the scores of queries."""
        return np.asarray(self._scores[as_slice(rows)])

    def again(self, queries: Ints, columns: Ints) -> tuple[Floats, Floats] | None:
        """Return nothing: no scores are coarser than float32."""
        return None

    def _bound(self, block: Any) -> Bound:
        error = np.full(len(self.data.queries), self.data.error)
        return Bound(error, block.lengths, np.zeros(len(block.lengths)))

    def _members(self, rows: Ints, groups: Ints) -> NDArray[Any]:
        return np.asarray(self._grouped()[rows, :, groups])
