"""Built sets of questions and documents, or your own: JSON lines document, passages, then id, question, right.

A document may have a unit, and the places of its passages where they overlap; a question may have gains, a unit or a
list of them, a split (train or test), an answer and a source.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from embassay.core.errors import SourceError, listed
from embassay.core.formatting import counted
from embassay.core.samples.retrieval import AnsweredQuestion, AnswerPlace, Document, Question
from embassay.core.tables.records import has_columns, json_lines
from embassay.core.tables.rows import Key, TableRow, Text, checked
from embassay.core.types import Corpus
from embassay.corpora.retrieval.corpus import corpus_of, sound
from embassay.corpora.retrieval.questions import Keys

SHAPE = "retrieval"
recognises = has_columns("document", "passages", least=2)
Split = Literal["all", "train", "test"]


class DocumentLine(TableRow):
    """A document."""

    document: Key
    passages: Annotated[tuple[Text, ...], Field(min_length=1)]
    unit: Key = ""
    spans: tuple[tuple[int, int], ...] = ()


class QuestionLine(TableRow):
    """A question. Other fields, such as an answer without its place, are only for people to read."""

    question: Text
    right: list[Key]
    id: Key = ""
    gains: tuple[Annotated[int, Field(strict=True, ge=1)], ...] = ()
    unit: Keys | None = None
    split: Literal["train", "test", ""] = ""
    source: Text = ""
    answers: tuple[Text, ...] = ()
    places: tuple[AnswerPlace, ...] = ()


def load(source: str, name: str, *, split: Split = "all") -> Corpus[Question]:
    """Read a file of documents and questions.

    Parameters
    ----------
    source
        Path of the JSON lines file.
    split
        The questions to use. All documents are kept, so that the search is always among all of them.

    Raises
    ------
    SourceError
        With file, line and field, for a line that is neither, and for questions with unknown documents.
    """
    path = Path(source)
    documents, lines = [], []
    for number, values in json_lines(path):
        # A line with a question is a question, any other a document.
        if "question" in values:
            lines.append(checked(QuestionLine, values, path, number, number=number - 1))
        else:
            documents.append(checked(DocumentLine, values, path, number))
    if not documents or not lines:
        raise SourceError(f"the file has no {'questions' if documents else 'documents'}", path)
    splits = Counter(line.split for line in lines)
    chosen = [line for line in lines if split in ("all", line.split)]
    if not chosen:
        raise SourceError(f"no question has the split {split!r}; found {listed(splits)}", path)
    unit_of = {row.document: row.unit or f"document:{row.document}" for row in documents}
    questions = []
    for line in chosen:
        units = line.unit
        if units is None:
            # Without units, those of its right documents, each once.
            units = list(dict.fromkeys(unit_of.get(key, key) for key in line.right))
        question = Question(line.key, line.question, tuple(line.right), line.gains, tuple(units))
        if line.places:
            question = AnsweredQuestion(**vars(question), answers=line.answers, places=line.places)
        questions.append(question)
    notes = [f"split {name}: {counted(number, 'question')}" for name, number in sorted(splits.items()) if name]
    # Each source once, in order.
    sources = ", ".join(dict.fromkeys(line.source for line in chosen if line.source))
    all_documents = [Document(row.document, row.passages, row.spans) for row in documents]
    corpus = corpus_of(name, all_documents, questions, notes=notes, source=sources)
    return sound(corpus, path)
