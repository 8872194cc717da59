"""The documents of a corpus that are nearest to its questions by the vectors of an encoder."""

from __future__ import annotations

from itertools import chain

from embassay.core.samples.retrieval import Question, first_passages, right_pairs
from embassay.core.types import Corpus
from embassay.core.vectors import Neighbours, Vectors
from embassay.search.exact.top import search


def nearest_documents(corpus: Corpus[Question], vectors: Vectors, k: int) -> Neighbours:
    """Return the k documents nearest to each question, and the ranks of the right ones, by an exact search.

    Parameters
    ----------
    vectors
        Of the questions and of all passages, or of whole documents (``Vectors.of_whole_documents``), which are shown by
        their first passages.
    """
    documents = corpus.whole.documents if vectors.of_whole_documents else corpus.documents
    nearest = search(
        vectors.take([sample.question for sample in corpus.samples], "query"),
        vectors.take(chain.from_iterable(document.passages for document in documents), "document"),
        k=min(k, len(documents)),
        similarity_function=vectors.similarity,
        starts=first_passages(documents),
        pairs=right_pairs(corpus.samples, corpus.documents),
    )
    return nearest.shown_by(first_passages(corpus.documents)) if vectors.of_whole_documents else nearest
