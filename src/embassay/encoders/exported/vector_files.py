"""Files of vectors that were made elsewhere: ``.npz`` without pickles, Parquet, JSON lines; a vector a row.

Columns, arrays and fields are known by name: ``text`` or ``id``, ``vector`` or ``embedding``, and ``role``, each also
in the plural. A row's vector must be as long as the first one's, and finite.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from embassay.corpora.io.jsonl import KINDS, json_lines, listed
from embassay.encoders.exported.arrays import archive_arrays
from embassay.errors import SourceError
from embassay.samples.base import Role
from embassay.store.paths import open_file, unreadable

NAMES = {
    "text": ("text", "texts", "sentence"),
    "id": ("id", "ids", "_id"),
    "role": ("role", "roles"),
    "vector": ("vector", "vectors", "embedding", "embeddings"),
}
"""The names of columns, by what they hold; of several that are there the first counts."""
ROLES: tuple[Role | Literal[""], ...] = ("", "text", "query", "document")
ROWS = 4_096
"""Rows that are read together."""
HEAD = 64
"""Bytes that a form is told by."""
FORMS = "an .npz archive (numpy.savez), Parquet, JSON lines (one object a line)"
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
        """What its vectors are known by."""
        return "text" if "text" in self.names else "id"


@dataclass(frozen=True)
class Block:
    """Some rows: the line or row of each (from 1), its key, its role (empty for any), and their (n, d) vectors."""

    numbers: Sequence[int]
    keys: Sequence[str]
    roles: Sequence[str]
    rows: NDArray[Any]


def recognise(path: Path) -> Form:
    """Tell how a file is written by its beginning, and which columns it has.

    Raises
    ------
    SourceError
        If it cannot be read, is empty or of another form, or has no vectors or nothing that they are known by.
    """
    try:
        with open_file(path) as file:
            head = file.read(HEAD)
    except OSError as error:
        raise unreadable(error, path) from None
    if not head:
        raise SourceError("the file is empty", path)
    kind: Kind = "npz" if head.startswith(b"PK") else "parquet" if head.startswith(b"PAR1") else "jsonl"
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if kind == "jsonl" and text and not text.startswith(b"{"):
        raise SourceError(f"it is none of the forms that are read: {FORMS}", path)
    found = {"npz": archive_arrays, "parquet": _schema, "jsonl": _first_row}[kind](path)
    columns = tuple(found)
    names = {what: next((n for n in known if n in columns), "") for what, known in NAMES.items()}
    for what in ("vector",) if names["text"] or names["id"] else ("vector", "text"):
        if not names[what]:
            wanted = " or ".join(NAMES[what][:1] if what == "vector" else ("text", "id"))
            raise SourceError(f"no {wanted}; found {listed(sorted(columns))}", path, 1 if kind == "jsonl" else None)
    if kind == "jsonl":  # a later line may have one
        names["role"] = names["role"] or "role"
    return Form(path, kind, {what: name for what, name in names.items() if name})


def blocks(form: Form, key: str) -> Iterator[Block]:
    """Yield the rows of a file, checked, some thousand at a time.

    Parameters
    ----------
    key
        The column that the vectors are known by: ``text`` or ``id``.

    Raises
    ------
    SourceError
        With the line (the row, where there are no lines), for a key that is no text, an unknown role, and a vector that
        is none, of another length, or not finite.
    """
    read = {"npz": _archive_blocks, "parquet": _parquet_blocks, "jsonl": _line_blocks}[form.kind]
    for block in read(form, key):
        _check_names(form, key, block)
        finite = np.isfinite(block.rows).all(axis=1)
        if not finite.all():
            raise _wrong(form, block.numbers[int(finite.argmin())], "NaN or infinity")
        yield block


def _check_names(form: Form, key: str, block: Block) -> None:
    """Refuse a key that is no text, and a role that there is not."""
    for number, name, role in zip(block.numbers, block.keys, block.roles, strict=True):
        if not isinstance(name, str):
            raise _wrong(form, number, f"must be a text, is {KINDS.get(type(name), type(name).__name__)}", key)
        if key == "id" and role:
            raise _wrong(form, number, "a role beside an id; with texts= the role stands in that table", "role")
        if role not in ROLES:
            raise _wrong(form, number, f"{role!r} is none of {', '.join(ROLES[1:])}", "role")


def _wrong(form: Form, number: int, problem: str, what: str = "vector") -> SourceError:
    """Return the error of one row; JSON lines have lines, the other forms rows."""
    if form.kind == "jsonl":
        return SourceError(problem, form.path, number, form.names[what])
    return SourceError(f"row {number}: {problem}", form.path, None, form.names[what])


def _first_row(path: Path) -> Sequence[str]:
    return sorted(next(iter(json_lines(path)), (1, dict[str, Any]()))[1])


def _line_blocks(form: Form, key: str) -> Iterator[Block]:
    names, width, all_lines = form.names, 0, json_lines(form.path)
    while lines := list(islice(all_lines, ROWS)):
        found = []
        for number, row in lines:
            for what in (key, "vector"):
                if names[what] not in row:
                    raise SourceError(f"missing; found {listed(sorted(row))}", form.path, number, names[what])
            vector = row[names["vector"]]
            if not isinstance(vector, list) or not vector or not set(map(type, vector)) <= {int, float}:
                raise _wrong(form, number, "must be a list of numbers")
            width = width or len(vector)
            if len(vector) != width:
                raise _wrong(form, number, f"{len(vector)} numbers, where the first row has {width}")
            found.append(vector)
        keys = [_key(row[names[key]], key) for _, row in lines]
        yield Block([number for number, _ in lines], keys, [_role(row, names) for _, row in lines], _float32(found))


def _role(row: Mapping[str, Any], names: Mapping[str, str]) -> Any:
    value = row.get(names["role"]) if "role" in names else ""
    return "" if value is None else value


def _key(value: Any, key: str) -> Any:
    """Return an id that is a whole number as text."""
    return str(value) if key == "id" and isinstance(value, int) and not isinstance(value, bool) else value


def _archive_blocks(form: Form, key: str) -> Iterator[Block]:
    arrays = archive_arrays(form.path)
    vectors, keys = (arrays[form.names[what]]() for what in ("vector", key))
    roles = arrays[form.names["role"]]() if "role" in form.names else None
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu" or not vectors.shape[1]:
        raise SourceError(
            f"must be (n, d) real numbers, is {vectors.dtype} {vectors.shape}", form.path, None, "vectors"
        )
    for name, array in ((key, keys), *([("role", roles)] if roles is not None else [])):
        if array.shape != vectors.shape[:1] or array.dtype.kind not in ("Uiu" if name == "id" else "U"):
            told = f"must be {len(vectors):,} texts, is {array.dtype} {array.shape}"
            raise SourceError(told, form.path, None, form.names[name])
    for start in range(0, len(vectors), ROWS):
        part = slice(start, start + ROWS)
        some = list(map(str, keys[part].tolist()))
        numbers = range(start + 1, start + 1 + len(some))
        yield Block(numbers, some, _texts(roles, part, len(some)), _float32(vectors[part]))


def _texts(array: NDArray[Any] | None, part: slice, count: int) -> list[Any]:
    return [""] * count if array is None else array[part].tolist()


def _schema(path: Path) -> Sequence[str]:
    import polars as pl

    try:
        return list(pl.read_parquet_schema(path))
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise SourceError(f"not a Parquet file: {_first(error)}", path) from None


def _parquet_blocks(form: Form, key: str) -> Iterator[Block]:
    import polars as pl

    names = form.names
    columns = [names[what] for what in (key, "vector", "role") if what in names]
    start, width = 0, 0
    while True:
        try:
            frame = pl.scan_parquet(form.path).select(columns).slice(start, 16 * ROWS).collect()
        except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise SourceError(f"not a Parquet file: {_first(error)}", form.path) from None
        for part in frame.iter_slices(ROWS):
            numbers = range(start + 1, start + 1 + len(part))
            rows = _matrix(form, part[names["vector"]], numbers, width)
            width = rows.shape[1]
            roles = part[names["role"]].fill_null("").to_list() if "role" in names else [""] * len(part)
            yield Block(numbers, [_key(name, key) for name in part[names[key]].to_list()], roles, rows)
            start += len(part)
        if len(frame) < 16 * ROWS:
            return


def _matrix(form: Form, column: Any, numbers: range, width: int) -> NDArray[Any]:
    """Return the (n, d) vectors of a column of lists; those of other rows are ``width`` long, where that is not 0."""
    import polars as pl

    kind = column.dtype
    if not isinstance(kind, (pl.List, pl.Array)) or not kind.inner.is_numeric():
        raise SourceError(f"must hold lists of numbers, holds {kind}", form.path, None, form.names["vector"])
    column = column.arr.to_list() if isinstance(kind, pl.Array) else column
    lengths = column.list.len().fill_null(0).to_numpy()
    width = width or int(lengths[0])
    if not width or (lengths != width).any():
        place = int((lengths != width).argmax()) if width else 0
        raise _wrong(form, numbers[place], f"{lengths[place]} numbers, where the first row has {width}")
    return _float32(column.explode().cast(pl.Float64).fill_null(float("nan")).to_numpy().reshape(-1, width))


def _float32(rows: Any) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        try:
            return np.asarray(rows).astype(np.float32)
        except OverflowError:  # a whole number that no float can hold
            return np.array([[float(str(n)) for n in row] for row in rows], dtype=np.float64).astype(np.float32)


def _first(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)[:200]
