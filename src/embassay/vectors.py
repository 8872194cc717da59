"""An encoder's vectors, all that a diagnostic knows of it, and the search among them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from embassay.samples import Role, Text

Similarity = Literal["cosine", "dot"]
"""What a model compares a query with a document by."""


@dataclass(frozen=True)
class Found:
    """The documents nearest to each of Q queries, and where given documents stand; all similarities in float64.

    Attributes
    ----------
    documents
        (Q, k) indices, nearest first, ties by index; −1 where fewer than k documents have a similarity.
    passages
        (Q, k) the row of each document's nearest passage, the first of equal ones; −1 likewise.
    similarity
        (Q, k) of that passage, larger is nearer; NaN likewise.
    own
        (R,) the similarity of each of R given (query, document) pairs; NaN where it is undefined.
    greater, tied
        (R,) how many documents are strictly nearer to the query than the given one, and how many are exactly as near,
        itself included. A document without a similarity stands after all others, tied with its like; −1 where the
        query has no similarity to anything, or where the document was not found by an approximate search.
    route
        How it was worked out, for people.
    """

    documents: NDArray[np.int64]
    passages: NDArray[np.int64]
    similarity: NDArray[np.float64]
    own: NDArray[np.float64]
    greater: NDArray[np.int64]
    tied: NDArray[np.int64]
    route: str = ""


class Search(Protocol):
    """Finds the nearest documents; see ``engine/topk.py``."""

    def __call__(
        self,
        queries: Any,
        passages: Any,
        *,
        k: int,
        measure: Similarity,
        starts: NDArray[np.int64] | None = None,
        pairs: NDArray[np.int64] | None = None,
        route: str = "auto",
    ) -> Found:
        """Search (P, d) passages for the k documents nearest to each of (Q, d) queries.

        Parameters
        ----------
        starts
            (N,) the first passage of each document, ascending from 0; every passage is a document where None.
        pairs
            (R, 2) query and document whose place in the order is asked for.
        route
            How: exact in the fastest way that there is, or ``faiss`` for an approximate search.
        """
        ...


@dataclass(frozen=True)
class Vectors:
    """All that a diagnostic knows of a model: a matrix, and which row is which text.

    Attributes
    ----------
    similarity
        What the model compares a query with a document by.
    search
        Finds the documents nearest to queries; None where nothing is looked for.
    learn
        Given the (m,) rows to learn from, the (n, d) matrix of all rows by an encoder that has learnt from these only;
        None where nothing is learnt inside a training fold.
    """

    matrix: Any
    row: Mapping[Text, int]
    similarity: Similarity = "cosine"
    search: Search | None = None
    learn: Callable[[NDArray[np.int64]], Any] | None = None

    def take(self, texts: Iterable[str], role: Role = "text") -> Any:
        """Return the (n, d) rows of the texts, in their order."""
        return self.matrix[[self.row[role, text] for text in texts]]
