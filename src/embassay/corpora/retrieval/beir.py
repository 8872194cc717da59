"""A folder in BEIR's format: corpus.jsonl, queries.jsonl, and the judgements in qrels/SPLIT.tsv or qrels.jsonl.

Thakur et al. (2021). Judgements are a table query-id, corpus-id, score, or lines with these fields, as in LIMIT
(Weller et al. 2025); a document is right if its score is above 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field

from embassay.core.errors import SourceError, SpecError, listed, quoted
from embassay.core.samples.retrieval import Question
from embassay.core.tables.records import read_table
from embassay.core.tables.rows import Key, Row, Stripped, Text, column
from embassay.core.types import Corpus
from embassay.corpora.io.folders import entries
from embassay.corpora.io.passages import Cutter
from embassay.corpora.retrieval.corpus import About, corpus_of, cut_all, notes_on, units

SHAPE = "retrieval"
FOLDER, LINES = "qrels", "qrels.jsonl"
"""The judgements: a folder with a file for each split, or one file without splits."""
DEFAULT = "test"
"""The default split."""
JUDGED = "verdicts are about these documents, as many questions share right ones; about=new-documents says otherwise"


class DocumentRow(Row):
    """A document; it may have no text."""

    id: Key = column("_id")
    title: Text = ""
    text: Text = ""


class QueryRow(Row):
    """A query."""

    id: Key = column("_id")
    text: Stripped


class Judgement(Row):
    """A query, a document, and its grade; ``1.0`` is one."""

    query: Key = column("query-id")
    document: Key = column("corpus-id")
    score: Annotated[int, Field(ge=-(10**9), le=10**9)]


def recognises_folder(path: Path) -> bool:
    """Return whether a folder looks like this format, by its file names."""
    names = {entry.name for entry in entries(path)}
    return "corpus.jsonl" in names or {"queries.jsonl", "qrels"} <= names


def load(
    source: str,
    name: str,
    *,
    split: str = "",
    about: About = "these-documents",
    passages: str = "document",
    language: str = "en",
) -> Corpus[Question]:
    """Read a folder in BEIR's format.

    Parameters
    ----------
    source
        Path of the folder.
    split
        Which judgements of the folder; by default ``test`` if it exists, else the only ones.
    about
        What verdicts are about: ``new-documents``, other documents like these; ``these-documents``, these only, if each
        question was asked on its own.
    passages
        ``document``, ``paragraph``, ``sentence``, or a number of words; the closest passage of a document counts.
    language
        The language whose rules decide where a sentence ends.

    Raises
    ------
    SourceError
        With file, line and field, for files that are missing or not in this format; if no query has a right document.
    SpecError
        For invalid options.
    """
    path = Path(source)
    cut = Cutter(passages, language)
    judgements = _judgements(path, split.strip())
    # The title and the text of each document, which may be empty.
    documents = read_table(path / "corpus.jsonl").select(DocumentRow)
    whole = {row.id: f"{row.title} {row.text}".strip() for row in documents}
    text_of = {row.id: row.text for row in read_table(path / "queries.jsonl").select(QueryRow)}
    rows = read_table(judgements).select(Judgement)
    return judged_corpus(name, judgements, rows, whole, text_of, cut, about)


def judged_corpus(
    name: str,
    judgements: Path,
    rows: Iterable[Judgement],
    whole: Mapping[str, str],
    text_of: Mapping[str, str],
    cut: Cutter,
    about: About,
) -> Corpus[Question]:
    """Return the queries that have a right document, with notes on what was left out.

    Parameters
    ----------
    judgements, rows
        The file of the judgements, and what it says.
    whole, text_of
        The texts of documents, which may be empty, and of queries, by id.

    Raises
    ------
    SourceError
        If no query has a right document.
    """
    texts = {key: text for key, text in whole.items() if text}
    gains: dict[str, dict[str, int]] = {query: {} for query in text_of}
    counts = Counter[tuple[str, str]]()
    for row in rows:
        if row.score <= 0:
            counts["judgement", "with grade 0 or less: not right"] += 1
        elif row.query not in gains or row.document not in texts:
            counts["judgement", "left out: no such id"] += 1
        else:
            right = gains[row.query]
            counts["judgement", "repeated: the highest grade counts"] += row.document in right
            right[row.document] = max(row.score, right.get(row.document, 0))
    questions = []
    for query, right in gains.items():
        if right:
            grades = tuple(right.values())
            questions.append(Question(query, text_of[query], tuple(right), grades, units(right, about)))
    counts["question", "left out: no right document"] = len(gains) - len(questions)
    counts["document", "left out: no text"] = len(whole) - len(texts)
    same_id = "with the id of a document, which can be retrieved here; BEIR's evaluation leaves it out"
    counts["question", same_id] = len(gains.keys() & texts.keys())
    notes = [f"judgements: {judgements.name}", f"passages: {cut.way}", *notes_on(counts)]
    if not questions:
        raise SourceError("; ".join(["no judgement gives a question a right document", *notes]), judgements)
    if about == "these-documents":
        notes.append(JUDGED)
    return corpus_of(name, cut_all(texts, cut), questions, notes=notes)


def _judgements(path: Path, split: str) -> Path:
    """Return the file of the judgements of a split."""
    if (path / LINES).exists():
        if split:
            raise SpecError(f"split {quoted(split)}: {path} has no splits, only {LINES}; leave out split=")
        return path / LINES
    folder = path / FOLDER
    files = {entry.stem: entry for entry in entries(folder) if entry.suffix == ".tsv"}
    if not files:
        raise SourceError("the folder has no SPLIT.tsv", folder)
    split = split or (DEFAULT if len(files) > 1 else next(iter(files)))
    if split not in files:
        raise SpecError(f"split {quoted(split)} is not in {folder}; choose one with split=: {listed(files)}")
    return files[split]
