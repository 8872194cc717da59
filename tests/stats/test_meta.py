"""A difference over several corpora: the published example, limits, and coverage with known truth."""

import numpy as np
import pytest

from embassay.stats.meta import MIN_CORPORA, across_corpora

# Thirteen trials of the BCG vaccine (Colditz et al. 1994): cases and others among the vaccinated, then the others.
BCG = np.array(
    [
        [4, 119, 11, 128],
        [6, 300, 29, 274],
        [3, 228, 11, 209],
        [62, 13536, 248, 12619],
        [33, 5036, 47, 5761],
        [180, 1361, 372, 1079],
        [8, 2537, 10, 619],
        [505, 87886, 499, 87892],
        [29, 7470, 45, 7232],
        [17, 1699, 65, 1600],
        [186, 50448, 141, 27197],
        [5, 2493, 3, 2338],
        [27, 16886, 29, 17825],
    ],
    dtype=float,
)


def bcg():
    """Return the log risk ratio and its standard error of each trial."""
    cases, others, control_cases, control_others = BCG.T
    treated, control = cases + others, control_cases + control_others
    ratio = np.log((cases / treated) / (control_cases / control))
    variance = 1 / cases - 1 / treated + 1 / control_cases - 1 / control
    return ratio, np.sqrt(variance)


def test_published_example():
    """Paule and Mandel's τ² of these trials is 0.3181 and the mean -0.7150 (metafor 4: rma(method="PM"))."""
    summary = across_corpora(*bcg())
    assert summary.between**2 == pytest.approx(0.3181, abs=5e-5)
    assert summary.mean == pytest.approx(-0.7150, abs=5e-5)
    assert summary.low < summary.mean < summary.high
    assert summary.next_low < summary.low
    assert summary.corpora == 13


def test_fewer_than_five_corpora_have_no_summary():
    assert across_corpora(np.zeros(MIN_CORPORA - 1), np.ones(MIN_CORPORA - 1)) is None
    assert across_corpora(np.zeros(MIN_CORPORA), np.ones(MIN_CORPORA)) is not None


def test_without_variance_between_corpora_it_is_the_weighted_mean():
    differences, errors = np.array([0.1, 0.1, 0.1, 0.1, 0.1]), np.array([0.1, 0.2, 0.3, 0.1, 0.2])
    summary = across_corpora(differences, errors)
    assert summary.between == pytest.approx(0, abs=1e-9)
    assert summary.mean == pytest.approx(0.1)
    # The interval is not narrower than the standard errors allow: t at 4 degrees of freedom is 2.776.
    expected = 2.7764451 / np.sqrt((1 / errors**2).sum())
    assert summary.high - summary.mean == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("corpora", "between"), [(5, 0.01), (15, 0.01), (8, 0.04)])
def test_coverage(corpora, between):
    """Both intervals hold their truth in about 95 % of 200 repetitions; of 2,000, they held 93 % and more."""
    rng = np.random.default_rng(corpora * 100 + int(100 * between))
    repetitions = 200
    mean_inside = next_inside = 0
    for _ in range(repetitions):
        errors = rng.uniform(0.005, 0.03, corpora)
        differences = 0.01 + rng.normal(0, between, corpora) + rng.normal(0, errors)
        upcoming = 0.01 + rng.normal(0, between)
        summary = across_corpora(differences, errors)
        mean_inside += summary.low <= 0.01 <= summary.high
        next_inside += summary.next_low <= upcoming <= summary.next_high
    assert 0.9 <= mean_inside / repetitions <= 1
    assert 0.9 <= next_inside / repetitions <= 1
