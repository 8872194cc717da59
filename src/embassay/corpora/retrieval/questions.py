"""Reading a table of questions and the ids of the documents that answer them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import islice
from pathlib import Path
from typing import Annotated
from unicodedata import normalize

from pydantic import BeforeValidator

from embassay.core.errors import nearest, quoted
from embassay.core.samples.retrieval import Question
from embassay.core.tables.records import read_table
from embassay.core.tables.rows import Key, Row, Stripped, as_list, column
from embassay.corpora.io.documents import without_suffix
from embassay.corpora.retrieval.corpus import About, units

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
GUESSED = 50_000
"""The maximum number of ids that a wrong id is compared with, for "did you mean"."""


class QuestionRow(Row):
    """A question and the ids of its right documents: a list, or one text that may hold several."""

    unique = False
    question: Stripped = column(*QUESTION)
    document: Annotated[list[Key], BeforeValidator(as_list)] = column(*RIGHT)
    id: Key = column("id", "qid", "query_id", "question_id", default="")

    @property
    def parts(self) -> list[str]:
        """The ids in the cell if it is not one id as a whole: between semicolons, or else between spaces."""
        if len(self.document) != 1:
            return self.document
        cell = self.document[0]
        parts = cell.split(";") if ";" in cell else cell.split()
        return [part.strip() for part in parts if part.strip()]


def read_questions(
    path: Path,
    ids_among: Callable[[Collection[str]], Collection[str]],
    question: str,
    document: str,
    about: About,
) -> tuple[tuple[Question, ...], str]:
    """Return the questions of a table, and a note of the columns that they were read from.

    Rows with the same question id are one question, whose right documents are those of all rows.

    Parameters
    ----------
    ids_among
        Returns the ids of the documents, at least those among some names: there may be too many for the memory.
    question, document
        The column names, if they are not recognised.

    Raises
    ------
    SourceError
        With file, line and column, for missing columns, unknown documents, and a table without questions.
    """
    selection = read_table(path).select(QuestionRow, question=question, document=document)
    rows = list(selection)
    names = {name for row in rows for name in (*row.document, *row.parts)}
    ids = ids_among(names | set(map(without_suffix, names)))
    # macOS decomposes the names of files.
    composed = {normalize("NFC", key): key for key in ids}

    def id_of(name: str) -> str:
        # In a folder a document's id is its path without the suffix.
        return composed.get(normalize("NFC", name)) or composed.get(normalize("NFC", without_suffix(name)), "")

    first_rows: dict[str, QuestionRow] = {}
    right: dict[str, dict[str, None]] = {}
    for row in rows:
        if "id" in selection.names and not row.id:
            raise row.error("missing; if some questions have an id, all need one", "id")
        first = first_rows.setdefault(row.key, row)
        if first.question != row.question:
            problem = f"{quoted(row.key)} has another question on line {first.line}; one id must have one question"
            raise row.error(problem, "id")
        # Ids may contain spaces and semicolons, so the whole cell is tried first.
        reading = row.document
        if not all(map(id_of, reading)) and any(map(id_of, row.parts)):
            reading = row.parts
        for name in reading:
            if not id_of(name):
                near = nearest(name, islice(ids, GUESSED))
                hint = f" (did you mean {quoted(near)}?)" if near else "; leave the cell empty if no document answers"
                raise row.error(f"no document has the id {quoted(name)}{hint}", "document")
        right.setdefault(row.key, {}).update(dict.fromkeys(map(id_of, reading)))
    samples = [
        Question(key, first_rows[key].question, tuple(keys), units=units(keys, about)) for key, keys in right.items()
    ]
    return tuple(samples), selection.note.replace("columns", "columns of the questions")
