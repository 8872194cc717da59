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
    from scipy.cluster.hierarchy import DisjointSet

    units = DisjointSet(range(len(samples)))
    first_with = dict[tuple[str, str], int]()
    for place, sample in enumerate(samples):
        keys = [("unit", key) for key in _unit_keys(sample)]
        texts = [("text", text) for _, text in sample.texts()]
        for joint in (*keys, *texts):
            units.merge(first_with.setdefault(joint, place), place)
    number_of = dict[int, int]()
    numbers = [number_of.setdefault(units[place], len(number_of)) for place in range(len(samples))]
    return np.array(numbers, dtype=np.int64)


def _unit_keys(sample: Sample) -> tuple[str, ...]:
    """Return the unit keys of a sample; if there are several, it merges those units."""
    if isinstance(sample, Question) and sample.units:
        return sample.units
    return (sample.unit,)
