"""The files of a model's weights, and what their headers say; nothing is loaded."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path

from embassay.core.errors import ModelNotFoundError
from embassay.core.types import JsonObject
from embassay.models.neural.locations import read_json
from embassay.models.neural.model_files import SAFE, folder_files, is_pickled, parent_of


def parameters(folder: Path, without: Sequence[str] = ()) -> int | None:
    """Return the number of floating-point parameters in the safetensors headers.

    It is None if there are no safetensors files, or if any weights are pickled.

    Parameters
    ----------
    without
        Prefixes of the names of tensors that are not loaded, for example ``decoder.``.

    Raises
    ------
    ModelNotFoundError
        For a damaged file.
    """
    if any(map(is_pickled, weight_files(folder))):
        return None
    total = sum(prod(tensor["shape"]) for tensor in _tensors(folder, without) if _is_floating(tensor))
    return total or None


def weight_files(folder: Path) -> tuple[str, ...]:
    """Return the files of the weights of all modules in a folder, relative to it."""
    names = set(folder_files(folder))
    weights = {name for name in names if is_pickled(name) and name.endswith(".bin")}
    for parent in {parent_of(name) for name in names}:
        prefix = ""
        if parent:
            prefix = f"{parent}/"
        whole, index = (prefix + name for name in SAFE)
        # Weights are in one file, or in several that an index lists.
        if whole in names:
            weights.add(whole)
        elif index in names:
            shards = read_json(folder / index).get("weight_map") or {}
            weights.update(prefix + str(shard) for shard in shards.values())
    return tuple(sorted(weights))


def tensor_shapes(folder: Path) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the tensors in a folder's safetensors files by name, without those of its subfolders.

    Raises
    ------
    ModelNotFoundError
        For a damaged file.
    """
    shapes = {}
    for file in safetensors_files(folder):
        for name, entry in _header(file).items():
            shapes[name] = tuple(entry["shape"])
    return shapes


def safetensors_files(folder: Path) -> list[Path]:
    """Return the safetensors files of a folder, without those of its subfolders."""
    return [folder / name for name in weight_files(folder) if "/" not in name and not is_pickled(name)]


def _tensors(folder: Path, without: Sequence[str]) -> Iterator[JsonObject]:
    """Yield type, shape and position of the tensors in safetensors files whose names do not begin with ``without``."""
    for file in weight_files(folder):
        if is_pickled(file):
            continue
        for name, entry in _header(folder / file).items():
            if not name.startswith(tuple(without)):
                yield entry


def _is_floating(tensor: JsonObject) -> bool:
    return str(tensor["dtype"]).startswith(("F", "BF"))


def _header(path: Path) -> JsonObject:
    """Return the header of a safetensors file: type, shape and position of each tensor by its name."""
    try:
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            header: JsonObject = json.loads(file.read(length))
            header.pop("__metadata__", None)
            end = 8 + length + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    except (struct.error, ValueError, TypeError, KeyError, MemoryError, OverflowError):
        raise ModelNotFoundError(f"{path}: damaged or not a safetensors file") from None
    size = path.stat().st_size
    if size != end:
        raise ModelNotFoundError(f"{path}: has {size:,} bytes instead of {end:,}; copy or download it again")
    return header
