"""Retrievers in a run: the lists that they are built on, ranks of right documents, what is kept, what is refused."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from zlib import crc32

import numpy as np
import pytest

import embassay as ea
from embassay.cli.app import exit_code_of
from embassay.core.errors import EncoderError, SpecError
from embassay.core.samples.retrieval import Document
from embassay.core.types import Card
from embassay.models.base import BaseEncoder
from embassay.run.execute import execute
from embassay.run.plan import prepare
from embassay.run.request import RunRequest
from embassay.run.resolve import load_corpus
from embassay.run.runs.folder import RunFolder
from embassay.search.retrievers.base import Lists, Retriever
from embassay.search.retrievers.run import COLUMNS

OF_RANKS = ("Success@5", "Success@1", "Success@10", "R@5", "RR", "AP", "nDCG@10", "accuracy_l100")


@dataclass(frozen=True, kw_only=True)
class Planted(Retriever):
    """Answers by a function of the questions and the row; notes which questions it was asked."""

    spec: str = "planted"
    fingerprint: str = "planted"
    answer: Callable = None
    asked: list = field(default_factory=list, compare=False)

    def retrieve(self, questions):
        for row, sample in enumerate(questions.samples):
            self.asked.append(sample.id)
            yield self.answer(questions, row)


@dataclass(frozen=True)
class Counting(BaseEncoder):
    """An encoder of random vectors that counts the texts it encodes."""

    name: str = "counting"
    fingerprint: str = "counting"
    card: Card = field(default=Card("counting", cached=False))
    texts: list = field(default_factory=list, compare=False)

    def encode(self, texts, role="text"):
        self.texts.extend((role, text) for text in texts)
        seeds = [crc32(text.encode()) for text in texts]
        return np.stack([np.random.default_rng(seed).standard_normal(8) for seed in seeds]).astype(np.float32)


@pytest.fixture(scope="module")
def corpus():
    """The questions of the handbook that the first 60 documents answer."""
    handbook = load_corpus("handbook")
    documents = handbook.documents[:60]
    known = {document.id for document in documents}
    samples = tuple(sample for sample in handbook.samples if sample.right and known.issuperset(sample.right))
    return replace(handbook, name="some", builtin=False, samples=samples, documents=documents)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """The source of 40 documents and 40 questions; ids have spaces and percent signs."""
    top = tmp_path_factory.mktemp("source")
    folder = top / "docs"
    folder.mkdir()
    generator = np.random.default_rng(0)
    lines = []
    for number in range(40):
        text = " ".join(f"w{word}" for word in generator.integers(0, 60, 12))
        (folder / f"doc {number} 100%.txt").write_text(text, encoding="utf-8")
        lines.append(
            json.dumps({"id": f"q{number}", "question": f"{text[:12]} q{number}", "document": f"doc {number} 100%"})
        )
    questions = top / "questions.jsonl"
    questions.write_text("\n".join(lines), encoding="utf-8")
    return f"mine={folder},questions={questions}"


def assay(encoders, corpus, diagnostics="retrieval", **more):
    return ea.assay(encoders, [corpus], [diagnostics], resamples=50, cache=None, baselines=False, **more)


def failures(encoders, corpus):
    """Return by encoder why it failed, where others finish."""
    with pytest.warns(UserWarning, match="failed: "):
        result = assay(encoders, corpus)
    assert result.rows
    return {failure.encoder: failure.reason for failure in result.failed}


def run(out, source, *encoders, quiet=True):
    """Run encoders on a source; return the exit code."""
    chosen = [part for encoder in encoders for part in ("-e", encoder)]
    options = [
        "-d",
        "retrieval",
        "--resamples",
        "50",
        "--no-cache",
        "--no-baselines",
        "-o",
        str(out),
        *["--quiet"] * quiet,
    ]
    return exit_code_of(["run", "-c", source, *chosen, *options])


def figures(result, encoder, metrics=None):
    """Return value, low and high of the rows of an encoder by metric and subset."""
    rows = [row for row in result.rows if row.encoder == encoder and row.diagnostic == "retrieval"]
    return {(r.metric, r.subset): (r.value, r.low, r.high) for r in rows if metrics is None or r.metric in metrics}


def placed(place, length, scored=True):
    """Return an answer with the first right document at a place, from 0, and wrong ones elsewhere."""

    def answer(questions, row):
        right = questions.samples[row].right
        ids = [document.id for document in questions.corpus.documents if document.id not in right]
        ids.insert(place, right[0])
        scores = [-float(number) for number in range(length)] if scored else None
        return questions.listed(row, ids[:length], scores)

    return answer


@pytest.mark.parametrize("passages", ["document", "3"])
def test_an_export_read_back_has_the_figures_of_its_encoder(source, passages, tmp_path):
    source = f"{source},passages={passages}"
    assert run(tmp_path / "encoders", source, "hashing,dim=64", "bm25") == 0
    assert exit_code_of(["report", str(tmp_path / "encoders"), "--format", "trec"]) == 0
    folder = tmp_path / "encoders" / "trec"
    lists = [f"{name}=run:{folder}/mine-{name}.run" for name in ("hashing", "bm25")]
    assert run(tmp_path / "lists", source, *lists) == 0
    # What was read is exported as it was.
    assert exit_code_of(["report", str(tmp_path / "lists"), "--format", "trec"]) == 0
    for name in ("hashing", "bm25"):
        again = (tmp_path / "lists" / "trec" / f"mine-{name}.run").read_text(encoding="utf-8")
        assert again == (folder / f"mine-{name}.run").read_text(encoding="utf-8")
    expected, result = ea.read(tmp_path / "encoders"), ea.read(tmp_path / "lists")
    for encoder in ("hashing", "bm25"):
        of_encoder = figures(expected, encoder)
        of_list = figures(result, encoder)
        assert {key for key in of_encoder if key[0] not in ("i_a", "isoscore", "isoscore_unbiased")} == set(of_list)
        for key, row in of_list.items():
            np.testing.assert_allclose(np.array(row, dtype=float), np.array(of_encoder[key], dtype=float), atol=1e-12)


def test_metrics_are_those_of_the_list(corpus):
    lists = [
        Planted(name="first", answer=placed(0, 20)),
        Planted(name="fourth", fingerprint="b", answer=placed(3, 20)),
        Planted(name="beyond", fingerprint="c", answer=placed(30, 20)),
        Planted(name="unscored", fingerprint="d", answer=placed(3, 20, scored=False)),
    ]
    result = assay(lists, corpus)
    right = np.array([len(sample.right) for sample in corpus.samples])
    for name, rank in (("first", 1), ("fourth", 4), ("unscored", 4)):
        of_list = figures(result, name)
        assert of_list["Success@5", "all"][0] == 1
        assert of_list["RR", "all"][0] == pytest.approx(1 / rank)
        assert of_list["R@5", "all"][0] == pytest.approx((1 / right).mean())
    missed = figures(result, "beyond", OF_RANKS)
    assert {value for value, _, _ in missed.values()} == {0}
    (finding,) = [finding for finding in result.statements if finding.title == "Lists, not all documents"]
    assert finding.sentence.startswith(f"beyond lists at most 20 of 60 documents; for {len(right)} questions no right")


def test_a_retriever_gets_the_lists_of_its_parts_and_continues_one(corpus):
    """The first 20 documents in reverse order: a right one among them is mirrored, any other keeps its rank."""
    passages = []

    def reverse(questions, row):
        part = questions.parts["counting"]
        assert part.documents.shape[1] == 20
        assert (np.diff(part.scores[row]) < 0).all()
        passages.extend(zip(part.documents[row].tolist(), part.passages[row].tolist(), strict=True))
        return Lists(np.array([row]), part.documents[row, None, ::-1], np.arange(20.0)[None, ::-1])

    def again(questions, row):
        part = questions.parts["reversed"]
        return Lists(np.array([row]), part.documents[[row]], part.scores[[row]])

    # Each stands before what it is built on.
    copied = Planted(name="copied", parts=("reversed",), answer=again)
    turned = Planted(
        name="reversed", fingerprint="b", parts=("counting",), depth=20, continues="counting", answer=reverse
    )
    result = assay([copied, turned, Counting()], corpus, examples="all")
    assert [encoder.name for encoder in result.encoders] == ["copied", "reversed", "counting"]
    ranks = {}
    for example in result.examples:
        ranks.setdefault(example.encoder, []).append(example.values.get("rank"))
    plain = ranks["counting"]
    assert {rank > 20 for rank in plain} == {True, False}
    assert ranks["reversed"] == [rank if rank > 20 else 21 - rank for rank in plain]
    # What is only a list knows no rank beyond it.
    assert ranks["copied"] == [None if rank > 20 else 21 - rank for rank in plain]
    assert all(document == passage for document, passage in passages)


def test_texts_that_a_retriever_has_encoded_are_cached(corpus, tmp_path):
    scores = replace(Counting(), card=Card("counting"), texts=[])

    def by_pairs(questions, row):
        texts = [("text", f"{questions.texts[row]}\n{document.whole}") for document in questions.corpus.documents[:9]]
        of_texts = questions.encode(scores, texts).matrix[:, 0]
        order = np.argsort(-of_texts)
        return Lists(np.array([row]), order[None], of_texts[order].astype(float)[None])

    for _ in range(2):
        ea.assay([Planted(name="pairs", answer=by_pairs)], [corpus], ["retrieval"], cache=tmp_path, baselines=False)
    assert len(scores.texts) == len(set(scores.texts)) == 9 * len(corpus.samples)


@pytest.mark.parametrize(
    ("ids", "scores", "message"),
    [
        (["one", "two", "one"], None, "the list of question '{question}': a document is listed twice"),
        (
            ["one", "two"],
            [1.0, 2.0],
            "the list of question '{question}': a score is higher than the one before",
        ),
        (["one", "two"], [1.0, np.nan], "the list of question '{question}': a score is no finite number"),
        (["one", "two"], [1.0], "question '{question}': 2 documents were listed with 1 score"),
        (["x", "y"], None, "no list of a question of some has one of its documents; listed: x and y; ids"),
        ([], None, "no list of a question of some has one of its documents; listed: none; ids"),
    ],
)
def test_wrong_lists_are_refused_and_the_others_finish(ids, scores, message, corpus):
    names = {"one": corpus.documents[0].id, "two": corpus.documents[1].id}
    wrong = Planted(
        name="wrong", answer=lambda questions, row: questions.listed(row, [names.get(i, i) for i in ids], scores)
    )
    expected = message.format(question=corpus.samples[0].id, n=2 * len(corpus.samples))
    assert failures(["bm25", wrong], corpus)["wrong"].startswith(expected.replace("'one'", repr(names["one"])))


def test_a_part_that_fails_is_named(corpus):
    def fail(questions, row):
        raise ValueError("no such host")

    broken = Planted(name="broken", answer=fail)
    assert failures(["bm25", Planted(name="on it", parts=("broken",), answer=placed(0, 20)), broken], corpus) == {
        "broken": "ValueError: no such host",
        "on it": "it is built on 'broken', which failed: ValueError: no such host",
    }


def test_diagnostics_that_need_vectors_leave_it_out_visibly(corpus):
    planted = Planted(name="planted", answer=placed(0, 20))
    plan = prepare(RunRequest(encoders=[planted], corpora=[corpus], diagnostics=["retrieval", "isotropy"]))
    assert "planted: has no vectors, so it is left out of isotropy" in plan.notes
    with pytest.raises(SpecError, match="encoder 'planted' needs a corpus and a diagnostic of shape retrieval"):
        assay([planted], corpus, "isotropy")


@dataclass(frozen=True, kw_only=True)
class Failing(Planted):
    """Fails after some answers."""

    after: int = 10_000

    def retrieve(self, questions):
        for number, lists in enumerate(super().retrieve(questions)):
            if number == self.after:
                raise EncoderError("the service does not answer")
            yield lists


def in_folder(retriever, corpus, folder):
    """Run a retriever with a folder, as the command does; return the result."""
    request = RunRequest(
        encoders=[retriever], corpora=[corpus], diagnostics=["retrieval"], resamples=50, baselines=False
    )
    return execute(prepare(request), RunFolder(folder)).result


def test_a_run_that_failed_asks_only_for_what_is_missing(corpus, tmp_path):
    first = Failing(name="service", answer=placed(2, 20), after=7)
    assert in_folder(first, corpus, tmp_path).failed[0].reason.startswith("the service does not answer")
    second = Failing(name="service", answer=placed(2, 20))
    result = in_folder(second, corpus, tmp_path)
    assert second.asked == [sample.id for sample in corpus.samples[7:]]
    assert result == in_folder(Failing(name="service", answer=placed(2, 20)), corpus, tmp_path / "whole")
    third = Failing(name="service", answer=placed(2, 20))
    assert in_folder(third, corpus, tmp_path) == result
    assert third.asked == []


def test_lists_of_other_parts_are_not_used_again(corpus, tmp_path):
    """The part is another one under the same label."""
    for fingerprint, place in (("one", 0), ("two", 7)):
        base = Planted(name="base", fingerprint=fingerprint, answer=placed(place, 20))
        copied = Planted(name="s", answer=placed(place, 20), parts=("base",))
        request = RunRequest([base, copied], [corpus], ["retrieval"], resamples=50, baselines=False)
        execute(prepare(request), RunFolder(tmp_path))
        assert len(copied.asked) == len(corpus.samples)


@pytest.fixture
def answers(tmp_path, monkeypatch):
    """Write a module of the user, and return the spec of its ``answer``."""

    def write(content, options=""):
        (tmp_path / "answers_of_user.py").write_text(content, encoding="utf-8")
        sys.modules.pop("answers_of_user", None)
        return f"mine=python:answers_of_user:answer,kind=retriever{options}"

    monkeypatch.syspath_prepend(tmp_path)
    yield write
    sys.modules.pop("answers_of_user", None)


def test_a_function_answers_with_ids_or_with_scores(answers, corpus):
    first = [document.id for document in corpus.documents[:7]]
    result = assay([answers(f"def answer(question):\n    return {first}\n")], corpus)
    right = [any(name in first[:5] for name in sample.right) for sample in corpus.samples]
    assert figures(result, "mine")["Success@5", "all"][0] == pytest.approx(np.mean(right))
    scored = [(name, -number) for number, name in enumerate(first)]
    again = assay([answers(f"def answer(question):\n    return {scored}\n")], corpus)
    assert figures(again, "mine", OF_RANKS) == figures(result, "mine", OF_RANKS)
    assert again.encoders[0].fingerprint != result.encoders[0].fingerprint


def test_answers_of_a_function_are_used_again_inside_one_folder_only(answers, source, tmp_path):
    log = tmp_path / "log"
    code = (
        f"def answer(question):\n    with open({str(log)!r}, 'a') as file:\n        file.write('x')\n"
        "    return ['doc 1 100%', 'doc 2 100%']\n"
    )
    cached = ["--cache", str(tmp_path / "cache")]

    def asked(spec, out):
        log.write_text("")
        common = ["-c", source, "-d", "retrieval", "--resamples", "50", "--no-baselines", "--quiet", *cached]
        assert exit_code_of(["run", "-e", spec, "-e", "random", *common, "-o", str(tmp_path / out)]) == 0
        return len(log.read_text())

    spec = answers(code)
    assert [asked(spec, out) for out in ("a", "a", "b")] == [40, 0, 40]
    assert ea.check(tmp_path / "b", tmp_path / "a").outcome != "regression"


def test_retrievers_of_langchain_and_llama_index(corpus):
    """Passages that a store has cut, in the order of bm25: the figures of bm25."""
    langchain = pytest.importorskip("langchain_core.retrievers", reason="langchain-core is not installed")
    pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
    from langchain_core.documents import Document as Passage
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.schema import NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode

    documents = tuple(Document(d.id, tuple(d.whole.split(". "))) for d in corpus.documents)
    cut = replace(corpus, documents=documents)
    orders = {}

    def note(questions, row):
        part = questions.parts["bm25"]
        passages = [questions.passages[place] for place in part.passages[row].tolist()]
        ids = [cut.documents[place].id for place in part.documents[row].tolist()]
        orders[questions.texts[row]] = list(zip(ids, passages, part.scores[row].tolist(), strict=True))
        return Lists(np.array([row]), part.documents[[row]], part.scores[[row]])

    expected = assay(["bm25", Planted(name="noted", parts=("bm25",), depth=60, answer=note)], cut)

    class ByText(langchain.BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            # The first passage again: a document counts once.
            passages = [text for _, text, _ in orders[query]]
            return [Passage(page_content=text, metadata={"page": 3}) for text in (passages[0], *passages)]

    class ById(BaseRetriever):
        def _retrieve(self, bundle):
            nodes = []
            for name, text, score in orders[bundle.query_str]:
                node = TextNode(text=text, relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=name)})
                nodes.append(NodeWithScore(node=node, score=score))
            return nodes

    result = assay([ByText(), ea.encoder(ById(), name="by id", version="1")], cut)
    assert [encoder.name for encoder in result.encoders] == ["ByText", "by id"]
    assert figures(result, "by id", OF_RANKS) == figures(expected, "noted", OF_RANKS)
    # LangChain gives no scores, so that ties are broken by the order.
    by_order = figures(result, "ByText", OF_RANKS)
    for key, (value, _, _) in figures(expected, "noted", OF_RANKS).items():
        assert by_order[key][0] == pytest.approx(value, abs=0.05)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("q1 Q0 a 1 0.5\n", f", line 1: must be {COLUMNS}, with a finite score; it is 'q1 Q0 a 1 0.5'"),
        ("\nq1 Q0 a 1 high me\n", f", line 2: must be {COLUMNS}, with a finite score; it is 'q1 Q0 a 1 high me'"),
        ("q1 Q0 a 1 inf me\n", f", line 1: must be {COLUMNS}, with a finite score; it is 'q1 Q0 a 1 inf me'"),
        ("q1 Q0 a 1 2 me\nq1 Q0 a 2 1 me\n", ", line 2: 'a' is listed twice for 'q1'"),
        ("\n", f": it has no line of {COLUMNS}"),
    ],
)
def test_a_run_file_of_another_form_is_refused_with_its_line(content, message, tmp_path):
    path = tmp_path / "system.run"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ea.InputError) as error:
        ea.encoder(f"run:{path}")
    assert str(error.value) == f"{path}{message}"
