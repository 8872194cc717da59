"""Products by torch: float32 on the processor or an accelerator, or bfloat16 on the processor. Imported when used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.engine._topk_prepared import ROWS, Prepared, Sizes
from embassay.engine._topk_products import Bound, FloatProduct, Product, as_slice
from embassay.engine._topk_task import Floats, Ints, Task
from embassay.errors import MissingExtraError

ON_ACCELERATOR = Sizes(passages=65_536, queries=1024, group=32)
HALF = 2.0**-8
"""Unit roundoff of bfloat16."""
PASSAGES_FOR_HALF, MEMORY_FOR_HALF = 200_000, 2**30
"""Passages from which bfloat16 is worth its second look, and bytes of memory that should be free for it."""


class TorchProduct(FloatProduct):
    """A matrix product of torch; with ``half`` the vectors and scores are bfloat16."""

    def __init__(self, task: Task, ids: Ints, sizes: Sizes, device: str = "cpu", half: bool = False):
        torch = require_torch()
        self._torch, self._half = torch, half
        self.data = Prepared(task, ids, sizes, np.float32)
        kind = torch.bfloat16 if half else torch.float32
        self._queries, loss = self._convert(self.data.queries, device, kind)
        self._block: Any = self._queries[:0]
        self._room = torch.empty(sizes.queries * self.data.columns, dtype=kind, device=device)
        self._scores: Any = self._room[:0].reshape(0, 0)
        self._per_query = 1.02 * (self.data.error + loss)
        if half:
            self._per_query += 1.02 * HALF
        elif not _full_precision(torch):
            # Both vectors, and then the result, may be cut to as little as bfloat16.
            self._per_query += 3.1 * HALF

    def crew(self, queries: int) -> Sequence[Product]:
        """Return this alone: torch shares the work by itself."""
        return [self]

    def multiply(self, queries: slice) -> None:
        """Work out the scores."""
        rows = self._queries[queries]
        size = (len(rows), len(self._block))
        self._scores = self._room[: size[0] * size[1]].view(*size)
        self._torch.mm(rows, self._block.T, out=self._scores)
        if not self.data.now.shown.all():
            self._scores.index_fill_(1, self._index(self.data.now.hidden), -np.inf)
        self._maxima = self._numpy(self._grouped().amax(1))

    def lines(self, rows: Ints) -> NDArray[Any]:
        """Return the scores of queries."""
        some = as_slice(rows)
        return self._numpy(self._scores[some if isinstance(some, slice) else self._index(some)])

    def again(self, queries: Ints, columns: Ints) -> tuple[Floats, Floats] | None:
        """Return (n,) scores of pairs in float32 and their bounds, after those in bfloat16."""
        return self.data.again(queries, columns) if self._half else None

    def _bound(self, block: Any) -> Bound:
        self._block, loss = self._convert(block.rows, self._room.device, self._room.dtype)
        return Bound(self._per_query, block.lengths, loss)

    def _members(self, rows: Ints, groups: Ints) -> NDArray[Any]:
        return self._numpy(self._grouped()[self._index(rows), :, self._index(groups)])

    def _index(self, places: Ints) -> Any:
        return self._torch.from_numpy(np.ascontiguousarray(places)).to(self._room.device)

    def _numpy(self, tensor: Any) -> NDArray[Any]:
        return np.asarray(tensor.float().cpu().numpy())

    def _convert(self, rows: NDArray[Any], device: Any, kind: Any) -> tuple[Any, Floats]:
        """Return the rows as a tensor, and at most how far each was moved."""
        whole = self._torch.from_numpy(rows)
        if not self._half:
            return whole.to(device), np.zeros(len(rows))
        short = whole.to(kind)
        parts = zip(whole.split(ROWS), short.split(ROWS), strict=True)
        loss = np.concatenate([(a - b.float()).norm(dim=1).numpy() for a, b in parts])
        return short, loss.astype(np.float64) * (1 + 2 * self.data.error)


def choose(device: str, work: int, passages: int) -> tuple[str, str]:
    """Return the exact route, and the device, that are fastest here as far as can be told without trying.

    torch is asked only where something else has imported it: to import it takes longer than most searches.

    Parameters
    ----------
    work
        Queries times passages.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        return "numpy", "cpu"
    # A device that is not there changes no result.
    device = first_of(device)
    if device not in ("auto", "cpu"):
        return ("torch", device) if _usable(torch, device) else ("numpy", "cpu")
    if device == "auto" and work >= 10_000_000 and torch.cuda.is_available():
        return "torch", "cuda"
    quick = passages >= PASSAGES_FOR_HALF and _multiplies_half(torch) and _free() >= MEMORY_FOR_HALF
    return ("bf16" if quick else "numpy"), "cpu"


def first_of(devices: str) -> str:
    """Return the first of devices with commas between them: of several that encode it searches."""
    return devices.split(",")[0].strip()


def _usable(torch: Any, device: str) -> bool:
    """Say whether torch can put something there."""
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError):
        return False
    return True


def accelerator() -> str:
    """Return the device that torch would use."""
    torch = require_torch()
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def require_torch() -> Any:
    """Import torch.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise MissingExtraError("the search by torch", "hf") from error


def _multiplies_half(torch: Any) -> bool:
    """Say whether the processor has instructions for bfloat16; without them it is ten times slower than float32."""
    asked = (getattr(torch.cpu, name, None) for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"))
    return any(ask() for ask in asked if ask is not None)


def _full_precision(torch: Any) -> bool:
    """Say whether float32 is multiplied as such: a user may have allowed TF32 or bfloat16."""
    try:
        return torch.get_float32_matmul_precision() == "highest" and not torch.backends.cuda.matmul.allow_tf32
    except RuntimeError:
        # torch refuses to say where its old and its new settings were both used.
        return False


def _free() -> int:
    """Return the bytes of memory that are free, as far as can be told."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        return 0
