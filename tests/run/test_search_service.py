"""Search services of users: what is sent, what is read of an answer, what is refused, what is kept."""

import json
import threading
import time
from dataclasses import replace

import pytest

import embassay as ea
from embassay.cli.app import exit_code_of
from embassay.core.errors import EncoderError, SpecError
from embassay.run.resolve import load_candidate, load_corpus
from embassay.run.specs import Spec
from embassay.search.retrievers.base import Questions
from embassay.search.retrievers.https import values_at
from search_server import SearchServer

pytest.importorskip("httpx2", reason="the api extra is not installed")

PATHS = {"ids": "hits.hits.*._id", "scores": "hits.hits.*._score"}
KEY = "planted-0123456789abcdef"


@pytest.fixture(scope="module")
def corpus():
    """The questions of the handbook that its first 60 documents answer."""
    handbook = load_corpus("handbook")
    documents = handbook.documents[:60]
    known = {document.id for document in documents}
    samples = tuple(sample for sample in handbook.samples if sample.right and known.issuperset(sample.right))
    return replace(handbook, name="some", builtin=False, samples=samples[:40], documents=documents)


@pytest.fixture(scope="module")
def running(corpus):
    found = SearchServer(corpus)
    yield found
    found.close()


@pytest.fixture
def server(running):
    running.behaviours.clear()
    running.seen.clear()
    return running


def assay(server, corpus, **options):
    spec = Spec(server.address, "ours", {**PATHS, **options})
    return ea.assay([spec, "bm25"], [corpus], ["retrieval"], resamples=20, cache=None, baselines=False)


def failure(server, corpus):
    """Return why the service failed, where bm25 finishes."""
    with pytest.warns(UserWarning, match="failed"):
        result = assay(server, corpus, concurrency=1)
    (failed,) = result.failed
    assert failed.encoder == "ours"
    return failed.reason


def figures(result, encoder):
    return {
        (row.metric, row.subset): row.value
        for row in result.rows
        if row.encoder == encoder and row.metric in ("Success@1", "Success@5", "RR", "nDCG@10", "R@5")
    }


@pytest.mark.parametrize(
    "options",
    [
        {"depth": 60},
        {"depth": 60, "query": "query"},
        {"depth": 60, "body": {"query": "{query}", "size": "{depth}", "filter": [{"kind": "any {query}"}]}},
    ],
    ids=["post", "get", "body"],
)
def test_it_has_the_figures_of_what_stands_behind_it(server, corpus, options):
    result = assay(server, corpus, **options)
    assert figures(result, "ours") == pytest.approx(figures(result, "bm25"), abs=1e-12)
    assert len(server.seen) == len(corpus.samples)
    assert {method for method, _, _ in server.seen} == {"GET" if "query" in options else "POST"}
    if "body" in options:
        asked = server.seen[0][2]
        assert asked["size"] == 60
        assert asked["filter"] == [{"kind": f"any {asked['query']}"}]


def test_headers_parameters_and_keys_are_sent_and_written_nowhere(server, corpus, monkeypatch, tmp_path):
    monkeypatch.setenv("SEARCH_KEY", KEY)
    config = tmp_path / "run.toml"
    config.write_text(
        f"""
        [[encoders]]
        spec = "{server.address}?index=docs"
        name = "ours"
        ids = "hits.hits.*._id"
        key_env = "SEARCH_KEY"
        headers = {{ X-Tenant = "one", x-key = "$SEARCH_KEY", Content-Type = "application/vnd.api+json" }}
        """
    )
    out = tmp_path / "run"
    arguments = ["run", str(config), "-c", "handbook", "-d", "retrieval", "-o", str(out), "--resamples", "20"]
    assert exit_code_of([*arguments, "--no-cache", "--no-baselines", "--limit", "8"]) == 0
    _, headers, asked = server.seen[0]
    shown = [headers[name] for name in ("authorization", "x-key", "x-tenant", "content-type")]
    # Of a header that is sent twice, both values would be here.
    assert shown == [f"Bearer {KEY}", KEY, "one", "application/vnd.api+json"]
    assert asked["index"] == "docs"
    assert json.loads((out / "run.json").read_text())["encoders"]["ours"]["milliseconds"][""] > 0
    assert not [path for path in out.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def of(answer):
    return lambda server, asked: json.dumps(answer).encode()


@pytest.mark.parametrize(
    ("behave", "says"),
    [
        (lambda server, asked: b"<html>welcome</html>", "the answer is not JSON; check the address"),
        (lambda server, asked: (404, b"{}"), "nothing at /search; check the address"),
        (of({"found": []}), "the order counts): there is no 'hits' in {'found': []}; the question is"),
        (of({"hits": {"hits": {}}}), "there is no '*' in {}"),
        (of({"hits": {"total": 0}}), "there is no 'hits' in {'total': 0}; the question is '"),
        (of({"hits": {"hits": [{"_id": "a", "_score": 1}, {"_id": "b"}]}}), "there is no '_score' in {'_id': 'b'}"),
    ],
)
def test_what_is_no_answer_is_said_in_one_line(server, corpus, behave, says):
    server.behaviours += [behave] * 8
    reason = failure(server, corpus)
    assert says in reason
    assert "\n" not in reason


def test_answers_under_way_are_kept_where_another_one_cannot_be_read(server, corpus):
    """They are waited for: nothing is cancelled while it connects, which asyncio warns of."""
    others_have_come = threading.Barrier(4, timeout=10)

    def bad(server, asked):
        others_have_come.wait()
        return b'{"found": []}'

    def late(server, asked):
        others_have_come.wait()
        time.sleep(0.3)
        return json.dumps(server.good(asked)).encode()

    server.behaviours += [bad, late, late, late]
    service = load_candidate(Spec(server.address, None, PATHS))
    kept = []
    with pytest.raises(EncoderError, match="there is no 'hits'"):
        for lists in service.retrieve(Questions(corpus, corpus.samples)):
            kept.append(lists)  # noqa: PERF402 - what came before the failure
    assert len(kept) == 3


def test_a_document_counts_at_its_nearest_chunk(server, corpus):
    """A service that lists each document by three chunks has the figures of one that lists documents."""

    def in_chunks(server, asked):
        answer = server.good(asked)
        hits = answer["hits"]["hits"]
        far = [{**hit, "_score": hits[-1]["_score"] - 1} for hit in reversed(hits)]
        answer["hits"]["hits"] = [hit for hit in hits for _ in range(2)] + far
        return json.dumps(answer).encode()

    documents = figures(assay(server, corpus, depth=60), "ours")
    server.behaviours += [in_chunks] * len(corpus.samples)
    assert figures(assay(server, corpus, depth=60), "ours") == documents


def test_the_parameters_of_an_address_are_part_of_what_is_asked(corpus):
    first, second = (load_candidate(f"https://search.example/q?collection={name}") for name in ("one", "two"))
    assert first.fingerprint != second.fingerprint


@pytest.mark.parametrize(
    ("answer", "path", "values"),
    [
        ({"ids": ["a", "b"]}, "ids", ["a", "b"]),
        ([{"id": "a"}, {"id": "b"}], "*.id", ["a", "b"]),
        ({"results": [["a", "b"], ["c"]]}, "results.0", ["a", "b"]),
        ({"groups": [{"hits": ["a"]}, {"hits": ["b", "c"]}]}, "groups.*.hits.*", ["a", "b", "c"]),
        ({"ids": []}, "ids", []),
    ],
)
def test_paths_lead_into_an_answer(answer, path, values):
    assert values_at(answer, path) == values


@pytest.mark.parametrize("headers", [{"x-tenant": "Größe"}, {"größe": "one"}, {"x-tenant": "one\ntwo"}])
def test_headers_are_printable_ascii(headers):
    with pytest.raises(
        SpecError, match=r"'https://h/search': the header '.*' may only have printable ASCII characters"
    ):
        load_candidate(Spec("https://h/search", None, {"headers": headers}))
