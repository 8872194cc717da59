"""Reciprocal rank fusion: as a loop, in a run, with a weight that is chosen on other units."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import rankdata

import embassay as ea
from embassay.errors import SpecError, UnknownNameError
from embassay.retrievers.base import Lists, Questions
from embassay.run.execute import execute
from embassay.run.plan import prepare
from embassay.run.request import RunRequest
from embassay.run.resolve import load_corpus, load_encoder
from embassay.samples.retrieval import Document, Question
from embassay.store.runs.folder import RunFolder
from run.test_retrievers import Counting, figures

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
    (lists,) = load_encoder(spec).retrieve(Questions(None, [None] * QUESTIONS, parts))
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
        (lists,) = load_encoder("hybrid:a+b+c").retrieve(Questions(None, [None], parts))
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
        ("hybrid:a+b,weight=high", "option 'weight': 'high' is not a number or one of auto"),
        (
            "hybrid:a+b+c,weight=auto",
            "option 'weight': three parts have equal weights; leave it out",
        ),
        ("hybrid:a+b,depth=0", "option 'depth': must be 1 or more, is 0"),
    ],
)
def test_wrong_options_are_refused(spec, message):
    with pytest.raises(SpecError) as error:
        load_encoder(spec)
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


def assay(encoders, corpus, **more):
    return ea.assay(encoders, [corpus], ["retrieval"], resamples=50, cache=None, baselines=False, **more)


def test_the_curve_has_the_figures_of_fixed_weights(corpus):
    fixed = [f"w{weight}=hybrid:tfidf+bm25,weight={weight}" for weight in ("0", "0.15", "0.5", "1")]
    result = assay(["tfidf", "bm25", *fixed, "auto=hybrid:tfidf+bm25,weight=auto"], corpus)
    (series,) = [series for series in result.series if series.name == "weights"]
    (line,) = series.data["lines"]
    curve = dict(zip(line["at"], line["y"], strict=True))
    assert len(curve) == 21
    for weight in (0, 0.15, 0.5, 1):
        assert curve[weight] == pytest.approx(result.figure("RR", f"w{weight:g}").value, abs=1e-9)
    # With all the weight, a part's list is first, in its order.
    assert result.figure("Success@5", "w1").value == pytest.approx(result.figure("Success@5", "tfidf").value)
    (finding,) = [finding for finding in result.findings if finding.title == "The weight to use for auto"]
    best = max(curve, key=curve.get)
    assert finding.sentence.startswith(
        f"auto: weight={best:g} has the highest mean reciprocal rank on all questions; the folds chose "
    )


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


def planted(corpus, turned):
    """Return the lines of two run files: a has the right documents first, and b that of the turned questions."""
    lines = {"a": [], "b": []}
    for row, sample in enumerate(corpus.samples):
        wrong = [document.id for document in corpus.documents if document.id not in sample.right][row : row + 3]
        for name in lines:
            ids = [*sample.right[:1], *wrong] if (name == "b") == (sample.id in turned) else [*wrong, *sample.right[:1]]
            lines[name] += [f"{sample.id} Q0 {document} 1 {9 - place} x\n" for place, document in enumerate(ids)]
    return lines


def test_no_question_is_answered_with_a_weight_that_its_unit_has_chosen(corpus, tmp_path):
    """Turn the answers of one unit round: the weight of its own fold stays, so do the lists of its other questions."""
    samples = [sample for sample in corpus.samples if sample.right]
    corpus = replace(corpus, samples=tuple(samples))
    ranks = []
    for turn in (False, True):
        turned = {sample.id for sample, unit in zip(samples, corpus.units, strict=True) if unit == 3} if turn else set()
        lines = planted(corpus, turned)
        for name, text in lines.items():
            (tmp_path / f"{name}.run").write_text("".join(text), encoding="utf-8")
        encoders = [f"{name}=run:{tmp_path / name}.run" for name in lines]
        result = assay([*encoders, "h=hybrid:a+b,weight=auto"], corpus, examples="all")
        shown = [example for example in result.examples if example.encoder == "h"]
        ranks.append(np.array([example.values["rank"] for example in shown]))
    in_unit = corpus.units == 3
    # All others say that a is better: so it is where a is right, and wrong where b is.
    assert (ranks[0] == 1).all()
    assert (ranks[1][in_unit] > 1).all()
    assert (ranks[1][~in_unit] == 1).all()


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
