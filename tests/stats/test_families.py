"""Families of comparisons: who is compared with whom, and intervals that agree with the test."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from embassay.stats import permutation
from embassay.stats.families import (
    JUST_ABOVE_0,
    PairedDifference,
    PairTest,
    Roles,
    compare_means,
    consistent_interval,
    corrected_interval,
)
from embassay.stats.folds import compare_means_over_folds
from embassay.stats.permutation import holm
from embassay.stats.resample import means
from embassay.types import Draws

NAN = float("nan")
DRAWS = Draws(seed=0, resamples=200)
AB = Roles(candidates=("b", "a"))
"""One question: a against b."""


def encoders(names, units=40, size=3, seed=1, spread=0.5):
    """Return yes/no items of encoders that share what is hard, the later ones better."""
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(units), size)
    hard = rng.normal(size=units)[unit]
    values = {name: (hard + rng.normal(size=len(unit)) < spread * k).astype(float) for k, name in enumerate(names)}
    return values, unit


def pair_of_items(wins, losses, units=450):
    """Return two encoders on single items: a right alone so many times, b right alone so many times."""
    a, b = np.zeros(units), np.zeros(units)
    a[:wins], b[wins : wins + losses] = 1, 1
    return {"b": b, "a": a}, np.arange(units)


def rows_of(found, family):
    return {(d.a, d.b): d for d in found if d.family == family}


def test_the_interval_of_a_difference_agrees_with_the_corrected_test():
    # One of ten tests: z goes from 1.96 to 2.81, so 0.02 [0.01, 0.03] becomes 0.02 ± 0.0143 below, and 0 is reached.
    assert corrected_interval(0.01, 0.03, 0.02, 0.2, 10) == (0.0, 0.03)
    low, high = corrected_interval(0.002, 0.038, 0.02, 0.2, 10)
    assert (low, high) == (pytest.approx(0.02 - 0.018 * 2.807034 / 1.959964, abs=1e-6), 0.038)
    assert corrected_interval(-0.038, -0.002, -0.02, 0.2, 10) == (-0.038, pytest.approx(-low))
    assert corrected_interval(0.002, 0.038, 0.02, 0.04, 10) == (0.002, 0.038)
    assert corrected_interval(-0.01, 0.05, 0.02, 0.2, 10) == (-0.01, 0.05)


# --- who is compared with whom ---------------------------------------------------------------------------


def test_the_questions_by_hand():
    roles = Roles(("x", "y", "z"), "y", lexical=("bm25", "tfidf"), bm25=("bm25",), chance="random")
    level = {"x": 0.3, "y": 0.4, "z": 0.5, "bm25": 0.2, "tfidf": 0.6, "random": 0.1}
    assert [(q.family, q.a, q.b) for q in roles.questions(level)] == [
        ("reference", "x", "y"),
        ("reference", "z", "y"),
        ("baseline", "x", "tfidf"),
        ("baseline", "y", "tfidf"),
        ("baseline", "z", "tfidf"),
        ("second_baseline", "x", "bm25"),
        ("second_baseline", "y", "bm25"),
        ("second_baseline", "z", "bm25"),
        ("chance", "x", "random"),
        ("chance", "y", "random"),
        ("chance", "z", "random"),
    ]


def test_the_first_candidate_is_the_reference_by_default():
    assert Roles(("x", "y")).questions({}) == (PairTest("reference", "y", "x"),)


def test_all_pairs_are_a_family_of_their_own_on_request():
    questions = Roles(("x", "y", "z"), "z", all_pairs=True).questions({})
    assert [(q.family, q.a, q.b) for q in questions] == [
        ("reference", "x", "z"),
        ("reference", "y", "z"),
        ("all", "x", "y"),
        ("all", "x", "z"),
        ("all", "y", "z"),
    ]


def test_a_pair_of_two_families_is_the_same_way_round_in_both():
    questions = Roles(("x", "y", "z"), all_pairs=True).questions({})
    assert len({(q.a, q.b) for q in questions}) == 3


@pytest.mark.parametrize(
    ("level", "best"),
    [
        ({"bm25": 0.5, "tfidf": 0.5}, "bm25"),
        ({"bm25": NAN, "tfidf": 0.1}, "tfidf"),
        ({"bm25": 0.1}, "bm25"),
        ({}, None),
    ],
)
def test_the_best_lexical_baseline(level, best):
    questions = Roles(("x",), lexical=("bm25", "tfidf"), bm25=("bm25",)).questions(level)
    assert [q.b for q in questions] == ([best] if best else [])


def test_a_lexical_candidate_is_not_compared_with_itself():
    questions = Roles(("bm25", "x"), lexical=("bm25", "tfidf")).questions({"bm25": 0.5, "tfidf": 0.1})
    assert [(q.family, q.a, q.b) for q in questions] == [("reference", "x", "bm25"), ("baseline", "x", "bm25")]


def test_a_reference_that_is_no_candidate_and_a_name_that_stands_twice_are_refused():
    with pytest.raises(ValueError, match="the reference 'z' is none of the candidates"):
        Roles(("x", "y"), "z")
    with pytest.raises(ValueError, match="a name stands twice"):
        Roles(("x", "x"))


@pytest.mark.parametrize("number", [2, 8, 32])
def test_the_number_of_tests_grows_with_the_number_of_encoders(number, monkeypatch):
    names = [f"e{k}" for k in range(number)]
    values, unit = encoders([*names, "bm25", "tfidf", "random"], units=12, spread=0.05)
    tested = []
    exact = permutation.SignFlips.without_drawing
    monkeypatch.setattr(
        permutation.SignFlips, "without_drawing", lambda self, pair: (tested.append(pair), exact(self, pair))[1]
    )
    roles = Roles(tuple(names), lexical=("bm25", "tfidf"), bm25=("bm25",))
    found = compare_means(values, unit, roles, DRAWS, "x", of_shares=True)
    # Against the reference, tfidf and, where that is the better baseline, bm25.
    with_bm25 = values["tfidf"].mean() > values["bm25"].mean()
    assert len(found) == len(tested) == (3 if with_bm25 else 2) * number - 1
    tested.clear()
    compare_means(values, unit, Roles(tuple(names), all_pairs=True), DRAWS, "x")
    assert len(tested) == number * (number - 1) / 2


# --- figures ---------------------------------------------------------------------------------------------


def test_a_difference_by_hand():
    # Twelve units of one item; a right where b is wrong in seven of them, never the other way: 2 of 2⁷ patterns.
    values = {"b": np.array([0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, NAN]), "a": np.array([1.0] * 10 + [0, 1])}
    (d,) = compare_means(values, np.arange(12), AB, DRAWS, "x", of_shares=True)
    assert (d.family, d.a, d.b, d.difference, d.items, d.units) == ("reference", "a", "b", 7 / 11, 11, 11)
    assert (d.p, d.p_adjusted, d.p_method, d.p_error, d.tests) == (2 / 128, 2 / 128, "exact", 0.0, 1)
    # Residuals 4/11 seven times and −7/11 four times: v = 11/10 · (7·16 + 4·49)/121 / 121.
    assert d.error == pytest.approx(sqrt(11 / 10 * (7 * 16 + 4 * 49) / 121 / 121))
    assert d.significant
    assert d.low > 0


def test_differences_and_intervals_are_those_of_the_bootstrap():
    values, unit = encoders("abcd")
    found = rows_of(compare_means(values, unit, Roles(tuple("abcd")), DRAWS, "x", of_shares=True), "reference")
    for name in "bcd":
        gap = (values[name] - values["a"])[:, None]
        estimate = means([gap], unit, DRAWS, "x", differences=np.array([True]))[0][0]
        d = found[name, "a"]
        assert (d.difference, d.items, d.units) == (estimate.value, estimate.items, estimate.units)
        assert (d.low, d.high) == pytest.approx(
            consistent_interval(estimate.low, estimate.high, estimate.value, d.p), abs=1e-12
        )


def test_each_family_has_its_own_holm():
    values, unit = encoders(["a", "b", "c", "bm25"], spread=0.2)
    found = compare_means(values, unit, Roles(tuple("abc"), lexical=("bm25",), all_pairs=True), DRAWS, "x")
    for family, tests in [("reference", 2), ("baseline", 3), ("all", 3)]:
        rows = rows_of(found, family).values()
        assert [d.p_adjusted for d in rows] == list(holm([d.p for d in rows]))
        assert {d.tests for d in rows} == {tests}
    assert rows_of(found, "reference")["b", "a"].p == rows_of(found, "all")["b", "a"].p


def test_golden_comparison():
    # The p-values are McNemar's exact ones, as scipy 1.16's binomtest gives them for 15 : 5 and 15 : 1; Holm doubles
    # the smaller one. Interval: this package with numpy 2.4.6, seed 0, 1000 resamples.
    items, unit = pair_of_items(15, 5, 300)
    c = items["a"].copy()
    c[15:19] = 1
    found = compare_means(items | {"c": c}, unit, Roles(("b", "a", "c")), Draws(), "golden", of_shares=True)
    assert [d.p for d in found] == pytest.approx([0.04138946533203125, 0.000518798828125])
    assert [d.p_adjusted for d in found] == pytest.approx([0.04138946533203125, 0.00103759765625])
    assert [d.difference for d in found] == pytest.approx([10 / 300, 14 / 300])
    assert (found[0].low, found[0].high) == pytest.approx((0.004991680532445923, 0.06312292358803986))
    assert (found[1].low, found[1].high) == pytest.approx((0.023255813953488372, 0.07308970099667775))


def test_values_on_no_lattice_are_drawn_and_carry_the_error_of_that():
    rng = np.random.default_rng(0)
    unit = np.repeat(np.arange(40), 3)
    (d,) = compare_means({"b": rng.normal(size=120), "a": rng.normal(size=120)}, unit, AB, DRAWS, "x")
    assert d.p_method == "drawn"
    assert 0 < d.p_error < 0.01


# --- what a run may add without changing an answer -------------------------------------------------------


def test_seven_variants_of_a_model_leave_the_answer_against_bm25_as_it_was():
    # 14 questions won and 2 lost against bm25, in 200 units: p = 0.0042. Among all 55 pairs of eight encoders and
    # three baselines that is nothing.
    items, unit = pair_of_items(14, 2, 200)
    values = {"model": items["a"], "bm25": items["b"], "tfidf": items["b"] * 0, "random": items["b"] * 0}
    variants = {f"variant{k}": items["a"] for k in range(7)}
    lexical = ("bm25", "tfidf")
    (alone,) = rows_of(compare_means(values, unit, Roles(("model",), lexical=lexical), DRAWS, "x"), "baseline").values()
    joined = compare_means(values | variants, unit, Roles(("model", *variants), lexical=lexical), DRAWS, "x")
    beside = rows_of(joined, "baseline")["model", "bm25"]
    assert (alone.difference, alone.low, alone.high, alone.p) == (
        beside.difference,
        beside.low,
        beside.high,
        beside.p,
    )
    assert alone.significant
    assert beside.significant
    everyone = Roles(("model", *variants, "bm25", "tfidf", "random"), all_pairs=True)
    of_all_pairs = rows_of(compare_means(values | variants, unit, everyone, DRAWS, "x"), "all")["bm25", "model"]
    assert (of_all_pairs.p, of_all_pairs.significant) == (alone.p, False)


def test_baselines_that_join_change_no_comparison_of_candidates():
    values, unit = encoders("abc")
    more = values | {"tfidf": values["a"][::-1], "random": values["b"][::-1]}
    roles = Roles(tuple("abc"))
    assert compare_means(more, unit, roles, DRAWS, "x") == compare_means(values, unit, roles, DRAWS, "x")


def test_the_order_of_rows_moves_nothing():
    values, unit = encoders("ab")
    order = np.random.default_rng(3).permutation(len(unit))
    (x,) = compare_means(values, unit, Roles(("a", "b")), DRAWS, "x")
    (y,) = compare_means({n: v[order] for n, v in values.items()}, unit[order], Roles(("a", "b")), DRAWS, "x")
    assert (x.p, x.items) == (y.p, y.items)
    assert (x.difference, x.low, x.high) == pytest.approx((y.difference, y.low, y.high))


def test_a_minus_b_is_b_minus_a_the_other_way_round():
    values, unit = encoders("ab")
    (up,) = compare_means(values, unit, Roles(("a", "b"), "a"), DRAWS, "x")
    (down,) = compare_means(values, unit, Roles(("a", "b"), "b"), DRAWS, "x")
    assert (up.difference, up.low, up.high) == pytest.approx((-down.difference, -down.high, -down.low))
    assert (up.p, up.error) == (down.p, pytest.approx(down.error))


# --- the interval and the test ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "difference", "p", "expected"),
    [
        (0.1, 0.3, 0.2, 0.01, (0.1, 0.3)),
        (0.1, 0.3, 0.2, 0.06, (0.0, 0.3)),
        (-0.3, -0.1, -0.2, 0.06, (-0.3, 0.0)),
        (-0.1, 0.3, 0.2, 0.06, (-0.1, 0.3)),
        (-0.1, 0.3, 0.2, 0.05, (JUST_ABOVE_0, 0.3)),
        (-0.3, 0.1, -0.2, 0.05, (-0.3, -JUST_ABOVE_0)),
        (0.0, 0.3, 0.2, 0.04, (JUST_ABOVE_0, 0.3)),
        (0.0, 0.0, 0.0, 1.0, (0.0, 0.0)),
    ],
)
def test_an_interval_is_moved_to_agree_with_the_test(low, high, difference, p, expected):
    assert consistent_interval(low, high, difference, p) == expected


@pytest.mark.parametrize("losses", range(4))
@pytest.mark.parametrize("wins", range(12))
def test_an_interval_contains_0_exactly_where_the_test_is_not_significant(wins, losses):
    values, unit = pair_of_items(wins, losses)
    (d,) = compare_means(values, unit, AB, DRAWS, "x", of_shares=True)
    assert d.p == pytest.approx(stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0)
    assert (d.low <= 0 <= d.high) == (d.p > 0.05)
    assert d.low <= d.difference <= d.high


def test_four_wins_and_no_loss_are_not_significant_and_the_interval_says_so():
    values, unit = pair_of_items(4, 0)
    (d,) = compare_means(values, unit, AB, Draws(), "x", of_shares=True)
    assert (d.p, d.significant) == (0.125, False)
    assert d.low <= 0 < d.high


@given(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0.001, 1))
def test_a_consistent_interval_still_holds_its_difference(difference, below, above, p):
    low, high = consistent_interval(difference - below, difference + above, difference, p)
    if p > 0.05:
        assert low <= min(difference, 0) <= max(difference, 0) <= high
    elif abs(difference) > JUST_ABOVE_0:
        assert low <= difference <= high
        assert not low <= 0 <= high


# --- degenerate data -------------------------------------------------------------------------------------


def test_equal_encoders_do_not_differ():
    values, unit = encoders("ab")
    (d,) = compare_means({"b": values["a"], "a": values["a"].copy()}, unit, AB, DRAWS, "x", of_shares=True)
    assert (d.difference, d.p, d.p_adjusted, d.p_method, d.error) == (0, 1, 1, "exact", 0)
    assert d.low <= 0 <= d.high


@pytest.mark.parametrize("units", [1, 2, 9])
def test_under_ten_units_nothing_is_better_or_worse(units):
    values = {"b": np.zeros(36), "a": np.ones(36)}
    (d,) = compare_means(values, np.arange(36) % units, AB, DRAWS, "x")
    assert (d.difference, d.low, d.high, d.units) == (1.0, None, None, units)
    assert (d.p, d.p_adjusted, d.p_method, d.p_error, d.tests) == (None, None, None, None, 0)
    assert not d.significant
    assert d.error == (None if units == 1 else 0.0)


def test_ten_units_have_a_verdict():
    (d,) = compare_means({"b": np.zeros(36), "a": np.ones(36)}, np.arange(36) % 10, AB, DRAWS, "x")
    assert (d.p, d.low, d.high) == (2 / 2**10, 1.0, 1.0)


def test_a_pair_without_a_common_item_has_no_figures_and_counts_in_no_family():
    values, unit = encoders("abc")
    values["c"] = np.full(len(unit), NAN)
    found = rows_of(compare_means(values, unit, Roles(tuple("abc")), DRAWS, "x"), "reference")
    never, d = found["c", "a"], found["b", "a"]
    assert never == PairedDifference("reference", "c", "a", None, None, None, tests=1, items=0, units=0, error=None)
    assert (d.tests, d.p_adjusted) == (1, d.p)


def test_undefined_items_are_left_out_two_by_two():
    values, unit = encoders("abc")
    values["b"][:3], values["c"][3:9] = NAN, NAN
    found = rows_of(compare_means(values, unit, Roles(tuple("abc")), DRAWS, "x"), "reference")
    assert {pair: (d.items, d.units) for pair, d in found.items()} == {("b", "a"): (117, 39), ("c", "a"): (114, 38)}


@pytest.mark.parametrize("values", [{}, {"a": np.arange(12.0)}])
def test_one_encoder_has_no_comparison(values):
    assert compare_means(values, np.arange(12), Roles(tuple(values)), DRAWS, "x") == ()


def test_no_items_make_no_comparison():
    nothing = {"a": np.empty(0), "b": np.empty(0)}
    assert compare_means(nothing, np.empty(0, dtype=np.int64), Roles(("a", "b")), DRAWS, "x") == ()


def test_an_encoder_without_values_is_in_no_row():
    values, unit = encoders("ab")
    found = compare_means(values, unit, Roles(("a", "failed", "b")), DRAWS, "x")
    assert [(d.a, d.b) for d in found] == [("b", "a")]


# --- means over folds ------------------------------------------------------------------------------------


def test_over_folds_by_hand():
    # Two folds of 12 and 4 items, one unit each: a alone is right in 6 of 12 and in 1 of 4, never b: the mean over
    # folds differs by (1/2 + 1/4)/2. Signs of sums 1/24 six times and 1/8 once: all seven alike, 2 of 2⁷.
    fold = np.repeat([0, 1], [12, 4])
    a = np.array([1.0] * 6 + [0] * 6 + [1, 0, 0, 0])
    (d,) = compare_means_over_folds({"b": a * 0, "a": a}, fold, np.arange(16), AB, DRAWS, "x")
    assert (d.difference, d.p, d.p_method, d.items, d.units) == (0.375, 2 / 128, "exact", 16, 16)
    assert d.low > 0


def test_over_one_fold_they_are_plain_means():
    values, unit = encoders("abc")
    roles = Roles(tuple("abc"), lexical=("c",))
    plain = compare_means(values, unit, roles, DRAWS, "x", of_shares=True)
    folded = compare_means_over_folds(values, np.zeros(len(unit), dtype=np.int64), unit, roles, DRAWS, "x")
    for x, y in zip(plain, folded, strict=True):
        assert (x.family, x.a, x.b, x.p, x.p_adjusted, x.tests) == (y.family, y.a, y.b, y.p, y.p_adjusted, y.tests)
        assert (x.difference, x.error) == pytest.approx((y.difference, y.error))
        assert (x.low, x.high) == pytest.approx((y.low, y.high))


def test_a_fold_without_a_defined_item_leaves_no_difference():
    fold = np.repeat([0, 1], 20)
    a = np.where(fold == 0, 1.0, NAN)
    (d,) = compare_means_over_folds({"b": np.zeros(40), "a": a}, fold, np.arange(40), AB, DRAWS, "x")
    assert (d.difference, d.p, d.units, d.error) == (None, None, 0, None)


def test_of_several_bm25_none_is_compared_where_one_of_them_is_the_best_baseline():
    """Several lexical baselines are there where a setting of the corpus varies."""
    roles = Roles(("x",), lexical=("bm25,50", "bm25,100", "tfidf"), bm25=("bm25,50", "bm25,100"))
    level = {"x": 0.5, "bm25,50": 0.2, "bm25,100": 0.4, "tfidf": 0.3}
    pairs = [(question.family, question.b) for question in roles.questions(level)]
    assert pairs == [("baseline", "bm25,100")]
    pairs = [(question.family, question.b) for question in roles.questions({**level, "tfidf": 0.45})]
    assert pairs == [("baseline", "tfidf"), ("second_baseline", "bm25,100")]
