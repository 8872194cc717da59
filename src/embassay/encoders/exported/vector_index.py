"""Vectors of a file by the text that they are of; which text an id is, says a second file."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.corpora.io.jsonl import Ids, key_field, listed, require
from embassay.corpora.io.records import read_table
from embassay.encoders.exported.arrays import archive_arrays
from embassay.encoders.exported.vector_files import NAMES, ROLES, Form, blocks
from embassay.errors import SourceError

SHOWN = 60
"""Characters that a message repeats of a text."""


@dataclass(frozen=True)
class TextVectors:
    """Vectors by role and text.

    Attributes
    ----------
    row
        The row of each text, by :func:`digest` of its role (empty for any) and the text: texts themselves are not kept.
    matrix
        (n, d) float32 in memory, or of any real type where the file is mapped.
    rows
        How many rows the file has.
    """

    row: dict[bytes, int]
    matrix: NDArray[Any]
    rows: int

    @property
    def mapped(self) -> bool:
        """Whether the vectors stay in the file."""
        return isinstance(self.matrix, np.memmap)

    def find(self, text: str, role: str) -> int | None:
        """Return the row of a text in a role, else of the text in any; None where there is none."""
        found = self.row.get(digest(role, text))
        return self.row.get(digest("", text)) if found is None else found

    def roles(self, text: str) -> tuple[str, ...]:
        """Return the roles in which a text has a vector."""
        return tuple(role for role in ROLES if role and digest(role, text) in self.row)


def digest(role: str, text: str) -> bytes:
    """Return 16 bytes that stand for a text in a role."""
    return blake2b(f"{role}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def read_vectors(form: Form, texts: Path | None) -> TextVectors:
    """Read a file of vectors: by text, or by id with the table ``texts`` of ids and texts.

    The memory is about that of the vectors in float32 (of an uncompressed ``.npz`` nothing) and 200 bytes a row.

    Raises
    ------
    SourceError
        With the line, for whatever :func:`blocks` refuses, for a text (or id) that has two vectors, and for an id that
        has two texts.
    """
    gathered = _Gathered(form, "id" if texts else form.key)
    matrix = gathered.matrix()
    if not len(matrix):
        raise SourceError("has no rows", form.path)
    row = gathered.row if texts is None else _by_text(form, texts, gathered.row, matrix)
    return TextVectors(row, matrix, len(matrix))


class _Gathered:
    """The rows of a file: where each key stands first, which later rows have the same key, and the vectors."""

    def __init__(self, form: Form, key: str):
        self.row: dict[bytes, int] = {}
        self._form, self._key = form, key
        self._again: list[tuple[int, int]] = []
        self._numbers, self._content, self._width = array("q"), bytearray(), 1
        for block in blocks(form, key):
            names = zip(block.keys, block.roles, strict=True)
            for place, (name, role) in enumerate(names, start=len(self._numbers)):
                first = self.row.setdefault(digest(role, name), place)
                if first != place:
                    self._again.append((place, first))
            self._numbers.extend(block.numbers)
            self._width = block.rows.shape[1]
            if form.kind != "npz":
                self._content += block.rows.tobytes()

    def matrix(self) -> NDArray[Any]:
        """Return the (n, d) vectors, those of an ``.npz`` file as they lie in it.

        Raises
        ------
        SourceError
            For rows of one key that differ, with both their places.
        """
        if self._form.kind == "npz":
            matrix = archive_arrays(self._form.path)[self._form.names["vector"]]()
        else:
            matrix = np.frombuffer(self._content, dtype=np.float32).reshape(-1, self._width)
        for place, first in self._again:
            if np.array_equal(matrix[place], matrix[first]):
                continue
            number, first_number = self._numbers[place], self._numbers[first]
            problem = f"this {self._key} has another vector"
            if self._form.kind == "jsonl":
                raise SourceError(f"{problem} on line {first_number} already", self._form.path, number)
            raise SourceError(f"row {number}: {problem} in row {first_number} already", self._form.path)
        return matrix


def _by_text(form: Form, texts: Path, row: dict[bytes, int], matrix: NDArray[Any]) -> dict[bytes, int]:
    """Return the row of each text of a table of ids and texts; an id without a vector is left out."""
    row_of_text: dict[bytes, int] = {}
    for line, name, text, role in _identified(texts):
        place = row.get(digest("", name))
        if place is None:
            continue
        first = row_of_text.setdefault(digest(role, text), place)
        if first != place and not np.array_equal(matrix[first], matrix[place]):
            problem = f"the text of {name!r} stands under another id too, with another vector: {shown(text)}"
            raise SourceError(problem, texts, line)
    return row_of_text


def _identified(path: Path) -> Iterator[tuple[int, str, str, str]]:
    """Yield (line, id, text, role) of a table; the role is empty where there is no such column."""
    table = read_table(path)
    names = {what: table.perhaps("", NAMES[what]) for what in ("id", "text", "role")}
    for what in ("id", "text"):
        if not names[what]:
            raise SourceError(f"no column {what}; found {listed(table.names)}", path, table.line)
    ids = Ids(path, names["id"])
    for line, row in table.rows([name for name in names.values() if name]):
        require(dict(row), (names["id"], names["text"]), path, line)
        text = row[names["text"]]
        role = row.get(names["role"]) or ""
        if not isinstance(text, str):
            raise SourceError("must be a text", path, line, names["text"])
        if role not in ROLES:
            raise SourceError(f"{role!r} is none of {', '.join(ROLES[1:])}", path, line, names["role"])
        yield line, ids.add(key_field(row, names["id"], "", path, line), line), text, role


def shown(text: str) -> str:
    """Return how a text begins, for a message."""
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}…")
