"""Reciprocal rank fusion: as a loop, in a run, with a weight that is chosen by the questions."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import rankdata

import embassay as ea
from embassay.core.samples.retrieval import Document, Question
from embassay.run.resolve import load_candidate, load_corpus
from embassay.search.retrievers.base import Lists, Questions
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


@pytest.fixture(scope="module")
def corpus():
    """The handbook, no built-in corpus."""
    return replace(load_corpus("handbook"), name="some", builtin=False)


def assay(encoders, corpus, **more):
    return ea.assay(encoders, [corpus], ["retrieval"], resamples=50, cache=None, baselines=False, **more)


WEIGHTS = np.arange(21) / 20


@pytest.fixture(scope="module")
def all_weights(corpus):
    """A run with the weight that is chosen, and with all that it is chosen from."""
    fixed = [f"w{weight:g}=hybrid:tfidf+bm25,weight={weight:g}" for weight in WEIGHTS]
    return assay(["tfidf", "bm25", *fixed, "auto=hybrid:tfidf+bm25,weight=auto"], corpus)


def test_with_all_the_weight_the_list_of_a_part_is_first(all_weights):
    assert all_weights.figure("Success@5", "w1").value == pytest.approx(all_weights.figure("Success@5", "tfidf").value)


def test_the_candidate_is_the_best_of_the_fixed_weights(all_weights):
    means = [all_weights.figure("RR", f"w{weight:g}").value for weight in WEIGHTS]
    best = f"w{WEIGHTS[np.argmax(means)]:g}"
    everything = [row.metric for row in all_weights.rows if row.encoder == "auto"]
    assert figures(all_weights, "auto", everything) == figures(all_weights, best, everything)


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
