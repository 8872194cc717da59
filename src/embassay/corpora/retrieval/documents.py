"""Documents of your own with questions about them: a folder of texts, or a table; ``questions=FILE``.

In a folder of .txt, .md, .rst and .html files a document's id is its path without the suffix. A table (CSV, TSV, JSON
lines, Parquet) has an id and a text, and optionally a title. The table of questions has a question, and the ids of
the documents that answer it, the text of the answer, or both. Without it queries are made from sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from embassay.core.errors import SourceError, SpecError
from embassay.core.formatting import counted
from embassay.core.samples.retrieval import Document, Question
from embassay.core.store.paths import source_path
from embassay.core.types import Corpus
from embassay.corpora.io.documents import looks_like_documents, read_documents, why_left_out
from embassay.corpora.io.passages import Cutter
from embassay.corpora.queries.made import REAL_ADD, SOURCE, MadeQueries, made_queries
from embassay.corpora.retrieval.corpus import About, corpus_of, cut_all, units
from embassay.corpora.retrieval.questions import NEEDED, read_questions

SHAPE = "retrieval"
PRIORITY = 20
"""Tried after the loaders of specific formats, because a table with the right columns, or a folder, may be anything."""
QUERIES = 1_000
"""The maximum number of queries that are made."""


def recognises(head: str) -> bool:
    """Return False: a table of documents is recognised only by its options, such as ``questions=``."""
    del head
    return False


recognises_folder = looks_like_documents


def load(
    source: str,
    name: str,
    *,
    questions: str = "",
    question: str = "",
    document: str = "",
    answer: str = "",
    id: str = "",  # noqa: A002 - an option's name
    text: str = "",
    passages: str = "paragraph",
    about: About = "new-documents",
    language: str = "en",
    follow_links: bool = False,
    exclude: str = "",
) -> Corpus[Question]:
    """Read documents and the questions about them.

    Parameters
    ----------
    source
        Path of a folder, or of a table.
    questions
        Path of the table of questions; without it queries are made, and each passage is a document.
    question, document, answer
        The column names of the questions, if they are not recognised: each has the documents that answer it, the text
        of the answer, or both.
    id, text
        The column names of the documents, likewise.
    passages
        ``document``, ``section``, ``paragraph``, ``sentence``, or a number of words, perhaps with ``+title`` or
        ``+headings``; the closest passage of a document counts.
    about
        What verdicts are about: ``new-documents``, other documents like these; ``these-documents``, these only, if each
        question was asked on its own.
    language
        The language whose rules decide where a sentence ends.
    follow_links
        Follow symbolic links in the folder; otherwise they are left out.
    exclude
        Files and folders to leave out: names or ends of paths, separated by ``;``, such as ``drafts;*.tmp``.

    Raises
    ------
    SourceError
        With file, line and field, for files that cannot be read and for unknown documents; if no query can be made.
    SpecError
        For invalid options.
    """
    path = Path(source)
    if exclude and not path.is_dir():
        raise SpecError(f"exclude= leaves out files of a folder; {path} is not a folder")
    cut = Cutter(passages, language)
    questions_path = source_path(questions) if questions else None
    if questions_path is None and (question or document or answer):
        raise SpecError("question=, document= and answer= name columns of a table of questions; add questions=FILE")
    documents, notes = read_documents(
        path,
        id=id,
        text=text,
        aside=[questions_path] if questions_path else (),
        follow_links=follow_links,
        exclude=exclude.split(";") if exclude else (),
        needs_ids=True,
    )
    cut_note = f"passages: {passages}"
    if questions_path is None:
        made = made_queries(documents, passages=passages, count=QUERIES, language=language)
        return _without_questions(name, path, made, about, (*notes, cut_note))
    texts = {document.id: document.whole for document in documents}
    samples, of_questions = read_questions(
        questions_path,
        lambda _: texts,
        about,
        texts,
        partial(why_left_out, path),
        question=question,
        document=document,
        answer=answer,
    )
    noun = "page" if path.is_dir() else "document"
    return corpus_of(name, cut_all(texts, cut), samples, notes=(*notes, *of_questions, cut_note), noun=noun)


def _without_questions(
    name: str, path: Path, made: MadeQueries, about: About, notes: Sequence[str]
) -> Corpus[Question]:
    """Return a corpus of queries that were made from the documents, each passage a document.

    Raises
    ------
    SourceError
        If there is no query.
    """
    if not made.queries:
        reasons = "; ".join(f"{number:,} × {reason}" for reason, number in made.rejected.most_common(3))
        raise SourceError(f"no queries can be made from the documents ({reasons or 'no text'}); add {NEEDED}", path)
    samples = []
    for query in made.queries:
        right = tuple(passage.id for passage in query.right)
        # Queries from one document are not independent; a dict keeps each document once, in order.
        of_documents = dict.fromkeys(passage.unit for passage in query.right)
        samples.append(Question(query.id, query.text, right, units=units(of_documents, about)))
    documents = [Document(passage.id, (passage.text,)) for passage in made.passages]
    were = counted(len(made.queries), "query was", "queries were")
    summary = f"no questions given: {were} {SOURCE.removeprefix('queries ')}; {REAL_ADD}"
    return corpus_of(name, documents, samples, notes=(summary, "each passage is a document", *notes), source=SOURCE)
