"""Files of vectors that were made elsewhere: ``.npz`` without pickles, Parquet, JSON lines; a vector a row.

Columns, arrays and fields are found by name: ``text`` or ``id``, ``vector`` or ``embedding``, and ``role``, each also
in the plural. A row's vector must be as long as the first one's, and finite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from embassay.corpora.io.jsonl import KINDS, json_lines, listed, require
from embassay.encoders.exported.arrays import archive_arrays
from embassay.errors import SourceError
from embassay.samples.base import Role
from embassay.store.paths import open_file, unreadable

if TYPE_CHECKING:
    import polars as pl

NAMES = {
    "text": ("text", "texts", "sentence"),
    "id": ("id", "ids", "_id"),
    "role": ("role", "roles"),
    "vector": ("vector", "vectors", "embedding", "embeddings"),
}
"""The names of columns, by what they hold; of several that are there the first counts."""
ROLES: tuple[Role | Literal[""], ...] = ("", "text", "query", "document")
ROWS = 4_096
"""Rows that are checked together."""
HEAD = 64
"""Bytes that a form is recognised by."""
FORMS = ".npz archive (numpy.savez), Parquet, JSON lines (one object per line)"
Kind = Literal["npz", "parquet", "jsonl"]


@dataclass(frozen=True)
class Form:
    """How a file of vectors is written.

    Attributes
    ----------
    names
        The name of each column by what it holds: ``vector``, ``text`` or ``id``, and ``role`` where there is one.
    """

    path: Path
    kind: Kind
    names: Mapping[str, str]

    @property
    def key(self) -> Literal["text", "id"]:
        """What its vectors are looked up by."""
        return "text" if "text" in self.names else "id"

    def error(self, number: int, problem: str, what: str = "vector") -> SourceError:
        """Return the error of one row; JSON lines have lines, the other forms rows."""
        if self.kind == "jsonl":
            return SourceError(problem, self.path, number, self.names[what])
        return SourceError(f"row {number}: {problem}", self.path, None, self.names[what])


@dataclass(frozen=True)
class VectorTable:
    """The rows of a file.

    Attributes
    ----------
    numbers
        The line of each row, or its number, from 1.
    keys
        The text or the id of each.
    roles
        The role of each; empty for any.
    vectors
        (n, d), float32 in memory, or of any real type where the file is mapped.
    """

    numbers: Sequence[int]
    keys: Sequence[str]
    roles: Sequence[str]
    vectors: np.ndarray


def recognise(path: Path) -> Form:
    """Recognise how a file is written by its beginning, and which columns it has.

    Raises
    ------
    SourceError
        If it cannot be read, is empty or of another form, or has no vectors or nothing to look them up by.
    """
    try:
        with open_file(path) as file:
            head = file.read(HEAD)
    except OSError as error:
        raise unreadable(error, path) from None
    if not head:
        raise SourceError("the file is empty", path)
    kind, columns = _kind_and_columns(path, head)
    names = {}
    for what, known_names in NAMES.items():
        for name in known_names:
            if name in columns and what not in names:
                names[what] = name
    line = 1 if kind == "jsonl" else None
    if "vector" not in names:
        raise SourceError(f"no column of vectors; found {listed(sorted(columns))}", path, line)
    if "text" not in names and "id" not in names:
        raise SourceError(f"no column of texts or ids; found {listed(sorted(columns))}", path, line)
    if kind == "jsonl":
        # A later line may have a role.
        names.setdefault("role", "role")
    return Form(path, kind, names)


def _kind_and_columns(path: Path, head: bytes) -> tuple[Kind, list[str]]:
    if head.startswith(b"PK"):
        return "npz", list(archive_arrays(path))
    if head.startswith(b"PAR1"):
        return "parquet", _parquet_columns(path)
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text and not text.startswith(b"{"):
        raise SourceError(f"unrecognised format; supported formats: {FORMS}", path)
    for _, first_row in json_lines(path):
        return "jsonl", list(first_row)
    return "jsonl", []


def read_rows(form: Form, key: str) -> VectorTable:
    """Read the rows of a file, and check them.

    Parameters
    ----------
    key
        The column to look vectors up by: ``text`` or ``id``.

    Raises
    ------
    SourceError
        With the line (the row, where there are no lines), for a key that is no text, an unknown role, and a vector that
        is none, of another length, or not finite.
    """
    if form.kind == "npz":
        table = _read_archive(form, key)
    elif form.kind == "parquet":
        table = _read_parquet(form, key)
    else:
        table = _read_lines(form, key)
    if not len(table.vectors):
        raise SourceError("has no rows", form.path)
    for number, name, role in zip(table.numbers, table.keys, table.roles, strict=True):
        if not isinstance(name, str):
            raise form.error(number, f"must be a text, is {KINDS.get(type(name), type(name).__name__)}", key)
        if key == "id" and role:
            raise form.error(number, "a row with an id cannot have a role; give the role in the table texts=", "role")
        if role not in ROLES:
            raise form.error(number, f"must be one of {', '.join(ROLES[1:])}, is {role!r}", "role")
    for start in range(0, len(table.vectors), ROWS):
        finite = np.isfinite(as_float32(table.vectors[start : start + ROWS])).all(axis=1)
        if not finite.all():
            raise form.error(table.numbers[start + int(finite.argmin())], "contains NaN or infinity")
    return table


def as_float32(numbers: ArrayLike) -> NDArray[np.float32]:
    """Return numbers as float32; those that it cannot hold become infinite."""
    with np.errstate(over="ignore"):
        return np.asarray(numbers, dtype=np.float32)


def _read_lines(form: Form, key: str) -> VectorTable:
    key_name, vector_name, role_name = form.names[key], form.names["vector"], form.names["role"]
    numbers: list[int] = []
    keys: list[str] = []
    roles: list[str] = []
    vectors: list[NDArray[np.float32]] = []
    for number, row in json_lines(form.path):
        require(row, (key_name, vector_name), form.path, number)
        vector = row[vector_name]
        if not isinstance(vector, list) or not vector or not set(map(type, vector)) <= {int, float}:
            raise form.error(number, "must be a list of numbers")
        if vectors and len(vector) != len(vectors[0]):
            raise form.error(number, f"has {len(vector)} numbers, the first row has {len(vectors[0])}")
        try:
            vectors.append(as_float32(vector))
        except OverflowError:  # a whole number that no float can hold
            raise form.error(number, "contains NaN or infinity") from None
        numbers.append(number)
        keys.append(_key(row[key_name], key))
        roles.append(row.get(role_name) or "")
    return VectorTable(numbers, keys, roles, np.array(vectors))


def _key(value: str, key: str) -> str:
    """Return an id that is a whole number as text."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if key == "id" and is_number else value


def _read_archive(form: Form, key: str) -> VectorTable:
    arrays = archive_arrays(form.path)
    vectors = arrays[form.names["vector"]]()
    count = len(vectors) if vectors.ndim else 0
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu" or not vectors.shape[1]:
        raise SourceError(
            f"must be an (n, d) array of real numbers, is {vectors.dtype} {vectors.shape}", form.path, None, "vectors"
        )

    def texts(what: str) -> list[str]:
        array = arrays[form.names[what]]()
        # Whole numbers may be ids.
        kinds = "Uiu" if what == "id" else "U"
        if array.shape != (count,) or array.dtype.kind not in kinds:
            problem = f"must be an array of {count:,} texts, is {array.dtype} {array.shape}"
            raise SourceError(problem, form.path, None, form.names[what])
        return [str(value) for value in array.tolist()]

    roles = texts("role") if "role" in form.names else [""] * count
    return VectorTable(range(1, count + 1), texts(key), roles, vectors)


def _parquet_columns(path: Path) -> list[str]:
    import polars as pl

    try:
        return list(pl.read_parquet_schema(path))
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise _no_parquet(path, error) from None


def _read_parquet(form: Form, key: str) -> VectorTable:
    import polars as pl

    names = form.names
    columns = [names[what] for what in (key, "vector", "role") if what in names]
    try:
        frame = pl.read_parquet(form.path, columns=columns)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise _no_parquet(form.path, error) from None
    keys = [_key(value, key) for value in frame[names[key]].to_list()]
    roles = [""] * len(keys)
    if "role" in names:
        roles = frame[names["role"]].fill_null("").to_list()
    return VectorTable(range(1, len(keys) + 1), keys, roles, _list_column(form, frame[names["vector"]]))


def _list_column(form: Form, column: pl.Series) -> NDArray[np.float32]:
    """Return the (n, d) vectors of a column of lists; a missing number is NaN."""
    import polars as pl

    kind = column.dtype
    if not isinstance(kind, (pl.List, pl.Array)) or not kind.inner.is_numeric():
        raise SourceError(f"must hold lists of numbers, holds {kind}", form.path, None, form.names["vector"])
    if isinstance(kind, pl.Array):
        column = column.arr.to_list()
    lengths = column.list.len().fill_null(0).to_numpy()
    if not len(lengths):
        return np.zeros((0, 1), dtype=np.float32)
    width = int(lengths[0])
    if not width:
        raise form.error(1, "has no numbers")
    if (lengths != width).any():
        place = int((lengths != width).argmax())
        raise form.error(place + 1, f"has {lengths[place]} numbers, the first row has {width}")
    numbers = column.explode().cast(pl.Float32).fill_null(float("nan"))
    return np.asarray(numbers.to_numpy()).reshape(-1, width)


def _no_parquet(path: Path, error: BaseException) -> SourceError:
    lines = str(error).splitlines() or [type(error).__name__]
    return SourceError(f"not a Parquet file: {lines[0][:200]}", path)
