"""Which route runs a model: light, or the one with torch."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

from embassay.core.errors import MissingExtraError, SpecError
from embassay.models.light.architecture import NotSupportedError
from embassay.models.light.model import LightModel

EXTRAS = {
    "light": ("onnxruntime", "onnx", "tokenizers", "safetensors"),
    "hf": ("torch", "transformers", "sentence_transformers"),
}
"""The packages of the light route, and of the route with torch."""
GPUS = ("nvidia[0-9]*", "kfd", "dri")
"""Names in ``/dev`` on machines that may have a GPU."""


def is_installed(extra: str) -> bool:
    """Return whether the packages of an extra are installed; none is imported."""
    return all(find_spec(package) for package in EXTRAS[extra])


def check_installed(target: str) -> None:
    """Raise MissingExtraError if the packages of no route are installed."""
    if not any(map(is_installed, EXTRAS)):
        raise MissingExtraError(f"encoder {target!r}", "light")


def choose_route(target: str, folder: Path, backend: str, device: str, dtype: str) -> tuple[LightModel | None, str]:
    """Return the model for the light route, or None for the route with torch; and a note where that may be slower.

    Parameters
    ----------
    folder
        The folder of the model.
    backend
        The route that the user has chosen, or ``auto``.

    Raises
    ------
    SpecError
        If the user has chosen the light route, and it cannot run the model.
    MissingExtraError
        If the packages of the route are not installed.
    """
    light: LightModel | None = None
    why = note = ""
    if backend == "torch":
        why = "--backend torch"
    elif dtype != "float32" or device not in ("auto", "cpu"):
        why = f"the light route computes in float32 on the CPU, not in {dtype} on {device}"
    # Only torch can tell whether there is a GPU, and importing it takes seconds.
    elif backend == "light" or is_surely_cpu(device) or not is_installed("hf"):
        try:
            light = LightModel.of(folder)
        except NotSupportedError as error:
            why = f"the light route cannot run it: {error}"
            note = f"runs with sentence-transformers (extra 'hf'), because {why}"
        else:
            if is_installed("light"):
                return light, ""
            note = "runs with torch; the extra 'light' runs it faster: pip install 'embassay[light]'"
    if backend == "light" and not light:
        raise SpecError(f"encoder {target!r}: {why}; leave --backend out")
    if backend == "light" or not is_installed("hf"):
        if why:
            raise MissingExtraError(f"encoder {target!r} ({why})", "hf")
        raise MissingExtraError(f"encoder {target!r}", "light")
    return None, note


def is_surely_cpu(device: str) -> bool:
    """Return whether a model certainly runs on the CPU: for ``cpu``, and for ``auto`` without a GPU in ``/dev``."""
    if device == "auto":
        return sys.platform == "linux" and not any(next(Path("/dev").glob(name), None) for name in GPUS)
    return device == "cpu"
