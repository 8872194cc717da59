"""The area under the ROC curve and its interval."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embassay.stats.separation import area, area_interval

scores = st.lists(st.integers(0, 5), min_size=1, max_size=12)


@given(scores, scores)
def test_the_area_is_the_share_of_pairs(high, low):
    pairs = [(a > b) + (a == b) / 2 for a in high for b in low]
    assert area(np.array(high, float), np.array(low, float)) == pytest.approx(np.mean(pairs))


@given(st.floats(0, 1), st.integers(2, 200), st.integers(2, 200))
def test_the_interval_holds_the_value_stays_in_range_and_mirrors(value, m, n):
    low, high = area_interval(value, m, n)
    assert 0 <= low <= value <= high <= 1
    mirrored = area_interval(1 - value, n, m)
    assert (1 - mirrored[1], 1 - mirrored[0]) == pytest.approx((low, high), abs=1e-6)


def test_perfect_separation_of_few_is_not_sure():
    low, high = area_interval(1.0, 60, 8)
    assert high == 1
    assert low < 0.95


@pytest.mark.slow
@pytest.mark.parametrize(("theta", "m", "n"), [(0.5, 60, 8), (0.75, 60, 8), (0.9, 120, 30)])
def test_it_covers_the_truth(theta, m, n):
    from scipy.stats import norm

    shift, rng, covered = norm.ppf(theta) * np.sqrt(2), np.random.default_rng(1), 0
    for _ in range(2000):
        value = area(rng.normal(shift, 1, m), rng.normal(0, 1, n))
        low, high = area_interval(value, m, n)
        covered += low <= theta <= high
    assert 0.93 <= covered / 2000 <= 0.98
