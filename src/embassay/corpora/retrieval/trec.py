"""A folder in TREC's form: topics, judgements (qrels), and documents in SGML or as id, tab, text.

Topics are SGML (``<top>``, ``<num>``, ``<title>``, ``<desc>``) in a file whose name has ``topics`` or ``queries``, or
lines of id, tab, text. Judgements are lines of query, 0, document and grade in a file whose name has ``qrels``; a
document is right where its grade is above 0. A document is what stands in its ``<TEXT>``, without markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from embassay.corpora.io.folders import Listing, Once
from embassay.corpora.io.jsonl import listed
from embassay.corpora.io.passages import collapsed, cutter
from embassay.corpora.retrieval.sgml import has_topics, sgml_documents, sgml_topics, text_lines
from embassay.corpora.retrieval.shared import (
    JUDGED,
    Judgements,
    Left,
    Unit,
    corpus_of,
    cut_all,
    grade_of,
    is_trec,
    judgement_files,
    topic_files,
)
from embassay.errors import SourceError, SpecError, quoted
from embassay.samples.retrieval import Question
from embassay.types import Corpus

SHAPE = "retrieval"
Topic = Literal["title", "description", "both"]
SECTIONS: Mapping[Topic, tuple[str, ...]] = {"title": ("title",), "description": ("desc",), "both": ("title", "desc")}
SGML = (".sgml", ".sgm", ".trec", ".xml", ".txt", ".dat")
TABLE = ".tsv"


def recognises_folder(path: Path) -> bool:
    """Say whether a folder looks like this format, by its names."""
    return is_trec(path)


def load(
    source: str,
    name: str,
    *,
    topic: Topic = "title",
    licence: str = "",
    unit: Unit = "question",
    passages: str = "document",
    language: str = "en",
    follow_links: bool = False,
) -> Corpus[Question]:
    """Read a folder in TREC's form.

    Parameters
    ----------
    source
        Path of the folder.
    topic
        What of a topic is the query; topics that are lines of id and text have a title only.
    licence
        What the user says of the files.
    unit
        What makes questions independent: ``question``, that they are two; ``document``, that no document answers both.
    passages
        ``document``, ``paragraph``, ``sentence``, or a number of words: a document is as near as its nearest passage.
    language
        Whose rules tell where a sentence ends.
    follow_links
        Read what symbolic links in the folder lead to; they are left out otherwise.

    Raises
    ------
    SourceError
        With file, line and field, for what is missing or not of this form.
    SpecError
        For options that do not fit.
    """
    path, cut = Path(source), cutter(passages, language)
    listing = Listing(follow_links)
    files = sorted(listing.files(path))
    there = [file for file in files if file.parent == path]
    judged = _only(judgement_files(there), path, "of judgements, with 'qrels' in its name", listing)
    topics = _only(topic_files(there), path, "of topics, with 'topics' or 'queries' in its name", listing)
    queries = _topics(topics, topic)
    documents = _Documents(path)
    for file in files:
        if file not in (judged, topics):
            documents.read(file)
    judgements = Judgements(judged, queries, documents.checked())
    for line, query, document, grade in _rows(judged):
        judgements.add(line, query, document, grade)
    questions = judgements.questions(unit)
    notes = [f"topics: {topics.name}, {topic}; judgements: {judged.name}; passages: {passages}"]
    notes += [*judgements.notes(), *documents.notes(), *listing.notes(), *([JUDGED] if unit == "question" else [])]
    return corpus_of(name, "trec", cut_all(documents.texts, cut), questions, licence=licence, notes=notes)


def _only(files: Sequence[Path], path: Path, what: str, listing: Listing) -> Path:
    if len(files) == 1:
        return files[0]
    if not files:
        raise SourceError(f"no file {what}{listing.hint()}", path)
    raise SourceError(f"more than one file {what}: {listed(f.name for f in files)}; leave one", path)


@dataclass
class _Documents:
    """The documents of several files, each id once among them all."""

    path: Path
    texts: dict[str, str] = field(default_factory=dict)
    file: dict[str, tuple[Path, int]] = field(default_factory=dict)
    empty: Left = field(default_factory=Left)
    others: Left = field(default_factory=Left)

    def read(self, file: Path) -> None:
        """Take in the documents of a file; one of another kind is counted."""
        reader = _table if file.suffix.lower() == TABLE else sgml_documents if file.suffix.lower() in SGML else None
        before = len(self.file)
        for line, name, text in reader(file) if reader else ():
            if name in self.file:
                there, number = self.file[name]
                raise SourceError(
                    f"{quoted(name)} stands in {there.name} on line {number} already", file, line, "DOCNO"
                )
            self.file[name] = file, line
            if text:
                self.texts[name] = text
            else:
                self.empty.add(f"{quoted(name)} on line {line} of {file.name}")
        if len(self.file) == before:
            self.others.add(file.name)

    def checked(self) -> dict[str, str]:
        """Return the texts, or raise SourceError where there are none."""
        if not self.texts:
            told = f"SGML (<DOC>, <DOCNO>, <TEXT>) in {', '.join(SGML)}, or id, tab, text in {TABLE}"
            raise SourceError(f"no document with a text in it; documents are {told}", self.path)
        return self.texts

    def notes(self) -> Iterator[str]:
        """Say what was left out."""
        yield from self.empty.told("document left out: no text", "documents left out: no text")
        yield from self.others.told("other file left out: no document in it", "other files left out: no document in it")


def _table(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield (line, id, text) of lines of id, tab, text; further tabs are spaces."""
    for number, line in text_lines(path):
        if not line.strip():
            continue
        name, tab, text = line.partition("\t")
        if not tab or not name.strip():
            raise SourceError("must be an id, a tab and a text", path, number)
        yield number, name.strip(), text.replace("\t", " ").strip()


def _topics(path: Path, topic: Topic) -> dict[str, str]:
    """Return the queries by id."""
    text = "".join(line for _, line in text_lines(path))
    rows = sgml_topics(path, text, SECTIONS[topic]) if has_topics(text) else _plain_topics(path, topic)
    queries, once = dict[str, str](), Once(path, "num")
    for line, name, query in rows:
        queries[once.add(name, line)] = query
    if not queries:
        raise SourceError("the file has no topics", path)
    return queries


def _plain_topics(path: Path, topic: Topic) -> Iterator[tuple[int, str, str]]:
    if topic != "title":
        raise SpecError(f"topic={topic} needs topics in SGML; those of {path} are lines of id, tab, text")
    for line, name, text in _table(path):
        if not (query := collapsed(text)):
            raise SourceError("an empty text", path, line, "title")
        yield line, name, query


def _rows(path: Path) -> Iterator[tuple[int, str, str, int]]:
    """Yield (line, query, document, grade) of every judgement."""
    for number, line in text_lines(path):
        cells = line.split()
        if not cells:
            continue
        if len(cells) != 4:
            raise SourceError(f"must be query, 0, document and grade; it has {len(cells)} columns", path, number)
        yield number, cells[0], cells[2], grade_of(cells[3], path, number, "grade")
