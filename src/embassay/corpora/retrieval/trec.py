"""A folder in TREC's format: topics and documents as lines of id, tab, text; judgements (qrels).

Topics are in a file whose name has ``topics`` or ``queries``, documents in all other ``.tsv`` files. Judgements are
lines of query, 0, document and grade in a file whose name has ``qrels``; a document is right if its grade is above 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from embassay.core.errors import SourceError, listed, quoted
from embassay.core.samples.retrieval import Question
from embassay.core.tables.records import delimited
from embassay.core.types import Corpus
from embassay.corpora.io.folders import Listing, entries
from embassay.corpora.io.passages import Cutter, collapsed
from embassay.corpora.retrieval.corpus import About
from embassay.corpora.retrieval.judgements import judged_corpus

SHAPE = "retrieval"
TABLE = ".tsv"
NAMES = ("of judgements, with 'qrels' in its name", "of topics, with 'topics' or 'queries' in its name")


def recognises_folder(path: Path) -> bool:
    """Return whether a folder looks like this format, by its file names."""
    judgements, topics = judgements_and_topics(entries(path))
    return bool(judgements and topics)


def load(
    source: str,
    name: str,
    *,
    about: About = "these-documents",
    passages: str = "document",
    language: str = "en",
    follow_links: bool = False,
) -> Corpus[Question]:
    """Read a folder in TREC's format.

    Parameters
    ----------
    source
        Path of the folder.
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
    """
    path = Path(source)
    cut = Cutter(passages, language)
    listing = Listing(follow_links)
    files = sorted(listing.files(path))
    judged, topics = (
        _only(those, path, what, listing)
        for those, what in zip(judgements_and_topics(file for file in files if file.parent == path), NAMES, strict=True)
    )
    queries = {key: collapsed(text) for key, (text, _) in _texts([topics]).items()}
    if not all(queries.values()):
        raise SourceError(
            "has a topic without a text", topics, None, listed(key for key in queries if not queries[key])
        )
    tables = [file for file in files if file.suffix.lower() == TABLE and file not in (judged, topics)]
    notes = (f"topics: {topics.name}; judgements: {judged.name}; passages: {passages}", *listing.notes())
    return judged_corpus(name, judged, queries, _texts(tables), cut, about, notes)


def _only(files: Sequence[Path], path: Path, what: str, listing: Listing) -> Path:
    """Return the only file of a kind, or raise SourceError."""
    if len(files) != 1:
        raise SourceError(f"needs one file {what}; found {listed(f.name for f in files)}{listing.hint()}", path)
    return files[0]


def judgements_and_topics(files: Iterable[Path]) -> tuple[list[Path], list[Path]]:
    """Return the files that contain judgements, and those that contain topics, by their names."""
    judgements, topics = [], []
    for file in files:
        name = file.name.lower()
        if "qrels" in name and file.is_file():
            judgements.append(file)
        elif ("topics" in name or "queries" in name) and file.is_file():
            topics.append(file)
    return judgements, topics


def _texts(files: Iterable[Path]) -> dict[str, tuple[str, str]]:
    """Return the text, which may be empty, and the place of each id in lines of id, tab, text; more tabs are spaces.

    Raises
    ------
    SourceError
        With file and line, for a line without an id or a tab, and for an id that an earlier line has.
    """
    read: dict[str, tuple[str, str]] = {}
    for file in files:
        for line, (cell, *cells) in delimited(file):
            key = cell.strip()
            if not cells or not key:
                raise SourceError("must be an id, a tab and a text", file, line)
            if key in read:
                raise SourceError(f"{quoted(key)} is already used on {read[key][1]}", file, line, "id")
            read[key] = " ".join(cells).strip(), f"line {line} of {file.name}"
    return read
