"""Tables whose columns are known, without a header: lines become records of named values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from embassay.core.errors import SourceError
from embassay.core.tables.records import Table, delimited


def headerless(path: Path, names: Sequence[str], values_of: Callable[[list[str]], Sequence[str]], form: str) -> Table:
    """Return a table of the lines of a file.

    Parameters
    ----------
    values_of
        Returns the values of the named columns from the cells between tabs; another number of them for a wrong line.
    form
        What a line must be, for the message.
    """
    records = []
    for line, cells in delimited(path):
        values = values_of(cells)
        if len(values) != len(names):
            raise SourceError(f"must be {form}", path, line)
        records.append((line, dict(zip(names, values, strict=True))))
    return Table(path, tuple(names), records)
