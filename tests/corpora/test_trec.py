"""TREC's folders: topics, judgements and documents; what is left out is counted, what is broken named."""

from __future__ import annotations

import pytest

from embassay.run.resolve import load_corpus

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
        "judgements: qrels.txt",
        "passages: document",
        "1 judgement with grade 0 or less: not right",
        "1 document left out: no text",
        "verdicts are about these documents only; about=new-documents makes them about others like these",
        "3 documents, 2 questions",
    )


def test_units_may_be_documents_and_passages_words(folder):
    path = folder(only={"qrels.txt": "301 0 A-1 1\n302 0 A-1 1\n"})
    corpus = load_corpus(f"{path},about=new-documents,passages=2")
    assert corpus.units.tolist() == [0, 0]
    assert corpus.documents[1].passages == ("It rained.",)
    assert corpus.documents[2].passages == ("It was", "was late.")
