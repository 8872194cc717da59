"""Tests of a check: outcomes in their order, direction, undefined items, correction, properties."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from comparison.columns import column
from embassay.comparison.differences import ColumnPair, losses
from embassay.core.types import Draws
from embassay.stats.gate import whole_points

DRAWS = Draws(0, 200)
ORDER = {"regression": 0, "inconclusive": 1, "pass": 2}


def pair(old, new, margin=0.02, set_by_user=False, sampled=False, lower_is_better=False, same_encoder=False, **changed):
    """Two columns of the same items; each is its own encoder unless it is said otherwise."""
    changed = {"lower": lower_is_better, **changed}
    before, after = column(old, **changed), column(new, fingerprint="m" if same_encoder else "n", **changed)
    return ColumnPair(before, after, "m", "q", margin, sampled, set_by_user=set_by_user)


def answers(lost, gained, items=60, **changed):
    """A pair of which some answers are lost and gained; of the others, half are right."""
    old, new = np.zeros(items), np.zeros(items)
    old[:lost], new[lost : lost + gained] = 1, 1
    old[lost + gained :: 2] = new[lost + gained :: 2] = 1
    return pair(old, new, **changed)


def by_default(one):
    """The pair at the margin that bless writes for a headline of 2 points."""
    return replace(one, margin=max(whole_points(one.resolution), 0.02))


def change_of(one, **options):
    (change,) = losses([one], DRAWS, **options)
    return change


# --- outcomes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lost", "gained", "reason", "limit", "p"),
    [
        (0, 0, "nothing lost", 0.049, 1),
        (4, 2, "within the margin", 0.122, 0.344),
        (2, 4, "within the margin", 0.053, 1),
        (5, 0, "significant", 0.167, 0.031),
        (5, 1, "not excluded", 0.155, 0.109),
        (16, 8, "above the margin", 0.277, 0.076),
    ],
)
def test_the_engineers_cases_at_the_default_margin(lost, gained, reason, limit, p):
    one = by_default(answers(lost, gained))
    change = change_of(one)
    assert (change.margin, change.reason) == (0.13, reason)
    assert (change.limit, change.p) == pytest.approx((limit, p), abs=5e-4)
    assert (len(change.lost), len(change.gained), change.items) == (lost, gained, 60)


@pytest.mark.parametrize("margin", [0.01, 0.02, 0.05, 0.13, 0.3, 0.6])
@pytest.mark.parametrize("set_by_user", [False, True])
def test_nothing_lost_is_never_worse_than_five_lost(margin, set_by_user):
    of_none, of_five = (change_of(answers(lost, 0, margin=margin, set_by_user=set_by_user)) for lost in (0, 5))
    assert ORDER[of_none.outcome] >= ORDER[of_five.outcome]
    assert of_none.reason == "nothing lost"


def test_a_significant_loss_passes_only_within_a_margin_of_the_user():
    assert change_of(answers(5, 0, margin=0.2, set_by_user=True)).reason == "significant within the margin"
    assert change_of(answers(5, 0, margin=0.2)).reason == "significant"
    assert change_of(answers(5, 0, margin=0.16, set_by_user=True)).reason == "significant"


def test_a_strict_check_excludes_a_loss_of_the_margin():
    nothing = answers(0, 0, margin=0.02, set_by_user=True)
    assert [change_of(nothing, strict=strict).outcome for strict in (False, True)] == ["pass", "inconclusive"]
    assert change_of(by_default(nothing), strict=True).outcome == "pass"


def test_a_loss_above_the_margin_is_a_regression_on_these_documents_only():
    many = by_default(answers(16, 8))
    assert change_of(replace(many, sampled=True)).reason == "not excluded"
    # A margin of the user below what 60 questions can rule out does not fail what these cannot tell from chance.
    assert change_of(answers(6, 3, margin=0.02, set_by_user=True)).reason == "not excluded"
    assert change_of(answers(16, 8, margin=0.2, set_by_user=True)).reason == "not excluded"
    # Exactly the margin is not above it.
    assert change_of(answers(40, 27, 100, margin=0.13)).reason == "not excluded"


def test_the_anchor_is_tested_at_half_the_level_and_never_inconclusive():
    p = change_of(answers(5, 0)).p
    since = replace(by_default(answers(5, 0)), since="the anchor of 2026-03-14")
    change = change_of(since)
    assert (change.p, change.reason, change.name) == (2 * p, "not significant", "q (anchor)")
    assert change_of(replace(by_default(answers(6, 0)), since="the anchor")).reason == "significant"
    assert change_of(replace(by_default(answers(16, 8)), since="the anchor")).reason == "above the margin"


def test_a_rise_is_a_loss_where_lower_is_better():
    change = change_of(answers(10, 60, 1000, lower_is_better=True))
    assert change.reason == "significant"
    assert (len(change.lost), len(change.gained)) == (60, 10)
    assert change.new > change.old


def test_a_right_answer_that_is_tied_with_a_wrong_one_is_lost():
    old, new = np.array([1.0, 0.5, 0.0, 1.0] + [1.0] * 36), np.array([0.5, 1.0, 0.5, 1.0] + [1.0] * 36)
    change = change_of(pair(old, new))
    assert (set(change.lost), set(change.gained)) == ({"i0"}, {"i1", "i2"})
    # With the other direction as well.
    change = change_of(pair(old, new, lower_is_better=True))
    assert (set(change.lost), set(change.gained)) == ({"i1", "i2"}, {"i0"})


def test_texts_stand_beside_the_ids():
    change = change_of(answers(2, 1), texts={"i0": "Where?", "i2": "When?"})
    assert change.lost == {"i0": "Where?", "i1": ""}
    assert change.gained == {"i2": "When?"}


def test_units_that_are_a_sample_may_be_lost_whole():
    one = answers(0, 0, 60, sampled=True, unit=np.arange(60) // 3)
    # 20 units of 3 items are as 20 items.
    assert change_of(one).limit == pytest.approx(1 - 0.05 ** (1 / 20))


# --- items without a value -------------------------------------------------------------------------------


def without_value(count, *, in_old=False, **changed):
    values = np.array([1.0] * 60 + [0.0] * 40)
    missing = np.where(np.arange(100) < count, np.nan, values)
    return pair(missing, values, **changed) if in_old else pair(values, missing, **changed)


def test_an_item_that_lost_its_value_is_lost():
    change = change_of(without_value(5))
    assert (change.undefined, change.new, len(change.lost), change.reason) == (5, 0.55, 5, "significant")
    lower = change_of(without_value(5, lower_is_better=True))
    assert (lower.new, len(lower.lost)) == (0.6, 0)


def test_more_than_one_in_twenty_without_a_value_is_a_regression():
    assert change_of(without_value(6, lower_is_better=True)).reason == "no value"
    assert change_of(without_value(6, margin=0.9, set_by_user=True)).reason == "no value"


def test_an_item_that_had_no_value_before_gains_nothing():
    change = change_of(without_value(50, in_old=True))
    assert (change.reason, change.items, change.old, change.new) == ("nothing lost", 100, 0.6, 0.6)


def test_an_item_without_a_value_in_either_run_is_left_out():
    one = without_value(4)
    change = change_of(replace(one, old=replace(one.new, fingerprint="m")))
    assert (change.items, change.undefined, change.reason) == (96, 0, "nothing lost")


def test_where_values_have_no_end_the_worst_that_was_seen_counts_and_nothing_passes():
    old = np.linspace(-1, 1, 100)
    new = np.where(np.arange(100) == 99, np.nan, old)
    one = pair(old, new, of_shares=False, ends=(None, None), margin=10.0)
    change = change_of(one)
    assert change.reason == "not excluded"
    assert one.gains[99] == -2
    assert change_of(pair(old, old, of_shares=False, ends=(None, None), margin=10.0)).reason == "nothing lost"


def test_nothing_defined_is_inconclusive():
    change = change_of(pair([np.nan] * 20, [np.nan] * 20))
    assert (change.outcome, change.limit, change.items, change.p) == ("inconclusive", None, 0, None)


# --- other metrics ---------------------------------------------------------------------------------------


def test_a_mean_in_a_narrow_range_may_lose_all_of_it():
    values = np.linspace(0.4, 0.6, 60)
    of_rr = pair(values, values, of_shares=False, ends=(0.0, 1.0))
    assert change_of(of_rr).limit == pytest.approx(1 - 0.05 ** (1 / 60))
    # Without an end, an item may lose one standard deviation, or what one has lost.
    endless = pair(values, values, of_shares=False, ends=(None, None))
    assert change_of(endless).limit == pytest.approx(values.std() * (1 - 0.05 ** (1 / 60)))
    one_lost = np.where(np.arange(60) == 0, -1, values)
    assert change_of(pair(values, one_lost, of_shares=False, ends=(None, None))).limit > 1.4 / 60


def test_a_mean_has_no_lost_items_and_no_regression_by_its_size():
    rng = np.random.default_rng(0)
    old = rng.normal(size=400)
    small, large = (
        change_of(pair(old, old + rng.normal(shift, 0.02, 400), of_shares=False, ends=(None, None)))
        for shift in (-0.001, -0.05)
    )
    assert (small.reason, large.reason, large.lost) == ("within the margin", "significant", {})
    wide = pair(old, old + rng.normal(-0.05, 1, 400), of_shares=False, ends=(None, None))
    assert change_of(wide).reason == "not excluded"


# --- several tests ---------------------------------------------------------------------------------------


def test_p_is_corrected_over_all_tests_changed_or_not():
    loss, others = answers(9, 1, 1000), [answers(5, 5, 1000)] * 3 + [answers(0, 0, 1000)]
    alone = change_of(loss)
    unchanged = answers(0, 0, 1000, same_encoder=True)
    first, *_, last = losses([loss, *others, unchanged], DRAWS)
    assert first.p == pytest.approx(5 * alone.p)
    assert (alone.outcome, first.outcome) == ("regression", "pass")
    # The same encoder with the same values is no test.
    assert (last.p, last.reason) == (None, "nothing lost")


@st.composite
def whole_checks(draw):
    """One to four metrics of the same items, and an item of one of them that can become better."""
    items, unit = draw(st.integers(4, 40)), None
    if draw(st.booleans()):
        unit = np.sort(np.array(draw(st.lists(st.integers(0, 9), min_size=items, max_size=items))))
    pairs = []
    for _ in range(draw(st.integers(1, 4))):
        values = st.lists(st.sampled_from([0.0, 0.0, 1 / 3, 1.0, 1.0]), min_size=items, max_size=items)
        more = {} if unit is None else {"unit": unit, "sampled": True}
        one = pair(draw(values), draw(values), **more)
        margin = draw(st.sampled_from([0.0, 0.02, 0.1, 0.3]))
        is_set = margin > 0 and draw(st.booleans())
        since = draw(st.sampled_from(["", "", "the anchor"]))
        one = replace(one, margin=margin, set_by_user=True) if is_set else by_default(one)
        pairs.append(replace(one, since=since))
    return pairs, draw(st.integers(0, len(pairs) - 1)), draw(st.integers(0, items - 1)), draw(st.booleans())


def worst(pairs, **options):
    return min(ORDER[change.outcome] for change in losses(pairs, DRAWS, **options))


def with_value(one, place, value):
    """The pair with another new value of an item; its margin stays."""
    values = one.new.value.copy()
    values[place] = value
    return replace(one, new=replace(one.new, value=values))


@given(whole_checks())
def test_a_better_item_never_makes_the_outcome_of_a_check_worse(check):
    pairs, which, place, strict = check
    assume(pairs[which].new.value[place] < 1)
    better = [with_value(one, place, 1.0) if one is pairs[which] else one for one in pairs]
    assert worst(better, strict=strict) >= worst(pairs, strict=strict)


@given(whole_checks())
def test_to_make_an_item_undefined_never_helps(check):
    pairs, which, place, strict = check
    without = [with_value(one, place, np.nan) if one is pairs[which] else one for one in pairs]
    assert worst(without, strict=strict) <= worst(pairs, strict=strict)


@given(st.integers(1, 300), st.lists(st.integers(1, 12), min_size=1, max_size=40), st.booleans())
def test_a_model_with_the_same_answers_passes_at_the_margin_of_bless(items, sizes, sampled):
    unit = np.repeat(np.arange(len(sizes)), sizes) if sampled else np.arange(items)
    one = by_default(answers(0, 0, len(unit), unit=unit, sampled=sampled))
    assert change_of(one, strict=True).reason == "nothing lost"
