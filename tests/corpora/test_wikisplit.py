"""WikiSplit, read backwards."""

from __future__ import annotations

import pytest

from embassay.corpora.composition.wikisplit import load
from embassay.run.resolve import load_corpus
from failing import failing

LINE = "The mill burned and the owner left .\tThe mill burned . <::::> The owner left .\n"
OTHER = "'' Ada '' sang ; Bo ran .\t'' Ada '' sang . <::::> Bo \"ran .\n"


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "mine.tsv"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


fails = failing(load)


def test_a_split_is_a_union_of_its_parts(file):
    corpus = load_corpus(file(LINE + OTHER))
    first, second = corpus.samples
    assert (first.id, first.operator, first.unit) == ("0", "union", "0")
    assert (first.a, first.b) == ("The mill burned .", "The owner left .")
    assert first.target == "The mill burned and the owner left ."
    assert (second.a, second.b) == ("'' Ada '' sang .", 'Bo "ran .')
    assert (corpus.loader, corpus.shape, corpus.source, corpus.notes) == ("wikisplit", "composition", "", ())
    assert corpus.units.tolist() == [0, 1]


def test_repeats_are_left_out_and_counted(file):
    corpus = load_corpus(file(LINE + OTHER + LINE))
    assert [s.id for s in corpus.samples] == ["0", "1"]
    assert corpus.notes == ("1 sample left out: repeats of an earlier one",)


def test_splits_that_share_a_sentence_are_one_unit(file):
    third = "Bo ran and the owner left .\tBo ran . <::::> The owner left .\n"
    assert load_corpus(file(LINE + OTHER + third)).units.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("only one cell\n", ", line 2"),
        ("a\tb <::::> c\td\n", ", line 2"),
        ("a\tb c\n", ", line 2"),
        ("a\tb <::::> c <::::> d\n", ", line 2"),
        ("a\tb <::::> \n", ", line 2, field 'split'"),
        ("a\t<::::> b\n", ", line 2, field 'split'"),
        (" \tb <::::> c\n", ", line 2, field 'sentence'"),
    ],
)
def test_a_line_that_is_no_split_is_named(file, line, says):
    assert fails(file(LINE + line)).startswith(", line 2")


def test_the_validation_set_is_understood(data):
    corpus = load_corpus(str(data / "wikisplit" / "validation.tsv"))
    assert corpus.loader == "wikisplit"
    assert len(corpus.samples) == 5000
    assert corpus.notes == ()
    assert {s.operator for s in corpus.samples} == {"union"}
    assert not any("<::::>" in text for _, text in corpus.texts())
