"""A folder in BEIR's form: corpus.jsonl, queries.jsonl, and the judgements in qrels/SPLIT.tsv.

Thakur et al. (2021). Judgements are a table query-id, corpus-id, score; a document is right where its score is
above 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from embassay.corpora.io.folders import Listing, Once
from embassay.corpora.io.jsonl import json_lines, key_field, listed, require, text_field
from embassay.corpora.io.passages import cutter
from embassay.corpora.io.tables import even, filled, table_rows
from embassay.corpora.retrieval.shared import (
    JUDGED,
    Judgements,
    Left,
    Unit,
    corpus_of,
    cut_all,
    grade_of,
    is_beir,
)
from embassay.errors import SourceError, SpecError, quoted
from embassay.samples.retrieval import Question
from embassay.types import Corpus

SHAPE = "retrieval"
HEADER = ("query-id", "corpus-id", "score")
DEFAULT = "test"
"""The split that is read where none is said."""


def recognises_folder(path: Path) -> bool:
    """Say whether a folder looks like this format, by its names."""
    return is_beir(path)


def load(
    source: str,
    name: str,
    *,
    split: str = "",
    licence: str = "",
    unit: Unit = "question",
    passages: str = "document",
    language: str = "en",
    follow_links: bool = False,
) -> Corpus[Question]:
    """Read a folder in BEIR's form.

    Parameters
    ----------
    source
        Path of the folder.
    split
        Which judgements; ``test`` where it is there, else the only ones.
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
    there = {entry.name for entry in listing.entries(path)}
    for file in ("corpus.jsonl", "queries.jsonl", "qrels"):
        if file not in there:
            needed = "a folder in BEIR's form has corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv"
            raise SourceError(f"no {file} in it; {needed}{listing.hint()}", path)
    judged = _split(path / "qrels", split, listing)
    empty = Left()
    texts = _texts(path / "corpus.jsonl", empty)
    queries = _queries(path / "queries.jsonl")
    judgements = Judgements(judged, queries, texts)
    for line, query, document, grade in _rows(judged):
        judgements.add(line, query, document, grade)
    questions = judgements.questions(unit)
    notes = [f"split: {judged.stem}", f"passages: {passages}", *judgements.notes(), *listing.notes()]
    notes += empty.told("document left out: no text", "documents left out: no text")
    notes += [JUDGED] if unit == "question" else []
    if same := len(queries.keys() & texts.keys()):
        notes.append(
            f"queries named like a document: {same:,}; it can be found here, and is left out by BEIR's evaluation"
        )
    return corpus_of(name, "beir", cut_all(texts, cut), questions, licence=licence, notes=notes)


def _split(folder: Path, split: str, listing: Listing) -> Path:
    """Return the file of a split."""
    files = {entry.stem: entry for entry in listing.entries(folder) if entry.suffix == ".tsv"}
    wanted = split.strip()
    if not files:
        raise SourceError(f"no SPLIT.tsv in it{listing.hint()}", folder)
    if wanted:
        if wanted not in files:
            raise SpecError(f"split {quoted(wanted)} is not in {folder}; there: {listed(files)}")
        return files[wanted]
    if DEFAULT not in files and len(files) > 1:
        raise SourceError(f"no {DEFAULT}.tsv; choose one with split=: {listed(files)}", folder)
    return files.get(DEFAULT) or next(iter(files.values()))


def _texts(path: Path, empty: Left) -> dict[str, str]:
    """Return the documents' texts by id, each with its title before it, and count those without any."""
    texts, once = dict[str, str](), Once(path, "_id")
    for line, row in json_lines(path):
        require(row, ("_id", "text"), path, line)
        key = once.add(_key(row, path, line), line)
        title, text = (_text(row.get(field), path, line, field) for field in ("title", "text"))
        if title or text:
            texts[key] = f"{title} {text}".strip()
        else:
            empty.add(f"{quoted(key)} on line {line} of {path.name}")
    if not texts:
        raise SourceError("the file has no documents", path)
    return texts


def _text(value: object, path: Path, line: int, field: str) -> str:
    """Return a text that may be missing or blank."""
    blank = value is None or (isinstance(value, str) and not value.strip())
    return "" if blank else text_field(value, path, line, field)


def _queries(path: Path) -> dict[str, str]:
    queries, once = dict[str, str](), Once(path, "_id")
    for line, row in json_lines(path):
        require(row, ("_id", "text"), path, line)
        queries[once.add(_key(row, path, line), line)] = text_field(row["text"], path, line, "text").strip()
    if not queries:
        raise SourceError("the file has no queries", path)
    return queries


def _key(row: dict[str, object], path: Path, line: int) -> str:
    if key := key_field(row, "_id", "", path, line).strip():
        return key
    raise SourceError("is null; each needs one", path, line, "_id")


def _rows(path: Path) -> Iterator[tuple[int, str, str, int]]:
    """Yield (line, query, document, grade) of every judgement."""
    rows = table_rows(path, "\t")
    line, head = next(rows, (1, list[str]()))
    if tuple(cell.strip() for cell in head) != HEADER:
        told = f"the header must be {', '.join(HEADER)}, with tabs between; it is {listed(head)}"
        raise SourceError(told, path, line)
    for line, cells in rows:
        even(cells, len(HEADER), path, line)
        query, document, grade = (filled(c, path, line, n) for c, n in zip(cells, HEADER, strict=True))
        yield line, query, document, grade_of(grade, path, line, "score")
