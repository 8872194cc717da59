"""Pairs of sentences with a human score: STS-b and SICK as released, or any table with both.

STS-b is tab-separated without a header, with quotation marks as ordinary characters: genre, file, year, index, score
(0-5), two sentences, and perhaps sources. Other tables (CSV, TSV, JSON lines) name their columns; if a name is not
recognised, set ``first=``, ``second=``, ``score=`` and ``subset=``. In a table without a score, a column ``label`` that
says yes or no (1 or 0, true or false) in each row is the score.
"""

from __future__ import annotations

import re
from pathlib import Path

from embassay.core.errors import first_line_of
from embassay.core.formatting import counted
from embassay.core.samples.shapes import Pair
from embassay.core.tables.records import (
    FIRST,
    SECOND,
    columns_in,
    is_parquet,
    read_table,
    recognised_pair,
)
from embassay.core.tables.rows import Key, Number, TableRow, Text, column, yes_or_no
from embassay.core.tables.texts import first_line
from embassay.core.types import Corpus
from embassay.corpora.io.headerless import headerless

SHAPE = "pairs"
PRIORITY = 20
"""Tried after the loaders of specific formats, because a table with the right columns may be anything."""
STSB = re.compile(
    r"(?P<subset>[^\t]*)\t(?:[^\t]*\t){3}(?P<score>[^\t]*\S[^\t]*)\t(?P<sentence1>[^\t]*)\t(?P<sentence2>[^\t]*)(?:\t.*)?"
)
"""A line of STS-b; its file has no header, and sources after the sentences are ignored."""


class PairRow(TableRow):
    """Two sentences; a score that is missing is no score."""

    first: Text = column(*FIRST)
    second: Text = column(*SECOND)
    score: Number | None = column("relatedness_score", "score", "similarity_score", default=None)
    subset: Key = column("SemEval_set", "subset", default="")
    id: Key = column("pair_ID", default="")
    label: object = column("label", "is_duplicate", default=None)


def recognises(head: str) -> bool:
    """Return whether the first line of a file looks like this format."""
    return _is_stsb(first_line_of(head)) or bool(recognised_pair(columns_in(head)))


def load(
    source: str, name: str, *, first: str = "", second: str = "", score: str = "", subset: str = ""
) -> Corpus[Pair]:
    """Read a table of pairs.

    Parameters
    ----------
    source
        Path of a CSV, TSV, JSON lines or Parquet file.
    first, second, score, subset
        The column names, if they are not recognised; without a column ``score`` there are no scores.

    Raises
    ------
    SourceError
        With file, line and column, for missing columns, ragged rows, empty texts and scores that are not numbers.
    """
    path = Path(source)
    if not is_parquet(path) and _is_stsb(first_line(path)):
        form = "genre, file, year, index, score and two sentences, between tabs"
        table = headerless(path, STSB, form)
    else:
        table = read_table(path)
    selection = table.select(PairRow, first=first, second=second, score=score, subset=subset)
    rows = list(selection)
    scores = [row.score for row in rows]
    notes = [selection.note]
    labels = [yes_or_no(row.label) for row in rows]
    # Labels that are not yes or no, such as three kinds of inference, are no scores.
    if "score" not in selection.names and None not in labels:
        scores = [float(bool(label)) for label in labels]
        notes.append("the label is read as a score; embassay build groups makes groups of pairs of label 1")
    elif "score" not in selection.names and "label" in selection.names:
        column_name = selection.names["label"]
        notes.append(f"{column_name} is not yes or no in each row; if it is a score: score={column_name}")
    if None in scores:
        notes.append(f"{counted(scores.count(None), 'pair')} without a score")
    samples = []
    for row, rating in zip(rows, scores, strict=True):
        samples.append(Pair(row.key, row.first, row.second, rating, row.subset))
    return Corpus(name, SHAPE, tuple(samples), notes=tuple(notes))


def _is_stsb(line: str) -> bool:
    """Return whether a line is from STS-b: a number from 0 to 5 in the fifth of at least seven columns."""
    return re.match(r"(?:[^\t]*\t){4} *[0-5](?:\.\d+)? *\t[^\t]*\t", line) is not None
