"""Units of independence of samples: which samples depend on each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from embassay.core.arrays import Ints
from embassay.core.samples.base import Sample
from embassay.core.samples.retrieval import Question
from embassay.core.samples.shapes import closure


def independent_units(samples: Sequence[Sample]) -> Ints:
    """Number the units of independence, merging those that share a text.

    Two samples depend on each other if they share a unit key or a text, in any role. The units are the connected
    components of that relation.

    Returns
    -------
    (n,) integers from 0, in order of first appearance.
    """
    first_with = dict[tuple[str, str], int]()
    pairs = []
    for place, sample in enumerate(samples):
        joints = [("unit", sample.unit), *(("text", text) for _, text in sample.texts())]
        pairs += [(first_with.setdefault(joint, place), place) for joint in joints]
    # A group is named after its first sample, so that the order of names is that of first appearance.
    first_of = list(closure(pairs).values())
    return np.unique(first_of, return_inverse=True)[1].astype(np.int64)


def label_sets(samples: Sequence[Sample]) -> tuple[Ints, Ints]:
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
    questions = [sample for sample in samples if isinstance(sample, Question)]
    if len(questions) < len(samples):
        return independent_units(samples), np.zeros((0, 2), dtype=np.int64)
    labels_of_text = dict[str, set[str]]()
    for sample in questions:
        labels_of_text.setdefault(sample.question, set()).update(sample.units)
    # Without units, a question depends on those with the same text only.
    sets = [tuple(sorted(labels_of_text[sample.question])) or (f"text:{sample.question}",) for sample in questions]
    number_of_set = {labels: number for number, labels in enumerate(dict.fromkeys(sets))}
    number_of_label = dict[str, int]()
    pairs = []
    for labels, number in number_of_set.items():
        pairs += [(number, number_of_label.setdefault(label, len(number_of_label))) for label in labels]
    if len(pairs) == len(number_of_set) == len(number_of_label):
        pairs = []
    unit = np.array([number_of_set[labels] for labels in sets], dtype=np.int64)
    return unit, np.array(pairs, dtype=np.int64).reshape(-1, 2)
