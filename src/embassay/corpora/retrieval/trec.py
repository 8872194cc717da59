"""A folder in TREC's format: topics and documents as lines of id, tab, text; judgements (qrels).

Topics are in a file whose name has ``topics`` or ``queries``, documents in all other ``.tsv`` files. Judgements are
lines of query, 0, document and grade in a file whose name has ``qrels``; a document is right if its grade is above 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from embassay.core.errors import SourceError, listed
from embassay.core.samples.retrieval import Question
from embassay.core.tables.rows import R, Text
from embassay.core.types import Corpus
from embassay.corpora.io.folders import entries, files_in
from embassay.corpora.io.headerless import headerless
from embassay.corpora.io.passages import Cutter, collapsed
from embassay.corpora.retrieval.corpus import About
from embassay.corpora.retrieval.judgements import DocumentRow, QueryRow, judged_corpus

SHAPE = "retrieval"
TABLE = ".tsv"
WORDS = ("qrels", "topics", "queries")
"""What the names of files of judgements, and of topics, contain; the first one counts."""
NAMES = ("of judgements, with 'qrels' in its name", "of topics, with 'topics' or 'queries' in its name")


class Topic(QueryRow):
    """A topic, with single spaces."""

    text: Annotated[Text, AfterValidator(collapsed)]


def recognises_folder(path: Path) -> bool:
    """Return whether a folder looks like this format, by its file names."""
    return all(judgements_and_topics(path))


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
        ``document``, ``paragraph``, ``sentence``, or a number of words; the closest passage of a document counts.
    language
        The language whose rules decide where a sentence ends.

    Raises
    ------
    SourceError
        With file, line and field, for files that are missing or not in this format.
    """
    path = Path(source)
    cut = Cutter(passages, language)
    kinds = judgements_and_topics(path)
    for files, what in zip(kinds, NAMES, strict=True):
        if len(files) != 1:
            raise SourceError(f"needs one file {what}; found {listed(file.name for file in files)}", path)
    (judged,), (topics,) = kinds
    tables = [file for file in files_in(path, follow_links=True) if file.suffix.lower() == TABLE]
    documents = chain.from_iterable(_rows(file, DocumentRow) for file in tables if file not in (judged, topics))
    notes = (f"topics: {topics.name}; judgements: {judged.name}; passages: {passages}",)
    return judged_corpus(name, judged, _rows(topics, Topic), documents, cut, about, notes)


def judgements_and_topics(path: Path) -> list[list[Path]]:
    """Return the files of a folder that contain judgements, and those that contain topics, by their names."""
    kinds: list[list[Path]] = [[], []]
    for file in entries(path):
        words = [word for word in WORDS if word in file.name.lower()]
        if words and file.is_file():
            kinds[words[0] != "qrels"].append(file)
    return kinds


def _rows(path: Path, model: type[R]) -> Iterable[R]:
    """Return the rows of lines of id, tab, text."""
    return headerless(path, ("_id", "text"), _values, "an id, a tab and a text").select(model)


def _values(cells: list[str]) -> list[str]:
    """Return the id and the text of a line; more tabs are spaces."""
    return [cells[0], " ".join(cells[1:])] if len(cells) > 1 else []
