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
from embassay.core.errors import EncoderError, InputError, SourceError, SpecError, UnknownNameError
from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Card
from embassay.models.base import BaseEncoder
from embassay.reports.answers import also
from embassay.run.execute import execute
from embassay.run.plan import prepare
from embassay.run.request import RunRequest
from embassay.run.resolve import load_corpus
from embassay.run.runs.folder import RunFolder
from embassay.search.retrievers.base import Lists, Retriever

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
def many_units(corpus):
    """A question about each document, a unit of its own."""
    samples = [Question(f"q{n}", f"question {n}", (document.id,)) for n, document in enumerate(corpus.documents)]
    return replace(corpus, samples=tuple(samples))


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


def built(name, part, answer, step="reranker"):
    """Return a retriever that is built on a part, which it does not look at."""
    return Planted(name=name, fingerprint=name, answer=answer, parts=(part,), step=step)


def test_what_each_step_gains_is_said_with_its_paired_difference(corpus):
    base = Planted(name="base", answer=placed(7, 20))
    setups = [
        base,
        built("ranked", "base", placed(0, 20)),
        built("index", "ranked", placed(0, 20), "index"),
        built("broken", "ranked", placed(9, 20), "index"),
    ]
    result = assay(setups, corpus)
    record = {encoder.name: encoder for encoder in result.encoders}["ranked"]
    assert (record.parts, record.step) == (("base",), "reranker")
    of_parts = {(pair.a, pair.b, pair.step): pair for pair in result.comparisons if pair.family == "step"}
    assert {pair: one.difference for pair, one in of_parts.items() if one.metric == "Success@5"} == {
        ("ranked", "base", "reranker"): 1.0,
        ("index", "ranked", "index"): 0.0,
        ("broken", "ranked", "index"): -1.0,
    }


def answers_by_question(result):
    """The sentences of the answers, by question."""
    said = {}
    for answer in result.answers:
        said.setdefault(answer.question, []).append(answer.sentence)
    return said


def test_what_a_step_adds_is_said_once_and_an_index_is_judged_by_what_it_lists(many_units):
    base = Planted(name="base", answer=placed(7, 20))
    setups = [
        built("index", "ranked", placed(0, 20), "index"),
        built("ranked", "base", placed(0, 20)),
        base,
    ]
    said = answers_by_question(assay(setups, many_units))
    assert said["Use"][0].startswith("ranked. ")
    (rejected,) = said["Not"]
    assert rejected.startswith("base: 100.0 points lower [")
    assert said["Index"] == ["index lists 100.0% of what the exact search finds: as good as exact."]
    # The pair stands under Not.
    assert "Reranker" not in said


def test_each_setting_of_a_fusion_is_compared_with_each_part(many_units):
    """With a weight of 1 the fusion has the lists of the worse part, with 0 those of the better one."""
    parts = [
        Planted(name="low", fingerprint="low", answer=placed(9, 20)),
        Planted(name="high", fingerprint="high", answer=placed(0, 20)),
    ]
    result = assay([*parts, "both=hybrid:low+high,weight=[1.0,0.0]"], many_units)
    verdict = result.verdict("retrieval")
    steps = {(pair.a, pair.b): pair.difference for pair in result.differences(verdict) if pair.family == "step"}
    assert steps == {
        ("both,weight=1.0", "low"): 0.0,
        ("both,weight=1.0", "high"): -1.0,
        ("both,weight=0.0", "low"): 1.0,
        ("both,weight=0.0", "high"): 0.0,
    }
    said = answers_by_question(result)
    assert said["Use"][0].startswith("high. ")
    assert "both,weight=1.0: 100.0 points lower [" in said["Not"][0]
    fusions = " ".join(said["Fusion"])
    assert "both,weight=1.0: the same value as low [" in fusions
    assert "both,weight=0.0: the same value as high [" in fusions
    assert "both,weight=0.0: 100.0 points higher than low [" in fusions
    assert len(said["Fusion"]) == 3


def test_a_step_of_another_package_is_compared_with_its_part(many_units):
    setups = [
        Planted(name="base", answer=placed(7, 20)),
        built("mixed", "base", placed(0, 20), "mixer"),
        built("index", "base", placed(7, 20), "index"),
    ]
    result = assay(setups, many_units)
    (pair,) = [one for one in result.differences(result.verdict("retrieval")) if one.a == "mixed"]
    assert (pair.b, pair.step, pair.difference) == ("base", "mixer", 1.0)
    assert pair.is_significant


def test_questions_that_a_step_rescues_and_breaks_are_named(many_units):
    """The reranker lifts the right document of two questions in three into the first five, and drops the others."""
    base = Planted(name="base", answer=lambda q, row: placed(7 if row % 3 else 0, 20)(q, row))
    ranked = built("ranked", "base", lambda q, row: placed(0 if row % 3 else 7, 20)(q, row))
    # Another one changes nothing, so nothing is said of it.
    again = built("again", "base", lambda q, row: placed(7 if row % 3 else 0, 20)(q, row))
    result = assay([base, ranked, again], many_units)
    said = {finding.title: finding for finding in result.findings if finding.title.startswith("Rescued")}
    assert list(said) == ["Rescued and broken by ranked"]
    sentence = said["Rescued and broken by ranked"].sentence
    broken = len(range(0, len(many_units.samples), 3))
    assert sentence.startswith(f"Against base, ranked rescues {len(many_units.samples) - broken} questions (")
    rescued_texts, broken_texts = sentence.split(" and breaks ")
    assert broken_texts.startswith(f"{broken} questions (")
    assert many_units.samples[1].question[:40] in rescued_texts
    assert many_units.samples[0].question[:40] in broken_texts


def test_an_export_says_where_a_set_up_has_ties_and_where_its_file_ends(source, answers, tmp_path, capsys):
    ranked = answers("def answer(question, texts): return [0.0] * len(texts)", ",over=h,depth=3")
    ranked = ranked.replace("mine=", "ranked=rerank:").replace(",kind=retriever", "")
    assert run(tmp_path / "run", source, "h=hashing,dim=8", "bm25", "both=hybrid:h+bm25", ranked) == 0
    capsys.readouterr()
    assert exit_code_of(["report", str(tmp_path / "run"), "--format", "trec"]) == 0
    notes = capsys.readouterr().err
    rows = ea.read(tmp_path / "run").scores("retrieval").to_dicts()
    # The reranker has three documents of each question; the run has the rank of the others from its first stage.
    for encoder, length in (("both", 300), ("ranked", 3)):
        of_encoder = [row for row in rows if row["encoder"] == encoder]
        differing = sum(bool(row["label_ties"]) or (row["value_rank"] or 0) > length for row in of_encoder)
        assert differing > 0
        assert f"{encoder} on mine: in {differing} of 40 questions" in notes
    exported = (tmp_path / "run" / "trec" / "mine-ranked.run").read_text(encoding="utf-8").splitlines()
    assert len(exported) == 3 * 40


def test_how_many_questions_each_list_misses_is_said(corpus):
    short = Planted(name="short", answer=lambda q, row: placed(row % 2 * 9, 5)(q, row))
    long = Planted(name="long", answer=lambda q, row: placed(0, 20 if row else 0)(q, row))
    result = assay([short, long], corpus)
    said = {one.encoder: one for one in result.findings if one.title == "Lists, not all documents"}
    missed = len(range(1, len(corpus.samples), 2))
    assert (said["short"].value, said["long"].value) == (missed, 1)
    assert also([said["short"], said["long"]]) == f"The same is true of short ({missed}) and long (1)."


def test_tied_documents_count_in_the_headroom_by_their_share(corpus):
    """All 60 documents have one score: the right one is among the first 50 of 60 places in 5 of 6 orders."""
    ids = [document.id for document in corpus.documents]
    tied = Planted(name="tied", answer=lambda q, row: q.listed(row, ids, [0.0] * len(ids)))
    (said,) = [one for one in assay([tied], corpus).statements if "Headroom" in one.title]
    assert said.value == pytest.approx(50 / 60, abs=1e-6)


def test_no_headroom_is_said_beyond_the_end_of_a_list(corpus):
    result = assay([Planted(name="short", answer=placed(9, 20))], corpus)
    assert not [one for one in result.statements if "Headroom" in one.title]


def test_the_headroom_for_a_reranker_is_said(corpus):
    result = assay([Planted(name="late", answer=placed(9, 59)), Planted(name="b", answer=placed(55, 59))], corpus)
    said = {finding.encoder: finding.sentence for finding in result.statements if "Headroom" in finding.title}
    assert said["late"] == (
        "late has a right document among the first 50 for 100.0% of the questions: a perfect reranker of these would "
        "add 100 points to Success@5."
    )
    assert "for 0.0% of the questions" in said["b"] and "add 0 points" in said["b"]


def test_what_needs_scores_says_so(corpus):
    result = assay(
        [
            Planted(name="scored", answer=placed(1, 20)),
            Planted(name="unscored", fingerprint="b", answer=placed(1, 20, scored=False)),
        ],
        corpus,
        "retrieval,paper=true",
    )
    reasons = {(row.encoder, row.metric): row.reason for row in result.rows if row.value is None}
    assert reasons["scored", "coe"] == "it needs the score of every document; there are lists of 20 or fewer"
    assert reasons["unscored", "coe"] == reasons["scored", "coe"]
    assert reasons["unscored", "tau"] == "no question has 5 similarities"
    # The success after a threshold needs the scores of the first five documents only.
    assert figures(result, "scored")["accuracy_at_tau", "pooled:psi5"][0] is not None
    assert figures(result, "unscored")["accuracy_l100", "all"][0] == 1


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


def test_eight_set_ups_over_one_encoder_encode_each_text_once(corpus):
    encoder = Counting()

    def first(questions, row):
        part, vectors = questions.parts["counting"], questions.vectors.get("counting")
        if vectors is not None:
            query = vectors.take([questions.texts[row]], "query")
            nearest = vectors.take(questions.passages, "document") @ query[0]
            assert part.documents[row, 0] == np.argmax(nearest / norms(vectors.take(questions.passages, "document")))
        return Lists(np.array([row]), part.documents[[row]], part.scores[[row]])

    def norms(matrix):
        return np.linalg.norm(matrix, axis=1)

    setups = [
        Planted(name=f"s{n}", fingerprint=f"s{n}", parts=("counting",), depth=10 + n, needs_vectors=n > 4, answer=first)
        for n in range(7)
    ]
    result = assay([*setups, encoder], corpus)
    assert len(encoder.texts) == len(set(encoder.texts)) == len(corpus.texts())
    expected = figures(result, "counting", ["Success@5"])
    assert all(figures(result, setup.name, ["Success@5"]) == expected for setup in setups)


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
    ("retrievers", "message"),
    [
        ([("a", ("b",)), ("b", ("a",))], "built on itself: a → b → a; name other parts"),
        ([("a", ("a",))], "built on itself: a → a; name other parts"),
        ([("a", ("bm52",))], "unknown part of 'a': 'bm52'; did you mean 'bm25'? Known: bm25. Candidates"),
    ],
)
def test_parts_that_cannot_be_are_refused_before_any_work(retrievers, message, corpus):
    planted = [Planted(name=name, parts=parts, answer=placed(0, 20)) for name, parts in retrievers]
    with pytest.raises((SpecError, UnknownNameError)) as error:
        assay([*planted, "bm25"], corpus)
    assert message in str(error.value)
    assert planted[0].asked == []


def test_vectors_are_those_of_encoders(corpus):
    first = Planted(name="a", answer=placed(0, 20))
    with pytest.raises(SpecError, match="'b' needs the vectors of 'a', which is no encoder and has none"):
        assay([first, Planted(name="b", parts=("a",), needs_vectors=True, answer=placed(0, 20))], corpus)


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
        (["x", "y"], None, "{n} ids in its lists are no documents of some: x and y; those of some are such as 'one'"),
        ([], None, "it has no list for any question of some, whose ids are such as '{question}'"),
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
        "broken": "retrieve: ValueError: no such host",
        "on it": "it is built on 'broken', which failed: retrieve: ValueError: no such host",
    }


def test_what_is_built_on_a_part_that_failed_on_one_corpus_does_not_ask_it_again(corpus):
    """The part fails on the first of two corpora."""

    def fail_on_a(questions, row):
        if questions.corpus.name == "a":
            raise EncoderError("overloaded")
        return placed(0, 20)(questions, row)

    part = Planted(name="part", answer=fail_on_a)
    encoders = ["bow", part, Planted(name="on it", fingerprint="on it", parts=("part",), answer=placed(0, 20))]
    corpora = [replace(corpus, name=name) for name in "ab"]
    with pytest.warns(UserWarning, match="failed: "):
        result = ea.assay(encoders, corpora, ["retrieval"], resamples=50, cache=None, baselines=False)
    assert {(failure.encoder, failure.corpus): failure.reason for failure in result.failed} == {
        ("part", "a"): "overloaded",
        ("on it", "a"): "it is built on 'part', which is not scored on a",
    }
    assert part.asked == [corpus.samples[0].id, *(sample.id for sample in corpus.samples)]


def test_diagnostics_that_need_vectors_leave_it_out_visibly(corpus):
    planted = Planted(name="planted", answer=placed(0, 20))
    plan = prepare(RunRequest(encoders=[planted], corpora=[corpus], diagnostics=["retrieval", "isotropy"]))
    assert "planted: has no vectors, so it is left out of isotropy" in plan.notes
    with pytest.raises(SpecError, match="encoder 'planted' cannot be used with isotropy"):
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


def test_a_retriever_without_any_document_is_asked_again(corpus, tmp_path):
    """The index of a service was empty, and then it is filled."""
    empty = Planted(name="service", answer=lambda questions, row: questions.listed(row, []))
    assert in_folder(empty, corpus, tmp_path).failed
    filled = Planted(name="service", answer=placed(2, 20))
    assert not in_folder(filled, corpus, tmp_path).failed
    assert len(filled.asked) == len(corpus.samples)


def test_answers_are_kept_across_runs_only_if_they_stay_the_same(corpus, tmp_path):
    for keeps, asked in ((False, len(corpus.samples)), (True, 0)):
        for _ in range(2):
            last = Planted(name="s", fingerprint=f"keeps {keeps}", answer=placed(2, 20), keeps_answers=keeps)
            ea.assay([last], [corpus], ["retrieval"], cache=tmp_path, baselines=False)
        assert len(last.asked) == asked


def test_a_set_up_joins_a_run_on_two_corpora_whose_encoders_are_scored(corpus, tmp_path):
    """The encoder, whose scores are stored, encodes one corpus after the other again."""
    other = tuple(replace(sample, question=f"Well, {sample.question}") for sample in corpus.samples)
    corpora = [replace(corpus, name="a"), replace(corpus, name="b", samples=other)]

    def result_with(*encoders):
        request = RunRequest(
            encoders=["hashing,dim=64", "bow", *encoders],
            corpora=corpora,
            diagnostics=["retrieval"],
            resamples=50,
            baselines=False,
        )
        return execute(prepare(request), RunFolder(tmp_path / "run")).result

    result_with()
    added = result_with("h=hybrid:hashing+bow")
    assert {row.corpus for row in added.rows if row.encoder == "h"} == {"a", "b"}


def test_objects_of_one_class_and_version_have_their_own_answers(corpus, tmp_path):
    class Search:
        def __init__(self, answer):
            self.invoke = answer

    right_of = {sample.question: list(sample.right) for sample in corpus.samples}
    wrong_of = {q: [d.id for d in corpus.documents if d.id not in right][:5] for q, right in right_of.items()}
    objects = {"good": Search(right_of.get), "bad": Search(wrong_of.get)}
    retrievers = [ea.encoder(thing, name=name, version="1") for name, thing in objects.items()]
    result = ea.assay(retrievers, [corpus], ["retrieval"], resamples=50, cache=tmp_path, baselines=False)
    assert [result.figure("Success@5", name).value for name in objects] == [1, 0]


def test_a_folder_has_the_lists_that_the_cache_had(corpus, tmp_path):
    for number in range(2):
        request = RunRequest(
            encoders=[Planted(name="s", answer=placed(2, 20), keeps_answers=True)],
            corpora=[corpus],
            diagnostics=["retrieval"],
            cache=tmp_path / "cache",
            baselines=False,
        )
        execute(prepare(request), RunFolder(tmp_path / f"{number}"))
    first, second = (list((tmp_path / f"{number}" / "lists").iterdir()) for number in range(2))
    assert [path.name for path in second] == [path.name for path in first]
    assert first


def test_lists_of_other_parts_and_of_another_corpus_are_not_used_again(corpus, tmp_path):
    """The retriever keeps its answers; its part is another one under the same label, or the corpus is another one."""
    for fingerprint, place in (("one", 0), ("two", 7)):
        base = Planted(name="base", fingerprint=fingerprint, answer=placed(place, 20))
        copied = Planted(name="s", answer=placed(place, 20), parts=("base",), keeps_answers=True)
        ea.assay([base, copied], [corpus], ["retrieval"], cache=tmp_path, baselines=False)
        assert len(copied.asked) == len(corpus.samples)
    of_corpus = Planted(
        name="t", keeps_answers=True, answer=lambda q, row: placed(7 * (q.corpus.name == "b"), 20)(q, row)
    )
    two = [replace(corpus, name="a"), replace(corpus, name="b", documents=corpus.documents[::-1])]
    result = ea.assay([of_corpus], two, ["retrieval"], cache=tmp_path, baselines=False)
    found = {row.corpus: row.value for row in result.rows if (row.metric, row.subset) == ("Success@5", "all")}
    assert found == {"a": 1.0, "b": 0.0}


def test_vectors_stay_for_the_retriever_that_needs_them(corpus):
    """Another one over the same encoder, which needs none, changes nothing."""
    seen = []

    def first(questions, row):
        seen.append("counting" in questions.vectors)
        return placed(0, 20)(questions, row)

    needs = Planted(name="n", fingerprint="n", answer=first, parts=("counting",), needs_vectors=True)
    assay([Counting(), needs, Planted(name="p", answer=placed(0, 20), parts=("counting",))], corpus)
    assert seen
    assert all(seen)


def test_all_questions_are_answered_with_the_best_choice(many_units):
    """The first choice is right on a third of the questions, the second on the others, so all have the second one."""

    def right_on_a_third(questions, row):
        return placed(0 if int(questions.samples[row].id[1:]) % 3 == 0 else 8, 20)(questions, row)

    def right_on_the_others(questions, row):
        return placed(8 if int(questions.samples[row].id[1:]) % 3 == 0 else 0, 20)(questions, row)

    answers = {0.0: right_on_a_third, 1.0: right_on_the_others}
    choices = {value: Planted(name=f"{value}", answer=answer) for value, answer in answers.items()}
    result = assay(
        [Planted(name="auto", choices=choices), Planted(name="second", answer=right_on_the_others)], many_units
    )
    everything = [row.metric for row in result.rows if row.encoder == "auto"]
    assert figures(result, "auto", everything) == figures(result, "second", everything)


def test_lists_of_another_choice_are_not_used_again(many_units, tmp_path):
    """Both retrievers have one fingerprint; the first has chosen 0, which the cache keeps, the second chooses 1."""
    for places, reciprocal_rank in (((0, 8), 1), ((8, 1), 1 / 2)):
        choices = {}
        for value, place in zip((0.0, 1.0), places, strict=True):
            choices[value] = Planted(name=f"{value}", answer=placed(place, 20), keeps_answers=True)
        auto = Planted(name="auto", choices=choices)
        result = ea.assay([auto], [many_units], ["retrieval"], resamples=50, cache=tmp_path, baselines=False)
        assert result.figure("RR", "auto").value == reciprocal_rank


def test_ids_that_are_no_documents_are_counted_and_named(source, tmp_path, capsys):
    path = tmp_path / "system.run"
    lines = [f"q{n} Q0 x{n % 2} 1 3 me\nq{n} Q0 doc%20{n}%20100%25 2 2.5 me\n" for n in range(1, 39)]
    path.write_text("".join(lines), encoding="utf-8")
    assert run(tmp_path / "run", source, f"system=run:{path}", quiet=False) == 0
    notes = json.loads((tmp_path / "run" / "run.json").read_text())["encoders"]["system"]["route"]["notes"]
    assert notes == [
        "38 ids in its lists are no documents of mine: x1 and x0; they were left out",
        "2 questions of mine without a list count as missed: q0 and q39",
    ]
    assert f"system: {notes[0]}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("scale", "is_drawn"),
    [
        ("578730123365712768 578730123365712704", False),
        ("1.7e308 1.6e308", False),
        ("1e300 -1e300", False),
        ("2.3e-308 2.2e-308", True),
        ("1e200 2e199", False),
        ("578730123365712768 578730123365712768", False),
        ("1.2e-319 1e-319", True),
        ("0 0", True),
        ("9 9", True),
    ],
)
def test_the_scale_of_one_candidate_costs_its_picture_only(scale, is_drawn, source, tmp_path):
    path = tmp_path / "system.run"
    first, second = scale.split()
    lines = []
    for question in range(40):
        for document in range(40):
            score = first if document == question else second
            lines.append(f"q{question} Q0 doc%20{document}%20100%25 1 {score} me\n")
    path.write_text("".join(lines), encoding="utf-8")
    assert run(tmp_path / "run", source, f"system=run:{path}", "bm25") == 0
    result = ea.read(tmp_path / "run")
    # Of 40 documents in random order, one is among the first five in one of eight.
    assert result.figure("Success@5", "system").value == (0.125 if first == second else 1)
    assert result.figure("Success@5", "bm25").value is not None
    drawn = {line["encoder"] for series in result.series if series.name == "densities" for line in series.data["lines"]}
    assert drawn == ({"system", "bm25"} if is_drawn else {"bm25"})


@pytest.fixture
def answers(tmp_path, monkeypatch):
    """Write a module of the user, and return the spec of its ``answer``."""

    def write(content, options=""):
        (tmp_path / "answers_of_user.py").write_text(content, encoding="utf-8")
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
    """With a version also in other runs."""
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
    spec = answers(code, ",version=1")
    assert [asked(spec, out) for out in ("c", "d")] == [40, 0]
    # The answers of one question would be compared with themselves.
    with pytest.raises(InputError, match=r"was not asked: its answers are those that the cache has"):
        ea.check(tmp_path / "d", tmp_path / "c")
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
    ("code", "message"),
    [
        ("answer = 3", "'answer' is not callable"),
        ("def answer(question): return 'doc'", "it answered with str, not with a list of documents"),
        ("def answer(question): return [3]", "a document of its answer has neither an id nor a text: '3'"),
        ("def answer(question): return 1 / 0", "retrieve: ZeroDivisionError: division by zero"),
    ],
)
def test_a_function_that_does_not_answer_is_named(answers, code, message, corpus):
    with pytest.raises((SpecError, EncoderError)) as error:
        assay([answers(code)], corpus)
    assert message in str(error.value)


def test_a_misspelt_kind_is_named():
    with pytest.raises(UnknownNameError, match="unknown option of encoder 'python:math:sqrt': 'kind'"):
        ea.encoder("python:math:sqrt,kind=retreiver")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("q1 Q0 a 1 0.5\n", ", line 1: must be question, Q0, document, rank, score and name; it has 5 columns"),
        ("question,document\n", ", line 1: must be question, Q0, document, rank, score and name; it has 1 column"),
        ("\nq1 Q0 a 1 high me\n", ", line 2, field 'score': 'high' is no finite number"),
        ("q1 Q0 a 1 inf me\n", ", line 1, field 'score': 'inf' is no finite number"),
        ("q1 Q0 a 1 2 me\nq1 Q0 a 2 1 me\n", ", line 2, field 'document': 'a' is listed twice for 'q1'"),
        ("\n", ": it has no line of question, Q0, document, rank, score and name"),
    ],
)
def test_a_run_file_of_another_form_is_refused_with_its_line(content, message, tmp_path):
    path = tmp_path / "system.run"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(SourceError) as error:
        ea.encoder(f"run:{path}")
    assert str(error.value) == f"{path}{message}"


def test_look_asks_nothing(answers, source, capsys):
    spec = answers("def answer(question): raise SystemError")
    assert exit_code_of(["look", "-c", source, "-e", spec]) == 0
    assert "mine: 40 questions to answer, unless the run has the lists" in capsys.readouterr().out
    # bm25 is a baseline of the run.
    assert exit_code_of(["look", "-c", source, "-e", "hashing", "-e", "both=hybrid:hashing+bm25"]) == 0
    out = capsys.readouterr().out
    assert "both: 40 questions to answer" in out
    assert "bm25:" not in out
    code = "def score(question, texts): raise SystemError"
    ranked = answers(code, "").replace("mine=", "ranked=rerank:").replace(":answer,kind=retriever", ":score")
    assert exit_code_of(["look", "-c", source, "-e", "bm25", "-e", f"{ranked},over=bm25,depth=7"]) == 0
    assert "ranked: 40 questions to answer (280 pairs), unless the run has the lists" in capsys.readouterr().out


def test_two_runs_of_lists_are_compared_and_gated_like_encoders(answers, source, tmp_path, capsys):
    """The same label in two runs; the second service finds nothing."""
    right = "def answer(question): return [f'doc {question.split(chr(113))[-1]} 100%']"
    wrong = "def answer(question): return ['doc 0 100%']"
    for out, code in (("good", right), ("bad", wrong)):
        assert run(tmp_path / out, source, answers(code)) == 0
    assert exit_code_of(["compare", str(tmp_path / "good"), str(tmp_path / "bad")]) == 0
    assert "mine" in capsys.readouterr().out
    assert exit_code_of(["bless", str(tmp_path / "good"), "-o", str(tmp_path / "baseline")]) == 0
    assert exit_code_of(["check", str(tmp_path / "good"), "--baseline", str(tmp_path / "baseline")]) in (0, 4)
    assert exit_code_of(["check", str(tmp_path / "bad"), "--baseline", str(tmp_path / "baseline")]) == 1
