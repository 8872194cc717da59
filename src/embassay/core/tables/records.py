"""The one reader of tables: CSV, TSV, JSON lines and Parquet, known by their content; pydantic checks each row.

A :class:`TableRow` declares the columns that a reader needs, by their use. :func:`read_table` opens a file, and
:meth:`Table.select` yields its rows as models. A wrong value is one error with file, line and column, which pydantic
has located.

Text files are read by ``csv`` and ``json``: polars tells neither the line of a row nor that a row is too short.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic

from embassay.core.errors import SourceError, first_line_of, listed, quoted
from embassay.core.formatting import counted
from embassay.core.store.paths import open_file
from embassay.core.tables.rows import R, checked, known_names
from embassay.core.tables.texts import BLANK, decoded, first_line

PARQUET = b"PAR1"
"""The first bytes of a Parquet file."""
FIRST = ("sentence1", "text1", "first", "sentence_A")
SECOND = ("sentence2", "text2", "second", "sentence_B")
"""The names of two columns of sentences to compare that are recognised, tried in this order; case is ignored."""
ARRAY = "a JSON array; write one object on each line (JSON lines)"
_QUOTED_CELL = re.compile('"((?:[^"]|"")*)"')
Cells = tuple[int, list[str]]
Record = tuple[int, Mapping[str, Any]]
"""The line of a row, from 1, and its values by column; in Parquet, which has no lines, the number of the row."""


@dataclass(frozen=True)
class Selection(Generic[R]):
    """The rows of a table as models.

    Attributes
    ----------
    names
        The column of each use that the table has.
    """

    table: Table
    model: type[R]
    names: Mapping[str, str]

    @property
    def note(self) -> str:
        """The use of each column."""
        return "columns: " + ", ".join(f"{name} as {use}" for use, name in self.names.items())

    def __iter__(self) -> Iterator[R]:
        """Yield the rows, each numbered from 0.

        Raises
        ------
        SourceError
            With file, line and column, for a wrong value and for a repeated id; without rows.
        """
        if not self.table.records:
            raise SourceError("the table has no rows", self.table.path)
        lines: dict[str, int] = {}
        for number, (line, record) in enumerate(self.table.records):
            row = checked(self.model, record, self.table.path, line, self.names, number)
            if self.model.unique and lines.setdefault(row.key, line) != line:
                problem = f"{quoted(row.key)} is already used on line {lines[row.key]}"
                raise row.error(f"{problem} (rows without an id are numbered from 0)", "id")
            yield row


@dataclass(frozen=True)
class Table:
    """The rows of a file.

    Attributes
    ----------
    names
        The columns. Errors about them name the first line, in which they stand.
    records
        The rows. Those of JSON lines may lack some columns, and have others.
    """

    path: Path
    names: tuple[str, ...]
    records: Sequence[Record]

    def missing(self, name: str) -> SourceError:
        """Return the error of a column that the table lacks."""
        return SourceError(f"missing; found {listed(self.names)}; add it, or name another column", self.path, 1, name)

    def select(self, model: type[R], **given: str) -> Selection[R]:
        """Find the columns of a model; those of fields with a default may be missing.

        Parameters
        ----------
        given
            The names of columns that the user gave, by use; empty texts for none.

        Raises
        ------
        SourceError
            For a missing column, and for one that would have two uses.
        """
        names: dict[str, str] = {}
        for use, field in model.model_fields.items():
            candidates = known_names(model, use)
            name = given.get(use) or recognised(self.names, [name for name in candidates if name not in names.values()])
            if name in names.values():
                raise SourceError(f"has another use, and cannot be the {use} as well", self.path, 1, name)
            # A table may have a column without a name.
            if name and name in self.names:
                names[use] = name
            elif name or field.is_required():
                raise self.missing(name or candidates[0])
        return Selection(self, model, names)


def recognised(names: Iterable[str], known: Iterable[str]) -> str:
    """Return the first of some known names that is among the names of a table, as it is written there; else empty."""
    as_written = {name.casefold(): name for name in names}
    return next((as_written[name.casefold()] for name in known if name.casefold() in as_written), "")


def recognised_pair(names: Collection[str]) -> bool:
    """Return whether a table has two columns of sentences to compare."""
    return bool(recognised(names, FIRST) and recognised(names, SECOND))


def columns_in(head: str) -> frozenset[str]:
    """Return the names of the columns in the first line of a file: JSON, or a header."""
    line = first_line_of(head)
    if line.startswith("{"):
        with suppress(ValueError, RecursionError):
            return frozenset(json.loads(line))
    return frozenset(name.strip(' "') for name in line.split(delimiter_of(line)))


def has_columns(*names: str, least: int) -> Callable[[str], bool]:
    """Return what says whether the first line of a file has so many of these columns, at least."""
    return lambda head: len(columns_in(head).intersection(names)) >= least


def delimiter_of(line: str) -> str:
    """Return the delimiter of a header: a tab if there is one, else a comma or a semicolon, of which there are more."""
    if "\t" in line:
        return "\t"
    # Spreadsheets write semicolons in countries with a decimal comma.
    return ";" if line.count(";") > line.count(",") else ","


def read_table(path: Path, *, is_quoted: bool = True) -> Table:
    """Open a table; its format is known by its content.

    Parameters
    ----------
    is_quoted
        Whether cells between tabs may be quoted, as Excel and pandas quote them; in released corpora they are not.

    Raises
    ------
    SourceError
        With the file, and the line if there is one, for a file that is not a table.
    """
    if is_parquet(path):
        return _parquet(path)
    head = first_line(path)
    if head.startswith("["):
        raise SourceError(ARRAY, path)
    if head.startswith("{"):
        objects = list(json_lines(path))
        return Table(path, tuple(objects[0][1]), objects)
    delimiter = delimiter_of(head)
    rows = list(delimited(path, delimiter))
    if rows and rows[0][1][0].startswith("sep="):
        # It only tells Excel the delimiter.
        del rows[0]
    if not rows:
        raise SourceError("the file is empty", path)
    if delimiter == "\t" and is_quoted:
        # Cells between tabs that have quotation marks are quoted, and others may begin with one.
        rows = [(number, [_unquoted(cell) for cell in cells]) for number, cells in rows]
    line, header = rows[0]
    names = [name.strip() for name in header]
    # Spreadsheets export empty columns without a name; there may be several.
    repeated = [name for name in names if name and names.count(name) > 1]
    if repeated:
        raise SourceError("this column appears twice", path, line, quoted(repeated[0]))
    records = [(number, by_name(names, cells, path, number)) for number, cells in rows[1:]]
    return Table(path, tuple(names), records)


def _unquoted(cell: str) -> str:
    quoted_cell = _QUOTED_CELL.fullmatch(cell)
    return quoted_cell[1].replace('""', '"') if quoted_cell else cell


def by_name(names: Sequence[str], cells: Sequence[str], path: Path, line: int) -> dict[str, str]:
    """Return the cells by column, or raise SourceError if their number differs from the header's."""
    if len(cells) != len(names):
        raise SourceError(f"{counted(len(cells), 'column')}; the header has {len(names)}", path, line)
    return dict(zip(names, cells, strict=True))


def delimited(path: Path, delimiter: str = "\t") -> Iterator[Cells]:
    """Yield (line number from 1, cells) of every line that is not blank.

    Parameters
    ----------
    delimiter
        A tab: quotation marks are ordinary characters. Another: cells may be quoted, and contain delimiters and line
        ends; spaces after a delimiter are no part of the cell.

    Raises
    ------
    SourceError
        With file and line, if it cannot be read or is not UTF-8.
    """
    is_tab = delimiter == "\t"
    # Cells may be whole documents; the limit of the csv module applies to all readers of the process.
    csv.field_size_limit(2**31 - 1)
    with decoded(path) as file:
        reader = csv.reader(
            file,
            delimiter=delimiter,
            strict=True,
            quoting=csv.QUOTE_NONE if is_tab else csv.QUOTE_MINIMAL,
            skipinitialspace=not is_tab,
        )
        try:
            for cells in reader:
                if any(map(str.strip, cells)):
                    yield reader.line_num, cells
        except csv.Error as error:
            raise SourceError(f"not a table: {error}", path, reader.line_num) from None


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number from 1, object) of every line that is not blank.

    Raises
    ------
    SourceError
        With file and line, for text that is not UTF-8, not JSON, or not an object.
    """
    with decoded(path) as file:
        for number, line in enumerate(file, 1):
            if text := line.strip(BLANK):
                row = parsed_json(text, path, number)
                if not isinstance(row, dict):
                    raise SourceError(f"must be a JSON object, is {quoted(row)}", path, number)
                yield number, row


def parsed_json(text: str, path: Path, line: int | None = None) -> Any:
    """Return what a text in JSON stands for, or raise SourceError; without a line, its own first wrong one is named."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"not JSON: {error}", path, line or getattr(error, "lineno", None)) from None


def is_parquet(path: Path) -> bool:
    """Return whether a file is a Parquet file, by its first bytes; SourceError if it cannot be read."""
    with open_file(path) as file:
        return file.read(len(PARQUET)) == PARQUET


def _parquet(path: Path) -> Table:
    """Read a Parquet file, or raise SourceError."""
    import polars

    try:
        # Pandas writes a missing number as NaN.
        frame = polars.read_parquet(path).fill_nan(None)
    # A panic of its reader is not an Exception.
    except (OSError, polars.exceptions.PolarsError, polars.exceptions.PanicException) as error:
        raise SourceError(f"not a Parquet file: {first_line_of(error)}", path) from None
    return Table(path, tuple(frame.columns), list(enumerate(frame.iter_rows(named=True), 1)))
