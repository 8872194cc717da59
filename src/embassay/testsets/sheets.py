"""Sheets: tables of items with a column for people's decisions, written for a spreadsheet and read back.

The authors of HEROS and of SemAntoNeg checked their test sets by hand (Chiang et al. 2023, section 2.2; Vahtola et al.
2022, section 3). On the review sheet a row is a quadruple, or an original with its edits; people strike, correct and
add rows. On the sheet for rating a row is one edit, in random order, and the decision a number from 0 to 4, as for the
composed sentences of Bansal et al. (2025).
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import Field, create_model, model_validator

from embassay.core.errors import SourceError
from embassay.core.randomness import generator
from embassay.core.samples.base import Sample
from embassay.core.samples.choice import Choice
from embassay.core.samples.minimal_pairs import ALL_EDITS, MinimalPairs
from embassay.core.tables.records import read_table
from embassay.core.tables.rows import Number, Row, Text, YesNo
from embassay.testsets.base import Built
from embassay.testsets.files import Line, id_of

# --- Writing and reading a sheet ---

_FORMULA = ("=", "+", "-", "@", "\t")
"""Characters at the start of a cell that make a spreadsheet evaluate it."""


def sheet_of(columns: Sequence[str], rows: Iterable[Mapping[str, str]]) -> bytes:
    """Return a sheet as CSV in UTF-8 with a byte-order mark, so that spreadsheets recognise the encoding.

    No cell is evaluated: what looks like a formula gets an apostrophe before it. A missing cell is empty.
    """
    text = io.StringIO(newline="")
    table = csv.writer(text)
    table.writerow(columns)
    for row in rows:
        cells = [row.get(name, "") for name in columns]
        table.writerow([f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in cells])
    return text.getvalue().encode("utf-8-sig")


class SheetRow(Row):
    """A row that people filled: its cells stripped, and as they were before :func:`sheet_of`."""

    @property
    def key(self) -> str:
        """Its id; rows that people added have none."""
        return getattr(self, "id", "") or f"review-{self.line}"

    @model_validator(mode="before")
    @classmethod
    def _as_meant(cls, cells: dict[str, Any]) -> dict[str, Any]:
        return {name: _meant(str(cell).strip()) for name, cell in cells.items()}


def _meant(cell: str) -> str:
    is_escaped = cell.startswith("'") and cell[1:].startswith(_FORMULA)
    return cell[1:] if is_escaped else cell


# --- The sheet for rating ---

COLUMNS = ("corpus", "item", "edit", "original", "text", "guideline", "rating", "remark")
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
UNANSWERED = "(no document should answer it)"
CANDIDATES = ("antonym", "polarity", "paraphrase")

Key = tuple[str, str]
"""What is rated: the id of a sample, and the name of the edit."""


class Rateable(NamedTuple):
    """A text beside its original, in a sample."""

    item: str
    edit: str
    original: str
    text: str

    @property
    def key(self) -> Key:
        """Its place in the corpus."""
        return self.item, self.edit

    @property
    def pair(self) -> tuple[str, frozenset[str]]:
        """What is rated once: the sentences of a quadruple are inputs and candidates in turn."""
        return self.edit, frozenset({self.original, self.text})


def rating_sheet(corpus: str, lines: Sequence[Line], seed: int) -> bytes:
    """Return the sheet for rating, with empty ratings.

    Its rows are in an order that depends on the seed, so that who stops early has still rated a sample of all kinds.

    Parameters
    ----------
    corpus, lines
        The corpus as :func:`~embassay.testsets.files.name_of` names it, and its lines.
    """
    distinct = dict[object, Rateable]()
    for row in rateable(lines):
        distinct.setdefault(row.pair, row)
    rows = list(distinct.values())
    chosen = list[Mapping[str, str]]()
    for place in generator(seed, "builders", "sheet").permutation(len(rows)):
        row = rows[place]
        guideline = f"{AGREEMENT}{GUIDELINES[row.edit]}" if row.edit in GUIDELINES else ""
        chosen.append({"corpus": corpus, **row._asdict(), "guideline": guideline})
    return sheet_of(COLUMNS, chosen)


def rateable(lines: Sequence[Line]) -> Iterator[Rateable]:
    """Yield what is rated of each line of a corpus.

    That is, for minimal pairs, each edit; for choices, each candidate beside the input; for groups, each sentence,
    beside the others of its group; for compositions, the target, beside a and b; for questions, each one, beside the
    first passage that answers it.
    """
    passages = {line["document"]: " ".join(line["passages"]) for line in lines if "document" in line}
    members = defaultdict[str, list[str]](list)
    for line in lines:
        if "sentence" in line:
            members[line["group"]].append(line["sentence"])
    for line in lines:
        for edit, original, text in _edits(line, passages, members):
            yield Rateable(id_of(line), edit, original, text)


def _edits(
    line: Line, passages: Mapping[str, str], members: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, str, str]]:
    """Yield edit, original and text of what is rated of a line."""
    if "edits" in line:
        for edit, text in line["edits"].items():
            yield edit, line["original"], text
    elif "sentences" in line:
        for edit, text in zip(CANDIDATES, line["sentences"], strict=True):
            yield edit, line["input"], text
    elif "operator" in line:
        yield line["operator"], f"A: {line['a']} / B: {line['b']}", line["target"]
    elif "question" in line:
        yield "question", passages.get((*line["right"], "")[0], UNANSWERED), line["question"]
    elif "sentence" in line:
        others = [text for text in members[line["group"]] if text != line["sentence"]]
        yield "group", " / ".join(others), line["sentence"]


class RatingRow(SheetRow):
    """A row of the sheet for rating, as an annotator has filled it."""

    corpus: str
    item: str
    edit: str
    rating: Annotated[Number, Field(ge=LOW, le=HIGH)] | None = None

    @property
    def key(self) -> str:
        """What is rated."""
        return f"{self.item} {self.edit}"


def read_ratings(paths: Sequence[Path]) -> tuple[str, dict[Key, list[float | None]]]:
    """Return the corpus of the sheets of one or several annotators, and the ratings of each row.

    Returns
    -------
    The name of the corpus; one rating of each annotator, None for a row that one of them did not rate.

    Raises
    ------
    SourceError
        With file, line and column, for a file that is no such sheet, rows of two corpora, repeated rows, ratings that
        are not from 0 to 4, and a sheet without any rating.
    """
    corpus, ratings = "", dict[Key, list[float | None]]()
    for place, path in enumerate(paths):
        for row in read_table(path).select(RatingRow):
            corpus = corpus or row.corpus
            if row.corpus != corpus:
                raise row.error(f"is {row.corpus!r}, but {corpus!r} above; all rows must be for one corpus", "corpus")
            ratings.setdefault((row.item, row.edit), [None] * len(paths))[place] = row.rating
        if all(of_row[place] is None for of_row in ratings.values()):
            raise SourceError("no row is rated; write numbers from 0 to 4", path, None, "rating")
    return corpus, ratings


# --- The review sheet ---


class QuadrupleRow(SheetRow):
    """A row of the review sheet of negated antonyms; an empty cell under ``confirm`` is no answer."""

    pair: Text
    part_of_speech: Text
    negation: str = ""
    input: Text
    antonym: Text
    polarity: Text
    paraphrase: Text
    confirm: YesNo | None = None


_ORIGINAL: Any = {"id": (str, ""), "unit": (str, ""), "original": (Text, ...), **dict.fromkeys(ALL_EDITS, (str, ""))}
OriginalRow = create_model("OriginalRow", __base__=SheetRow, **_ORIGINAL, confirm=(YesNo | None, None))
"""A row of the review sheet of minimal pairs: an original and its edits."""
TEXTS = ("input", *CANDIDATES)
INPUTS = ((0, 1, 2, 3), (1, 0, 3, 2), (2, 3, 0, 1), (3, 2, 1, 0))
"""For each of the four sentences as the input: the positions of the input, antonym, polarity and paraphrase."""


def review_of(built: Built) -> bytes:
    """Return the review sheet: what is in the test set with yes, then doubtful quadruples with an empty cell.

    Empty for other shapes than choices and minimal pairs.
    """
    rows, model = list[dict[str, str]](), OriginalRow
    for sample in built.samples:
        if isinstance(sample, MinimalPairs):
            rows.append({"id": sample.id, "unit": sample.unit, **sample.fields(), "confirm": "yes"})
    if not rows:
        model = QuadrupleRow
        # The four choices of a quadruple follow each other.
        quadruples = [sample for sample in built.samples if isinstance(sample, Choice)][::4]
        for choices, answer in ((quadruples, "yes"), (built.doubtful, "")):
            rows += [vars(choice) | {"confirm": answer} for choice in sorted(choices, key=lambda choice: choice.pair)]
    return sheet_of(tuple(model.model_fields), rows) if rows else b""


def reviewed(built: Built, path: Path) -> Built:
    """Return a test set of the rows of a review sheet that people confirmed with yes, as they wrote them.

    Raises
    ------
    SourceError
        With file, line and column, for a file that is not such a sheet, empty texts, and cells other than yes, no or
        empty.
    """
    is_of_originals = built.shape == "minimal_pairs"
    samples = list[Sample]()
    for row in read_table(path).select(OriginalRow if is_of_originals else QuadrupleRow):
        cells = row.model_dump()
        if not cells.pop("confirm"):
            continue
        if not is_of_originals:
            samples += turned(Choice(id="", **cells), row.key)
            continue
        edits = tuple((edit, cells[edit]) for edit in ALL_EDITS if cells[edit])
        if not edits:
            raise row.error("has no edit; write no to strike the original", "confirm")
        samples.append(MinimalPairs(row.key, cells["original"], edits, cells["unit"]))
    # People may have rewritten any edit, so nothing is said of how it was made.
    return replace(built, samples=tuple(samples), ways={}, doubtful=())


def turned(choice: Choice, name: str) -> Iterator[Choice]:
    """Yield the four choices of a quadruple, each of its sentences the input in turn; their ids begin with the name."""
    texts = [getattr(choice, role) for role in TEXTS]
    for number, places in enumerate(INPUTS, 1):
        sentences = {role: texts[place] for role, place in zip(TEXTS, places, strict=True)}
        yield replace(choice, id=f"{name}-{number}", **sentences)
