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
        Of the questions and of all passages.
    """
    return search(
        vectors.take([sample.question for sample in corpus.samples], "query"),
        vectors.take(chain.from_iterable(document.passages for document in corpus.documents), "document"),
        k=min(k, len(corpus.documents)),
        similarity_function=vectors.similarity,
        starts=first_passages(corpus.documents),
        pairs=right_pairs(corpus.samples, corpus.documents),
    )
