"""BEIR's folders: judgements become questions with gains; what is left out is counted; what is broken is named."""

from __future__ import annotations

import json
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embassay.core.errors import SourceError, SpecError
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
        "split: test",
        "passages: document",
        "1 query left out: no right document in test.tsv",
        "2 judgements with grade 0 or less: not right",
        "verdicts are about these documents, as many questions share right ones; about=new-documents says otherwise",
        "3 documents, 2 questions",
        "1 to 2 right documents for a question",
    )


def test_units_may_be_documents_and_passages_sentences(folder):
    path = folder(test=HEADER + "q1\td1\t1\nq2\td1\t1\nq3\td3\t1\n")
    corpus = load_corpus(f"{path},about=new-documents,passages=sentence")
    assert corpus.units.tolist() == [0, 0, 1]
    assert corpus.documents[2].passages == ("She sang.", "He left.")
    assert not any("about these documents" in note for note in corpus.notes)


def test_what_is_not_there_is_left_out_and_counted(folder):
    path = folder(test=HEADER + "q1\td1\t1\nq1\tno\t1\nq2\tnone\t1\nq9\td1\t1\nq1\td1\t3\n")
    corpus = load(str(path), "mine")
    assert [(q.id, q.right, q.gains) for q in corpus.samples] == [("q1", ("d1",), (3,))]
    assert corpus.notes[2:-2] == (
        "1 query left out: no right document in test.tsv",
        "1 judgement repeated: the highest grade counts",
        "1 judgement left out: its query is missing (the first: 'q9' on line 5 of test.tsv)",
        "2 judgements left out: their documents are missing (the first: 'no' on line 3 of test.tsv)",
        "1 query left out: all their right documents are missing",
    )


def test_a_document_without_text_is_left_out_and_counted(folder):
    corpus = load(str(folder(docs=[*DOCS, {"_id": "d4", "title": " ", "text": ""}])), "mine")
    assert len(corpus.documents) == 3
    assert "1 document left out: no text (the first: 'd4' on line 4 of corpus.jsonl)" in corpus.notes


def test_the_split_is_test_or_the_only_one_or_the_one_that_is_said(folder):
    assert load(str(folder(dev=QRELS)), "mine").notes[0] == "split: dev"
    path = folder(dev=QRELS, train=HEADER + "q3\td1\t1\n")
    assert fails(path) == "/qrels: no test.tsv; choose one with split=: dev, train"
    assert load_corpus(f"{path},split=train").samples[0].id == "q3"
    folder(test=QRELS)
    assert load(str(path), "mine").notes[0] == "split: test"
    for wrong in ("best", "../qrels/test", "test.tsv"):
        assert (
            fails(path, SpecError, split=wrong) == f"split {wrong!r} is not in {path}/qrels; it has: dev, test, train"
        )


@pytest.mark.parametrize("missing", ["corpus.jsonl", "queries.jsonl", "qrels"])
def test_what_is_missing_is_named(folder, missing):
    path = folder()
    (path / missing).rename(path / "elsewhere")
    told = f": the folder has no {missing}; "
    told += "a folder in BEIR's format has corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv or qrels.jsonl"
    assert fails(path) == told
    with pytest.raises(SourceError, match=f"the folder has no {missing}"):
        load_corpus(str(path))


def test_a_folder_without_a_split_or_with_a_file_in_its_place(folder):
    path = folder()
    (path / "qrels" / "test.tsv").unlink()
    assert fails(path) == "/qrels: the folder has no SPLIT.tsv"
    (path / "qrels").rmdir()
    (path / "qrels").write_text("x")
    assert fails(path) == "/qrels: is a file; a folder is needed"


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


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (("q1", "d1", 0.5), "field 'score': must be a text or a whole number, is a number"),
        (("q1", None, 1), "field 'corpus-id': must be a text or a whole number, is null"),
        (("", "d1", 1), "field 'query-id': an empty text"),
    ],
)
def test_broken_judgements_in_lines_are_named(folder, row, says):
    path = folder()
    judged_in_lines(path, [("q2", "d3", 1), row])
    assert fails(path) == f"/qrels.jsonl, line 2, {says}"


@pytest.mark.parametrize(
    ("docs", "says"),
    [
        ([*DOCS, {"_id": "d1", "text": "x"}], ", line 4, field '_id': 'd1' is already used on line 1"),
        ([{"text": "x"}], ", line 1, field '_id': missing; found text"),
        ([{"_id": "x"}], ", line 1, field 'text': missing; found _id"),
        ([{"_id": None, "text": "x"}], ", line 1, field '_id': is null; every line needs an id"),
        ([{"_id": "x", "text": 7}], ", line 1, field 'text': must be a text, is a number"),
        ([{"_id": "x", "text": "x", "title": ["y"]}], ", line 1, field 'title': must be a text, is a list"),
        ([{"_id": "x", "text": "\ud83d"}], ", line 1, field 'text': contains half of a surrogate pair"),
        ([{"_id": "x", "text": ""}], ": the file has no documents"),
        ("", ": the file has no documents"),
        ("[1]", ", line 1: must be a JSON object, is a list"),
    ],
)
def test_broken_documents_are_named(folder, docs, says):
    assert fails(folder(docs=docs)).startswith(f"/corpus.jsonl{says}")


@pytest.mark.parametrize(
    ("queries", "says"),
    [
        ([*QUERIES, QUERIES[0]], ", line 4, field '_id': 'q1' is already used on line 1"),
        ([{"_id": "x", "text": " "}], ", line 1, field 'text': an empty text"),
        ("", ": the file has no queries"),
    ],
)
def test_broken_queries_are_named(folder, queries, says):
    assert fails(folder(queries=queries)).startswith(f"/queries.jsonl{says}")


@pytest.mark.parametrize(
    ("qrels", "says"),
    [
        ("", ": the file is empty"),
        ("q1\td1\t1\n", ", line 1: the header must be query-id, corpus-id, score, separated by tabs; it is q1, d1, 1"),
        (HEADER + "q1\td1\n", ", line 2: 2 columns; the header has 3"),
        (HEADER + "q1\td1\thigh\n", ", line 2, field 'score': must be a whole number, is 'high'"),
        (HEADER + "q1\td1\t1.5\n", ", line 2, field 'score': must be a whole number, is '1.5'"),
        (HEADER + "q1\t\t1\n", ", line 2, field 'corpus-id': an empty cell"),
        (HEADER, ": no judgement gives a query a right document: no grade is above 0"),
        (HEADER + "q1\tx\t1\n", ": no judgement gives a query a right document: 'x' on line 2 of test.tsv is missing"),
    ],
)
def test_broken_judgements_are_named(folder, qrels, says):
    assert fails(folder(test=qrels)) == f"/qrels/test.tsv{says}"


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


def test_a_query_named_like_a_document_is_told_of(tmp_path):
    (tmp_path / "qrels").mkdir()
    (tmp_path / "corpus.jsonl").write_text('{"_id": "a", "text": "Tea."}\n{"_id": "b", "text": "Milk."}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "a", "text": "What is hot?"}\n')
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\na\tb\t1\n")
    notes = load(str(tmp_path), "mine").notes
    assert (
        "queries with the id of a document: 1; that document can be retrieved here; BEIR's evaluation leaves it out"
        in notes
    )
