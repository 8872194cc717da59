"""Pairs of sentences with a human score: STS12 to STS16, STS-b and SICK as released, or any table with both.

A folder of an STS task (Agirre et al. 2012-2016) has inputs ``STS.input.NAME.txt``, two sentences and perhaps their
sources on a line, and their scores ``STS.gs.NAME.txt``, which may be empty. All inputs are one corpus, each a subset.
STS-b is tab-separated without a header, with quotation marks as ordinary characters: genre, file, year, index, score
(0-5), two sentences, and perhaps sources. Other tables (CSV, TSV, JSON lines) name their columns; if a name is not
recognised, set ``first=``, ``second=``, ``score=`` and ``subset=``. In a table without a score, a column ``label`` that
says yes or no (1 or 0, true or false) in each row is the score.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from embassay.core.errors import SourceError, quoted
from embassay.core.formatting import counted
from embassay.core.samples.pairs import Pair
from embassay.core.tables.records import PAIRS, FileTable, TableColumn, columns_in, read_table, recognised_pair
from embassay.core.tables.rows import FileRow, is_blank
from embassay.core.tables.tables import first_line, table_rows
from embassay.core.tables.texts import read_head, read_text
from embassay.core.types import Corpus
from embassay.corpora.io.folders import entries

SHAPE = "pairs"
PRIORITY = 20
"""Tried after the loaders of specific formats, because a table with the right columns may be anything."""
FIRST, SECOND = zip(*PAIRS, strict=True)
SCORE = ("relatedness_score", "score", "similarity_score")
SUBSET = ("SemEval_set", "subset")
LABEL = ("label", "is_duplicate")
ID = ("pair_ID",)
"""Column names that are recognised: those of SICK, and common ones."""
HEAD = 65_536
"""The number of characters that the format of a table is detected from."""
STSB = ("subset", "file", "year", "index", "score", "first", "second")
INPUT = re.compile(r"STS(?:20\d\d)?\.input\.(.+)\.txt")
STSB_COLUMNS = {"first": "sentence1", "second": "sentence2", "score": "score", "subset": "genre"}


def recognises(head: str) -> bool:
    """Return whether the first line of a file looks like this format."""
    return _is_stsb(first_line(head)) or bool(recognised_pair(columns_in(head)))


def recognises_folder(path: Path) -> bool:
    """Return whether a folder contains an input of an STS task."""
    return any(INPUT.fullmatch(entry.name) for entry in entries(path))


def load(
    source: str, name: str, *, licence: str = "", first: str = "", second: str = "", score: str = "", subset: str = ""
) -> Corpus[Pair]:
    """Read a table of pairs.

    Parameters
    ----------
    source
        Path of a CSV, TSV or JSON lines file, or of the folder of an STS task.
    licence
        The licence of the file, as the user states it.
    first, second, score, subset
        The column names, if they are not recognised; without a column ``score`` there are no scores.

    Raises
    ------
    SourceError
        With file, line and column, for missing columns, ragged rows, empty texts and scores that are not numbers.
    """
    path = Path(source)
    are_named = any((first, second, score, subset))
    names: Mapping[str, str] = STSB_COLUMNS
    if path.is_dir():
        rows = _rows_of_task(path)
    elif not are_named and _is_stsb(first_line(read_head(path, HEAD))):
        rows = _stsb_rows(path)
    else:
        table = read_table(path)
        pair = recognised_pair(table.names)
        columns = table.select(
            first=TableColumn(pair[:1] or FIRST, first, "of first sentences", "first="),
            second=TableColumn(pair[1:] or SECOND, second, "of second sentences", "second="),
            score=TableColumn((*SCORE, *_labels(table)), score),
            subset=TableColumn(SUBSET, subset),
            id=TableColumn(ID),
        )
        names, rows = columns.names, columns.rows()
    samples: dict[str, Pair] = {}
    for number, row in enumerate(rows):
        row.require(*names)
        sample = _pair(row.key("id", str(number)).strip(), row)
        if sample.id in samples:
            raise row.error(f"{quoted(sample.id)} appears twice", "id")
        samples[sample.id] = sample
    if not samples:
        raise SourceError("the table has no rows", path)
    uses = ", ".join(f"{column} as {use}" for use, column in names.items())
    notes = [f"columns: {uses}"]
    without_score = sum(sample.score is None for sample in samples.values())
    if without_score:
        notes.append(f"{counted(without_score, 'pair')} without a score")
    pairs = tuple(samples.values())
    return Corpus(name, SHAPE, pairs, licence=licence or "unknown", loader="pairs", notes=tuple(notes))


def _labels(table: FileTable) -> Iterator[str]:
    """Yield the column of labels where these are yes or no; others, such as three kinds of inference, are no scores."""
    name = table.perhaps("", LABEL)
    if name and all(row.says_yes_or_no(name) for row in table.read([name])):
        yield name


def _pair(name: str, row: FileRow) -> Pair:
    """Return the pair of a row."""
    subset = ""
    if not is_blank(row.values.get("subset")):
        subset = row.key("subset").strip()
    return Pair(name, row.text("first"), row.text("second"), _score(row), subset)


def _score(row: FileRow) -> float | None:
    """Return a score; None for an empty cell."""
    value: Any = row.values.get("score")
    if is_blank(value):
        return None
    if row.says_yes_or_no("score"):
        return float(row.is_yes("score"))
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    # float() accepts true, "nan" and "inf", which are no scores.
    if not math.isfinite(number) or isinstance(value, bool):
        raise row.error(f"must be a number such as 4.5, is {quoted(value)}", "score")
    return number


def _stsb_rows(path: Path) -> Iterator[FileRow]:
    """Yield the rows of a file in STS-b's format."""
    for line, cells in table_rows(path, "\t"):
        if len(cells) < len(STSB):
            raise SourceError(f"{counted(len(cells), 'column')}; STS-b has at least {len(STSB)}", path, line)
        # Sources after the sentences are ignored.
        row = FileRow(dict(zip(STSB, cells, strict=False)), path, line, names=STSB_COLUMNS)
        row.filled("score")
        yield row


def _rows_of_task(folder: Path) -> Iterator[FileRow]:
    """Yield the rows of the inputs in a folder, with their scores."""
    for name in sorted(entry.name for entry in entries(folder)):
        task = INPUT.fullmatch(name)
        if task is None:
            continue
        path, gold = folder / name, folder / name.replace(".input.", ".gs.")
        if not gold.is_file():
            raise SourceError(f"there is no {gold.name} with the scores of {name}", folder)
        # The last score may be empty, so only one line end is removed.
        lines, scores = (read_text(each).removesuffix("\n").split("\n") for each in (path, gold))
        if len(lines) != len(scores):
            raise SourceError(f"has {counted(len(scores), 'line')}, {name} has {len(lines):,}", gold)
        for number, (line, score) in enumerate(zip(lines, scores, strict=True), 1):
            first, second, *_ = *line.split("\t"), ""
            values = {"first": first, "second": second, "score": score, "subset": task[1]}
            yield FileRow(values, path, number, names=STSB_COLUMNS)


def _is_stsb(line: str) -> bool:
    """Return whether a line is from STS-b: a number from 0 to 5 in the fifth of at least seven columns."""
    cells = line.split("\t")
    if len(cells) < len(STSB):
        return False
    try:
        return 0 <= float(cells[STSB.index("score")]) <= 5
    except ValueError:
        return False
