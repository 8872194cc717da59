"""Approximate search by faiss: lists of passages around centres, a share of the lists looked through.

An inverted file and no graph: it is the same at every run, and it is built in less time. What it proposes is ranked
by the float64 similarities; how much it misses is measured, not promised.
"""

from __future__ import annotations

import importlib
import math
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.engine.topk_answer import Answer, Ints, Matrix, SearchTask
from embassay.errors import MissingExtraError

FEW = 50_000
"""Passages below which an exact search is as quick."""
DEPTH = 100
"""Documents that are looked for at least."""
PROBED = 16
"""One list in so many is looked through."""
CHECKED = 256
"""Queries whose result is compared with an exact search."""
SAMPLED = 64
"""Passages for each list from which the centres are learnt, at most."""
STEP = 16_384
"""Queries or passages that faiss is given at once."""


def approximate(task: SearchTask) -> tuple[Answer, str]:
    """Return the nearest documents that faiss finds, and the name of the index.

    Raises
    ------
    MissingExtraError
        If faiss is not installed.
    """
    answer = Answer(task)
    answer.greater[:] = answer.tied[:] = -1
    index, name = _index(load(), task)
    depth = max(DEPTH, task.k)
    if task.starts is not None:
        # A document may have several of the nearest passages.
        depth *= 4
    depth = min(depth, task.passages.shape[0])
    defined = np.flatnonzero(task.defined)
    for start in range(0, len(defined), STEP):
        queries = defined[start : start + STEP]
        _, passages = index.search(_rows(task, task.queries[queries]), depth)
        for query, row in zip(queries.tolist(), passages, strict=True):
            _take_in(answer, query, row[row >= 0].astype(np.int64))
    return answer, name


def _take_in(answer: Answer, query: int, passages: Ints) -> None:
    """Add the documents of the passages that faiss proposes for a query to an answer."""
    task = answer.task
    documents = np.unique(task.documents_of(passages))
    queries = np.full(len(documents), query)
    similarity, nearest = task.similarity(queries, documents)
    answer.add(queries, documents, nearest, similarity)
    # A rank is given to the pairs whose document was proposed and has a similarity.
    _, pairs = task.pairs_of(queries[:1])
    pairs = pairs[np.isin(task.pairs[pairs, 1], documents) & ~np.isnan(task.pair_similarity[pairs])]
    answer.greater[pairs] = answer.tied[pairs] = 0
    answer.count(pairs, queries, similarity)


def checked_queries(task: SearchTask) -> Ints:
    """Return the queries whose result is to be compared with an exact search."""
    ids = np.flatnonzero(task.defined)
    return ids[np.unique(np.linspace(0, len(ids) - 1, min(len(ids), CHECKED)).astype(np.int64))]


def recall(approximate: Ints, exact: Ints) -> float:
    """Return the share of the (n, k) nearest documents that are among the approximate ones; −1 is no document."""
    hits = 0
    for nearest, proposed in zip(exact, approximate, strict=True):
        hits += len(np.intersect1d(nearest[nearest >= 0], proposed))
    return hits / max(int(np.count_nonzero(exact >= 0)), 1)


def load() -> ModuleType:
    """Import faiss, or say what installs it."""
    try:
        return importlib.import_module("faiss")
    except ImportError as error:
        raise MissingExtraError("approximate search", "ann") from error


def _index(faiss: ModuleType, task: SearchTask) -> tuple[Any, str]:
    """Return an inverted file (IVF) of all passages and its name: 2√n lists, of which each query looks through some.

    The centres of the lists are learnt from an evenly spaced sample of the passages.
    """
    count, width = task.passages.shape
    lists = max(1, round(2 * count**0.5))
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(width), width, lists, faiss.METRIC_INNER_PRODUCT)
    clustering = index.cp
    clustering.niter = 10
    clustering.seed = 0
    clustering.spherical = task.measure == "cosine"
    index.nprobe = math.ceil(lists / PROBED)
    sample_size = min(count, SAMPLED * lists)
    sample = np.linspace(0, count - 1, sample_size).astype(np.int64)
    index.train(_rows(task, task.passages[sample]))
    for start in range(0, count, STEP):
        index.add(_rows(task, task.passages[start : start + STEP]))
    return index, f"faiss IVF{lists} nprobe {index.nprobe}"


def _rows(task: SearchTask, rows: Matrix) -> NDArray[np.float32]:
    """Return rows as faiss wants them, of length 1 for cosines; a zero vector stays one."""
    rows = np.asarray(rows, dtype=np.float64)
    if task.measure == "cosine":
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows / np.maximum(lengths, np.finfo(np.float64).tiny)
    return np.ascontiguousarray(rows, dtype=np.float32)
