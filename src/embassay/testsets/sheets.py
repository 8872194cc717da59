"""Sheets: tables of items with a column for people's decisions, written for a spreadsheet and read back.

The authors of HEROS and of SemAntoNeg checked their test sets by hand (Chiang et al. 2023, section 2.2; Vahtola et al.
2022, section 3). On the review sheet a row is a quadruple, or an original with its edits; people strike, correct and
add rows. On the sheet for rating a row is one edit, in random order, and the decision a number from 0 to 4, as for the
composed sentences of Bansal et al. (2025).
"""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import create_model, model_validator

from embassay.core.errors import SourceError
from embassay.core.randomness import generator
from embassay.core.samples.base import Sample
from embassay.core.samples.choice import Choice
from embassay.core.samples.minimal_pairs import ALL_EDITS, MinimalPairs
from embassay.core.tables.rows import Number, R, Row, YesNo
from embassay.testsets.base import Built
from embassay.testsets.files import Line, id_of
from embassay.testsets.sources import open_table

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

    unique = False

    @model_validator(mode="before")
    @classmethod
    def _as_meant(cls, cells: dict[str, Any]) -> dict[str, Any]:
        return {name: _meant(str(cell).strip()) for name, cell in cells.items()}


class ConfirmedRow(SheetRow):
    """A row to which a person may have said yes or no; an empty cell is no answer."""

    confirm: YesNo | None = None


def _meant(cell: str) -> str:
    is_escaped = cell.startswith("'") and cell[1:].startswith(_FORMULA)
    return cell[1:] if is_escaped else cell


def sheet_rows(path: Path, model: type[R]) -> Iterator[R]:
    """Yield the rows of a sheet.

    Raises
    ------
    SourceError
        If it is not a table, lacks a column, or has no rows.
    """
    selection = open_table(path).select(model)
    for use in model.model_fields:
        if use not in selection.names:
            raise selection.missing(use)
    yield from selection


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
PER_OPERATOR = 400
"""The maximum number of rated compositions of an operator, as in Bansal et al. (2025, section 5)."""
UNANSWERED = "(no document should answer it)"
CANDIDATES = ("antonym", "polarity", "paraphrase")

Key = tuple[str, str]
"""What is rated: the id of the first sample that contains it, and the name of the edit."""


@dataclass
class Rateable:
    """What is rated: a text beside its original, and the ids of the samples that contain both."""

    original: str
    text: str
    items: list[str] = field(default_factory=list)


def rating_sheet(corpus: str, lines: Sequence[Line], seed: int) -> bytes:
    """Return the sheet for rating, with empty ratings.

    Its rows are in an order that depends on the seed, so that who stops early has still rated a sample of all kinds.

    Parameters
    ----------
    corpus, lines
        The corpus as :func:`~embassay.testsets.files.name_of` names it, and its lines.
    """
    rows = list(rateable(lines).items())
    chosen, counts = list[Mapping[str, str]](), Counter[str]()
    for place in generator(seed, "builders", "sheet").permutation(len(rows)):
        (item, edit), row = rows[place]
        counts[edit] += 1
        guideline = f"{AGREEMENT}{GUIDELINES[edit]}" if edit in GUIDELINES else ""
        if not guideline or counts[edit] <= PER_OPERATOR:
            cells = {"original": row.original, "text": row.text, "guideline": guideline}
            chosen.append({"corpus": corpus, "item": item, "edit": edit, **cells})
    return sheet_of(COLUMNS, chosen)


def rateable(lines: Sequence[Line]) -> dict[Key, Rateable]:
    """Return what is rated of a corpus.

    That is, for minimal pairs, each edit; for choices, each pair of sentences once, whichever of them is the input; for
    groups, each sentence, beside the others of its group; for compositions, the target, beside a and b; for questions,
    each one, beside the first passage that answers it.
    """
    passages = {line["document"]: " ".join(line["passages"]) for line in lines if "document" in line}
    members = defaultdict[str, list[str]](list)
    for line in lines:
        if "sentence" in line:
            members[line["group"]].append(line["sentence"])
    rows, pairs = dict[Key, Rateable](), dict[object, Rateable]()
    for line in lines:
        for edit, original, text in _edits(line, passages, members):
            # The sentences of a quadruple are inputs and candidates in turn, so a pair occurs in both directions.
            pair = (edit, frozenset({original, text}) if "sentences" in line else id_of(line))
            if pair not in pairs:
                pairs[pair] = rows[id_of(line), edit] = Rateable(original, text)
            pairs[pair].items.append(id_of(line))
    return rows


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
    rating: Number | None = None


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
        seen = dict[Key, float | None]()
        for row in sheet_rows(path, RatingRow):
            corpus = corpus or row.corpus
            if row.corpus != corpus:
                raise row.error(f"is {row.corpus!r}, but {corpus!r} above; all rows must be for one corpus", "corpus")
            key = (row.item, row.edit)
            if key in seen:
                raise row.error(f"{' '.join(key)!r} appears twice", "item")
            if row.rating is not None and not LOW <= row.rating <= HIGH:
                raise row.error(f"must be a number from {LOW} to {HIGH}, is {row.rating:g}", "rating")
            seen[key] = row.rating
            ratings.setdefault(key, [None] * len(paths))[place] = row.rating
        if all(rating is None for rating in seen.values()):
            raise SourceError("no row is rated; write numbers from 0 to 4", path, None, "rating")
    return corpus, ratings


# --- The review sheet ---

TEXTS = ("input", *CANDIDATES)
QUADRUPLES = ("pair", "part_of_speech", "negation", *TEXTS, "confirm")
ORIGINALS = ("id", "unit", "original", *ALL_EDITS, "confirm")
"""The columns of the two kinds of review sheet."""
OF_QUADRUPLE, OF_ORIGINAL = (
    create_model("ReviewRow", __base__=ConfirmedRow, **dict.fromkeys(columns[:-1], (str, ...)))  # type: ignore[call-overload]
    for columns in (QUADRUPLES, ORIGINALS)
)
INPUTS = ((0, 1, 2, 3), (1, 0, 3, 2), (2, 3, 0, 1), (3, 2, 1, 0))
"""For each of the four sentences as the input: the positions of the input, antonym, polarity and paraphrase."""
BY_HAND = "by hand"


def review_of(built: Built) -> bytes:
    """Return the review sheet: what is in the test set with yes, then doubtful quadruples with an empty cell.

    Empty for other shapes than choices and minimal pairs.
    """
    rows = list[Mapping[str, str]]()
    for sample in built.samples:
        if isinstance(sample, MinimalPairs):
            rows.append({"id": sample.id, "unit": sample.unit, **sample.fields(), "confirm": "yes"})
    if rows:
        return sheet_of(ORIGINALS, rows)
    # The four choices of a quadruple follow each other.
    quadruples = [sample for sample in built.samples if isinstance(sample, Choice)][::4]
    for choices, answer in ((quadruples, "yes"), (built.doubtful, "")):
        rows += [vars(choice) | {"confirm": answer} for choice in sorted(choices, key=lambda choice: choice.pair)]
    return sheet_of(QUADRUPLES, rows) if rows else b""


def reviewed(built: Built, path: Path) -> Built:
    """Return a test set of the rows of a review sheet that people confirmed with yes, as they wrote them.

    Raises
    ------
    SourceError
        With file, line and column, for a file that is not such a sheet, empty texts, and cells other than yes, no or
        empty.
    """
    of_originals = built.shape == "minimal_pairs"
    samples, ways = list[Sample](), dict(built.ways)
    made = {sample.id: sample.fields() for sample in built.samples if isinstance(sample, MinimalPairs)}
    for row in sheet_rows(path, OF_ORIGINAL if of_originals else OF_QUADRUPLE):
        if not row.confirm:
            continue
        cells, name = row.model_dump(exclude={"confirm"}), f"review-{row.line}"
        for column in ("original",) if of_originals else cells:
            if not cells[column] and column != "negation":
                raise row.error("must not be empty", column)
        if not of_originals:
            samples += turned(Choice(id="", **cells), name, first=0)
            continue
        name = cells["id"] or name
        edits = tuple((edit, cells[edit]) for edit in ALL_EDITS if cells[edit])
        if not edits:
            raise row.error("has no edit; write no to strike the original", "confirm")
        if any(sample.id == name for sample in samples):
            raise row.error(f"{name!r} appears twice; leave the id of a new row empty", "id")
        samples.append(MinimalPairs(name, cells["original"], edits, cells["unit"]))
        ways |= {(name, edit): BY_HAND for edit, text in edits if made.get(name, {}).get(edit) != text}
    return replace(built, samples=tuple(samples), ways=ways, doubtful=())


def turned(choice: Choice, name: str, first: int = 1) -> Iterator[Choice]:
    """Yield the four choices of a quadruple, each of its sentences the input in turn.

    Parameters
    ----------
    name, first
        Their ids are the name and a number, which starts at ``first``.
    """
    texts = [getattr(choice, role) for role in TEXTS]
    for number, places in enumerate(INPUTS, first):
        sentences = {role: texts[place] for role, place in zip(TEXTS, places, strict=True)}
        yield replace(choice, id=f"{name}-{number}", **sentences)
