"""Reading tables, with the location of every error: tab-separated without quoting, or comma-separated with quoting.

A semicolon may take the place of the comma.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from embassay.core.errors import SourceError
from embassay.core.formatting import counted
from embassay.core.store.paths import unreadable
from embassay.core.tables.jsonl import LONGEST
from embassay.core.tables.texts import open_decoded, read_text

NumberedCells = tuple[int, list[str]]


def table_rows(path: Path, delimiter: str) -> Iterator[NumberedCells]:
    """Yield (line number from 1, cells) of every line that is not blank.

    Parameters
    ----------
    delimiter
        A tab: quotation marks are ordinary characters. A comma or a semicolon: cells may be quoted, and contain
        delimiters and line ends.

    Raises
    ------
    SourceError
        With file and line, if it cannot be read or is not UTF-8.
    """
    try:
        # Without newline="", line ends within quoted cells would be changed.
        with open_decoded(path, newline="") as file:
            if delimiter == "\t":
                reader = csv.reader(file, delimiter=delimiter, strict=True, quoting=csv.QUOTE_NONE)
            else:
                reader = csv.reader(file, delimiter=delimiter, strict=True)
            while (cells := _next(reader)) is not None:
                if any(cell.strip() for cell in cells):
                    yield reader.line_num, cells
    except UnicodeDecodeError:
        # The decoder reads blocks, so its error does not say which line is wrong; this one does.
        read_text(path)
        raise
    except csv.Error as error:
        raise SourceError(f"not a table: {error}", path, reader.line_num) from None
    except OSError as error:
        raise unreadable(error, path) from None


def _next(reader: Iterator[list[str]]) -> list[str] | None:
    """Return the next row, None at the end; cells may be longer than the csv module's global limit."""
    # The limit applies to all readers of the process, so it is put back after each row.
    before = csv.field_size_limit(2**31 - 1)
    try:
        return next(reader, None)
    finally:
        csv.field_size_limit(before)


def by_name(names: Sequence[str], cells: Sequence[str], path: Path, line: int) -> dict[str, str]:
    """Return the cells by column, or raise SourceError if their number differs from the header's."""
    if len(cells) != len(names):
        raise ragged(cells, names, path, line)
    return dict(zip(names, cells, strict=True))


def ragged(cells: Sequence[str], names: Sequence[str], path: Path, line: int) -> SourceError:
    """Return the error of a row with more or fewer cells than the header."""
    return SourceError(f"{counted(len(cells), 'column')}; the header has {len(names)}", path, line)


def first_line(head: str) -> str:
    """Return the first line of a file that is not blank."""
    return next((line for line in head.lstrip("\ufeff").splitlines() if line.strip()), "")


def delimiter_of(line: str) -> str:
    """Return the delimiter of a header: a tab if there is one, else a comma or a semicolon, of which there are more."""
    if "\t" in line:
        return "\t"
    # Spreadsheets write semicolons in countries with a decimal comma.
    if line.count(";") > line.count(","):
        return ";"
    return ","


def header(cells: Sequence[str], path: Path, line: int) -> list[str]:
    """Return the names of a header, or raise SourceError if there is none or a name is repeated."""
    names = [cell.strip() for cell in cells]
    if not names:
        raise SourceError("the file is empty", path)
    for name in names:
        # Spreadsheets export empty columns without a name; there may be several.
        if name and names.count(name) > 1:
            raise SourceError("this column appears twice", path, line, name[:LONGEST])
    return names
