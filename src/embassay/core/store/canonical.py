"""Canonical JSON, so that equal values give equal bytes; and files and folders that are written whole or not at all."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from embassay.core.errors import OutputError
from embassay.core.store.partial_files import partial_file

DIGITS = 10


Plain = dict[str, "Plain"] | list["Plain"] | str | int | float | bool | None
"""A value that JSON can hold."""


def canonical(value: object) -> bytes:
    """Return a value as JSON in UTF-8, with sorted keys and floats rounded to 10 significant digits.

    Raises
    ------
    ValueError
        For NaN or infinity.
    """
    text = json.dumps(plain(value), sort_keys=True, ensure_ascii=False, allow_nan=False, indent=1)
    return (text + "\n").encode("utf-8", "replace")


def write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all.

    Raises
    ------
    OutputError
        If the path cannot be written to.
    """
    write_with(path, lambda file: file.write(content))


def write_with(path: Path, writer: Callable[[BinaryIO], object]) -> None:
    """Let ``writer`` write a file whole or not at all.

    Raises
    ------
    OutputError
        If the path cannot be written to.
    """
    try:
        write_whole(path, writer)
    except OSError as error:
        # numpy gives no reason when only a part of an array could be written.
        reason = error.strerror or "not everything was written; is the disk full?"
        raise OutputError(f"{path}: cannot be written: {reason}") from None


def write_whole(path: Path, writer: Callable[[BinaryIO], object]) -> None:
    """Let ``writer`` write a temporary file, which is renamed at the end: the file is there whole or not at all.

    Raises
    ------
    OSError
        If the path cannot be written to.
    """
    temporary = partial_file(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with temporary.open("xb") as file:
            writer(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def replace_folder(new: Path, place: Path) -> None:
    """Rename a complete folder to its place. What is there stays until then, and is removed.

    Raises
    ------
    OSError
        If a folder cannot be renamed; what was there is there again.
    """
    old = new.with_name(f"{new.name}.old")
    # A folder cannot be renamed over another one that contains files.
    shutil.rmtree(old, ignore_errors=True)
    if place.exists():
        place.rename(old)
    try:
        new.rename(place)
    except OSError:
        if old.exists():
            old.rename(place)
        raise
    shutil.rmtree(old, ignore_errors=True)


def plain(value: object) -> Plain:
    """Convert a value to the types of canonical JSON: dict, list, str, int, float, bool or None.

    Raises
    ------
    ValueError
        For NaN or infinity.
    TypeError
        For a value that JSON cannot hold.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"Out of range float values are not JSON compliant: {value}")
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, str):
        if value.isascii():
            return value
        # Half of a surrogate pair cannot be encoded.
        return value.encode("utf-8", "replace").decode("utf-8")
    if value is None or isinstance(value, int):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        # The keys are sorted as texts, so that an int key and its text are the same.
        contents = {str(key): content for key, content in value.items()}
        return {key: plain(contents[key]) for key in sorted(contents)}
    if isinstance(value, (list, tuple)):
        return [plain(content) for content in value]
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
