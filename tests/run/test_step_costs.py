"""How long a question takes with each set-up: planted times, what is timed, and the sentences."""

import json
import time
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from embassay.findings.step_costs import costs_of_steps
from scipy.sparse import csr_array

from embassay.cli.app import exit_code_of
from embassay.encoders.loaded import UnfittedEncoder
from embassay.engine.search import alone
from embassay.formatting import two_digits
from embassay.result import EncoderRecord, Result, Verdict
from embassay.retrievers.base import Retriever
from embassay.run.execute import execute
from embassay.run.plan import prepare
from embassay.run.record import finished_record, latencies
from embassay.run.request import RunRequest
from embassay.samples.retrieval import Document, Question
from embassay.types import Card, Corpus
from verdicts import opponents

# --- sentences -------------------------------------------------------------------------------------------


def record(name, step="", *parts):
    return EncoderRecord(name, name, name, "", None, None, {}, False, parts=parts, step=step)


SETUPS = (
    record("m"),
    record("bm25"),
    record("both", "fusion", "m", "bm25"),
    record("ranked", "reranker", "both"),
    record("fast", "index", "m"),
)
PARTS = {"both": "bm25", "ranked": "both", "fast": "m"}
"""By set-up, the best of its parts."""


def said(latency, candidates=("ranked", "both", "m", "fast", "bm25"), setups=SETUPS, parts=PARTS):
    """Return what is said of times, by question, where the times of a corpus named c are known."""
    compared = [opponents(part=(part, {name: {}})) for name, part in parts.items()]
    baseline = opponents(baseline=("bm25", {name: {} for name in candidates}))
    verdict = Verdict("d", "c", "Success@1", 100, 50, candidates=candidates, opponents=(*baseline, *sum(compared, ())))
    result = Result(0, 1000, encoders=setups, corpora=(), rows=(), verdicts=(verdict,))
    return costs_of_steps(result, verdict, latency)


def on(**milliseconds):
    return {(name, "c"): time for name, time in milliseconds.items()}


def test_a_question_with_all_parts_is_compared_with_the_best_of_them():
    """The fusion takes 57 times as long as bm25, and not as long as both parts together."""
    assert said(on(m=11, bm25=0.2, both=11.4, ranked=1368, fast=8.8)) == {
        ("Fusion both?", "both"): "With both, a question takes 11 ms, 57 times as long as with bm25.",
        ("Reranker ranked?", "ranked"): "With ranked, a question takes 1,400 ms, 120 times as long as with both.",
        ("Index fast?", "fast"): "With fast, a question takes 8.8 ms, 0.80 times as long as with m.",
    }


def test_where_the_first_gains_over_the_lexical_baseline_that_answer_has_the_time():
    times = said(on(m=11, bm25=0.2, both=11.4), candidates=("both", "m", "bm25"))
    assert list(times) == [("Than bm25?", "both")]
    # Of a set-up that is not the first, and of one that is built on another, the step has an answer of its own.
    assert list(said(on(m=11, bm25=0.2, both=11.4))) == [("Fusion both?", "both")]


def test_an_index_is_compared_with_the_exact_search_in_the_same_store():
    def store(name, spec):
        return replace(record(name, "index", "m"), spec=spec)

    stores = (
        store("fast", "store:faiss,encoder=m"),
        store("all", "store:faiss,encoder=m,index=none"),
        store("other", "store:lancedb,encoder=m,index=none"),
    )
    latency = on(m=10, fast=10.5, all=14.5) | {("fast", ""): 0.5, ("all", ""): 4.5, ("other", ""): 9}
    setups = (record("m"), record("bm25"), *stores)
    said_of = said(latency, setups=setups, parts={"fast": "m", "all": "m", "other": "m"})
    assert said_of["Index fast?", "fast"] == (
        "With fast, a question takes 10 ms, 1.1 times as long as with m. "
        "The search alone is 9.0 times as fast as all, which compares all vectors in the same store."
    )
    assert "times as fast" not in said_of["Index all?", "all"]


def test_what_questions_cost_is_said_of_set_ups_alone():
    costs = {"m": 0.0123, "both": 0.0123, "ranked": 2.26}
    setups = [replace(one, question_price={"c": costs[one.name]}) if one.name in costs else one for one in SETUPS]
    assert said({}, setups=setups) == {
        ("Fusion both?", "both"): "1,000 questions cost about 0.012 with it, nothing with bm25.",
        ("Reranker ranked?", "ranked"): "1,000 questions cost about 2.3 with it, 0.012 with both.",
    }


def test_where_a_part_was_not_timed_the_step_alone_is_said():
    latency = on(bm25=0.2) | {("m", ""): 10, ("both", ""): 0.04, ("ranked", ""): 230.4}
    assert said(latency) == {
        ("Fusion both?", "both"): "The fusion takes 0.040 ms for a question.",
        ("Reranker ranked?", "ranked"): "The reranker takes 230 ms for a question.",
    }
    assert said({}) == {}


def test_times_of_another_corpus_are_not_said():
    assert said({(name, "d"): 1.0 for name in ("m", "bm25", "both", "ranked", "fast")}) == {}


def test_settings_are_compared_with_the_same_setting_of_their_part():
    setups = [record("bm25,passages=9"), record("bm25,passages=5")]
    setups += [record(f"r,depth={d},passages={p}", "reranker", f"bm25,passages={p}") for d in (2, 4) for p in (9, 5)]
    parts = {setup.name: setup.parts[0] for setup in setups[2:]}
    latency = {
        ("bm25,passages=9", "c"): 1.0,
        ("bm25,passages=5", "c"): 2.0,
        ("r,depth=2,passages=9", "c"): 11.0,
        ("r,depth=4,passages=9", "c"): 21.0,
        ("r,depth=2,passages=5", "c"): 8.0,
        ("r,depth=4,passages=5", "c"): 14.0,
    }
    times = said(latency, tuple(parts), tuple(setups), parts)
    assert [sentence.split("a question takes ")[1] for sentence in times.values()] == [
        "11 ms, 11 times as long as with bm25,passages=9.",
        "8.0 ms, 4.0 times as long as with bm25,passages=5.",
        "21 ms, 21 times as long as with bm25,passages=9.",
        "14 ms, 7.0 times as long as with bm25,passages=5.",
    ]


def test_times_are_written_with_two_digits_and_no_exponent():
    written = [two_digits(value) for value in (0.0042, 0.123, 1.004, 9.96, 95.6, 123.4, 1234.5, 98765.0)]
    assert written == ["0.0042", "0.12", "1.0", "10", "96", "120", "1,200", "99,000"]


def test_an_encoder_that_is_the_same_however_documents_are_cut_is_timed_without_a_setting():
    use = {"question_milliseconds": {"docs,passages=2": 3.0}}
    record = {"settings": {"variants": [("docs,passages=2", "docs", "passages=2")]}, "encoders": {"whole": use}}
    assert latencies(record)["whole", "docs"] == latencies(record)["whole,passages=2", "docs"] == 3.0


# --- what is timed ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Timed(Retriever):
    """Lists the documents in the order of the corpus, each question in as many seconds as planted by corpus."""

    spec: str = "timed"
    fingerprint: str = "timed"
    seconds: dict = field(default_factory=dict, compare=False)

    def retrieve(self, questions):
        ids = [document.id for document in questions.corpus.documents]
        for row in range(len(questions.samples)):
            yield questions.listed(row, ids, None, self.seconds[questions.corpus.name])


@dataclass(frozen=True)
class Slow(UnfittedEncoder):
    """An encoder whose vectors are cached; it takes 20 ms for each text."""

    name: str = "slow"
    fingerprint: str = "slow"
    card: Card = field(default=Card("slow"))
    texts: list = field(default_factory=list, compare=False)

    def encode(self, texts, role="text"):
        self.texts.extend(texts)
        time.sleep(0.02 * len(texts))
        return np.array([[len(text), text.count("x"), 1] for text in texts], dtype=np.float32)


def corpus(name="some", questions=30):
    documents = tuple(Document(f"d{n}", (f"word{n} {'x' * (n % 7)}",)) for n in range(60))
    samples = tuple(Question(f"q{n}", f"where is word{n}?", (f"d{n}",)) for n in range(questions))
    return Corpus(name, "retrieval", samples, documents=documents)


def built(name, seconds, *parts, **more):
    return Timed(name=name, fingerprint=name, seconds=seconds, parts=parts, **more)


def runs(encoders, *corpora, **more):
    request = RunRequest(encoders, list(corpora), ["retrieval"], resamples=20, quiet=True, baselines=False, **more)
    outcome = execute(prepare(request))
    assert not outcome.result.failed
    return outcome


def milliseconds(outcome):
    return {run.entry.label: run.milliseconds for run in outcome.encoders}


def test_the_time_with_all_parts_is_the_sum_over_each_corpus():
    encoders = [
        built("first", {"some": 0.002, "other": 0.004}),
        built("second", {"some": 0.001, "other": 0.001}),
        built("both", {"some": 0.0005, "other": 0.0005}, "first", "second", step="fusion"),
        built("ranked", {"some": 0.1, "other": 0.3}, "both", step="reranker"),
    ]
    times = milliseconds(runs(encoders, corpus(), corpus("other", questions=20)))
    assert times["both"] == pytest.approx({"": 0.5, "some": 3.5, "other": 5.5})
    # Without a corpus, the median of all questions: 30 of 100 ms and 20 of 300.
    assert times["ranked"] == pytest.approx({"": 100, "some": 103.5, "other": 305.5})


def test_bm25_is_timed_with_its_search_as_soon_as_something_is_built_on_it(monkeypatch):
    monkeypatch.setattr("embassay.run.score.search_milliseconds", lambda queries, passages: 7.0)
    times = milliseconds(runs(["bm25", built("ranked", {"some": 0.1}, "bm25", step="reranker")], corpus()))
    alone_time = times["bm25"][""]
    assert 0 < alone_time < 50
    assert times["bm25"]["some"] == alone_time + 7
    assert times["ranked"]["some"] == pytest.approx(alone_time + 107)
    assert milliseconds(runs(["bm25"], corpus())) == {"bm25": {}}


def test_an_index_takes_the_place_of_the_exact_search(tmp_path, monkeypatch):
    monkeypatch.setattr("embassay.run.score.search_milliseconds", lambda queries, passages: 1000.0)
    encoder = Slow()
    encoders = [encoder, built("fast", {"some": 0.003}, "slow", step="index", needs_vectors=True)]
    more = {"cache": tmp_path, "robustness": True}
    times = milliseconds(runs(encoders, corpus(), **more))
    assert 20 <= times["slow"][""] < 60
    assert times["slow"]["some"] == times["slow"][""] + 1000
    assert times["fast"]["some"] == pytest.approx(times["slow"][""] + 3)
    # With all vectors in the cache nothing is encoded, and the time is that of the run before.
    encoder.texts.clear()
    assert milliseconds(runs(encoders, corpus(), **more)) == times
    assert encoder.texts == []


def test_where_the_encoding_was_not_timed_nothing_is_said_of_the_whole():
    encoders = [Slow(card=Card("slow", cached=False)), built("ranked", {"some": 0.1}, "slow", step="reranker")]
    outcome = runs(encoders, corpus())
    assert milliseconds(outcome)["slow"] == {}
    plan = prepare(RunRequest(encoders, [corpus()], ["retrieval"], quiet=True, baselines=False))
    assert latencies(finished_record({}, plan, outcome, 1.0)) == {("ranked", ""): pytest.approx(100)}


def test_of_a_run_that_was_read_no_time_is_known(tmp_path):
    lines = [f"q{n} Q0 d{place} {place + 1} {9 - place} x" for n in range(30) for place in range(5)]
    (tmp_path / "other.run").write_text("\n".join(lines))
    encoders = [f"read=run:{tmp_path / 'other.run'}", built("ranked", {"some": 0.1}, "read", step="reranker")]
    times = milliseconds(runs(encoders, corpus()))
    assert times["read"] == {}
    assert np.isnan(times["ranked"]["some"])
    assert times["ranked"][""] == pytest.approx(100)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_search_of_one_question_is_one_product_with_all_passages(monkeypatch, sparse):
    multiplied = []

    class Product(alone.NumpyProduct):
        def multiply(self, queries, passages):
            time.sleep(0.005)
            multiplied.append(products := super().multiply(queries, passages))
            return products

    monkeypatch.setattr(alone, "NumpyProduct", Product)
    rng = np.random.default_rng(0)
    queries, passages = rng.random((3, 8)).astype(np.float32), rng.random((50, 8)).astype(np.float32)
    given = (csr_array(queries), csr_array(passages)) if sparse else (queries, passages)
    assert 5 <= alone.search_milliseconds(*given) < 20
    np.testing.assert_allclose(np.concatenate(multiplied), queries @ passages.T, rtol=1e-5)


# --- in a run --------------------------------------------------------------------------------------------


def test_the_screen_says_times_of_settings_on_each_variant_of_a_corpus(tmp_path, monkeypatch, user_module, capsys):
    """A reranker of 1 ms a pair over bm25, with two depths, on documents that are cut in two ways."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(40):
        (folder / f"d{number}.txt").write_text(f"alpha beta number{number} gamma delta epsilon")
    rows = [f"q{n},where is number{n} beta,d{n}.txt" for n in range(40)]
    (tmp_path / "q.csv").write_text("\n".join(["id,question,document", *rows]))
    monkeypatch.setattr("embassay.run.score.search_milliseconds", lambda queries, passages: len(passages.indptr) / 1e6)
    monkeypatch.setattr("embassay.run.score.encode_alone", lambda encoder, texts: ([], 0.1))
    user_module(
        "planted_times",
        """
import time

def backwards(query, texts):
    time.sleep(0.001 * len(texts))
    return [-float(query.split()[2] in text) for text in texts]
""",
    )
    source = f"docs={folder},questions={tmp_path / 'q.csv'},passages=[document,3]"
    command = ["run", "-c", source, "-d", "retrieval,k=1"]
    command += ["-e", "bm25", "-e", "r=rerank:python:planted_times:backwards,over=bm25,depth=[2,4]"]
    assert exit_code_of([*command, "--no-cache", "--resamples", "50", "-o", str(tmp_path / "out")]) == 0
    screen = " ".join(capsys.readouterr().out.split())
    uses = json.loads((tmp_path / "out" / "run.json").read_text())["encoders"]
    for depth in (2, 4):
        for setting in ("passages=document", "passages=3"):
            label = f"r,depth={depth},{setting}"
            encoders = (f"r,depth={depth}", "bm25")
            total, before = (uses[encoder]["question_milliseconds"][f"docs,{setting}"] for encoder in encoders)
            assert depth <= total < 4 * depth
            assert before == pytest.approx(0.1, rel=0.01)
            assert f"The reranker of {label} loses 100.0 points" in screen
            assert (
                f"With {label}, a question takes {two_digits(total)} ms, {two_digits(total / before)} times as long as "
                f"with bm25,{setting}."
            ) in screen
