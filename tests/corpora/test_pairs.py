"""Pairs with human scores: tables as released, tables of one's own, and broken ones."""

from __future__ import annotations

import json

import pytest

from embassay.corpora.pairs.pairs import load
from embassay.run.resolve import load_corpus
from failing import failing

CSV = "sentence1,sentence2,score\n"
STSB = 'main-news\tMSRpar\t2012test\t0001\t3.800\tIt "rained.\tIt poured.\n'

NOTE = "the label is read as a score; embassay build groups makes groups of pairs of label 1"


@pytest.fixture
def file(tmp_path):
    def write(text, name="mine.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8", newline="")
        return str(path)

    return write


fails = failing(load)


def told(sample):
    return sample.first, sample.second, sample.score, sample.subset


def test_stsb_has_no_header_and_unquoted_quotes(file):
    other = 'main-forum\tx\t2013\t0002\t0\tHe said "no\tno"\tsource one\tsource two\n'
    corpus = load_corpus(file(STSB + other))
    assert [told(s) for s in corpus.samples] == [
        ('It "rained.', "It poured.", 3.8, "main-news"),
        ('He said "no', 'no"', 0.0, "main-forum"),
    ]
    assert [s.id for s in corpus.samples] == ["0", "1"]
    assert (corpus.loader, corpus.shape) == ("pairs", "pairs")
    assert corpus.notes == ("columns: sentence1 as first, sentence2 as second, score as score, subset as subset",)


def test_sick_is_known_by_its_header(file):
    head = "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tSemEval_set\n"
    corpus = load_corpus(file(f"{head}1\tA dog runs\tA cat runs\tNEUTRAL\t3.2\tTRAIN\n7\tx\ty\tNEUTRAL\t5\tTEST\n"))
    assert [told(s) for s in corpus.samples] == [("A dog runs", "A cat runs", 3.2, "TRAIN"), ("x", "y", 5.0, "TEST")]
    assert [sample.id for sample in corpus.samples] == ["1", "7"]
    assert corpus.notes == (
        "columns: sentence_A as first, sentence_B as second, relatedness_score as score, SemEval_set as subset, "
        "pair_ID as id",
    )


def test_csv_cells_may_be_quoted_and_hold_commas_and_line_ends(file):
    corpus = load_corpus(file(CSV + '"Well, no.","He said ""no"".",2\n"two\nlines",b,1\nc,d,0\n'))
    assert [told(s)[:3] for s in corpus.samples] == [
        ("Well, no.", 'He said "no".', 2.0),
        ("two\nlines", "b", 1.0),
        ("c", "d", 0.0),
    ]
    assert len({s.id for s in corpus.samples}) == 3


def test_columns_can_be_named(file):
    path = file("id,q,r,mark,part\n1,a,b,4,x\n")
    corpus = load_corpus(f"{path},loader=pairs,first=q,second=r,score=mark,subset=part")
    assert [told(s) for s in corpus.samples] == [("a", "b", 4.0, "x")]
    assert corpus.notes == ("columns: q as first, r as second, mark as score, part as subset",)


def test_named_columns_need_no_loader(file):
    corpus = load_corpus(f"{file('q,r,mark' + chr(10) + 'a,b,4' + chr(10))},first=q,second=r,score=mark")
    assert [told(s) for s in corpus.samples] == [("a", "b", 4.0, "")]


def test_a_named_column_goes_before_a_known_one(file):
    corpus = load(file("sentence1,sentence2,score,gold\na,b,1,5\n"), "mine", score="gold")
    assert corpus.samples[0].score == 5
    corpus = load(file("sentence1,sentence2,score,other\na,b,1,c\n"), "mine", second="other")
    assert told(corpus.samples[0])[:3] == ("a", "c", 1.0)


def test_a_table_without_scores_has_none(file):
    corpus = load_corpus(file("sentence1,sentence2\na,b\nc,d\n"))
    assert [s.score for s in corpus.samples] == [None, None]
    assert corpus.notes == ("columns: sentence1 as first, sentence2 as second", "2 pairs without a score")


@pytest.mark.parametrize("name", ["label", "Label", "is_duplicate"])
@pytest.mark.parametrize(("yes", "no"), [("1", "0"), ("true", "False"), ("yes", "no"), ("1.0", "0.0")])
def test_labels_that_say_yes_or_no_are_scores(file, name, yes, no):
    corpus = load_corpus(file(f"sentence1,sentence2,{name}\na,b,{yes}\nc,d,{no}\n"))
    assert [s.score for s in corpus.samples] == [1.0, 0.0]
    assert corpus.notes == (f"columns: sentence1 as first, sentence2 as second, {name} as label", NOTE)


def test_a_column_that_is_named_may_say_yes_or_no(file):
    rows = [{"a": "x", "b": "y", "same": True}, {"a": "v", "b": "w", "same": False}]
    path = file("\n".join(map(json.dumps, rows)), "pairs.jsonl")
    corpus = load_corpus(f"{path},first=a,second=b,score=same")
    assert [pair.score for pair in corpus.samples] == [1.0, 0.0]


@pytest.mark.parametrize("labels", [("0", "2"), ("entailment", "neutral"), ("1", ""), ("5", "1")])
def test_other_labels_are_no_scores(file, labels):
    corpus = load_corpus(file(f"sentence1,sentence2,label\na,b,{labels[0]}\nc,d,{labels[1]}\n"))
    assert [s.score for s in corpus.samples] == [None, None]


def test_a_score_goes_before_a_label_and_a_label_can_be_named(file):
    text = "sentence1,sentence2,label,score\na,b,1,3\nc,d,0,2\n"
    assert [s.score for s in load_corpus(file(text)).samples] == [3.0, 2.0]
    assert [s.score for s in load(file(text), "mine", score="label").samples] == [1.0, 0.0]
    assert load(file("sentence1,sentence2,label\na,b,4.5\n"), "mine", score="label").samples[0].score == 4.5


def test_an_empty_score_is_none_and_counted(file):
    corpus = load_corpus(file(CSV + "a,b,\nc,d, \ne,f,1\n"))
    assert [s.score for s in corpus.samples] == [None, None, 1.0]
    assert corpus.notes[1] == "2 pairs without a score"
    corpus = load_corpus(file(json.dumps({"sentence1": "a", "sentence2": "b", "score": None}) + "\n"))
    assert corpus.samples[0].score is None


def test_pairs_that_share_a_sentence_are_one_unit(file):
    corpus = load_corpus(file(CSV + "a,b,1\nc,d,2\ne,a,3\n"))
    assert corpus.units.tolist() == [0, 1, 0]


@pytest.mark.parametrize("score", ["high", "nan", "inf", "-inf", "1;5", "3,5".replace(",", " "), "0x1", "--1"])
def test_a_score_that_is_no_number_is_named(file, score):
    assert fails(file(CSV + f"a,b,1\nc,d,{score}\n")).startswith(", line 3, field 'score'")


def test_a_subset_of_null_is_none(file):
    row = json.dumps({"sentence1": "a", "sentence2": "b", "score": 1, "subset": None})
    assert load_corpus(file(row)).samples[0].subset == ""


@pytest.mark.parametrize("score", [" 4.5 ", "4.50", "+4.5", "45e-1"])
def test_a_score_may_be_written_in_any_way_a_number_is(file, score):
    assert load_corpus(file(CSV + f"a,b,{score}\n")).samples[0].score == 4.5


def test_the_benchmarks_test_set_is_understood(data):
    # 1379 pairs: readme.txt of the STS benchmark; 0 to 5.
    corpus = load_corpus(str(data / "stsbenchmark" / "sts-test.csv"))
    assert corpus.loader == "pairs"
    assert len(corpus.samples) == 1379
    scores = [s.score for s in corpus.samples]
    assert (min(scores), max(scores)) == (0.0, 5.0)
    assert {s.subset for s in corpus.samples} == {"main-captions", "main-forums", "main-news"}
    assert len(corpus.notes) == 1
