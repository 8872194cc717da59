"""BEIR's folders: judgements become questions with gains; what is left out is counted; what is broken is named."""

from __future__ import annotations

import json
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embassay.core.errors import InputError, SourceError, SpecError
from embassay.corpora.retrieval.beir import load
from embassay.run.resolve import load_corpus
from failing import failing

DOCS = [
    {"_id": "d1", "title": "Rain", "text": "It rained.", "metadata": {}},
    {"_id": "d2", "title": "", "text": "We ran."},
    {"_id": "d3", "text": "She sang. He left."},
]
QUERIES = [{"_id": "q1", "text": "weather "}, {"_id": "q2", "text": "song"}, {"_id": "q3", "text": "nobody"}]
HEADER = "query-id\tcorpus-id\tscore\n"
QRELS = HEADER + "q2\td3\t1\nq1\td1\t2\nq1\td2\t1\nq1\td3\t0\nq3\td1\t-1\n"


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def folder(tmp_path):
    def write(docs=DOCS, queries=QUERIES, **splits):
        path = tmp_path / "set.v1"
        (path / "qrels").mkdir(parents=True, exist_ok=True)
        (path / "corpus.jsonl").write_text(docs if isinstance(docs, str) else lines(docs))
        (path / "queries.jsonl").write_text(queries if isinstance(queries, str) else lines(queries))
        for split, text in (splits or {"test": QRELS}).items():
            (path / "qrels" / f"{split}.tsv").write_text(text)
        (path / "README.md").write_text("About.")
        return path

    return write


fails = failing(load)


def test_judgements_become_questions_with_gains(folder):
    corpus = load_corpus(f"{folder()},licence=CC0")
    assert (corpus.name, corpus.loader, corpus.licence) == ("set.v1", "beir", "CC0")
    assert [(d.id, d.passages) for d in corpus.documents] == [
        ("d1", ("Rain It rained.",)),
        ("d2", ("We ran.",)),
        ("d3", ("She sang. He left.",)),
    ]
    assert [(q.id, q.question, q.right, q.gains, q.units) for q in corpus.samples] == [
        ("q1", "weather", ("d1", "d2"), (2, 1), ()),
        ("q2", "song", ("d3",), (1,), ()),
    ]
    assert corpus.units.tolist() == [0, 1]
    assert corpus.notes == (
        "judgements: test.tsv",
        "passages: document",
        "2 judgements with grade 0 or less: not right",
        "1 question left out: no right document",
        "verdicts are about these documents only; about=new-documents makes them about others like these",
        "3 documents, 2 questions",
    )


def test_units_may_be_documents_and_passages_sentences(folder):
    path = folder(test=HEADER + "q1\td1\t1\nq2\td1\t1\nq3\td3\t1\n")
    corpus = load_corpus(f"{path},about=new-documents,passages=sentence")
    assert corpus.units.tolist() == [0, 0, 1]
    assert corpus.documents[2].passages == ("She sang.", "He left.")
    assert not any("about these documents" in note for note in corpus.notes)


def test_a_document_without_text_is_left_out_and_counted(folder):
    corpus = load(str(folder(docs=[*DOCS, {"_id": "d4", "title": " ", "text": ""}])), "mine")
    assert len(corpus.documents) == 3
    assert "1 document left out: no text" in corpus.notes


def test_the_split_is_test_or_the_only_one_or_the_one_that_is_said(folder):
    assert load(str(folder(dev=QRELS)), "mine").notes[0] == "judgements: dev.tsv"
    path = folder(dev=QRELS, train=HEADER + "q3\td1\t1\n")
    with pytest.raises(InputError, match="choose one with split=: dev, train"):
        load_corpus(str(path))
    assert load_corpus(f"{path},split=train").samples[0].id == "q3"
    folder(test=QRELS)
    assert load(str(path), "mine").notes[0] == "judgements: test.tsv"
    for wrong in ("best", "../qrels/test", "test.tsv"):
        assert (
            fails(path, SpecError, split=wrong)
            == f"split {wrong!r} is not in {path}/qrels; choose one with split=: dev, test, train"
        )


@pytest.mark.parametrize("missing", ["corpus.jsonl", "queries.jsonl", "qrels"])
def test_what_is_missing_is_named(folder, missing):
    path = folder()
    (path / missing).rename(path / "elsewhere")
    assert fails(path).startswith(f"/{missing}: no such file")


def judged_in_lines(path, rows):
    shutil.rmtree(path / "qrels")
    (path / "qrels.jsonl").write_text(lines(dict(zip(HEADER.split(), row, strict=True)) for row in rows))


def test_judgements_may_be_json_lines_as_in_limit(folder):
    path = folder()
    tabulated = load_corpus(str(path))
    judged_in_lines(path, [("q2", "d3", 1), ("q1", "d1", 2), ("q1", "d2", "1"), ("q1", "d3", 0), ("q3", "d1", -1)])
    corpus = load_corpus(str(path))
    assert corpus.fingerprint == tabulated.fingerprint
    assert corpus.notes[0] == "judgements: qrels.jsonl"
    assert fails(path, SpecError, split="test") == (
        f"split 'test': {path} has no splits, only qrels.jsonl; leave out split="
    )


ids = st.integers(0, 5)


@settings(deadline=None)
@given(rows=st.lists(st.tuples(ids, ids, st.integers(-1, 3)), min_size=1, max_size=25))
def test_questions_are_those_of_a_plain_loop(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("beir")
    (path / "qrels").mkdir()
    (path / "corpus.jsonl").write_text(lines({"_id": str(i), "text": f"text {i}"} for i in range(4)))
    (path / "queries.jsonl").write_text(lines({"_id": str(i), "text": f"query {i}"} for i in range(4)))
    (path / "qrels" / "test.tsv").write_text(HEADER + "".join(f"{q}\t{d}\t{s}\n" for q, d, s in rows))
    expected = {}
    for q in range(4):
        good = {d: max(s for a, b, s in rows if (a, b) == (q, d)) for a, d, s in rows if a == q and d < 4 and s > 0}
        if good:
            expected[str(q)] = {str(d): s for d, s in good.items()}
    try:
        corpus = load(str(path), "mine")
    except SourceError:
        assert not expected
        return
    assert {q.id: dict(zip(q.right, q.gains, strict=True)) for q in corpus.samples} == expected
