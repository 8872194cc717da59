"""Means of skewed units: Hall's transformation and its inverse, when it applies, and what it changes."""

import numpy as np
import pytest
from scipy import stats

from embassay.core.metric_key import MetricKey
from embassay.core.types import Draws
from embassay.stats.families import Roles, compare_means
from embassay.stats.labels import Labels
from embassay.stats.resample import UnitSums, bootstrap_means, mean, percentiles, tail
from embassay.stats.skewness import COCHRAN, UNSEEN, SkewedMeans
from embassay.stats.units import ratio_variance

KEY = MetricKey("accuracy")
DRAWS = Draws(0, 400)
UNIT = np.arange(40)
# Small gains and three large losses.
GAINS = np.concatenate([np.linspace(0.5, 1.5, 37), [-4.0, -3.0, -2.0]])


def means_of(*columns):
    values = np.stack(columns, axis=1)
    return SkewedMeans.of(values, np.ones_like(values))


def test_skewness_and_error_are_those_of_the_definition():
    found = means_of(GAINS)
    skewness = stats.skew(GAINS)
    assert skewness == pytest.approx(-3.1, abs=0.3)
    assert found.skew[0] == pytest.approx(UNSEEN * skewness / (6 * 40**0.5))
    assert found.error[0] == pytest.approx(ratio_variance(GAINS, UNIT) ** 0.5)


def test_units_of_several_sizes_have_the_error_of_a_ratio():
    unit = np.repeat(np.arange(12), np.arange(1, 13))
    values = np.random.default_rng(0).normal(size=len(unit))
    sums, sizes = np.bincount(unit, values)[:, None], np.bincount(unit).astype(float)[:, None]
    found = SkewedMeans.of(sums, sizes)
    assert found.mean[0] == pytest.approx(values.mean())
    assert found.error[0] == pytest.approx(ratio_variance(values, unit) ** 0.5)


def test_the_corrected_t_by_hand():
    found = means_of(GAINS)
    t, a = found.t[0], found.skew[0]
    assert t == pytest.approx(stats.ttest_1samp(GAINS, 0).statistic)
    assert found.corrected_t[0] == pytest.approx(t + 2 * a * t**2 + 4 / 3 * a**2 * t**3 + a)
    assert found.least_p()[0] == pytest.approx(2 * stats.t.sf(found.corrected_t[0], 39))


@pytest.mark.parametrize("shift", [-1.0, 0.0, 1.0, 3.0])
def test_the_interval_ends_at_the_mean_that_the_test_just_rejects(shift):
    here = means_of(GAINS + shift)
    low, high = here.widened(np.array([9.0]), np.array([9.0]))
    assert high == 9.0
    assert means_of(GAINS + shift - low).least_p()[0] == pytest.approx(0.05)


def test_a_larger_mean_never_has_a_larger_p():
    found = means_of(*[GAINS + shift for shift in np.linspace(0, 3, 200)])
    assert (np.diff(found.corrected_t) >= 0).all()
    assert (found.corrected_t <= found.t).all()
    assert (found.corrected.all(), found.least_p()[-1] < 1e-6) == (True, True)


def test_a_mean_on_the_side_of_the_long_tail_is_not_corrected():
    worse = means_of(GAINS - 3)
    assert not worse.corrected
    assert worse.least_p() == 0


def test_symmetric_units_and_constant_ones_are_not_corrected():
    symmetric = np.linspace(-1, 2, 40)
    found = means_of(symmetric, np.ones(40), np.zeros(40), np.full(40, 0.1))
    assert (found.skew == 0).all()
    assert (found.least_p() == 0).all()
    ends = np.arange(4.0)
    assert [end.tolist() for end in found.widened(ends, ends)] == [ends.tolist()] * 2


def test_cochrans_rule_says_from_how_many_units_nothing_is_corrected():
    # One unit of U differs: γ = (U − 2)/√(U − 1); repeated k times it stays, and k·U units are enough from 25γ² on.
    units = np.array([1.0] + [0.0] * 9)
    enough = COCHRAN * 64 / 9
    for repeats in (10, 17, 18, 40):
        found = means_of(np.tile(units, repeats))
        assert (found.skew[0] > 0) == (10 * repeats <= enough)


# --- where it is used ------------------------------------------------------------------------------------


def difference(gaps, is_bounded=False):
    values = {"a": gaps, "b": np.zeros(len(gaps))}
    return compare_means(KEY, values, Labels.of(UNIT), Roles(("a", "b")), DRAWS, "x", is_bounded=is_bounded)[0]


def test_skewed_differences_are_tested_with_more_caution_but_not_those_of_bounded_values():
    few_losses = GAINS - 0.2
    corrected, plain = difference(few_losses), difference(few_losses, is_bounded=True)
    assert plain.is_significant
    assert not corrected.is_significant
    assert corrected.p == corrected.p_holm == means_of(few_losses).least_p()[0]
    assert corrected.low < 0 < plain.low
    assert corrected.high == plain.high


def test_a_loss_by_few_large_losses_is_tested_as_any_other():
    found, plain = difference(GAINS - 1.5), difference(GAINS - 1.5, is_bounded=True)
    assert found.difference < 0
    assert found.p == plain.p


def test_a_mean_has_a_longer_interval_on_the_side_of_the_tail_only():
    estimate = mean(GAINS, UNIT, DRAWS, "x")
    low, high = percentiles(
        bootstrap_means(UnitSums.of(GAINS[:, None], UNIT), DRAWS, "x"), np.array([tail(np.ones(40))])
    )
    assert estimate.low == means_of(GAINS).widened(low, high)[0][0] < low[0]
    assert estimate.high == high[0]
