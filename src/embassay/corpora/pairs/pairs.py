"""Pairs of sentences with a human score: STS12 to STS16, STS-b and SICK as released, or any table with both.

A folder of an STS task (Agirre et al. 2012-2016) has inputs ``STS.input.NAME.txt``, two sentences and perhaps their
sources on a line, and their scores ``STS.gs.NAME.txt``, which may be empty. All inputs are one corpus, each a subset.
STS-b is tab-separated without a header, with quotation marks as ordinary characters: genre, file, year, index, score
(0-5), two sentences, and perhaps sources. Other tables (CSV, TSV, JSON lines) name their columns; if a name is not
recognised, set ``first=``, ``second=``, ``score=`` and ``subset=``. In a table without a score, a column ``label`` that
says yes or no (1 or 0, true or false) in each row is the score.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from embassay.core.errors import SourceError
from embassay.core.formatting import counted
from embassay.core.samples.pairs import Pair
from embassay.core.tables.records import (
    PAIRS,
    Record,
    Table,
    columns_in,
    delimited,
    first_line,
    is_parquet,
    read_table,
    recognised_pair,
)
from embassay.core.tables.rows import Key, Number, Row, Text, column, yes_or_no
from embassay.core.tables.texts import read_head, read_text
from embassay.core.types import Corpus
from embassay.corpora.io.folders import entries

SHAPE = "pairs"
PRIORITY = 20
"""Tried after the loaders of specific formats, because a table with the right columns may be anything."""
FIRST, SECOND = zip(*PAIRS, strict=True)
HEAD = 65_536
"""The number of characters that the format of a table is detected from."""
INPUT = re.compile(r"STS(?:20\d\d)?\.input\.(.+)\.txt")
STSB = ("sentence1", "sentence2", "score", "subset")
"""The columns of STS tasks and of STS-b that are read; their files have no header."""


class PairRow(Row):
    """Two sentences; a score that is missing is no score."""

    first: Text = column(*FIRST)
    second: Text = column(*SECOND)
    score: Number | None = column("relatedness_score", "score", "similarity_score", default=None)
    subset: Key = column("SemEval_set", "subset", default="")
    id: Key = column("pair_ID", default="")
    label: object = column("label", "is_duplicate", default=None)


def recognises(head: str) -> bool:
    """Return whether the first line of a file looks like this format."""
    return _is_stsb(first_line(head)) or bool(recognised_pair(columns_in(head)))


def recognises_folder(path: Path) -> bool:
    """Return whether a folder contains an input of an STS task."""
    return any(INPUT.fullmatch(entry.name) for entry in entries(path))


def load(
    source: str, name: str, *, first: str = "", second: str = "", score: str = "", subset: str = ""
) -> Corpus[Pair]:
    """Read a table of pairs.

    Parameters
    ----------
    source
        Path of a CSV, TSV, JSON lines or Parquet file, or of the folder of an STS task.
    first, second, score, subset
        The column names, if they are not recognised; without a column ``score`` there are no scores.

    Raises
    ------
    SourceError
        With file, line and column, for missing columns, ragged rows, empty texts and scores that are not numbers.
    """
    path = Path(source)
    if path.is_dir():
        inputs = [entry for entry in entries(path) if INPUT.fullmatch(entry.name)]
        tables = [Table(entry, STSB, 1, partial(_task_records, entry)) for entry in inputs]
    elif not any((first, second, score, subset, is_parquet(path))) and _is_stsb(first_line(read_head(path, HEAD))):
        tables = [Table(path, STSB, 1, partial(_stsb_records, path))]
    else:
        tables = [read_table(path)]
    selections = [table.select(PairRow, first=first, second=second, score=score, subset=subset) for table in tables]
    rows = [row for selection in selections for row in selection]
    scores = [row.score for row in rows]
    notes = [selections[0].note]
    labels = [yes_or_no(row.label) for row in rows]
    # Labels that are not yes or no, such as three kinds of inference, are no scores.
    if "score" not in selections[0].names and None not in labels:
        scores = [float(label) if label is not None else None for label in labels]
        notes.append("the label is read as a score; loader=groups reads pairs of label 1 as groups")
    if None in scores:
        notes.append(f"{counted(scores.count(None), 'pair')} without a score")
    samples = []
    for number, (row, rating) in enumerate(zip(rows, scores, strict=True)):
        samples.append(Pair(row.id or str(number), row.first, row.second, rating, row.subset))
    return Corpus(name, SHAPE, tuple(samples), notes=tuple(notes))


def _stsb_records(path: Path, _: object) -> Iterator[Record]:
    """Yield the rows of a file in STS-b's format; sources after the sentences are ignored."""
    for line, cells in delimited(path):
        if len(cells) < 7 or not cells[4].strip():
            raise SourceError("must be genre, file, year, index, score and two sentences, between tabs", path, line)
        yield line, dict(zip(STSB, (cells[5], cells[6], cells[4], cells[0]), strict=True))


def _task_records(path: Path, _: object) -> Iterator[Record]:
    """Yield the pairs of an input of an STS task, with their scores from the file beside it."""
    gold = path.with_name(path.name.replace(".input.", ".gs."))
    # The last score may be empty, so only one line end is removed.
    lines, scores = (read_text(each).removesuffix("\n").split("\n") for each in (path, gold))
    if len(lines) != len(scores):
        raise SourceError(f"has {counted(len(scores), 'line')}, {path.name} has {len(lines):,}", gold)
    task = INPUT.sub(r"\1", path.name)
    for number, (line, score) in enumerate(zip(lines, scores, strict=True), 1):
        first, second, *_ = *line.split("\t"), ""
        yield number, dict(zip(STSB, (first, second, score, task), strict=True))


def _is_stsb(line: str) -> bool:
    """Return whether a line is from STS-b: a number from 0 to 5 in the fifth of at least seven columns."""
    cells = line.split("\t")
    return len(cells) >= 7 and re.fullmatch(r"[0-5](\.\d+)?", cells[4].strip()) is not None
