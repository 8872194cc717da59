"""Reading a table of questions and the ids of the documents that answer them."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated
from unicodedata import normalize

from pydantic import BeforeValidator

from embassay.core.errors import quoted
from embassay.core.samples.retrieval import Question
from embassay.core.tables.records import read_table
from embassay.core.tables.rows import Key, Row, Stripped, as_list, column
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
NEEDED = (
    f"questions=FILE, a table (CSV, TSV, JSON lines, Parquet) with a column of questions ({', '.join(QUESTION)}) and a "
    f"column with the ids of their right documents ({', '.join(RIGHT)})"
)


class QuestionRow(Row):
    """A question and the ids of its right documents: a list, or one text that may hold several."""

    unique = False
    question: Stripped = column(*QUESTION)
    document: Annotated[list[Key], BeforeValidator(as_list)] = column(*RIGHT)
    id: Key = column("id", "qid", "query_id", "question_id", default="")

    def readings(self) -> list[list[str]]:
        """Return the ways to read the cell: as it is, its parts between ``;``, and those between spaces.

        Ids may contain spaces, so semicolons are tried first.
        """
        cell = self.document
        if len(cell) != 1:
            return [cell]
        by_semicolon = [part.strip() for part in cell[0].split(";") if part.strip()]
        return [cell, by_semicolon, [part for part in re.split(r"[;\s]+", cell[0]) if part]]


@dataclass(frozen=True)
class KnownIds:
    """The ids of documents; one may be written with its suffix, and composed or decomposed (NFC, NFD)."""

    ids: Collection[str]

    def of(self, name: str) -> str:
        """Return the id of the document that a name means; empty if there is none."""
        # In a folder a document's id is its path without the suffix.
        for candidate in (name, without_suffix(name)):
            if candidate in self.ids:
                return candidate
        # macOS decomposes the names of files.
        return "" if name.isascii() else self._composed.get(normalize("NFC", without_suffix(name)), "")

    @cached_property
    def _composed(self) -> dict[str, str]:
        return {normalize("NFC", key): key for key in self.ids if not key.isascii()}


def possible_ids(path: Path, document: str) -> set[str]:
    """Return every text in the column of right documents that may be an id: cells, and their parts.

    Parameters
    ----------
    document
        The name of the column, if it is not recognised.
    """
    rows = read_table(path).select(QuestionRow, "{}=", document=document)
    names = {name for row in rows for reading in row.readings() for name in reading}
    return names | {without_suffix(name) for name in names}


def read_questions(
    path: Path,
    documents: Collection[str],
    question: str,
    document: str,
    about: About,
) -> tuple[tuple[Question, ...], str]:
    """Return the questions of a table, and a note of the columns that they were read from.

    Rows with the same question id are one question, whose right documents are those of all rows.

    Parameters
    ----------
    documents
        The ids of the documents.
    question, document
        The column names, if they are not recognised.

    Raises
    ------
    SourceError
        With file, line and column, for missing columns, unknown documents, and a table without questions.
    """
    selection = read_table(path).select(QuestionRow, "{}=", question=question, document=document)
    known = KnownIds(documents)
    first_rows: dict[str, QuestionRow] = {}
    right: dict[str, dict[str, None]] = {}
    unknown = list[tuple[int | None, str]]()
    for row in selection:
        if "id" in selection.names and not row.id:
            raise row.error("missing; if some questions have an id, all need one", "id")
        first = first_rows.setdefault(row.key, row)
        if first.question != row.question:
            problem = f"{quoted(row.key)} has another question on line {first.line}; one id must have one question"
            raise row.error(problem, "id")
        names = _right(row, known)
        unknown += [(row.line, name) for name in names if not known.of(name)]
        right.setdefault(row.key, {}).update(dict.fromkeys(map(known.of, names)))
    if unknown:
        raise unknown_documents(path, selection.names["document"], unknown, documents)
    samples = [
        Question(key, first_rows[key].question, tuple(ids), units=units(ids, about)) for key, ids in right.items()
    ]
    return tuple(samples), selection.note.replace("columns", "columns of the questions")


def _right(row: QuestionRow, known: KnownIds) -> list[str]:
    """Return the ids in a cell, in the first reading that names documents: all of them, or, between spaces, any."""
    readings = row.readings()
    for reading in readings:
        if reading and all(map(known.of, reading)):
            return reading
    return readings[-1] if any(map(known.of, readings[-1])) else readings[0]
