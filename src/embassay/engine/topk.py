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
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from embassay.engine import topk_faiss, topk_gpu
from embassay.engine.topk_answer import Answer, SearchTask
from embassay.engine.topk_products import NumpyProduct, Product, SparseProduct
from embassay.engine.topk_scan import ImpreciseProductError, scan
from embassay.errors import UnknownNameError
from embassay.vectors import Found, Similarity

ROUTES = ("auto", "numpy", "torch", "faiss")


def search(
    queries: Any,
    passages: Any,
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
    asked = np.asarray(pairs if pairs is not None and len(pairs) else np.empty((0, 2)), dtype=np.int64)
    task = SearchTask(queries, passages, starts, max(k, 1), measure, asked)
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
    product: Callable[[Any], Product] = NumpyProduct
    name = "numpy float32"
    if route != "numpy" and device:
        product, name = partial(topk_gpu.TorchProduct, device=device), f"torch float32 on {device}"
    try:
        return scan(task, product, np.float32), f"exact: {name}, decided in float64"
    except ImpreciseProductError:
        return scan(task, NumpyProduct, np.float64), f"exact: numpy float64, as {name} is not precise"


def _approximate(task: SearchTask, k: int, device: str) -> Found:
    """Search by faiss, and measure what it misses."""
    count = task.passages.shape[0]
    if task.sparse or count < topk_faiss.FEW:
        reason = "vectors are sparse" if task.sparse else f"{count:,} passages are few"
        return _exact(task, "auto", device)[0].result(f"exact: {reason}", k)
    answer, index = topk_faiss.approximate(task)
    checked = topk_faiss.checked_queries(task)
    part = replace(task, queries=task.queries[checked], pairs=task.pairs[:0])
    right = _exact(part, "auto", device)[0].documents[:, :k]
    share = topk_faiss.recall(answer.documents[checked, :k], right)
    return answer.result(f"approximate: {index}, recall@{k} {share:.3f} on {len(checked)} queries", k)


def _check(task: SearchTask) -> None:
    """Refuse shapes that do not belong together."""
    count, width = task.passages.shape
    if task.queries.shape[1] != width or issparse(task.queries) != task.sparse:
        raise ValueError(f"queries of shape {task.queries.shape} and passages of {task.passages.shape} do not fit")
    starts, pairs = task.starts, task.pairs
    if starts is not None and len(starts):
        if starts[0] != 0 or starts[-1] >= count or (np.diff(starts) <= 0).any():
            raise ValueError("starts must ascend from 0, each document with a passage at least")
    elif starts is not None and count:
        raise ValueError("starts must ascend from 0, each document with a passage at least")
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"pairs must be (R, 2), not {pairs.shape}")
    if len(pairs) and (pairs.min() < 0 or (pairs.max(axis=0) >= (task.queries.shape[0], task.documents)).any()):
        raise ValueError("pairs name a query or document that there is not")
