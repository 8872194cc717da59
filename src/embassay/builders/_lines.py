"""Reading a user's file line by line, with the place of every mistake, however the file looks inside."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embassay.errors import SourceError

LONGEST_LINE = 1_000_000
"""Bytes of a line, at most."""
SUFFIXES = {
    ".txt": "text",
    ".text": "text",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".parquet": "parquet",
}
"""The form of a file by the end of its name; another is known by its first line."""
Row = tuple[int, Mapping[str, Any]]


@dataclass(frozen=True)
class Table:
    """The columns of a file, and what yields (line from 1, value by column); in Parquet the row from 1."""

    path: Path
    names: tuple[str, ...]
    rows: Callable[[], Iterator[Row]]


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (number from 1, line without its end) of a UTF-8 file.

    Raises
    ------
    SourceError
        With file and line, for what cannot be read, is not UTF-8, holds the character NUL, or is longer than a line of
        sentences can be.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE + 1), b""), 1):
                if len(line) > LONGEST_LINE:
                    told = f"a line of more than {LONGEST_LINE:,} bytes; write one sentence on each line"
                    raise SourceError(told, path, number)
                if b"\0" in line:
                    raise SourceError("holds the character NUL, as no text does; save it as UTF-8", path, number)
                yield number, _decoded(line, path, number).rstrip("\r\n")
    except FileNotFoundError:
        raise SourceError("no such file", path) from None
    except IsADirectoryError:
        raise SourceError("a folder; name a file", path) from None
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror}", path) from None


def form_of(path: Path, column: str = "") -> str:
    """Return ``text``, ``csv``, ``tsv``, ``json`` or ``parquet``, by name, else by the first line that is not blank.

    Parameters
    ----------
    column
        What the user says of the sentences' column; a file that has one is no plain text.
    """
    known = SUFFIXES.get(path.suffix.lower(), "")
    if known and not (known == "text" and column):
        return known
    if _is_parquet(path):
        return "parquet"
    first = next((line for _, line in lines_of(path) if line.strip()), "")
    if first.lstrip().startswith("{"):
        return "json"
    return "tsv" if "\t" in first else "csv" if column else "text"


def open_table(path: Path, form: str) -> Table:
    """Open a table of a form of :func:`form_of`.

    Raises
    ------
    SourceError
        With file and line, for what is no such table, or has no rows.
    """
    if form == "parquet":
        return _parquet(path)
    if form == "json":
        names = dict.fromkeys(name for _, row in _json_rows(path) for name in row)
        table = Table(path, tuple(names), lambda: _json_rows(path))
    else:
        table = _delimited(path, form)
    if next(table.rows(), None) is None:
        raise SourceError("has no rows", path)
    return table


def _decoded(line: bytes, path: Path, number: int) -> str:
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise SourceError(f"not UTF-8: {error.reason}; save it as UTF-8", path, number) from None


def _is_parquet(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == b"PAR1"
    except OSError:
        return False  # The reader of lines says why.


def _json_rows(path: Path) -> Iterator[Row]:
    for number, line in lines_of(path):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise SourceError(f"not JSON: {error}; write one JSON object on each line", path, number) from None
        if not isinstance(row, dict):
            raise SourceError("must be a JSON object", path, number)
        yield number, row


def _cells(path: Path, form: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, cells) of the lines that are not blank; tabs divide without quoting, commas with it."""
    if form == "tsv":
        yield from ((number, line.split("\t")) for number, line in lines_of(path) if line.strip())
        return
    first = next((line for _, line in lines_of(path) if line.strip()), "")
    between = "," if "," in first else next((mark for mark in ";\t" if mark in first), ",")
    reader = csv.reader((f"{line}\n" for _, line in lines_of(path)), delimiter=between, strict=True)
    before = csv.field_size_limit()
    while True:
        # The limit is a global one: it is ours only while a row is read.
        csv.field_size_limit(LONGEST_LINE)
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise SourceError(f"not a table: {error}", path, reader.line_num) from None
        finally:
            csv.field_size_limit(before)
        if cells is None:
            return
        if any(cell.strip() for cell in cells):
            yield reader.line_num, cells


def _delimited(path: Path, form: str) -> Table:
    head, cells = next(_cells(path, form), (1, list[str]()))
    if not cells:
        raise SourceError("is empty", path)
    names = [cell.strip() for cell in cells]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise SourceError("this column stands twice", path, head, twice[:100])

    def rows() -> Iterator[Row]:
        for number, cells in _cells(path, form):
            if number == head:
                continue
            if len(cells) != len(names):
                told = f"has {len(cells)} columns where the header has {len(names)}"
                raise SourceError(f"{told}; quote a cell that holds what divides columns", path, number)
            yield number, dict(zip(names, cells, strict=True))

    return Table(path, tuple(names), rows)


def _parquet(path: Path) -> Table:
    import polars as pl

    # A panic of its reader is no Exception.
    failures = (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException)
    try:
        frame = pl.read_parquet(path)
    except failures as error:
        raise SourceError(f"not a Parquet file: {str(error).splitlines()[0][:200]}", path) from None
    if not len(frame):
        raise SourceError("has no rows", path)
    return Table(path, tuple(frame.columns), lambda: iter(enumerate(frame.iter_rows(named=True), 1)))
