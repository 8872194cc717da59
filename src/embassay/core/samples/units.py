"""Units of independence of samples: which samples depend on each other."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from embassay.core.samples.base import Sample
from embassay.core.samples.retrieval import Question


def independent_units(samples: Sequence[Sample]) -> NDArray[np.int64]:
    """Number the units of independence, merging those that share a text.

    Two samples depend on each other if they share a unit key or a text, in any role. The units are the connected
    components of that relation.

    Returns
    -------
    (n,) integers from 0, in order of first appearance.
    """
    from scipy.cluster.hierarchy import DisjointSet

    units = DisjointSet(range(len(samples)))
    first_with = dict[tuple[str, str], int]()
    for place, sample in enumerate(samples):
        for joint in (("unit", sample.unit), *(("text", text) for _, text in sample.texts())):
            units.merge(first_with.setdefault(joint, place), place)
    return _numbered(units[place] for place in range(len(samples)))


def _numbered(keys: Iterable[Hashable]) -> NDArray[np.int64]:
    """Number keys from 0, in order of first appearance."""
    number_of = dict[Hashable, int]()
    return np.array([number_of.setdefault(key, len(number_of)) for key in keys], dtype=np.int64)


def label_sets(samples: Sequence[Sample]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return which unit labels each sample has.

    The labels of a question are the keys of its units, its right documents for example, and those of the questions with
    the same text. They are not merged: a document that is right for many questions would merge most of them. Every
    other sample has one label, its unit of :func:`independent_units`.

    Returns
    -------
    unit
        (n,) the label set of each sample, from 0 in order of first appearance.
    unit_labels
        (m, 2) each label set with each of its labels, both from 0; empty where each label set is one label of its own.
    """
    if not all(isinstance(sample, Question) for sample in samples):
        return independent_units(samples), np.zeros((0, 2), dtype=np.int64)
    labels_of_text = dict[str, set[str]]()
    questions = [sample for sample in samples if isinstance(sample, Question)]
    for sample in questions:
        labels_of_text.setdefault(sample.question, set()).update(sample.units)
    # Without units, a question depends on those with the same text only.
    sets = [tuple(sorted(labels_of_text[sample.question])) or (f"text:{sample.question}",) for sample in questions]
    pairs = [(number, label) for number, labels in enumerate(dict.fromkeys(sets)) for label in labels]
    if len(pairs) == len(set(sets)) == len({label for _, label in pairs}):
        pairs = []
    numbers = np.array([number for number, _ in pairs], dtype=np.int64)
    return _numbered(sets), np.column_stack([numbers, _numbered(label for _, label in pairs)])
