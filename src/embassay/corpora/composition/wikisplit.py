"""WikiSplit: a sentence, a tab, and the two sentences it was split into, joined by `` <::::> ``.

Botha et al. (2018), "Learning To Split and Rephrase From Wikipedia Edit History". Read in reverse it gives unions:
the whole sentence says what the two parts say together.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from embassay.core.errors import SourceError
from embassay.core.formatting import counted
from embassay.core.samples.composition import Composition
from embassay.core.tables.rows import FileRow
from embassay.core.tables.tables import first_line, table_rows
from embassay.core.types import Corpus
from embassay.corpora.composition.reading import corpus_of

SHAPE = "composition"
MARK = "<::::>"
NAMES = {"first": "split", "second": "split"}
"""The column in which each of the two sentences is."""


def recognises(head: str) -> bool:
    """Return whether the first line of a file looks like this format."""
    line = first_line(head)
    return line.count("\t") == 1 and MARK in line


def load(source: str, name: str, *, licence: str = "") -> Corpus[Composition]:
    """Read a file in WikiSplit's format.

    Parameters
    ----------
    source
        Path of the tab-separated file.
    licence
        The licence of the file, as the user states it.

    Raises
    ------
    SourceError
        With file and line, for a line that is not a valid split.
    """
    path = Path(source)
    return corpus_of(path, name, "wikisplit", _rows(path), _samples, "splits", licence)


def _rows(path: Path) -> Iterator[tuple[str, FileRow]]:
    """Yield (number, row) of each line."""
    for line, cells in table_rows(path, "\t"):
        if len(cells) != 2:
            raise SourceError(f"{counted(len(cells), 'column')}; expected 2", path, line)
        sentence, split = cells
        parts = split.split(MARK)
        if len(parts) != 2:
            raise SourceError(f"{counted(len(parts), 'sentence')} around {MARK}; expected 2", path, line)
        first, second = parts
        row = FileRow({"sentence": sentence, "first": first, "second": second}, path, line, names=NAMES)
        yield row.number, row


def _samples(key: str, row: FileRow) -> list[Composition]:
    """Return the sample of a row."""
    return [Composition(key, "union", row.filled("first"), row.filled("second"), row.filled("sentence"))]
