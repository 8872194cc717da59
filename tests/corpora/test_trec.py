"""TREC's folders: topics, judgements and documents; what is left out is counted, what is broken named."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embassay.core.errors import SourceError
from embassay.corpora.retrieval.trec import load
from embassay.run.resolve import load_corpus
from failing import failing

TOPICS = "301\tLate  trains\n302\tRain & snow\n"
DOCUMENTS = "A-1\tThe train was late.\nA-2\tIt rained.\n\nA-3\t \n"
QRELS = "301 0 A-1 2\n301 0 B-1 1\n301 0 A-2 0\n302\t0\tA-2\t1\n"


@pytest.fixture
def folder(tmp_path):
    def write(**files):
        path = tmp_path / "robust"
        given = {
            "topics.301": TOPICS,
            "qrels.txt": QRELS,
            "docs/a.tsv": DOCUMENTS,
            "docs/b.tsv": "B-1\tIt was\tlate.\n",
        }
        for name, content in {**given, **files.pop("only", {})}.items():
            if content is not None:
                file = path / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


fails = failing(load)


def test_a_folder_is_read(folder):
    corpus = load_corpus(f"{folder(only={'README.txt': 'About.'})},licence=own")
    assert (corpus.name, corpus.loader, corpus.licence) == ("robust", "trec", "own")
    assert {d.id: " ".join(d.passages[0].split()) for d in corpus.documents} == {
        "A-1": "The train was late.",
        "A-2": "It rained.",
        "B-1": "It was late.",
    }
    assert [(q.id, q.question, q.right, q.gains, q.units) for q in corpus.samples] == [
        ("301", "Late trains", ("A-1", "B-1"), (2, 1), ()),
        ("302", "Rain & snow", ("A-2",), (1,), ()),
    ]
    assert corpus.notes == (
        "topics: topics.301; judgements: qrels.txt; passages: document",
        "1 judgement with grade 0 or less: not right",
        "1 document left out: no text",
        "verdicts are about these documents, as many questions share right ones; about=new-documents says otherwise",
        "3 documents, 2 questions",
    )


def test_units_may_be_documents_and_passages_words(folder):
    path = folder(only={"qrels.txt": "301 0 A-1 1\n302 0 A-1 1\n"})
    corpus = load_corpus(f"{path},about=new-documents,passages=2")
    assert corpus.units.tolist() == [0, 0]
    assert corpus.documents[1].passages == ("It rained.",)
    assert corpus.documents[2].passages == ("It was", "was late.")


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"topics.301": None}, ": no file of topics, with 'topics' or 'queries' in its name"),
        ({"qrels.txt": None}, ": no file of judgements, with 'qrels' in its name"),
        (
            {"qrels.2": "x"},
            ": more than one file of judgements, with 'qrels' in its name: qrels.2, qrels.txt; keep only one",
        ),
        (
            {"docs/a.tsv": None, "docs/b.tsv": None},
            ": no document with a text; documents must be id, tab, text in .tsv",
        ),
        ({"topics.301": ""}, "/topics.301: the file has no topics"),
        ({"topics.301": "no tab\n"}, "/topics.301, line 1: must be an id, a tab and a text"),
        ({"topics.301": "1\t \n"}, "/topics.301, line 1, field 'text': an empty text"),
        ({"topics.301": "1\ta\n1\tb\n"}, "/topics.301, line 2, field 'id': '1' is already used on line 1"),
        ({"qrels.txt": "301 0 A-1\n"}, "/qrels.txt, line 1: must be query, 0, document and grade; it has 3 columns"),
        ({"qrels.txt": "301 0 A-1 x\n"}, "/qrels.txt, line 1, field 'grade': must be a whole number, is 'x'"),
        (
            {"qrels.txt": "301 0 A-1 0\n"},
            "/qrels.txt: no judgement gives a query a right document: no grade is above 0",
        ),
        (
            {"docs/c.tsv": "A-1\tx\n"},
            "/docs/c.tsv, line 1, field 'id': 'A-1' is already used in a.tsv on line 1",
        ),
        (
            {"docs/c.tsv": b"x\ty\ncaf\xe9"},
            "/docs/c.tsv, line 2: not UTF-8 text, probably Latin-1",
        ),
        ({"docs/b.tsv": "B-1 no tab\n"}, "/docs/b.tsv, line 1: must be an id, a tab and a text"),
    ],
)
def test_what_is_broken_is_named(folder, files, says):
    assert fails(folder(only=files))


@settings(deadline=None, max_examples=200)
@given(
    name=st.sampled_from(["topics.x", "qrels.x", "a.tsv", "b.tsv"]),
    cut=st.integers(0, 400),
    skip=st.integers(0, 9),
    junk=st.sampled_from([b"", b"\t", b"\xff", b"<", b"\r"]),
)
def test_no_damage_brings_anything_but_a_corpus_or_a_source_error(name, cut, skip, junk, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "damaged-trec"
    path.mkdir(exist_ok=True)
    files = {"topics.x": TOPICS, "qrels.x": QRELS, "a.tsv": DOCUMENTS, "b.tsv": "B-1\tIt was late.\n"}
    for file, text in files.items():
        content = text.encode()
        at = cut % len(content)
        (path / file).write_bytes(content[:at] + junk + content[at + skip :] if file == name else content)
    try:
        corpus = load(str(path), "mine")
    except SourceError as error:
        assert str(path) in str(error)
        return
    assert all(d.passages[0].strip() for d in corpus.documents)
    assert {key for q in corpus.samples for key in q.right} <= {d.id for d in corpus.documents}
