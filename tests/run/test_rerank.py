"""Rerankers in a run: known orders, ties, the depth, what is scored once, what is kept, what is refused."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

import embassay as ea
from connecting import hurry
from embassay.cli.app import exit_code_of
from embassay.core.errors import SpecError
from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Corpus
from embassay.run.execute import execute
from embassay.run.plan import prepare
from embassay.run.request import RunRequest
from embassay.run.resolve import load_candidate
from embassay.run.runs.folder import RunFolder
from embassay.search.retrievers.base import Retriever

QUESTIONS, DOCUMENTS = 30, 60
RERANKERS = """
import json
from pathlib import Path

asked = []
right_of = json.loads(Path("right.json").read_text())

def number(text):
    return int(text.split()[0])

def count(query, texts):
    asked.extend((query, text) for text in texts)

def perfect(query, texts):
    count(query, texts)
    return [float(number(text) == right_of[query]) for text in texts]

def reversing(query, texts):
    return [number(text) for text in texts]

def constant(query, texts):
    return [7] * len(texts)

def few(query, texts):
    return [1.0] * (len(texts) - 1)

def nan(query, texts):
    return [float("nan")] * len(texts)

def broken(query, texts):
    raise ValueError("no weights")

def failing(query, texts):
    if len({query for query, _ in asked}) > 5:
        raise ValueError("no power")
    return perfect(query, texts)
"""


@dataclass(frozen=True, kw_only=True)
class InOrder(Retriever):
    """Lists the documents in the order of the corpus."""

    name: str = "first"
    spec: str = "first"
    fingerprint: str = "first"

    def retrieve(self, questions):
        ids = [document.id for document in questions.corpus.documents]
        for row in range(len(questions.samples)):
            yield questions.listed(row, ids, [-float(place) for place in range(len(ids))])


@pytest.fixture
def corpus(tmp_path, user_module, monkeypatch):
    """The right document of question n is the one with number 2n, and ``number`` reads a document's number."""
    documents = tuple(Document(f"d{n}", (f"{n} {'x' * (n % 7)}",)) for n in range(DOCUMENTS))
    samples = tuple(Question(f"q{n}", f"question {n}", (f"d{2 * n}",)) for n in range(QUESTIONS))
    (tmp_path / "right.json").write_text(json.dumps({f"question {n}": 2 * n for n in range(QUESTIONS)}))
    user_module("planted_rerankers", RERANKERS)
    monkeypatch.syspath_prepend(tmp_path)
    return Corpus("some", "retrieval", samples, documents=documents)


def assay(corpus, *encoders, **more):
    return ea.assay([InOrder(), *encoders], [corpus], ["retrieval"], resamples=50, baselines=False, **more)


def spec(function, depth=20, label="r", **options):
    more = "".join(f",{name}={value}" for name, value in options.items())
    return f"{label}=rerank:python:planted_rerankers:{function},over=first,depth={depth}{more}"


def asked():
    import planted_rerankers

    return planted_rerankers.asked


def values(result, encoder):
    rows = [row for row in result.rows if row.encoder == encoder and row.subset == "all"]
    return {row.metric: row.value for row in rows}


def ranks(result, encoder):
    return [example.values.get("rank") for example in result.examples if example.encoder == encoder]


FIRST = [2 * n + 1 for n in range(QUESTIONS)]
"""The rank of the right document in the first stage."""


def test_a_perfect_reranker_puts_first_what_it_gets_and_leaves_the_rest(corpus):
    result = assay(corpus, spec("perfect"), examples="all", cache=None)
    expected = [1 if rank <= 20 else rank for rank in FIRST]
    assert ranks(result, "r") == expected
    assert values(result, "r")["Success@1"] == pytest.approx(10 / 30)
    assert values(result, "r")["RR"] == pytest.approx(np.mean([1 / rank for rank in expected]))
    assert len(asked()) == len(set(asked())) == QUESTIONS * 20


def test_equal_scores_are_ties(corpus):
    result = assay(corpus, spec("constant"), cache=None)
    # The right document is among 20 equal ones for 10 of 30 questions, and for one more of rank 21 it is beyond them.
    assert values(result, "r")["Success@1"] == pytest.approx(10 / 30 / 20)
    assert values(result, "r")["Success@5"] == pytest.approx(10 / 30 * 5 / 20)


def test_of_documents_that_are_tied_at_the_depth_those_beyond_it_come_later(corpus):
    """In the first stage all are tied; one right document is among the 20 that are reranked, the other is not."""
    samples = tuple(replace(sample, right=(*sample.right, "d50")) for sample in corpus.samples[:10])
    chain = [spec("constant", 60, label="tied"), spec("perfect", 20).replace("over=first", "over=tied")]
    found = values(assay(replace(corpus, samples=samples), *chain, cache=None), "r")
    assert found["R@5"] == pytest.approx(0.5)
    assert found["AP"] == pytest.approx((1 + np.mean([2 / place for place in range(21, 61)])) / 2)


def test_a_reranker_over_a_reranker(corpus):
    chain = [spec("reversing", 20), spec("perfect", 5, label="rr").replace("over=first", "over=r")]
    result = assay(corpus, *chain, examples="all", cache=None)
    # Reversed, the right documents of ranks 16 to 20 are among the first five.
    expected = [1 if 15 < rank <= 20 else 21 - rank if rank <= 20 else rank for rank in FIRST]
    assert ranks(result, "rr") == expected


def test_the_passage_by_which_a_document_was_found_is_scored(corpus):
    documents = [replace(d, passages=(d.passages[0], f"{n} question {n // 2}")) for n, d in enumerate(corpus.documents)]
    cut = replace(corpus, documents=tuple(documents))
    ea.assay(["tfidf", spec("perfect").replace("first", "tfidf")], [cut], ["retrieval"], baselines=False, cache=None)
    words = [(query.split()[1], text.split()[1:]) for query, text in asked()]
    assert {tuple(text) for number, text in words if text[1:] == [number]} == {
        ("question", str(n)) for n in range(QUESTIONS)
    }


def test_scores_of_the_shared_first_documents_are_computed_once(corpus, tmp_path):
    result = assay(corpus, spec("perfect", "[20,40,60]", version=1), cache=tmp_path / "cache")
    assert len(asked()) == len(set(asked())) == QUESTIONS * 60
    found = [values(result, f"r,depth={depth}")["Success@1"] for depth in (20, 40, 60)]
    assert found == pytest.approx([10 / 30, 20 / 30, 1])


def test_scores_are_kept_for_other_runs_with_a_version_only(corpus, tmp_path):
    for options, again in (({}, 2), ({"version": 1}, 1)):
        asked().clear()
        first, second = (assay(corpus, spec("perfect", **options), cache=tmp_path / "cache") for _ in range(2))
        assert values(first, "r") == values(second, "r")
        assert len(asked()) == again * QUESTIONS * 20
    # Fewer documents need no new score, and still have a time.
    folder = RunFolder(tmp_path / "run")
    request = RunRequest(
        encoders=[InOrder(), spec("perfect", 10, version=1)],
        corpora=[corpus],
        diagnostics=["retrieval"],
        cache=tmp_path / "cache",
        baselines=False,
    )
    outcome = execute(prepare(request), folder)
    assert len(asked()) == QUESTIONS * 20
    assert outcome.encoders[1].milliseconds[""] > 0


@pytest.mark.parametrize("options", [{}, {"version": 1}])
def test_a_run_that_failed_asks_only_for_what_is_missing(options, corpus, tmp_path):
    def run():
        request = RunRequest(
            encoders=[InOrder(), spec("failing", 60, **options)],
            corpora=[corpus],
            diagnostics=["retrieval"],
            cache=tmp_path / "cache",
            baselines=False,
        )
        return execute(prepare(request), RunFolder(tmp_path / "run")).result

    (failure,) = run().failed
    assert failure.reason.startswith("ValueError: no power")
    done = len(asked())
    assert done == 6 * 60
    first = list(asked())
    asked().clear()
    run()
    assert set(asked()).isdisjoint(first)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("few", "question 'question 0': 19 scores for 20 texts"),
        ("nan", "it returned a vector with NaN or infinity"),
        ("broken", "ValueError: no weights"),
    ],
)
def test_wrong_scores_are_refused_and_the_others_finish(function, message, corpus):
    with pytest.warns(UserWarning, match="failed: "):
        result = assay(corpus, spec(function), cache=None)
    (failure,) = result.failed
    assert failure.reason.startswith(message)
    assert values(result, "first")["Success@1"] == pytest.approx(1 / 30)


def test_where_there_are_fewer_documents_than_the_depth_all_are_reranked(corpus):
    result = assay(corpus, spec("perfect", 61), cache=None)
    assert values(result, "r")["Success@1"] == 1


# Services


def texts_of(payload):
    return payload.get("documents") or payload["texts"]


def scores_of(payload):
    """Return the score of each text: the perfect one, as the function above has it."""
    right = 2 * int(payload["query"].split()[1])
    return [float(text.split()[0] == str(right)) for text in texts_of(payload)]


@pytest.fixture
def rerank(service, monkeypatch):
    """A service with ``/rerank`` as of Cohere and Jina: the best score first, with the texts."""
    pytest.importorskip("httpx2", reason="the api extra is not installed")

    def good(payload):
        scores = scores_of(payload)
        order = np.argsort(scores)[::-1].tolist()
        return {
            "results": [
                {"index": n, "relevance_score": scores[n], "document": {"text": texts_of(payload)[n]}} for n in order
            ],
            "usage": {"total_tokens": 100},
        }

    hurry(monkeypatch, 3)
    service.good = good
    return service


def api(rerank, depth=20, **options):
    more = "".join(f",{name}={value}" for name, value in {"base_url": rerank.url, **options}.items())
    return f"r=rerank:api:m,over=first,depth={depth}{more}"


def pairs(rerank):
    return [(payload["query"], text) for _, _, payload in rerank.seen for text in texts_of(payload)]


def test_a_service_scores_each_pair_once(rerank, corpus, tmp_path):
    result = assay(corpus, api(rerank, "[20,40]", version=1), examples="all", cache=tmp_path / "cache")
    assert ranks(result, "r,depth=20") == [1 if rank <= 20 else rank for rank in FIRST]
    assert values(result, "r,depth=40")["Success@1"] == pytest.approx(20 / 30)
    assert len(pairs(rerank)) == len(set(pairs(rerank))) == QUESTIONS * 40
    path, headers, payload = rerank.seen[0]
    assert (path, len(payload["documents"])) == ("/v1/rerank", 20)
    assert set(payload) == {"model", "query", "documents"}
    assert "authorization" not in headers
    rerank.seen.clear()
    assay(corpus, api(rerank, version=1), cache=tmp_path / "cache")
    assert rerank.seen == []


def test_text_embeddings_inference_has_other_fields_and_a_limit(rerank, corpus):
    def tei(handler, payload):
        if "texts" not in payload:
            message = "Failed to deserialize the JSON body into the target type: missing field `texts` at line 1"
            return handler.answer(422, message.encode(), {})
        if len(payload["texts"]) > 8:
            return handler.answer(422, b"batch size 20 > maximum allowed batch size 8", {})
        scores = [{"index": n, "score": score} for n, score in enumerate(scores_of(payload))]
        return handler.answer(200, json.dumps(scores).encode(), {})

    rerank.script(*[tei] * 1000)
    result = assay(corpus, api(rerank), cache=None)
    assert values(result, "r")["Success@1"] == pytest.approx(10 / 30)
    forms = [tuple(payload) for _, _, payload in rerank.seen]
    # As many as are sent at the same time.
    assert forms.count(("model", "query", "documents")) <= 4
    assert forms[-1] == ("query", "texts", "truncate")


def test_no_key_is_written_and_a_service_that_is_down_is_exit_code_3(rerank, tmp_path, monkeypatch, capsys):
    key = "sk-Planted0123456789abcdef"
    monkeypatch.setenv("RERANK_KEY", key)
    monkeypatch.chdir(tmp_path)

    def run(folder, *encoders):
        named = [part for encoder in encoders for part in ("-e", encoder)]
        options = ["-c", "handbook", "-d", "retrieval", "--resamples", "10", "--no-baselines", "-o", folder]
        return exit_code_of(["run", *named, *options])

    rerank.good = lambda payload: {
        "results": [{"index": n, "relevance_score": len(text)} for n, text in enumerate(texts_of(payload))]
    }
    first = f"a=rerank:api:m,over=bm25,depth=5,base_url={rerank.url},key_env=RERANK_KEY,price=2"
    assert run("RUN", "bm25", first) == 0
    assert {headers.get("authorization") for _, headers, _ in rerank.seen} == {f"Bearer {key}"}
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert key not in "".join(capsys.readouterr())
    assert not any(key.encode() in content for content in written)
    record = json.loads((tmp_path / "RUN" / "run.json").read_bytes())
    route = record["encoders"]["a"]["route"]
    assert route["requests"] == 135
    assert route["cost"] == pytest.approx(2e-6 * route["tokens"])
    rerank.close()
    assert run("DOWN", "bm25", first) == 3


# Models


def make_model(folder, head="BertForSequenceClassification", labels=1):
    """Write a random model, and return its folder."""
    pytest.importorskip("sentence_transformers", reason="the rerank extra is not installed")
    from tiny_model import make_head

    return make_head(folder, head, num_labels=labels)


@pytest.fixture
def model(tmp_path):
    return make_model(tmp_path / "tiny")


def test_a_model_gives_the_order_of_its_own_scores(model, corpus):
    from sentence_transformers import CrossEncoder

    result = assay(corpus, f"r=rerank:{model},over=first,depth=20", examples="all", cache=None)
    library = CrossEncoder(str(model), device="cpu", local_files_only=True)
    texts = [document.whole for document in corpus.documents[:20]]
    expected = list(FIRST)
    for n in range(10):
        scores = [library.predict([(f"question {n}", text)])[0] for text in texts]
        expected[n] = 1 + sum(score > scores[2 * n] for score in scores)
    assert ranks(result, "r") == expected
    assert len(set(expected[:10])) > 3


def test_the_files_and_the_limit_of_a_model_are_in_its_fingerprint(model, tmp_path):
    first = load_candidate(f"rerank:{model},over=a").fingerprint
    assert load_candidate(f"rerank:{model},over=a,device=cpu").fingerprint == first
    assert load_candidate(f"rerank:{model},over=a,max_length=16").fingerprint != first
    assert load_candidate(f"rerank:{model},over=a,depth=20").fingerprint != first
    config = model / "config.json"
    config.write_text(config.read_text().replace("LABEL_0", "LABEL_X"))
    assert load_candidate(f"rerank:{model},over=a").fingerprint != first


def test_the_parameters_of_an_address_are_part_of_the_service():
    pytest.importorskip("httpx2", reason="the api extra is not installed")
    first, second = (load_candidate(f"rerank:api:m,over=a,base_url=https://h.example/v1?d={n}") for n in "ab")
    assert first.fingerprint != second.fingerprint


def test_code_of_a_model_runs_only_if_it_is_trusted(model):
    (model / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "path": "", "type": "own.Module"}]))
    with pytest.raises(SpecError, match=r"brings its own code \(own.Module\).*--trust-remote-code LABEL"):
        load_candidate(f"rerank:{model},over=a")
