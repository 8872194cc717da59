"""Complete-linkage clustering: clusters of vectors in which every pair has a cosine above a threshold.

Complete linkage (Sørensen 1948; Defays 1977) measures the distance of two clusters by their farthest members. So a
cluster lies within one connected component of the graph whose edges are the near pairs (pairs above the threshold).
Each component is clustered by itself, and distances between components are never stored.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.core.errors import InputError

Ints = NDArray[np.int64]
BLOCK = 1_024
"""The number of rows that are multiplied with all rows at once."""
MOST_PAIRS = 20_000_000
"""The most near pairs, which are all held in memory."""
LARGEST = 10_000
"""The most vectors of one connected component, whose distances are all computed."""
TOO_MANY = "set a higher --threshold"


def complete_linkage(vectors: Any, threshold: float) -> Ints:
    """Cluster vectors so that every two in a cluster have a cosine above the threshold; return cluster numbers.

    Parameters
    ----------
    vectors
        (n, d), dense or CSR. A zero vector is a cluster of its own.
    threshold
        Cosine, above 0 and below 1.

    Returns
    -------
    (n,) cluster numbers from 0, in the order of each cluster's first vector.

    Raises
    ------
    InputError
        If there are more than ``MOST_PAIRS`` near pairs, or a component has more than ``LARGEST`` vectors.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    unit = _normalised(vectors)
    size = unit.shape[0]
    row, column, cosine = _near_pairs(unit, threshold)
    graph = coo_array((cosine, (row, column)), shape=(size, size)).tocsr()
    _, component = connected_components(graph, directed=False)

    # Split the vectors where the component changes, in the order of components.
    order = np.argsort(component, kind="stable")
    component_starts = np.flatnonzero(np.diff(component[order])) + 1
    # A cluster is named by its first vector.
    cluster = np.arange(size, dtype=np.int64)
    for members in np.split(order, component_starts):
        if len(members) > 1:
            first_of_cluster = _cluster_component(graph, members, threshold)
            cluster[members] = members[first_of_cluster]

    # Number the clusters by the place of their first vector.
    _, first, code = np.unique(cluster, return_index=True, return_inverse=True)
    number = np.argsort(np.argsort(first))
    return number[code].astype(np.int64)


def _normalised(vectors: Any) -> Any:
    """Return the rows scaled to unit length; zero rows stay zero."""
    from scipy.sparse import diags_array, issparse
    from scipy.sparse.linalg import norm

    length = norm(vectors, axis=1) if issparse(vectors) else np.linalg.norm(vectors, axis=1)
    return diags_array(1 / np.where(length > 0, length, 1)) @ vectors


def _near_pairs(unit: Any, threshold: float) -> tuple[Ints, Ints, NDArray[np.float32]]:
    """Return i, j and the cosine of all pairs i < j whose cosine is above the threshold; (pairs,) each."""
    # An empty array in each list, because np.concatenate refuses an empty list.
    rows = [np.zeros(0, np.int64)]
    columns = [np.zeros(0, np.int64)]
    values = [np.zeros(0, np.float32)]
    total = 0
    for start in range(0, unit.shape[0], BLOCK):
        block = unit[start : start + BLOCK]
        cosine = block @ unit[start:].T
        if not isinstance(cosine, np.ndarray):
            cosine = cosine.toarray()
        near = cosine > threshold
        row, column = np.nonzero(np.triu(near, 1))
        total += len(row)
        if total > MOST_PAIRS:
            raise InputError(
                f"more than {MOST_PAIRS:,} pairs of sentences have a cosine above {threshold:g}; {TOO_MANY}"
            )
        rows.append(row + start)
        columns.append(column + start)
        values.append(cosine[row, column].astype(np.float32))
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)


def _cluster_component(graph: Any, members: Ints, threshold: float) -> Ints:
    """Cluster the members of one component; return for each the place in ``members`` of its cluster's first member."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    if len(members) > LARGEST:
        raise InputError(f"{len(members):,} sentences are linked by cosines above {threshold:g}; {TOO_MANY}")
    # The graph holds each near pair once. A pair that is not near has cosine 0 here, and a distance of 1 is above every
    # threshold on distances.
    upper = graph[members][:, members].toarray()
    cosine = np.maximum(upper, upper.T).astype(np.float64)
    distance = 1 - cosine
    np.fill_diagonal(distance, 0)
    # Rounding may leave cosines slightly above 1.
    np.maximum(distance, 0, out=distance)

    tree = linkage(squareform(distance, checks=False), "complete")
    label = fcluster(tree, 1 - threshold, "distance")
    _, first, code = np.unique(label, return_index=True, return_inverse=True)
    return first[code].astype(np.int64)
