"""What the retrieval loaders share: documents, judgements, units, and notes of what was understood."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal

from embassay.corpora.io.folders import entries
from embassay.corpora.io.jsonl import counted
from embassay.corpora.io.passages import Cut
from embassay.errors import SourceError, nearest, quoted
from embassay.samples.retrieval import Document, Question
from embassay.types import Corpus

SHAPE = "retrieval"
Unit = Literal["document", "question"]
"""What makes questions independent: that no document answers both, or that they are two."""
JUDGED = "each question is a unit of its own: judged collections share documents; unit=document joins what shares one"
Judgement = tuple[int, str, str, int]
"""Line, query, document and grade."""
GUESSED = 50_000
"""Ids among which the nearest to a wrong one is looked for."""
_WHOLE = re.compile(r"[+-]?[0-9]{1,9}")


@dataclass
class Omitted:
    """How many things were left out, and where the first of them stands."""

    count: int = 0
    first: str = ""

    def add(self, place: str) -> None:
        """Count one."""
        self.first = self.first or place
        self.count += 1

    def notes(self, one: str, many: str) -> tuple[str, ...]:
        """Return a note, in the words for one or for many; nothing where there is none."""
        if self.count == 0:
            return ()
        return (f"{_number_of(self.count, one, many)} (the first: {self.first})",)


@dataclass
class Judgements:
    """Which documents are right for which query, read line by line.

    Attributes
    ----------
    gains
        The grade of each right document, by query.
    zero, repeated
        How many judgements have a grade of 0 or less, or repeat another.
    no_query, no_document
        Judgements whose query or document is not there.
    lost
        Queries with a right document that is not there.
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
        """Take in the judgements of a file."""
        for line, query, document, grade in rows:
            self.add(line, query, document, grade)

    def add(self, line: int, query: str, document: str, grade: int) -> None:
        """Take one in: it is right where its grade is above 0, and query and document are there."""
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
        """Return the queries that have a right document, in their own order.

        Raises
        ------
        SourceError
            If there is none.
        """
        questions = []
        for query, text in self.queries.items():
            if query in self.gains:
                gains = self.gains[query]
                questions.append(Question(query, text, tuple(gains), tuple(gains.values()), units(gains, unit)))
        if not questions:
            missing = self.no_query.first or self.no_document.first
            reason = f"{missing} is not there" if missing else "no grade is above 0"
            raise SourceError(f"no judgement joins a query with a document: {reason}", self.path)
        return tuple(questions)

    def notes(self) -> Iterator[str]:
        """Say what was left out."""
        lost = len(self.lost - self.gains.keys())
        unjudged = len(self.queries) - len(self.gains) - lost
        if unjudged:
            yield f"{_number_of(unjudged, 'query', 'queries')} left out: no right document in {self.path.name}"
        if self.zero:
            yield f"{counted(self.zero, 'judgement')} of grade 0 or less: not right"
        if self.repeated:
            yield f"{counted(self.repeated, 'judgement')} repeated: the highest grade counts"
        yield from self.no_query.notes(
            "judgement left out: its query is not there", "judgements left out: their queries are not there"
        )
        yield from self.no_document.notes(
            "judgement left out: its document is not there", "judgements left out: their documents are not there"
        )
        if lost:
            yield f"{_number_of(lost, 'query', 'queries')} left out: no right document of theirs is there"


def grade_of(cell: str, path: Path, line: int, column: str) -> int:
    """Return a grade, a whole number."""
    if not _WHOLE.fullmatch(cell):
        raise SourceError(f"must be a whole number, is {cell[:100]!r}", path, line, column)
    return int(cell)


def units(right: Iterable[str], unit: Unit) -> tuple[str, ...]:
    """Return the keys of a question's units: its right documents, or none, which leaves itself."""
    if unit == "question":
        return ()
    return tuple(f"document:{name}" for name in right)


def cut_all(texts: Mapping[str, str], cut: Cut) -> tuple[Document, ...]:
    """Return the documents, cut into passages."""
    return tuple(Document(name, cut(text)) for name, text in texts.items())


def guess(name: str, known: Iterable[str]) -> str:
    """Return the part of a message that has the nearest known id, empty where none is near."""
    candidates = list(islice(known, GUESSED))
    bare = name.rpartition(".")[0] or name
    # The name of a file for its path without suffix is the commonest mistake.
    same_name = [other for other in candidates if other == bare or other.endswith(f"/{bare}")]
    near = same_name[0] if len(same_name) == 1 else nearest(name, candidates)
    return f"; did you mean {quoted(near)}?" if near else ""


def corpus_of(
    name: str,
    loader: str,
    documents: Sequence[Document],
    questions: Sequence[Question],
    *,
    licence: str,
    notes: Iterable[str],
) -> Corpus[Question]:
    """Return the corpus, with notes of how much there is."""
    return Corpus(
        name,
        SHAPE,
        tuple(questions),
        licence=licence or "unknown",
        loader=loader,
        notes=(*notes, *_amounts(documents, questions)),
        documents=tuple(documents),
    )


def _amounts(documents: Sequence[Document], questions: Sequence[Question]) -> Iterator[str]:
    """Say how many documents and questions there are, and how many repeat another."""
    amounts = counted(len(documents), "document")
    passages = sum(len(document.passages) for document in documents)
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
    equal = len(documents) - len({document.passages for document in documents})
    if equal:
        yield f"{_number_of(equal, 'document has', 'documents have')} the text of another"
    repeated = len(questions) - len({question.question for question in questions})
    if repeated:
        yield f"{_number_of(repeated, 'question asks', 'questions ask')} what another asks, word for word"


def _number_of(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def is_beir(path: Path) -> bool:
    """Say whether a folder looks like one of BEIR's, by its names."""
    names = {entry.name for entry in entries(path)}
    return "corpus.jsonl" in names or {"queries.jsonl", "qrels"} <= names


def is_trec(path: Path) -> bool:
    """Say whether a folder has topics and judgements as TREC's have, by its names."""
    there = entries(path)
    return bool(judgement_files(there) and topic_files(there)) and not is_beir(path)


def judgement_files(there: Iterable[Path]) -> list[Path]:
    """Return those entries of a folder that are files and whose name says that they have judgements."""
    return [entry for entry in there if "qrels" in entry.name.lower() and entry.is_file()]


def topic_files(there: Iterable[Path]) -> list[Path]:
    """Return those entries of a folder that are files and whose name says that they have topics."""
    files = []
    for entry in there:
        name = entry.name.lower()
        if "qrels" not in name and ("topics" in name or "queries" in name) and entry.is_file():
            files.append(entry)
    return files
