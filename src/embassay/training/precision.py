"""The precision of a training: bfloat16 on a GPU that supports it, otherwise float32. Evaluations use float32.

Weights and similarities are always float32, because bfloat16 has only about three digits.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext


def bfloat16(kind: str) -> bool:
    """Return whether a training on this kind of device computes in bfloat16. Not tested on a GPU."""
    import torch

    return kind == "cuda" and bool(torch.cuda.is_bf16_supported(including_emulation=False))


def of_training(kind: str) -> AbstractContextManager[object]:
    """Return a context in which networks compute in the precision of a training on this kind of device."""
    import torch

    return torch.autocast(kind, torch.bfloat16) if bfloat16(kind) else nullcontext()


def full(kind: str) -> AbstractContextManager[object]:
    """Return a context in which float32 values are computed in float32, even inside :func:`of_training`."""
    import torch

    return torch.autocast(kind, enabled=False) if bfloat16(kind) else nullcontext()
