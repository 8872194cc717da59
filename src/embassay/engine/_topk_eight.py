"""Products of 8-bit integers by torch, twice as fast as those of float32 where a processor has AVX2.

Passages are rounded to 8 bits after their mean has been taken from them (that changes no order), by one step for a
block; queries to 7 bits, by a step of their own: so no pair of products overflows 16 bits, where ``vpmaddubsw``
saturates. What rounding loses is measured for each vector: |q·x − q̂·x̂| ≤ ‖q‖‖x − x̂‖ + ‖q − q̂‖‖x̂‖ by Cauchy and
Schwarz. So coarse a product proposes several times too many passages, which are looked at again in float32 before
they are kept. The first block is multiplied in float32, for a bar to begin with, and so are some blocks after one that
proposed too many.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.engine._topk_prepared import ROWS, Prepared, Rows, Sizes
from embassay.engine._topk_products import AT_ONCE, Bound, NumpyProduct, run
from embassay.engine._topk_task import Floats, Ints, Task
from embassay.engine._topk_torch import require_torch

ZERO, SIDE = 128, 127
"""The code of 0 among the unsigned codes of passages, and how far they go to each side."""
NOUGHT = 40
"""The code of a product of 0; those of at most minus so many units are all 0."""
STEPS = 63
"""How far the signed codes of queries go: 2 · 255 · 63 is below 2¹⁵."""
MANY = 100
"""Proposals for a query in a block that take as long to look at again as 8 bits save."""
MULTIPLE = 16
"""Of so many queries a product is a fifth faster than of a few more or less."""
WORTH_EIGHT, WORTH_QUERIES = 50_000, 500
"""Passages and queries from which the block in float32 and the making of codes do not weigh."""
KNOWN = ("AVX2", "AVX512")
"""How torch's names of processors begin whose 8-bit products are known to be fast."""


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


class Rounded(Prepared):
    """Queries and blocks of passages in float32 and as codes of 8 bits.

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
        self.steps = np.maximum(np.abs(self.queries).max(axis=1, initial=0) / np.float32(STEPS), np.float32(1e-30))
        codes = np.rint(self.queries / self.steps[:, None])
        self.lost = lengths_of(self.queries - codes * self.steps[:, None])
        self.signed = codes.astype(np.int8)
        self.step, self.centre = np.float32(1), np.zeros(self.queries.shape[1], np.float32)
        self.offset = np.zeros(len(self.queries), np.float32)
        self.proposed = [0]
        self._codes: list[NDArray[Any]] = []
        self._pause = self._wait = 0

    def turn(self) -> bool:
        """Put the next block in the place of the last, and end its codes; false for lengths that do not fit."""
        if not super().turn():
            return False
        block = self.now
        if block.start == 0:
            self._settle(block.rows[np.flatnonzero(block.shown)[: 2 * ROWS]])
        if not block.fine:
            # Rows without a passage, and zeros.
            self._encode(block, np.flatnonzero(~np.isfinite(block.missed)))
            # No result is greater, so that none is cut above.
            most = (1 + self.lost.max()) * (block.far + block.missed).max()
            block.unit = float(np.float32(max(1.01 * most, 1e-30) / (255 - NOUGHT)))
        return True

    def _settle(self, some: NDArray[np.float32]) -> None:
        """Take centre and step from some passages; what goes beyond is cut, and missed like what is rounded."""
        if not len(some):
            return
        self.centre = some.mean(axis=0)
        self.offset = (self.queries @ self.centre.astype(np.float64)).astype(np.float32)
        reach = 1.1 * float(np.abs(some - self.centre).max())
        self.step = np.float32(max(reach, float(np.abs(some).max()) / 2**20) / SIDE or 1.0)

    def _rows(self, start: int) -> Coded:
        plain = super()._rows(start)
        columns = len(plain.rows)
        codes = self.room(self._codes, np.uint8)[:columns]
        nowhere = np.full((2, columns), np.nan)
        fine = self._whether_fine() or start == 0
        return Coded(start, plain.size, plain.rows, plain.lengths, plain.shown, fine, codes, *nowhere)

    def _whether_fine(self) -> bool:
        """Say whether the next block is for float32: for longer each time that too many were proposed."""
        if sum(self.proposed) > MANY * len(self.queries):
            self._pause = self._wait = 2 * self._pause or 1
        self.proposed.clear()
        self._wait -= 1
        return self._wait >= 0

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
            if not (codes.min(initial=0) >= -SIDE and codes.max(initial=0) <= SIDE):
                np.clip(codes, -SIDE, SIDE, out=codes)
            left -= codes
            block.missed[rows] = lengths_of(left) * float(self.step)
            codes += ZERO
            block.codes[rows] = codes


class EightBitProduct(NumpyProduct):
    """A matrix product of 8-bit integers with a result of 8 bits or, for some blocks, of float32."""

    _data: Rounded

    def __init__(self, task: Task, ids: Ints, sizes: Sizes):
        super().__init__(Rounded(task, ids, sizes))
        self._torch = require_torch()
        self._packed: dict[int, Any] = {}
        self._eight, self._offset = np.empty((0, 0), np.uint8), self._data.offset

    def turn(self) -> tuple[Bound, NDArray[np.bool_]] | None:
        """Let the crew multiply the next block."""
        turned, data = super().turn(), self._data
        if turned is None or data.now.fine:
            return turned
        block = data.now
        # Rounding in float32 goes by what is multiplied, and by what was taken away before.
        whole = block.lengths + float(lengths_of(data.centre[None])[0])
        extra = 1.02 * block.missed + 1.02 * data.error * whole + 0.51 * block.unit
        least = data.offset.astype(np.float64) - (NOUGHT - 1) * block.unit
        return Bound(1.02 * data.lost, block.far + block.missed, extra, least), block.shown

    def multiply(self, queries: slice) -> None:
        """Work out the scores."""
        data, count = self._data, queries.stop - queries.start
        if data.now.fine:
            super().multiply(queries)
            return
        if queries.start not in self._packed:
            self._packed[queries.start] = _pack(self._torch, data.signed[queries], data.steps[queries])
        passages, packed = self._torch.from_numpy(data.now.codes), self._packed[queries.start]
        self._eight = _multiply(self._torch, passages, float(data.step), packed, data.now.unit)[:, :count]
        self._eight[data.now.hidden] = 0
        self._offset = data.offset[queries]

    def maxima(self) -> NDArray[Any]:
        """Return (b, G) scores, each the greatest of its query in a group of columns: here of all."""
        if self._data.now.fine:
            return super().maxima()
        return self._decoded(self._eight.max(axis=0)[:, None], self._offset[:, None])

    def reaching(self, least: NDArray[Any]) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Yield rows, columns and scores that are not below the least of their query."""
        if self._data.now.fine:
            yield from super().reaching(least)
            return
        # One code less, for what rounding does here. The code 0 is −∞, and no product has 255.
        code = np.floor((least - self._offset) / self._data.now.unit) + (NOUGHT - 1)
        hit = self._eight >= np.clip(code, 1, 255).astype(np.uint8)
        found = np.flatnonzero(hit)
        for start in range(0, len(found), 8 * AT_ONCE):
            column, row = np.divmod(found[start : start + 8 * AT_ONCE], hit.shape[1])
            yield row, column, self._decoded(self._eight[column, row], self._offset[row]).astype(np.float64)

    def lines(self, rows: Ints) -> NDArray[Any]:
        """Return the scores of queries."""
        if self._data.now.fine:
            return super().lines(rows)
        return self._decoded(self._eight[:, run(rows)].T, self._offset[rows][:, None])

    def again(self, queries: Ints, columns: Ints) -> tuple[Floats, Floats] | None:
        """Return (n,) scores of pairs in float32 and their bounds; None where all are of float32."""
        if self._data.now.fine:
            return None
        self._data.proposed.append(len(queries))
        return self._data.again(queries, columns)

    def _decoded(self, codes: NDArray[Any], offset: NDArray[Any]) -> NDArray[Any]:
        """Return the scores of results of 8 bits; what was cut below is −∞."""
        scores = (np.arange(256, dtype=np.float32) - NOUGHT) * self._data.now.unit
        scores[0] = -np.inf
        return np.asarray(scores[np.ascontiguousarray(codes)] + offset)


def worth(queries: int, passages: int) -> bool:
    """Say whether 8 bits are worth it for so many queries and passages, and can be had.

    torch is asked only where something else has imported it.
    """
    torch = sys.modules.get("torch")
    return torch is not None and passages >= WORTH_EIGHT and queries >= WORTH_QUERIES and multiplies_eight(torch)


@cache
def multiplies_eight(torch: Any) -> bool:
    """Say whether torch's 8-bit product is there, known to be fast on this processor, and exact at its ends."""
    try:
        if not str(torch.backends.cpu.get_cpu_capability()).startswith(KNOWN):
            return False
        signs = np.where(np.arange(64) % 2, 1, -1)
        codes = np.stack([np.full(64, STEPS), STEPS * signs]).astype(np.int8)
        packed = _pack(torch, codes, np.ones(2, np.float32))
        found = _multiply(torch, torch.full((1, 64), 255, dtype=torch.uint8), 1.0, packed, 64.0 * STEPS)
        return bool(found[:, :2].tolist() == [[NOUGHT + SIDE, NOUGHT]])
    except (AttributeError, RuntimeError, TypeError, ValueError, NotImplementedError):
        return False


def _pack(torch: Any, codes: NDArray[np.int8], steps: NDArray[np.float32]) -> tuple[Any, Any, Any]:
    """Lay out the codes of queries; return them, their steps and zeros; zeros follow up to a multiple."""
    more = -len(codes) % MULTIPLE
    packed = torch.ops.onednn.qlinear_prepack(torch.from_numpy(np.pad(codes, ((0, more), (0, 0)))), None)
    steps = np.pad(steps, (0, more), constant_values=1)
    return packed, torch.from_numpy(steps), torch.zeros(len(steps), dtype=torch.int64)


def _multiply(torch: Any, passages: Any, step: float, queries: tuple[Any, Any, Any], unit: float) -> NDArray[np.uint8]:
    """Return the (B, n) products as codes: so many units above ``NOUGHT``, cut to what 8 bits hold."""
    result = (None, unit, NOUGHT, torch.uint8)
    found = torch.ops.onednn.qlinear_pointwise(passages, step, ZERO, *queries, *result, "none", [], "")
    return np.asarray(found.numpy())


def lengths_of(rows: NDArray[Any]) -> Floats:
    """Return the (n,) lengths of rows."""
    return np.asarray(np.sqrt(np.vecdot(rows, rows)), dtype=np.float64)
