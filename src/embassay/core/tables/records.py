"""Reading rows with named columns from a table in any format: CSV, TSV, JSON lines or Parquet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embassay.core.errors import SourceError, first_line_of
from embassay.core.store.paths import open_file, unreadable
from embassay.core.tables.jsonl import first_fields, json_lines, listed
from embassay.core.tables.rows import FileRow
from embassay.core.tables.tables import by_name, delimiter_of, first_line, header, table_rows
from embassay.core.tables.texts import read_head

if TYPE_CHECKING:
    import polars as pl

PARQUET = b"PAR1"
"""The first bytes of a Parquet file."""
PEEK = 1_048_576
PAIRS = (("sentence1", "sentence2"), ("text1", "text2"), ("first", "second"), ("sentence_A", "sentence_B"))
"""The names of two columns of sentences to compare that are recognised, tried in this order; case is ignored."""
NumberedRow = tuple[int, Mapping[str, Any]]


@dataclass(frozen=True)
class TableColumn:
    """A column that a loader reads.

    Attributes
    ----------
    known
        The names that are recognised, tried in this order; case is ignored.
    given
        The name that the user gave; empty for none.
    what, option
        What it contains, and the option that names it; both empty for an optional column.
    """

    known: Sequence[str]
    given: str = ""
    what: str = ""
    option: str = ""


@dataclass(frozen=True)
class Selection:
    """The columns of a table that a loader reads, by their use."""

    table: FileTable
    names: Mapping[str, str]

    @property
    def note(self) -> str:
        """The use of each column."""
        return ", ".join(f"{name} as {use}" for use, name in self.names.items())

    def rows(self) -> Iterator[FileRow]:
        """Yield the rows, whose fields are the uses."""
        for row in self.table.read(tuple(self.names.values())):
            values = {use: row.values[name] for use, name in self.names.items() if name in row.values}
            yield FileRow(values, row.path, row.line, names=self.names)


@dataclass(frozen=True)
class FileTable:
    """A table whose rows are read on demand.

    Attributes
    ----------
    line
        The line of the header; 1 if there is none.
    rows
        Yields (line, value by column) for the given columns; in Parquet, which has no lines, the number of
        the row from 1. Rows of JSON lines may lack some columns.
    """

    path: Path
    names: tuple[str, ...]
    line: int
    rows: Callable[[Sequence[str]], Iterator[NumberedRow]]

    def read(self, columns: Sequence[str]) -> Iterator[FileRow]:
        """Yield the rows with these columns."""
        for line, values in self.rows(columns):
            yield FileRow(values, self.path, line)

    def select(self, **columns: TableColumn) -> Selection:
        """Find the columns for some uses; optional ones may be missing.

        Raises
        ------
        SourceError
            For a missing column, and for one that would have two uses.
        """
        use_of: dict[str, str] = {}
        for use, column in columns.items():
            known = column.known
            # An optional column is not searched among those that have a use.
            if not column.what:
                known = [name for name in column.known if name not in use_of]
            name = self.perhaps(column.given, known)
            if column.what and not name:
                there = f"found {listed(self.names)}; add one, or name it with {column.option}"
                raise SourceError(f"no column {column.what}; {there}", self.path, self.line)
            if name in use_of:
                raise SourceError(f"is used both as the {use_of[name]} and as the {use}", self.path, self.line, name)
            if name:
                use_of[name] = use
        return Selection(self, {use: name for name, use in use_of.items()})

    def perhaps(self, given: str, known: Sequence[str]) -> str:
        """Return the name of an optional column, empty if the table lacks it; a given column must exist."""
        if given and given not in self.names:
            raise SourceError(f"missing; found {listed(self.names)}", self.path, self.line, given)
        return given or recognised(self.names, known)


def recognised(names: Iterable[str], known: Iterable[str]) -> str:
    """Return the first of some known names that is among the names of a table, as it is written there; else empty."""
    as_written = {name.casefold(): name for name in names}
    return next((as_written[name.casefold()] for name in known if name.casefold() in as_written), "")


def recognised_pair(names: Collection[str]) -> tuple[str, ...]:
    """Return the two columns of :data:`PAIRS` as a table writes them; empty unless it has both of a pair."""
    for pair in PAIRS:
        columns = tuple(recognised(names, [name]) for name in pair)
        if all(columns):
            return columns
    return ()


def columns_in(head: str) -> frozenset[str]:
    """Return the names of the columns in the first line of a file: JSON, or a header."""
    line = first_line(head)
    cells = line.split(delimiter_of(line))
    return first_fields(head) or frozenset(cell.strip().strip('"') for cell in cells)


def read_table(path: Path) -> FileTable:
    """Open a table; its format is detected from its content.

    Raises
    ------
    SourceError
        With the file, and the line if there is one, for a file that is not a table.
    """
    if is_parquet(path):
        return _parquet(path)
    head = read_head(path, PEEK)
    if head.lstrip("\ufeff \t\r\n").startswith("{"):
        line, fields = next(json_lines(path))
        return FileTable(path, tuple(sorted(fields)), line, lambda _: json_lines(path))
    return _delimited(path, delimiter_of(first_line(head)))


def rows_with_header(path: Path, names: Sequence[str], delimiter: str) -> Iterator[FileRow]:
    """Return the rows of a table that must have this header.

    Raises
    ------
    SourceError
        With file and line, for a different header and, when they are read, for ragged rows.
    """
    table = _delimited(path, delimiter)
    if table.names != tuple(names):
        between = "tabs" if delimiter == "\t" else "commas"
        problem = f"the header must be {', '.join(names)}, separated by {between}; it is {listed(table.names)}"
        raise SourceError(problem, path, table.line)
    return table.read(names)


def is_parquet(path: Path) -> bool:
    """Return whether a file is a Parquet file, by its name or its first bytes.

    Raises
    ------
    SourceError
        If it cannot be read.
    """
    try:
        with open_file(path) as file:
            return path.suffix.lower() == ".parquet" or file.read(len(PARQUET)) == PARQUET
    except OSError as error:
        raise unreadable(error, path) from None


def _delimited(path: Path, delimiter: str) -> FileTable:
    """Open a table with a delimiter; its rows are read when they are needed."""
    line, cells = next(table_rows(path, delimiter), (1, list[str]()))
    names = header(cells, path, line)

    def rows(_: Sequence[str]) -> Iterator[NumberedRow]:
        lines = table_rows(path, delimiter)
        next(lines, None)
        for number, cells in lines:
            yield number, by_name(names, cells, path, number)

    return FileTable(path, tuple(names), line, rows)


def _parquet(path: Path) -> FileTable:
    """Open a Parquet file; its rows are read when they are needed."""
    import polars as pl

    try:
        schema = pl.read_parquet_schema(path)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise SourceError(f"not a Parquet file: {first_line_of(error)}", path) from None

    def rows(columns: Sequence[str]) -> Iterator[NumberedRow]:
        for name in columns:
            if not _plain(schema[name]):
                raise SourceError(f"must contain texts or whole numbers, contains {schema[name]}", path, None, name)
        yield from enumerate(parquet_frame(path, columns).iter_rows(named=True), 1)

    return FileTable(path, tuple(schema), 1, rows)


def parquet_frame(path: Path, columns: Sequence[str]) -> pl.DataFrame:
    """Return columns of a Parquet file.

    Raises
    ------
    SourceError
        If it is not a Parquet file, or is damaged.
    """
    import polars as pl

    # A panic of its reader is not an Exception.
    try:
        return pl.read_parquet(path, columns=list(columns))
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise SourceError(f"not a Parquet file: {first_line_of(error)}", path) from None


def _plain(kind: Any) -> bool:
    """Return whether a Parquet column has values that can serve as text or keys, or lists of them."""
    inner = getattr(kind, "inner", None)
    if inner is not None:
        return _plain(inner)
    return kind.is_integer() or str(kind.base_type()) in ("String", "Categorical", "Enum", "Null")
