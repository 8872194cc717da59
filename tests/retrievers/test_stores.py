"""Vector stores, real ones: exact with large numbers, a stated overlap with small ones, and nothing left behind."""

from contextlib import closing
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

import embassay as ea
from embassay.core.errors import EncoderError
from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Card, Corpus
from embassay.core.vectors import Vectors
from embassay.models.base import BaseEncoder
from embassay.run.execute import execute
from embassay.run.plan import prepare
from embassay.run.request import RunRequest
from embassay.run.resolve import load_candidate
from embassay.run.runs.folder import RunFolder
from embassay.search.exact.documents import nearest_documents
from embassay.search.exact.lists import joined, ranked, validated_lists
from embassay.search.retrievers.base import Questions
from embassay.stats.overlap import overlaps

QUESTIONS, DOCUMENTS, WIDTH = 30, 400, 16
EXACT = ("index=none", "index=hnsw,ef_search=400", "index=ivf,lists=20,probes=20")
SMALL = ("index=hnsw,m=4,ef_construction=8,ef_search=10", "index=ivf,lists=20,probes=1")
DSN = "EMBASSAY_TEST_DSN"


def corpus_of(passages=1):
    documents = tuple(Document(f"d{n}", tuple(f"{n}.{m}" for m in range(passages))) for n in range(DOCUMENTS))
    samples = tuple(Question(f"q{n}", f"question {n}", (f"d{n}",)) for n in range(QUESTIONS))
    return Corpus("made", "retrieval", samples, documents=documents)


def vectors_of(corpus, similarity="cosine"):
    """Return random vectors; each question lies near its document, some of them only a little."""
    rng = np.random.default_rng(0)
    texts = corpus.texts()
    matrix = rng.standard_normal((len(texts), WIDTH)).astype(np.float32)
    row = {text: place for place, text in enumerate(texts)}
    for sample in corpus.samples:
        right = corpus.documents[int(sample.right[0][1:])].passages[-1]
        matrix[row["query", sample.question]] += matrix[row["document", right]]
    return Vectors(matrix, row, similarity)


@dataclass(frozen=True)
class Table(BaseEncoder):
    """An encoder with these vectors."""

    vectors: Vectors = field(compare=False)
    name: str = "table"
    fingerprint: str = "table"
    card: Card = field(default=Card("table", cached=False))

    def encode(self, texts, role="text"):
        return self.vectors.take(texts, role)


@pytest.fixture(params=["faiss", "lancedb", "pgvector"])
def kind(request, monkeypatch):
    """A kind of store with its place, to which options are added."""
    if request.param != "pgvector":
        pytest.importorskip(request.param)
        return f"{request.param},encoder=table"
    monkeypatch.setenv(DSN, request.getfixturevalue("postgres"))
    return f"pgvector,encoder=table,dsn_env={DSN}"


@pytest.fixture
def tables(postgres):
    """Return the names of the tables in the database."""
    import psycopg

    def names():
        with psycopg.connect(postgres) as connection:
            return {
                name for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
            }

    return names


def questions_of(corpus, vectors):
    return Questions(corpus, corpus.samples, vectors={"table": vectors})


def answered(spec, corpus, vectors):
    """Return the lists of a store as the engine has them, and the exact ones."""
    questions = questions_of(corpus, vectors)
    store = load_candidate(f"store:{spec}")
    lists = joined([validated_lists(given, questions, 0.0) for given in store.retrieve(questions)])
    return ranked(corpus, lists, None), nearest_documents(corpus, vectors, DOCUMENTS)


def overlap_of(found, exact):
    return overlaps(found.first(10), exact.first(10))


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
@pytest.mark.parametrize("options", EXACT)
def test_with_large_numbers_it_is_an_exact_search(kind, options, similarity):
    corpus = corpus_of()
    found, exact = answered(f"{kind},{options}", corpus, vectors_of(corpus, similarity))
    np.testing.assert_array_equal(found.documents, exact.documents[:, :10])
    np.testing.assert_allclose(found.similarity, exact.similarity[:, :10], atol=2e-6)
    assert (overlap_of(found, exact) == 1).all()


@pytest.mark.parametrize("options", SMALL)
def test_with_small_numbers_it_lists_other_documents(kind, options):
    corpus = corpus_of()
    found, exact = answered(f"{kind},{options}", corpus, vectors_of(corpus))
    hits = [len(np.intersect1d(a, b[:10])) for a, b in zip(found.documents, exact.documents, strict=True)]
    np.testing.assert_array_equal(overlap_of(found, exact), np.array(hits) / 10)
    assert sum(hits) / (10 * QUESTIONS) < 0.9
    # What is listed is in order, and is as near as it is said to be.
    at = exact.documents.argsort(axis=1)
    listed = found.documents >= 0
    expected = np.take_along_axis(np.take_along_axis(exact.similarity, at, 1), np.where(listed, found.documents, 0), 1)
    np.testing.assert_allclose(found.similarity[listed], expected[listed], atol=2e-6)


@pytest.mark.parametrize("options", EXACT)
def test_a_document_counts_with_its_best_passage(kind, options):
    corpus = corpus_of(passages=6)
    vectors = vectors_of(corpus)
    # All passages of the first 12 documents are nearer to the first question than those of the others.
    near = vectors.row["query", "question 0"]
    for document in corpus.documents[:12]:
        for passage in document.passages:
            vectors.matrix[vectors.row["document", passage]] += 9 * vectors.matrix[near]
    spec = f"{kind},{options.replace('ef_search=400', 'ef_search=1000')}"
    found, exact = answered(spec, corpus, vectors)
    np.testing.assert_array_equal(found.documents, exact.documents[:, :10])
    np.testing.assert_array_equal(found.passages, exact.passages[:, :10])


def test_nearly_equal_rows_are_in_order(kind):
    corpus = corpus_of()
    vectors = vectors_of(corpus)
    rng = np.random.default_rng(1)
    # Lengths differ, and angles by less than the last digits of a cosine.
    matrix = (vectors.matrix[:1] + 1e-7 * rng.standard_normal(vectors.matrix.shape)) * rng.uniform(0.5, 2, (430, 1))
    found, _ = answered(f"{kind},{EXACT[1]}", corpus, replace(vectors, matrix=matrix.astype(np.float32)))
    assert (found.documents >= 0).all()


def test_vectors_of_zeros_have_no_cosine(kind):
    corpus = corpus_of()
    vectors = vectors_of(corpus)
    for text in (("query", "question 3"), ("document", "7.0")):
        vectors.matrix[vectors.row[text]] = 0
    found, exact = answered(f"{kind},index=none", corpus, vectors)
    assert (found.documents[3] == -1).all()
    np.testing.assert_array_equal(found.documents, exact.documents[:, :10])


def test_a_run_says_what_an_index_loses(kind, tmp_path):
    corpus = corpus_of()
    encoder = Table(vectors=vectors_of(corpus))
    specs = [f"{name}=store:{kind},{options}" for name, options in (("exact", EXACT[0]), ("fast", SMALL[1]))]
    request = RunRequest([encoder, *specs], [corpus], ["retrieval"], baselines=False, resamples=50)
    result = execute(prepare(request), RunFolder(tmp_path)).result
    value = {row.encoder: row.value for row in result.rows if (row.metric, row.subset) == ("Success@5", "all")}
    assert value["exact"] == value["table"] > value["fast"] > 0
    # An exact search inside the store is no step, so it is not screened.
    (screening,) = result.screenings
    assert (screening.encoder, screening.base, screening.step) == ("fast", "table", "index")
    assert 0.1 < screening.overlap < 0.9
    assert screening.outcome == "differs"
    assert "probes=1" in screening.settings
    for path in (tmp_path / "lists").glob("*.npz"):
        assert (np.load(path)["seconds"] > 0).all()


def test_a_postgres_table_is_gone_afterwards_and_another_is_untouched(postgres, tables, monkeypatch):
    import psycopg

    monkeypatch.setenv(DSN, postgres)
    corpus = corpus_of()
    questions = questions_of(corpus, vectors_of(corpus))
    spec = f"store:pgvector,encoder=table,dsn_env={DSN}"
    with psycopg.connect(postgres) as connection:
        connection.execute("CREATE TABLE mine AS SELECT 7 AS number")
    try:
        list(load_candidate(spec).retrieve(questions))
        assert tables() == {"mine"}
        # While it is asked, nobody sees the table; one who stops asking leaves none.
        with closing(load_candidate(spec).retrieve(questions)) as lists:
            next(lists)
            assert tables() == {"mine"}
        assert tables() == {"mine"}
        with pytest.raises(EncoderError, match="ef_construction must be greater than or equal to 2"):
            list(load_candidate(f"{spec},m=9,ef_construction=4").retrieve(questions))
        assert tables() == {"mine"}
    finally:
        with psycopg.connect(postgres) as connection:
            connection.execute("DROP TABLE mine")


def failure_of(spec, corpus=None, encoder=None):
    """Return why a store fails in a run in which an encoder finishes."""
    corpus = corpus or corpus_of()
    encoder = encoder or Table(vectors=vectors_of(corpus))
    with pytest.warns(UserWarning, match="failed: "):
        result = ea.assay([encoder, f"s=store:{spec}"], [corpus], ["retrieval"], baselines=False, resamples=50)
    assert {row.encoder for row in result.rows} == {"table"}
    (failure,) = result.failed
    assert "secret" not in repr(result)
    return failure.reason


def test_the_password_is_in_no_message_of_the_database(postgres, monkeypatch):
    """Also not where the database repeats it, as it does in the name of a database."""
    monkeypatch.setenv(DSN, postgres.replace("postgres:@/postgres", "postgres:secret@/secret"))
    reason = failure_of(f"pgvector,encoder=table,dsn_env={DSN}")
    assert "does not exist" in reason
