"""faiss: an index in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from embassay.search.retrievers.stores.index import Ask, Collection, Nearest, Numbers, Rows

M = 32
"""Neighbours of a row in the graph; faiss has no number of its own, and this one is that of its examples."""
LISTS = 4
"""Lists for each square root of the number of rows, the least that the guidelines of faiss recommend."""


@contextmanager
def in_faiss(collection: Collection) -> Iterator[tuple[Ask, Numbers]]:
    """Hold the rows in an index of faiss."""
    import faiss

    rows = _scaled(collection.rows, collection)
    count, width = rows.shape
    numbers = dict(collection.numbers)
    index: Any
    if collection.index == "hnsw":
        index = faiss.IndexHNSWFlat(width, numbers.setdefault("m", M), faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = numbers.setdefault("ef_construction", index.hnsw.efConstruction)
        index.hnsw.efSearch = numbers.setdefault("ef_search", index.hnsw.efSearch)
    elif collection.index == "ivf":
        lists = numbers.setdefault("lists", min(round(LISTS * count**0.5), count))
        index = faiss.IndexIVFFlat(faiss.IndexFlatIP(width), width, lists, faiss.METRIC_INNER_PRODUCT)
        index.cp.spherical = collection.similarity == "cosine"
        # It warns on standard output of fewer rows than it would like to learn from.
        index.cp.min_points_per_centroid = 1
        index.train(rows)
    else:
        index = faiss.IndexFlatIP(width)
    index.add(rows)
    if collection.index == "ivf":
        index.nprobe = numbers.setdefault("probes", index.nprobe)

    def ask(query: Rows, count: int) -> Nearest:
        similarity, places = index.search(_scaled(query[None], collection), count)
        is_row = places[0] >= 0
        return places[0][is_row], similarity[0][is_row].astype(np.float64)

    yield ask, numbers


def _scaled(rows: Rows, collection: Collection) -> Rows:
    """Return rows whose inner products are the similarities: of length 1 for cosines."""
    if collection.similarity == "dot":
        return rows
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)
