"""How much memory a model's weights take, from the headers of their files, and how much is free; nothing is loaded."""

from __future__ import annotations

import json
import os
import struct
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from math import prod
from pathlib import Path

from embassay.encoders.neural.locations import read_json
from embassay.encoders.neural.model_files import SAFE, folder_files, is_pickled, parent_of
from embassay.errors import EncoderError, ModelNotFoundError
from embassay.types import JsonObject

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
    return sum(tensor.count for tensor in _tensors(folder, without) if tensor.floating) or None


def weights(folder: Path, dtype: str, without: Sequence[str] = ()) -> int:
    """Return how many bytes a model's weights take in memory in a precision; 0 where its files do not tell.

    Numbers that are whole, those of quantised weights for example, stay as wide as they are. The files of pickled
    weights are not opened: their size counts, in the precision that the configuration names.
    """
    width = BYTES[dtype]
    total = 0
    for tensor in _tensors(folder, without):
        total += tensor.count * width if tensor.floating else tensor.size
    config = read_json(folder / "config.json")
    stored_width = BYTES.get(str(config.get("dtype") or config.get("torch_dtype")), 4)
    pickled = sum((folder / name).stat().st_size for name in weight_files(folder) if is_pickled(name))
    return total + pickled * width // stored_width


def weight_files(folder: Path) -> tuple[str, ...]:
    """Return the files that weights are loaded from, of each module in a folder, relative to it."""
    names = set(folder_files(folder))
    weights = {name for name in names if is_pickled(name) and name.endswith(".bin")}
    for parent in {parent_of(name) for name in names}:
        prefix = f"{parent}/" if parent else ""
        whole, index = (prefix + name for name in SAFE)
        if whole in names:
            weights.add(whole)
        elif index in names:
            shards = read_json(folder / index).get("weight_map") or {}
            weights.update(prefix + str(shard) for shard in shards.values())
    return tuple(sorted(weights))


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
    problem = too_large(size, dtype, devices)
    if problem:
        raise EncoderError(problem)


def too_large(size: int, dtype: str, devices: Sequence[str]) -> str:
    """Return what does not fit where, with both numbers; an empty text where all fits or nothing can be told."""
    for device, copies in Counter(devices).items():
        available = free(device)
        needed = size * copies
        if available is None or needed <= available:
            continue
        advice = "; dtype=bfloat16 needs half as much" if dtype == "float32" else ""
        subject = f"{copies} copies of its weights" if copies > 1 else "its weights"
        space = f"{needed / GB:.1f} GB in {dtype}, but {device} has only {available / GB:.1f} GB free"
        return f"{subject} need {space}{advice}"
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


@dataclass(frozen=True)
class _Tensor:
    """How many numbers a tensor has, whether they are floating-point, and how many bytes they take in the file."""

    count: int
    floating: bool
    size: int


def _tensors(folder: Path, without: Sequence[str]) -> Iterator[_Tensor]:
    """Yield each tensor in the safetensors files whose name does not begin with one of ``without``."""
    for file in weight_files(folder):
        if is_pickled(file):
            continue
        for name, entry in _header(folder / file).items():
            if not name.startswith(tuple(without)):
                start, stop = entry["data_offsets"]
                yield _Tensor(prod(entry["shape"]), entry["dtype"].startswith(("F", "BF")), stop - start)


def _header(path: Path) -> JsonObject:
    """Return what a safetensors file says of each tensor in it."""
    try:
        with path.open("rb") as file:
            header: JsonObject = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    except (struct.error, ValueError):
        raise ModelNotFoundError(f"{path}: damaged or not a safetensors file") from None
    header.pop("__metadata__", None)
    return header


def _free_ram() -> int | None:
    """Return what this process may still take: of the machine, and of its container's share."""
    return min([n for n in (_machine_ram(), _container_ram()) if n is not None], default=None)


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
