"""The shapes of samples, and which samples are independent of each other."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embassay.core.samples.retrieval import Question
from embassay.core.samples.shapes import OPERATORS, Composition, MinimalPairs, Pair
from embassay.core.samples.units import independent_units, label_sets
from embassay.stats.labels import Labels


@dataclass(frozen=True)
class Stub:
    id: str
    unit: str
    sentences: tuple[str, ...]

    def texts(self):
        return tuple(("text", s) for s in self.sentences)

    def fields(self):
        return {str(i): s for i, s in enumerate(self.sentences)}


def stubs(*rows):
    return [Stub(str(i), unit, tuple(sentences)) for i, (unit, sentences) in enumerate(rows)]


def loop_units(samples):
    """Union-find by rows: join two that have a unit key or a text in common, number by first sight."""
    parent = list(range(len(samples)))

    def root(i):
        while parent[i] != i:
            i = parent[i]
        return i

    for i, one in enumerate(samples):
        for j, other in enumerate(samples[:i]):
            if one.unit == other.unit or set(one.texts()) & set(other.texts()):
                parent[root(i)] = root(j)
    codes = {}
    return [codes.setdefault(root(i), len(codes)) for i in range(len(samples))]


def test_a_text_that_looks_like_a_unit_key_joins_nothing():
    assert independent_units(stubs(("a", "b"), ("b", "c"))).tolist() == [0, 1]


rows = st.lists(
    st.tuples(st.sampled_from("abcdefghij"), st.lists(st.sampled_from("0123456789klmnopqrst"), max_size=3)), max_size=14
)


@given(rows)
def test_units_equal_union_find(drawn):
    samples = stubs(*drawn)
    assert independent_units(samples).tolist() == loop_units(samples)


# --- labels of questions ---------------------------------------------------------------------------------


def about(*pages, text=None):
    """Return questions, each about some pages."""
    return [Question(f"q{n}", text or f"text {n}", tuple(own), units=tuple(own)) for n, own in enumerate(pages)]


def sets_of(samples):
    """Return the labels of each sample, as sets of numbers."""
    unit, pairs = label_sets(samples)
    if not len(pairs):
        return [{code} for code in unit.tolist()]
    return [set(pairs[pairs[:, 0] == code, 1].tolist()) for code in unit.tolist()]


def test_a_hub_page_does_not_merge_the_questions_about_it():
    unit, pairs = label_sets(about("a", "ah", "bh", "b", "h", "ha"))
    # The labels are numbered in the order of the sets: a, h, b.
    assert unit.tolist() == [0, 1, 2, 3, 4, 1]
    assert pairs.tolist() == [[0, 0], [1, 0], [1, 1], [2, 2], [2, 1], [3, 2], [4, 1]]


def test_labels_that_stand_together_everywhere_count_as_one():
    unit, pairs = label_sets(about("ab", "cd", "ba"))
    assert (unit.tolist(), pairs.tolist()) == ([0, 1, 0], [[0, 0], [0, 1], [1, 2], [1, 3]])
    assert Labels.of(unit, pairs).partners == pytest.approx(Labels.of(unit).partners)


def test_questions_with_one_text_have_the_labels_of_all_of_them():
    samples = [Question("1", "Who?", ("a",), units=("a",)), Question("2", "Who?", ("b",), units=("b",)), *about("b")]
    assert sets_of(samples) == [{0, 1}, {0, 1}, {1}]
    # Without labels, only those with the same text belong together.
    assert sets_of([Question("1", "Who?", ()), Question("2", "What?", ()), Question("3", "Who?", ())]) == [
        {0},
        {1},
        {0},
    ]


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_composition_names_its_target_by_its_operator(operator):
    sample = Composition("0", operator, "A.", "B.", "C.", group="document")
    assert sample.fields() == {"a": "A.", "b": "B.", operator: "C."}
    assert sample.texts() == (("text", "A."), ("text", "B."), ("text", "C."))
    assert sample.unit == "document"


def test_the_texts_of_every_shape_make_units():
    shared = [
        Pair("0", "A.", "B.", None),
        Composition("1", "union", "B.", "C.", "D."),
        MinimalPairs("2", "D.", (("typo", "E."),)),
        Pair("3", "F.", "G.", None),
    ]
    assert independent_units(shared).tolist() == [0, 0, 0, 1]
