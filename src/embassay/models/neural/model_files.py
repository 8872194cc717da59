"""The files of a folder or repository that make the model, and what the headers of its weights say.

They are downloaded, hashed and counted; nothing is loaded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from glob import glob
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from embassay.core.errors import ModelNotFoundError, first_line_of
from embassay.core.types import JsonObject

ASIDE = re.compile(
    r"(.*/)?((\.|checkpoint-|(onnx|openvino|coreml|eval|runs|original)/).*"
    r"|(optimizer|scheduler|rng_state|tf_model|rust_model|flax_model|consolidated)[^/]*"
    r"|(data_config|training|trainer_state)\.json|train_script\.py|training_args\.bin|LICENSE"
    r"|[^/]*\.(?i:md|png|jpe?g|gif|svg|h5|msgpack|ot|onnx|tflite|csv|gguf))"
)
"""Documentation, exports to other runtimes, weights in the formats of other programs, and files of the training.

No vector depends on them.
"""
PICKLED = re.compile(r"(.*/)?pytorch_model[\w.-]*\.bin(\.index\.json)?")
SAFE = ("model.safetensors", "model.safetensors.index.json")
"""The files in which the library looks for weights, in this order, before pickled ones."""


def read_json(path: Path) -> JsonObject:
    """Return the object in a JSON file; empty if there is no such file. Other JSON values are returned under "".

    Raises
    ------
    ModelNotFoundError
        If it is not JSON.
    """
    if not path.is_file():
        return {}
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelNotFoundError(f"{path}: not JSON: {error}") from None
    return data if isinstance(data, dict) else {"": data}


def model_files(names: Iterable[str]) -> tuple[str, ...]:
    """Return the sorted names of the files that make the model: all except those known to be irrelevant.

    Pickled weights (``pytorch_model*.bin``) are left out if the same folder has safetensors.
    """
    names = sorted(names)
    safe = {_parent(name) for name in names if name.rpartition("/")[2] in SAFE}
    chosen = []
    for name in names:
        is_second_copy = PICKLED.fullmatch(name) and _parent(name) in safe
        if not (is_second_copy or ASIDE.fullmatch(name)):
            chosen.append(name)
    return tuple(chosen)


def folder_files(folder: Path) -> tuple[str, ...]:
    """Return :func:`model_files` of a folder, relative to it, with forward slashes; linked folders are followed."""
    names = []
    # Path.rglob does not follow links.
    for name in glob("**", root_dir=folder, recursive=True):  # noqa: PTH207
        path = folder / name
        # A named pipe would block its reader. A broken link stays, so that reading it raises an error.
        if path.is_file() or not path.exists():
            names.append(Path(name).as_posix())
    return model_files(names)


def is_complete(folder: Path) -> bool:
    """Return whether a folder contains a configuration and weights, with all shards that an index names."""
    # A download that was interrupted leaves a folder with some of its files.
    names = folder_files(folder)
    if not {"config.json", "modules.json"}.intersection(names):
        return False
    has_weights = any(name.endswith((".safetensors", ".bin")) for name in names)
    return has_weights and all(path.is_file() for path in safetensors_files(folder))


def safetensors_files(folder: Path) -> list[Path]:
    """Return the safetensors files of a folder, without those of its subfolders: one, or those that an index lists."""
    whole, index = (folder / name for name in SAFE)
    if whole.is_file():
        return [whole]
    shards = read_json(index).get("weight_map") or {}
    return [folder / name for name in sorted(set(map(str, shards.values())))]


def parameters(folder: Path) -> int | None:
    """Return the number of floating-point parameters in the safetensors headers of all modules.

    It is None if there are no safetensors files, or if any weights are pickled.

    Raises
    ------
    ModelNotFoundError
        For a damaged file.
    """
    names = folder_files(folder)
    total = 0
    for parent in {_parent(name) for name in names}:
        for _, tensor in tensors(folder / parent):
            if tensor.get_dtype().startswith(("F", "BF")):
                total += prod(tensor.get_shape())
    return None if any(map(PICKLED.fullmatch, names)) else total or None


def tensors(folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield name and tensor in a folder's safetensors files, without those of its subfolders; numbers are not read yet.

    Raises
    ------
    ModelNotFoundError
        For a damaged file.
    """
    from safetensors import safe_open

    for path in safetensors_files(folder):
        try:
            with safe_open(path, framework="numpy") as file:
                for name in file.keys():  # noqa: SIM118
                    yield name, file.get_slice(name)
        except Exception as error:
            raise ModelNotFoundError(
                f"{path}: damaged, or not a safetensors file ({first_line_of(error)}); copy or download it again"
            ) from None


def read_tensors(folder: Path) -> dict[str, np.ndarray]:
    """Return the tensors in a folder's safetensors files in float32, without those of its subfolders."""
    # onnx makes numpy know bfloat16.
    import onnx  # noqa: F401

    return {name: tensor[...].astype(np.float32, copy=False) for name, tensor in tensors(folder)}


def _parent(name: str) -> str:
    """Return the folder in a file's relative name; empty for the top folder."""
    return name.rpartition("/")[0]
