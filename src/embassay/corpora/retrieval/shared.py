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
GUESSED = 50_000
"""Ids among which the nearest to a wrong one is looked for."""
_WHOLE = re.compile(r"[+-]?[0-9]{1,9}")


@dataclass
class Left:
    """What was left out: how many, and where the first of them stands."""

    count: int = 0
    first: str = ""

    def add(self, place: str) -> None:
        """Count one."""
        self.first = self.first or place
        self.count += 1

    def told(self, one: str, many: str) -> tuple[str, ...]:
        """Say it in a note, of one or of many; nothing where there is none."""
        return (f"{self.count:,} {one if self.count == 1 else many} (the first: {self.first})",) if self.count else ()


@dataclass
class Judgements:
    """Which documents are right for which query, read line by line."""

    path: Path
    queries: Mapping[str, str]
    documents: Mapping[str, object]
    gains: dict[str, dict[str, int]] = field(default_factory=dict)
    zero: int = 0
    repeated: int = 0
    no_query: Left = field(default_factory=Left)
    no_document: Left = field(default_factory=Left)
    lost: dict[str, None] = field(default_factory=dict)

    def add(self, line: int, query: str, document: str, grade: int) -> None:
        """Take one in: it is right where its grade is above 0, and query and document are there."""
        if grade <= 0:
            self.zero += 1
        elif query not in self.queries:
            self.no_query.add(f"{quoted(query)} on line {line} of {self.path.name}")
        elif document not in self.documents:
            self.no_document.add(f"{quoted(document)} on line {line} of {self.path.name}")
            self.lost[query] = None
        else:
            right = self.gains.setdefault(query, {})
            self.repeated += document in right
            right[document] = max(grade, right.get(document, 0))

    def questions(self, unit: Unit) -> tuple[Question, ...]:
        """Return the queries that have a right document, in their own order.

        Raises
        ------
        SourceError
            If there is none.
        """
        found = [
            Question(query, text, tuple(right), tuple(right.values()), units(right, unit))
            for query, text in self.queries.items()
            if (right := self.gains.get(query))
        ]
        if not found:
            why = self.no_query.first or self.no_document.first
            told = f": {why} is not there" if why else ": no grade is above 0"
            raise SourceError(f"no judgement joins a query with a document{told}", self.path)
        return tuple(found)

    def notes(self) -> Iterator[str]:
        """Say what was left out."""
        lost = len(self.lost.keys() - self.gains.keys())
        unjudged = len(self.queries) - len(self.gains) - lost
        if unjudged:
            yield f"{_of(unjudged, 'query', 'queries')} left out: no right document in {self.path.name}"
        if self.zero:
            yield f"{counted(self.zero, 'judgement')} of grade 0 or less: not right"
        if self.repeated:
            yield f"{counted(self.repeated, 'judgement')} repeated: the highest grade counts"
        yield from self.no_query.told(
            "judgement left out: its query is not there", "judgements left out: their queries are not there"
        )
        yield from self.no_document.told(
            "judgement left out: its document is not there", "judgements left out: their documents are not there"
        )
        if lost:
            yield f"{_of(lost, 'query', 'queries')} left out: no right document of theirs is there"


def grade_of(cell: str, path: Path, line: int, column: str) -> int:
    """Return a grade, a whole number."""
    if not _WHOLE.fullmatch(cell):
        raise SourceError(f"must be a whole number, is {cell[:100]!r}", path, line, column)
    return int(cell)


def units(right: Iterable[str], unit: Unit) -> tuple[str, ...]:
    """Return the keys of a question's units: its right documents, or none, which leaves itself."""
    return tuple(f"document:{name}" for name in right) if unit == "document" else ()


def cut_all(texts: Mapping[str, str], cut: Cut) -> tuple[Document, ...]:
    """Return the documents, cut into passages."""
    return tuple(Document(name, cut(text)) for name, text in texts.items())


def guess(name: str, known: Iterable[str]) -> str:
    """Return the part of a message that has the nearest known id, empty where none is near."""
    bare = name.rpartition(".")[0] or name
    ends = [k for k in islice(known, GUESSED) if k == bare or k.endswith(f"/{bare}")]
    near = ends[0] if len(ends) == 1 else nearest(name, islice(known, GUESSED))
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
    passages = sum(len(document.passages) for document in documents)
    unanswerable = sum(not question.right for question in questions)
    cut = f" in {counted(passages, 'passage')}" if passages != len(documents) else ""
    none = f", {unanswerable:,} of them not answered by any document" if unanswerable else ""
    yield f"{counted(len(documents), 'document')}{cut}, {counted(len(questions), 'question')}{none}"
    sizes = [len(question.right) for question in questions if question.right]
    if sizes and max(sizes) > 1:
        yield f"{min(sizes):,} to {max(sizes):,} right documents for a question"
    if equal := len(documents) - len({document.passages for document in documents}):
        yield f"{_of(equal, 'document has', 'documents have')} the text of another"
    if repeated := len(questions) - len({question.question for question in questions}):
        yield f"{_of(repeated, 'question asks', 'questions ask')} what another asks, word for word"


def _of(number: int, one: str, many: str) -> str:
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
    named = (e for e in there if "qrels" not in e.name.lower() and e.is_file())
    return [entry for entry in named if any(word in entry.name.lower() for word in ("topics", "queries"))]
