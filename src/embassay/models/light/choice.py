"""Which route runs a model: light, or one of those with torch."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from embassay.core.errors import InputError, MissingExtraError, SpecError
from embassay.models.light.architecture import NotSupportedError
from embassay.models.light.model import LightModel

EXTRAS = {
    "light": ("onnxruntime", "onnx", "tokenizers", "safetensors"),
    "hf": ("torch", "transformers", "sentence_transformers"),
}
"""The packages of the light route, and of the routes with torch."""
GPUS = ("nvidia[0-9]*", "kfd", "dri")
"""Names in ``/dev`` on machines that may have a GPU."""


def is_installed(extra: str) -> bool:
    """Return whether the packages of an extra are installed; none is imported."""
    return all(find_spec(package) for package in EXTRAS[extra])


def check_installed(target: str) -> None:
    """Raise MissingExtraError if the packages of no route are installed."""
    if not any(map(is_installed, EXTRAS)):
        raise MissingExtraError(f"encoder {target!r}", "light")


def choose_route(
    target: str, describe: Callable[[], LightModel], backend: str, device: str, dtype: str
) -> tuple[LightModel | None, str]:
    """Return the model for the light route, or None for a route with torch; and a note on why it is not the light one.

    The note is empty if it is, or if a setting decided.

    Parameters
    ----------
    describe
        Returns the model for the light route, or raises NotSupportedError.
    backend
        The route that the user has chosen, or ``auto``.

    Raises
    ------
    SpecError
        If the user has chosen the light route, and it cannot run the model.
    MissingExtraError
        If the packages of the route are not installed.
    """
    if backend not in ("auto", "light"):
        if not is_installed("hf"):
            raise MissingExtraError(f"backend {backend!r}", "hf")
        return None, ""
    model: LightModel | None = None
    setting = reason = _wanted_otherwise(backend, device, dtype)
    if not setting:
        try:
            model = describe()
        except NotSupportedError as error:
            reason = str(error)
    if model is not None and is_installed("light"):
        return model, ""
    if backend == "light" or not is_installed("hf"):
        raise _unusable(target, backend, model, reason)
    if setting:
        # What the user has set needs no explanation.
        return None, ""
    if model is not None:
        return None, "runs with torch; the extra 'light' runs it faster: pip install 'embassay[light]'"
    return None, f"runs with sentence-transformers (extra 'hf'), because the light route cannot run it: {reason}"


def _unusable(target: str, backend: str, model: LightModel | None, reason: str) -> InputError:
    """Return the error for a model without a route; ``model`` is None where the light route cannot run it."""
    if model is not None:
        return MissingExtraError(f"encoder {target!r}", "light")
    if backend == "light":
        return SpecError(f"encoder {target!r}: backend 'light' cannot run this model: {reason}; leave --backend out")
    return MissingExtraError(f"encoder {target!r} cannot run without torch ({reason}) and", "hf")


def _wanted_otherwise(backend: str, device: str, dtype: str) -> str:
    """Return which setting, or which device, the light route does not have; empty if it has all of them."""
    if dtype != "float32":
        return f"it computes in float32, not in {dtype}"
    if device not in ("auto", "cpu"):
        return f"it runs on the CPU, not on {device}"
    # Only torch can tell whether there is a GPU, and importing it takes seconds.
    if backend == "auto" and not is_surely_cpu(device) and is_installed("hf"):
        return "there may be a GPU"
    return ""


def is_surely_cpu(device: str) -> bool:
    """Return whether a model certainly runs on the CPU: for ``cpu``, and for ``auto`` without a GPU in ``/dev``."""
    if device == "auto":
        return sys.platform == "linux" and not any(next(Path("/dev").glob(name), None) for name in GPUS)
    return device == "cpu"
