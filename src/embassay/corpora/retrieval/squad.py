"""SQuAD 1.1 and 2.0, and what has its form (XQuAD, TeleQuAD): find the sentence, or paragraph, that answers.

Rajpurkar et al. (2016, 2018). One JSON object: articles of paragraphs, each a context and its questions with the
answers of one or more annotators. A sentence is right where an answer begins in it. ``is_impossible`` alone decides
what is unanswerable, whatever answers stand beside it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from embassay.corpora.io.jsonl import KINDS, counted, key_field, text_field
from embassay.corpora.io.passages import sentences
from embassay.corpora.io.squad import is_squad, json_object, list_of, value_of
from embassay.corpora.retrieval.shared import Left, corpus_of
from embassay.errors import SourceError, quoted
from embassay.samples.retrieval import Document, Question
from embassay.types import Corpus

SHAPE = "retrieval"


def recognises(head: str) -> bool:
    """Say whether a file looks like this format, by its beginning."""
    return is_squad(head)


def load(
    source: str,
    name: str,
    *,
    documents: Literal["sentences", "paragraphs"] = "sentences",
    licence: str = "",
    language: str = "en",
) -> Corpus[Question]:
    """Read a file in SQuAD's form.

    Parameters
    ----------
    source
        Path of the JSON file.
    documents
        What is looked for.
    licence
        What the user says of the file.
    language
        Whose rules tell where a sentence ends.

    Raises
    ------
    SourceError
        With file and field, for what is not of this form.
    """
    path = Path(source)
    reader = _Reader(path, documents == "sentences", language)
    for number, article in enumerate(list_of(json_object(path), "data", path, "")):
        reader.article(number, article)
    if not reader.questions:
        raise SourceError("the file has no question that can be used", path)
    counts = f"{counted(reader.articles, 'article')}, {counted(reader.paragraphs, 'paragraph')}"
    notes = (counts, f"documents: {documents}", *reader.notes())
    return corpus_of(name, "squad", reader.documents, reader.questions, licence=licence, notes=notes)


@dataclass
class _Context:
    """A paragraph: its text, its documents, and where in the text each begins."""

    text: str
    ids: list[str]
    starts: list[int]
    unit: str

    def document(self, place: int) -> str:
        return self.ids[max(bisect_right(self.starts, place) - 1, 0)]


@dataclass
class _Reader:
    """Goes through a file, and keeps what it finds and what it had to assume."""

    path: Path
    sentences: bool
    language: str
    documents: list[Document] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    articles: int = 0
    paragraphs: int = 0
    ids: dict[str, str] = field(default_factory=dict)
    moved: Left = field(default_factory=Left)
    astray: Left = field(default_factory=Left)
    unanswered: Left = field(default_factory=Left)

    def article(self, number: int, article: Any) -> None:
        """Take in an article."""
        self.articles += 1
        where = f"data[{number}]"
        for index, paragraph in enumerate(list_of(article, "paragraphs", self.path, where)):
            self.paragraphs += 1
            inside = f"{where}.paragraphs[{index}]"
            context = self._context(paragraph, f"{number}-{index}", f"article:{number}", inside)
            for place, question in enumerate(list_of(paragraph, "qas", self.path, inside)):
                self._question(question, context, f"{inside}.qas[{place}]")

    def _context(self, paragraph: Any, name: str, unit: str, where: str) -> _Context:
        text = text_field(value_of(paragraph, "context", self.path, where), self.path, None, f"{where}.context")
        if not self.sentences:
            self.documents.append(Document(name, (text.strip(),)))
            return _Context(text, [name], [0], unit)
        found = sentences(text, self.language)
        ids = [f"{name}-{index}" for index in range(len(found))]
        self.documents += [Document(key, (sentence,)) for key, (_, sentence) in zip(ids, found, strict=True)]
        return _Context(text, ids, [start for start, _ in found], unit)

    def _question(self, value: Any, context: _Context, where: str) -> None:
        text = text_field(value_of(value, "question", self.path, where), self.path, None, f"{where}.question").strip()
        key = self._id(value, where)
        impossible = value.get("is_impossible", False)
        if not isinstance(impossible, bool):
            told = f"must be true or false, is {KINDS[type(impossible)]}"
            raise SourceError(told, self.path, None, f"{where}.is_impossible")
        right = () if impossible else self._right(value, context, where)
        if right or impossible:
            self.questions.append(Question(key, text, right, units=(context.unit,)))
        else:
            self.unanswered.add(where)

    def _id(self, value: Any, where: str) -> str:
        value_of(value, "id", self.path, where)
        # The place of the field is longer than its name, so it is looked up under the place.
        key = key_field({f"{where}.id": value["id"]}, f"{where}.id", "", self.path, None).strip()
        if not key:
            raise SourceError("is null; every question needs one", self.path, None, f"{where}.id")
        if key in self.ids:
            raise SourceError(f"{quoted(key)} is the id of {self.ids[key]} already", self.path, None, f"{where}.id")
        self.ids[key] = where
        return key

    def _right(self, value: Any, context: _Context, where: str) -> tuple[str, ...]:
        """Return the documents in which the annotators' answers begin, in their order in the text."""
        answers = enumerate(list_of(value, "answers", self.path, where))
        places = (self._place(answer, context.text, f"{where}.answers[{index}]") for index, answer in answers)
        return tuple(dict.fromkeys(context.document(place) for place in sorted(p for p in places if p is not None)))

    def _place(self, answer: Any, context: str, where: str) -> int | None:
        """Return where an answer's first letter stands; None where that cannot be told."""
        text, start = (value_of(answer, name, self.path, where) for name in ("text", "answer_start"))
        if not isinstance(text, str):
            raise SourceError(f"must be a text, is {KINDS[type(text)]}", self.path, None, f"{where}.text")
        if not isinstance(start, int) or isinstance(start, bool):
            told = f"must be a whole number, is {KINDS[type(start)]}"
            raise SourceError(told, self.path, None, f"{where}.answer_start")
        if not text.strip():
            self.astray.add(where)
            return None
        space = len(text) - len(text.lstrip())
        # A negative number would count from the end.
        if start >= 0 and context.startswith(text, start):
            return start + space
        first = context.find(text)
        if first < 0 or context.find(text, first + 1) >= 0:
            self.astray.add(where)
            return None
        self.moved.add(where)
        return first + space

    def notes(self) -> Iterator[str]:
        """Say what was assumed, and left out."""
        yield from self.moved.told(
            "answer is not where its offset says: taken where its text stands once",
            "answers are not where their offsets say: taken where their texts stand once",
        )
        yield from self.astray.told(
            "answer left out: empty, or neither at its offset nor once elsewhere in its context",
            "answers left out: empty, or neither at their offset nor once elsewhere in their context",
        )
        yield from self.unanswered.told(
            "question left out: no answer that can be placed", "questions left out: no answer that can be placed"
        )
