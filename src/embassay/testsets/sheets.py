"""The sheet on which people rate a test set, and reading the filled sheet.

A row is an original and an edit of it, in a random order: the first hundred rows are a random sample.
Ratings are 0 to 4, as for the composed sentences of Bansal et al. (2025).
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote, unquote

from embassay.core.errors import SourceError
from embassay.core.randomness import generator
from embassay.core.samples.base import Sample
from embassay.core.samples.choice import Choice
from embassay.core.samples.composition import OPERATORS, Composition
from embassay.core.samples.groups import Grouped
from embassay.core.samples.minimal_pairs import MinimalPairs
from embassay.core.samples.retrieval import Document, Question
from embassay.core.tables.rows import Row, YesNo
from embassay.testsets.sources import open_table

COLUMNS = ("corpus", "row", "item", "edit", "original", "text", "rating", "remark")
GUIDELINE = "guideline"
"""A further column, where there are guidelines: what the rating is about."""
GUIDELINES = {
    "overlap": "The text says what A and B both say, and nothing that only one of them says.",
    "difference": "The text says what A says and B does not, and nothing that B says.",
    "union": "The text says all that A and B say, nothing twice, and nothing else.",
}
"""Our wording, by operator: the guidelines of Bansal et al. (2025) are in an appendix that we do not have."""
AGREEMENT = "0 strongly disagree, 2 neutral, 4 strongly agree: "
"""The scale of Bansal et al. (2025, section 5.1)."""
LOW, HIGH = 0, 4
"""The range of a rating."""
RIGHT = {
    "composition": "4 right: the target is what the edit's name says of A and B, and good English",
    "retrieval": "4 right: the passage answers the question, and the question is clear without the passage",
}
"""The meaning of the highest rating for shapes without edits."""
SCALE = (
    "4 right: the edit is what its name says, and good English",
    "3 right, with a small flaw",
    "2 in doubt",
    "1 wrong",
    "0 not understandable",
)
PER_OPERATOR = 400
"""The maximum number of rated compositions of an operator, as in Bansal et al. (2025, section 5)."""
UNANSWERED = "(no document should answer it)"
_FORMULA = ("=", "+", "-", "@", "\t")
"""Characters at the start of a cell that make a spreadsheet evaluate it."""
_ROW = re.compile(r"(\d{1,9}) of (\d{1,9})")
_INSIDE = re.compile(r"[\s%]")
"""Characters inside an id that are escaped."""
_RATING = re.compile(r"\d(?:[.,]\d{1,6})?")


@dataclass(frozen=True)
class RatedRow:
    """An original and an edit of it, which is rated.

    Attributes
    ----------
    items
        Ids of the samples that contain it; for choices, of all samples with these two sentences.
    rating
        0 to 4; None if nobody has rated it.
    """

    items: tuple[str, ...]
    edit: str
    original: str
    text: str
    rating: float | None = None


@dataclass(frozen=True)
class Sheet:
    """The sheet of one annotator: the corpus (file@content), and the rows in the order of their numbers."""

    path: Path
    corpus: str
    rows: tuple[RatedRow, ...]

    @property
    def edits(self) -> list[tuple[tuple[str, ...], str]]:
        """What is rated, without the ratings."""
        return [(row.items, row.edit) for row in self.rows]


# --- Writing ---


def rows_of(samples: Sequence[Sample], seed: int, documents: Sequence[Document] = ()) -> tuple[RatedRow, ...]:
    """Return the rows to rate, in an order that depends on the seed.

    They are

    - for minimal pairs, each edit;
    - for choices, each pair of sentences once, whichever of them is the input;
    - for groups, each sentence, next to the others of its group;
    - for compositions, at most 400 of each operator, the target next to a and b;
    - for questions, each one, next to the first passage that answers it.
    """
    rows = list[RatedRow]()
    passages = {document.id: " ".join(document.passages) for document in documents}
    for sample in samples:
        items = (sample.id,)
        if isinstance(sample, MinimalPairs):
            rows += [RatedRow(items, name, sample.original, text) for name, text in sample.edits]
        elif isinstance(sample, Composition):
            rows.append(RatedRow(items, sample.operator, f"A: {sample.a} / B: {sample.b}", sample.target))
        elif isinstance(sample, Question):
            passage = passages.get(sample.right[0], UNANSWERED) if sample.right else UNANSWERED
            rows.append(RatedRow(items, "question", passage, sample.question))
    rows += _rows_of_choices([sample for sample in samples if isinstance(sample, Choice)])
    rows += _rows_of_groups([sample for sample in samples if isinstance(sample, Grouped)])
    # In random order, so that a rater who stops early has still rated a sample of all kinds.
    order = generator(seed, "builders", "sheet").permutation(len(rows))
    chosen, counts = list[RatedRow](), Counter[str]()
    for place in order:
        row = rows[place]
        counts[row.edit] += 1
        if row.edit not in OPERATORS or counts[row.edit] <= PER_OPERATOR:
            chosen.append(row)
    return tuple(chosen)


def _rows_of_choices(samples: Sequence[Choice]) -> list[RatedRow]:
    """Return each pair of an input and a candidate once, with the ids of all choices that contain it."""
    rows = dict[tuple[str, frozenset[str]], RatedRow]()
    for sample in samples:
        for edit in ("antonym", "polarity", "paraphrase"):
            text = getattr(sample, edit)
            # The sentences of a quadruple are inputs and candidates in turn, so a pair occurs in both directions.
            key = (edit, frozenset({sample.input, text}))
            row = rows.get(key, RatedRow((), edit, sample.input, text))
            rows[key] = replace(row, items=(*row.items, sample.id))
    return list(rows.values())


def _rows_of_groups(samples: Sequence[Grouped]) -> list[RatedRow]:
    """Return each sentence of a group, next to the others."""
    groups = defaultdict[str, list[Grouped]](list)
    for sample in samples:
        groups[sample.group].append(sample)
    rows = list[RatedRow]()
    for members in groups.values():
        for sample in members:
            others = " / ".join(other.text for other in members if other.id != sample.id)
            rows.append(RatedRow((sample.id,), "group", others, sample.text))
    return rows


def sheet_of(corpus: str, rows: Sequence[RatedRow]) -> bytes:
    """Return the sheet as CSV, with empty ratings.

    Parameters
    ----------
    corpus
        The corpus as :func:`~embassay.testsets.files.name_of` names it.
    """
    lines = list[Sequence[str]]()
    for number, row in enumerate(rows, 1):
        items = shown(" ".join(map(_escaped_id, row.items)))
        cells = (corpus, f"{number} of {len(rows)}", items, row.edit, shown(row.original), shown(row.text))
        guideline = [f"{AGREEMENT}{GUIDELINES[row.edit]}"] if row.edit in GUIDELINES else []
        # The annotator fills the last two: rating and remark.
        lines.append((*cells, *guideline, "", ""))
    # All rows of a sheet are of one shape, so they all have a guideline or none has.
    guidelines = [GUIDELINE] if rows and rows[0].edit in GUIDELINES else []
    return table_of((*COLUMNS[:-2], *guidelines, *COLUMNS[-2:]), lines)


def _escaped_id(item: str) -> str:
    """Return an id without spaces, which separate the ids in a cell; they are escaped as in URLs."""
    return _INSIDE.sub(lambda match: quote(match[0]), item)


def table_of(head: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """Return CSV in UTF-8 with a byte-order mark, so that spreadsheets recognise the encoding."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows([head, *rows])
    return text.getvalue().encode("utf-8-sig")


def shown(text: str) -> str:
    """Return a text as a cell that no spreadsheet evaluates: a formula gets an apostrophe before it."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def meant(cell: str) -> str:
    """Return the text of a cell that :func:`shown` made."""
    is_escaped = cell.startswith("'") and cell[1:].startswith(_FORMULA)
    return cell[1:] if is_escaped else cell


# --- Reading ---


class SheetRow(Row):
    """A row as an annotator has filled it."""

    corpus: str
    row: str
    item: str
    edit: str
    original: str
    text: str
    rating: str


class ConfirmedRow(Row):
    """A row to which a person may have said yes or no; an empty cell is no answer."""

    unique = False
    confirm: YesNo | None = None


def read_sheet(path: Path) -> Sheet:
    """Read a sheet that an annotator has filled, completely or in part.

    Raises
    ------
    SourceError
        With file, line and column, for a file that is no such sheet, rows of two corpora, missing or repeated rows, and
        ratings that are not from 0 to 4.
    """
    corpus, size = "", 0
    rows = dict[int, RatedRow]()
    for row in open_table(path).select(SheetRow):
        number, total = _row_number(row)
        # The first row says which corpus the sheet is for, and how many rows it has.
        if not rows:
            corpus, size = row.corpus, total
        if (row.corpus, total) != (corpus, size):
            problem = f"is {row.corpus!r}, but {corpus!r} in the rows before; a sheet must be for one corpus"
            raise row.error(problem, "corpus")
        if number in rows:
            raise row.error(f"row {number} appears twice", "row")
        escaped_ids = meant(row.item).split()
        rows[number] = RatedRow(
            items=tuple(map(unquote, escaped_ids)),
            edit=row.edit,
            original=meant(row.original),
            text=meant(row.text),
            rating=_rating(row),
        )
    # Rows may be sorted, but not deleted: the ratings of several annotators are compared row by row.
    missing = [number for number in range(1, size + 1) if number not in rows]
    if missing:
        problem = f"{len(missing):,} of its {size:,} rows are missing (the first: row {missing[0]})"
        raise SourceError(f"{problem}; a rating may be empty, but do not delete its row", path, None, "row")
    return Sheet(path, corpus, tuple(rows[number] for number in sorted(rows)))


def _row_number(row: SheetRow) -> tuple[int, int]:
    """Return the number of a row and the number of all rows."""
    cell = row.row
    match = _ROW.fullmatch(cell.strip())
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise row.error(f"must not be changed (for example '1 of 9'), is {cell[:100]!r}", "row")
    return int(match[1]), int(match[2])


def _rating(row: SheetRow) -> float | None:
    """Return the rating of a row; None for an empty cell."""
    cell = row.rating.strip()
    if not cell:
        return None
    if _RATING.fullmatch(cell):
        # Spreadsheets of many countries write a decimal comma.
        rating = float(cell.replace(",", "."))
        if LOW <= rating <= HIGH:
            return rating
    raise row.error(f"must be a number from {LOW} to {HIGH}, is {cell[:100]!r}", "rating")
