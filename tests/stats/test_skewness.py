"""Johnson's correction of means and their tests for skewness."""

import numpy as np
import pytest
from scipy import stats

from embassay.stats.best import rank_means
from embassay.stats.families import Roles, compare_means
from embassay.stats.skewness import asymmetry, corrected_p, corrected_t, longer_tails
from embassay.types import Draws

FEW_LOSSES = np.array([0.5] * 27 + [-1.0, -2.0, -4.0])
UNIT = np.arange(30)


def test_asymmetry_is_the_skewness_over_6_root_n():
    values = FEW_LOSSES - FEW_LOSSES.mean()
    assert asymmetry(values) == pytest.approx(stats.skew(values) / (6 * 30**0.5))
    assert asymmetry(np.zeros(4)) == 0


def test_johnsons_t_by_hand():
    # 2 − 0.1·(1 + 2·4) = 1.1; −2 − 0.9 is further from 0, and 0.5 − 1.0·(1 + 0.5) would be beyond it.
    assert corrected_t(np.array([2.0, -2.0, 0.5, 3.0]), np.array([-0.1, -0.1, -1.0, 0.0])) == pytest.approx(
        [1.1, -2.0, 0.0, 3.0]
    )


def test_the_p_is_that_of_the_corrected_t_over_units():
    t, _ = stats.ttest_1samp(FEW_LOSSES, 0)
    a = stats.skew(FEW_LOSSES) / (6 * 30**0.5)
    wanted = 2 * stats.t.sf(abs(t + a * (1 + 2 * t * t)), 29)
    assert corrected_p(FEW_LOSSES, UNIT) == pytest.approx(wanted)
    # In units of two equal items the items change nothing.
    assert corrected_p(np.repeat(FEW_LOSSES, 2), np.repeat(UNIT, 2)) == pytest.approx(wanted)
    # Few large losses make a loss no less sure, and what does not vary has no correction.
    assert corrected_p(FEW_LOSSES - 1, UNIT) == 0
    assert corrected_p(np.ones(30), UNIT) == 0


def test_only_the_end_of_the_long_tail_moves():
    low, high = longer_tails(np.stack([FEW_LOSSES, -FEW_LOSSES], axis=1), np.ones((30, 2)))
    error = stats.sem(FEW_LOSSES)
    move = error * stats.skew(FEW_LOSSES) / (6 * 30**0.5) * (2 + stats.norm.ppf(0.975) ** 2)
    assert low == pytest.approx([move, 0])
    assert high == pytest.approx([0, -move])


def test_few_large_losses_make_a_small_gain_no_longer_better():
    gaps = np.array([0.5] * 40 + [-1.0, -2.0, -4.0])
    unit = np.arange(43)
    values = {"old": np.zeros(43), "new": gaps}
    (found,) = compare_means(values, unit, Roles(("old", "new")), Draws(0, 500))
    (as_share,) = compare_means(values, unit, Roles(("old", "new")), Draws(0, 500), of_shares=True)
    assert (found.p_method, as_share.significant, found.significant) == ("skewness", True, False)
    assert found.low <= 0 < found.difference
    # The best set agrees, and the other way round nothing changes.
    assert rank_means(values, unit, Draws(), of_shares=False).best_set == ("new", "old")
    assert rank_means(values, unit, Draws()).best_set == ("new",)
    many_gains = compare_means({"old": np.zeros(43), "new": -gaps + 0.6}, unit, Roles(("old", "new")), Draws(0, 500))
    assert many_gains[0].p_method != "skewness"
