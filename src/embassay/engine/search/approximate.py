"""Approximate search with faiss: passages are grouped into lists around centres, and a share of the lists is searched.

1. The centres are learnt from an evenly spaced sample of the passages.
2. The lists to search are chosen for each query: those of the nearest centres.
3. The passages are read once, block by block. Each block is sorted into the lists and searched; the nearest passages
   so far of each query remain. So the lists of all passages are never in memory together, nor in a file.
4. The remaining passages are ranked by their float64 similarities.

The grouping is an inverted file, not a graph: it is the same in every run and is built faster. Its recall is measured.
"""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.engine.search.exact import Ints, Matrix, NearestSoFar, SearchTask
from embassay.errors import MissingExtraError

FEW = 50_000
"""With fewer passages an exact search is as fast, and is used."""
DEPTH = 100
"""The least number of passages that are retrieved for a query."""
PROBED = 16
"""One list in 16 is searched."""
CHECKED = 256
"""The most queries whose result is compared with an exact search."""
LISTS = 2048
"""The most lists. The time to find the list of a passage, and the sample, grow with their number."""
SAMPLED = 64
"""The centres are learnt from at most this many passages for each list."""
STEP = 16_384
"""The number of passages that are passed to faiss at once."""
SCALED = 2048
"""The number of vectors that are scaled in float64 at once."""
RANKED = 256
"""The number of queries whose passages are ranked in float64 at once."""


def approximate(task: SearchTask) -> tuple[NearestSoFar, str]:
    """Return the nearest documents that faiss finds, and the name of the index.

    Parameters
    ----------
    task
        The passages may be read on access, such as those of a folder of shards.

    Raises
    ------
    MissingExtraError
        If faiss is not installed.
    """
    try:
        import faiss
    except ImportError as error:
        raise MissingExtraError("approximate search", "ann") from error
    index = _trained_index(faiss, task)
    queries = np.flatnonzero(task.defined)
    proposed = _propose(faiss, index, task, queries)
    answer = NearestSoFar(task)
    # Not all documents are compared, so the ranks are unknown.
    answer.greater[:] = answer.tied[:] = -1
    for start in range(0, len(queries), RANKED):
        part = slice(start, start + RANKED)
        _add_documents(answer, task, queries[part], proposed[part])
    return answer, f"faiss IVF{index.nlist} nprobe {index.nprobe}"


def _trained_index(faiss: ModuleType, task: SearchTask) -> Any:
    """Return an inverted file (IVF) with at most 2√n lists for n passages, and without any passage in them."""
    count, width = task.passages.shape
    lists = max(1, min(round(2 * count**0.5), LISTS))
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(width), width, lists, faiss.METRIC_INNER_PRODUCT)
    clustering = index.cp
    clustering.niter = 10
    clustering.seed = 0
    clustering.spherical = task.similarity_function == "cosine"
    index.nprobe = math.ceil(lists / PROBED)
    sample_size = min(count, SAMPLED * lists)
    sample = np.linspace(0, count - 1, sample_size).astype(np.int64)
    index.train(_scaled(task, task.passages, sample))
    return index


def _propose(faiss: ModuleType, index: Any, task: SearchTask, queries: Ints) -> Ints:
    """Return (n, depth) passages of n queries, in any order: the nearest ones in the lists that are searched.

    −1 fills the row of a query that has fewer.
    """
    count = task.passages.shape[0]
    depth = max(DEPTH, task.k)
    if task.starts is not None:
        # Several of the nearest passages may belong to one document.
        depth *= 4
    depth = min(depth, count)
    rows = _scaled(task, task.queries, queries)
    closeness, lists = index.quantizer.search(rows, index.nprobe)
    nearest = faiss.ResultHeap(len(queries), depth, keep_max=True)
    for start in range(0, count, STEP):
        block = np.arange(start, min(start + STEP, count))
        index.reset()
        index.add_with_ids(_scaled(task, task.passages, block), block)
        nearest.add_result(*index.search_preassigned(rows, depth, lists, closeness))
    nearest.finalize()
    return np.asarray(nearest.I)


def _add_documents(answer: NearestSoFar, task: SearchTask, queries: Ints, passages: Ints) -> None:
    """Add the documents of the (n, m) passages that faiss proposes for n queries to an answer."""
    rows, columns = np.nonzero(passages >= 0)
    documents = task.documents_of(passages[rows, columns])
    # Each document of a query once, and ordered by document: those of one file are then read together.
    documents, rows = np.divmod(np.unique(documents * len(queries) + rows), len(queries))
    similarity, nearest = task.similarity(queries[rows], documents)
    defined = ~np.isnan(similarity)
    answer.add(queries[rows[defined]], documents[defined], nearest[defined], similarity[defined])

    for place, pair in zip(*task.pairs_of(queries), strict=True):
        of_query = defined & (rows == place)
        # Only a document that was proposed and has a similarity gets a rank.
        if task.pairs[pair, 1] in documents[of_query]:
            own = task.pair_similarity[pair]
            answer.greater[pair] = np.count_nonzero(similarity[of_query] > own)
            answer.tied[pair] = np.count_nonzero(similarity[of_query] == own)


def checked_queries(task: SearchTask) -> Ints:
    """Return at most ``CHECKED`` evenly spaced queries, whose result is compared with an exact search."""
    ids = np.flatnonzero(task.defined)
    number = min(len(ids), CHECKED)
    places = np.linspace(0, len(ids) - 1, number).astype(np.int64)
    return ids[np.unique(places)]


def recall(approximate: Ints, exact: Ints) -> float:
    """Return the share of the (n, k) nearest documents that are among the approximate ones; −1 is no document."""
    is_document = exact >= 0
    is_proposed = (exact[:, :, None] == approximate[:, None, :]).any(axis=2)
    hits = int(np.count_nonzero(is_document & is_proposed))
    return hits / max(int(np.count_nonzero(is_document)), 1)


def success(nearest: Ints, queries: Ints, pairs: Ints) -> float:
    """Return the share of queries that have one of their own passages among the nearest ones; ties are not averaged.

    Parameters
    ----------
    nearest
        (n, k) passages of each query, -1 for none.
    queries
        (n,) the numbers of the queries, increasing.
    pairs
        (m, 2) numbers of queries, of which others are left out, and of their passages.
    """
    is_checked = np.isin(pairs[:, 0], queries)
    rows = np.searchsorted(queries, pairs[is_checked, 0])
    is_near = (nearest[rows] == pairs[is_checked, 1][:, None]).any(axis=1)
    return len(np.unique(rows[is_near])) / len(queries)


def _scaled(task: SearchTask, vectors: Matrix, numbers: Ints) -> NDArray[np.float32]:
    """Return rows of vectors in float32, scaled to length 1 for cosines; a zero vector stays zero."""
    scaled = np.empty((len(numbers), vectors.shape[1]), dtype=np.float32)
    for start in range(0, len(numbers), SCALED):
        part = slice(start, start + SCALED)
        rows = np.asarray(vectors[numbers[part]], dtype=np.float64)
        if task.similarity_function == "cosine":
            lengths = np.linalg.norm(rows, axis=1, keepdims=True)
            smallest = np.finfo(np.float64).tiny
            rows = rows / np.maximum(lengths, smallest)
        scaled[part] = rows
    return scaled
