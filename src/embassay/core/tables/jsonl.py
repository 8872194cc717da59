"""Reading JSON lines, with the location of every error."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from embassay.core.errors import SourceError, begun, quoted
from embassay.core.samples.checks import text_problem
from embassay.core.store.paths import unreadable
from embassay.core.tables.texts import not_utf8, open_text

LONGEST = 200
"""The maximum number of characters of a file that a message quotes."""
KINDS = {
    type(None): "null",
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "an object",
}
"""Names of JSON types in messages."""


def json_lines(path: Path, first: int = 0) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number from 1, object) of every line that is not blank, from the object ``first`` on.

    Raises
    ------
    SourceError
        With file and line, for text that is not UTF-8, not JSON, or not an object.
    """
    try:
        with open_text(path) as file:
            lines = ((number, line) for number, line in enumerate(file, 1) if line.removeprefix(BOM_UTF8).strip())
            for number, line in islice(lines, first, None):
                yield number, _parse(line, path, number)
    except OSError as error:
        raise unreadable(error, path) from None


def first_fields(head: str) -> frozenset[str]:
    """Return the names of the fields of the first JSON line; empty if it is not a JSON object."""
    try:
        row = json.loads(head.lstrip("\ufeff \t\r\n").split("\n", 1)[0])
    except (ValueError, RecursionError):
        return frozenset()
    if isinstance(row, dict):
        return frozenset(row)
    return frozenset()


def listed(names: Iterable[str]) -> str:
    """Return names as a list for a message, on one line, truncated if it is long."""
    text = " ".join(", ".join(names).split())
    return begun(text, LONGEST) or "nothing"


class Ids:
    """The names in a column of a file, which must be unique."""

    def __init__(self, path: Path, field: str = "id", *, numbered: bool = True):
        """Start empty; with ``numbered``, messages explain that rows without a name are numbered."""
        self._path, self._field, self._numbered = path, field, numbered
        self._lines: dict[str, int | None] = {}

    def add(self, name: str, line: int | None) -> str:
        """Return the name, or raise SourceError if an earlier line has it."""
        if name in self._lines:
            problem = f"{quoted(name)} is already used on line {self._lines[name]}"
            if self._numbered:
                problem += " (lines without an id are numbered from 0)"
            raise SourceError(problem, self._path, line, self._field)
        self._lines[name] = line
        return name


def text_field(value: object, path: Path, line: int | None, field: str) -> str:
    """Return a value that must be a text, or raise SourceError."""
    if not isinstance(value, str):
        raise SourceError(f"must be a text, is {KINDS[type(value)]}", path, line, field)
    if problem := text_problem(value):
        raise SourceError(problem, path, line, field)
    return value


def _parse(line: bytes, path: Path, number: int) -> dict[str, Any]:
    """Return the object in a line, or raise SourceError."""
    try:
        row = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise not_utf8(path, number, line) from None
    except (ValueError, RecursionError) as error:
        raise SourceError(f"not JSON: {error}", path, number) from None
    if not isinstance(row, dict):
        raise SourceError(f"must be a JSON object, is {KINDS[type(row)]}", path, number)
    return row
