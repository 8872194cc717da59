"""The devices and routes of models that run with torch."""

from __future__ import annotations

from importlib.util import find_spec

from embassay.core.errors import EncoderError, UnknownNameError
from embassay.core.types import check_device
from embassay.models.neural.runner import ROUTES

BACKENDS = ("auto", "light", *ROUTES)
"""What ``--backend`` may name: the routes of neural models, and ``auto``."""


def check_place(device: str, backend: str) -> None:
    """Raise an error if the device or the backend has an unknown name."""
    check_device(device)
    if backend not in BACKENDS:
        raise UnknownNameError("backend", backend, BACKENDS)


def device_map(device: str) -> str | None:
    """Return the option of transformers by which it places a model, on several GPUs if there are; None if it does not.

    It needs accelerate. Without it, a model is on one device.
    """
    return "auto" if device == "auto" and find_spec("accelerate") else None


def available_device(device: str) -> str:
    """Return the name of a device for torch; for ``auto``, the fastest kind that is available.

    Raises
    ------
    EncoderError
        If the device is not available.
    """
    import torch

    kind, _, number = device.partition(":")
    if kind == "auto":
        from sentence_transformers.util import get_device_name

        return str(get_device_name())
    if kind == "cuda" and not torch.cuda.is_available():
        raise EncoderError(f"device {device!r} is not available: torch finds no CUDA GPU; leave --device out")
    if kind == "cuda" and number and int(number) >= torch.cuda.device_count():
        raise EncoderError(f"device {device!r} is not available: torch finds {torch.cuda.device_count()} CUDA GPUs")
    if kind == "mps" and not torch.backends.mps.is_available():
        raise EncoderError("device 'mps' is not available: torch finds no MPS device; leave --device out")
    return device


def devices_here() -> list[str]:
    """Return the devices on which torch can run models here: ``cpu``, and the names of the GPUs."""
    import torch

    devices = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        devices.append("mps")
    return ["cpu", *devices]
