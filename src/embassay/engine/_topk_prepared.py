"""Vectors in the precision of a product: the queries, and one block of passages after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.engine._topk_task import CHUNK, Floats, Ints, Task
from embassay.geometry.closeness import paired_dot

LEAST, MOST = 1e-12, 1e12
"""Lengths that single precision squares and multiplies without loss; other vectors are not for a fast product."""
ROWS = 512
"""Passages scaled at once: they should fit into the processor's cache."""


@dataclass(frozen=True)
class Sizes:
    """Passages and queries multiplied at once, and of how many scores a maximum is taken first, a multiple of 8."""

    passages: int = 8192
    queries: int = 512
    group: int = 32


@dataclass
class Rows:
    """A block of passages: (B, d) rows, (B,) their lengths, and which of them are passages; the first, and how many."""

    start: int
    size: int
    rows: NDArray[Any]
    lengths: Floats
    shown: NDArray[np.bool_]

    @property
    def hidden(self) -> Ints:
        """The columns that hold no passage."""
        return np.flatnonzero(~self.shown)


class Prepared:
    """Queries and blocks of passages in the precision of a product, at unit length where that is wanted.

    Of blocks there are two: ``now``, which is multiplied, and the next one, which threads fill in meanwhile.
    """

    now: Any

    def __init__(self, task: Task, ids: Ints, sizes: Sizes, dtype: Any):
        width = task.queries.shape[1]
        self.task, self.sizes, self.dtype = task, sizes, np.dtype(dtype)
        self.error = rounding(width, float(np.finfo(dtype).eps) / 2)
        self.queries = np.empty((len(ids), width), dtype)
        for start in range(0, len(ids), sizes.queries):
            part = ids[start : start + sizes.queries]
            self.queries[start : start + len(part)] = task.queries[part] / np.sqrt(task.squares[part])[:, None]
        self.columns = -(-sizes.passages // sizes.group) * sizes.group
        self._rooms: list[NDArray[Any]] = []
        self._next: Any = None

    def begin(self, start: int) -> None:
        """Begin with the block of passages from one on."""
        self._next = self._rows(start)

    def fill(self, number: int, of: int) -> None:
        """Fill in one of several parts of the next block."""
        size = self._next.size
        part = slice(size * number // of, size * (number + 1) // of)
        for first in range(part.start, part.stop, ROWS):
            self._fill(self._next, slice(first, min(first + ROWS, part.stop)))

    def turn(self) -> bool:
        """Put the next block, filled in by now, in the place of the last; false for lengths beyond this precision."""
        self.now = block = self._next
        odd = np.flatnonzero(~((block.lengths[: block.size] > LEAST) & (block.lengths[: block.size] < MOST)))
        if odd.size:
            raw = np.asarray(self.task.passages[block.start + odd])
            if not _without_similarity(raw, self.task.measure):
                return False
            block.rows[odd] = 0
        if self.task.measure == "cosine":
            block.shown[odd] = False
            block.lengths[:] = 1
        else:
            block.lengths[odd] = 1
            # Upwards, past their own rounding.
            block.lengths[: block.size] *= 1 + 2 * self.error
        block.rows[block.size :] = 0
        return True

    def again(self, queries: Ints, columns: Ints) -> tuple[Floats, Floats]:
        """Return the (n,) scores of n pairs in this precision, and their bounds."""
        found = np.empty(len(queries))
        for start in range(0, len(queries), CHUNK):
            part = slice(start, start + CHUNK)
            found[part] = np.vecdot(self.queries[queries[part]], self.now.rows[columns[part]])
        return found, self.error * self.now.lengths[columns]

    def _rows(self, start: int) -> Rows:
        """Return room for the block of passages from one on."""
        size = min(self.sizes.passages, self.task.passages.shape[0] - start)
        columns = -(-size // self.sizes.group) * self.sizes.group
        rows = self.room(self._rooms, self.dtype)[:columns]
        return Rows(start, size, rows, np.ones(columns), np.arange(columns) < size)

    def room(self, rooms: list[NDArray[Any]], dtype: Any) -> NDArray[Any]:
        """Return one of two rooms in turn."""
        rooms.append(rooms.pop(0) if len(rooms) == 2 else np.empty((self.columns, self.queries.shape[1]), dtype))
        return rooms[-1]

    def _fill(self, block: Any, rows: slice) -> None:
        """Put some passages into a block, at unit length for a cosine."""
        raw = np.asarray(self.task.passages[block.start + rows.start : block.start + rows.stop])
        raw = raw.astype(np.result_type(raw, self.dtype), copy=False)
        with np.errstate(all="ignore"):
            lengths = np.sqrt(np.vecdot(raw, raw)).astype(np.float64)
            if self.task.measure == "cosine":
                scale = (1 / lengths).astype(raw.dtype)[:, None]
                np.multiply(raw, scale, out=block.rows[rows], casting="same_kind")
            else:
                block.rows[rows] = raw
        block.lengths[rows] = lengths


def rounding(width: int, unit: float) -> float:
    """Return the bound for a product of vectors of length 1, scaling, conversions and the decision's own included."""
    return 1.01 * ((1.5 * width + 32) * unit + (2 * width + 32) * 2.0**-53)


def _without_similarity(rows: NDArray[Any], measure: str) -> bool:
    """Say whether passages are all zeros or, for a cosine, have none: no length, or something that is not finite."""
    if measure == "dot":
        return not rows.any()
    with np.errstate(all="ignore"):
        squares = paired_dot(rows, rows)
    return bool(((squares == 0) | ~np.isfinite(rows).all(axis=1)).all())
