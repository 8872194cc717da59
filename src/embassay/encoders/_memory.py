"""How much memory a model's weights take, from the headers of their files, and how much is free; nothing is loaded."""

from __future__ import annotations

import json
import os
import struct
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path

from embassay.encoders._models import folder_files, read_json
from embassay.errors import EncoderError, ModelNotFoundError

BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}
GPUS = ("nvidia[0-9]*", "kfd", "dri")
"""What /dev holds where there may be a GPU."""
CGROUP = Path("/sys/fs/cgroup")
"""Where a container's share of the memory is said."""
GB = 1e9


def parameters(folder: Path, without: Sequence[str] = ()) -> int | None:
    """Count the floating-point numbers in the safetensors headers; None where there are none.

    Parameters
    ----------
    without
        Beginnings of the names of tensors that are not loaded: ``decoder.``.

    Raises
    ------
    ModelNotFoundError
        For a file that is cut short.
    """
    return sum(count for count, floating, _ in _tensors(folder, without) if floating) or None


def weights(folder: Path, dtype: str, without: Sequence[str] = ()) -> int:
    """Return how many bytes a model's weights take in memory in a precision; 0 where its files do not tell.

    Numbers that are whole, those of quantised weights for example, stay as wide as they are. The files of pickled
    weights are not opened: their size counts, in the precision that the configuration names.
    """
    width = BYTES[dtype]
    found = sum(count * width if floating else size for count, floating, size in _tensors(folder, without))
    if found:
        return found
    config = read_json(folder / "config.json")
    stored = BYTES.get(str(config.get("dtype") or config.get("torch_dtype")), 4)
    pickled = [name for name in folder_files(folder) if name.endswith(".bin") and "model" in name.rpartition("/")[2]]
    return sum((folder / name).stat().st_size for name in pickled) * width // stored


def free(device: str) -> int | None:
    """Return how many bytes are free on a device; None where that cannot be told."""
    kind = device.partition(":")[0]
    if kind == "cpu":
        return _free_ram()
    if kind != "cuda":
        return None
    import torch

    return int(torch.cuda.mem_get_info(device)[0])


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


def surely_cpu(device: str) -> bool:
    """Say whether a model surely runs on the CPU, without asking torch: ``cpu``, or ``auto`` and there is no GPU."""
    if device == "auto":
        return sys.platform == "linux" and not any(next(Path("/dev").glob(name), None) for name in GPUS)
    return device == "cpu"


def _tensors(folder: Path, without: Sequence[str]) -> Iterator[tuple[int, bool, int]]:
    """Yield (numbers, whether they are floating-point, bytes) of each tensor in the safetensors files."""
    for name in folder_files(folder):
        if not name.endswith(".safetensors"):
            continue
        try:
            with (folder / name).open("rb") as file:
                size = struct.unpack("<Q", file.read(8))[0]
                header = json.loads(file.read(size))
        except (struct.error, ValueError):
            raise ModelNotFoundError(f"{folder / name}: damaged, or not a safetensors file") from None
        for tensor, about in header.items():
            if tensor != "__metadata__" and not tensor.startswith(tuple(without)):
                start, stop = about["data_offsets"]
                yield prod(about["shape"]), about["dtype"].startswith(("F", "BF")), stop - start


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
