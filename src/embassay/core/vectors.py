"""The vectors of an encoder, and the result of a search among them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from embassay.core.arrays import Floats, Ints
from embassay.core.samples.base import Role, Text

Similarity = Literal["cosine", "dot"]
"""How a model compares a query with a document."""
DenseVectors = NDArray[np.float32]
"""Vectors, one a row."""
Indices = Ints
"""Numbers of rows or columns, from 0."""
VectorBatch = tuple[Indices, DenseVectors]
"""Indices of texts, and their vectors in the same order."""
VectorMatrix: TypeAlias = DenseVectors | csr_array
"""Vectors, one a row: dense float32, or sparse."""


@dataclass(frozen=True)
class Neighbours:
    """The documents nearest to each of Q queries, and the ranks of given documents; all similarities in float64.

    Attributes
    ----------
    documents
        (Q, k) indices, nearest first, ties by index; −1 where fewer than k documents have a similarity.
    passages
        (Q, k) the row of each document's nearest passage, the first of equal ones; −1 likewise.
    similarity
        (Q, k) of that passage, larger is nearer; NaN likewise.
    own, own_passages
        (R,) the similarity of each of R given (query, document) pairs, NaN where it is undefined, and the row of the
        document's nearest passage, −1 likewise.
    greater, tied
        (R,) how many documents are strictly nearer to the query than the given one, and how many are exactly as near,
        itself included. Documents without a similarity rank after all others and are tied with each other; −1 where
        the query has no similarity to any document, or where no list has the document.
    """

    documents: Indices
    passages: Indices
    similarity: Floats
    own: Floats
    own_passages: Indices
    greater: Indices
    tied: Indices

    def first(self, depth: int) -> Floats:
        """Return (Q, m) the first documents of each query, and all others that are exactly as near as the last of them.

        NaN after the last one.
        """
        is_listed = self.documents >= 0
        if self.documents.shape[1] > depth:
            is_listed[:, depth:] &= self.similarity[:, depth:] == self.similarity[:, depth - 1 : depth]
        return np.where(is_listed, self.documents, np.nan)[:, is_listed.any(axis=0)]


@dataclass(frozen=True)
class Vectors:
    """The vectors that a diagnostic receives from an encoder: a matrix, and the row of each text.

    Attributes
    ----------
    matrix
        (n, d) float32, dense or CSR, finite, with a row for each distinct (role, text) of the corpus. Rows may be zero
        and need not have length 1. The texts of other corpora may have rows too.
    row
        The row of each (role, text).
    similarity
        How the model compares a query with a document.
    search
        Finds the documents nearest to queries, as ``embassay.search.exact.top.search``, and returns
        :class:`Neighbours`; None if the diagnostic does not search.
    learn
        Takes the indices of (m,) rows to learn from; returns the (n, d) matrix of all rows by an encoder that was
        trained on these only. None if the encoder does not train inside a fold.
    documents
        (p, d) the vectors of documents whose texts are not available, read on access; None for all other corpora.
    tokens
        Takes texts of documents; returns the (n,) tokens of each before truncation. None if that is not known.
    most_tokens
        The number of tokens after which the encoder truncates a text; None for no limit.

    Examples
    --------
    >>> import numpy as np
    >>> vectors = ea.Vectors(np.ones((1, 2), np.float32), {("text", "It rained."): 0})
    >>> vectors.matrix[vectors.row["text", "It rained."]]
    array([1., 1.], dtype=float32)
    """

    matrix: Any
    row: Mapping[Text, int]
    similarity: Similarity = "cosine"
    search: Any = None
    learn: Callable[[Indices], Any] | None = None
    documents: Any = None
    tokens: Callable[[Sequence[str]], Sequence[int] | Indices | None] | None = None
    most_tokens: int | None = None

    def take(self, texts: Iterable[str], role: Role = "text") -> Any:
        """Return the (n, d) rows of the texts, in their order."""
        return self.matrix[[self.row[role, text] for text in texts]]
