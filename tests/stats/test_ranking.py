"""Ranking metrics: by hand, over all orders of the tied, and as ir-measures has them."""

from itertools import pairwise, permutations
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embassay.stats.ranking import RightPlaces


def places(*questions):
    """Each question: a list of (greater, tied, gain)."""
    flat = [(n, *place) for n, question in enumerate(questions) for place in question]
    array = np.array(flat, dtype=np.int64).reshape(-1, 4)
    return RightPlaces(len(questions), *array.T)


def of_scores(scores, right):
    """Places of the documents ``right`` ({index: gain}) among scores."""
    return [
        (sum(s > scores[r] for s in scores), sum(s == scores[r] for s in scores), gain) for r, gain in right.items()
    ]


def every_order(scores, right, metric):
    """The mean of a metric over all orders that the scores allow: the naive way."""
    orders = [
        order for order in permutations(range(len(scores))) if all(scores[a] >= scores[b] for a, b in pairwise(order))
    ]
    return np.mean([metric([right.get(d, 0) for d in order], sorted(right.values(), reverse=True)) for order in orders])


def success(k):
    return lambda gains, ideal: float(any(gains[:k]))


def recall(k):
    return lambda gains, ideal: sum(g > 0 for g in gains[:k]) / len(ideal)


def reciprocal_rank(gains, ideal):
    return 1 / (1 + next(n for n, g in enumerate(gains) if g))


def average_precision(gains, ideal):
    hits = np.cumsum([g > 0 for g in gains])
    return sum(hits[n] / (n + 1) for n, g in enumerate(gains) if g) / len(ideal)


def ndcg(k):
    def metric(gains, ideal):
        dcg, best = (sum(g / log2(n + 2) for n, g in enumerate(values[:k])) for values in (gains, ideal))
        return dcg / best

    return metric


@pytest.mark.parametrize("n", [6, 1000, 1_000_000])
def test_a_constant_encoder_gets_what_blind_choice_gets(n):
    found = places([(0, n, 1)])
    assert found.success(5) == pytest.approx([5 / n])
    assert found.recall(5) == pytest.approx([5 / n])
    harmonic = sum(1 / i for i in range(1, n + 1))
    assert found.reciprocal_rank() == pytest.approx([harmonic / n], rel=1e-9)
    assert found.average_precision() == pytest.approx([harmonic / n], rel=1e-9)


def test_what_was_not_found_counts_as_right_and_adds_nothing():
    found = places([(0, 1, 1), (0, 0, 1)], [(0, 0, 1)])
    assert found.success(5).tolist() == [1, 0]
    assert found.recall(5).tolist() == [0.5, 0]
    assert found.reciprocal_rank().tolist() == [1, 0]
    assert found.average_precision().tolist() == [0.5, 0]
    assert found.ndcg(10).tolist() == pytest.approx([1 / (1 + 1 / log2(3)), 0])


def test_a_question_without_a_right_document_is_undefined():
    found = places([], [(0, 1, 1)], [])
    for values in (
        found.success(5),
        found.recall(5),
        found.reciprocal_rank(),
        found.average_precision(),
        found.ndcg(3),
    ):
        assert np.isnan(values[[0, 2]]).all()
        assert values[1] == 1
    assert np.isnan(places([], []).success(5)).all()


@st.composite
def questions(draw):
    scores = draw(st.lists(st.integers(0, 3), min_size=2, max_size=6))
    right = draw(st.dictionaries(st.integers(0, len(scores) - 1), st.integers(1, 3), min_size=1, max_size=len(scores)))
    return scores, right


@given(st.lists(questions(), min_size=1, max_size=2), st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_expected_over_all_orders(asked, k):
    found = places(*(of_scores(*q) for q in asked))
    for fast, slow in (
        (found.success(k), success(k)),
        (found.recall(k), recall(k)),
        (found.reciprocal_rank(), reciprocal_rank),
        (found.average_precision(), average_precision),
        (found.ndcg(k), ndcg(k)),
    ):
        assert fast == pytest.approx([every_order(*q, slow) for q in asked], abs=1e-12)


def test_as_ir_measures_where_nothing_is_tied():
    ir_measures = pytest.importorskip("ir_measures", reason="ir-measures is not installed")
    rng = np.random.default_rng(7)
    asked = []
    for _ in range(40):
        scores = rng.permutation(60).astype(float)
        right = {int(d): int(rng.integers(1, 4)) for d in rng.choice(60, size=rng.integers(1, 9), replace=False)}
        asked.append((scores.tolist(), right))
    found = places(*(of_scores(*q) for q in asked))
    qrels = [ir_measures.Qrel(str(n), str(d), g) for n, (_, right) in enumerate(asked) for d, g in right.items()]
    run = [
        ir_measures.ScoredDoc(str(n), str(d), s) for n, (scores, _) in enumerate(asked) for d, s in enumerate(scores)
    ]
    ours = {
        "Success@1": found.success(1),
        "Success@5": found.success(5),
        "R@5": found.recall(5),
        "RR": found.reciprocal_rank(),
        "AP": found.average_precision(),
        "nDCG@10": found.ndcg(10),
    }
    measures = [ir_measures.parse_measure(name) for name in ours]
    for metric in ir_measures.iter_calc(measures, qrels, run):
        assert ours[str(metric.measure)][int(metric.query_id)] == pytest.approx(metric.value, abs=1e-9)


def precision_at_r(gains, ideal):
    size = len(ideal)
    hits = np.cumsum([g > 0 for g in gains])
    return sum(hits[n] / (n + 1) for n, g in enumerate(gains[:size]) if g) / size


def test_average_precision_at_r_by_hand():
    # R = 3, right at ranks 1, 3 and 9: (1/1 + 2/3)/3; what stands beyond R adds nothing.
    assert places([(0, 1, 1), (2, 1, 1), (8, 1, 1)]).average_precision_at_r() == pytest.approx([(1 + 2 / 3) / 3])
    assert places([(3, 1, 1), (4, 1, 1), (8, 1, 1)]).average_precision_at_r() == [0.0]
    assert places([(0, 1, 1), (1, 1, 1)], []).average_precision_at_r() == pytest.approx(
        [1.0, float("nan")], nan_ok=True
    )


@settings(max_examples=60)
@given(st.lists(st.integers(0, 2), min_size=2, max_size=6), st.data())
def test_average_precision_at_r_is_the_mean_over_all_orders_of_the_tied(scores, data):
    right = data.draw(st.sets(st.integers(0, len(scores) - 1), min_size=1))
    gains = dict.fromkeys(right, 1)
    found = places(of_scores(scores, gains)).average_precision_at_r()
    assert found == pytest.approx([every_order(scores, gains, precision_at_r)])
