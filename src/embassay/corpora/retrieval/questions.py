"""Reading a table of questions with the ids of the documents that answer them, the text of the answers, or both."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated
from unicodedata import normalize

from pydantic import BeforeValidator

from embassay.core.errors import SourceError, begun, quoted
from embassay.core.formatting import counted
from embassay.core.samples.answers import AnsweredQuestion, AnswerPlace
from embassay.core.samples.retrieval import Question
from embassay.core.tables.records import read_table
from embassay.core.tables.rows import Key, Row, Stripped, as_list, column
from embassay.corpora.io.documents import without_suffix
from embassay.corpora.retrieval.answers import Searched, nearest_passage
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
ANSWER = ("answer", "answers", "answer_text", "expected_answer")
NEEDED = (
    f"questions=FILE, a table (CSV, TSV, JSON lines, Parquet) with a column of questions ({', '.join(QUESTION)}) and a "
    f"column with the ids of their right documents ({', '.join(RIGHT)}) or with the text of their answers "
    f"({', '.join(ANSWER)})"
)
MOST_DOCUMENTS = 5
"""An answer for which no document is named may stand in so many; in more it says nothing of any of them."""
MOST_NAMED = 10
"""Answers that are not found and are named."""


def _texts_of(cell: object) -> list[object]:
    """Return the texts of a cell with answers: one, a list, or a record with their offsets, as SQuAD has them."""
    return as_list(cell["text"] if isinstance(cell, dict) and "text" in cell else cell)


class QuestionRow(Row):
    """A question, and the ids of its right documents, or the texts of its answers: a list, or one text.

    The text of ids may hold several.
    """

    unique = False
    question: Stripped = column(*QUESTION)
    document: Annotated[list[Key], BeforeValidator(as_list)] = column(*RIGHT, default=[])
    answer: Annotated[list[Key], BeforeValidator(_texts_of)] = column(*ANSWER, default=[])
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


def read_questions(
    path: Path,
    ids_among: Callable[[Collection[str]], Collection[str]],
    about: About,
    texts: Mapping[str, str] | None = None,
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
    columns
        The column names of question, document and answer, if they are not recognised.

    Raises
    ------
    SourceError
        With file, line and column, for missing columns, unknown documents, and a table without questions.
    """
    selection = read_table(path).select(QuestionRow, **columns)
    has_answers = texts is not None and "answer" in selection.names
    if "document" not in selection.names and not has_answers:
        raise selection.missing("document")
    rows = list(selection)
    names = {name for row in rows for reading in row.readings() for name in reading}
    ids = ids_among(names | set(map(without_suffix, names)))
    # macOS decomposes the names of files.
    composed = {normalize("NFC", key): key for key in ids}

    def id_of(name: str) -> str:
        # In a folder a document's id is its path without the suffix.
        return composed.get(normalize("NFC", name)) or composed.get(normalize("NFC", without_suffix(name)), "")

    asked: dict[str, Asked] = {}
    unknown = list[tuple[int | None, str]]()
    for row in rows:
        if "id" in selection.names and not row.id:
            raise row.error("missing; if some questions have an id, all need one", "id")
        question = asked.setdefault(row.key, Asked(row))
        if question.row.question != row.question:
            problem = (
                f"{quoted(row.key)} has another question on line {question.row.line}; one id must have one question"
            )
            raise row.error(problem, "id")
        readings = row.readings()
        # The first reading that names documents: all of them, or, between spaces, any.
        default = readings[-1] if any(map(id_of, readings[-1])) else readings[0]
        reading = next((names for names in readings if names and all(map(id_of, names))), default)
        unknown += [(row.line, name) for name in reading if not id_of(name)]
        question.right.update(dict.fromkeys(map(id_of, reading)))
        question.answers.update(dict.fromkeys(row.answer))
    if unknown:
        raise unknown_documents(path, selection.names["document"], unknown, ids)
    notes = [selection.note.replace("columns", "columns of the questions")]
    if not has_answers or texts is None:
        return tuple(question.sample(about) for question in asked.values()), notes
    samples, of_answers = located(asked.values(), {name: Searched(text) for name, text in texts.items()}, about)
    if not samples:
        # The first note is the number of answers.
        raise SourceError(f"no answer is found in the documents: {of_answers[1]}", path)
    return samples, [*notes, *of_answers]


@dataclass
class Asked:
    """A question of a table: its first row, and the documents and answers of all its rows, each once and in order."""

    row: QuestionRow
    right: dict[str, None] = field(default_factory=dict)
    answers: dict[str, None] = field(default_factory=dict)

    def sample(self, about: About) -> Question:
        """Return the question with its right documents."""
        right = tuple(self.right)
        return Question(self.row.key, self.row.question, right, units=units(right, about))


def located(
    asked: Collection[Asked], searched: Mapping[str, Searched], about: About
) -> tuple[tuple[Question, ...], list[str]]:
    """Return the questions with the places of their answers, and notes on the answers that are not found.

    An answer is located in the right documents of its question, or in all if none is named. A question whose answer is
    not found is still judged by its documents; it is left out if none is named.
    """
    samples, problems, nearly = list[Question](), list[str](), 0
    answered = [question for question in asked if question.answers]
    for question in asked:
        places, is_nearly = list[AnswerPlace](), True
        among = question.right or searched
        for name in among:
            for answer in question.answers:
                if found := searched[name].locate(answer):
                    places += [AnswerPlace(name, *span) for span in found.spans]
                    is_nearly = is_nearly and found.nearly
        documents = tuple(question.right or dict.fromkeys(place.document for place in places))
        if places and len(documents) <= max(MOST_DOCUMENTS, len(question.right)):
            nearly += is_nearly
            sample = question.sample(about)
            # A place may be that of two answers.
            once = tuple(dict.fromkeys(places))
            samples.append(
                AnsweredQuestion(
                    sample.id,
                    sample.question,
                    documents,
                    units=units(documents, about),
                    answers=tuple(question.answers),
                    places=once,
                )
            )
            continue
        if question.right or not question.answers:
            samples.append(question.sample(about))
        if question.answers:
            problems.append(_not_located(question, len(documents) if places else 0, searched))
    left_out = len(asked) - len(samples)
    amounts = f"answers: {len(answered) - len(problems):,} of {len(answered):,} located in the documents"
    if nearly:
        amounts += f", {nearly:,} of them in other letters"
    if left_out:
        amounts += f"; {counted(left_out, 'question')} without a document left out"
    more = [f"and {len(problems) - MOST_NAMED:,} more"] if len(problems) > MOST_NAMED else []
    return tuple(samples), [amounts, *problems[:MOST_NAMED], *more]


def _not_located(question: Asked, documents: int, searched: Mapping[str, Searched]) -> str:
    """Return a note on an answer without a place: where it is looked for, and what stands there instead."""
    answer = next(iter(question.answers))
    said = f"line {question.row.line}: the answer {quoted(begun(answer))}"
    if documents:
        return f"{said} stands in {documents:,} documents; name its document"
    among = {name: searched[name] for name in question.right} or searched
    where = f" in {next(iter(among))}" if len(among) == 1 else ""
    near = nearest_passage(among, answer)
    return f"{said} is not found{where}" + (f"; nearest: {near}" if near else "")
