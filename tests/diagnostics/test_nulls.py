"""Another unit's target in the place of a sample's own: never an equal text, never the same unit, always the same."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from embassay.diagnostics.composition.scores import TRIES, other_targets


def drawn(targets, unit, group=None, seed=0, *purpose):
    group = ["x"] * len(targets) if group is None else group
    codes, groups = np.array(unit, dtype=np.int64), np.array(group, dtype=str)
    return other_targets(targets, codes, groups, seed, *purpose, draws=[0])[:, 0]


def allowed(own, targets, unit, group):
    """List all that may stand in for a sample, by the definition."""
    return [
        other
        for other in range(len(targets))
        if group[other] == group[own] and unit[other] != unit[own] and targets[other] != targets[own]
    ]


samples = st.lists(
    st.tuples(
        st.sampled_from("abcd"), st.integers(0, 4), st.sampled_from(["overlap", "difference", "differenceright"])
    ),
    min_size=1,
    max_size=40,
)


@settings(deadline=None)
@given(samples, st.integers(0, 5))
def test_a_draw_is_of_the_same_group_another_unit_and_another_text(rows, seed):
    targets, unit, group = map(list, zip(*rows, strict=True))
    for own, other in enumerate(drawn(targets, unit, group, seed).tolist()):
        fitting = allowed(own, targets, unit, group)
        assert other in fitting if fitting else other == -1


def test_no_samples_have_no_draws():
    assert drawn([], []).shape == (0,)


def test_the_one_that_fits_is_found_among_very_many():
    # One of 5001 fits each of the first 5000: the chance that TRIES draws find it is about 1.3 % for a sample.
    assert TRIES < 500
    targets = [f"t{n}" for n in range(5001)]
    found = drawn(targets, [0] * 5000 + [1])
    assert (found[:5000] == 5000).all()
    assert 0 <= found[5000] < 5000


def test_all_that_fit_are_taken_equally_often():
    # Twelve of five units; those that share a unit never fit each other. Over 3000 seeds, each of the ten others of
    # sample 0 is drawn about 300 times: the chi-square of a fixed run, p far from 0.
    unit = [0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4]
    targets = [f"t{n}" for n in range(12)]
    counts = np.bincount([drawn(targets, unit, None, seed)[0] for seed in range(3000)], minlength=12)
    assert counts[:2].tolist() == [0, 0]
    assert chisquare(counts[2:]).pvalue > 1e-3


def test_the_rare_one_that_needs_the_long_way_is_drawn_evenly_too():
    # 2000 of unit 0 and two others: neither of the two is preferred. Binomial(2000, ½) has a sd of 22.
    targets = [f"t{n}" for n in range(2002)]
    found = drawn(targets, [0] * 2000 + [1, 2])[:2000]
    assert set(found.tolist()) == {2000, 2001}
    assert abs(np.count_nonzero(found == 2000) - 1000) < 5 * 22


def test_another_purpose_gives_other_draws():
    targets, unit = [f"t{n}" for n in range(50)], list(range(50))
    assert drawn(targets, unit, None, 0, "corpus a").tolist() != drawn(targets, unit, None, 0, "corpus b").tolist()


def test_every_draw_has_a_stream_of_its_own():
    targets, unit, group = [f"t{n}" for n in range(50)], np.arange(50), np.full(50, "x")
    few, many = (other_targets(targets, unit, group, 0, draws=draws) for draws in (range(2), range(20)))
    assert many.shape == (50, 20)
    assert np.array_equal(many[:, :2], few)
    assert len({tuple(column) for column in many.T.tolist()}) == 20
    assert np.array_equal(other_targets(targets, unit, group, 0, draws=range(5, 7)), many[:, 5:7])


def test_another_group_moves_no_draw():
    targets, unit = [f"t{n}" for n in range(40)], list(range(40))
    alone = drawn(targets[:20], unit[:20], ["overlap"] * 20)
    together = drawn(targets, unit, ["overlap"] * 20 + ["union"] * 20)
    assert together[:20].tolist() == alone.tolist()
    assert (together[20:] >= 20).all()
