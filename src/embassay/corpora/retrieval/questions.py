"""Reading a table of questions and the ids of the documents that answer them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import get_args

from embassay.corpora.io.documents import without_suffix
from embassay.corpora.io.labelling import CHOSEN_BY, DISAGREEMENT, NO_DOCUMENT, TO_LABEL, ChosenBy
from embassay.corpora.io.records import Selection, TableColumn, read_table
from embassay.corpora.io.rows import FileRow, is_blank
from embassay.corpora.retrieval.corpus import About, units, unknown_documents
from embassay.errors import SourceError, quoted
from embassay.formatting import counted
from embassay.samples.retrieval import Question

QUESTION = ("question", "query", "text")
RIGHT = (
    "document",
    "documents",
    "document_id",
    "document_ids",
    "doc_id",
    "doc",
    "right",
    "answer_document",
    "relevant",
)
WITH_IDS = f"{RIGHT[0]!r} with the ids of the right documents"
ID = ("id", "qid", "query_id", "question_id")
"""Column names that are recognised, tried in this order."""
OTHERS, UNLABELLED = "others", "unlabelled"
"""Why a row of a file of questions to label is left out."""


@dataclass
class _Question:
    """A question, the line of its first row, and the documents of all its rows."""

    text: str
    line: int | None
    right: dict[str, None] = field(default_factory=dict)


def read_questions(
    path: Path,
    documents: Mapping[str, object],
    question: str,
    document: str,
    about: About,
    chosen: ChosenBy = "random",
    unread: Mapping[str, str] = MappingProxyType({}),
) -> tuple[tuple[Question, ...], tuple[str, ...]]:
    """Return the questions of a table, with notes: the columns that they were read from, and rows that are left out.

    Rows with the same question id are one question, whose right documents are those of all rows. Half of the questions
    of a file of ``embassay plan --unlabelled`` were chosen because encoders disagree on them. They are harder than
    usual, so only the random ones are a test set, and the others are read apart.

    Parameters
    ----------
    documents
        The documents, by id.
    question, document
        The column names, if they are not recognised.
    chosen
        Which questions are read of a file whose column ``chosen_by`` tells them apart.
    unread
        Why files beside the documents are not read, by what their ids would be.

    Raises
    ------
    SourceError
        With file, line and column, for missing columns, unknown documents, and a table without questions.
    """
    table = read_table(path)
    columns = table.select(
        question=TableColumn(QUESTION, question, "of questions", "question="),
        document=TableColumn(RIGHT, document, WITH_IDS, "document="),
        id=TableColumn(ID),
        chosen_by=TableColumn((CHOSEN_BY,)),
    )
    if chosen != "random" and CHOSEN_BY not in columns.names:
        raise SourceError(f"chosen={chosen} needs the column {CHOSEN_BY!r}, which 'embassay plan' writes", path)
    if CHOSEN_BY not in columns.names and DISAGREEMENT in table.names:
        raise SourceError(
            f"the column {DISAGREEMENT!r} is from 'embassay plan --unlabelled', but {CHOSEN_BY!r} is missing; "
            "without it the questions that were chosen by disagreement pass for a random sample: restore it",
            path,
        )
    questions, left_out = _read(columns, documents, chosen, unread)
    others, unlabelled = left_out[OTHERS], left_out[UNLABELLED]
    if not questions:
        kind = f" with {CHOSEN_BY}={chosen}" if others else ""
        labelled = f" that are labelled ({unlabelled:,} have no document)" if unlabelled else ""
        raise SourceError(f"the table has no questions{kind}{labelled}", path)
    notes = [f"columns of the questions: {columns.note}"]
    if others:
        other = "random" if chosen == "disagreement" else "disagreement"
        notes.append(
            f"only the {len(questions):,} questions with {CHOSEN_BY}={chosen}, {others:,} others are left out; to "
            f"read them apart: chosen={other}"
        )
    if unlabelled:
        notes.append(
            f"{counted(unlabelled, 'question')} without a document left out, because not labelled yet; where no "
            f"document answers, write {NO_DOCUMENT!r}"
        )
    samples = list[Question]()
    for key, entry in questions.items():
        right = tuple(entry.right)
        samples.append(Question(key, entry.text, right, units=units(right, about)))
    return tuple(samples), tuple(notes)


def possible_ids(path: Path, document: str) -> set[str]:
    """Return every text in the column of right documents that may be an id: cells, and their parts.

    Parameters
    ----------
    document
        The name of the column, if it is not recognised.
    """
    columns = read_table(path).select(document=TableColumn(RIGHT, document, WITH_IDS, "document="))
    names = set[str]()
    for row in columns.rows():
        for parts in _possible(row):
            names.update(parts)
    return names | {without_suffix(name) for name in names}


def _read(
    columns: Selection, documents: Mapping[str, object], chosen: ChosenBy, unread: Mapping[str, str]
) -> tuple[dict[str, _Question], Counter[str]]:
    """Return the questions by id, and how many rows are left out for which reason."""
    questions: dict[str, _Question] = {}
    left_out = Counter[str]()
    unknown = list[tuple[int | None, str]]()
    to_label = CHOSEN_BY in columns.names
    for number, row in enumerate(columns.rows()):
        for column in ("question", "document"):
            if column not in row.values:
                raise row.error("missing", column)
        reason = _reason_to_leave_out(row, chosen) if to_label else ""
        if reason:
            left_out[reason] += 1
            continue
        text = row.text("question").strip()
        key = _key(row, number, columns)
        question = questions.setdefault(key, _Question(text, row.line))
        if question.text != text:
            problem = f"{quoted(key)} has another question on line {question.line}; one id must have one question"
            raise row.error(problem, "id")
        for name in _right(row, documents, none=NO_DOCUMENT if to_label else ""):
            document = known_id(name, documents)
            if document:
                question.right[document] = None
            else:
                unknown.append((row.line, name))
    if unknown:
        raise unknown_documents(columns.table.path, columns.names["document"], unknown, documents, unread)
    return questions, left_out


def _key(row: FileRow, number: int, columns: Selection) -> str:
    """Return the id of a question: that of its row, or its number where the table has no ids."""
    if "id" not in columns.names:
        return str(number)
    key = row.key("id").strip()
    if not key:
        raise row.error("missing; if some questions have an id, all need one", "id")
    if key.startswith(TO_LABEL) and CHOSEN_BY not in columns.names:
        problem = (
            f"{quoted(key)} is from 'embassay plan --unlabelled', but the column {CHOSEN_BY!r} is missing; without it "
            "the questions that were chosen by disagreement pass for a random sample: restore it"
        )
        raise row.error(problem, "id")
    return key


def _reason_to_leave_out(row: FileRow, chosen: ChosenBy) -> str:
    """Return why a row of a file of questions to label is no test item: it was chosen otherwise, or has no label."""
    way = str(row.values.get(CHOSEN_BY) or "").strip()
    if way not in get_args(ChosenBy):
        raise row.error(f"must be one of {', '.join(get_args(ChosenBy))}, is {quoted(way)}", CHOSEN_BY)
    if way != chosen:
        return OTHERS
    return UNLABELLED if is_blank(row.values["document"]) else ""


def _possible(row: FileRow) -> list[list[str]]:
    """Return the ways to read a cell as ids: a list, the whole text, its parts between ";", and those between spaces.

    Ids may contain spaces, so semicolons are tried first.
    """
    value = row.values.get("document")
    if is_blank(value):
        return []
    if isinstance(value, list):
        if None in value:
            raise row.error("is null, an id is needed; use an empty list for no document", "document")
        return [[row.as_key(item, "document").strip() for item in value]]
    cell = row.key("document").strip()
    by_semicolon = [part.strip() for part in cell.split(";") if part.strip()]
    by_space = [part for part in re.split(r"[;\s]+", cell) if part]
    return [[cell], by_semicolon, by_space]


def _right(row: FileRow, documents: Mapping[str, object], none: str) -> list[str]:
    """Return the ids in a list, or in a text: read in the first way that names documents.

    Parameters
    ----------
    none
        The word for no document, unless one is called so; empty for none.
    """
    ways = _possible(row)
    if len(ways) < 2:
        return ways[0] if ways else []
    cell, by_semicolon, by_space = ways
    if cell[0].lower() == none and not known_id(cell[0], documents):
        return []
    for names in (cell, by_semicolon):
        if names and all(known_id(name, documents) for name in names):
            return names
    if any(known_id(name, documents) for name in by_space):
        return by_space
    return cell


def known_id(name: str, documents: Mapping[str, object]) -> str:
    """Return the id of the document that a name means: an id, or a path with its suffix; empty if there is none."""
    if name in documents:
        return name
    # In a folder a document's id is its path without the suffix.
    stem = without_suffix(name)
    if stem in documents:
        return stem
    return ""
