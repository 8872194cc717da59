"""Exact search: the k documents nearest to each query, and the ranks of chosen documents.

Products in float32, whose error has a proven bound, select candidates block by block. The similarity of
``geometry.closeness`` in float64 decides among them and is what is returned. So ids, ranks, ties and similarities are
those of float64 to the last bit, for any block size, number of threads and device. Documents that float32 cannot tell
apart take more time, but the result is the same.

A document is as near as its nearest passage. The nearest document comes first; ties are ordered by index.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from embassay.core.vectors import Neighbours, Similarity
from embassay.search.exact.exact import ExactSearch, ImpreciseProductError, Matrix, torch_device


def search(
    queries: Matrix,
    passages: Matrix,
    *,
    k: int,
    similarity_function: Similarity,
    starts: NDArray[np.int64] | None = None,
    pairs: NDArray[np.int64] | None = None,
) -> Neighbours:
    """Find the k documents nearest to each query.

    Parameters
    ----------
    queries, passages
        (Q, d) and (P, d): both dense, float32 or float64, or both CSR. Dense passages may be memory-mapped, or any
        object that is read on access: with a shape, and float32 rows for a slice or an (n,) array of numbers.
    k
        The number of documents for each query. If fewer have a similarity, the remaining places are −1.
    similarity_function
        ``cosine``, which is undefined for a zero vector and where a squared length overflows; or ``dot``, which is
        undefined only where it is −inf or NaN by overflow.
    starts
        (N,) the first passage of each document, ascending from 0; None if every passage is a document.
    pairs
        (R, 2) queries and documents; the rank of each document for its query is returned.

    Raises
    ------
    ValueError
        If the shapes do not match.
    """
    starts = np.arange(passages.shape[0]) if starts is None else starts
    # The first passage of each document, and the end of the last one.
    edges = np.append(starts, passages.shape[0])
    if queries.shape[1] != passages.shape[1] or issparse(queries) != issparse(passages):
        raise ValueError(f"queries of shape {queries.shape} do not match passages of shape {passages.shape}")
    if edges[0] != 0 or (len(starts) and (np.diff(edges) <= 0).any()):
        raise ValueError("starts must begin at 0 and increase strictly: each document has at least one passage")
    # Two columns also where there are none.
    pairs = np.asarray([] if pairs is None else pairs, dtype=np.int64).reshape(-1, 2)
    exact = ExactSearch(queries, passages, edges, max(k, 1), similarity_function, pairs, torch_device())
    try:
        return exact.run(k)
    except ImpreciseProductError:
        return replace(exact, device="").run(k)
