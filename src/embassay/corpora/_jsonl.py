"""Reading JSON lines with the place of every mistake."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from embassay.errors import SourceError


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number from 1, object) of every line that is not blank.

    Raises
    ------
    SourceError
        With file and line, for what is not UTF-8, not JSON, or no object.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.removeprefix(b"\xef\xbb\xbf").strip():
                    yield number, _parse(line, path, number)
    except FileNotFoundError:
        raise SourceError("no such file", path) from None
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror}", path) from None


def text_field(value: Any, path: Path, line: int, field: str) -> str:
    """Return a value that must be a text, or say what is wrong with it."""
    if not isinstance(value, str):
        raise SourceError(f"must be a text, is {type(value).__name__}", path, line, field)
    if not value.strip():
        raise SourceError("an empty text", path, line, field)
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise SourceError("half of a surrogate pair: not a character of Unicode", path, line, field)
    return value


def _parse(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise SourceError(f"not UTF-8 text ({error.reason} at byte {error.start} of the line)", path, number) from None
    except (ValueError, RecursionError) as error:
        raise SourceError(f"not JSON: {error}", path, number) from None
    if not isinstance(row, dict):
        raise SourceError(f"must be a JSON object, is {type(row).__name__}", path, number)
    return row
