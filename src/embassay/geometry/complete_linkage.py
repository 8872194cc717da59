"""Clusters of vectors in which every two are nearer than a threshold: complete linkage, without all distances.

Complete linkage (Sørensen 1948; Defays 1977) joins two clusters by their farthest members. Clusters below the threshold
never span two connected components of the graph of the near pairs, so each component is clustered by itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.errors import InputError

Ints = NDArray[np.int64]
BLOCK = 1_024
"""Rows that are compared with all at once."""
MOST_PAIRS = 20_000_000
LARGEST = 10_000
"""Near pairs in all, and sentences that hang together, at most."""
TOO_MANY = "set a higher --threshold"


def complete_linkage(vectors: Any, threshold: float) -> Ints:
    """Number the clusters in which every cosine is above the threshold.

    Parameters
    ----------
    vectors
        (n, d), dense or CSR. A zero vector is a cluster of its own.
    threshold
        Cosine, above 0 and below 1.

    Returns
    -------
    (n,) integers from 0, in the order in which the clusters are first seen.

    Raises
    ------
    InputError
        If so many are near each other that the threshold tells nothing apart.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    unit = _normalised(vectors)
    size = unit.shape[0]
    row, column, cosine = _near(unit, threshold)
    graph = coo_array((cosine, (row, column)), shape=(size, size)).tocsr()
    component = connected_components(graph, directed=False)[1]
    cluster = np.arange(size, dtype=np.int64)
    order = np.argsort(component, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(component[order])) + 1):
        if len(members) > 1:
            cluster[members] = members[_within(graph, members, threshold)]
    _, first, code = np.unique(cluster, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    return rank[code].astype(np.int64)


def _normalised(vectors: Any) -> Any:
    """Return the rows at unit length; zero rows as they are."""
    from scipy import sparse

    if sparse.issparse(vectors):
        length = np.sqrt(np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel())
        return sparse.diags_array(1 / np.where(length > 0, length, 1)) @ sparse.csr_array(vectors)
    vectors = np.asarray(vectors, dtype=np.float32)
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(length > 0, length, 1)


def _near(unit: Any, threshold: float) -> tuple[Ints, Ints, NDArray[np.float32]]:
    """Return (i, j, cosine) of all i < j that are nearer than the threshold."""
    rows, columns, values = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.float32)]
    total = 0
    for start in range(0, unit.shape[0], BLOCK):
        cosine = unit[start : start + BLOCK] @ unit[start:].T
        if not isinstance(cosine, np.ndarray):
            cosine = cosine.toarray()
        row, column = np.nonzero(np.triu(cosine > threshold, 1))
        total += len(row)
        if total > MOST_PAIRS:
            raise InputError(
                f"more than {MOST_PAIRS:,} pairs of sentences have a cosine above {threshold:g}; {TOO_MANY}"
            )
        rows.append(row + start)
        columns.append(column + start)
        values.append(cosine[row, column].astype(np.float32))
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)


def _within(graph: Any, members: Ints, threshold: float) -> Ints:
    """Return for each member of a component the place of the first member of its cluster."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    if len(members) > LARGEST:
        raise InputError(f"{len(members):,} sentences are linked by cosines above {threshold:g}; {TOO_MANY}")
    near = graph[members][:, members].toarray()
    # What is not near has cosine 0 here: its distance of 1 is beyond every threshold.
    distance = 1 - np.maximum(near, near.T).astype(np.float64)
    np.fill_diagonal(distance, 0)
    np.maximum(distance, 0, out=distance)
    label = fcluster(linkage(squareform(distance, checks=False), "complete"), 1 - threshold, "distance")
    _, first, code = np.unique(label, return_index=True, return_inverse=True)
    return first[code].astype(np.int64)
