"""A folder in BEIR's format: corpus.jsonl, queries.jsonl, and the judgements in qrels/SPLIT.tsv.

Thakur et al. (2021). Judgements are a table query-id, corpus-id, score; a document is right if its score is
above 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from embassay.corpora.io.folders import Listing, entries
from embassay.corpora.io.jsonl import listed
from embassay.corpora.io.passages import Cutter
from embassay.corpora.io.records import rows_with_header
from embassay.corpora.io.rows import named_rows
from embassay.corpora.retrieval.corpus import Unit, corpus_of, cut_all, left_out
from embassay.corpora.retrieval.judgements import JUDGED, Judgement, judged_questions
from embassay.errors import SourceError, SpecError, quoted
from embassay.samples.retrieval import Question
from embassay.types import Corpus

SHAPE = "retrieval"
FILES = ("corpus.jsonl", "queries.jsonl", "qrels")
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
    unit: Unit = "question",
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
        Which judgements; by default ``test`` if it exists, else the only ones.
    licence
        The licence of the files, as the user states it.
    unit
        The unit of independence: ``question``, each question; ``document``, questions with a common right document.
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
    listing.require(path, FILES, "a folder in BEIR's format has corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv")
    split_file = _split_file(path / "qrels", split, listing)
    texts, empty = _texts(path / "corpus.jsonl")
    queries = _queries(path / "queries.jsonl")
    questions, notes_on_judgements = judged_questions(split_file, _judgements(split_file), queries, texts, unit)
    notes = [f"split: {split_file.stem}", f"passages: {passages}", *notes_on_judgements, *listing.notes()]
    notes += left_out(empty, "document left out: no text", "documents left out: no text")
    if unit == "question":
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


def _judgements(path: Path) -> Iterator[Judgement]:
    for row in rows_with_header(path, HEADER, "\t"):
        query, document = row.filled("query-id"), row.filled("corpus-id")
        yield row.line, query, document, row.whole("score", signed=True)
