"""The sheet for rating: what a test set claims, one row each, with a column that people fill with ratings of 0 to 4.

The authors of HEROS, SemAntoNeg and of the paper on groups read their test sets by hand (Chiang et al. 2023, section
2.2; Vahtola et al. 2022, section 3; White et al. 2015, section 4.2); the scale is that of Bansal et al. (2025, section
5.1). A test set comes in as the lines of its file, and filled sheets go out as ratings by row.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import Field

from embassay.core.errors import SourceError
from embassay.core.randomness import generator
from embassay.core.tables.records import read_table
from embassay.core.tables.rows import Number, TableRow, Whole
from embassay.testsets.files import Line, id_of

LOW, HIGH = 0, 4
"""The range of a rating."""
SCALE = "0 strongly disagree, 2 neutral, 4 strongly agree: "
GUIDELINES = {
    "overlap": "The text says what A and B both say, and nothing that only one of them says.",
    "difference": "The text says what A says and B does not, and nothing that B says.",
    "union": "The text says all that A and B say, nothing twice, and nothing else.",
    "quadruple": "The antonym and the polarity contradict the original, the paraphrase means the same.",
    "question": "The original answers the question, and the question is clear without the original.",
    # The guidelines of White et al. (2015, section 4.2).
    "group": (
        "The text and the others of its group entail each other. (1) Ignore tense, transitional phrases, and discourse "
        "and pragmatic markers. (2) Distinguish how strong a statement is only coarsely. (3) Nearly equal quantities "
        "and qualities are the same. (4) A sentence that names what it is about, and one that only implies it, are in "
        "different groups. (5) So are a sentence with further information and one without it."
    ),
}
"""What annotators agree with, by edit. Those of operators are our wording: the paper's are in an appendix that we do
not have."""
OF_EDITS = "The text is what the name of the edit says of the original, in good English."
UNANSWERED = "(no document should answer it)"
FORMULA = ("=", "+", "-", "@", "\t")
"""Characters at the start of a cell that make a spreadsheet evaluate it."""


class Rateable(NamedTuple):
    """A text beside its original; its item and the name of its edit identify it."""

    item: str
    edit: str
    original: str
    text: str


def item_of(line: Line) -> str:
    """Return the id of the sample of a line; for a choice that of its quadruple: ``1`` for ``1-1`` to ``1-4``."""
    return id_of(line).rpartition("-")[0] if "sentences" in line else id_of(line)


def rateable(lines: Sequence[Line]) -> list[Rateable]:
    """Return what is rated of a test set, in the order of its lines.

    That is, for minimal pairs, each edit; for choices, each quadruple; for groups, each sentence, beside the others of
    its group; for compositions, the target, beside a and b; for questions, each one, beside the first passage that
    answers it.
    """
    passages = {line["document"]: " ".join(line["passages"]) for line in lines if "document" in line}
    members = defaultdict[str, list[str]](list)
    for line in lines:
        if "sentence" in line:
            members[line["group"]].append(line["sentence"])
    rows = list[Rateable]()
    for line in lines:
        item = item_of(line)
        if "edits" in line:
            rows += [Rateable(item, edit, line["original"], text) for edit, text in line["edits"].items()]
        elif "sentences" in line:
            # The other three choices of a quadruple have the same sentences.
            if not rows or rows[-1].item != item:
                antonym, polarity, paraphrase = line["sentences"]
                candidates = f"antonym: {antonym} / polarity: {polarity} / paraphrase: {paraphrase}"
                rows.append(Rateable(item, "quadruple", line["input"], candidates))
        elif "operator" in line:
            rows.append(Rateable(item, line["operator"], f"A: {line['a']} / B: {line['b']}", line["target"]))
        elif "question" in line:
            answer = passages[line["right"][0]] if line["right"] else UNANSWERED
            rows.append(Rateable(item, "question", answer, line["question"]))
        elif "sentence" in line:
            others = [text for text in members[line["group"]] if text != line["sentence"]]
            rows.append(Rateable(item, "group", " / ".join(others), line["sentence"]))
    return rows


def rating_sheet(corpus: str, lines: Sequence[Line], seed: int) -> bytes:
    """Return the sheet for rating, with empty ratings, as CSV that spreadsheets recognise as UTF-8.

    Its rows are in an order that depends on the seed, so that who stops early has still rated a sample of all kinds.

    Parameters
    ----------
    corpus, lines
        The corpus as :func:`~embassay.testsets.files.name_of` names it, and its lines.
    """
    file = io.StringIO(newline="")
    table = csv.writer(file)
    table.writerow(("corpus", "row", *Rateable._fields, "guideline", "rating", "remark"))
    rows = rateable(lines)
    for place in generator(seed, "builders", "sheet").permutation(len(rows)).tolist():
        # An apostrophe keeps a spreadsheet from reading a text as a formula.
        cells = [f"'{cell}" if cell.startswith(FORMULA) else cell for cell in rows[place]]
        guideline = SCALE + GUIDELINES.get(rows[place].edit, OF_EDITS)
        table.writerow((corpus, place, *cells, guideline, "", ""))
    return file.getvalue().encode("utf-8-sig")


class RatingRow(TableRow):
    """A row of the sheet, as an annotator has filled it; ``row`` is its place in :func:`rateable`."""

    corpus: str
    row: Whole
    rating: Annotated[Number, Field(ge=LOW, le=HIGH)] | None = None

    @property
    def key(self) -> str:
        """What is rated."""
        return str(self.row)


def read_sheet(path: Path) -> tuple[RatingRow, ...]:
    """Return the rows of a filled sheet.

    Raises
    ------
    SourceError
        With file, line and column, for a file that is no such sheet, repeated rows, ratings that are not from 0 to 4,
        and a sheet without any rating.
    """
    rows = tuple(read_table(path).select(RatingRow))
    if all(row.rating is None for row in rows):
        raise SourceError("no row is rated; write numbers from 0 to 4", path, None, "rating")
    return rows
