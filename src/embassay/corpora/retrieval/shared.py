"""Code that the retrieval loaders share: judgements, units, and notes on how the files were read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal

from embassay.corpora.io.folders import entries
from embassay.corpora.io.passages import Cut, shared_words
from embassay.errors import SourceError, nearest, quoted
from embassay.formatting import counted
from embassay.samples.retrieval import Document, Question, StoredDocuments
from embassay.types import Corpus

SHAPE = "retrieval"
Unit = Literal["document", "question"]
"""The unit of independence: questions with a common right document (``document``), or each question."""
JUDGED = "each question is a unit, as many share right documents; unit=document merges those that do"
Judgement = tuple[int, str, str, int]
"""Line, query, document and grade."""
GUESSED = 50_000
"""The maximum number of ids that a wrong id is compared with, for "did you mean"."""
SHOWN = 10
"""The maximum number of wrong ids that a message lists."""
_WHOLE = re.compile(r"[+-]?[0-9]{1,9}")


@dataclass
class Omitted:
    """The number of things that were left out, and the location of the first."""

    count: int = 0
    first: str = ""

    def add(self, place: str) -> None:
        """Count one."""
        self.first = self.first or place
        self.count += 1

    def notes(self, one: str, many: str) -> tuple[str, ...]:
        """Return a note, in the singular or plural; nothing if nothing was left out."""
        if self.count == 0:
            return ()
        return (f"{counted(self.count, one, many)} (the first: {self.first})",)


@dataclass
class Judgements:
    """Which documents are right for which query, read line by line.

    Attributes
    ----------
    gains
        The grade of each right document, by query.
    zero, repeated
        The numbers of judgements with a grade of 0 or less, and of repeated judgements.
    no_query, no_document
        Judgements whose query or document is missing.
    lost
        Queries with a right document that is missing.
    """

    path: Path
    queries: Mapping[str, str]
    documents: Mapping[str, object]
    gains: dict[str, dict[str, int]] = field(default_factory=dict)
    zero: int = 0
    repeated: int = 0
    no_query: Omitted = field(default_factory=Omitted)
    no_document: Omitted = field(default_factory=Omitted)
    lost: set[str] = field(default_factory=set)

    def read(self, rows: Iterable[Judgement]) -> None:
        """Add the judgements of a file."""
        for line, query, document, grade in rows:
            self.add(line, query, document, grade)

    def add(self, line: int, query: str, document: str, grade: int) -> None:
        """Add a judgement. The document is right if the grade is above 0; the query and the document must exist."""
        if grade <= 0:
            self.zero += 1
        elif query not in self.queries:
            self.no_query.add(f"{quoted(query)} on line {line} of {self.path.name}")
        elif document not in self.documents:
            self.no_document.add(f"{quoted(document)} on line {line} of {self.path.name}")
            self.lost.add(query)
        else:
            right = self.gains.setdefault(query, {})
            if document in right:
                self.repeated += 1
            right[document] = max(grade, right.get(document, 0))

    def questions(self, unit: Unit) -> tuple[Question, ...]:
        """Return the queries that have a right document, in their order.

        Raises
        ------
        SourceError
            If there is none.
        """
        questions = list[Question]()
        for query, text in self.queries.items():
            gains = self.gains.get(query)
            if gains:
                right = tuple(gains)
                questions.append(Question(query, text, right, tuple(gains.values()), units(right, unit)))
        if not questions:
            missing = self.no_query.first or self.no_document.first
            reason = f"{missing} is missing" if missing else "no grade is above 0"
            raise SourceError(f"no judgement gives a query a right document: {reason}", self.path)
        return tuple(questions)

    def notes(self) -> Iterator[str]:
        """Yield notes on what was left out."""
        lost = len(self.lost - self.gains.keys())
        unjudged = len(self.queries) - len(self.gains) - lost
        if unjudged:
            yield f"{counted(unjudged, 'query', 'queries')} left out: no right document in {self.path.name}"
        if self.zero:
            yield f"{counted(self.zero, 'judgement')} with grade 0 or less: not right"
        if self.repeated:
            yield f"{counted(self.repeated, 'judgement')} repeated: the highest grade counts"
        yield from self.no_query.notes(
            "judgement left out: its query is missing", "judgements left out: their queries are missing"
        )
        yield from self.no_document.notes(
            "judgement left out: its document is missing", "judgements left out: their documents are missing"
        )
        if lost:
            yield f"{counted(lost, 'query', 'queries')} left out: all their right documents are missing"


def grade_of(cell: str, path: Path, line: int, column: str) -> int:
    """Return a grade, a whole number."""
    if not _WHOLE.fullmatch(cell):
        raise SourceError(f"must be a whole number, is {cell[:100]!r}", path, line, column)
    return int(cell)


def units(right: Iterable[str], unit: Unit) -> tuple[str, ...]:
    """Return the keys of a question's units: its right documents, or none, so that it is its own unit."""
    if unit == "question":
        return ()
    return tuple(f"document:{name}" for name in right)


def cut_all(texts: Mapping[str, str], cut: Cut, passages: str) -> tuple[Document, ...]:
    """Return the documents, divided into passages.

    Parameters
    ----------
    cut, passages
        The function that divides a text, and the option that it was made from.
    """
    shared = shared_words(passages)
    return tuple(Document(name, cut(text), shared) for name, text in texts.items())


def unknown_documents(
    path: Path, field: str, unknown: Sequence[tuple[int | None, str]], ids: Iterable[str]
) -> SourceError:
    """Return the error of ids that no document has.

    Parameters
    ----------
    unknown
        The line of each such id, and the id.
    ids
        Those of the documents; the nearest one is suggested.
    """
    if len(unknown) == 1:
        line, name = unknown[0]
        guess = _guess(name, ids, "; {}")
        return SourceError(f"no document has the id {quoted(name)}{guess}", path, line, field)
    shown = [f"{quoted(name)} on line {line}{_guess(name, ids, ' ({})')}" for line, name in unknown[:SHOWN]]
    problem = f"{counted(len(unknown), 'id')} name no document: {', '.join(shown)}"
    if len(unknown) > SHOWN:
        problem += f" and {len(unknown) - SHOWN:,} more"
    return SourceError(problem, path, None, field)


def _guess(name: str, ids: Iterable[str], form: str) -> str:
    """Return the part of a message that suggests the nearest of some ids; empty if none is near."""
    candidates = list(islice(ids, GUESSED))
    # The most common mistake is a file name without its folder.
    without_suffix = name.rpartition(".")[0] or name
    same_name = list[str]()
    for candidate in candidates:
        if candidate == without_suffix or candidate.endswith(f"/{without_suffix}"):
            same_name.append(candidate)
    near = same_name[0] if len(same_name) == 1 else nearest(name, candidates)
    return form.format(f"did you mean {quoted(near)}?") if near else ""


def corpus_of(
    name: str,
    loader: str,
    documents: Sequence[Document],
    questions: Sequence[Question],
    *,
    licence: str,
    notes: Iterable[str],
) -> Corpus[Question]:
    """Return the corpus, with notes on its size."""
    return Corpus(
        name,
        SHAPE,
        tuple(questions),
        licence=licence or "unknown",
        loader=loader,
        notes=(*notes, *_amounts(documents, questions)),
        documents=documents if isinstance(documents, StoredDocuments) else tuple(documents),
    )


def _amounts(documents: Sequence[Document], questions: Sequence[Question]) -> Iterator[str]:
    """Yield the numbers of documents and questions, and of repeated ones."""
    amounts = counted(len(documents), "document")
    is_stored = isinstance(documents, StoredDocuments)
    passages = len(documents) if is_stored else sum(len(document.passages) for document in documents)
    if passages != len(documents):
        amounts += f" in {counted(passages, 'passage')}"
    amounts += f", {counted(len(questions), 'question')}"
    right_documents = [len(question.right) for question in questions if question.right]
    unanswerable = len(questions) - len(right_documents)
    if unanswerable:
        amounts += f", {unanswerable:,} of them not answered by any document"
    yield amounts
    if max(right_documents, default=0) > 1:
        yield f"{min(right_documents):,} to {max(right_documents):,} right documents for a question"
    equal = 0 if is_stored else len(documents) - len({document.passages for document in documents})
    if equal:
        yield f"{counted(equal, 'document has', 'documents have')} the same text as another"
    repeated = len(questions) - len({question.question for question in questions})
    if repeated:
        yield f"{counted(repeated, 'question repeats', 'questions repeat')} another word for word"


def is_beir(path: Path) -> bool:
    """Return whether a folder looks like BEIR's format, by its file names."""
    names = {entry.name for entry in entries(path)}
    return "corpus.jsonl" in names or {"queries.jsonl", "qrels"} <= names


def is_trec(path: Path) -> bool:
    """Return whether a folder has topics and judgements in TREC's format, by its file names."""
    there = entries(path)
    return bool(judgement_files(there) and topic_files(there)) and not is_beir(path)


def judgement_files(there: Iterable[Path]) -> list[Path]:
    """Return the files of a folder that contain judgements, by their names."""
    return [entry for entry in there if "qrels" in entry.name.lower() and entry.is_file()]


def topic_files(there: Iterable[Path]) -> list[Path]:
    """Return the files of a folder that contain topics, by their names."""
    files = []
    for entry in there:
        name = entry.name.lower()
        if "qrels" not in name and ("topics" in name or "queries" in name) and entry.is_file():
            files.append(entry)
    return files
