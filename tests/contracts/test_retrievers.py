"""What every retriever must keep: whole lists, the same for each question in any company, a stable fingerprint."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from contracts.abilities import overridden
from embassay.core.errors import SpecError
from embassay.core.plugins import RETRIEVERS
from embassay.core.samples.retrieval import Document
from embassay.run.engine.encode import encode
from embassay.run.resolve import load_candidate, load_corpus, load_encoder, scheme_of
from embassay.search.exact.documents import nearest_documents
from embassay.search.exact.lists import checked, joined, lists_of, of_rows
from embassay.search.retrievers.base import Questions, Retriever
from search_server import SearchServer

SPECS = {
    "python": "python:answers_of_contract:by_letters,kind=retriever",
    "hybrid": "hybrid:tfidf+bm25,weight=0.3",
    "https": "{https}",
    "rerank": "rerank:python:contracts.abilities:common_letters,over=tfidf",
    "run": "run:{run}",
    "store": "store:lancedb,encoder=hashing,index=none",
}
"""A spec of each kind. Labels of parts are specs themselves: ``hybrid:tfidf+bm25`` is built on tfidf and bm25."""
ABILITIES = {"rerank": {"release", "route"}}
"""What some kinds can do of what encoders may."""


@pytest.fixture(scope="module")
def corpus():
    """Some questions of the handbook on 40 documents, one sentence a passage."""
    handbook = load_corpus("handbook")
    documents = tuple(Document(document.id, tuple(document.whole.split(". "))) for document in handbook.documents[:40])
    known = {document.id for document in documents}
    samples = tuple(sample for sample in handbook.samples if known.issuperset(sample.right))
    return replace(handbook, samples=samples, documents=documents)


@pytest.fixture(scope="module")
def run(corpus, tmp_path_factory):
    """A run file with two documents for each question."""
    path = tmp_path_factory.mktemp("run") / "system.run"
    first, second = (document.id for document in corpus.documents[:2])
    lines = [f"{sample.id} Q0 {first} 1 2.5 me\n{sample.id} Q0 {second} 2 -1 me\n" for sample in corpus.samples]
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def https(corpus):
    """The spec of a search service on this machine."""
    pytest.importorskip("httpx2", reason="the api extra is not installed")
    server = SearchServer(corpus)
    yield f"{server.address},ids=hits.hits.*._id,scores=hits.hits.*._score"
    server.close()


@pytest.fixture
def store():
    """LanceDB is installed."""
    pytest.importorskip("lancedb")


@pytest.fixture
def python(corpus, tmp_path, monkeypatch):
    """A module of the user with a function that answers by the letters of the question."""
    names = [document.id for document in corpus.documents[:20]]
    (tmp_path / "answers_of_contract.py").write_text(
        f"NAMES = {names}\ndef by_letters(question):\n"
        "    return [(NAMES[(len(question) + place) % 20], -float(place)) for place in range(10)]\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "answers_of_contract", raising=False)


@pytest.fixture(params=sorted(RETRIEVERS.own_names()))
def retriever(request):
    """One retriever of each kind; a fixture of the kind's name makes what its spec names."""
    is_fixture = request.param in request.fixturenames or request.param in globals()
    target = request.getfixturevalue(request.param) if is_fixture else ""
    return load_candidate(SPECS[request.param].format(**{request.param: target}))


def questions_of(retriever, corpus):
    """Return all questions of a corpus, with what the retriever is built on."""
    parts, vectors_of = {}, {}
    for label in retriever.parts:
        encoder = load_candidate(label).fit(corpus.learnt())
        vectors, _ = encode(encoder, corpus.texts())
        parts[label] = lists_of(nearest_documents(corpus, vectors, retriever.depth), retriever.depth)
        if retriever.needs_vectors:
            vectors_of[label] = vectors
    return Questions(corpus, corpus.samples, parts, vectors_of, lambda encoder, texts: encode(encoder, texts)[0])


def answers(retriever, questions):
    """Return by question id its documents and scores, as the engine takes them."""
    lists = joined([checked(given, questions, 0.0) for given in retriever.retrieve(questions)])
    found = {}
    for row, documents, scores in zip(lists.rows, lists.documents.tolist(), lists.scores.tolist(), strict=True):
        found[questions.samples[row].id] = [pair for pair in zip(documents, scores, strict=True) if pair[0] >= 0]
    return found


def test_each_kind_has_a_spec():
    assert set(SPECS) == RETRIEVERS.own_names()


def test_it_is_a_retriever_with_a_name_and_its_own_scheme(retriever):
    scheme = scheme_of(retriever.card.spec)[0]
    assert isinstance(retriever, Retriever)
    assert retriever.name
    assert scheme in RETRIEVERS.names()
    assert retriever.card.shapes == ("retrieval",)
    assert overridden(retriever, Retriever) & {"route", "release"} == ABILITIES.get(scheme, set())


def test_lists_are_whole_and_the_same_again(retriever, corpus):
    questions = questions_of(retriever, corpus)
    first = answers(retriever, questions)
    assert len(first) == len(corpus.samples)
    assert all(first.values())
    np.testing.assert_equal(answers(retriever, questions), first)


def test_a_list_does_not_depend_on_the_other_questions(retriever, corpus):
    questions = questions_of(retriever, corpus)
    rows = [7, 3, 11]
    whole, part = answers(retriever, questions), answers(retriever, of_rows(questions, np.array(rows)))
    assert set(part) == {corpus.samples[row].id for row in rows}
    for name, of_part in part.items():
        assert [document for document, _ in of_part] == [document for document, _ in whole[name]]
        np.testing.assert_allclose([s for _, s in of_part], [s for _, s in whole[name]], atol=1e-5)


def test_a_list_does_not_depend_on_which_documents_are_right(retriever, corpus):
    blind = replace(corpus, samples=tuple(replace(sample, right=(), gains=()) for sample in corpus.samples))
    np.testing.assert_equal(
        answers(retriever, questions_of(retriever, blind)), answers(retriever, questions_of(retriever, corpus))
    )


def test_its_fingerprint_is_stable(retriever):
    assert load_candidate(retriever.card.spec).fingerprint == retriever.fingerprint


def test_it_is_no_encoder(retriever):
    with pytest.raises(SpecError, match="lists documents and has no vectors"):
        load_encoder(retriever.card.spec)
