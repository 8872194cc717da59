"""What every retriever must keep: whole lists, the same for each question in any company, a stable fingerprint."""

import sys
from dataclasses import replace

import pytest

from contracts.abilities import overridden
from embassay.core.errors import SpecError
from embassay.core.plugins import RETRIEVERS
from embassay.core.samples.retrieval import Document
from embassay.run.resolve import load_candidate, load_corpus, load_encoder, scheme_of
from embassay.search.retrievers.base import Retriever
from embassay.testing import check_retriever
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


def test_each_kind_has_a_spec():
    assert set(SPECS) == RETRIEVERS.own_names()


def test_it_is_a_retriever_with_a_name_and_its_own_scheme(retriever):
    scheme = scheme_of(retriever.card.spec)[0]
    assert scheme in RETRIEVERS.names()
    assert retriever.card.shapes == ("retrieval",)
    assert overridden(retriever, Retriever) & {"route", "release"} == ABILITIES.get(scheme, set())


def test_it_keeps_the_contract(retriever, corpus):
    check_retriever(retriever.card.spec, corpus)


def test_it_is_no_encoder(retriever):
    with pytest.raises(SpecError, match="lists documents and has no vectors"):
        load_encoder(retriever.card.spec)
