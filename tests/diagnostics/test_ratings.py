"""What people thought of the targets: mean, median, agreement, under no encoder's name."""

from __future__ import annotations

import numpy as np
import pytest

from embassay.api import assay, report
from embassay.core.result import MIN_UNITS
from embassay.core.samples.shapes import Composition
from embassay.core.types import Corpus, Draws, ItemScores, Origin
from embassay.diagnostics.composition.composition import SetView, rating_matrix, rating_rows, rating_series

NAN = float("nan")


def scored(given, unit=None, subset=None):
    n = len(given)
    unit = np.arange(n) if unit is None else np.array(unit)
    values = {"ratings": rating_matrix([tuple(map(float, r)) for r in given]), "cosine/AB": np.full(n, NAN)}
    labels = {"subset": np.full(n, "union") if subset is None else np.array(subset)}
    origin = Origin("composition", "", "mine", "f00", "e", "e00", "e", True)
    return ItemScores(origin, "cosine", np.array([f"{i}" for i in range(n)]), unit, labels, values, {"unit_norm": 1.0})


def rated(given, unit=None, subset=None, resamples=300):
    found = rating_rows(SetView(scored(given, unit, subset)), Draws(0, resamples))
    return {(r.subset, r.metric): r for r in found}


def test_fewer_ratings_are_filled_up_with_what_is_undefined():
    found = rating_matrix([(1.0, 2.0), (), (3.0,)])
    assert found.shape == (3, 2)
    assert found == pytest.approx(np.array([[1, 2], [NAN, NAN], [3, NAN]]), nan_ok=True)


@pytest.mark.parametrize("given", [[], [()], [(), ()]])
def test_without_ratings_there_is_a_column_all_the_same(given):
    found = rating_matrix(given)
    assert found.shape == (len(given), 1)
    assert np.isnan(found).all()


def test_mean_median_and_agreement_by_hand():
    # (0, 1) and (2, 2): means 0.5 and 2; the median of 0, 1, 2, 2 is 1.5; α = 1 − (1/2)/(22/12) = 8/11.
    found = rated([(0, 1), (2, 2)])
    assert found["union", "rating"].value == pytest.approx(1.25)
    assert found["union", "rating_median"].value == pytest.approx(1.5)
    assert found["union", "agreement"].value == pytest.approx(8 / 11)
    assert found["union", "rating"].reason == f"no interval under {MIN_UNITS} units (2 here)"


def test_an_item_counts_once_however_many_rated_it():
    # Means 4 and 0, not the mean of 4, 4, 4 and 0.
    assert rated([(4, 4, 4), (0,)])["union", "rating"].value == 2


def test_each_group_has_its_own_and_one_without_ratings_has_none():
    found = rated([(4, 4), (2,), (), (0, 1), ()], subset=["overlap", "overlap", "difference", "union", "union"])
    assert {subset for subset, _ in found} == {"overlap", "union"}
    assert found["overlap", "rating"].value == 3
    assert found["union", "rating"].value == 0.5
    assert found["union", "rating"].items == 1


def test_the_distribution_counts_every_annotator_s_rating_in_each_group():
    subset = ["overlap", "overlap", "difference", "union", "union"]
    (found,) = rating_series(SetView(scored([(4, 4, 3), (2.5,), (), (0, 1), (1,)], subset=subset)))
    assert (found.name, found.kind) == ("ratings", "table")
    assert found.data["rows"] == [
        ["overlap", 0, 0, 0.0],
        ["overlap", 1, 0, 0.0],
        ["overlap", 2, 0, 0.0],
        ["overlap", 3, 2, 0.5],
        ["overlap", 4, 2, 0.5],
        ["union", 0, 1, pytest.approx(1 / 3)],
        ["union", 1, 2, pytest.approx(2 / 3)],
        ["union", 2, 0, 0.0],
        ["union", 3, 0, 0.0],
        ["union", 4, 0, 0.0],
    ]


def test_a_run_reports_them_once_and_leaves_the_mirrored_out(tmp_path):
    # Twelve documents; differences rated 3 and 4, mirrored ones 0, unions not at all.
    samples = []
    for n in range(12):
        a, b = f"a{n}", f"b{n}"
        samples += [
            Composition(f"{n}.d", "difference", a, b, f"d{n}", ratings=(3.0, 4.0)),
            Composition(f"{n}.r", "difference", b, a, f"r{n}", mirrored=True, ratings=(0.0, 0.0)),
            Composition(f"{n}.u", "union", a, b, f"u{n}"),
        ]
    corpus = Corpus("mine", "composition", tuple(samples))
    result = assay(["hashing", "random"], [corpus], ["composition"], cache=None, baselines=False, resamples=20)
    found = {(r.subset, r.metric): r for r in result.rows if r.encoder == ""}
    assert len(found) == sum(r.encoder == "" for r in result.rows) == 3
    assert found["difference", "rating"].value == 3.5
    # All pairs of an item differ by 1; of 24 ratings, ordered pairs of different ones: 2·12·12 of 24·23.
    assert found["difference", "agreement"].value == pytest.approx(1 - 1 / (288 / 552))
    assert {r.similarity_function for r in found.values()} == {"rating"}
    (distribution,) = (s.data["rows"] for s in result.series if s.name == "ratings")
    assert distribution == [["difference", rating, 12 * (rating > 2), 0.5 * (rating > 2)] for rating in range(5)]
    page = report(result, tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Ratings given" in page
