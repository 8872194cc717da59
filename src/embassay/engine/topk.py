"""The documents nearest to each query, exactly; and the ranks of given documents.

Products in float32 select, block by block, with a proven bound on their error; what decides, and what is returned, is
the similarity of ``geometry.closeness`` in float64. So ids, ranks, ties and similarities are those of float64, to the
last bit and whatever the blocks, the number of threads or the device. Documents that float32 cannot tell apart take
longer, and are as right.

A document is as near as the nearest of its passages. Order: nearest first, ties by index.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from embassay.engine import topk_faiss, topk_gpu
from embassay.engine.topk_answer import Answer, Matrix, SearchTask
from embassay.engine.topk_products import NumpyProduct, Product, SparseProduct
from embassay.engine.topk_scan import ImpreciseProductError, scan
from embassay.errors import UnknownNameError
from embassay.vectors import Found, Similarity

ROUTES = ("auto", "numpy", "torch", "faiss")


def search(
    queries: Matrix,
    passages: Matrix,
    *,
    k: int,
    measure: Similarity,
    starts: NDArray[np.int64] | None = None,
    pairs: NDArray[np.int64] | None = None,
    route: str = "auto",
    device: str = "auto",
) -> Found:
    """Find the k documents nearest to each query.

    Parameters
    ----------
    queries, passages
        (Q, d) and (P, d): dense, float32 or float64, passages also memory-mapped; or both CSR.
    k
        How many; places beyond the documents that have a similarity stay empty.
    measure
        ``cosine`` is undefined for a zero vector; ``dot`` never is.
    starts
        (N,) the first passage of each document, ascending from 0; every passage is a document where None.
    pairs
        (R, 2) query and document whose place among all documents is asked for.
    route
        ``numpy`` or ``torch``: exact. ``auto``: ``torch`` where it is loaded and a GPU is worth it, else ``numpy``.
        ``faiss``: approximate, with its recall measured. Sparse vectors have one route, an exact one.
    device
        ``auto``, or a device of torch; of several with commas between them, the first.

    Raises
    ------
    UnknownNameError
        For a route that there is not.
    MissingExtraError
        If faiss or torch is asked for and not installed.
    ValueError
        For shapes that do not belong together.
    """
    if route not in ROUTES:
        raise UnknownNameError("search route", route, ROUTES)
    if pairs is None or not len(pairs):
        pairs = np.empty((0, 2), dtype=np.int64)
    task = SearchTask(queries, passages, starts, max(k, 1), measure, np.asarray(pairs, dtype=np.int64))
    _check(task)
    if starts is not None and len(starts) == passages.shape[0]:
        # Each document has one passage.
        task = replace(task, starts=None)
    if route == "faiss":
        return _approximate(task, k, device)
    answer, name = _exact(task, route, device)
    return answer.result(name, k)


def _exact(task: SearchTask, route: str, device: str) -> tuple[Answer, str]:
    """Search exactly; return the answer and how it was worked out."""
    if task.sparse:
        return scan(task, SparseProduct, np.float64), "exact: sparse products, float64"
    device = device.split(",")[0].strip()
    if route == "auto":
        device = topk_gpu.choose(device, task.queries.shape[0] * task.passages.shape[0])
    elif route == "torch" and device == "auto":
        device = topk_gpu.accelerator()
    product: Callable[[Matrix], Product]
    if route == "numpy" or not device:
        product, name = NumpyProduct, "numpy float32"
    else:
        product, name = partial(topk_gpu.TorchProduct, device=device), f"torch float32 on {device}"
    try:
        return scan(task, product, np.float32), f"exact: {name}, decided in float64"
    except ImpreciseProductError:
        return scan(task, NumpyProduct, np.float64), f"exact: numpy float64, because {name} is not precise enough"


def _approximate(task: SearchTask, k: int, device: str) -> Found:
    """Search by faiss, and measure what it misses on some of the queries."""
    count = task.passages.shape[0]
    if task.sparse or count < topk_faiss.FEW:
        reason = "vectors are sparse" if task.sparse else f"only {count:,} passages"
        exact, _ = _exact(task, "auto", device)
        return exact.result(f"exact: {reason}", k)
    answer, index = topk_faiss.approximate(task)
    checked = topk_faiss.checked_queries(task)
    exact, _ = _exact(replace(task, queries=task.queries[checked], pairs=task.pairs[:0]), "auto", device)
    recall = topk_faiss.recall(answer.documents[checked, :k], exact.documents[:, :k])
    return answer.result(f"approximate: {index}, recall@{k} {recall:.3f} on {len(checked)} queries", k)


def _check(task: SearchTask) -> None:
    """Refuse shapes that do not belong together."""
    queries, passages = task.queries.shape, task.passages.shape
    if queries[1] != passages[1] or issparse(task.queries) != task.sparse:
        raise ValueError(f"queries of shape {queries} do not match passages of shape {passages}")
    if task.starts is not None:
        # The first passage of each document, and the end of the last one.
        edges = np.append(task.starts, passages[0])
        if edges[0] != 0 or (len(task.starts) and (np.diff(edges) <= 0).any()):
            raise ValueError("starts must begin at 0 and increase strictly: each document has at least one passage")
    pairs = task.pairs
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"pairs must be (R, 2), not {pairs.shape}")
    if len(pairs) and (pairs.min() < 0 or (pairs.max(axis=0) >= (queries[0], task.documents)).any()):
        raise ValueError("pairs contain a query or document that does not exist")
