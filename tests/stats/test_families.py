"""Families of comparisons: each pair has one home, one interval and one p."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embassay.core.metric_key import MetricKey
from embassay.core.result import Comparison, best_set, rank_intervals, worse_systems
from embassay.core.types import Draws
from embassay.stats.families import JUST_ABOVE_0, Roles, Step, compare_means, consistent_interval
from embassay.stats.labels import Labels
from embassay.stats.patterns import newcombe

KEY = MetricKey("accuracy")
DRAWS = Draws(seed=0, resamples=200)
AB = Roles(candidates=("a", "b"))
"""One pair: a and b."""


def compared(values, unit, roles=AB, **options):
    options = {"of_shares": True, "is_bounded": True} | options
    return compare_means(KEY, values, Labels.of(np.asarray(unit)), roles, DRAWS, "test", **options)


def encoders(names, units=40, size=3, seed=1, spread=0.5):
    """Return yes/no items of encoders that share what is hard, the later ones better."""
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(units), size)
    hard = rng.normal(size=units)[unit]
    values = {name: (hard + rng.normal(size=len(unit)) < spread * k).astype(float) for k, name in enumerate(names)}
    return values, unit


def homes(roles):
    return [(test.family, test.a, test.b) for test in roles.pairs({*roles.candidates, roles.lexical})]


# --- who is compared with whom ---------------------------------------------------------------------------


def test_the_home_of_each_pair_by_hand():
    steps = {"ivf": Step("index", ("m",)), "both": Step("fusion", ("m", "bm25")), "m8": Step("int8", ("m",))}
    roles = Roles(("m", "mpnet", "ivf", "both", "m8"), lexical="bm25", steps=steps)
    assert homes(roles) == [
        ("step", "ivf", "m"),
        ("step", "both", "m"),
        ("step", "both", "bm25"),
        ("step", "m8", "m"),
        ("main", "m", "bm25"),
        ("lexical", "mpnet", "bm25"),
        ("models", "m", "mpnet"),
    ]
    assert roles.base_systems == ("m", "mpnet", "bm25")


def test_the_reference_is_in_the_main_question():
    roles = Roles(("m", "mpnet"), reference="mpnet", lexical="bm25")
    assert homes(roles) == [("main", "mpnet", "bm25"), ("lexical", "m", "bm25"), ("models", "mpnet", "m")]


def test_a_requested_baseline_stays_the_baseline():
    roles = Roles(("bm25", "m"), lexical="bm25")
    assert homes(roles) == [("main", "m", "bm25")]


def test_other_pairs_only_on_request():
    steps = {"ivf": Step("index", ("m",))}
    assert ("all", "mpnet", "ivf") not in homes(Roles(("m", "mpnet", "ivf"), steps=steps))
    assert ("all", "mpnet", "ivf") in homes(Roles(("m", "mpnet", "ivf"), steps=steps, all_pairs=True))


names = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6, unique=True)


@given(names, st.data())
def test_no_pair_has_two_homes(candidates, data):
    steps = {}
    for place, name in enumerate(candidates[1:], 1):
        if data.draw(st.booleans()):
            bases = data.draw(st.lists(st.sampled_from(candidates[:place]), min_size=1, max_size=2, unique=True))
            steps[name] = Step(data.draw(st.sampled_from(["index", "fusion"])), tuple(bases))
    lexical = data.draw(st.sampled_from([None, "bm25", candidates[0]]))
    roles = Roles(tuple(candidates), lexical=lexical, steps=steps, all_pairs=data.draw(st.booleans()))
    pairs = [frozenset(test.pair) for test in roles.pairs({*roles.candidates, roles.lexical})]
    assert len(pairs) == len(set(pairs))
    assert all(len(pair) == 2 for pair in pairs)


# --- one p for each pair ---------------------------------------------------------------------------------


def test_what_joins_a_run_moves_no_p_of_another_family():
    values, unit = encoders(["bm25", "m", "mpnet", "ivf", "both"])
    alone = {d.family: d for d in compared(values, unit, Roles(("m", "mpnet"), lexical="bm25"))}
    steps = {"ivf": Step("index", ("m",)), "both": Step("fusion", ("m", "bm25"))}
    joined = compared(values, unit, Roles(("m", "mpnet", "ivf", "both"), lexical="bm25", steps=steps))
    assert {d.family: d for d in joined if d.family != "step"} == alone


def test_a_family_of_one_is_not_corrected_and_one_of_several_is():
    values, unit = encoders(["bm25", "m", "x", "y", "z"])
    rows = compared(values, unit, Roles(("m", "x", "y", "z"), lexical="bm25"))
    by_family = {}
    for row in rows:
        by_family.setdefault(row.family, []).append(row)
    (main,) = by_family["main"]
    assert main.p == main.p_holm
    assert main.pairs_in_family == 1
    assert {row.pairs_in_family for row in by_family["lexical"]} == {3}
    assert all(row.p_holm >= row.p for row in by_family["models"])


def test_steps_of_one_kind_on_one_base_are_a_family():
    values, unit = encoders(["m", "ivf", "hnsw", "m8"])
    steps = {"ivf": Step("index", ("m",)), "hnsw": Step("index", ("m",)), "m8": Step("int8", ("m",))}
    rows = compared(values, unit, Roles(("m", "ivf", "hnsw", "m8"), steps=steps))
    assert {row.a: row.pairs_in_family for row in rows} == {"ivf": 2, "hnsw": 2, "m8": 1}


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 5), st.booleans())
def test_no_interval_contradicts_its_p_and_none_leaves_the_range(seed, number, of_shares):
    rng = np.random.default_rng(seed)
    unit = rng.integers(0, 14, 30)
    values = {f"e{k}": rng.random(30) for k in range(number)}
    if of_shares:
        values = {name: np.rint(items) for name, items in values.items()}
    for row in compared(values, unit, Roles(tuple(values)), of_shares=of_shares):
        if row.p_holm is not None:
            assert (row.low <= 0 <= row.high) == (row.p_holm > 0.05)
            assert -1 <= row.low <= row.high <= 1


def test_identical_systems():
    values = {"a": np.tile([1.0, 0, 1], 20), "b": np.tile([1.0, 0, 1], 20)}
    (row,) = compared(values, np.arange(60))
    assert (row.difference, row.p, row.won, row.lost) == (0, 1, 0, 0)
    # Of single items n* = n: as far as 0 of 60 changed answers allow.
    z2 = 1.959964**2
    assert (row.low, row.high) == (pytest.approx(-z2 / (60 + z2)), pytest.approx(z2 / (60 + z2)))


def test_from_ten_items_that_differ_on_newcombe_s_interval_is_no_floor():
    def interval(differ):
        # Five of them are a's and the others b's; of 400 items, n* of which is 400.
        values = {"a": np.repeat([1.0, 0.0, 0.0], [5, differ - 5, 400 - differ])}
        values["b"] = np.repeat([0.0, 1.0, 0.0], [5, differ - 5, 400 - differ])
        (row,) = compared(values, np.arange(400))
        low, high = newcombe(values["a"] - values["b"], 400)
        return row.low == pytest.approx(low) and row.high == pytest.approx(high)

    assert interval(9)
    assert not interval(10)


def test_too_few_units_have_a_difference_and_counts_only():
    values = {"a": np.array([1.0, 1, 0] * 3), "b": np.array([0.0, 1, 1] * 3)}
    (row,) = compared(values, np.arange(9))
    assert (row.difference, row.won, row.lost, row.p, row.low) == (0, 3, 3, None, None)


def test_undefined_items_are_left_out_of_their_pairs():
    values = {"a": np.array([1.0, np.nan, 1, 0] * 10), "b": np.array([0.0, 1, 1, np.nan] * 10)}
    (row,) = compared(values, np.arange(40))
    assert (row.items, row.units, row.won, row.lost, row.difference) == (20, 20, 10, 0, 0.5)


def test_a_mean_over_folds_weighs_folds_alike():
    fold = np.array([0] * 10 + [1] * 30)
    values = {"a": np.array([1.0] * 5 + [0.0] * 35), "b": np.zeros(40)}
    (row,) = compared(values, np.arange(40), fold=fold)
    assert row.difference == pytest.approx(0.25)  # the mean of 5/10 and 0


def test_skewed_means_keep_their_correction():
    # Most units gain a little, and one loses much: an exchange of units alone would call this a gain.
    values = {"a": np.array([0.1] * 29 + [-1.0]), "b": np.zeros(30)}
    plain = compared(values, np.arange(30), of_shares=False, is_bounded=True)[0]
    skewed = compared(values, np.arange(30), of_shares=False, is_bounded=False)[0]
    assert skewed.p > plain.p


def test_an_interval_is_moved_to_agree_with_p():
    assert consistent_interval(0.01, 0.03, 0.02, 0.2) == (0.0, 0.03)
    assert consistent_interval(-0.03, -0.01, -0.02, 0.2) == (-0.03, 0.0)
    assert consistent_interval(-0.01, 0.05, 0.02, 0.01) == (JUST_ABOVE_0, 0.05)
    assert consistent_interval(-0.05, 0.01, -0.02, 0.01) == (-0.05, -JUST_ABOVE_0)
    assert consistent_interval(0.01, 0.03, 0.02, 0.01) == (0.01, 0.03)


# --- the best list ---------------------------------------------------------------------------------------


def verdict(a, b, difference, p):
    return Comparison(**vars(KEY), a=a, b=b, difference=difference, low=-1, high=1, p=p, p_holm=p)


def test_the_list_by_hand():
    differences = [verdict("a", "d", 0.2, 0.01), verdict("b", "d", 0.1, 0.2), verdict("c", "e", -0.1, 0.04)]
    values = {"a": 0.9, "b": 0.8, "c": 0.75, "d": 0.7, "e": 0.6}
    best = best_set(values, differences)
    # c is shown to be worse than e although its mean is higher, as on the items that both have: then b and a may be
    # the best, and e, lower than one that is out, is not.
    assert best == ("a", "b")


def test_a_system_as_high_as_one_that_is_out_may_be_the_best():
    assert best_set({"a": 0.8, "b": 0.8, "c": 0.7}, [verdict("b", "c", -0.1, 0.04)]) == ("a",)
    assert best_set({"a": 0.8, "b": 0.8, "c": 0.8}, [verdict("b", "c", -0.1, 0.04)]) == ("a", "c")
    assert rank_intervals("abc", [verdict("b", "c", -0.1, 0.04)]) == {"a": (1, 3), "b": (2, 3), "c": (1, 2)}


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000))
def test_no_member_of_the_list_is_shown_to_be_worse(seed):
    values, unit = encoders(["a", "b", "c", "d"], seed=seed, spread=0.3)
    rows = compared(values, unit, Roles(tuple(values)))
    means = {name: items.mean() for name, items in values.items()}
    best, out = best_set(means, rows), set(worse_systems(rows))
    assert not out.intersection(best)
    for row in rows:
        loser = row.b if row.difference > 0 else row.a
        assert loser in out or not row.is_significant
    assert max(means, key=means.get) in (*best, *out)
