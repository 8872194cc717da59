"""Reading a table of questions and the ids of the documents that answer them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from embassay.core.errors import SourceError, quoted
from embassay.core.samples.retrieval import Question
from embassay.core.tables.records import Selection, TableColumn, read_table
from embassay.core.tables.rows import FileRow, is_blank
from embassay.corpora.io.documents import without_suffix
from embassay.corpora.retrieval.corpus import About, units, unknown_documents

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
    unread: Mapping[str, str] = MappingProxyType({}),
) -> tuple[tuple[Question, ...], str]:
    """Return the questions of a table, and a note of the columns that they were read from.

    Rows with the same question id are one question, whose right documents are those of all rows.

    Parameters
    ----------
    documents
        The documents, by id.
    question, document
        The column names, if they are not recognised.
    unread
        Why files beside the documents are not read, by what their ids would be.

    Raises
    ------
    SourceError
        With file, line and column, for missing columns, unknown documents, and a table without questions.
    """
    columns = read_table(path).select(
        question=TableColumn(QUESTION, question, "of questions", "question="),
        document=TableColumn(RIGHT, document, WITH_IDS, "document="),
        id=TableColumn(ID),
    )
    questions = _read(columns, documents, unread)
    if not questions:
        raise SourceError("the table has no questions", path)
    samples = list[Question]()
    for key, entry in questions.items():
        right = tuple(entry.right)
        samples.append(Question(key, entry.text, right, units=units(right, about)))
    return tuple(samples), f"columns of the questions: {columns.note}"


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


def _read(columns: Selection, documents: Mapping[str, object], unread: Mapping[str, str]) -> dict[str, _Question]:
    """Return the questions by id."""
    questions: dict[str, _Question] = {}
    unknown = list[tuple[int | None, str]]()
    for number, row in enumerate(columns.rows()):
        for column in ("question", "document"):
            if column not in row.values:
                raise row.error("missing", column)
        text = row.text("question").strip()
        key = _key(row, number, columns)
        question = questions.setdefault(key, _Question(text, row.line))
        if question.text != text:
            problem = f"{quoted(key)} has another question on line {question.line}; one id must have one question"
            raise row.error(problem, "id")
        for name in _right(row, documents):
            document = known_id(name, documents)
            if document:
                question.right[document] = None
            else:
                unknown.append((row.line, name))
    if unknown:
        raise unknown_documents(columns.table.path, columns.names["document"], unknown, documents, unread)
    return questions


def _key(row: FileRow, number: int, columns: Selection) -> str:
    """Return the id of a question: that of its row, or its number where the table has no ids."""
    if "id" not in columns.names:
        return str(number)
    key = row.key("id").strip()
    if not key:
        raise row.error("missing; if some questions have an id, all need one", "id")
    return key


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


def _right(row: FileRow, documents: Mapping[str, object]) -> list[str]:
    """Return the ids in a list, or in a text: read in the first way that names documents."""
    ways = _possible(row)
    if len(ways) < 2:
        return ways[0] if ways else []
    cell, by_semicolon, by_space = ways
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
