"""Documents of your own with questions about them: a folder of texts, or a table; ``questions=FILE``.

In a folder of .txt, .md, .rst and .html files a document's id is its path without the suffix. A table (CSV, TSV, JSON
lines, Parquet) has an id and a text, and optionally a title. The table of questions has a question, and the ids of
the documents that answer it.
"""

from __future__ import annotations

from pathlib import Path

from embassay.corpora.groups.shared import is_msrp, is_opinosis
from embassay.corpora.io.documents import looks_like_documents, read_folder, read_records
from embassay.corpora.io.passages import cutter
from embassay.corpora.retrieval.questions import QUESTION, RIGHT, read_questions
from embassay.corpora.retrieval.shared import Unit, corpus_of, cut_all, is_beir, is_trec
from embassay.errors import SourceError, SpecError
from embassay.samples.retrieval import Question
from embassay.store.paths import source_path
from embassay.types import Corpus

SHAPE = "retrieval"
PRIORITY = 20
"""Tried after the loaders of specific formats, because a table with the right columns may be anything."""
NEEDS = (
    "a retrieval corpus needs questions=FILE, a table (CSV, TSV, JSON lines, Parquet) with a column of questions "
    f"({', '.join(QUESTION)}) and a column with the ids of their right documents ({', '.join(RIGHT)})"
)


def recognises(head: str) -> bool:
    """Return False: a table of documents is recognised only by its ``questions=``."""
    del head
    return False


def recognises_folder(path: Path) -> bool:
    """Return whether a folder contains documents, but no judgements or groups."""
    if is_beir(path) or is_trec(path) or is_msrp(path) or is_opinosis(path):
        return False
    return looks_like_documents(path)


def load(
    source: str,
    name: str,
    *,
    questions: str = "",
    licence: str = "",
    question: str = "",
    document: str = "",
    id: str = "",  # noqa: A002 - an option's name
    text: str = "",
    passages: str = "paragraph",
    unit: Unit = "document",
    language: str = "en",
    follow_links: bool = False,
) -> Corpus[Question]:
    """Read documents and the questions about them.

    Parameters
    ----------
    source
        Path of a folder, or of a table.
    questions
        Path of the table of questions.
    licence
        The licence of the documents, as the user states it.
    question, document
        The column names of the questions, if they are not recognised.
    id, text
        The column names of the documents, likewise.
    passages
        ``document``, ``paragraph``, ``sentence``, or a number of words; the closest passage of a document counts.
    unit
        The unit of independence: ``document``, questions with a common right document; ``question``, each question.
    language
        The language whose rules decide where a sentence ends.
    follow_links
        Follow symbolic links in the folder; otherwise they are left out.

    Raises
    ------
    SourceError
        With file, line and field, for files that cannot be read and for unknown documents.
    SpecError
        For invalid options.
    """
    path = Path(source)
    cut = cutter(passages, language)
    if not questions:
        raise SourceError(NEEDS, path)
    questions_path = source_path(questions)
    if path.is_dir():
        if id or text:
            raise SpecError("id= and text= name columns of a table; the documents are a folder")
        documents, notes = read_folder(path, [questions_path], follow_links)
    else:
        documents, notes = read_records(path, id, text)
    texts = {document.id: document.whole for document in documents}
    samples, columns = read_questions(questions_path, texts, question, document, unit)
    all_notes = [*notes, f"questions: {columns}", f"passages: {passages}"]
    return corpus_of(name, "documents", cut_all(texts, cut), samples, licence=licence, notes=all_notes)
