"""A folder in BEIR's format: corpus.jsonl, queries.jsonl, and the judgements in qrels/SPLIT.tsv or qrels.jsonl.

Thakur et al. (2021). Judgements are a table query-id, corpus-id, score, or lines with these fields, as in LIMIT
(Weller et al. 2025); a document is right if its score is above 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from embassay.core.errors import SourceError, SpecError, quoted
from embassay.core.samples.retrieval import Question
from embassay.core.tables.jsonl import listed
from embassay.core.tables.records import rows_with_header
from embassay.core.tables.rows import FileRow, json_rows, named_rows
from embassay.core.types import Corpus
from embassay.corpora.io.folders import Listing, entries
from embassay.corpora.io.passages import Cutter
from embassay.corpora.retrieval.corpus import About, corpus_of, cut_all, left_out
from embassay.corpora.retrieval.judgements import JUDGED, Judgement, judged_questions

SHAPE = "retrieval"
FOLDER, LINES = "qrels", "qrels.jsonl"
"""The judgements: a folder with a file for each split, or one file without splits."""
HEADER = ("query-id", "corpus-id", "score")
DEFAULT = "test"
"""The default split."""


def recognises_folder(path: Path) -> bool:
    """Return whether a folder looks like this format, by its file names."""
    names = {entry.name for entry in entries(path)}
    return "corpus.jsonl" in names or {"queries.jsonl", "qrels"} <= names


def load(
    source: str,
    name: str,
    *,
    split: str = "",
    licence: str = "",
    about: About = "these-documents",
    passages: str = "document",
    language: str = "en",
    follow_links: bool = False,
) -> Corpus[Question]:
    """Read a folder in BEIR's format.

    Parameters
    ----------
    source
        Path of the folder.
    split
        Which judgements of the folder; by default ``test`` if it exists, else the only ones.
    licence
        The licence of the files, as the user states it.
    about
        What verdicts are about: ``new-documents``, other documents like these; ``these-documents``, these only, if each
        question was asked on its own.
    passages
        ``document``, ``paragraph``, ``sentence``, or a number of words; the closest passage of a document counts.
    language
        The language whose rules decide where a sentence ends.
    follow_links
        Follow symbolic links in the folder; otherwise they are left out.

    Raises
    ------
    SourceError
        With file, line and field, for files that are missing or not in this format.
    SpecError
        For invalid options.
    """
    path = Path(source)
    cut = Cutter(passages, language)
    listing = Listing(follow_links)
    names = {entry.name for entry in entries(path)}
    has_splits = FOLDER in names or LINES not in names
    needed = ("corpus.jsonl", "queries.jsonl", FOLDER if has_splits else LINES)
    form = "a folder in BEIR's format has corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv or qrels.jsonl"
    listing.require(path, needed, form)
    if has_splits:
        judgements = _split_file(path / FOLDER, split, listing)
        note = f"split: {judgements.stem}"
    elif split.strip():
        raise SpecError(f"split {quoted(split)}: {path} has no splits, only {LINES}; leave out split=")
    else:
        judgements = path / LINES
        note = f"judgements: {LINES}"
    texts, empty = _texts(path / "corpus.jsonl")
    queries = _queries(path / "queries.jsonl")
    questions, notes_on_judgements = judged_questions(judgements, _judgements(judgements), queries, texts, about)
    notes = [note, f"passages: {passages}", *notes_on_judgements, *listing.notes()]
    notes += left_out(empty, "document left out: no text", "documents left out: no text")
    if about == "these-documents":
        notes.append(JUDGED)
    same = len(queries.keys() & texts.keys())
    if same:
        what_beir_does = "that document can be retrieved here; BEIR's evaluation leaves it out"
        notes.append(f"queries with the id of a document: {same:,}; {what_beir_does}")
    return corpus_of(name, "beir", cut_all(texts, cut), questions, licence=licence, notes=notes)


def _split_file(folder: Path, split: str, listing: Listing) -> Path:
    """Return the judgements of a split: the named one, else ``test``, else the only one."""
    files = {entry.stem: entry for entry in listing.entries(folder) if entry.suffix == ".tsv"}
    if not files:
        raise SourceError(f"the folder has no SPLIT.tsv{listing.hint()}", folder)
    wanted = split.strip()
    if wanted and wanted not in files:
        raise SpecError(f"split {quoted(wanted)} is not in {folder}; it has: {listed(files)}")
    if not wanted and len(files) == 1:
        return next(iter(files.values()))
    if not wanted and DEFAULT not in files:
        raise SourceError(f"no {DEFAULT}.tsv; choose one with split=: {listed(files)}", folder)
    return files[wanted or DEFAULT]


def _texts(path: Path) -> tuple[dict[str, str], list[str]]:
    """Return the documents' texts by id, each preceded by its title, and the places of those without a text."""
    texts: dict[str, str] = {}
    empty = list[str]()
    for name, row in named_rows(path, "_id", numbered=False):
        row.require("text")
        title, text = row.optional_text("title"), row.optional_text("text")
        if title or text:
            texts[name] = f"{title} {text}".strip()
        else:
            empty.append(f"{quoted(name)} on line {row.line} of {path.name}")
    if not texts:
        raise SourceError("the file has no documents", path)
    return texts, empty


def _queries(path: Path) -> dict[str, str]:
    """Return the texts of the queries by id."""
    queries = {name: row.text("text").strip() for name, row in named_rows(path, "_id", numbered=False)}
    if not queries:
        raise SourceError("the file has no queries", path)
    return queries


def _cells(row: FileRow) -> FileRow:
    """Return a line whose ids and score are texts, as the cells of a table are."""
    return replace(row, values={name: row.as_key(row.value(name), name) for name in HEADER})


def _judgements(path: Path) -> Iterator[Judgement]:
    if path.name == LINES:
        rows: Iterator[FileRow] = map(_cells, json_rows(path))
    else:
        rows = rows_with_header(path, HEADER, "\t")
    for row in rows:
        query, document = row.filled("query-id"), row.filled("corpus-id")
        yield row.line, query, document, row.whole("score", signed=True)
