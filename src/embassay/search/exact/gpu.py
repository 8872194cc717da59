"""Matrix products with torch, on a GPU or another device. torch is imported only when it is needed."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from embassay.search.exact.exact import Matrix, NumpyProduct

if TYPE_CHECKING:
    from torch import Tensor

WORTH = 10_000_000
"""With fewer pairs of a query and a passage, numpy is as fast as a GPU."""


class TorchProduct(NumpyProduct):
    """A matrix product of torch; the products are copied back to the processor, which evaluates them."""

    def __init__(self, device: str):
        import torch

        self._torch = torch
        self._device = device
        # If the user's settings allow less precision for products of float32, float64 is used instead.
        full = device == "mps" or _full_precision(self._torch)
        self._dtype = self._torch.float32 if full else self._torch.float64

    def load(self, rows: Matrix) -> Tensor:
        """Return vectors on the device."""
        return self._torch.from_numpy(rows).to(self._device, self._dtype)

    def multiply(self, queries: Tensor, passages: Tensor) -> np.ndarray:
        """Return the products."""
        products = self._torch.mm(queries, passages.T).to("cpu", self._torch.float32)
        return np.asarray(products.numpy())


def choose(device: str, work: int) -> str:
    """Return the device of torch for a search; empty for numpy.

    A GPU is used only if something else has already imported torch: the import takes longer than most searches.

    Parameters
    ----------
    work
        Queries times passages.
    """
    torch = sys.modules.get("torch")
    if torch is None or device == "cpu":
        return ""
    if device == "auto":
        worth_it = work >= WORTH and torch.cuda.is_available()
        return "cuda" if worth_it else ""
    # No error if the device is missing: numpy gives the same result.
    return device if _usable(torch, device) else ""


def _usable(torch: ModuleType, device: str) -> bool:
    """Return whether torch can create a tensor on the device."""
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError):
        # torch raises another error for each reason: no driver, a build without CUDA, an unknown device.
        return False
    return True


def _full_precision(torch: ModuleType) -> bool:
    """Return whether torch multiplies float32 in full precision: a user may have allowed TF32 or bfloat16."""
    try:
        return torch.get_float32_matmul_precision() == "highest" and not torch.backends.cuda.matmul.allow_tf32
    except RuntimeError:
        # torch raises this if both its old and its new precision settings were used.
        return False
