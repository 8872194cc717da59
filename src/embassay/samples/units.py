"""Units of independence of samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from embassay.samples.base import Sample
from embassay.samples.retrieval import Question


def independent_units(samples: Sequence[Sample]) -> NDArray[np.int64]:
    """Number the units of independence, merging those that share a text.

    Two samples depend on each other if they share a unit key or a text, in any role. The units are the connected
    components of that relation. Documents that answer no question have no effect.

    Returns
    -------
    (n,) integers from 0, in order of first appearance.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    # A graph that connects samples to their unit keys and texts.
    joints: dict[tuple[str, str], int] = {}
    rows: list[int] = []
    columns: list[int] = []
    for row, sample in enumerate(samples):
        keys = [("unit", key) for key in _unit_keys(sample)]
        texts = [("text", text) for _, text in sample.texts()]
        for joint in (*keys, *texts):
            # The nodes of the graph are the samples, then their unit keys and texts in order of first appearance.
            number = joints.setdefault(joint, len(joints))
            rows.append(row)
            columns.append(len(samples) + number)
    if not rows:
        return np.zeros(0, dtype=np.int64)
    size = len(samples) + len(joints)
    edges = np.ones(len(rows), dtype=np.int8)
    graph = coo_array((edges, (rows, columns)), shape=(size, size))
    _, component = connected_components(graph, directed=False)

    # Renumber the components by their first sample.
    _, first, code = np.unique(component[: len(samples)], return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    return rank[code].astype(np.int64)


def _unit_keys(sample: Sample) -> tuple[str, ...]:
    """Return the unit keys of a sample; if there are several, it merges those units."""
    if isinstance(sample, Question) and sample.units:
        return sample.units
    return (sample.unit,)
