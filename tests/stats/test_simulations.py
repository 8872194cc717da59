"""The designs that are simulated are what they say, and intervals hold in them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import pearsonr

from simulations import Row, every_simulation, rate
from simulations.comparisons import answers, correlated, labels_of
from simulations.designs import (
    LABELS,
    SIZES,
    answers_tied_among_all,
    label_normals,
    normals,
    stream,
    tied_answers,
    unit_sizes,
    yes_no,
)
from simulations.intervals import GROUPS, fold_hits, mean_hits, share_hits, spread_over_folds, tied_hits

ROOT = Path(__file__).parents[2]
COMPARISONS = ["best", "correlations", "differences", "power", "screens", "test"]
REPEATS = {
    "best": 12,
    "choosing": 40,
    "correlations": 300,
    "decisions": 40,
    "differences": 50,
    "gate-equal": 12,
    "gate-margin": 20,
    "gate-means": 60,
    "gate-year": 150,
    "localization": 200,
    "means": 200,
    "pearson": 40,
    "pilots": 25,
    "power": 200,
    "reciprocal-ranks": 40,
    "releases": 20,
    "screening-above-the-floor": 60,
    "screening-at-the-floor": 60,
    "screens": 15,
    "shares": 40,
    "skewed-means": 30,
    "skewed-power": 10,
    "skewed-test": 15,
    "test": 500,
    "thresholds": 60,
    "thresholds-average": 60,
    "thresholds-lost": 50,
    "ties": 30,
}
"""How often each simulation is repeated here; for the page it is repeated more often."""


# --- designs ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "items", "labels", "largest"),
    [
        ("labels like pip's", 60, 78, 15),
        ("60 questions, a hub for 30 %", 60, 78, 18),
        ("60 questions, a hub for 60 %", 60, 96, 36),
        ("120 questions on 50 pages", 120, 156, 7.6),
        ("120 questions with two of 50 pages each", 120, 240, 10),
    ],
)
def test_questions_have_as_many_labels_as_their_names_say(name, items, labels, largest):
    drawn = [LABELS[name](stream("labels", repeat)) for repeat in range(200)]
    assert all(belongs.shape[0] == items and belongs.any(axis=1).all() for belongs in drawn)
    assert np.mean([belongs.sum() for belongs in drawn]) == pytest.approx(labels, rel=0.03)
    assert np.mean([belongs.sum(axis=0).max() for belongs in drawn]) == pytest.approx(largest, rel=0.15)


def test_items_correlate_by_the_labels_that_they_share():
    # Labels {a}, {a}, {a, b}, {b, c}, {d}.
    belongs = np.array([[1, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]], dtype=float)
    drawn = np.corrcoef(label_normals(stream("labels"), belongs, 0.6, 40_000))
    assert drawn[0] == pytest.approx([1, 0.6, 0.6 / np.sqrt(2), 0, 0], abs=0.02)
    assert drawn[2] == pytest.approx([0.6 / np.sqrt(2), 0.6 / np.sqrt(2), 1, 0.3, 0], abs=0.02)


def test_labels_of_a_table_are_those_of_its_rows():
    belongs = np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1]])
    labels = labels_of(belongs)
    assert (labels.items, labels.sets, labels.labels) == (3, 2, 3)
    assert labels.items_of_labels.tolist() == [2, 1, 2]
    assert labels.label_set[0] == labels.label_set[2] != labels.label_set[1]


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


def test_the_page_has_a_row_of_every_simulation():
    page = (ROOT / "docs" / "simulations.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([\w-]+)` .* \|$", page, flags=re.M)) == set(REPEATS)
    assert len(page.split()) <= 1500


def test_the_generator_of_comparisons_gives_the_shares_and_correlations_that_it_is_asked_for():
    rng, unit = stream("comparisons"), np.repeat(np.arange(20_000), 4)
    items = answers(rng, unit, [0.3, 0.4, 0.3], 0.3, 0.6)
    assert items.mean(axis=0) == pytest.approx([0.3, 0.4, 0.3], abs=0.01)
    human, cosines = correlated(rng, unit, 0.8, 0.3, 0.5, 3)
    assert [pearsonr(human, y)[0] for y in cosines.T] == pytest.approx([0.8] * 3, abs=0.01)


@pytest.mark.parametrize("name", COMPARISONS)
def test_every_simulation_of_comparisons_runs(name):
    rows = list(every_simulation()[name].rows(repeats=2))
    assert rows
    assert all(np.isfinite([row.seen, row.error]).all() and row.wanted[0] < row.wanted[1] for row in rows)


# --- intervals -------------------------------------------------------------------------------------------


def least(repeats: int) -> float:
    """Return the lowest number of hits that 92 % allow, three standard errors of the simulation below."""
    return 0.92 * repeats - 3 * (0.92 * 0.08 * repeats) ** 0.5


@pytest.mark.parametrize(
    ("share", "name", "correlation"),
    [
        (0.02, "28 units, equal sizes", 0.3),
        (0.5, "70 units, Pareto sizes", 0.0),
        (0.85, "labels like pip's", 0.3),
        (0.98, "155 units, equal sizes", 0.7),
    ],
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
    assert tied_hits("tied among all three", 0.9, 28, "equal", 0.7, 0.98, 400) >= least(400)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "repeats"), REPEATS.items())
def test_no_interval_test_or_promise_fails_more_often_than_is_accepted(name, repeats):
    assert [row for row in every_simulation()[name].rows(repeats=repeats) if row.refused] == []
