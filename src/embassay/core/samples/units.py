"""Units of independence of samples: which samples depend on each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import count

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
    labels_of_text = defaultdict[str, set[str]](set)
    for sample in questions:
        labels_of_text[sample.question].update(sample.units)
    # What is looked up for the first time gets the next number.
    number_of_set = defaultdict[tuple[str, ...], int](count().__next__)
    number_of_label = defaultdict[str, int](count().__next__)
    unit = []
    for sample in questions:
        # Without units, a question depends on those with the same text only.
        labels = sorted(labels_of_text[sample.question]) or [f"text:{sample.question}"]
        unit.append(number_of_set[tuple(labels)])
    pairs = [(number, number_of_label[label]) for of_set, number in number_of_set.items() for label in of_set]
    if len(pairs) == len(number_of_set) == len(number_of_label):
        pairs = []
    return np.array(unit, dtype=np.int64), np.array(pairs, dtype=np.int64).reshape(-1, 2)
