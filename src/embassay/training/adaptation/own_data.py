"""The user's own data for training: raw text of the domain, and triplets instead of mined negatives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from embassay.core.errors import SourceError, listed
from embassay.core.formatting import counted
from embassay.core.store.paths import source_path
from embassay.core.tables.records import read_table
from embassay.core.tables.rows import Row, Stripped, as_list, checked
from embassay.corpora.io.documents import read_documents
from embassay.training.adaptation.material import Material
from embassay.training.adaptation.negatives import NONE, Mined
from embassay.training.triplets import Triplet, normalised

QUERY = ("query", "question", "anchor")
POSITIVE = ("positive", "pos")
NEGATIVE = "neg"
"""The names of the columns; those of negatives begin with it: ``negatives``, ``neg``, ``negative_1``."""


class TripletRow(Row):
    """A query, texts that answer it, and texts that do not."""

    query: Stripped
    positive: list[Stripped]
    negatives: list[Stripped]


def read_texts(sources: Iterable[str]) -> tuple[str, ...]:
    """Return the texts of the documents in files and folders, as the loader ``documents`` reads them.

    Raises
    ------
    SourceError
        For a source that cannot be read or has no text.
    """
    texts = list[str]()
    for source in sources:
        documents, _ = read_documents(source_path(source), option="the heading {!r}")
        texts += (document.text for document in documents)
    return tuple(texts)


def read_triplets(source: str) -> tuple[Triplet, ...]:
    """Read a table of queries, texts that answer them, and texts that do not; a cell may be a list.

    Rows of one query and positive are one triplet.

    Raises
    ------
    SourceError
        For a table without these columns, and for a row whose positive is also among its negatives.
    """
    path = source_path(source)
    table = read_table(path)
    query, positive = table.column(QUERY), table.column(POSITIVE)
    negatives = [name for name in table.names if name.startswith(NEGATIVE)]
    if not (query and positive and negatives):
        raise SourceError(f"needs the columns query, positive and negatives; found {listed(table.names)}", path)
    wrong: dict[tuple[str, str], dict[str, None]] = {}
    for line, record in table.records([query, positive, *negatives]):
        cells = {
            query: record.get(query),
            positive: as_list(record.get(positive)),
            "negatives": [text for name in negatives for text in as_list(record.get(name))],
        }
        row = checked(TripletRow, cells, path, line, {"query": query, "positive": positive})
        for right in row.positive:
            if right in row.negatives:
                raise row.error("is also among the negatives", "positive")
            wrong.setdefault((row.query, right), {}).update(dict.fromkeys(row.negatives))
    return tuple(Triplet(question, right, tuple(texts)) for (question, right), texts in wrong.items())


def own_triplets(source: str | None, material: Material) -> Mined:
    """Read triplets without those that teach the answer to a held-out question; a note counts these.

    They are those whose query is a test or dev question, and, where documents are held out, those whose positive is a
    passage of such a document. Returns no triplets if there is no file.

    Raises
    ------
    SourceError
        For a file that cannot be read, and if no triplet is left.
    """
    if source is None:
        return NONE
    triplets = read_triplets(source)
    held_out = material.held_out
    documents = [document for document in material.union.documents if document.id in held_out]
    texts = {normalised(passage) for document in documents for passage in document.passages}
    questions = {normalised(question.question) for question in material.held_out_questions}
    kept = [
        triplet
        for triplet in triplets
        if normalised(triplet.question) not in questions and normalised(triplet.right) not in texts
    ]
    left_out = f"{counted(len(triplets) - len(kept), 'triplet')} left out: they quote a held-out question or document"
    if not kept:
        raise SourceError(f"no triplet to learn from; {left_out}", source)
    return Mined(tuple(kept), Counter(), (left_out,) if len(kept) < len(triplets) else ())
