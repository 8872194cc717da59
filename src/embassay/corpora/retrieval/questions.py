"""Reading a table of questions and the ids of the documents that answer them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from embassay.corpora.io.jsonl import key_field, text_field
from embassay.corpora.io.records import Table, read_table
from embassay.corpora.retrieval.shared import Unit, guess, units
from embassay.errors import SourceError, quoted
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
ID = ("id", "qid", "query_id", "question_id")
"""Columns that are known by name, tried in this order."""


@dataclass
class _Asked:
    """A question, the line that it is first asked on, and the documents of all its rows."""

    text: str
    line: int
    right: dict[str, None] = field(default_factory=dict)


def read_questions(
    path: Path, documents: Mapping[str, object], question: str, document: str, unit: Unit
) -> tuple[tuple[Question, ...], str]:
    """Return the questions of a table, and which columns they were read from.

    Rows with the same question id are one question with the documents of them all.

    Parameters
    ----------
    documents
        What there is, by id.
    question, document
        The names of the columns, where they are not known ones.

    Raises
    ------
    SourceError
        With file, line and column, for missing columns, documents that are not there, and no questions.
    """
    table = read_table(path)
    columns = {
        "question": table.column("of questions", "question=", question, QUESTION),
        "document": table.column("of right documents", "document=", document, RIGHT),
    }
    if columns["question"] == columns["document"]:
        raise SourceError("is both the question and its documents", path, table.line, columns["question"])
    if name := table.perhaps("", [n for n in ID if n not in columns.values()]):
        columns["id"] = name
    asked = _read(table, columns, documents)
    if not asked:
        raise SourceError("the table has no questions", path)
    told = ", ".join(f"{what} {name}" for what, name in columns.items())
    found = (Question(key, a.text, tuple(a.right), units=units(a.right, unit)) for key, a in asked.items())
    return tuple(found), told


def _read(table: Table, columns: Mapping[str, str], documents: Mapping[str, object]) -> dict[str, _Asked]:
    asked: dict[str, _Asked] = {}
    for number, (line, row) in enumerate(table.rows(tuple(columns.values()))):
        for name in (columns["question"], columns["document"]):
            if name not in row:
                raise SourceError("missing", table.path, line, name)
        text = text_field(row[columns["question"]], table.path, line, columns["question"]).strip()
        key = _key(row, columns.get("id", ""), number, table.path, line)
        before = asked.setdefault(key, _Asked(text, line))
        if before.text != text:
            told = f"{quoted(key)} is another question on line {before.line}; rows with one id must ask the same"
            raise SourceError(told, table.path, line, columns.get("id"))
        before.right.update(
            dict.fromkeys(_right(row[columns["document"]], documents, table.path, line, columns["document"]))
        )
    return asked


def _key(row: Mapping[str, Any], column: str, number: int, path: Path, line: int) -> str:
    """Return a question's id; the number of its row where the table has none."""
    if not column:
        return str(number)
    if not (key := key_field(row, column, "", path, line).strip()):
        raise SourceError("missing; every question needs one where some have", path, line, column)
    return key


def _right(value: Any, documents: Mapping[str, object], path: Path, line: int, column: str) -> list[str]:
    """Return the ids of a list, or of a cell: the whole of it where that is an id, else what spaces and ; divide."""
    if isinstance(value, list):
        named = [key_field({column: one}, column, "", path, line).strip() for one in value]
        pieces = [name for name in named if name]
        if len(pieces) < len(named):
            raise SourceError("null, where an id is needed; an empty list is for no document", path, line, column)
    elif value is None or (isinstance(value, str) and not value.strip()):
        return []
    else:
        whole = key_field({column: value}, column, "", path, line).strip()
        pieces = [whole] if whole in documents else _divided(whole, documents)
    for name in pieces:
        if name not in documents:
            raise SourceError(f"no document has the id {name[:200]!r}{guess(name, documents)}", path, line, column)
    return pieces


def _divided(cell: str, documents: Mapping[str, object]) -> list[str]:
    """Return the ids of a cell that is none itself; the cell, where none of its parts is one either."""
    with_spaces = [part.strip() for part in cell.split(";") if part.strip()]
    if with_spaces and all(part in documents for part in with_spaces):
        return with_spaces
    parts = [part for part in re.split(r"[;\s]+", cell) if part]
    return parts if any(part in documents for part in parts) else [cell]
