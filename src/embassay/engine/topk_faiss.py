"""Approximate search by faiss: lists of passages around centres, a share of the lists looked through.

An inverted file and no graph: it is the same at every run, and it is built in less time. What it proposes is ranked
by the float64 similarities; how much it misses is measured, not promised.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from embassay.engine.topk_answer import Answer, Floats, Ints, SearchTask
from embassay.errors import MissingExtraError

FEW = 50_000
"""Passages below which an exact search is as quick."""
DEPTH = 100
"""Documents that are looked for at least."""
PROBED = 16
"""One list in so many is looked through."""
CHECKED = 256
"""Queries whose result is compared with an exact search."""
STEP = 16_384


def approximate(task: SearchTask) -> tuple[Answer, str]:
    """Return what is found, and the name of the index.

    Raises
    ------
    MissingExtraError
        If faiss is not installed.
    """
    answer, ids = Answer(task), np.flatnonzero(task.defined)
    answer.greater[:] = answer.tied[:] = -1
    index, name = _index(load(), task)
    # A document may have several of the nearest passages.
    depth = min(max(DEPTH, task.k) * (1 if task.starts is None else 4), task.passages.shape[0])
    for start in range(0, len(ids), STEP):
        part = ids[start : start + STEP]
        _, passages = index.search(_rows(task, task.queries[part]), depth)
        for query, row in zip(part.tolist(), passages, strict=True):
            documents = np.unique(task.documents_of(row[row >= 0].astype(np.int64)))
            queries = np.full(len(documents), query)
            similarity, passage = task.similarity(queries, documents)
            answer.add(queries, documents, passage, similarity)
            _, pairs = task.pairs_of(queries[:1])
            pairs = pairs[np.isin(task.pairs[pairs, 1], documents) & ~np.isnan(task.pair_similarity[pairs])]
            answer.greater[pairs] = answer.tied[pairs] = 0
            answer.count(pairs, queries, similarity)
    return answer, name


def checked_queries(task: SearchTask) -> Ints:
    """Return the queries whose result is to be compared with an exact search."""
    ids = np.flatnonzero(task.defined)
    return ids[np.unique(np.linspace(0, len(ids) - 1, min(len(ids), CHECKED)).astype(np.int64))]


def recall(found: Ints, right: Ints) -> float:
    """Return the share of the (n, k) truly nearest documents that are among the found ones; −1 is none."""
    hits = sum(len(np.intersect1d(a[a >= 0], b)) for a, b in zip(right, found, strict=True))
    return hits / max(int(np.count_nonzero(right >= 0)), 1)


def load() -> Any:
    """Import faiss, or say what installs it."""
    try:
        return importlib.import_module("faiss")
    except ImportError as error:
        raise MissingExtraError("approximate search", "ann") from error


def _index(faiss: Any, task: SearchTask) -> tuple[Any, str]:
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


def _rows(task: SearchTask, rows: Any) -> Any:
    """Return rows as faiss wants them, of length 1 for cosines; a zero vector stays one."""
    wide: Floats = np.asarray(rows, dtype=np.float64)
    if task.measure == "cosine":
        wide = wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    return np.ascontiguousarray(wide, dtype=np.float32)
