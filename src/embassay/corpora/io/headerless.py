"""Tables without a header: a pattern finds the values in a line, and names them."""

from __future__ import annotations

import re
from pathlib import Path

from embassay.core.errors import SourceError
from embassay.core.tables.records import Table, delimited


def headerless(path: Path, pattern: re.Pattern[str], form: str) -> Table:
    """Return a table of the lines of a file.

    Parameters
    ----------
    pattern
        Matches a whole line; its named groups are the columns.
    form
        What a line must be, for the message.
    """
    records = []
    for number, cells in delimited(path):
        line = pattern.fullmatch("\t".join(cells))
        if line is None:
            raise SourceError(f"must be {form}", path, number)
        records.append((number, line.groupdict()))
    return Table(path, tuple(pattern.groupindex), records)
