"""A folder in TREC's format: topics and documents as lines of id, tab, text; judgements (qrels).

Topics are in a file whose name has ``topics`` or ``queries``, documents in all other ``.tsv`` files. Judgements are
lines of query, 0, document and grade in a file whose name has ``qrels``; a document is right if its grade is above 0.
"""

from __future__ import annotations

import re
from pathlib import Path

from embassay.core.errors import SourceError, listed
from embassay.core.samples.retrieval import Question
from embassay.core.tables.rows import Key, TableRow, Text
from embassay.core.types import Corpus
from embassay.corpora.io.folders import entries, files_in
from embassay.corpora.io.headerless import headerless
from embassay.corpora.io.passages import Cutter, collapsed
from embassay.corpora.retrieval.corpus import About
from embassay.corpora.retrieval.judgements import judged_corpus

SHAPE = "retrieval"
JUDGEMENTS, TOPICS = r".*qrels", r"(?!.*qrels).*(topics|queries)"
"""The names of these files; a file of judgements has no topics."""
LINE = re.compile(r"(?P<id>[^\t]*)\t(?P<text>.*)")


class Line(TableRow):
    """A topic or a document."""

    id: Key
    text: Text = ""


def recognises_folder(path: Path) -> bool:
    """Return whether a folder looks like this format, by its file names."""
    return bool(_named(path, JUDGEMENTS) and _named(path, TOPICS))


def load(
    source: str,
    name: str,
    *,
    about: About = "these-documents",
    passages: str = "document",
    language: str = "en",
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
        ``document``, ``section``, ``paragraph``, ``sentence``, or a number of words, perhaps with ``+title`` or
        ``+headings``; the closest passage of a document counts.
    language
        The language whose rules decide where a sentence ends.

    Raises
    ------
    SourceError
        With file, line and field, for files that are missing or not in this format.
    """
    path, cut = Path(source), Cutter(passages, language)
    judgements, topics = _only(path, JUDGEMENTS, "qrels"), _only(path, TOPICS, "topics or queries")
    whole: dict[str, str] = {}
    for file in files_in(path, follow_links=True, aside=(judgements, topics)):
        if file.suffix.lower() == ".tsv":
            whole |= _texts(file)
    return judged_corpus(name, judgements, whole, _texts(topics), cut, about)


def _named(path: Path, pattern: str) -> list[Path]:
    """Return the files of a folder whose names match a pattern."""
    return [file for file in entries(path) if file.is_file() and re.match(pattern, file.name, re.IGNORECASE)]


def _only(path: Path, pattern: str, words: str) -> Path:
    """Return the one file whose name has one of some words."""
    files = _named(path, pattern)
    if len(files) != 1:
        found = listed(file.name for file in files)
        raise SourceError(f"needs one file with {words} in its name; found {found}", path)
    return files[0]


def _texts(path: Path) -> dict[str, str]:
    """Return the texts of a file by id."""
    rows = headerless(path, LINE, "an id, a tab and a text").select(Line)
    # More tabs are spaces.
    return {row.id: collapsed(row.text) for row in rows}
