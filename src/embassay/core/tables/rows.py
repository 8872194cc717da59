"""A row of a user's file with its location, so that an error gives one message with file, line and field."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embassay.core.errors import SourceError
from embassay.core.tables.jsonl import KINDS, Ids, json_lines, listed, text_field

_SIGNED, _UNSIGNED = re.compile(r"[+-]?[0-9]{1,9}"), re.compile(r"[0-9]{1,18}")

YES, NO = frozenset({"1", "1.0", "true", "yes"}), frozenset({"0", "0.0", "false", "no"})


@dataclass(slots=True)
class FileRow:
    """The values of a row, or of an object inside a file, by field.

    Attributes
    ----------
    line
        Its line in the file, from 1; None if the file is read as a whole.
    prefix
        The prefix of field names in messages, such as ``data[0].`` for an object inside another.
    names
        What the fields are called in the file; None if they have their own names.
    """

    values: Mapping[str, Any]
    path: Path
    line: int | None
    prefix: str = ""
    names: Mapping[str, str] | None = None

    @property
    def number(self) -> str:
        """The number of the line from 0, which serves as the id of a row without one."""
        return str((self.line or 1) - 1)

    @property
    def place(self) -> str:
        """The location of an object inside another, such as ``data[0].paragraphs[1]``."""
        return self.prefix.removesuffix(".")

    def name(self, field: str) -> str:
        """Return the name of a field in messages."""
        if self.names:
            field = self.names.get(field, field)
        return self.prefix + field

    def error(self, problem: str, field: str) -> SourceError:
        """Return an error about a field."""
        return SourceError(problem, self.path, self.line, self.name(field))

    def require(self, *fields: str) -> None:
        """Raise SourceError for the first of these fields that is missing."""
        for name in fields:
            if name not in self.values:
                columns = self.names or {}
                there = sorted(columns.get(field, field) for field in self.values)
                raise self.error(f"missing; found {listed(there)}", name)

    def require_values(self, *fields: str) -> None:
        """Raise SourceError for the first of these fields that is missing or null."""
        for name in fields:
            if self.values.get(name) is None:
                raise self.error("missing", name)

    def value(self, field: str) -> Any:
        """Return a field, which may be null but must not be missing."""
        self.require(field)
        return self.values[field]

    def text(self, field: str) -> str:
        """Return a field that must be a non-empty text."""
        return self.as_text(self.value(field), field)

    def optional_text(self, field: str) -> str:
        """Return a field that may be missing, null or blank, and must else be a text; empty for none."""
        if is_blank(self.values.get(field)):
            return ""
        return self.text(field)

    def key(self, field: str, default: str = "") -> str:
        """Return an optional text or whole number that serves as a key, as text."""
        value = self.values.get(field)
        # A field that is null counts as missing, as exports of data frames write it.
        if value is None:
            return default
        return self.as_key(value, field)

    def filled(self, field: str) -> str:
        """Return a cell of a table, stripped, which must not be empty."""
        cell: str = self.values[field].strip()
        if not cell:
            raise self.error("an empty cell", field)
        return cell

    def whole(self, field: str, *, signed: bool = False) -> int:
        """Return a cell that must be a whole number, from 0 unless it may have a sign."""
        cell: str = self.values[field]
        number = cell.strip()
        if not (_SIGNED if signed else _UNSIGNED).fullmatch(number):
            least = "" if signed else " from 0"
            raise self.error(f"must be a whole number{least}, is {cell[:100]!r}", field)
        return int(number)

    def is_yes(self, field: str) -> bool:
        """Return whether a cell says yes (1, true) or no (0, false)."""
        label = str(self.values.get(field))
        if not self.says_yes_or_no(field):
            raise self.error(f"must be 1, true or yes, or 0, false or no, is {label[:100]!r}", field)
        return label.strip().lower() in YES

    def says_yes_or_no(self, field: str) -> bool:
        """Return whether a cell says yes or no."""
        return str(self.values.get(field)).strip().lower() in YES | NO

    def as_text(self, value: object, field: str) -> str:
        """Return a value of this field that must be a non-empty text."""
        return text_field(value, self.path, self.line, self.name(field))

    def as_key(self, value: object, field: str) -> str:
        """Return a value of this field that must be a text or a whole number, as text."""
        # In Python true and false are numbers, too.
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str):
            raise self.error(f"must be a text or a whole number, is {KINDS[type(value)]}", field)
        return self.as_text(value, field)

    def object(self, value: object, prefix: str) -> FileRow:
        """Return an object inside this one; messages put this prefix before the names of its fields."""
        if not isinstance(value, dict):
            # The object itself is named without the dot that separates it from its fields.
            raise self.error(f"must be an object, is {KINDS[type(value)]}", prefix.removesuffix("."))
        return FileRow(value, self.path, self.line, f"{self.prefix}{prefix}")

    def list(self, field: str) -> list[Any]:
        """Return a field that must be a list."""
        value = self.value(field)
        if not isinstance(value, list):
            raise self.error(f"must be a list, is {KINDS[type(value)]}", field)
        return value


def json_rows(path: Path) -> Iterator[FileRow]:
    """Yield the objects of a file of JSON lines.

    Raises
    ------
    SourceError
        With file and line, for text that is not UTF-8, not JSON, or not an object.
    """
    for line, values in json_lines(path):
        yield FileRow(values, path, line)


def named_rows(path: Path, key: str = "id", *, numbered: bool = True) -> Iterator[tuple[str, FileRow]]:
    """Yield (name, row) of a file of JSON lines. Every line must have a name that no other has.

    Parameters
    ----------
    key
        The field of the name.
    numbered
        Whether lines without a name are named after their numbers, from 0; otherwise each needs one.
    """
    ids = Ids(path, key, numbered=numbered)
    for row in json_rows(path):
        if numbered:
            name = row.key(key, row.number)
        else:
            row.require(key)
            name = row.key(key).strip()
        if not name:
            raise row.error("is null; every line needs an id", key)
        yield name, row
        # Added when the caller has read the row, so that a wrong field is named before a repeated name.
        ids.add(name, row.line)


def is_blank(value: object) -> bool:
    """Return whether a cell is missing or blank."""
    return value is None or (isinstance(value, str) and not value.strip())
