"""LanceDB: a table in a temporary folder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from embassay.search.retrievers.stores.index import Ask, Collection, Nearest, Numbers, Rows

OPTIONS = {"m": "m", "ef_construction": "ef_construction", "lists": "num_partitions"}
"""What LanceDB calls the numbers that an index is built with."""


@contextmanager
def in_lancedb(collection: Collection) -> Iterator[tuple[Ask, Numbers]]:
    """Hold the rows in a table of a database in a temporary folder."""
    # It would warn of numbers of dimensions on which it is slower.
    os.environ.setdefault("LANCEDB_LOG", "error")
    import lancedb
    import pyarrow as pa

    count, width = collection.rows.shape
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(collection.rows.ravel()), width)
    content = pa.table({"row": np.arange(count), "vector": vectors})
    with tempfile.TemporaryDirectory(prefix="embassay-") as folder:
        table = lancedb.connect(folder).create_table("embassay", content)
        if collection.index != "none":
            table.create_index("vector", config=_index_of(collection))
        yield _asking(table, collection), collection.numbers


def _index_of(collection: Collection) -> Any:
    """Return the index that LanceDB is to build."""
    from lancedb import index

    kind = {"hnsw": index.HnswFlat, "ivf": index.IvfFlat, "ivf_pq": index.IvfPq}[collection.index]
    numbers = {OPTIONS[name]: value for name, value in collection.numbers.items() if name in OPTIONS}
    return kind(distance_type=collection.similarity, **numbers)


def _asking(table: Any, collection: Collection) -> Ask:
    numbers = collection.numbers

    def ask(query: Rows, count: int) -> Nearest:
        search = table.search(query, vector_column_name="vector").distance_type(collection.similarity).limit(count)
        if "ef_search" in numbers:
            search = search.ef(max(numbers["ef_search"], count))
        if "probes" in numbers:
            search = search.nprobes(numbers["probes"])
        rows = search.select(["row", "_distance"]).to_arrow()
        # The distance of both, the cosine and the inner product, is 1 less that.
        return rows["row"].to_numpy(), 1 - rows["_distance"].to_numpy().astype(np.float64)

    return ask
