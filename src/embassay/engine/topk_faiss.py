"""Approximate search with faiss: passages are grouped into lists around centres, and a share of the lists is searched.

The index is an inverted file, not a graph: it is the same in every run and is built faster. The documents that it
proposes are ranked by their float64 similarities. Its recall is measured.
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
"""With fewer passages an exact search is as fast, and is used."""
DEPTH = 100
"""The least number of passages that are retrieved for a query."""
PROBED = 16
"""One list in 16 is searched."""
CHECKED = 256
"""The most queries whose result is compared with an exact search."""
SAMPLED = 64
"""The centres are learnt from at most this many passages for each list."""
STEP = 16_384
"""The number of queries or passages that are passed to faiss at once."""


def approximate(task: SearchTask) -> tuple[Answer, str]:
    """Return the nearest documents that faiss finds, and the name of the index.

    Raises
    ------
    MissingExtraError
        If faiss is not installed.
    """
    answer = Answer(task)
    # Not all documents are compared, so the ranks are unknown.
    answer.greater[:] = answer.tied[:] = -1
    index, name = _index(load(), task)
    depth = max(DEPTH, task.k)
    if task.starts is not None:
        # Several of the nearest passages may belong to one document.
        depth *= 4
    depth = min(depth, task.passages.shape[0])
    defined = np.flatnonzero(task.defined)
    for start in range(0, len(defined), STEP):
        queries = defined[start : start + STEP]
        _, passages = index.search(_rows(task, task.queries[queries]), depth)
        for query, row in zip(queries.tolist(), passages, strict=True):
            # −1 fills the row where faiss has fewer passages.
            proposed = row[row >= 0].astype(np.int64)
            _add_documents(answer, query, proposed)
    return answer, name


def _add_documents(answer: Answer, query: int, passages: Ints) -> None:
    """Add the documents of the passages that faiss proposes for a query to an answer."""
    task = answer.task
    documents = np.unique(task.documents_of(passages))
    queries = np.full(len(documents), query)
    similarity, nearest = task.similarity(queries, documents)
    answer.add(queries, documents, nearest, similarity)
    # Only pairs whose document was proposed and has a similarity get a rank.
    _, pairs = task.pairs_of(queries[:1])
    proposed = np.isin(task.pairs[pairs, 1], documents)
    defined = ~np.isnan(task.pair_similarity[pairs])
    pairs = pairs[proposed & defined]
    answer.greater[pairs] = answer.tied[pairs] = 0
    answer.count(pairs, queries, similarity)


def checked_queries(task: SearchTask) -> Ints:
    """Return at most ``CHECKED`` evenly spaced queries, whose result is compared with an exact search."""
    ids = np.flatnonzero(task.defined)
    number = min(len(ids), CHECKED)
    places = np.linspace(0, len(ids) - 1, number).astype(np.int64)
    return ids[np.unique(places)]


def recall(approximate: Ints, exact: Ints) -> float:
    """Return the share of the (n, k) nearest documents that are among the approximate ones; −1 is no document."""
    hits = 0
    for nearest, proposed in zip(exact, approximate, strict=True):
        hits += len(np.intersect1d(nearest[nearest >= 0], proposed))
    return hits / max(int(np.count_nonzero(exact >= 0)), 1)


def load() -> ModuleType:
    """Import faiss; raise MissingExtraError if it is not installed."""
    try:
        return importlib.import_module("faiss")
    except ImportError as error:
        raise MissingExtraError("approximate search", "ann") from error


def _index(faiss: ModuleType, task: SearchTask) -> tuple[Any, str]:
    """Return an inverted file (IVF) of all n passages, with 2√n lists, and its name.

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
    """Return rows as contiguous float32 for faiss, scaled to length 1 for cosines; a zero vector stays zero."""
    rows = np.asarray(rows, dtype=np.float64)
    if task.measure == "cosine":
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        smallest = np.finfo(np.float64).tiny
        rows = rows / np.maximum(lengths, smallest)
    return np.ascontiguousarray(rows, dtype=np.float32)
