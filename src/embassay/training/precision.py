"""The precision of a training: bfloat16 on a GPU that has it, else float32. Evaluations are always in float32.

The weights stay in float32, and so do similarities: bfloat16 has three digits.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any


def bfloat16(kind: str) -> bool:
    """Return whether a training on this kind of device computes in bfloat16; not tried on a GPU."""
    import torch

    return kind == "cuda" and bool(torch.cuda.is_bf16_supported(including_emulation=False))


def of_training(kind: str) -> AbstractContextManager[Any]:
    """Return a context in which networks compute in the precision of a training on this kind of device."""
    import torch

    return torch.autocast(kind, torch.bfloat16) if bfloat16(kind) else nullcontext()


def full(kind: str) -> AbstractContextManager[Any]:
    """Return a context in which float32 is computed in as such, inside of :func:`of_training` too."""
    import torch

    return torch.autocast(kind, enabled=False) if bfloat16(kind) else nullcontext()
