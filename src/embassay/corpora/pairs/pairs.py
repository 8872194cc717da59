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
from pathlib import Path

from embassay.core.errors import SourceError
from embassay.core.formatting import counted
from embassay.core.samples.pairs import Pair
from embassay.core.tables.records import (
    PAIRS,
    Record,
    Selection,
    Table,
    columns_in,
    delimited,
    first_line,
    is_parquet,
    read_table,
    recognised_pair,
)
from embassay.core.tables.rows import Key, Number, Row, Text, column, says_yes_or_no
from embassay.core.tables.texts import read_head, read_text
from embassay.core.types import Corpus
from embassay.corpora.io.folders import entries

SHAPE = "pairs"
PRIORITY = 20
"""Tried after the loaders of specific formats, because a table with the right columns may be anything."""
FIRST, SECOND = zip(*PAIRS, strict=True)
LABEL = ("label", "is_duplicate")
HEAD = 65_536
"""The number of characters that the format of a table is detected from."""
INPUT = re.compile(r"STS(?:20\d\d)?\.input\.(.+)\.txt")
STSB = ("sentence1", "sentence2", "score", "genre")
"""The columns of STS tasks and of STS-b that are read; their files have no header."""


class PairRow(Row):
    """Two sentences; a score that is missing is no score."""

    first: Text = column(*FIRST)
    second: Text = column(*SECOND)
    score: Number | None = column("relatedness_score", "score", "similarity_score", default=None)
    subset: Key = column("SemEval_set", "subset", default="")
    id: Key = column("pair_ID", default="")


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
    notes = []
    if path.is_dir():
        tables = [_table_of_task(path, entry.name) for entry in entries(path) if INPUT.fullmatch(entry.name)]
        selections = [table.select(PairRow, subset="genre") for table in tables]
    elif not any((first, second, score, subset, is_parquet(path))) and _is_stsb(first_line(read_head(path, HEAD))):
        selections = [Table(path, STSB, 1, lambda _: _stsb_records(path)).select(PairRow, subset="genre")]
    else:
        selections = [_selection(read_table(path), first=first, second=second, score=score, subset=subset)]
        if selections[0].names.get("score", "").lower() in LABEL:
            notes = ["the label is read as a score; loader=groups reads pairs of label 1 as groups"]
    samples = list[Pair]()
    for selection in selections:
        for row in selection:
            samples.append(Pair(row.id or str(len(samples)), row.first, row.second, row.score, row.subset))
    without_score = sum(sample.score is None for sample in samples)
    if without_score:
        notes.append(f"{counted(without_score, 'pair')} without a score")
    all_notes = (selections[0].note, *notes)
    return Corpus(name, SHAPE, tuple(samples), notes=all_notes)


def _selection(table: Table, **given: str) -> Selection[PairRow]:
    """Return the pairs of a table with a header."""
    pair = recognised_pair(table.names)
    if pair:
        given = {**given, "first": given["first"] or pair[0], "second": given["second"] or pair[1]}
    selection = table.select(PairRow, "{}=", **given)
    label = table.column(LABEL)
    # Labels that are not yes or no, such as three kinds of inference, are no scores.
    is_score = label and all(says_yes_or_no(record.get(label)) for _, record in table.records([label]))
    if "score" in selection.names or not is_score:
        return selection
    return table.select(PairRow, "{}=", **{**given, "score": label})


def _stsb_records(path: Path) -> Iterator[Record]:
    """Yield the rows of a file in STS-b's format; sources after the sentences are ignored."""
    for line, cells in delimited(path):
        if len(cells) < 7 or not cells[4].strip():
            raise SourceError("must be genre, file, year, index, score and two sentences, between tabs", path, line)
        yield line, dict(zip(STSB, (cells[5], cells[6], cells[4], cells[0]), strict=True))


def _table_of_task(folder: Path, name: str) -> Table:
    """Return the pairs of an input of an STS task with their scores."""
    path, gold = folder / name, folder / name.replace(".input.", ".gs.")
    if not gold.is_file():
        raise SourceError(f"there is no {gold.name} with the scores of {name}", folder)
    # The last score may be empty, so only one line end is removed.
    lines, scores = (read_text(each).removesuffix("\n").split("\n") for each in (path, gold))
    if len(lines) != len(scores):
        raise SourceError(f"has {counted(len(scores), 'line')}, {name} has {len(lines):,}", gold)
    task = INPUT.sub(r"\1", name)

    def records(_: object) -> Iterator[Record]:
        for number, (line, score) in enumerate(zip(lines, scores, strict=True), 1):
            first, second, *_ = *line.split("\t"), ""
            yield number, dict(zip(STSB, (first, second, score, task), strict=True))

    return Table(path, STSB, 1, records)


def _is_stsb(line: str) -> bool:
    """Return whether a line is from STS-b: a number from 0 to 5 in the fifth of at least seven columns."""
    cells = line.split("\t")
    return len(cells) >= 7 and re.fullmatch(r"[0-5](\.\d+)?", cells[4].strip()) is not None
