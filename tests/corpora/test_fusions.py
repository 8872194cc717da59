"""Documents of three sentences with their fusions: nine samples each."""

from __future__ import annotations

from embassay.corpora.composition.fusions import load
from embassay.run.resolve import load_corpus
from failing import failing

ROW = {
    "S1": "The mill burned down in May.",
    "S2": "The owner rebuilt the mill.",
    "S3": "She painted it green.",
    "F12": "The owner rebuilt the mill, which had burned down in May.",
    "F23": "The owner rebuilt the mill and painted it green.",
}
OTHER = {field: f"They say: {text}" for field, text in ROW.items()}


fails = failing(load)


def test_a_document_gives_nine_samples(file):
    # Bansal et al. (2025), section 3. F12 says S1 and S2, F23 says S2 and S3: both say S2; F12 without S1 is S2 …
    corpus = load_corpus(file({**ROW, "id": "mill"}))
    assert [(s.operator, s.a, s.b, s.target) for s in corpus.samples] == [
        ("overlap", ROW["F12"], ROW["F23"], ROW["S2"]),
        ("difference", ROW["F12"], ROW["S1"], ROW["S2"]),
        ("difference", ROW["F12"], ROW["S2"], ROW["S1"]),
        ("difference", ROW["F12"], ROW["F23"], ROW["S1"]),
        ("difference", ROW["F23"], ROW["S3"], ROW["S2"]),
        ("difference", ROW["F23"], ROW["S2"], ROW["S3"]),
        ("difference", ROW["F23"], ROW["F12"], ROW["S3"]),
        ("union", ROW["S1"], ROW["S2"], ROW["F12"]),
        ("union", ROW["S2"], ROW["S3"], ROW["F23"]),
    ]
    assert corpus.samples[0].id == "mill.overlap.F12.F23"
    assert corpus.samples[-1].id == "mill.union.S2.S3"
    assert {s.unit for s in corpus.samples} == {"mill"}
    assert not any(s.mirrored for s in corpus.samples)
    assert (corpus.loader, corpus.shape, corpus.notes) == ("fusions", "composition", ())


def test_each_difference_says_what_a_says_and_b_does_not(file):
    # Each text as the set of the sentences that it says.
    says = {"S1": {1}, "S2": {2}, "S3": {3}, "F12": {1, 2}, "F23": {2, 3}}
    sets = {ROW[field]: said for field, said in says.items()}
    for s in load_corpus(file(ROW)).samples:
        a, b, target = sets[s.a], sets[s.b], sets[s.target]
        assert target == {"overlap": a & b, "difference": a - b, "union": a | b}[s.operator]


def test_documents_are_units_unless_they_share_a_text_or_a_unit(file):
    third = {field: f"Well. {text}" for field, text in ROW.items()}
    corpus = load_corpus(file(ROW, OTHER, third))
    assert corpus.units.tolist() == [0] * 9 + [1] * 9 + [2] * 9
    assert load_corpus(file(ROW, OTHER, {**third, "S3": ROW["S3"]})).units.tolist() == [0] * 9 + [1] * 9 + [0] * 9
    assert load_corpus(file({**ROW, "unit": "u"}, OTHER, {**third, "unit": "u"})).units.tolist()[-1] == 0


def test_documents_whose_neighbours_are_equal_are_left_out_and_counted(file):
    first = {**OTHER, "S2": "THEY say -- the mill burned down in... May!"}
    second = {**OTHER, "S3": OTHER["S2"]}
    corpus = load_corpus(file(ROW, first, second))
    assert len(corpus.samples) == 9
    assert len(corpus.notes) == 1
    assert corpus.notes[0] == "2 documents left out: two of the three sentences differ only in punctuation"


def test_a_document_whose_first_and_last_sentences_are_equal_is_left_out_and_counted(file):
    # Both fusions say S1 and S2: F12 without F23 says nothing, and not S1.
    corpus = load_corpus(file(OTHER, {**ROW, "S3": "The mill burned down, in May!"}))
    assert {s.unit for s in corpus.samples} == {"0"}
    assert len(corpus.samples) == 9
    assert corpus.notes[0].startswith("1 document left out: ")


def test_samples_that_repeat_another_are_left_out_and_counted(file):
    # The second document has its first two sentences and their fusion in common: S1, S2, F12 give three samples.
    second = {**OTHER, "S1": ROW["S1"], "S2": ROW["S2"], "F12": ROW["F12"]}
    corpus = load_corpus(file(ROW, second))
    assert len(corpus.samples) == 18 - 3
    assert corpus.notes == ("3 samples left out: repeats of an earlier one",)
    again = load_corpus(file(ROW, {**ROW, "id": "again"}))
    assert again.notes == ("9 samples left out: repeats of an earlier one",)


def test_a_file_without_usable_documents_is_an_error(file):
    assert "no samples" in fails(file({**ROW, "S2": ROW["S1"]}))
