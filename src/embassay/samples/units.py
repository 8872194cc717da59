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

    # A graph of samples and of what joins them: unit keys and texts.
    joints: dict[tuple[str, str], int] = {}
    rows: list[int] = []
    columns: list[int] = []
    for row, sample in enumerate(samples):
        keys = [("unit", key) for key in _unit_keys(sample)]
        texts = [("text", text) for _, text in sample.texts()]
        for joint in (*keys, *texts):
            rows.append(row)
            columns.append(len(samples) + joints.setdefault(joint, len(joints)))
    if not rows:
        return np.zeros(0, dtype=np.int64)
    size = len(samples) + len(joints)
    graph = coo_array((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(size, size))
    _, component = connected_components(graph, directed=False)

    # Numbered again, by the first sample of each component.
    _, first, code = np.unique(component[: len(samples)], return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    return rank[code].astype(np.int64)


def _unit_keys(sample: Sample) -> tuple[str, ...]:
    """Return the keys of the units that a sample belongs to: one, or several that it joins."""
    if isinstance(sample, Question) and sample.units:
        return sample.units
    return (sample.unit,)
