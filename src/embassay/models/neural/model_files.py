"""The files of a folder or repository that make the model: they are downloaded, hashed and counted."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

ASIDE_FOLDERS = {"onnx", "openvino", "coreml", "eval", "runs", "original"}
ASIDE_FILES = {
    "data_config.json",
    "train_script.py",
    "training.json",
    "training_args.bin",
    "trainer_state.json",
    "LICENSE",
}
ASIDE_ENDINGS = (".md", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".h5", ".msgpack", ".ot", ".onnx", ".tflite", ".csv")
"""Documentation, exports to other runtimes, and files of the training. No vector depends on them."""
SECOND_COPY = r"consolidated[\w.-]*\.(safetensors|pth)(\.index\.json)?|.*\.gguf"
"""Copies of the weights in the formats of other programs; Llama's own are in the folder ``original``."""
SAFE = ("model.safetensors", "model.safetensors.index.json")
"""The files in which the library looks for weights, in this order, before pickled ones."""


def model_files(names: Iterable[str]) -> tuple[str, ...]:
    """Return the sorted names of the files that make the model: all except those known to be irrelevant.

    Pickled weights (``pytorch_model*.bin``) are left out if the same folder has safetensors.
    """
    names = sorted(names)
    safe = {parent_of(name) for name in names if name.rpartition("/")[2] in SAFE}
    chosen = []
    for name in names:
        is_second_copy = is_pickled(name) and parent_of(name) in safe
        if not _is_aside(name) and not is_second_copy:
            chosen.append(name)
    return tuple(chosen)


def folder_files(folder: Path) -> tuple[str, ...]:
    """Return :func:`model_files` of a folder, relative to it, with forward slashes; linked folders are followed."""
    names = []
    for top, _, files in os.walk(folder, followlinks=True):
        for file in files:
            path = Path(top) / file
            # A named pipe would block its reader. A broken link stays, so that reading it raises an error.
            if path.is_file() or not path.exists():
                names.append(path.relative_to(folder).as_posix())
    return model_files(names)


def parent_of(name: str) -> str:
    """Return the folder in a file's relative name; empty for the top folder."""
    return name.rpartition("/")[0]


def is_pickled(name: str) -> bool:
    """Return whether a file has pickled weights, or is the index of such files."""
    return bool(re.fullmatch(r"pytorch_model[\w.-]*\.bin(\.index\.json)?", name.rpartition("/")[2]))


def _is_aside(name: str) -> bool:
    """Return whether no vector depends on a file of this name."""
    *folders, last = name.split("/")
    return (
        any(f.startswith((".", "checkpoint-")) or f in ASIDE_FOLDERS for f in folders)
        or last.startswith((".", "optimizer", "scheduler", "rng_state", "tf_model", "rust_model", "flax_model"))
        or last in ASIDE_FILES
        or last.lower().endswith(ASIDE_ENDINGS)
        or re.fullmatch(SECOND_COPY, last, re.IGNORECASE) is not None
    )
