"""Products by torch, on a GPU or another of its devices. torch is imported when it is used."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from embassay.errors import MissingExtraError

if TYPE_CHECKING:
    from torch import Tensor

WORTH = 10_000_000
"""Pairs of a query and a passage from which a GPU is worth it."""


class TorchProduct:
    """A matrix product of torch; the scores are brought back to the processor, which looks through them."""

    def __init__(self, queries: np.ndarray, device: str):
        self._torch, self._device = require_torch(), device
        # Where a user allows float32 to be multiplied in less precision, only float64 is multiplied as such.
        full = device == "mps" or _full_precision(self._torch)
        self._dtype = self._torch.float32 if full else self._torch.float64
        self._queries = self.load(queries)

    def load(self, rows: np.ndarray) -> Tensor:
        """Return the passages on the device."""
        return self._torch.from_numpy(rows).to(self._device, self._dtype)

    def multiply(self, queries: slice, loaded: Tensor, out: np.ndarray) -> None:
        """Write the scores."""
        self._torch.from_numpy(out).copy_(self._torch.mm(self._queries[queries], loaded.T))


def choose(device: str, work: int) -> str:
    """Return the device of torch that is fastest here as far as can be told without trying; empty for numpy.

    torch is asked only where something else has imported it: to import it takes longer than most searches.

    Parameters
    ----------
    work
        Queries times passages.
    """
    torch = sys.modules.get("torch")
    if torch is None or device == "cpu":
        return ""
    if device == "auto":
        return "cuda" if work >= WORTH and torch.cuda.is_available() else ""
    # A device that is not there changes no result.
    return device if _usable(torch, device) else ""


def accelerator() -> str:
    """Return the device that torch would use."""
    torch = require_torch()
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def require_torch() -> ModuleType:
    """Import torch.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise MissingExtraError("torch search", "hf") from error


def _usable(torch: ModuleType, device: str) -> bool:
    """Say whether torch can put something there."""
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError):
        return False
    return True


def _full_precision(torch: ModuleType) -> bool:
    """Say whether float32 is multiplied as such: a user may have allowed TF32 or bfloat16."""
    try:
        return torch.get_float32_matmul_precision() == "highest" and not torch.backends.cuda.matmul.allow_tf32
    except RuntimeError:
        # torch refuses to say where its old and its new settings were both used.
        return False
