"""Reciprocal rank fusion: as a loop, in a run, with a weight that is chosen by the questions."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import rankdata

import embassay as ea
from embassay.core.errors import SpecError, UnknownNameError
from embassay.core.samples.retrieval import Document, Question
from embassay.run.execute import execute
from embassay.run.plan import prepare
from embassay.run.request import RunRequest
from embassay.run.resolve import load_candidate, load_corpus
from embassay.run.runs.folder import RunFolder
from embassay.search.retrievers.base import Lists, Questions
from run.test_retrievers import Counting, Planted, figures, placed

QUESTIONS, DOCUMENTS = 40, 60


def naive(lists, weights):
    """Return the fused score of each document; ``lists`` has (documents, scores) of each part."""
    fused = {}
    for (documents, scores), weight in zip(lists, weights, strict=True):
        scores = [-place for place in range(len(scores))] if np.isnan(scores).all() else scores
        ranks = rankdata([-score for score in scores], method="average")
        for document, rank in zip(documents, ranks, strict=True):
            fused[document] = fused.get(document, 0) + weight / (60 + rank)
    return fused


def drawn(number, depth, *, scored=True):
    """Return lists of random documents with tied scores; some are shorter than the others."""
    rng = np.random.default_rng(number)
    documents = np.stack([rng.permutation(DOCUMENTS)[:depth] for _ in range(QUESTIONS)])
    scores = -np.sort(-rng.integers(0, 12, (QUESTIONS, depth)).astype(float), axis=1)
    if not scored:
        scores[:] = np.nan
    documents[::5, depth - 4 :] = -1
    scores[::5, depth - 4 :] = np.nan
    return Lists(np.arange(QUESTIONS), documents, scores, np.where(documents < 0, -1, 100 * number + documents))


@pytest.mark.parametrize(
    ("spec", "weights"),
    [
        ("hybrid:a+b", (0.5, 0.5)),
        ("hybrid:a+b,weight=0.1", (0.1, 0.9)),
        ("hybrid:a+b,weight=1", (1, 0)),
        ("hybrid:a+b+c", (1 / 3, 1 / 3, 1 / 3)),
    ],
)
def test_lists_are_those_of_a_loop(spec, weights):
    parts = {"a": drawn(1, 20), "b": drawn(2, 25), "c": drawn(3, 9, scored=False)}
    parts = dict(list(parts.items())[: len(weights)])
    (lists,) = load_candidate(spec).retrieve(Questions(None, [None] * QUESTIONS, parts))
    for row in range(QUESTIONS):
        of_parts = []
        for part in parts.values():
            known = part.documents[row] >= 0
            of_parts.append((part.documents[row][known].tolist(), part.scores[row][known].tolist()))
        expected = naive(of_parts, weights)
        known = lists.documents[row] >= 0
        documents = lists.documents[row][known].tolist()
        assert dict(zip(documents, lists.scores[row][known], strict=True)) == pytest.approx(expected, abs=1e-12)
        assert len(documents) == len(expected)
        assert (np.diff(lists.scores[row][known]) <= 0).all()
        assert np.isnan(lists.scores[row][~known]).all()
        # The passage is that of the first part that has the document.
        for document, passage in zip(documents, lists.passages[row], strict=False):
            first = next(number for number, (of_part, _) in enumerate(of_parts, start=1) if document in of_part)
            assert passage == 100 * first + document


def test_documents_with_the_same_ranks_in_other_parts_are_tied():
    for shift in range(0, 90, 7):
        documents = [[*range(10, 10 + shift), *order] for order in ((1, 2, 3), (2, 3, 1), (3, 1, 2))]
        scores = -np.arange(shift + 3.0)[None]
        by_name = zip("abc", documents, strict=True)
        parts = {name: Lists(np.array([0]), np.array([row]), scores, np.array([row])) for name, row in by_name}
        (lists,) = load_candidate("hybrid:a+b+c").retrieve(Questions(None, [None], parts))
        last = lists.scores[0][np.isin(lists.documents[0], [1, 2, 3])]
        assert len(last) == 3
        assert len(set(last.tolist())) == 1


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("hybrid:a", "give the labels of two or three different candidates, A+B or A+B+C; is 'a'"),
        ("hybrid:a+a", "give the labels of two or three different candidates"),
        ("hybrid:a+b+c+d", "give the labels of two or three different candidates"),
        ("hybrid:a+b,weight=1.5", "option 'weight': must be 0 to 1, or auto, is 1.5"),
        ("hybrid:a+b,weight=high", "must be a valid number or must be 'auto', is 'high'"),
        (
            "hybrid:a+b+c,weight=auto",
            "option 'weight': three parts have equal weights; leave it out",
        ),
        ("hybrid:a+b,depth=0", "option 'depth': must be 1 or more, is 0"),
    ],
)
def test_wrong_options_are_refused(spec, message):
    with pytest.raises(SpecError) as error:
        load_candidate(spec)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "encoders",
    [
        ["bm25,stemmer=english", "tfidf", "h=hybrid:bm25,stemmer=english+tfidf"],
        ["bm25,stemmer=english", "r=rerank:python:m:f,over=bm25,stemmer=english"],
        ["m=hashing,dim=64", "s=store:faiss,encoder=m,dim=64"],
        ["m=hashing,dim=[64,128]", "tfidf", "h=hybrid:m+tfidf"],
        ["a+b=bm25", "tfidf", "h=hybrid:a+b"],
    ],
)
def test_what_is_no_label_is_refused_with_what_to_write(encoders, corpus):
    """Options of a candidate that has no label of its own, lists of settings, labels with +."""
    with pytest.raises(UnknownNameError, match=r"labels without comma or \+: -e LABEL=SPEC adds one, such as -e "):
        ea.assay(encoders, [corpus], ["retrieval"], baselines=False)


@pytest.fixture(scope="module")
def corpus():
    """The handbook, no built-in corpus."""
    return replace(load_corpus("handbook"), name="some", builtin=False)


@pytest.fixture(scope="module")
def many_units(corpus):
    """A question about each document, a unit of its own."""
    samples = [Question(f"q{n}", f"question {n}", (document.id,)) for n, document in enumerate(corpus.documents)]
    return replace(corpus, samples=tuple(samples))


def assay(encoders, corpus, **more):
    return ea.assay(encoders, [corpus], ["retrieval"], resamples=50, cache=None, baselines=False, **more)


WEIGHTS = np.arange(21) / 20


@pytest.fixture(scope="module")
def all_weights(corpus):
    """A run with the weight that is chosen, and with all that it is chosen from."""
    fixed = [f"w{weight:g}=hybrid:tfidf+bm25,weight={weight:g}" for weight in WEIGHTS]
    return assay(["tfidf", "bm25", *fixed, "auto=hybrid:tfidf+bm25,weight=auto"], corpus)


def about_weight(result):
    """Return the sentence on the weight that was chosen."""
    (answer,) = [answer for answer in result.answers if answer.question == "Weight"]
    return answer.sentence


def test_the_curve_has_the_figures_of_fixed_weights(all_weights):
    (series,) = [series for series in all_weights.series if series.name == "weights"]
    (line,) = series.data["lines"]
    assert line["at"] == pytest.approx(WEIGHTS)
    assert line["y"] == pytest.approx([all_weights.figure("RR", f"w{weight:g}").value for weight in WEIGHTS], abs=1e-9)
    # With all the weight, a part's list is first, in its order.
    assert all_weights.figure("Success@5", "w1").value == pytest.approx(all_weights.figure("Success@5", "tfidf").value)


def test_the_candidate_is_the_best_of_the_fixed_weights(all_weights):
    means = [all_weights.figure("RR", f"w{weight:g}").value for weight in WEIGHTS]
    best = f"w{WEIGHTS[np.argmax(means)]:g}"
    everything = [row.metric for row in all_weights.rows if row.encoder == "auto"]
    assert figures(all_weights, "auto", everything) == figures(all_weights, best, everything)


def test_what_is_expected_on_other_questions_is_said_and_where_the_weight_is_not_settled(all_weights):
    own = all_weights.figure("Success@5", "auto").value
    said = re.fullmatch(
        rf"auto: with weight 0\.\d+, Success@5 is {own:.1%} on the questions it was chosen on; (\S+)% is expected on "
        r"others\. The weight is not settled by 120 questions \((\S+) to (\S+)\)\.",
        about_weight(all_weights),
    )
    expected, lowest, highest = map(float, said.groups())
    assert 0.9 * own <= expected / 100 <= own + 0.0005
    assert highest - lowest > 0.2


def test_where_each_question_has_the_same_best_weight_it_is_settled(many_units):
    parts = [Planted(name=name, fingerprint=name, answer=placed(place, 20)) for name, place in (("a", 0), ("b", 8))]
    result = assay([*parts, "auto=hybrid:a+b,weight=auto"], many_units)
    assert about_weight(result).endswith(" 100.0% on the questions it was chosen on; 100.0% is expected on others.")


def test_documents_that_share_no_word_with_a_question_are_in_no_list(corpus):
    """Which of them came first was their order in the corpus, and it changed the figures of what is built on bm25."""
    four_each = tuple(Document(f"d{n}", (f"word{n // 4} number{n}",)) for n in range(DOCUMENTS))
    samples = tuple(Question(f"q{n}", f"word{n // 4}", (f"d{n}",)) for n in range(QUESTIONS))
    found = []
    for documents in (four_each, four_each[::-1]):
        turned = replace(corpus, samples=samples, documents=documents)
        result = assay([Counting(), "bm25", "h=hybrid:counting+bm25,depth=20"], turned)
        found.append({key: value for key, (value, _, _) in figures(result, "h", ["RR", "Success@5"]).items()})
    assert found[0] == found[1]


def test_under_10_units_one_message_and_the_others_finish(corpus):
    few = replace(corpus, samples=tuple(sample for sample in corpus.samples if sample.right)[:9])
    with pytest.warns(UserWarning, match="failed: "):
        result = assay(["tfidf", "bm25", "hybrid:tfidf+bm25,weight=auto", "half=hybrid:tfidf+bm25"], few)
    (failure,) = result.failed
    assert failure.reason.startswith(
        "hybrid:tfidf+bm25,weight=auto is chosen on 10 units of answered questions or more; some has "
    )
    assert failure.reason.endswith(": give it a fixed value")
    assert result.figure("Success@5", "half").value is not None


def test_a_run_is_continued_with_the_same_weights(corpus, tmp_path):
    def result_in(folder, diagnostic="retrieval"):
        request = RunRequest(
            encoders=["tfidf", "bm25", "h=hybrid:tfidf+bm25,weight=auto"],
            corpora=[corpus],
            diagnostics=[diagnostic],
            resamples=50,
            baselines=False,
        )
        return execute(prepare(request), RunFolder(folder)).result

    first = result_in(tmp_path / "a")
    assert result_in(tmp_path / "a") == first
    # Other scores of the same lists.
    assert result_in(tmp_path / "a", "retrieval,k=3") == result_in(tmp_path / "b", "retrieval,k=3")


def test_eight_set_ups_over_one_encoder_encode_each_text_once(corpus):
    encoder = Counting()
    set_ups = [f"w{step}=hybrid:counting+bm25,weight={step / 10}" for step in range(7)]
    result = assay([*set_ups, "auto=hybrid:counting+bm25,weight=auto", encoder, "bm25"], corpus)
    assert not result.failed
    assert len(encoder.texts) == len(set(encoder.texts)) == len(corpus.texts())
    assert figures(result, "auto", ["Success@5"])
