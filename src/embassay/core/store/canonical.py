"""Canonical JSON, so that equal values give equal bytes; and files and folders that are written whole or not at all."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from embassay.core.errors import OutputError

DIGITS = 10


def canonical(value: object) -> bytes:
    """Return a value as JSON in UTF-8, with sorted keys and floats rounded to 10 significant digits.

    Raises
    ------
    ValueError
        For NaN or infinity.
    """
    return (json.dumps(plain(value), ensure_ascii=False, indent=1) + "\n").encode()


def write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all.

    Raises
    ------
    OutputError
        If the path cannot be written to.
    """
    write_with(path, lambda file: file.write(content))


def write_with(path: Path, writer: Callable[[BinaryIO], object]) -> None:
    """Let ``writer`` write a temporary file, which is renamed at the end: the file is there whole or not at all.

    Raises
    ------
    OutputError
        If the path cannot be written to.
    """
    temporary = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:
            writer(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        # numpy gives no reason when only a part of an array could be written.
        reason = error.strerror or "not everything was written; is the disk full?"
        raise OutputError(f"{path}: cannot be written: {reason}") from None
    finally:
        temporary.unlink(missing_ok=True)


def names_in(folder: Path) -> set[str]:
    """Return the names in a folder, except files that are being written; empty if there is no folder.

    Raises
    ------
    OutputError
        If it is not a folder, or cannot be read.
    """
    try:
        return {path.name for path in folder.iterdir() if path.suffix != ".part"}
    except FileNotFoundError:
        return set()
    except OSError as error:
        raise OutputError(f"{folder}: cannot be used as a folder: {error.strerror}") from None


def plain(value: object) -> Any:
    """Convert a value to the types of canonical JSON: dict, list, str, int, float, bool or None.

    Raises
    ------
    ValueError
        For NaN or infinity.
    TypeError
        For a value that JSON cannot hold.
    """
    text = json.dumps(value, default=_contents, sort_keys=True, ensure_ascii=False, allow_nan=False)
    # Half of a surrogate pair cannot be encoded.
    return json.loads(text.encode("utf-8", "replace"), parse_float=_rounded)


def _rounded(number: str) -> float:
    return float(f"{float(number):.{DIGITS}g}")


def _contents(value: object) -> object:
    """Return what a value holds that the json module does not know."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return dict(value)
    if is_dataclass(value):
        return vars(value)
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
