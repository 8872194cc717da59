"""Products of 8-bit integers by torch, 1.8 times as fast as those of float32 where a processor has AVX2.

So coarse a product (``_topk_codes`` says how coarse) proposes several times too many passages, which are looked at
again in float32 before they are kept.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.engine._topk_codes import PASSAGE_ZERO, QUERY_SIDE, RESULT_ZERO, Coded, Rounded, lengths_of
from embassay.engine._topk_prepared import Sizes
from embassay.engine._topk_products import Bound, NumpyProduct
from embassay.engine._topk_task import Floats, Ints, Task
from embassay.engine._topk_torch import require_torch
from embassay.errors import InputError

BAND, PROPOSALS = 1024, 131_072
"""Passages of whose results those that reach a bar are looked for at once, and proposals handed on at once."""
MULTIPLE = 16
"""Of so many queries a product is a fifth faster than of a few more or less."""
PASSAGES, QUERIES = 50_000, 500
"""From so many on the block in float32 and the making of codes do not weigh."""
KNOWN = ("AVX2", "AVX512")
"""How torch's names of processors begin whose 8-bit products are known to be fast."""


class EightBitProduct(NumpyProduct):
    """A matrix product of 8-bit integers with a result of 8 bits or, for some blocks, of float32.

    Raises
    ------
    MissingExtraError
        If torch is not installed.
    InputError
        If its products of 8 bits are not there, or not exact.
    """

    data: Rounded

    def __init__(self, task: Task, ids: Ints, sizes: Sizes):
        self._torch = require_torch()
        if not exact(self._torch):
            raise InputError("search route 'int8': torch has no exact products of 8 bits here; say route='auto'")
        super().__init__(Rounded(task, ids, sizes))
        self._packed: dict[int, Any] = {}
        self._eight, self._offset = np.empty((0, 0), np.uint8), self.data.offset

    def multiply(self, queries: slice) -> None:
        """Work out the scores."""
        data, count = self.data, queries.stop - queries.start
        if data.now.fine:
            super().multiply(queries)
            return
        if queries.start not in self._packed:
            self._packed[queries.start] = _pack(self._torch, data.signed[queries], data.steps[queries])
        passages, packed = self._torch.from_numpy(data.now.codes), self._packed[queries.start]
        self._eight = _multiply(self._torch, passages, float(data.step), packed, data.now.unit)[:, :count]
        self._eight[data.now.hidden] = 0
        self._offset = data.offset[queries]

    def reaching(self, least: NDArray[Any]) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Yield rows, columns and scores that are not below the least of their query."""
        if self.data.now.fine:
            yield from super().reaching(least)
            return
        # Down to a whole code, so that rounding here loses none. The code 0 is −∞, and no product has 255.
        codes = np.floor((least - self._offset) / self.data.now.unit) + RESULT_ZERO
        for found in self._places(np.clip(codes, 1, 255).astype(np.uint8)):
            column, row = np.divmod(found, len(codes))
            scores = (self._eight[column, row].astype(np.float64) - RESULT_ZERO) * self.data.now.unit
            yield row, column, scores + self._offset[row]

    def again(self, queries: Ints, columns: Ints) -> tuple[Floats, Floats] | None:
        """Return (n,) scores of pairs in float32 and their bounds; None where all are of float32."""
        if self.data.now.fine:
            return None
        self.data.proposed.append(len(queries))
        return self.data.again(queries, columns)

    def _bound(self, block: Coded) -> Bound:
        if block.fine:
            return super()._bound(block)
        data = self.data
        # Rounding in float32 goes by what is multiplied, and by what was taken away before.
        whole = block.lengths + float(lengths_of(data.centre[None])[0])
        extra = 1.02 * block.missed + 1.02 * data.error * whole + 0.51 * block.unit
        least = data.offset.astype(np.float64) - (RESULT_ZERO - 1) * block.unit
        return Bound(1.02 * data.lost, block.far + block.missed, extra, least)

    def _places(self, codes: NDArray[np.uint8]) -> Iterator[Ints]:
        """Yield the places of results that are not below the code of their query, so many at once."""
        found = np.empty(0, np.int64)
        for start in range(0, len(self._eight), BAND):
            hit = self._eight[start : start + BAND] >= codes
            found = np.append(found, np.flatnonzero(hit) + start * len(codes))
            while len(found) >= PROPOSALS:
                yield found[:PROPOSALS]
                found = found[PROPOSALS:]
        if len(found):
            yield found


def worth(queries: int, passages: int) -> bool:
    """Say whether 8 bits are worth it for so many queries and passages, and can be had.

    torch is asked only where something else has imported it.
    """
    torch = sys.modules.get("torch")
    return torch is not None and passages >= PASSAGES and queries >= QUERIES and fast(torch) and exact(torch)


def fast(torch: Any) -> bool:
    """Say whether torch's 8-bit product is known to be fast on this processor."""
    try:
        return str(torch.backends.cpu.get_cpu_capability()).startswith(KNOWN)
    except (AttributeError, RuntimeError):
        return False


@cache
def exact(torch: Any) -> bool:
    """Say whether torch's 8-bit product is there, and exact for codes at their ends, where others saturate."""
    ends = np.random.default_rng(0).integers(0, 2, size=(400, 64), dtype=np.int32)
    passages, queries = 255 * ends[:384], QUERY_SIDE * (2 * ends[384:] - 1)
    passages[:2], queries[0] = [[255], [0]], QUERY_SIDE
    unit = 64.0 * QUERY_SIDE
    try:
        packed = _pack(torch, queries.astype(np.int8), np.ones(len(queries), np.float32))
        found = _multiply(torch, torch.from_numpy(passages.astype(np.uint8)), 1.0, packed, unit)
    except (AttributeError, RuntimeError, TypeError, ValueError, NotImplementedError):
        return False
    right = np.clip((passages - PASSAGE_ZERO) @ queries.T / unit + RESULT_ZERO, 0, 255)
    return bool((np.abs(found - right) <= 0.51).all())


def _pack(torch: Any, codes: NDArray[np.int8], steps: NDArray[np.float32]) -> tuple[Any, Any, Any]:
    """Lay out the codes of queries; return them, their steps and zeros; zeros follow up to a multiple."""
    more = -len(codes) % MULTIPLE
    packed = torch.ops.onednn.qlinear_prepack(torch.from_numpy(np.pad(codes, ((0, more), (0, 0)))), None)
    steps = np.pad(steps, (0, more), constant_values=1)
    return packed, torch.from_numpy(steps), torch.zeros(len(steps), dtype=torch.int64)


def _multiply(torch: Any, passages: Any, step: float, queries: tuple[Any, Any, Any], unit: float) -> NDArray[np.uint8]:
    """Return the (B, n) products as codes: so many units above ``RESULT_ZERO``, cut to what 8 bits hold."""
    result = (None, unit, RESULT_ZERO, torch.uint8)
    found = torch.ops.onednn.qlinear_pointwise(passages, step, PASSAGE_ZERO, *queries, *result, "none", [], "")
    return np.asarray(found.numpy())
