"""An index of the vectors of a file by text; if they are stored by id, a table maps ids to texts."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np

from embassay.core.errors import SourceError, quoted
from embassay.core.samples.base import ROLES
from embassay.core.tables.jsonl import Ids, listed
from embassay.core.tables.records import read_table
from embassay.core.vectors import DenseVectors
from embassay.models.exported.vector_files import NAMES, VectorFile, read_rows


@dataclass(frozen=True)
class TextVectors:
    """Vectors by role and text.

    Attributes
    ----------
    row
        The row of each text, by the :func:`digest` of its role (empty for any role) and text. Texts are not stored.
    matrix
        (n, d) float32.
    """

    row: dict[bytes, int]
    matrix: DenseVectors

    def find(self, text: str, role: str) -> int | None:
        """Return the row of a text in a role, otherwise of the text without a role; None if there is neither."""
        row = self.row.get(digest(role, text))
        if row is None:
            row = self.row.get(digest("", text))
        return row

    def roles(self, text: str) -> tuple[str, ...]:
        """Return the roles in which a text has a vector."""
        return tuple(role for role in ROLES if digest(role, text) in self.row)


def digest(role: str, text: str) -> bytes:
    """Return a 16-byte hash of a text in a role."""
    return blake2b(f"{role}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def read_vectors(file: VectorFile, texts: Path | None) -> TextVectors:
    """Read a file of vectors: by text, or by id with the table ``texts`` of ids and texts.

    Afterwards the vectors take the memory of their float32 values, and the index about 200 bytes per row.

    Parameters
    ----------
    file
        The file, as :func:`~.vector_files.recognise` returns it.
    texts
        A table of ids and texts, if vectors are to be looked up by id.

    Raises
    ------
    SourceError
        With the line, for whatever :func:`read_rows` refuses, for a text (or id) that has two vectors, and for an id
        that has two texts.
    """
    key = file.key
    if texts:
        key = "id"
    table = read_rows(file, key)
    # The first of equal rows counts.
    row: dict[bytes, int] = {}
    for place, (name, role) in enumerate(zip(table.keys, table.roles, strict=True)):
        first = row.setdefault(digest(role, name), place)
        if first == place:
            continue
        if not np.array_equal(table.vectors[place], table.vectors[first]):
            raise _two_vectors(file, key, table.numbers[place], table.numbers[first])
    if texts is not None:
        row = _by_text(texts, row, table.vectors)
    return TextVectors(row, table.vectors)


def _two_vectors(file: VectorFile, key: str, number: int, first: int) -> SourceError:
    if file.kind == "jsonl":
        return SourceError(f"this {key} already has a different vector on line {first}", file.path, number)
    return SourceError(f"row {number}: this {key} already has a different vector in row {first}", file.path)


def _by_text(texts: Path, row_of_id: dict[bytes, int], matrix: DenseVectors) -> dict[bytes, int]:
    """Return the row of each text in a table of ids and texts; ids without a vector are left out."""
    table = read_table(texts)
    id_column, text_column, role_column = (table.perhaps("", NAMES[what]) for what in ("id", "text", "role"))
    for what, column in (("id", id_column), ("text", text_column)):
        if not column:
            raise SourceError(f"no column {what}; found {listed(table.names)}", texts, table.line)
    ids = Ids(texts, id_column)
    row_of_text: dict[bytes, int] = {}
    for row in table.read([name for name in (id_column, text_column, role_column) if name]):
        row.require(id_column, text_column)
        text = row.values[text_column]
        if not isinstance(text, str):
            raise row.error("must be a text", text_column)
        # Without a role, the text is for every role.
        role = row.values.get(role_column) or ""
        if role and role not in ROLES:
            raise row.error(f"must be one of {', '.join(ROLES)}, is {role!r}", role_column)
        name = ids.add(row.key(id_column), row.line)
        place = row_of_id.get(digest("", name))
        if place is None:
            continue
        first = row_of_text.setdefault(digest(role, text), place)
        if first != place and not np.array_equal(matrix[first], matrix[place]):
            problem = f"the text of id {name!r} also has another id with a different vector: {quoted(text)}"
            raise SourceError(problem, texts, row.line)
    return row_of_text
