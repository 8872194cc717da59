"""The limit of a loss, the resolution of a test set and the p of a loss: by hand, exact cases, properties, chance."""

from time import perf_counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom, norm

from embassay.core.randomness import generator
from embassay.core.types import Draws
from embassay.stats.gate import Groups, loss_limit, loss_p, most_lost, resolution, whole_points
from embassay.stats.units import effective_units

DRAWS = Draws(0, 1)


def singles(lost, gained, items):
    """Gains of single items, and their units."""
    gains = np.zeros(items)
    gains[:lost], gains[lost : lost + gained] = -1, 1
    return gains, np.arange(items)


@st.composite
def checks(draw, gains=(-1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 1.0)):
    """Gains in units of up to 12 items, and a place in them."""
    sizes = draw(st.lists(st.integers(1, 12), min_size=1, max_size=30))
    unit = np.repeat(np.arange(len(sizes)), sizes)
    values = draw(st.lists(st.sampled_from(gains), min_size=len(unit), max_size=len(unit)))
    return np.array(values), unit, draw(st.integers(0, len(unit) - 1))


# --- the limit -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lost", "gained", "limit"),
    # Made by an independent implementation: the integral at 700 points, and bisection.
    [(0, 0, 4.87), (4, 2, 12.19), (2, 4, 5.31), (5, 0, 16.73), (5, 1, 15.52), (6, 3, 15.11)],
)
def test_the_limits_of_sixty_questions(lost, gained, limit):
    assert 100 * loss_limit(*singles(lost, gained, 60)) == pytest.approx(limit, abs=0.005)


@given(st.integers(1, 2000), st.data())
def test_single_items_without_gains_have_the_limit_of_clopper_and_pearson(items, data):
    lost = data.draw(st.integers(0, items))
    expected = 1.0 if lost == items else beta.ppf(0.95, lost + 1, items - lost)
    assert loss_limit(*singles(lost, 0, items)) == pytest.approx(expected, abs=1e-6)


@given(checks(), st.sampled_from([0.02, 0.05, 0.1, 0.2, 0.4, 0.9]))
def test_a_margin_passes_exactly_where_so_large_a_loss_has_a_probability_of_5_percent(check, margin):
    gains, unit, _ = check
    sums, sizes = np.bincount(unit, gains), np.bincount(unit).astype(float)
    added = float((sizes**2).sum() / sizes.sum())
    probability = Groups(-sums, sizes, np.ones(len(sizes)), added, 1.0).probability(margin)
    limit = loss_limit(gains, unit)
    assert limit >= -gains.mean() - 1e-9
    if abs(limit - margin) > 1e-6 and margin >= -gains.mean():
        assert (limit <= margin) == (probability <= 0.05)


@pytest.mark.parametrize("margin", [0.05, 0.15, 0.3])
def test_the_integral_is_the_share_of_random_weights(margin):
    rng = np.random.default_rng(0)
    loss, size = np.array([2.0, 1.0, 0.0, -1.0, 0.0]), np.array([3.0, 1.0, 4.0, 2.0, 1.0])
    groups = Groups(loss, size, np.array([1.0, 2.0, 5.0, 1.0, 8.0]), 2.5, 1.0)
    each = np.repeat(np.arange(5), groups.count.astype(int))
    weights = rng.exponential(size=(200_000, len(each) + 1))
    lost = weights @ np.append(loss[each], 2.5)
    of = weights @ np.append(size[each], 2.5)
    assert groups.probability(margin) == pytest.approx((lost / of >= margin).mean(), abs=0.004)


@given(checks())
def test_a_better_item_never_raises_the_limit_or_lowers_the_p(check):
    gains, unit, place = check
    better = gains.copy()
    better[place] += 1
    assert loss_limit(better, unit) <= loss_limit(gains, unit) + 1e-6
    assert loss_p(better, unit, DRAWS) >= loss_p(gains, unit, DRAWS) - 1e-12


@given(checks(gains=(-0.71, -0.13, 0.0, 0.29, 0.5003)), st.floats(0.001, 1))
def test_nor_does_a_better_item_of_a_mean(check, gain):
    gains, unit, place = check
    better = gains.copy()
    better[place] += gain
    spread = most_lost(np.array([0.0, 1.0]), None)
    assert loss_limit(better, unit, spread) <= loss_limit(gains, unit, spread) + 1e-6
    assert loss_p(better, unit, DRAWS) >= loss_p(gains, unit, DRAWS) - 1e-12


def test_the_largest_loss_that_was_seen_counts_where_it_is_larger():
    gains = np.array([-3.0] + [0.0] * 59)
    unit = np.arange(60)
    assert loss_limit(gains, unit, most=0.1) == loss_limit(gains, unit, most=3.0)
    assert loss_limit(gains, unit, most=3.0) == pytest.approx(3 * loss_limit(gains / 3, unit))
    assert most_lost(np.array([0.0, 2.0]), None) == 1
    assert most_lost(np.array([0.0, 2.0]), 0.5) == 0.5


def test_what_does_not_vary_loses_nothing():
    assert loss_limit(np.zeros(30), np.arange(30), most_lost(np.full(30, 0.5), None)) == 0


def test_five_thousand_unlike_items_take_a_moment():
    gains, unit = np.random.default_rng(0).normal(0, 0.2, 5000), np.arange(5000)
    start = perf_counter()
    assert 0 < loss_limit(gains, unit) < 0.02
    assert perf_counter() - start < 5


# --- the resolution --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("items", "points"), [(40, 16), (60, 13), (100, 10), (200, 7), (300, 5), (1000, 3), (1650, 2), (2000, 2)]
)
def test_what_a_test_set_can_rule_out(items, points):
    assert whole_points(resolution(np.arange(items))) == points / 100


def test_more_questions_never_rule_out_less():
    resolutions = [resolution(np.arange(items)) for items in range(1, 400)]
    assert resolutions == sorted(resolutions, reverse=True)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=200))
def test_where_no_answer_changes_the_margin_of_bless_is_kept(sizes):
    unit = np.repeat(np.arange(len(sizes)), sizes)
    margin = whole_points(resolution(unit))
    assert loss_limit(np.zeros(len(unit)), unit) <= margin
    # Units count as Kish's effective number of them, never as more than that.
    assert resolution(unit) >= resolution(np.arange(int(effective_units(np.array(sizes, dtype=float))) + 1)) - 1e-9


def test_a_whole_point_stays_one():
    assert [whole_points(loss) for loss in (0.02, 0.13 + 1e-15, 0.1301, 0.29)] == [0.02, 0.13, 0.14, 0.29]


@pytest.mark.parametrize(("margin", "items"), [(0.1, 85), (0.05, 291), (0.02, 1650)])
def test_questions_for_a_margin(margin, items):
    assert resolution(np.arange(items)) <= margin < resolution(np.arange(items - 1))


# --- the p -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("lost", "gained"), [(5, 0), (5, 1), (16, 8), (60, 10), (3, 0)])
def test_the_p_of_single_answers_is_that_of_the_binomial_distribution(lost, gained):
    expected = binom.cdf(gained, lost + gained, 0.5)
    assert loss_p(*singles(lost, gained, 200), DRAWS) == pytest.approx(expected, rel=1e-12)


def test_what_is_no_loss_on_balance_has_a_p_of_1():
    assert loss_p(*singles(4, 4, 20), DRAWS) == loss_p(*singles(0, 0, 20), DRAWS) == 1


@given(checks(gains=(-1.0, -0.5, 0.0, 0.25, 1.0)))
def test_the_p_is_the_share_of_all_exchanges(check):
    gains, unit, _ = check
    sums = np.bincount(unit, gains)
    sums = sums[sums != 0][:12]
    signs = 2 * ((np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums))) & 1) - 1
    expected = ((signs * np.abs(sums)).sum(axis=1) <= sums.sum() + 1e-9).mean()
    if sums.sum() < 0:
        assert loss_p(sums, np.arange(len(sums)), DRAWS) == pytest.approx(expected, rel=1e-9)


def test_unlike_gains_have_the_p_of_9_999_random_halves():
    gains = np.random.default_rng(0).normal(-0.01, 1, 40)
    halves = generator(0, "halves", "a").integers(0, 2, (9_999, 40), dtype=np.int8)
    expected = (1 + np.count_nonzero(halves @ gains >= 0)) / 10_000
    assert loss_p(gains, np.arange(40), DRAWS, "a") == expected


def test_many_unlike_gains_are_drawn_close_to_the_exact_p():
    rng = np.random.default_rng(1)
    gains = rng.normal(-0.03, 0.2, 200)
    p = loss_p(gains, np.arange(200), DRAWS, "a")
    # The normal approximation is close for so many.
    expected = norm.cdf(gains.sum() / np.sqrt((gains**2).sum()))
    assert p == pytest.approx(expected, abs=4 * np.sqrt(expected / 9999) + 0.003)
    assert p == loss_p(gains, np.arange(200), DRAWS, "a")


def test_the_smallest_p_of_random_halves():
    # Everything is lost, so that no half of 60 units exchanged loses as much.
    gains = -np.random.default_rng(1).uniform(0.1, 0.2, 60)
    assert loss_p(gains, np.arange(60), DRAWS) == 1 / 10_000
