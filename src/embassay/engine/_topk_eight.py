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
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.cores import Each, by_itself
from embassay.engine._topk_products import AT_ONCE, ROWS, Bound, NumpyProduct, Prepared, Sizes, run
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


class Rounded(Prepared):
    """Queries and one block of passages in float32 and as codes of 8 bits.

    Attributes
    ----------
    signed, steps, lost
        (n, d) codes of the queries, and (n,) their steps and how far each query is from its codes.
    unsigned, step
        (B, d) codes of the passages less the centre, and their step.
    unit
        How much of a product one code is worth.
    offset
        (n,) product of each query and the centre.
    fine
        Whether this block's codes are not to be used.
    proposed
        How many pairs were looked at again: a list, as several threads add to it.
    """

    def __init__(self, task: Task, ids: Ints, sizes: Sizes):
        super().__init__(task, ids, sizes, np.float32)
        self.steps = np.maximum(np.abs(self.queries).max(axis=1, initial=0) / np.float32(STEPS), np.float32(1e-30))
        codes = np.rint(self.queries / self.steps[:, None])
        self.lost = lengths_of(self.queries - codes * self.steps[:, None])
        self.signed = codes.astype(np.int8)
        self.unsigned = np.empty(self.buffer.shape, np.uint8)
        self.step, self.centre = np.float32(1), np.zeros(self.queries.shape[1], np.float32)
        self.offset = np.zeros(len(self.queries), np.float32)
        self.far = self.missed = np.empty(0)
        self.unit = np.float32(1)
        self.fine, self.proposed = True, [0]
        self._pause = self._wait = 0

    def load(
        self, task: Task, start: int, count: int, each: Each = by_itself
    ) -> tuple[Floats, NDArray[np.bool_]] | None:
        """Take passages, and make their codes where these are to be used; returns are those of ``Prepared``."""
        self.fine = self._whether_fine() or start == 0
        self.far, self.missed = np.full((2, len(self.buffer)), np.nan)
        loaded = super().load(task, start, count, each)
        if loaded is None:
            return None
        if start == 0:
            some = self.block[np.flatnonzero(loaded[1])[: 2 * ROWS]]
            if len(some):
                self.centre = some.mean(axis=0)
                self.offset = (self.queries @ self.centre.astype(np.float64)).astype(np.float32)
                # What goes beyond is cut, and missed like what is rounded.
                reach = 1.1 * float(np.abs(some - self.centre).max())
                self.step = np.float32(max(reach, float(np.abs(some).max()) / 2**20) / SIDE or 1.0)
        elif not self.fine:
            # Rows without a passage, and zeros.
            rows = np.flatnonzero(~np.isfinite(self.missed[: len(self.block)]))
            self._encode(rows, self._room(len(rows)))
        return loaded

    def _fill(self, task: Task, start: int, part: slice) -> Floats:
        if self.fine:
            return super()._fill(task, start, part)
        found, room = [np.empty(0)], self._room(ROWS)
        for first in range(part.start, part.stop, ROWS):
            rows = slice(first, min(first + ROWS, part.stop))
            found.append(super()._fill(task, start, rows))
            self._encode(rows, room)
        return np.concatenate(found)

    def _room(self, rows: int) -> NDArray[np.float32]:
        return np.empty((2, rows, self.block.shape[1]), np.float32)

    def _whether_fine(self) -> bool:
        """Say whether the next block is for float32: for longer each time that too many were proposed."""
        if sum(self.proposed) > MANY * len(self.queries):
            self._pause = self._wait = 2 * self._pause or 1
        self.proposed.clear()
        self._wait -= 1
        return self._wait >= 0

    def _encode(self, rows: Any, room: NDArray[np.float32]) -> None:
        """Make the codes of some rows; note how far each is from the centre, and from its codes."""
        block = self.block[rows]
        left, codes = room[:, : len(block)]
        with np.errstate(all="ignore"):
            np.subtract(block, self.centre, out=left)
            self.far[rows] = lengths_of(left)
            np.multiply(left, 1 / self.step, out=left)
            np.rint(left, out=codes)
            if not (codes.min(initial=0) >= -SIDE and codes.max(initial=0) <= SIDE):
                np.clip(codes, -SIDE, SIDE, out=codes)
            np.subtract(left, codes, out=left)
            self.missed[rows] = lengths_of(left) * float(self.step)
            codes += ZERO
            self.unsigned[rows] = codes


class EightBitProduct(NumpyProduct):
    """A matrix product of 8-bit integers with a result of 8 bits or, for some blocks, of float32."""

    _data: Rounded

    def __init__(self, task: Task, ids: Ints, sizes: Sizes):
        super().__init__(sizes, Rounded(task, ids, sizes))
        self._torch = require_torch()
        self._packed: dict[int, Any] = {}
        self._eight, self._offset = np.empty((0, 0), np.uint8), self._data.offset

    def load(self, task: Task, start: int, each: Each = by_itself) -> tuple[Bound, NDArray[np.bool_]] | None:
        """Take the passages from ``start`` on."""
        loaded, data = super().load(task, start, each), self._data
        if loaded is None or data.fine:
            return loaded
        size = len(data.block)
        far, missed = data.far[:size] + data.missed[:size], 1.02 * data.missed[:size]
        # No result is greater, so that none is cut above.
        data.unit = np.float32(1.01 * (1 + data.lost.max()) * max(far.max(), 1e-30) / (255 - NOUGHT))
        # Rounding in float32 goes by what is multiplied, and by what was taken away before.
        whole = loaded[0].length + float(lengths_of(data.centre[None])[0])
        extra = missed + 1.02 * data.error * whole + 0.51 * float(data.unit)
        least = data.offset.astype(np.float64) - (NOUGHT - 1) * float(data.unit)
        return Bound(1.02 * data.lost, far, extra, least), loaded[1]

    def multiply(self, queries: slice) -> None:
        """Work out the scores."""
        data, count = self._data, queries.stop - queries.start
        if data.fine:
            super().multiply(queries)
            return
        if queries.start not in self._packed:
            self._packed[queries.start] = _pack(self._torch, data.signed[queries], data.steps[queries])
        passages = self._torch.from_numpy(data.unsigned[: len(data.block)])
        packed = self._packed[queries.start]
        self._eight = _multiply(self._torch, passages, float(data.step), packed, float(data.unit))[:, :count]
        self._eight[data.hidden] = 0
        self._offset = data.offset[queries]

    def maxima(self) -> NDArray[Any]:
        """Return (b, G) scores, each the greatest of its query in a group of columns: here of all."""
        if self._data.fine:
            return super().maxima()
        return self._decoded(self._eight.max(axis=0)[:, None], self._offset[:, None])

    def reaching(self, least: NDArray[Any]) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Yield rows, columns and scores that are not below the least of their query."""
        if self._data.fine:
            yield from super().reaching(least)
            return
        # One code less, for what rounding does here. The code 0 is −∞, and no product has 255.
        code = np.floor((least - self._offset) / self._data.unit) + (NOUGHT - 1)
        hit = self._eight >= np.clip(code, 1, 255).astype(np.uint8)
        found = np.flatnonzero(hit)
        for start in range(0, len(found), 8 * AT_ONCE):
            column, row = np.divmod(found[start : start + 8 * AT_ONCE], hit.shape[1])
            yield row, column, self._decoded(self._eight[column, row], self._offset[row]).astype(np.float64)

    def lines(self, rows: Ints) -> NDArray[Any]:
        """Return the scores of queries."""
        if self._data.fine:
            return super().lines(rows)
        return self._decoded(self._eight[:, run(rows)].T, self._offset[rows][:, None])

    def again(self, queries: Ints, columns: Ints) -> tuple[Floats, Floats] | None:
        """Return (n,) scores of pairs in float32 and their bounds; None where all are of float32."""
        if self._data.fine:
            return None
        self._data.proposed.append(len(queries))
        return self._data.again(queries, columns)

    def _decoded(self, codes: NDArray[Any], offset: NDArray[Any]) -> NDArray[Any]:
        """Return the scores of results of 8 bits; what was cut below is −∞."""
        scores = (np.arange(256, dtype=np.float32) - NOUGHT) * self._data.unit
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
