"""What the folders of trainings and adaptations have in common: JSON records and the names of their files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from embassay.errors import OutputError
from embassay.store.canonical import canonical
from embassay.types import JsonObject


def read_json(path: Path) -> JsonObject:
    """Return the JSON object in a file; empty if the file is missing, damaged or contains something else."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    if isinstance(content, dict):
        return content
    return {}


def as_stored(record: Mapping[str, object]) -> JsonObject:
    """Return a record as it reads back from its file: floats rounded, tuples as lists."""
    stored: JsonObject = json.loads(canonical(record))
    return stored


def differences(before: Mapping[str, object], now: Mapping[str, object]) -> str:
    """Return the names whose values differ between two records, sorted and joined by commas; empty if none does."""
    names = sorted({*before, *now})
    return ", ".join(name for name in names if before.get(name) != now.get(name))


def names_in(folder: Path) -> set[str]:
    """Return the names in a folder, except files that are being written; empty if there is no folder.

    Raises
    ------
    OutputError
        If it is not a folder, or cannot be read.
    """
    try:
        if not folder.exists():
            return set()
        return {path.name for path in folder.iterdir() if path.suffix != ".part"}
    except OSError as error:
        raise OutputError(f"{folder}: cannot be used as a folder: {error.strerror}") from None
