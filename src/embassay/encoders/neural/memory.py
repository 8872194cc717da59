"""How much memory a model's weights take, from the headers of their files, and how much is free; nothing is loaded."""

from __future__ import annotations

import json
import os
import struct
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import Any

from embassay.encoders.neural.locations import read_json
from embassay.encoders.neural.model_files import SAFE, folder_files, is_pickled, parent_of
from embassay.errors import EncoderError, ModelNotFoundError

BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}
GPUS = ("nvidia[0-9]*", "kfd", "dri")
"""What /dev holds where there may be a GPU."""
CGROUP = Path("/sys/fs/cgroup")
"""Where a container's share of the memory is said."""
GB = 1e9
SMALL = 1e9
"""Bytes of weights for which torch, which takes seconds to import, is not asked what a GPU has free."""


def parameters(folder: Path, without: Sequence[str] = ()) -> int | None:
    """Count the floating-point numbers in the safetensors headers; None where there are none, or weights without.

    Parameters
    ----------
    without
        Beginnings of the names of tensors that are not loaded: ``decoder.``.

    Raises
    ------
    ModelNotFoundError
        For a file that is cut short.
    """
    if any(map(is_pickled, weight_files(folder))):
        return None
    return sum(count for _, count, floating, _ in _tensors(folder, without) if floating) or None


def weights(folder: Path, dtype: str, without: Sequence[str] = ()) -> int:
    """Return how many bytes a model's weights take in memory in a precision; 0 where its files do not tell.

    Numbers that are whole, those of quantised weights for example, stay as wide as they are. The files of pickled
    weights are not opened: their size counts, in the precision that the configuration names.
    """
    width = BYTES[dtype]
    found = sum(count * width if floating else size for _, count, floating, size in _tensors(folder, without))
    config = read_json(folder / "config.json")
    stored = BYTES.get(str(config.get("dtype") or config.get("torch_dtype")), 4)
    pickled = filter(is_pickled, weight_files(folder))
    return found + sum((folder / name).stat().st_size for name in pickled) * width // stored


def weight_files(folder: Path) -> tuple[str, ...]:
    """Return the files that weights are loaded from, of each module in a folder, relative to it."""
    names = set(folder_files(folder))
    found = {name for name in names if is_pickled(name) and name.endswith(".bin")}
    for parent in {parent_of(name) for name in names}:
        beside = f"{parent}/" if parent else ""
        whole, index = (beside + name for name in SAFE)
        shards = read_json(folder / index).get("weight_map") or {} if index in names and whole not in names else {}
        found |= {whole} & names | {beside + str(shard) for shard in shards.values()}
    return tuple(sorted(found))


def tensor_names(folder: Path) -> frozenset[str]:
    """Return the names of the tensors in a folder's safetensors files, not in those of folders below it."""
    safe = (name for name in weight_files(folder) if "/" not in name and not is_pickled(name))
    return frozenset(tensor for name in safe for tensor in _header(folder / name))


def free(device: str) -> int | None:
    """Return how many bytes are free on a device; None where that cannot be told."""
    kind, _, number = device.partition(":")
    if kind == "cpu":
        return _free_ram()
    if kind != "cuda" or find_spec("torch") is None:
        return None
    import torch

    # A GPU that is not there is said where the model is loaded.
    return int(torch.cuda.mem_get_info(device)[0]) if int(number or 0) < torch.cuda.device_count() else None


def check_fits(size: int, dtype: str, devices: Sequence[str]) -> None:
    """Refuse weights that are larger than what is free, before they are loaded.

    Parameters
    ----------
    size
        Bytes of one copy.
    devices
        Where a copy goes, one entry for each.

    Raises
    ------
    EncoderError
        With both numbers.
    """
    if lack := too_large(size, dtype, devices):
        raise EncoderError(lack)


def too_large(size: int, dtype: str, devices: Sequence[str]) -> str:
    """Return what does not fit where, with both numbers; an empty text where all fits or nothing can be told."""
    for device, copies in Counter(devices).items():
        there = free(device)
        if there is not None and size * copies > there:
            less = "; dtype=bfloat16 takes half of it" if dtype == "float32" else ""
            many = f"{copies} copies of " if copies > 1 else ""
            return (
                f"{many}its weights take {size * copies / GB:.1f} GB in {dtype}, and {device} has {there / GB:.1f} GB "
                f"free{less}"
            )
    return ""


def foreseen(size: int, dtype: str, device: str) -> str:
    """Return what will not fit, before anything is loaded; an empty text where all fits or nothing can be told.

    Parameters
    ----------
    size
        Bytes of one copy.
    device
        As it was asked for: ``auto``, ``cuda:0,cuda:1``.
    """
    devices = [part.strip() for part in device.split(",") if part.strip()]
    if size < SMALL and not all(map(_surely_cpu, devices)):
        return ""
    return too_large(size, dtype, [_expected(part) for part in devices])


def lack(parameters: int | None, dtype: str, device: str) -> str:
    """Return what :func:`foreseen` does of a model of which only the number of parameters is known, if that."""
    return foreseen((parameters or 0) * BYTES[dtype], dtype, device)


def _expected(device: str) -> str:
    """Return the device that a model will run on, as far as it can be told what is free there."""
    if _surely_cpu(device):
        return "cpu"
    if device != "auto" or find_spec("torch") is None:
        return device
    import torch

    return str(torch.accelerator.current_accelerator()) if torch.accelerator.is_available() else "cpu"


def _surely_cpu(device: str) -> bool:
    """Say whether a model surely runs on the CPU, without asking torch: ``cpu``, or ``auto`` and there is no GPU."""
    if device == "auto":
        return sys.platform == "linux" and not any(next(Path("/dev").glob(name), None) for name in GPUS)
    return device == "cpu"


def _tensors(folder: Path, without: Sequence[str]) -> Iterator[tuple[str, int, bool, int]]:
    """Yield (name, numbers, whether they are floating-point, bytes) of each tensor in the safetensors files."""
    for name in weight_files(folder):
        if is_pickled(name):
            continue
        for tensor, about in _header(folder / name).items():
            if not tensor.startswith(tuple(without)):
                start, stop = about["data_offsets"]
                yield tensor, prod(about["shape"]), about["dtype"].startswith(("F", "BF")), stop - start


def _header(path: Path) -> dict[str, Any]:
    """Return what a safetensors file says of each tensor in it."""
    try:
        with path.open("rb") as file:
            header: dict[str, Any] = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    except (struct.error, ValueError):
        raise ModelNotFoundError(f"{path}: damaged, or not a safetensors file") from None
    header.pop("__metadata__", None)
    return header


def _free_ram() -> int | None:
    """Return what this process may still take: of the machine, and of its container's share."""
    found = [n for n in (_machine_ram(), _container_ram()) if n is not None]
    return min(found, default=None)


def _machine_ram() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _container_ram() -> int | None:
    """Return what is left of a container's limit; what it holds of files can be given up and counts as free."""
    try:
        limit, used = ((CGROUP / name).read_text(encoding="ascii") for name in ("memory.max", "memory.current"))
        lines = (CGROUP / "memory.stat").read_text(encoding="ascii").splitlines()
        files = next(int(line.split()[1]) for line in lines if line.startswith("inactive_file "))
        return max(0, int(limit) - int(used) + files)
    except (OSError, StopIteration, ValueError):
        return None
