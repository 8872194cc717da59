"""Files of vectors that were made elsewhere: ``.npz`` without pickles, Parquet, JSON lines; a vector a row.

Columns, arrays and fields are known by name: ``text`` or ``id``, ``vector`` or ``embedding``, and ``role``, each also
in the plural. A row's vector must be as long as the first one's, and finite.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
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
"""Bytes at the beginning of a file by which its form is recognised."""
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
        """What identifies its vectors."""
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
    kind: Kind
    columns: Collection[str]
    if head.startswith(b"PK"):
        kind, columns = "npz", archive_arrays(path)
    elif head.startswith(b"PAR1"):
        kind, columns = "parquet", _schema(path)
    else:
        text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        if text and not text.startswith(b"{"):
            raise SourceError(f"it is none of the forms that are read: {FORMS}", path)
        kind, columns = "jsonl", _first_row(path)

    names = _columns_by_content(columns)
    line = 1 if kind == "jsonl" else None
    if "vector" not in names:
        raise SourceError(f"no vector; found {listed(sorted(columns))}", path, line)
    if "text" not in names and "id" not in names:
        raise SourceError(f"no text or id; found {listed(sorted(columns))}", path, line)
    if kind == "jsonl":
        # A later line may have a role.
        names.setdefault("role", "role")
    return Form(path, kind, names)


def _columns_by_content(columns: Collection[str]) -> dict[str, str]:
    """Return the column that holds each of ``NAMES``, where there is one."""
    names = {}
    for what, known in NAMES.items():
        name = next((name for name in known if name in columns), None)
        if name is not None:
            names[what] = name
    return names


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
    """Refuse a key that is no text, and an unknown role."""
    for number, name, role in zip(block.numbers, block.keys, block.roles, strict=True):
        if not isinstance(name, str):
            kind = KINDS.get(type(name), type(name).__name__)
            raise _wrong(form, number, f"must be a text, is {kind}", key)
        if key == "id" and role:
            raise _wrong(form, number, "a role beside an id; with texts= the role stands in that table", "role")
        if role not in ROLES:
            raise _wrong(form, number, f"{role!r} is none of {', '.join(ROLES[1:])}", "role")


def _wrong(form: Form, number: int, problem: str, what: str = "vector") -> SourceError:
    """Return the error of one row; JSON lines have lines, the other forms rows."""
    if form.kind == "jsonl":
        return SourceError(problem, form.path, number, form.names[what])
    return SourceError(f"row {number}: {problem}", form.path, None, form.names[what])


def _first_row(path: Path) -> Collection[str]:
    for _, row in json_lines(path):
        return row
    return ()


def _line_blocks(form: Form, key: str) -> Iterator[Block]:
    names = form.names
    width = 0
    lines = json_lines(form.path)
    while part := list(islice(lines, ROWS)):
        numbers, keys, roles, vectors = [], [], [], []
        for number, row in part:
            for what in (key, "vector"):
                if names[what] not in row:
                    raise SourceError(f"missing; found {listed(sorted(row))}", form.path, number, names[what])
            vector = row[names["vector"]]
            if not isinstance(vector, list) or not vector or not set(map(type, vector)) <= {int, float}:
                raise _wrong(form, number, "must be a list of numbers")
            width = width or len(vector)
            if len(vector) != width:
                raise _wrong(form, number, f"{len(vector)} numbers, where the first row has {width}")
            role = row.get(names["role"])
            numbers.append(number)
            keys.append(_key(row[names[key]], key))
            roles.append("" if role is None else role)
            vectors.append(vector)
        yield Block(numbers, keys, roles, _float32(vectors))


def _key(value: Any, key: str) -> Any:
    """Return an id that is a whole number as text."""
    return str(value) if key == "id" and isinstance(value, int) and not isinstance(value, bool) else value


def _archive_blocks(form: Form, key: str) -> Iterator[Block]:
    arrays = archive_arrays(form.path)
    vectors = arrays[form.names["vector"]]()
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu" or not vectors.shape[1]:
        problem = f"must be (n, d) real numbers, is {vectors.dtype} {vectors.shape}"
        raise SourceError(problem, form.path, None, "vectors")
    columns = {}
    for what in (key, "role"):
        if what not in form.names:
            columns[what] = np.full(len(vectors), "")
            continue
        column = columns[what] = arrays[form.names[what]]()
        # Ids may be whole numbers.
        kinds = "Uiu" if what == "id" else "U"
        if column.shape != vectors.shape[:1] or column.dtype.kind not in kinds:
            problem = f"must be {len(vectors):,} texts, is {column.dtype} {column.shape}"
            raise SourceError(problem, form.path, None, form.names[what])
    for start in range(0, len(vectors), ROWS):
        part = slice(start, start + ROWS)
        keys = [str(name) for name in columns[key][part].tolist()]
        numbers = range(start + 1, start + 1 + len(keys))
        yield Block(numbers, keys, columns["role"][part].tolist(), _float32(vectors[part]))


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

    dtype = column.dtype
    if not isinstance(dtype, (pl.List, pl.Array)) or not dtype.inner.is_numeric():
        raise SourceError(f"must hold lists of numbers, holds {dtype}", form.path, None, form.names["vector"])
    if isinstance(dtype, pl.Array):
        column = column.arr.to_list()
    lengths = column.list.len().fill_null(0).to_numpy()
    width = width or int(lengths[0])
    wrong = (lengths != width) | (lengths == 0)
    if wrong.any():
        place = int(wrong.argmax())
        raise _wrong(form, numbers[place], f"{lengths[place]} numbers, where the first row has {width}")
    values = column.explode().cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return _float32(values.reshape(-1, width))


def _float32(rows: Any) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        try:
            return np.asarray(rows).astype(np.float32)
        except OverflowError:
            # A whole number that no float can hold becomes infinity, which is refused with its place.
            return np.array([[float(str(n)) for n in row] for row in rows], dtype=np.float64).astype(np.float32)


def _first(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)[:200]
