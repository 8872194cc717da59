"""The documents nearest to each query, exactly; and where given documents stand.

A fast product of single precision proposes documents together with a bound that proves that it has missed none;
what decides, and what is returned, is the similarity of ``geometry.closeness`` in float64. So the answer is the same
to the last bit on every route, whatever the blocks. A query that single precision cannot settle goes through double
precision, and one of too many equal documents through all similarities one by one: slower, and as right.

A document is as near as the nearest of its passages. Order: nearest first, ties by index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from embassay.engine import _topk_eight, _topk_faiss, _topk_rows, _topk_torch
from embassay.engine._topk_prepared import LEAST, MOST, Prepared, Sizes
from embassay.engine._topk_products import NumpyProduct, Product
from embassay.engine._topk_scan import scan
from embassay.engine._topk_task import Answer, Ints, Task
from embassay.errors import UnknownNameError
from embassay.vectors import Found, Similarity

ROUTES = ("auto", "numpy", "torch", "bf16", "int8", "faiss")
Products = Sequence[Callable[[Task, Ints], Product]]


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
        ``auto``, ``numpy``, ``torch``, ``bf16``, ``int8``: exact. ``faiss``: approximate, with its recall measured.
        ``int8`` is ``numpy`` where places are asked for.
        Sparse vectors have one route, an exact one.
    device
        ``auto``, or a device of torch; of several with commas between them, the first.

    Raises
    ------
    UnknownNameError
        For a route that there is not.
    MissingExtraError
        If faiss is asked for and not installed, or one of ``torch``, ``bf16`` and ``int8`` and torch is not.
    InputError
        If ``int8`` is asked for and torch has no exact products of 8 bits here.
    ValueError
        For shapes that do not belong together.
    """
    if route not in ROUTES:
        raise UnknownNameError("search route", route, ROUTES)
    task = Task(queries, passages, starts, max(k, 1), measure)
    asked = np.asarray(pairs if pairs is not None and len(pairs) else np.empty((0, 2)), dtype=np.int64)
    _check(task, asked)
    if route == "faiss":
        return _approximate(task, asked, k, device)
    products, name = _products(task, route, device, places=len(asked) > 0)
    return _exact(task, asked, k, products, name)


def _exact(task: Task, pairs: Ints, k: int, products: Products, name: str) -> Found:
    """Settle each query by the first product that can, else whole."""
    answer = Answer(task, pairs)
    ids = _defined(task)
    if task.sparse:
        _topk_rows.settle(answer, ids)
        return answer.found(name, k)
    norms = np.sqrt(task.squares[ids])
    usual = (norms > LEAST) & (norms < MOST)
    odd, rest = ids[~usual], ids[usual]
    again = 0
    for place, product in enumerate(products):
        if len(rest):
            again += len(rest) if place else 0
            rest = scan(answer, product(task, rest), rest)
    whole = np.sort(np.concatenate([odd, rest]))
    _topk_rows.settle(answer, whole)
    notes = [f"{again} of {len(ids)} queries looked at again"] * bool(again)
    notes += [f"{len(whole)} worked out whole"] * bool(len(whole))
    return answer.found("; ".join([name, *notes]), k)


def _approximate(task: Task, pairs: Ints, k: int, device: str) -> Found:
    count = task.passages.shape[0]
    products, name = _products(task, "auto", device, places=len(pairs) > 0)
    if task.sparse or count < _topk_faiss.FEW:
        reason = "vectors are sparse" if task.sparse else f"{count:,} passages are few"
        return _exact(task, pairs, k, products, f"exact: {reason}")
    answer, ids = Answer(task, pairs), _defined(task)
    index = _topk_faiss.settle(answer, ids)
    checked = ids[np.unique(np.linspace(0, len(ids) - 1, min(len(ids), _topk_faiss.CHECKED)).astype(np.int64))]
    part = Task(task.queries[checked], task.passages, task.starts, task.k, task.measure)
    right = _exact(part, pairs[:0], k, products, name)
    share = _topk_faiss.recall(answer, right, checked, k)
    return answer.found(f"approximate: {index}, recall@{k} {share:.3f} on {len(checked)} queries", k)


def _products(
    task: Task, route: str, device: str, sizes: Sizes | None = None, places: bool = False
) -> tuple[Products, str]:
    """Return the products to try in turn, the last of them in double precision, and the name of the route.

    To count who is nearer, where ``places`` are asked for, 8 bits leave too much open.
    """
    if task.sparse:
        return (), "exact: sparse products, float64"
    if route == "auto":
        work = task.queries.shape[0] * task.passages.shape[0]
        route, device = _topk_torch.choose(device, work, task.passages.shape[0])
        if route == "numpy" and not places and _topk_eight.worth(task.queries.shape[0], task.passages.shape[0]):
            route = "int8"
    elif device == "auto":
        device = _topk_torch.accelerator() if route == "torch" else "cpu"
    device = _topk_torch.first_of(device)
    small = sizes or Sizes()
    single, double = (partial(_by_numpy, small, dtype) for dtype in (np.float32, np.float64))
    if route == "numpy" or (route == "int8" and places):
        return (single, double), "exact: numpy float32, decided in float64"
    if route == "torch":
        large = sizes or (Sizes() if device == "cpu" else _topk_torch.ON_ACCELERATOR)
        first = partial(_topk_torch.TorchProduct, sizes=large, device=device)
        return (first, double), f"exact: torch float32 on {device}, decided in float64"
    if route == "int8":
        eight = partial(_topk_eight.EightBitProduct, sizes=small)
        return (eight, single, double), "exact: torch int8 and float32, decided in float64"
    half = partial(_topk_torch.TorchProduct, sizes=small, half=True)
    extra = 2 * small.passages * task.passages.shape[1] + 2 * task.queries.size
    return (half, single, double), f"exact: torch bfloat16 ({extra / 1e6:.0f} MB more), decided in float64"


def _by_numpy(sizes: Sizes, dtype: Any, task: Task, ids: Ints) -> Product:
    return NumpyProduct(Prepared(task, ids, sizes, dtype))


def _defined(task: Task) -> Ints:
    """Return the queries that have a similarity to something."""
    if task.measure == "dot":
        return np.arange(task.queries.shape[0])
    return np.flatnonzero((task.squares > 0) & np.isfinite(task.squares))


def _check(task: Task, pairs: Ints) -> None:
    """Refuse shapes that do not belong together."""
    count, width = task.passages.shape
    if task.queries.shape[1] != width or issparse(task.queries) != task.sparse:
        raise ValueError(f"queries of shape {task.queries.shape} and passages of {task.passages.shape} do not fit")
    starts = task.starts
    if starts is not None and len(starts):
        if starts[0] != 0 or starts[-1] >= count or (np.diff(starts) <= 0).any():
            raise ValueError("starts must ascend from 0, each document with a passage at least")
    elif starts is not None and count:
        raise ValueError("starts must ascend from 0, each document with a passage at least")
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"pairs must be (R, 2), not {pairs.shape}")
    if len(pairs) and (pairs.min() < 0 or (pairs.max(axis=0) >= (task.queries.shape[0], task.documents)).any()):
        raise ValueError("pairs name a query or document that there is not")
