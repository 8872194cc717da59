"""Reading a table of questions, with the ids of the documents that answer them, the texts of the answers, or both."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated
from unicodedata import normalize

from pydantic import BeforeValidator

from embassay.core.errors import SourceError, nearest, quoted
from embassay.core.samples.retrieval import Question
from embassay.core.tables.records import read_table
from embassay.core.tables.rows import Key, Stripped, TableRow, as_list, column
from embassay.corpora.io.documents import without_suffix
from embassay.corpora.retrieval.answers import RawQuestion, located
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
ANSWER = ("answer", "answers", "answer_text", "expected_answer")
NEEDED = (
    f"questions=FILE, a table (CSV, TSV, JSON lines, Parquet) with a column of questions ({', '.join(QUESTION)}) and a "
    f"column with the ids of their right documents ({', '.join(RIGHT)}), or with the texts of their answers "
    f"({', '.join(ANSWER)})"
)
GUESSED = 50_000
"""The maximum number of ids that a wrong id is compared with, for "did you mean"."""


def _texts_of(cell: object) -> list[object]:
    """Return the texts of a cell with answers: one, a list, or a record with their offsets, as SQuAD has them."""
    return as_list(cell["text"] if isinstance(cell, dict) and "text" in cell else cell)


Keys = Annotated[list[Key], BeforeValidator(as_list)]
"""Some keys, or one that stands alone."""


class QuestionRow(TableRow):
    """A question, with the ids of its right documents (a list, or one text that may hold several) or its answers."""

    unique = False
    question: Stripped = column(*QUESTION)
    document: Keys = column(*RIGHT, default=[])
    answer: Annotated[list[Key], BeforeValidator(_texts_of)] = column(*ANSWER, default=[])
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
    about: About,
    texts: Mapping[str, str] | None = None,
    why_missing: Callable[[str], str] = lambda name: "",
    **columns: str,
) -> tuple[tuple[Question, ...], list[str]]:
    """Return the questions of a table, and notes: the columns that they were read from, answers that are not found.

    Rows with the same question id are one question, whose right documents and answers are those of all rows.

    Parameters
    ----------
    ids_among
        Returns the ids of the documents, at least those among some names: there may be too many for the memory.
    texts
        The documents in which answers are located; None where only their ids are known.
    why_missing
        Returns why there is no document of a name; empty if nothing is known of it.
    columns
        The names of the columns question, document and answer, if they are not recognised.

    Raises
    ------
    SourceError
        With file, line and column, for missing columns, unknown documents, and a table without questions; if there are
        only answers, and none is found.
    """
    selection = read_table(path).select(QuestionRow, **columns)
    has_answers = texts is not None and "answer" in selection.names
    if "document" not in selection.names and not has_answers:
        raise selection.table.missing("document")
    rows = list(selection)
    names = {name for row in rows for name in (*row.document, *row.parts)}
    ids = ids_among(names | set(map(without_suffix, names)))
    # macOS decomposes the names of files.
    composed = {normalize("NFC", key): key for key in ids}

    def id_of(name: str) -> str:
        # In a folder a document's id is its path without the suffix.
        return composed.get(normalize("NFC", name)) or composed.get(normalize("NFC", without_suffix(name)), "")

    asked: dict[str, RawQuestion] = {}
    for row in rows:
        if "id" in selection.names and not row.id:
            raise row.error("missing; if some questions have an id, all need one", "id")
        question = asked.setdefault(row.key, RawQuestion(row.key, row.question, f"line {row.line}"))
        if question.text != row.question:
            problem = f"{quoted(row.key)} has another question on {question.place}; one id must have one question"
            raise row.error(problem, "id")
        # Ids may contain spaces and semicolons, so the whole cell is tried first.
        reading = row.document
        if not all(map(id_of, reading)) and any(map(id_of, row.parts)):
            reading = row.parts
        for name in reading:
            if not id_of(name):
                raise row.error(_unknown(name, ids, why_missing(name)), "document")
            question.right[id_of(name)] = None
        question.answers |= dict.fromkeys(row.answer if has_answers else ())
    samples, notes = located(asked.values(), texts or {}, partial(units, about=about))
    if not samples:
        # The first note is the number of answers.
        raise SourceError(f"no answer is found in the documents: {notes[1]}", path)
    return samples, [selection.note.replace("columns", "columns of the questions"), *notes]


def _unknown(name: str, ids: Iterable[str], why: str) -> str:
    """Return what is wrong with the name of a document that there is not; ``why`` is empty if that is not known."""
    problem = f"no document has the id {quoted(name)}"
    if why:
        return f"{problem}; {why}"
    near = nearest(name, islice(ids, GUESSED))
    return f"{problem} (did you mean {quoted(near)}?)" if near else f"{problem}; if no document answers, leave it empty"
