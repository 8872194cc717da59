"""Decisions between candidates, by hand and by property."""

from __future__ import annotations

import doctest
import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from embassay.stats import decide as module
from embassay.stats.decide import Shortlist

UNKNOWN = math.inf
FAR = 0.05


def decide(values, worse_than, costs, *, accept):
    """Return the decision where 5 points are far."""
    return module.decide(values, worse_than, costs, accept=accept, far=FAR)


def costs_in_order(*names):
    """Return costs by which the first name is the cheapest."""
    return {name: (1, float(place)) for place, name in enumerate(names)}


# --- by hand ---------------------------------------------------------------------------------------------


def test_the_cheapest_within_the_accepted_loss_is_used_and_the_highest_is_named():
    choice = decide({"a": 0.85, "b": 0.87}, {}, costs_in_order("a", "b"), accept=0.02)
    assert choice == Shortlist("a", "b", ("b",), {})


def test_a_loss_of_exactly_what_is_accepted_is_accepted():
    # 0.87 − 0.85 is above 0.02 in floating point.
    assert 0.87 - 0.85 > 0.02
    assert decide({"a": 0.85, "b": 0.87}, {}, costs_in_order("a", "b"), accept=0.02).use == "a"


def test_a_small_loss_that_a_test_shows_is_not_accepted():
    choice = decide({"a": 0.86, "b": 0.87}, {"a": ["b"]}, costs_in_order("a", "b"), accept=0.02)
    assert choice == Shortlist("b", "b", (), {"a": "b"})


def test_a_cheaper_one_that_loses_more_is_an_alternative_up_to_5_points():
    values = {"near": 0.82, "far": 0.81, "best": 0.87}
    choice = decide(values, {}, costs_in_order("near", "far", "best"), accept=0.02)
    assert choice == Shortlist("best", "best", ("near",), {"far": None})


def test_at_most_two_alternatives_each_cheaper_than_the_one_before():
    values = {"c1": 0.841, "c2": 0.843, "dominated": 0.842, "c3": 0.845, "best": 0.87}
    costs = costs_in_order("c1", "c2", "dominated", "c3", "best")
    # c3 and c2 have the highest values; "dominated" is cheaper than c3, but c2 is cheaper and higher.
    assert decide(values, {}, costs, accept=0.02).others == ("c3", "c2")


def test_the_rejected_are_shown_beside_use_then_beside_the_highest():
    values = {"used": 0.86, "bad": 0.6, "worse": 0.5, "worst": 0.4, "highest": 0.87}
    costs = costs_in_order(*values)
    worse_than = {"bad": ["highest", "used"], "worse": ["bad", "highest"], "worst": ["worse", "bad"]}
    assert decide(values, worse_than, costs, accept=0.02).rejected == {
        "bad": "used",
        "worse": "highest",
        "worst": "bad",
    }


def test_parts_count_more_than_time_and_time_more_than_bytes():
    values = {"fusion": 0.9, "slow": 0.9, "large": 0.9}
    costs = {"fusion": (2, 1.0, 1.0), "slow": (1, 20.0, 1.0), "large": (1, 10.0, 100.0)}
    assert decide(values, {}, costs, accept=0.02).use == "large"


def test_of_equal_costs_the_higher_value_is_used_then_the_first():
    same = {"a": (1, 1.0), "b": (1, 1.0), "c": (1, 1.0)}
    assert decide({"a": 0.86, "b": 0.87, "c": 0.87}, {}, same, accept=0.02) == Shortlist("b", "b", (), {})


def test_an_unknown_time_is_never_the_shorter_one():
    costs = {"unknown": (1, UNKNOWN, 1.0), "known": (1, 900.0, 100.0)}
    assert decide({"unknown": 0.9, "known": 0.9}, {}, costs, accept=0.02).use == "known"
    # Where both are unknown, bytes decide.
    costs = {"small": (1, UNKNOWN, 1.0), "large": (1, UNKNOWN, 100.0)}
    assert decide({"large": 0.9, "small": 0.9}, {}, costs, accept=0.02).use == "small"


def test_verdicts_that_go_in_a_circle_reject_nothing():
    worse_than = {"a": ["b"], "b": ["a"]}
    assert decide({"a": 0.86, "b": 0.87}, worse_than, costs_in_order("a", "b"), accept=0.02) == Shortlist(
        "a", "b", ("b",), {}
    )


def test_one_candidate_is_used_whatever_it_is_worse_than_outside():
    assert decide({"a": 0.1}, {"a": ["bm25"]}, {"a": (1,)}, accept=0.02) == Shortlist("a", "a", (), {})


def test_the_examples_of_the_documentation():
    assert doctest.testmod(module).failed == 0


# --- by property -----------------------------------------------------------------------------------------

NAMES = ("a", "b", "c", "d", "e")
NUMBERS = st.integers(0, 30).map(lambda points: 0.6 + points / 100)
COSTS = st.tuples(st.integers(1, 2), st.sampled_from([1.0, 2.0, 5.0, UNKNOWN]), st.sampled_from([1.0, 2.0, UNKNOWN]))


@st.composite
def cases(draw):
    """Return the arguments of a decision whose verdicts agree with the values."""
    names = draw(st.permutations(NAMES))[: draw(st.integers(1, 5))]
    values = {name: draw(NUMBERS) for name in names}
    worse_than = {
        name: {other for other in names if values[name] < values[other] and draw(st.booleans())} for name in names
    }
    costs = {name: draw(COSTS) for name in names}
    return values, worse_than, costs, draw(st.sampled_from([0.0, 0.02, 0.05, 0.12]))


def decided(case, **changes):
    """Return the decision of a case in which some arguments are changed."""
    values, worse_than, costs, accept = case
    arguments = {"values": values, "worse_than": worse_than, "costs": costs, "accept": accept} | changes
    return decide(arguments["values"], arguments["worse_than"], arguments["costs"], accept=arguments["accept"])


@given(cases())
def test_the_decision_is_what_its_definition_says(case):
    values, worse_than, costs, accept = case
    choice = decided(case)
    assert choice.highest == max(values, key=values.get)
    loss = {name: round(values[choice.highest] - values[name], 9) for name in values}
    for name in values:
        is_out = bool(worse_than[name])
        is_far = loss[name] > max(FAR, accept)
        assert (name in choice.rejected) == (is_out or is_far)
        if not is_out and loss[name] <= accept:
            assert costs[choice.use] <= costs[name]
        if is_out:
            assert choice.rejected[name] in worse_than[name]


@given(cases())
def test_use_others_and_rejected_do_not_overlap(case):
    choice = decided(case)
    named = (choice.use, *choice.others, *choice.rejected)
    assert len(set(named)) == len(named)
    cheaper = [name for name in choice.others if name != choice.highest]
    assert len(cheaper) <= 2
    assert (choice.highest == choice.use) or choice.others[-1] == choice.highest


@given(cases())
def test_each_alternative_is_cheaper_than_what_stands_before_it(case):
    values, _, costs, _ = case
    choice = decided(case)
    cheaper = [choice.use, *(name for name in choice.others if name != choice.highest)]
    for before, after in pairwise(cheaper):
        assert costs[after] < costs[before]
        assert values[after] <= values[before]


@given(cases())
def test_a_larger_accepted_loss_never_costs_more(case):
    used = [case[2][decided(case, accept=accept).use] for accept in (0.0, 0.01, 0.02, 0.05, 0.2)]
    assert used == sorted(used, reverse=True)
