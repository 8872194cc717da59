"""A folder in BEIR's format: corpus.jsonl, queries.jsonl, and the judgements in qrels/SPLIT.tsv or qrels.jsonl.

Thakur et al. (2021). Judgements are a table query-id, corpus-id, score, or lines with these fields, as in LIMIT
(Weller et al. 2025); a document is right if its score is above 0.
"""

from __future__ import annotations

from pathlib import Path

from embassay.core.errors import SourceError, SpecError, listed, quoted
from embassay.core.samples.retrieval import Question
from embassay.core.tables.records import read_table
from embassay.core.tables.rows import Key, Stripped, TableRow, Text, column
from embassay.core.types import Corpus
from embassay.corpora.io.folders import entries, has_file
from embassay.corpora.io.passages import Cutter
from embassay.corpora.retrieval.corpus import About
from embassay.corpora.retrieval.judgements import judged_corpus

SHAPE = "retrieval"
FOLDER, LINES = "qrels", "qrels.jsonl"
"""The judgements: a folder with a file for each split, or one file without splits."""
DEFAULT = "test"
"""The default split."""
recognises_folder = has_file("corpus.jsonl")


class BeirDocumentRow(TableRow):
    """A document; it may have no text."""

    id: Key = column("_id")
    title: Text = ""
    text: Text = ""


class QueryRow(TableRow):
    """A query."""

    id: Key = column("_id")
    text: Stripped


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
        ``document``, ``section``, ``paragraph``, ``sentence``, or a number of words, perhaps with ``+title`` or
        ``+headings``; the closest passage of a document counts.
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
    documents = read_table(path / "corpus.jsonl").select(BeirDocumentRow)
    whole = {row.id: f"{row.title} {row.text}".strip() for row in documents}
    text_of = {row.id: row.text for row in read_table(path / "queries.jsonl").select(QueryRow)}
    return judged_corpus(name, judgements, whole, text_of, cut, about)


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
