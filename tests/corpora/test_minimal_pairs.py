"""Minimal pairs of one's own: what a line may hold, and what is wrong with one."""

from __future__ import annotations

import pytest

from embassay.core.samples.shapes import EDITS
from embassay.corpora.minimal_pairs.minimal_pairs import load
from embassay.run.resolve import load_corpus

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
        ([{"typo": "list", "synonym": "list"}, None], "typo: list; synonym: list"),
        ([{"typo": "list", "synonym": "WordNet"}, "WordNet"], "typo: list; synonym: WordNet; WordNet"),
        ([{"synonym": "WordNet"}, "by hand"], "synonym: WordNet; by hand"),
    ],
)
def test_how_edits_were_made_is_told(file, sources, told):
    rows = [{**row, **({"source": s} if s else {})} for row, s in zip((ROW, OTHER), sources, strict=True)]
    assert load_corpus(file(*rows)).source == told


@pytest.mark.parametrize("name", ["random_word", "number", "entity", "role_swap"])
def test_edits_that_heros_has_not_are_read(file, name):
    loaded = load(str(file(ROW, {"original": "Two dogs bark.", "edits": {name: "Six dogs bark."}})), "c")
    assert loaded.samples[1].edits == ((name, "Six dogs bark."),)
