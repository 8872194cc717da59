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

from embassay.core.errors import UnknownNameError
from embassay.core.vectors import Neighbours, Similarity
from embassay.search.exact import gpu as topk_gpu
from embassay.search.exact.exact import ImpreciseProductError, Matrix, NearestSoFar, NumpyProduct, SearchTask, scan

ROUTES = ("auto", "numpy", "torch")


def search(
    queries: Matrix,
    passages: Matrix,
    *,
    k: int,
    similarity_function: Similarity,
    starts: NDArray[np.int64] | None = None,
    pairs: NDArray[np.int64] | None = None,
    route: str = "auto",
    device: str = "auto",
) -> Neighbours:
    """Find the k documents nearest to each query.

    Parameters
    ----------
    queries, passages
        (Q, d) and (P, d): dense, float32 or float64, passages also memory-mapped; or both CSR.
    k
        The number of documents for each query. If fewer have a similarity, the remaining places are −1.
    similarity_function
        ``cosine``, which is undefined for a zero vector, or ``dot``, which is always defined.
    starts
        (N,) the first passage of each document, ascending from 0; None if every passage is a document.
    pairs
        (R, 2) queries and documents; the rank of each document for its query is returned.
    route
        ``numpy`` or ``torch``, with the same result. ``auto``: ``torch`` if it is loaded and the search is large enough
        for a GPU, else ``numpy``.
    device
        ``auto``, or a device of torch.

    Raises
    ------
    UnknownNameError
        If the route is not one of ``ROUTES``.
    ValueError
        If the shapes do not match.
    """
    if route not in ROUTES:
        raise UnknownNameError("search route", route, ROUTES)
    # Two columns also where there are none.
    pairs = np.asarray([] if pairs is None else pairs, dtype=np.int64).reshape(-1, 2)
    task = SearchTask(queries, passages, starts, max(k, 1), similarity_function, pairs)
    _check(task)
    if starts is not None and len(starts) == passages.shape[0]:
        # Each document has one passage.
        task = replace(task, starts=None)
    return _searched(task, route, device).result(task, k)


def _searched(task: SearchTask, route: str, device: str) -> NearestSoFar:
    """Search on the route that a task allows."""
    if task.sparse:
        return scan(task, NumpyProduct(), np.float64)
    device = topk_gpu.choose(device, task.queries.shape[0] * task.passages.shape[0])
    if route == "torch":
        device = device or "cpu"
    if route != "numpy" and device:
        return _scanned(task, topk_gpu.TorchProduct(device))
    return _scanned(task, NumpyProduct())


def _scanned(task: SearchTask, product: NumpyProduct) -> NearestSoFar:
    """Search all documents with products in float32, or in float64 where these are not precise enough."""
    try:
        return scan(task, product, np.float32)
    except ImpreciseProductError:
        return scan(task, NumpyProduct(), np.float64)


def _check(task: SearchTask) -> None:
    """Raise ValueError if the shapes do not match, or starts or pairs are invalid."""
    queries, passages = task.queries.shape, task.passages.shape
    if queries[1] != passages[1] or issparse(task.queries) != task.sparse:
        raise ValueError(f"queries of shape {queries} do not match passages of shape {passages}")
    if task.starts is not None:
        # The first passage of each document, and the end of the last one.
        edges = np.append(task.starts, passages[0])
        if edges[0] != 0 or (len(task.starts) and (np.diff(edges) <= 0).any()):
            raise ValueError("starts must begin at 0 and increase strictly: each document has at least one passage")
    pairs = task.pairs
    if len(pairs) and (pairs.min() < 0 or (pairs.max(axis=0) >= (queries[0], task.documents)).any()):
        raise ValueError("pairs contain a query or document that does not exist")
