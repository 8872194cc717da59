"""In which precision a training computes: in bfloat16 on a GPU that has it, else in float32; evaluations always in it.

The weights stay in float32, and so do similarities: bfloat16 has three digits.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any


def bfloat16(kind: str) -> bool:
    """Say whether a training on such a device computes in bfloat16; not tried on a GPU."""
    import torch

    return kind == "cuda" and bool(torch.cuda.is_bf16_supported(including_emulation=False))


def of_training(kind: str) -> AbstractContextManager[Any]:
    """Return a context in which networks compute as a training does on such a device."""
    import torch

    return torch.autocast(kind, torch.bfloat16) if bfloat16(kind) else nullcontext()


def full(kind: str) -> AbstractContextManager[Any]:
    """Return a context in which float32 is computed in as such, inside of :func:`of_training` too."""
    import torch

    return torch.autocast(kind, enabled=False) if bfloat16(kind) else nullcontext()
