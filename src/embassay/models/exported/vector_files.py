"""Files of vectors from other programs: ``.npz`` without pickles, Parquet, or JSON lines, with one vector per row.

Columns, arrays and fields are found by name: ``text`` or ``id``, ``vector`` or ``embedding``, and ``role``, each also
in the plural. All vectors must be finite and have the same length.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from embassay.core.errors import SourceError
from embassay.core.samples.base import ROLES
from embassay.core.store.paths import open_file, unreadable
from embassay.core.tables.jsonl import KINDS, listed
from embassay.core.tables.records import is_parquet, parquet_frame, read_table, recognised
from embassay.core.tables.rows import json_rows
from embassay.core.vectors import DenseVectors

if TYPE_CHECKING:
    import polars as pl

NAMES = {
    "text": ("text", "texts", "sentence"),
    "id": ("id", "ids", "_id"),
    "role": ("role", "roles"),
    "vector": ("vector", "vectors", "embedding", "embeddings"),
}
"""Accepted column names by content; if a file has several of them, the first in this order is used."""
ROWS = 4_096
"""Number of vectors that are handed out at a time."""
HEAD = 64
"""Number of bytes at the start of a file by which its format is recognised."""
DAMAGED = (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError)
"""What numpy raises for an archive that is damaged, has Python objects, or is compressed in another way."""
FORMS = ".npz archive (numpy.savez), Parquet, JSON lines (one object per line)"
FileFormat = Literal["npz", "parquet", "jsonl"]


@dataclass(frozen=True)
class VectorFile:
    """A file of vectors: where it is, its format, and its columns.

    Attributes
    ----------
    kind
        The format: ``npz``, ``parquet`` or ``jsonl``.
    names
        The name of each column, by its content: ``vector``; ``text`` or ``id`` or both; ``role`` if there is one.
    """

    path: Path
    kind: FileFormat
    names: Mapping[str, str]

    @property
    def key(self) -> Literal["text", "id"]:
        """The column by which vectors are looked up: the texts if there are any, otherwise the ids."""
        if "text" in self.names:
            return "text"
        return "id"

    def error(self, number: int, problem: str, what: str = "vector") -> SourceError:
        """Return the error of one row, with its line in JSON lines and its number in the other formats."""
        if self.kind == "jsonl":
            return SourceError(problem, self.path, number, self.names[what])
        return SourceError(f"row {number}: {problem}", self.path, None, self.names[what])


@dataclass(frozen=True)
class VectorTable:
    """The rows of a file of vectors.

    Attributes
    ----------
    numbers
        The line of each row in JSON lines, otherwise its number; both from 1.
    keys
        The text or the id of each row.
    roles
        The role of each row; empty if the vector is for every role.
    vectors
        (n, d) float32.
    """

    numbers: Sequence[int]
    keys: Sequence[str]
    roles: Sequence[str]
    vectors: DenseVectors


def recognise(path: Path) -> VectorFile:
    """Return the format and the columns of a file; the format is recognised by its first bytes.

    Raises
    ------
    SourceError
        If it cannot be read, is empty, has another format, has no vectors, or has neither texts nor ids.
    """
    try:
        with open_file(path) as file:
            head = file.read(HEAD)
    except OSError as error:
        raise unreadable(error, path) from None
    if not head:
        raise SourceError("the file is empty", path)
    kind, columns = _kind_and_columns(path, head)
    found = {what: recognised(columns, known) for what, known in NAMES.items()}
    names = {what: name for what, name in found.items() if name}
    line = 1 if kind == "jsonl" else None
    if "vector" not in names:
        raise SourceError(f"no column of vectors; found {listed(sorted(columns))}", path, line)
    if "text" not in names and "id" not in names:
        raise SourceError(f"no column of texts or ids; found {listed(sorted(columns))}", path, line)
    if kind == "jsonl":
        # A later line may have a role.
        names.setdefault("role", "role")
    return VectorFile(path, kind, names)


def _kind_and_columns(path: Path, head: bytes) -> tuple[FileFormat, Sequence[str]]:
    """Return the format of a file, by its first bytes, and the names of its columns."""
    if head.startswith(b"PK"):
        return "npz", _archive_names(path)
    if is_parquet(path):
        return "parquet", read_table(path).names
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    # Blank lines may come first.
    if text and not text.startswith(b"{"):
        raise SourceError(f"unrecognised format; supported formats: {FORMS}", path)
    return "jsonl", read_table(path).names


def read_rows(file: VectorFile, key: str) -> VectorTable:
    """Read and check the rows of a file.

    Parameters
    ----------
    key
        The column to look vectors up by: ``text`` or ``id``.

    Raises
    ------
    SourceError
        For a key that is not a text, an unknown role, and a vector that is not a list of numbers, has another length
        than the first one, or is not finite. The error names the line or row.
    """
    if file.kind == "npz":
        table = _read_archive(file, key)
    elif file.kind == "parquet":
        table = _read_parquet(file, key)
    else:
        table = _read_lines(file, key)
    if not len(table.vectors):
        raise SourceError("has no rows", file.path)
    for number, name, role in zip(table.numbers, table.keys, table.roles, strict=True):
        if not isinstance(name, str):
            raise file.error(number, f"must be a text, is {KINDS.get(type(name), type(name).__name__)}", key)
        if key == "id" and role:
            raise file.error(number, "a row with an id cannot have a role; give the role in the table texts=", "role")
        if role and role not in ROLES:
            raise file.error(number, f"must be one of {', '.join(ROLES)}, is {role!r}", "role")
    finite = np.isfinite(table.vectors).all(axis=1)
    if not finite.all():
        raise file.error(table.numbers[int(finite.argmin())], "contains NaN or infinity")
    return table


def as_float32(numbers: ArrayLike) -> DenseVectors:
    """Return numbers as float32; numbers too large for float32 become infinite."""
    with np.errstate(over="ignore"):
        return np.asarray(numbers, dtype=np.float32)


def _read_lines(file: VectorFile, key: str) -> VectorTable:
    """Read JSON lines; each line is checked as it is read, so that the error names it."""
    key_name, vector_name, role_name = file.names[key], file.names["vector"], file.names["role"]
    numbers: list[int] = []
    keys: list[str] = []
    roles: list[str] = []
    vectors: list[DenseVectors] = []
    for row in json_rows(file.path):
        row.require(key_name, vector_name)
        vector = row.values[vector_name]
        # By type, because a truth value is an int too.
        are_numbers = isinstance(vector, list) and set(map(type, vector)) <= {int, float}
        if not are_numbers or not vector:
            raise row.error("must be a list of numbers", vector_name)
        if vectors and len(vector) != len(vectors[0]):
            raise row.error(f"has {len(vector)} numbers, the first row has {len(vectors[0])}", vector_name)
        try:
            vectors.append(as_float32(vector))
        except OverflowError:  # a whole number that no float can hold
            raise row.error("contains NaN or infinity", vector_name) from None
        numbers.append(row.line or 0)
        keys.append(_key(row.values[key_name], key))
        roles.append(row.values.get(role_name) or "")
    return VectorTable(numbers, keys, roles, np.array(vectors))


def _key(value: str, key: str) -> str:
    """Return a key of a row; an id that is a whole number becomes text."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if key == "id" and is_number:
        return str(value)
    return value


def _archive_names(path: Path) -> list[str]:
    """Return the names of the arrays in an ``.npz`` file."""
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as archive:
            return list(archive.files)
    except DAMAGED as error:
        raise SourceError(f"not an .npz file: {error}", path) from None


def _array(path: Path, name: str, remedy: str) -> np.ndarray:
    """Read an array of an ``.npz`` file; ``remedy`` says what to do about Python objects, which are never loaded."""
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as archive:
            return np.asarray(archive[name])
    except DAMAGED as error:
        problem = f"damaged: {error}"
        if "allow_pickle" in str(error):
            problem = f"contains Python objects (a pickle), which are never loaded; {remedy}"
        raise SourceError(problem, path, None, name) from None


def _read_archive(file: VectorFile, key: str) -> VectorTable:
    """Read an ``.npz`` file; its rows are numbered from 1."""
    vectors = _array(file.path, file.names["vector"], "save the vectors as an array of float32")
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu" or not vectors.shape[1]:
        raise SourceError(
            f"must be an (n, d) array of real numbers, is {vectors.dtype} {vectors.shape}", file.path, None, "vectors"
        )
    count = len(vectors)

    def texts(what: str) -> list[str]:
        """Return an array of texts, or of ids, after checking its shape and type."""
        array = _array(file.path, file.names[what], "save texts with dtype=str")
        # Whole numbers may be ids.
        kinds = "U"
        if what == "id":
            kinds = "Uiu"
        if array.shape != (count,) or array.dtype.kind not in kinds:
            problem = f"must be an array of {count:,} texts, is {array.dtype} {array.shape}"
            raise SourceError(problem, file.path, None, file.names[what])
        return [str(value) for value in array.tolist()]

    # Without roles, a vector is for every role.
    roles = texts("role") if "role" in file.names else [""] * count
    return VectorTable(range(1, count + 1), texts(key), roles, as_float32(vectors))


def _read_parquet(file: VectorFile, key: str) -> VectorTable:
    """Read a Parquet file; its rows are numbered from 1."""
    names = file.names
    frame = parquet_frame(file.path, [names[what] for what in (key, "vector", "role") if what in names])
    keys = [_key(value, key) for value in frame[names[key]].to_list()]
    roles = [""] * len(keys)
    if "role" in names:
        roles = frame[names["role"]].fill_null("").to_list()
    return VectorTable(range(1, len(keys) + 1), keys, roles, _list_column(file, frame[names["vector"]]))


def _list_column(file: VectorFile, column: pl.Series) -> DenseVectors:
    """Return the (n, d) vectors of a column of lists; a missing number is NaN."""
    import polars as pl

    kind = column.dtype
    if not isinstance(kind, (pl.List, pl.Array)) or not kind.inner.is_numeric():
        raise SourceError(f"must hold lists of numbers, holds {kind}", file.path, None, file.names["vector"])
    if isinstance(kind, pl.Array):
        column = column.arr.to_list()
    lengths = column.list.len().fill_null(0).to_numpy()
    if not len(lengths):
        return np.zeros((0, 1), dtype=np.float32)
    width = int(lengths[0])
    if not width:
        raise file.error(1, "has no numbers")
    if (lengths != width).any():
        place = int((lengths != width).argmax())
        raise file.error(place + 1, f"has {lengths[place]} numbers, the first row has {width}")
    numbers = column.explode().cast(pl.Float32).fill_null(float("nan"))
    return np.asarray(numbers.to_numpy()).reshape(-1, width)
