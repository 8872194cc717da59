"""What an object of another library computes with, as far as it can be read: the tensors of its modules, its arrays."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from embassay.encoders.objects.object_settings import DEPTH, SECRET

OF_MODULES = ("_parameters", "_buffers", "_modules")
"""Where torch's modules hold what their ``state_dict`` tells."""


def contents(thing: object) -> list[tuple[str, Any]] | None:
    """Return all that an object computes with, tensors and arrays with their paths; None where it has more than these.

    Whatever has a ``state_dict`` counts as the model, be it the object itself or what an attribute holds. An object
    without one is known where nothing is in it but arrays and plain settings, and at least one array.
    """
    found = list(_leaves(thing))
    models = [(path, value) for path, value, _ in found if _is_model(value)]
    parts = [part for path, model in models for part in _state(path, model)]
    unread = any(not _is_numbers(value) for _, value in parts)
    unread |= not models and any(not _is_numbers(value) and not told for _, value, told in found)
    numbers = [*parts, *((path, value) for path, value, _ in found if _is_numbers(value))]
    return numbers if numbers and not unread else None


def digest(parts: list[tuple[str, Any]]) -> str:
    """Return a SHA-256 over paths, types, shapes and bytes, in this order."""
    found = hashlib.sha256()
    for path, value in parts:
        rows, kind = _bytes(value)
        found.update(f"{path}\x1f{kind}\x1f{tuple(value.shape)}\x1f".encode("utf-8", "surrogatepass"))
        found.update(rows.data)
    return found.hexdigest()


def _leaves(thing: object) -> Iterator[tuple[str, Any, bool]]:
    """Yield (path, value, whether the settings tell it) of an object and of all that its attributes hold."""
    model = _is_model(thing)
    if model:
        yield "", thing, False
    own = {**getattr(thing, "__dict__", {}), **(getattr(thing, "__pydantic_private__", None) or {})}
    for name, value in own.items():
        if not (model and name in OF_MODULES):
            yield from _within(name, value, DEPTH - 1, name.startswith("_") or bool(SECRET.search(name)))


def _within(path: str, value: Any, depth: int, hidden: bool) -> Iterator[tuple[str, Any, bool]]:
    if issparse(value):
        csr = value.tocsr()
        yield from ((f"{path}.{part}", getattr(csr, part), False) for part in ("data", "indices", "indptr"))
        yield f"{path}.shape", np.array(csr.shape), False
    elif depth and isinstance(value, Mapping) and len({str(key) for key in value}) == len(value):
        for key, part in value.items():
            name, plain = str(key), isinstance(key, (str, int, float))
            yield from _within(f"{path}\x1f{name}", part, depth - 1, hidden or not plain or bool(SECRET.search(name)))
            if not plain:
                yield path, key, False
    elif depth and isinstance(value, (list, tuple)):
        for place, part in enumerate(value):
            yield from _within(f"{path}\x1f{place}", part, depth - 1, hidden)
    else:
        plain = isinstance(value, (bool, int, float)) or (isinstance(value, str) and "://" not in value)
        yield path, value, value is None or (plain and not hidden)


def _is_model(value: object) -> bool:
    return callable(getattr(value, "state_dict", None)) and not isinstance(value, type)


def _state(path: str, model: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a model has learnt; the model itself where it does not tell, or computes with something else."""
    elsewhere = getattr(model, "get_backend", None)
    try:
        state = dict(model.state_dict())
        known = not callable(elsewhere) or elsewhere() == "torch"
    except Exception:
        known, state = False, {}
    if not known:
        yield path, model
    yield from ((f"{path}\x1f{name}", value) for name, value in state.items())


def _is_numbers(value: Any) -> bool:
    """Say whether a value is an array or a tensor whose bytes are its content."""
    if isinstance(value, np.generic) or type(value) in (np.ndarray, np.memmap):
        return not value.dtype.hasobject
    tensor = all(hasattr(value, name) for name in ("detach", "is_meta", "is_quantized", "layout"))
    return tensor and not (value.is_meta or value.is_quantized) and str(value.layout) == "torch.strided"


def _bytes(value: Any) -> tuple[NDArray[np.uint8], str]:
    """Return the bytes of an array or a tensor, and the name of its type."""
    if isinstance(value, (np.ndarray, np.generic)):
        return np.ascontiguousarray(value).reshape(-1).view(np.uint8), value.dtype.str
    import torch

    flat = value.detach().cpu().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy(), str(value.dtype)
