"""The sheet on which people rate what was built, and reading it back filled.

A row is an original and an edit of it, in an order drawn by the seed: whoever reads the first hundred rows has read a
random sample. Ratings are 0 to 4, as Bansal et al. (2025) had their composed sentences rated.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from embassay.errors import SourceError
from embassay.randomness import generator
from embassay.samples.base import Sample
from embassay.samples.choice import Choice
from embassay.samples.composition import OPERATORS, Composition
from embassay.samples.groups import Grouped
from embassay.samples.minimal_pairs import MinimalPairs
from embassay.samples.retrieval import Document, Question
from embassay.testsets.sources import open_table

COLUMNS = ("corpus", "row", "item", "edit", "original", "text", "rating", "remark")
LOW, HIGH = 0, 4
"""The range of a rating."""
RIGHT = {
    "composition": "4 right: the target is what its name says of A and B, and good English",
    "retrieval": "4 right: the passage answers the question, which is clear without it",
}
"""What the highest rating means for a shape, where it is not an edit that is rated."""
SCALE = (
    "4 right: the edit is what its name says, and good English",
    "3 right, with a small flaw",
    "2 in doubt",
    "1 wrong",
    "0 not to be understood",
)
PER_OPERATOR = 400
"""Compositions of an operator that are rated, as Bansal et al. (2025, section 5) had them."""
UNANSWERED = "(no document is to answer it)"
_FORMULA = ("=", "+", "-", "@", "\t")
"""What a cell must not begin with in a spreadsheet, which would compute it."""
_ROW = re.compile(r"(\d{1,9}) of (\d{1,9})")
_INSIDE = re.compile(r"[\s%]")
_RATING = re.compile(r"\d(?:[.,]\d{1,6})?")


@dataclass(frozen=True)
class RatedRow:
    """What is rated: an edit of an original.

    Attributes
    ----------
    items
        Ids of the samples that hold it: of choices those with these two sentences.
    rating
        0 to 4; None where nobody has rated it.
    """

    items: tuple[str, ...]
    edit: str
    original: str
    text: str
    rating: float | None = None


@dataclass(frozen=True)
class Sheet:
    """A sheet of one annotator: of which corpus (file@content), and its rows in the order of their numbers."""

    path: Path
    corpus: str
    rows: tuple[RatedRow, ...]


def rows_of(samples: Sequence[Sample], seed: int, documents: Sequence[Document] = ()) -> tuple[RatedRow, ...]:
    """Return what there is to rate, in an order drawn by the seed.

    Of minimal pairs each edit; of choices each pair of sentences once, whichever of them is the input; of groups each
    sentence, beside the others of its group; of compositions at most 400 of each operator, the target beside a and b;
    of questions each, beside the passage that is to answer it.
    """
    rows = list(_rows(samples, {document.id: document for document in documents}))
    order = generator(seed, "builders", "sheet").permutation(len(rows))
    drawn, counts = list[RatedRow](), Counter[str]()
    for row in (rows[place] for place in order):
        counts[row.edit] += 1
        if row.edit not in OPERATORS or counts[row.edit] <= PER_OPERATOR:
            drawn.append(row)
    return tuple(drawn)


def sheet_of(corpus: str, rows: Sequence[RatedRow]) -> bytes:
    """Return the sheet as CSV in UTF-8, with the mark that spreadsheets know it by; ratings are left empty.

    Parameters
    ----------
    corpus
        What :func:`~embassay.testsets.files.name_of` says.
    """
    numbered = enumerate(rows, 1)
    cells = (
        (corpus, f"{n} of {len(rows)}", _joined(r.items), r.edit, shown(r.original), shown(r.text), "", "")
        for n, r in numbered
    )
    return table_of(COLUMNS, cells)


def table_of(head: Sequence[str], rows: Iterator[Sequence[str]]) -> bytes:
    """Return CSV as spreadsheets read it."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows([head, *rows])
    return text.getvalue().encode("utf-8-sig")


def read_sheet(path: Path) -> Sheet:
    """Read a sheet that an annotator filled, in full or in part.

    Raises
    ------
    SourceError
        With file, line and column, for what is no such sheet, rows of two corpora, missing or repeated rows, and
        ratings that are not from 0 to 4.
    """
    table = open_table(path)
    for name in COLUMNS[:-1]:
        if name not in table.names:
            raise SourceError(f"no such column; found {', '.join(table.names)[:200]}; is it a sheet?", path, 1, name)
    corpus, size, rows = "", 0, dict[int, RatedRow]()
    for line, row in table.rows(COLUMNS):
        number, of = _number(row["row"], path, line)
        corpus, size = corpus or row["corpus"], size or of
        if (row["corpus"], of) != (corpus, size):
            told = f"is of {row['corpus']!r}, the rows before of {corpus!r}; a sheet is of one corpus"
            raise SourceError(told, path, line, "corpus")
        if number in rows:
            raise SourceError(f"row {number} stands twice", path, line, "row")
        rows[number] = _rated(row, path, line)
    if missing := [number for number in range(1, size + 1) if number not in rows]:
        told = f"{len(missing):,} of its {size:,} rows are missing, the first is row {missing[0]}"
        raise SourceError(f"{told}; leave a rating empty, but its row where it is", path, None, "row")
    return Sheet(path, corpus, tuple(rows[number] for number in range(1, size + 1)))


def shown(text: str) -> str:
    """Return a text as a cell that no spreadsheet computes: what would be a formula gets an apostrophe before it."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def meant(cell: str) -> str:
    """Return the text of such a cell."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell


def _rows(samples: Sequence[Sample], documents: Mapping[str, Document]) -> Iterator[RatedRow]:
    choices = [sample for sample in samples if isinstance(sample, Choice)]
    grouped = [sample for sample in samples if isinstance(sample, Grouped)]
    for sample in samples:
        if isinstance(sample, MinimalPairs):
            yield from (RatedRow((sample.id,), name, sample.original, text) for name, text in sample.edits)
        elif isinstance(sample, Composition):
            yield RatedRow((sample.id,), sample.operator, f"A: {sample.a} / B: {sample.b}", sample.target)
        elif isinstance(sample, Question):
            passages = " / ".join(" ".join(documents[name].passages) for name in sample.right[:1] if name in documents)
            yield RatedRow((sample.id,), "question", passages or UNANSWERED, sample.question)
    yield from _of_choices(choices)
    yield from _of_groups(grouped)


def _of_choices(samples: Sequence[Choice]) -> Iterator[RatedRow]:
    held = dict[tuple[str, frozenset[str]], tuple[str, str, list[str]]]()
    for sample in samples:
        for edit in ("antonym", "polarity", "paraphrase"):
            text = getattr(sample, edit)
            key = (edit, frozenset({sample.input, text}))
            held.setdefault(key, (sample.input, text, []))[2].append(sample.id)
    for (edit, _), (original, text, ids) in held.items():
        yield RatedRow(tuple(ids), edit, original, text)


def _of_groups(samples: Sequence[Grouped]) -> Iterator[RatedRow]:
    groups = dict[str, list[Grouped]]()
    for sample in samples:
        groups.setdefault(sample.group, []).append(sample)
    for members in groups.values():
        for sample in members:
            others = " / ".join(other.text for other in members if other.id != sample.id)
            yield RatedRow((sample.id,), "group", others, sample.text)


def _joined(items: Sequence[str]) -> str:
    """Return ids as a cell, divided by spaces; a space or a percent sign inside one is written as in addresses."""
    return shown(" ".join(_INSIDE.sub(lambda found: quote(found[0]), item) for item in items))


def _divided(cell: str) -> tuple[str, ...]:
    return tuple(unquote(item) for item in meant(cell).split())


def _number(cell: Any, path: Path, line: int) -> tuple[int, int]:
    found = _ROW.fullmatch(str(cell).strip())
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise SourceError(f"must be as it was written, '1 of 9' for example, is {str(cell)[:100]!r}", path, line, "row")
    return int(found[1]), int(found[2])


def _rated(row: Any, path: Path, line: int) -> RatedRow:
    cell = row["rating"].strip()
    if cell and not (_RATING.fullmatch(cell) and LOW <= float(cell.replace(",", ".")) <= HIGH):
        raise SourceError(f"must be a number from {LOW} to {HIGH}, is {cell[:100]!r}", path, line, "rating")
    rating = float(cell.replace(",", ".")) if cell else None
    return RatedRow(_divided(row["item"]), row["edit"], meant(row["original"]), meant(row["text"]), rating)
