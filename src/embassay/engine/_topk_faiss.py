"""Approximate search by faiss: lists of passages around centres, a share of the lists looked through.

An inverted file and no graph: it is the same at every run, and it is built in less time. What it proposes is ranked
by the float64 similarities; how much it misses is measured, not promised.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from embassay.engine._topk_task import Answer, Floats, Ints, Task
from embassay.errors import MissingExtraError
from embassay.vectors import Found

FEW = 50_000
"""Passages below which an exact search is as quick."""
DEPTH = 100
"""Documents that are looked for at least."""
PROBED = 16
"""One list in so many is looked through."""
CHECKED = 256
"""Queries whose result is compared with an exact search."""
STEP = 16_384


def load() -> Any:
    """Import faiss, or say what installs it."""
    try:
        return importlib.import_module("faiss")
    except ImportError as error:
        raise MissingExtraError("approximate search", "ann") from error


def settle(answer: Answer, ids: Ints) -> str:
    """Fill in what is found for the queries; return the name of the index."""
    task = answer.task
    index, name = _index(load(), task)
    # A document may have several of the nearest passages.
    depth = min(max(DEPTH, task.k) * (1 if task.starts is None else 4), task.passages.shape[0])
    for start in range(0, len(ids), STEP):
        part = ids[start : start + STEP]
        _, passages = index.search(_rows(task, task.queries[part]), depth)
        hit, rank = np.nonzero(passages >= 0)
        query, passage = part[hit], passages[hit, rank].astype(np.int64)
        value = task.similarity(query, passage)
        answer.place(query, passage, value)
        _count(answer, part, query, task.document(passage), value)
    return name


def recall(answer: Answer, exact: Found, ids: Ints, k: int) -> float:
    """Return the share of the k truly nearest documents of some queries that were found."""
    found, right = answer.documents[ids, :k], exact.documents
    hits = sum(len(np.intersect1d(a[a >= 0], b)) for a, b in zip(right, found, strict=True))
    return hits / max(int(np.count_nonzero(right >= 0)), 1)


def _index(faiss: Any, task: Task) -> tuple[Any, str]:
    count, width = task.passages.shape
    lists = max(1, round(2 * count**0.5))
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(width), width, lists, faiss.METRIC_INNER_PRODUCT)
    index.cp.niter, index.cp.seed, index.cp.spherical = 10, 0, task.measure == "cosine"
    index.nprobe = -(-lists // PROBED)
    sample = np.linspace(0, count - 1, min(count, 64 * lists)).astype(np.int64)
    index.train(_rows(task, task.passages[sample]))
    for start in range(0, count, STEP):
        index.add(_rows(task, task.passages[start : start + STEP]))
    return index, f"faiss IVF{lists} nprobe {index.nprobe}"


def _rows(task: Task, rows: Any) -> Any:
    """Return rows as faiss wants them, of length 1 for cosines; a zero vector stays one."""
    wide: Floats = np.asarray(rows, dtype=np.float64)
    if task.measure == "cosine":
        wide = wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    return np.ascontiguousarray(wide, dtype=np.float32)


def _count(answer: Answer, ids: Ints, query: Ints, document: Ints, value: Floats) -> None:
    """Place the pairs whose document is among those found."""
    begin = np.searchsorted(query, np.append(ids, ids[-1] + 1))
    for at, asked in enumerate(ids.tolist()):
        part, pairs = slice(begin[at], begin[at + 1]), answer.pairs_of(asked)
        if not len(pairs):
            continue
        seen, place = np.unique(document[part], return_inverse=True)
        best = np.full(len(seen), -np.inf)
        np.fmax.at(best, place, value[part])
        for pair in pairs[np.isin(answer.pairs[pairs, 1], seen) & ~np.isnan(answer.own[pairs])].tolist():
            answer.greater[pair] = np.count_nonzero(best > answer.own[pair])
            answer.tied[pair] = np.count_nonzero(best == answer.own[pair])
