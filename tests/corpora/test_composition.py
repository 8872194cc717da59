"""Composition samples one by one."""

from __future__ import annotations

import pytest

from embassay.corpora.composition.composition import load
from embassay.run.resolve import load_corpus
from failing import failing

ROW = {"operator": "union", "a": "It rained.", "b": "We ran.", "target": "It rained and we ran."}
MINUS = {"operator": "difference", "a": "It rained and we ran.", "b": "We ran.", "target": "It rained."}


fails = failing(load)


def test_a_file_is_understood(file):
    both = {
        "operator": "overlap",
        "a": "x y",
        "b": "y z",
        "target": "y",
        "id": "o",
        "unit": "u",
        "ratings": [0, 4, 2.5],
    }
    union, minus, overlap = load_corpus(file(ROW, {**MINUS, "mirrored": True}, both)).samples
    assert (union.id, union.operator, union.a, union.b, union.target) == ("0", *ROW.values())
    assert (union.unit, union.mirrored, union.ratings) == ("0", False, ())
    assert (minus.id, minus.operator, minus.mirrored) == ("1", "difference", True)
    assert (overlap.id, overlap.unit, overlap.ratings) == ("o", "u", (0.0, 4.0, 2.5))
    assert overlap.fields() == {"a": "x y", "b": "y z", "overlap": "y"}


def test_the_corpus_says_what_it_is(file):
    corpus = load_corpus(file(ROW, MINUS))
    assert (corpus.loader, corpus.shape, corpus.source, corpus.notes) == ("composition", "composition", "", ())
    assert corpus.units.tolist() == [0, 0]  # they share texts


def test_a_difference_is_mirrored_or_not(file):
    assert [s.mirrored for s in load_corpus(file({**MINUS, "mirrored": False}, ROW)).samples] == [False, False]


@pytest.mark.parametrize("ratings", [None, []])
def test_ratings_may_be_none(file, ratings):
    assert load_corpus(file({**ROW, "ratings": ratings})).samples[0].ratings == ()


def test_repeats_are_left_out_and_counted(file):
    again = {**ROW, "id": "again", "ratings": [1]}
    corpus = load_corpus(file(ROW, again, MINUS))
    assert [s.id for s in corpus.samples] == ["0", "2"]
    assert corpus.notes == ("1 sample left out: repeats of an earlier one",)


def test_the_same_texts_with_another_operator_are_no_repeat(file):
    assert (
        len(load_corpus(file(ROW, {**ROW, "operator": "overlap"}, {**ROW, "a": ROW["b"], "b": ROW["a"]})).samples) == 3
    )


def test_the_field_of_another_operators_target_is_not_one(file):
    found = fails(file(MINUS, {"operator": "union", "a": "x", "b": "y", "union": "z"}))
    assert found.startswith(", line 2, field 'target'")
