"""Which of a folder's or a repository's files make the model: what is fetched, hashed and counted."""

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
"""Documentation, exports to other runtimes, and what training leaves behind: no vector depends on them."""
SECOND_COPY = r"consolidated[\w.-]*\.(safetensors|pth)(\.index\.json)?|.*\.gguf"
"""The same weights once more, as other programs read them; those of Llama's own lie in ``original``."""
SAFE = ("model.safetensors", "model.safetensors.index.json")
"""Where the library looks for weights, in this order, before it takes pickled ones."""


def model_files(names: Iterable[str]) -> tuple[str, ...]:
    """Return the files that make the model, sorted: all but those that are known to make none of it.

    A pickled copy of weights (``pytorch_model*.bin``) is left out where the same folder has what goes before it.
    """
    names = sorted(names)
    safe = {parent_of(name) for name in names if name.rpartition("/")[2] in SAFE}
    return tuple(n for n in names if not _is_aside(n) and not (is_pickled(n) and parent_of(n) in safe))


def folder_files(folder: Path) -> tuple[str, ...]:
    """Return :func:`model_files` of a folder, relative to it, with forward slashes; linked folders are followed."""
    found = (Path(top) / name for top, _, names in os.walk(folder, followlinks=True) for name in names)
    # A named pipe could not be read to its end; a link to nothing stays, so that its reader says so.
    files = (path for path in found if path.is_file() or not path.exists())
    return model_files(path.relative_to(folder).as_posix() for path in files)


def parent_of(name: str) -> str:
    """Return the folder that a file lies in; an empty name for the first."""
    return name.rpartition("/")[0]


def is_pickled(name: str) -> bool:
    """Say whether a file holds pickled weights, or says in which files they are."""
    return bool(re.fullmatch(r"pytorch_model[\w.-]*\.bin(\.index\.json)?", name.rpartition("/")[2]))


def _is_aside(name: str) -> bool:
    *folders, last = name.split("/")
    return (
        any(f.startswith((".", "checkpoint-")) or f in ASIDE_FOLDERS for f in folders)
        or last.startswith((".", "optimizer", "scheduler", "rng_state", "tf_model", "rust_model", "flax_model"))
        or last in ASIDE_FILES
        or last.lower().endswith(ASIDE_ENDINGS)
        or re.fullmatch(SECOND_COPY, last, re.IGNORECASE) is not None
    )
