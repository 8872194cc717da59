"""Sets in words: tuples of A, B, overlap, differences and union."""

from __future__ import annotations

import pytest

from embassay.corpora.composition.tuples import load
from embassay.run.resolve import load_corpus
from failing import failing

ROW = {
    "A": "The bakery is old and red.",
    "B": "The bakery is red and open.",
    "overlap": "The bakery is red.",
    "A_minus_B": "The bakery is old.",
    "B_minus_A": "The bakery is open.",
    "union": "The bakery is old, red and open.",
}
OTHER = {field: f"So: {text}" for field, text in ROW.items()}


fails = failing(load)


def test_a_tuple_gives_four_samples(file):
    corpus = load_corpus(file(ROW))
    a, b = ROW["A"], ROW["B"]
    assert [(s.id, s.operator, s.a, s.b, s.target, s.mirrored) for s in corpus.samples] == [
        ("0.overlap", "overlap", a, b, ROW["overlap"], False),
        ("0.A_minus_B", "difference", a, b, ROW["A_minus_B"], False),
        ("0.B_minus_A", "difference", b, a, ROW["B_minus_A"], True),
        ("0.union", "union", a, b, ROW["union"], False),
    ]
    assert {s.unit for s in corpus.samples} == {"0"}
    assert (corpus.loader, corpus.shape, corpus.notes) == ("tuples", "composition", ())


def test_a_text_may_be_an_object(file):
    plain, corpus = load_corpus(file(ROW)), load_corpus(file({**ROW, "A": {"text": ROW["A"], "n": 2}}))
    assert corpus.samples == plain.samples


@pytest.mark.parametrize("field", ["overlap", "A_minus_B", "B_minus_A", "union"])
def test_a_target_of_an_empty_set_is_left_out(file, field):
    found = [s.id for s in load_corpus(file({**ROW, field: None})).samples]
    assert found == [f"0.{f}" for f in ("overlap", "A_minus_B", "B_minus_A", "union") if f != field]


def test_a_tuple_without_targets_is_an_error(file):
    none = dict.fromkeys(["overlap", "A_minus_B", "B_minus_A", "union"])
    assert fails(file(OTHER, {**ROW, **none})).startswith(", line 2")


def test_tuples_that_share_a_text_are_one_unit(file):
    third = {field: f"Well. {text}" for field, text in ROW.items()}
    corpus = load_corpus(file(ROW, OTHER, {**third, "overlap": ROW["union"]}))
    assert corpus.units.tolist() == [0] * 4 + [1] * 4 + [0] * 4


def test_webnlg_sets_are_understood(data):
    # 1096 tuples with four targets each; 155 units were counted with a union-find over texts by the data's makers.
    corpus = load_corpus(str(data / "webnlg_sets" / "tuples.jsonl"))
    assert corpus.loader == "tuples"
    assert len(corpus.samples) == 4384 == 4 * 1096
    assert corpus.audit().units == 155
    assert len({s.unit for s in corpus.samples}) == 1096
    assert sum(s.mirrored for s in corpus.samples) == 1096
    assert sum(s.operator == "difference" for s in corpus.samples) == 2 * 1096
