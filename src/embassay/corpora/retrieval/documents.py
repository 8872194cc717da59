"""Documents of your own with questions about them: a folder of texts, or a table; ``questions=FILE``.

In a folder of .txt, .md, .rst and .html files a document's id is its path without the suffix. A table (CSV, TSV, JSON
lines, Parquet) has an id and a text, and perhaps a title. The table of questions has a question, and the id or ids of
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
"""After the loaders of particular forms: a table with the right columns may be anything."""
NEEDS = (
    "a retrieval corpus needs questions=FILE, a table (CSV, TSV, JSON lines, Parquet) with a column of questions "
    f"({', '.join(QUESTION)}) and one of the ids of their right documents ({', '.join(RIGHT)})"
)


def recognises(head: str) -> bool:
    """Say no: a table of documents is recognised by its ``questions=`` alone."""
    del head
    return False


def recognises_folder(path: Path) -> bool:
    """Say whether a folder has documents in it, and is no collection with judgements or groups."""
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
        What the user says of the documents.
    question, document
        The names of the columns of the questions, where they are not known ones.
    id, text
        The names of the columns of the documents, likewise.
    passages
        ``document``, ``paragraph``, ``sentence``, or a number of words: a document is as near as its nearest passage.
    unit
        What makes questions independent: ``document``, that no document answers both; ``question``, that they are two.
    language
        Whose rules tell where a sentence ends.
    follow_links
        Read what symbolic links in the folder lead to; they are left out otherwise.

    Raises
    ------
    SourceError
        With file, line and field, for what cannot be read, or names documents that are not there.
    SpecError
        For options that do not fit.
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
