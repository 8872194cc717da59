"""Vectors as codes of 8 bits, and how much of them that loses.

Passages are rounded to 8 bits after their mean has been taken from them (that changes no order), by one step for a
block; queries to 7 bits, by a step of their own: so no pair of products overflows 16 bits, where ``vpmaddubsw``
saturates. What rounding loses is measured for each vector: |q·x − q̂·x̂| ≤ ‖q‖‖x − x̂‖ + ‖q − q̂‖‖x̂‖ by Cauchy and
Schwarz.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.engine._topk_prepared import ROWS, Prepared, Rows, Sizes
from embassay.engine._topk_task import Floats, Ints, Task

PASSAGE_ZERO, PASSAGE_SIDE = 128, 127
"""The code of 0 among the unsigned codes of passages, and how far they go to each side."""
QUERY_SIDE = 63
"""How far the signed codes of queries go: 2 · 255 · 63 is below 2¹⁵."""
RESULT_ZERO = 40
"""The code of a product of 0; those of at most minus so many units are all 0."""
WIDEST = 2**31 // (255 * QUERY_SIDE)
"""Coordinates whose products 32 bits can sum."""
MANY = 100
"""Proposals for a query in a block that take as long to look at again as 8 bits save."""


@dataclass
class Coded(Rows):
    """A block of passages in float32 and, unless it is ``fine``, as codes of 8 bits.

    Attributes
    ----------
    codes
        (B, d) what is left of the passages without the centre, in steps.
    far, missed
        (B,) how far each passage is from the centre, and from its codes.
    unit
        How much of a product one code of a result is worth.
    """

    fine: bool
    codes: NDArray[np.uint8]
    far: Floats
    missed: Floats
    unit: float = 1.0


class Pauses:
    """Says which blocks are for float32: after one that proposed too many the next 1, then 2, 4, 8 …"""

    def __init__(self) -> None:
        self._length = self._left = 0

    def next(self, too_many: bool) -> bool:
        """Say whether the next block is for float32, given whether too many were proposed since the last answer."""
        if too_many:
            self._length = self._left = 2 * self._length or 1
        self._left -= 1
        return self._left >= 0


class Rounded(Prepared):
    """Queries and blocks of passages in float32 and as codes of 8 bits.

    The first block is for float32, for a bar to begin with, and so are some blocks after one that proposed too many.

    Attributes
    ----------
    signed, steps, lost
        (n, d) codes of the queries, and (n,) their steps and how far each query is from its codes.
    centre, step
        What is taken from all passages, and the step of their codes.
    offset
        (n,) product of each query and the centre.
    proposed
        How many pairs were looked at again: a list, as several threads add to it.
    """

    now: Coded

    def __init__(self, task: Task, ids: Ints, sizes: Sizes):
        super().__init__(task, ids, sizes, np.float32)
        count, width = self.queries.shape
        self.signed = np.empty((count, width), np.int8)
        self.steps, self.offset = np.zeros((2, count), np.float32)
        self.lost = np.zeros(count)
        self.step, self.centre = np.float32(1), np.zeros(width, np.float32)
        self.proposed = [0]
        self._codes: list[NDArray[Any]] = []
        self._pauses = Pauses()
        for part in self._parts():
            self._encode_queries(part)

    def turn(self) -> bool:
        """Put the next block in the place of the last, and end its codes; false for lengths that do not fit."""
        if not super().turn():
            return False
        block = self.now
        if block.start == 0:
            self._settle(block.rows[np.flatnonzero(block.shown)[: 2 * ROWS]])
        if block.fine:
            return True
        # What holds no passage has no codes; zeros have, in place of what was there.
        block.far[block.hidden] = block.missed[block.hidden] = 0
        self._encode(block, np.flatnonzero(~np.isfinite(block.missed)))
        longest = (block.far + block.missed).max()
        # Passages so much longer than the step that float32 does not hold it are for float32 as they are.
        block.fine = not longest < np.inf
        if not block.fine:
            # No result is greater, so that none is cut above.
            most = (1 + self.lost.max()) * longest
            block.unit = float(np.float32(max(1.01 * most, 1e-30) / (255 - RESULT_ZERO)))
        return True

    def _parts(self) -> list[slice]:
        """Return blocks of queries."""
        size = self.sizes.queries
        return [slice(start, start + size) for start in range(0, len(self.queries), size)]

    def _encode_queries(self, part: slice) -> None:
        rows = self.queries[part]
        steps = np.maximum(np.abs(rows).max(axis=1, initial=0) / np.float32(QUERY_SIDE), np.float32(1e-30))
        codes = np.rint(rows / steps[:, None])
        self.lost[part] = lengths_of(rows - codes * steps[:, None])
        self.steps[part], self.signed[part] = steps, codes

    def _settle(self, some: NDArray[np.float32]) -> None:
        """Take centre and step from some passages; what goes beyond is cut, and missed like what is rounded."""
        if not len(some):
            return
        self.centre = some.mean(axis=0)
        for part in self._parts():
            self.offset[part] = self.queries[part] @ self.centre.astype(np.float64)
        reach = 1.1 * float(np.abs(some - self.centre).max())
        self.step = np.float32(max(reach, float(np.abs(some).max()) / 2**20) / PASSAGE_SIDE or 1.0)

    def _rows(self, start: int) -> Coded:
        plain = super()._rows(start)
        columns = len(plain.rows)
        codes = self.room(self._codes, np.uint8)[:columns]
        nowhere = np.full((2, columns), np.nan)
        paused = self._pauses.next(sum(self.proposed) > MANY * len(self.queries))
        self.proposed.clear()
        fine = paused or start == 0 or self.queries.shape[1] > WIDEST
        return Coded(start, plain.size, plain.rows, plain.lengths, plain.shown, fine, codes, *nowhere)

    def _fill(self, block: Coded, rows: slice) -> None:
        super()._fill(block, rows)
        if not block.fine:
            self._encode(block, rows)

    def _encode(self, block: Coded, rows: Any) -> None:
        """Make the codes of some rows; note how far each is from the centre, and from its codes."""
        with np.errstate(all="ignore"):
            left = block.rows[rows] - self.centre
            block.far[rows] = lengths_of(left)
            left *= 1 / self.step
            codes = np.rint(left)
            if not (codes.min(initial=0) >= -PASSAGE_SIDE and codes.max(initial=0) <= PASSAGE_SIDE):
                np.clip(codes, -PASSAGE_SIDE, PASSAGE_SIDE, out=codes)
            left -= codes
            block.missed[rows] = lengths_of(left) * float(self.step)
            codes += PASSAGE_ZERO
            block.codes[rows] = codes


def lengths_of(rows: NDArray[np.float32]) -> Floats:
    """Return the (n,) lengths of rows, or a little more."""
    # Squares below the least number of float32 are lost: of d together at most d · 2⁻¹²⁶.
    lengths = np.asarray(np.sqrt(np.vecdot(rows, rows)), dtype=np.float64)
    return lengths + float(np.sqrt(rows.shape[1])) * 2.0**-63
