"""Not worse: Tango's statistic by hand, its shrunk number of items, outcomes, notes, and the interval of means."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import norm, t

from embassay.stats.noninferiority import (
    DiscordantCounts,
    Headline,
    Z,
    design_effect,
    mean_not_worse,
    possible_margin,
    share_not_worse,
)
from embassay.types import Draws

DRAWS = Draws(0, 400)


def gaps_of(wins, losses, items):
    return np.array([1.0] * wins + [-1.0] * losses + [0.0] * (items - wins - losses))


def alone(number):
    return np.arange(number)


# --- the statistic ---------------------------------------------------------------------------------------


def test_z_is_the_quantile():
    assert norm.ppf(0.95) == pytest.approx(Z, abs=1e-12)


def test_the_statistic_where_nothing_differs_by_hand():
    # b = c = 0: q = m, the variance is n(2m − m(1 + m)) = n·m(1 − m), the excess n·m.
    assert DiscordantCounts(0, 0, 100).statistic(0.02) == pytest.approx(2 / (100 * 0.02 * 0.98) ** 0.5)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 20), st.integers(0, 20), st.integers(45, 400), st.floats(0.005, 0.3))
def test_the_statistic_is_the_score_at_the_most_likely_share_of_losses(wins, losses, items, margin):
    # Under the hypothesis the shares of wins and losses are q − m and q: the likelihood is largest at Tango's q.
    def minus_log_likelihood(q):
        shares = np.array([q - margin, q, 1 - 2 * q + margin])
        counts = np.array([wins, losses, items - wins - losses])
        return -float((counts * np.log(np.maximum(shares, 1e-300))).sum())

    ends = (margin + 1e-12, (1 + margin) / 2 - 1e-12)
    q = minimize_scalar(minus_log_likelihood, bounds=ends, method="bounded", options={"xatol": 1e-12}).x
    expected = (wins - losses + items * margin) / (items * (2 * q - margin - margin**2)) ** 0.5
    assert DiscordantCounts(wins, losses, items).statistic(margin) == pytest.approx(expected, rel=1e-3, abs=1e-3)


def test_the_statistic_grows_with_the_margin_and_the_smallest_margin_is_where_it_passes():
    counts = DiscordantCounts(10, 14, 500)
    statistics = [counts.statistic(m) for m in np.linspace(0.001, 0.5, 200)]
    assert (np.diff(statistics) > 0).all()
    smallest = counts.smallest_margin()
    assert counts.statistic(smallest) == pytest.approx(Z, abs=1e-3)
    assert counts.statistic(smallest - 1e-4) < Z < counts.statistic(smallest + 1e-4)


# --- the effective number --------------------------------------------------------------------------------


def test_items_of_their_own_lose_only_what_t_takes():
    gaps = gaps_of(20, 20, 400)
    assert design_effect(gaps, alone(400)) == pytest.approx((t.ppf(0.95, 399) / Z) ** 2)


def test_whole_units_that_differ_are_worth_one_item_each():
    gaps = np.repeat(gaps_of(10, 10, 60), 5)
    assert design_effect(gaps, np.repeat(alone(60), 5)) == pytest.approx(5 * (t.ppf(0.95, 59) / Z) ** 2)


def test_where_nothing_differs_units_are_taken_for_wholly_dependent():
    assert design_effect(np.zeros(300), np.repeat(alone(60), 5)) == pytest.approx(5 * (t.ppf(0.95, 59) / Z) ** 2)


def test_few_units_that_differ_shrink_the_effect_towards_dependence():
    # One item of each of k units differs: independent (1) but for the weight 3/(k + 3) of dependence (5).
    unit = np.repeat(alone(60), 5)
    for k in (1, 6, 30):
        gaps = np.zeros(300)
        gaps[5 * np.arange(k)] = np.where(np.arange(k) % 2, 1, -1)
        widening = (t.ppf(0.95, 59) / Z) ** 2
        effect = design_effect(gaps, unit) / widening
        weight = k / (k + 3)
        assert weight + 5 * (1 - weight) <= effect + 1e-9 <= 1.2 * weight + 5 * (1 - weight)


# --- outcomes --------------------------------------------------------------------------------------------


def test_equal_enough_answers_are_not_worse():
    found = share_not_worse(gaps_of(20, 20, 1500), alone(1500), 0.02)
    assert (found.outcome, found.difference, found.note) == ("not worse", 0, "")
    assert 0 < found.smallest_margin < 0.02


def test_a_significant_loss_is_worse_and_without_a_test_inconclusive():
    gaps = gaps_of(5, 60, 500)
    found = share_not_worse(gaps, alone(500), 0.02, p=0.001)
    assert (found.outcome, found.difference) == ("worse", pytest.approx(-0.11))
    assert share_not_worse(gaps, alone(500), 0.02, p=0.2).outcome == "inconclusive"
    assert share_not_worse(gaps, alone(500), 0.02).outcome == "inconclusive"


def test_a_significant_gain_is_no_loss():
    assert share_not_worse(gaps_of(60, 5, 500), alone(500), 0.02, p=0.001).outcome == "not worse"


def test_a_small_loss_that_is_significant_is_not_worse_and_named():
    found = share_not_worse(gaps_of(10, 50, 10_000), alone(10_000), 0.02, p=0.001)
    assert found.outcome == "not worse"
    assert found.note == "the loss of 0.4 points is significant and within the margin"


def test_few_units_can_hardly_pass_and_it_is_said():
    found = share_not_worse(gaps_of(1, 1, 70), alone(70), 0.02)
    assert found.outcome == "inconclusive"
    # 2.486² · (2/70)/0.02² = 442 independent items, and t takes 2.7 % of 70: 454 units.
    assert (found.units_needed, found.note) == (
        460,
        "with 70 units this test can hardly pass at 2 points even where nothing is lost; it takes about 460 units",
    )
    assert found.smallest_margin > 0.02
    # Where next to nothing differs, fewer would do; below 300 the test has little power all the same.
    assert share_not_worse(gaps_of(0, 0, 70), alone(70), 0.02).units_needed == 300
    # A larger margin takes fewer units.
    assert "it takes about" not in share_not_worse(gaps_of(8, 20, 70), alone(70), 0.1).note


def test_what_a_verdict_takes_is_told_by_the_items_that_differ():
    found = share_not_worse(gaps_of(30, 45, 400), alone(400), 0.02)
    # 2.486² · (75/400)/0.02² = 2,898, and t takes 0.2 % of 400.
    assert (found.outcome, found.units_needed) == ("inconclusive", 3000)
    assert found.note == "to rule out a loss of 2 points takes about 3,000 units like these; there are 400"
    # Units enough: what is in the way is the loss.
    enough = share_not_worse(gaps_of(20, 40, 4000), alone(4000), 0.006)
    assert (enough.outcome, enough.note) == ("inconclusive", "")


@pytest.mark.parametrize(("of_shares", "seed"), [(True, 1), (False, 2)])
def test_with_the_units_that_it_takes_the_test_passes_in_about_four_cases_of_five(of_shares, seed):
    rng, margin = np.random.default_rng(seed), 0.02

    def judged(units):
        if of_shares:
            gaps = rng.choice([-1.0, 0.0, 1.0], size=units, p=[0.05, 0.9, 0.05])
            return share_not_worse(gaps, alone(units), margin)
        return mean_not_worse(rng.normal(0, 0.2, units), alone(units), margin, Draws(0, 200), "test")

    needed = judged(400).units_needed
    passed = np.mean([judged(needed).outcome == "not worse" for _ in range(300)])
    # The number is told from 400 units, whose variance is itself unsure.
    assert 0.6 < passed < 0.95


def test_under_ten_units_there_is_no_verdict():
    found = share_not_worse(gaps_of(0, 0, 900), np.repeat(alone(9), 100), 0.5, p=0.001)
    assert (found.outcome, found.note) == ("inconclusive", "9 units are too few for a verdict; that takes 10")


def test_the_same_encoder_with_the_same_answers_passes_without_a_test():
    found = share_not_worse(np.zeros(40), alone(40), 0.02, same_encoder=True)
    assert (found.outcome, found.note, found.difference) == ("not worse", "nothing changed", 0)
    # n·m/(1 − m) = z² decides: the smallest margin that would have passed.
    worth = 40 / (t.ppf(0.95, 39) / Z) ** 2
    assert found.smallest_margin == pytest.approx(Z**2 / (worth + Z**2), abs=1e-5)
    other = share_not_worse(np.zeros(40), alone(40), 0.02)
    assert other.outcome == "inconclusive", "another encoder that happens to answer alike is tested"
    changed = share_not_worse(gaps_of(1, 1, 40), alone(40), 0.02, same_encoder=True)
    assert changed.outcome == "inconclusive"
    lost = np.where(np.arange(40) == 3, np.nan, 0.0)
    assert share_not_worse(lost, alone(40), 0.02, same_encoder=True).note != "nothing changed"


def test_a_headline_tests_two_of_its_encoders():
    old, new = gaps_of(30, 0, 1500), gaps_of(0, 0, 1500)
    values = {"old": old, "new": new}
    shares = Headline("accuracy", 0.02, values, alone(1500), ("test",))
    assert shares.not_worse("new", "old", DRAWS, p=0.01) == share_not_worse(new - old, alone(1500), 0.02, p=0.01)
    means = Headline("contrast", 0.01, values, alone(1500), ("test",), of_shares=False)
    assert means.not_worse("old", "new", DRAWS) == mean_not_worse(old - new, alone(1500), 0.01, DRAWS, "test")


def test_undefined_items_are_left_out():
    gaps = np.concatenate([gaps_of(20, 20, 1500), np.full(100, np.nan)])
    assert share_not_worse(gaps, alone(1600), 0.02) == share_not_worse(gaps[:1500], alone(1500), 0.02)
    found = share_not_worse(np.full(30, np.nan), alone(30), 0.02)
    assert (found.outcome, found.difference, found.note) == ("inconclusive", None, "no item is defined for both")


# --- means -----------------------------------------------------------------------------------------------


def test_a_mean_passes_where_its_one_sided_interval_ends_above_minus_the_margin():
    gaps = np.random.default_rng(0).normal(0, 0.1, 400)
    gaps -= gaps.mean()
    found = mean_not_worse(gaps, alone(400), 0.02, DRAWS, "test")
    # The one-sided limit of a mean of 0: −1.645 · 0.1/√400 = −.0082.
    assert found.smallest_margin == pytest.approx(0.0082, abs=0.001)
    assert found.outcome == "not worse"
    unsure = mean_not_worse(gaps, alone(400), 0.005, DRAWS, "test")
    # (2.486 · 0.1/0.005)² = 2,473.
    assert (unsure.outcome, unsure.units_needed) == ("inconclusive", 2500)
    assert unsure.note == "to rule out a loss of 0.005 takes about 2,500 units like these; there are 400"
    small = mean_not_worse(gaps - 0.01, alone(400), 0.02, DRAWS, "test", p=0.04)
    assert (small.outcome, small.note) == ("not worse", "the loss of 0.01 is significant and within the margin")
    assert mean_not_worse(gaps - 0.05, alone(400), 0.02, DRAWS, "test", p=0.001).outcome == "worse"


def test_means_that_are_equal_item_by_item_are_not_worse():
    found = mean_not_worse(np.zeros(50), alone(50), 0.01, DRAWS, "test", same_encoder=True)
    assert (found.outcome, found.note, found.smallest_margin) == ("not worse", "nothing changed", 0)


def test_a_mean_of_nothing_is_inconclusive():
    assert mean_not_worse(np.full(30, np.nan), alone(30), 0.01, DRAWS, "test").outcome == "inconclusive"


def test_one_more_unit_counts_as_lost_with_the_size_of_the_unit_of_a_random_item():
    counts = DiscordantCounts.of(np.zeros(11), np.array([0, 1, *[2] * 9]))
    one_more = (1 + 1 + 81) / 11 - 1
    assert counts.losses / counts.items == pytest.approx(one_more / (11 + one_more))


def test_an_equally_good_model_passes_the_possible_margin_in_about_four_of_five_samples():
    rng, unit, repeats = np.random.default_rng(3), np.arange(400), 300
    margin = possible_margin(unit)
    passed = 0
    for _ in range(repeats):
        position = rng.random(len(unit))
        gaps = np.where(position < 0.05, -1.0, np.where(position > 0.95, 1.0, 0.0))
        passed += share_not_worse(gaps, unit, margin).outcome == "not worse"
    assert 0.7 < passed / repeats < 0.9
