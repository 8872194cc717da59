"""Tests of losses: outcomes, direction, undefined items, Holm's correction, units needed."""

import numpy as np
import pytest

from embassay.comparison.losses import PairedMetric, changes_of, units_to_detect
from embassay.stats.detectable import Precision
from embassay.stats.noninferiority import Correlated, share_not_worse
from embassay.types import Draws

DRAWS = Draws(0, 200)


def pair(old, new, unit=None, **changed):
    old, new = np.array(old, dtype=float), np.array(new, dtype=float)
    unit = np.arange(len(old)) if unit is None else unit
    options = {"margin": 0.02, "stream": ("test",), **changed}
    item = np.array([f"i{place}" for place in range(len(old))])
    return PairedMetric("m", "d", "c", "q", old=old, new=new, unit=unit, item=item, **options)


def shares(right_in_both, lost, gained, wrong, **changed):
    old = [1] * right_in_both + [1] * lost + [0] * gained + [0] * wrong
    new = [1] * right_in_both + [0] * lost + [1] * gained + [0] * wrong
    return pair(old, new, **changed)


def change_of(one, draws=DRAWS):
    (change,) = changes_of([one], draws)
    return change


def test_a_small_change_on_many_items_passes():
    change = change_of(shares(900, 4, 4, 92))
    assert change.outcome == "pass"
    assert (change.old, change.new, change.change) == (0.904, 0.904, 0)
    assert change.lost == ("i900", "i901", "i902", "i903")
    assert change.gained == ("i904", "i905", "i906", "i907")


def test_a_large_loss_is_a_regression():
    change = change_of(shares(800, 60, 10, 130))
    assert change.outcome == "regression"
    assert change.loss == pytest.approx(0.05)
    assert change.p < 0.001


def test_few_items_are_inconclusive_and_say_how_many_units_equal_encoders_need():
    change = change_of(shares(80, 3, 3, 14))
    assert change.outcome == "inconclusive"
    # 80 % power to rule out 2 points without a loss: 2.4865²·0.06/0.02² = 927 items.
    assert change.units_needed == pytest.approx(927, abs=30)
    # The number of a comparison, whatever the observed loss.
    gaps = np.repeat([0.0, -1, 1], (20, 2, 1))
    needed = share_not_worse(gaps, np.arange(23), 0.02).units_needed
    assert change_of(shares(18, 2, 1, 2)).units_needed == needed > 500


def test_a_significant_loss_within_the_margin_passes():
    change = change_of(shares(4000, 20, 4, 976, margin=0.01))
    assert change.outcome == "pass"
    assert change.loss_is_significant


def test_under_ten_units_there_is_no_verdict():
    change = change_of(shares(0, 9, 0, 0))
    assert (change.outcome, change.p, change.low) == ("inconclusive", None, None)


def test_a_rise_is_a_loss_where_lower_is_better():
    change = change_of(shares(130, 10, 60, 800, lower_is_better=True))
    assert change.outcome == "regression"
    assert change.change == pytest.approx(0.05) == change.loss
    assert change.low <= change.change <= change.high
    assert (change.old, change.new) == (0.14, 0.19)
    assert len(change.lost) == 60


def test_an_item_that_only_the_new_encoder_leaves_undefined_is_lost():
    old = [1.0] * 900 + [0.0] * 100
    new = [np.nan] * 60 + [1.0] * 840 + [0.0] * 100
    change = change_of(pair(old, new))
    assert change.outcome == "regression"
    assert (change.undefined, change.undefined_as, change.new) == (60, 0.0, 0.84)
    lower = change_of(pair(old, new, lower_is_better=True))
    assert (lower.undefined_as, lower.new) == (1.0, 0.9)


def test_nothing_defined_is_inconclusive():
    change = change_of(pair([np.nan] * 20, [np.nan] * 20))
    assert (change.outcome, change.change, change.items) == ("inconclusive", None, 0)


def test_the_same_encoder_with_the_same_values_needs_no_test():
    values = [1.0, 0.0] * 3
    change = change_of(pair(values, values, same_encoder=True))
    assert (change.outcome, change.unchanged) == ("pass", True)
    assert change_of(pair(values, values)).outcome == "inconclusive"


def test_p_is_corrected_over_all_tests_that_were_made():
    loss = shares(900, 9, 1, 90, margin=0.001)
    alone = change_of(loss)
    others = [shares(900, 5, 5, 90) for _ in range(3)]
    unchanged = pair([1.0, 0.0] * 50, [1.0, 0.0] * 50, same_encoder=True)
    first, *_ = changes_of([loss, *others, unchanged], DRAWS)
    assert first.p == pytest.approx(4 * alone.p)
    assert first.tests == 4
    assert first.smallest_loss > alone.smallest_loss
    assert (alone.outcome, first.outcome) == ("regression", "inconclusive")


def test_a_mean_is_tested_by_its_interval():
    rng = np.random.default_rng(0)
    old = rng.normal(size=400)
    small = change_of(pair(old, old + rng.normal(-0.001, 0.02, 400), of_shares=False))
    large = change_of(pair(old, old + rng.normal(-0.05, 0.02, 400), of_shares=False))
    assert (small.outcome, large.outcome) == ("pass", "regression")
    assert large.lost == ()


def test_a_correlation_is_tested_on_its_own_figures():
    rng = np.random.default_rng(1)
    human = rng.normal(size=300)
    good, bad = human + rng.normal(0, 0.3, 300), human + rng.normal(0, 2, 300)
    correlated = Correlated(human, {"old": good, "new": bad}, "spearman")
    influences = human * 0 + 0.5
    change = change_of(pair(influences, influences - 0.4, of_shares=False, correlated=correlated))
    assert change.old == pytest.approx(0.95, abs=0.03)
    assert change.outcome == "regression"
    assert change.change == pytest.approx(change.new - change.old, abs=1e-6)


def test_a_drawn_p_is_settled_at_the_level_of_the_whole_check():
    # 40 units with real gaps: p is drawn. With 10 tests it is compared with levels down to 0.5 %.
    rng = np.random.default_rng(3)
    old = rng.normal(size=40)
    loss = pair(old, old + rng.normal(-0.5, 1.0, 40), of_shares=False)
    other = pair(old, old + rng.normal(0, 1.0, 40), of_shares=False)
    first, *_ = changes_of([loss] + [other] * 9, DRAWS)
    alone = change_of(loss)
    assert first.p == pytest.approx(10 * alone.p, rel=0.2)


@pytest.mark.parametrize("tests", [1, 9])
def test_units_to_detect_is_about_where_the_detectable_loss_is_the_loss(tests):
    precision = Precision(error=0.01, effective_items=None, units=5000, items=5000, tests=tests)
    at_eighty = precision.minimum_detectable_difference
    assert units_to_detect(precision, at_eighty) == pytest.approx(5000, rel=0.01)
    assert units_to_detect(precision, at_eighty, power=0.95) > 6000
    assert units_to_detect(precision, 0.5, power=0.5) < 100
    assert units_to_detect(Precision(1e-6, None, 500, 500, tests), 0.5) == 10


def test_units_to_detect_a_loss_of_a_share_by_hand():
    # 10 % of the items differ: at n items 1.960·√((0.1 + 0.0016)/n) + 1.645·√(0.1/n) + 2/n = 0.04.
    precision = Precision(error=(0.1 / 1000) ** 0.5, effective_items=1000.0, units=1000, items=1000)
    units = units_to_detect(precision, 0.04, power=0.95)
    assert 1.960 * (0.1016 / units) ** 0.5 + 1.645 * (0.1 / units) ** 0.5 + 2 / units == pytest.approx(0.04, abs=1e-4)
    # Where old and new hardly differ, a loss of 4 points makes them differ by 4 points at least.
    still = Precision(error=1e-9, effective_items=1000.0, units=1000, items=1000)
    assert units_to_detect(still, 0.04, power=0.95) > 3.605**2 * 0.96 / 0.04
