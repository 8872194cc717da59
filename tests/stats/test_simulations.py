"""The designs that are simulated are what they say, and intervals hold in them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr

from simulations import Row, every_simulation, rate
from simulations.comparisons import answers, correlated
from simulations.designs import (
    SIZES,
    answers_tied_among_all,
    copied_counts_of_yes,
    counts_of_yes,
    normals,
    stream,
    tied_answers,
    unit_sizes,
    yes_no,
)
from simulations.intervals import GROUPS, fold_hits, mean_hits, share_hits, spread_over_folds, tied_hits

COMPARISONS = ["best", "correlations", "differences", "power", "test"]
REPEATS = {
    "best": 25,
    "choosing": 40,
    "correlations": 500,
    "decisions": 60,
    "differences": 200,
    "gate-equal": 20,
    "gate-margin": 100,
    "gate-means": 60,
    "gate-year": 150,
    "localization": 200,
    "means": 200,
    "pearson": 40,
    "pilots": 50,
    "power": 200,
    "reciprocal-ranks": 60,
    "releases": 20,
    "screening-above-the-floor": 60,
    "screening-at-the-floor": 60,
    "screens": 12,
    "shares": 400,
    "skewed-means": 30,
    "skewed-power": 10,
    "skewed-test": 20,
    "test": 500,
    "thresholds": 60,
    "thresholds-average": 60,
    "thresholds-lost": 50,
    "ties": 40,
}
"""How often each simulation is repeated here; the page repeats them more often."""


# --- designs ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", [counts_of_yes, copied_counts_of_yes])
@pytest.mark.parametrize(("p", "correlation"), [(0.1, 0.0), (0.3, 0.3), (0.5, 0.7)])
def test_counts_have_the_share_and_the_correlation_that_are_asked_for(draw, p, correlation):
    # Of units of 4, the variance of a sum is 4p(1 − p)(1 + 3·correlation).
    counts = draw(stream("test", p, correlation), np.full(400, 4), p, correlation, 200)
    assert counts.mean() / 4 == pytest.approx(p, abs=0.005)
    assert counts.var() == pytest.approx(4 * p * (1 - p) * (1 + 3 * correlation), rel=0.03)


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.7])
def test_items_have_the_correlation_that_is_asked_for(correlation):
    unit = np.repeat(np.arange(2000), 2)
    for values in (yes_no(stream("a"), unit, 0.3, correlation, 50), normals(stream("b"), unit, correlation, 50)):
        first, second = values[::2].ravel(), values[1::2].ravel()
        assert np.corrcoef(first, second)[0, 1] == pytest.approx(correlation, abs=0.02)


@pytest.mark.parametrize("draw", [tied_answers, answers_tied_among_all])
def test_ties_have_the_mean_that_is_told(draw):
    values, true = draw(stream("ties"), np.repeat(np.arange(2000), 4), 0.3, 0.3, 0.6, 50)
    assert values.mean() == pytest.approx(true, abs=0.005)
    assert set(np.unique(values)) <= {0.0, 1 / 3, 0.5, 1.0}


@pytest.mark.parametrize("kind", SIZES)
def test_units_have_4_to_28_items(kind):
    sizes = unit_sizes(kind, 1000, stream("sizes"))
    assert (sizes.min(), sizes.max()) == ((4, 4) if kind == "equal" else (4, 28))


def test_groups_are_those_of_the_corpora():
    # MSRP: 859 sentences in 274 groups; Opinosis: 521 in 89.
    assert {name: int(sizes().sum()) for name, sizes in GROUPS.items()} == {
        "28 groups of 3": 84,
        "89 groups of 3 to 16": pytest.approx(521, rel=0.1),
        "274 groups of 3 to 5": 859,
    }
    fold, unit = spread_over_folds(np.array([3, 4]))
    assert (fold.tolist(), unit.tolist()) == ([0, 1, 2, 0, 1, 2, 0], [0, 0, 0, 1, 1, 1, 1])


def test_a_rate_has_an_error_even_where_it_is_1():
    seen, error = rate(2000, 2000)
    assert seen == 1
    assert 0 < error < 0.001


def test_a_row_is_refused_beyond_three_errors():
    assert Row("d", "coverage", (0.93, 0.97), 0.90, 0.005, (0.92, 0.98)).refused
    assert not Row("d", "coverage", (0.93, 0.97), 0.91, 0.005, (0.92, 0.98)).refused
    assert not Row("d", "coverage", (0.93, 0.97), 0.99, 0.005, (0.92, 0.98)).refused
    assert Row("d", "coverage", (0.93, 0.97), 0.999, 0.005, (0.92, 0.98)).refused


def test_every_simulation_is_found():
    assert sorted(every_simulation()) == sorted(REPEATS)


def test_the_generator_of_comparisons_gives_the_shares_and_correlations_that_it_is_asked_for():
    rng, unit = stream("comparisons"), np.repeat(np.arange(2_000), 4)
    items = answers(rng, unit, [0.3, 0.4, 0.3], 0.3, 0.6)
    assert items.mean(axis=0) == pytest.approx([0.3, 0.4, 0.3], abs=0.025)
    human, cosines = correlated(rng, unit, 0.8, 0.3, 0.5, 3)
    assert [pearsonr(human, y)[0] for y in cosines.T] == pytest.approx([0.8] * 3, abs=0.02)


@pytest.mark.parametrize("name", COMPARISONS)
def test_every_simulation_of_comparisons_runs(name):
    rows = list(every_simulation()[name].rows(repeats=20 if name == "differences" else 2))
    assert rows
    assert all(np.isfinite([row.seen, row.error]).all() and row.wanted[0] < row.wanted[1] for row in rows)


# --- intervals -------------------------------------------------------------------------------------------


def least(repeats: int) -> float:
    """Return the lowest number of hits that 92 % allow, three standard errors of the simulation below."""
    return 0.92 * repeats - 3 * (0.92 * 0.08 * repeats) ** 0.5


@pytest.mark.parametrize("share", [0.02, 0.5, 0.98])
@pytest.mark.parametrize(
    ("name", "correlation"),
    [("28 units, equal sizes", 0.3), ("70 units, Pareto sizes", 0.0), ("60 questions, a hub for 30 %", 0.3)],
)
def test_the_interval_of_a_share_holds(share, name, correlation):
    assert share_hits(share, name, correlation, repeats=400) >= least(400)


@pytest.mark.parametrize(("p", "correlation"), [(0.98, 0.0), (0.98, 0.7), (0.995, 0.3)])
def test_the_interval_of_an_accuracy_holds(p, correlation):
    assert fold_hits(p, "28 groups of 3", correlation, 800) >= least(800)


def test_the_interval_of_a_mean_holds():
    assert mean_hits("cosine-like", 28, "equal", 0.3, 800) >= least(800)


def test_the_interval_of_nearly_constant_answers_holds():
    # The variance over units alone covers 56-60 % here.
    assert tied_hits(0.9, 28, "equal", 0.7, 0.98, 400) >= least(400)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "repeats"), REPEATS.items())
def test_no_interval_test_or_promise_fails_more_often_than_the_page_says(name, repeats):
    assert [row for row in every_simulation()[name].rows(repeats=repeats) if row.refused] == []
