"""The memory that a model's weights need, from the headers of their files, and the free memory; nothing is loaded."""

from __future__ import annotations

import json
import struct
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path

from embassay.encoders.neural.devices import device_names
from embassay.encoders.neural.locations import read_json
from embassay.encoders.neural.model_files import SAFE, folder_files, is_pickled, parent_of
from embassay.errors import EncoderError, ModelNotFoundError
from embassay.types import JsonObject

BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}
GPUS = ("nvidia[0-9]*", "kfd", "dri")
"""Names in ``/dev`` on machines that may have a GPU."""
CGROUP = Path("/sys/fs/cgroup")
"""The folder with the memory limit of a container."""
MEMINFO = Path("/proc/meminfo")
GB = 1e9


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


def weights(folder: Path, dtype: str, without: Sequence[str] = ()) -> int:
    """Return the bytes of a model's weights in memory in a precision; 0 if unknown.

    Integers, for example quantised weights, keep their width. Pickled weights are not opened: the size of their files
    is converted from the precision in the configuration.
    """
    width = BYTES[dtype]
    total = 0
    for tensor in _tensors(folder, without):
        if _is_floating(tensor):
            total += prod(tensor["shape"]) * width
        else:
            start, stop = tensor["data_offsets"]
            total += stop - start
    pickled = 0
    for name in weight_files(folder):
        if is_pickled(name):
            pickled += (folder / name).stat().st_size
    config = read_json(folder / "config.json")
    stored_dtype = str(config.get("dtype") or config.get("torch_dtype"))
    return total + pickled * width // BYTES.get(stored_dtype, 4)


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


def check_fits(size: int, dtype: str, devices: Sequence[str]) -> None:
    """Raise an error if weights exceed the free memory, before they are loaded.

    Parameters
    ----------
    size
        Bytes of one copy of the weights.
    devices
        The device of each copy, as torch names it.

    Raises
    ------
    EncoderError
        With the needed and the free gigabytes.
    """
    problem = shortage(size, dtype, devices)
    if problem:
        raise EncoderError(problem)


def foreseen(size: int, dtype: str, device: str) -> str:
    """Return a message if weights exceed the free RAM; empty if they fit, or may run on a GPU.

    Only torch knows the free memory of a GPU, and importing it takes seconds: it is checked when the model is loaded.

    Parameters
    ----------
    size
        Bytes of one copy of the weights.
    device
        The option, for example ``auto`` or ``cuda:0,cuda:1``.
    """
    devices = device_names(device)
    if not all(map(is_surely_cpu, devices)):
        return ""
    return shortage(size, dtype, ["cpu"] * len(devices))


def lack(parameters: int | None, dtype: str, device: str) -> str:
    """Return the message of :func:`foreseen` for a model of which only the number of parameters is known, or None."""
    return foreseen((parameters or 0) * BYTES[dtype], dtype, device)


def shortage(size: int, dtype: str, devices: Sequence[str]) -> str:
    """Return a message if the copies of weights exceed the free memory of a device; empty if they fit, or if unknown.

    Parameters
    ----------
    size, devices
        As for :func:`check_fits`.
    """
    advice = "; dtype=bfloat16 needs half as much" if dtype == "float32" else ""
    for device, copies in Counter(devices).items():
        needed, available = size * copies, free(device)
        if available is None or needed <= available:
            continue
        subject = f"{copies} copies of its weights" if copies > 1 else "its weights"
        lack = f"{subject} need {needed / GB:.1f} GB in {dtype}, but {device} has only {available / GB:.1f} GB free"
        return lack + advice
    return ""


def free(device: str) -> int | None:
    """Return the free bytes on a device; None if unknown."""
    if device == "cpu":
        return _free_ram()
    if not device.startswith("cuda"):
        return None
    import torch

    free_bytes, _ = torch.cuda.mem_get_info(device)
    return int(free_bytes)


def is_surely_cpu(device: str) -> bool:
    """Return whether a model certainly runs on the CPU: for ``cpu``, and for ``auto`` without a GPU in ``/dev``."""
    if device == "auto":
        return sys.platform == "linux" and not any(next(Path("/dev").glob(name), None) for name in GPUS)
    return device == "cpu"


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


def _free_ram() -> int | None:
    """Return the free bytes of RAM, within a container's limit; None on systems other than Linux.

    A model is then loaded without a check. Cached files count as free, because they can be evicted.
    """
    try:
        machine = _amount(MEMINFO, "MemAvailable:") * 1024
    except (OSError, StopIteration):
        return None
    try:
        limit = int((CGROUP / "memory.max").read_text(encoding="ascii"))
        used = int((CGROUP / "memory.current").read_text(encoding="ascii"))
        cached_files = _amount(CGROUP / "memory.stat", "inactive_file ")
    except (OSError, StopIteration, ValueError):
        # No container, or one without a limit: the file then says "max".
        return machine
    return min(machine, max(0, limit - used + cached_files))


def _amount(file: Path, name: str) -> int:
    """Return the number in the line of a file that begins with a name."""
    lines = file.read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))
