"""Minimal pairs of one's own: what a line may hold, and what is wrong with one."""

from __future__ import annotations

import json

import pytest

from embassay.corpora.minimal_pairs.minimal_pairs import load
from embassay.errors import SourceError
from embassay.run.resolve import load_corpus
from embassay.samples.minimal_pairs import EDITS

EDITED = {
    "negation_antonym": "The soup was not cold.",
    "synonym": "The soup was chilly.",
    "antonym": "The soup was hot.",
    "typo": "The soup was clod.",
    "random_mlm": "The soup was free.",
    "negation_main": "The soup wasn't cold.",
}
ROW = {"original": "The soup was cold.", "edits": EDITED}
OTHER = {"original": "He ran fast.", "edits": {"synonym": "He ran quickly."}}


@pytest.fixture
def file(tmp_path):
    def write(*rows):
        path = tmp_path / "mine.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return str(path)

    return write


def fails(path):
    with pytest.raises(SourceError) as error:
        load(path, "mine")
    return str(error.value).removeprefix(path)


def test_a_file_is_understood(file):
    corpus = load_corpus(file(ROW, {**OTHER, "id": "second", "unit": "u"}))
    first, second = corpus.samples
    assert (corpus.loader, corpus.shape, corpus.notes) == ("minimal_pairs", "minimal_pairs", ())
    assert (first.id, first.unit, first.original) == ("0", "0", "The soup was cold.")
    assert (second.id, second.unit) == ("second", "u")
    assert second.edits == (("synonym", "He ran quickly."),)


def test_edits_stand_in_one_order_whatever_the_files(file):
    assert [name for name, _ in load_corpus(file(ROW)).samples[0].edits] == list(EDITS)
    turned = {**ROW, "edits": dict(reversed(EDITED.items()))}
    assert load_corpus(file(turned)).fingerprint == load_corpus(file(ROW)).fingerprint


def test_the_texts_of_a_sample_are_the_original_and_its_edits(file):
    (sample,) = load_corpus(file(OTHER)).samples
    assert sample.texts() == (("text", "He ran fast."), ("text", "He ran quickly."))
    assert sample.fields() == {"original": "He ran fast.", "synonym": "He ran quickly."}


def test_lines_that_share_a_text_are_one_unit(file):
    third = {"original": "A third.", "edits": {"random_mlm": "He ran fast."}}
    assert load_corpus(file(OTHER, ROW, third)).units.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("sources", "told"),
    [
        ([None, None], ""),
        (["by hand", "by hand"], "by hand"),
        (["by hand", None], "by hand"),
        ([{"typo": "list", "synonym": "list"}, None], "list"),
        ([{"typo": "list", "synonym": "WordNet"}, "WordNet"], "synonym: WordNet; typo: list"),
        ([{"synonym": "WordNet"}, "by hand"], "synonym: WordNet, by hand"),
    ],
)
def test_how_edits_were_made_is_told(file, sources, told):
    rows = [{**row, **({"source": s} if s else {})} for row, s in zip((ROW, OTHER), sources, strict=True)]
    assert load_corpus(file(*rows)).source == told


@pytest.mark.parametrize("source", [7, ["by hand"], {"typo": "list"}, {"synonym": 7}, True])
def test_a_source_that_is_none_is_said(file, source):
    assert ", line 2, field 'source': must be a text, or an object" in fails(file(ROW, {**OTHER, "source": source}))


@pytest.mark.parametrize(
    ("name", "guess"),
    [
        ("synonyms", "; did you mean 'synonym'?"),
        ("negation", "; did you mean 'negation_main'?"),
        ("random", "; did you mean 'random_mlm'?"),
        ("Antonym", "; did you mean 'antonym'?"),
        ("xyz", ""),
    ],
)
def test_an_unknown_edit_is_named_with_the_known_ones_and_a_guess(file, name, guess):
    found = fails(file(ROW, {"original": "a", "edits": {name: "b"}}))
    known = (
        "synonym, antonym, typo, random_mlm, negation_main, negation_antonym, random_word, number, entity, role_swap"
    )
    assert found == f", line 2, field 'edits': unknown edit {name!r}; known: {known}{guess}"


@pytest.mark.parametrize("name", ["random_word", "number", "entity", "role_swap"])
def test_edits_that_heros_has_not_are_read(file, name):
    loaded = load(str(file(ROW, {"original": "Two dogs bark.", "edits": {name: "Six dogs bark."}})), "c")
    assert loaded.samples[1].edits == ((name, "Six dogs bark."),)


@pytest.mark.parametrize("edits", [[], {}, None, "text", ["a"], 7])
def test_edits_must_be_an_object_with_texts(file, edits):
    found = fails(file(ROW, {"original": "a", "edits": edits}))
    assert found == ", line 2, field 'edits': must be an object with a text for each edit"


@pytest.mark.parametrize("text", ["", " ", 7, None, "\ud83d alone"])
def test_an_edit_must_be_a_text(file, text):
    assert fails(file(ROW, {"original": "a", "edits": {"typo": text}})).startswith(", line 2, field 'edits.typo': ")


def test_an_edit_that_changes_nothing_is_none(file):
    found = fails(file(ROW, {"original": "a", "edits": {"typo": "b", "synonym": "a"}}))
    assert found == ", line 2, field 'edits.synonym': equals the original"


def test_an_id_may_not_be_that_of_another_lines_place(file):
    told = "'0' is already used on line 1 (lines without an id are numbered from 0)"
    assert fails(file(ROW, {**OTHER, "id": 0})) == f", line 2, field 'id': {told}"
