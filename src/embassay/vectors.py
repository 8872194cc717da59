"""The vectors of an encoder, the result of a search among them, and checks of the arrays that encoders return."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from embassay.errors import EncoderError
from embassay.samples.base import Role, Text

Similarity = Literal["cosine", "dot"]
"""How a model compares a query with a document."""
VectorMatrix: TypeAlias = "NDArray[np.float32] | csr_array"
"""Vectors, one a row: dense float32, or sparse."""


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
    """The vectors that a diagnostic receives from an encoder: a matrix, and the row of each text.

    Attributes
    ----------
    matrix
        (n, d) float32, dense or CSR, finite, a row for each distinct (role, text) of the corpus; rows may be zero, and
        need not have length 1. Other corpora's texts may be in it too.
    row
        The row of each (role, text).
    similarity
        How the model compares a query with a document.
    search
        Finds the documents nearest to queries; None if the diagnostic does not search.
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


QUOTED = 40
"""Characters of a text that a message shows."""


def as_array(found: Any) -> Any:
    """Return what an encoder gave as an array, sparse if it is; raise EncoderError for rows that make none."""
    if issparse(found):
        return found
    try:
        return np.asarray(found)
    except ValueError:
        lengths = sorted({len(row) for row in found if hasattr(row, "__len__")})
        if len(lengths) > 1:
            raise EncoderError(f"it returned vectors of different lengths, {lengths[0]} to {lengths[-1]}") from None
        raise EncoderError(
            f"it returned {type(found).__name__} that cannot be read as an (n, d) array of numbers"
        ) from None


def described(found: Any, matrix: Any) -> str:
    """Return what an encoder gave in words, by its array: its type, dtype and shape."""
    form = f" of dtype {matrix.dtype} and shape {matrix.shape}" if matrix.ndim else ""
    return f"{type(found).__name__}{form}"


def as_float32(rows: Any, texts: Sequence[str]) -> Any:
    """Return the (n, d) rows of n texts as float32, dense or sparse.

    Raises
    ------
    EncoderError
        If a finite number is too large for float32.
    """
    with np.errstate(over="ignore"):
        found = rows.astype(np.float32, copy=False)
    if rows.dtype.kind == "f" and rows.dtype.itemsize > found.dtype.itemsize:
        place = _first(rows, lambda numbers: np.isfinite(numbers) & np.isinf(numbers.astype(np.float32)))
        if place is not None:
            largest = f"(numbers of up to {np.finfo(np.float32).max:.1e})"
            raise EncoderError(f"it returned a number too large for float32 {largest} for {_said(place, texts)}")
    return found


def with_narrow_indices(rows: Any) -> Any:
    """Return CSR rows with 32-bit indices, or unchanged if these are too small; liblinear accepts no others."""
    largest = max(rows.nnz, *rows.shape)
    if largest > np.iinfo(np.int32).max:
        return rows
    indices = rows.indices.astype(np.int32, copy=False)
    starts = rows.indptr.astype(np.int32, copy=False)
    return csr_array((rows.data, indices, starts), shape=rows.shape)


def check_finite(rows: Any, texts: Sequence[str]) -> None:
    """Raise EncoderError if a vector has NaN or infinity; the message names the text."""
    place = _first(rows, lambda numbers: ~np.isfinite(numbers))
    if place is not None:
        raise EncoderError(f"it returned a vector with NaN or infinity for {_said(place, texts)}")


def _first(rows: Any, wrong: Callable[[NDArray[Any]], NDArray[np.bool_]]) -> int | None:
    """Return the index of the first row that holds a wrong number; None if no row does."""
    with np.errstate(over="ignore"):
        found = wrong(rows.data if issparse(rows) else rows)
    if not found.any():
        return None
    if issparse(rows):
        rows = csr_array(rows)
        with np.errstate(over="ignore"):
            return int(np.searchsorted(rows.indptr, wrong(rows.data).argmax(), side="right")) - 1
    return int(np.argwhere(found)[0][0]) if found.ndim else 0


def _said(place: int, texts: Sequence[str]) -> str:
    """Describe a text by its number in the batch (from 1) and its first characters."""
    text = " ".join(texts[place].split()) if place < len(texts) else ""
    begins = text if len(text) <= QUOTED else f"{text[:QUOTED]}…"
    return f"text {place + 1} of the {len(texts)} in its batch, {begins!r}"
