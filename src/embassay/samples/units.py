"""Which samples are independent of each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from embassay.samples.base import Sample
from embassay.samples.retrieval import Question


def independent_units(samples: Sequence[Sample]) -> NDArray[np.int64]:
    """Number the units of independence, merging those that share a text.

    Two samples depend on each other when they have a unit key in common or share a text, in whatever role;
    units are the connected components of that relation. Documents that nobody asks for join nothing.

    Returns
    -------
    (n,) integers from 0, in the order in which the units are first seen.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    nodes: dict[tuple[str, str], int] = {}
    edges = [
        (row, nodes.setdefault(key, len(nodes)))
        for row, sample in enumerate(samples)
        for key in [*(("unit", key) for key in _keys(sample)), *(("text", text) for _, text in sample.texts())]
    ]
    if not edges:
        return np.zeros(0, dtype=np.int64)
    row, col = np.array(edges).T
    size = len(samples) + len(nodes)
    graph = coo_array((np.ones(len(row), dtype=np.int8), (row, col + len(samples))), shape=(size, size))
    component = connected_components(graph, directed=False)[1][: len(samples)]
    _, first, code = np.unique(component, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[code].astype(np.int64)


def _keys(sample: Sample) -> tuple[str, ...]:
    """Return the keys of the units that a sample belongs to: one, or several that it joins."""
    return (isinstance(sample, Question) and sample.units) or (sample.unit,)
