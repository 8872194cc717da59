"""Which candidates may be the best, and which ranks each may have."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embassay.result import Estimate
from embassay.stats import best
from embassay.stats.best import FirstOfSeveral, JointExchange, JointFlips, Standings, rank_correlations, rank_means
from embassay.stats.correlate import correlation
from embassay.stats.exchange import correlation_sums
from embassay.stats.families import Roles, compare_means
from embassay.stats.resample import counts
from embassay.types import Draws

NAN = float("nan")
DRAWS = Draws(seed=0, resamples=200)


def candidates(names, units=60, size=3, seed=1, step=0.15):
    """Return yes/no items of candidates that share what is hard, each better than the one before."""
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(units), size)
    hard = rng.normal(size=units)[unit]
    items = {name: (hard + rng.normal(size=len(unit)) < step * k).astype(float) for k, name in enumerate(names)}
    return items, unit


def all_patterns(units):
    return np.array(list(product([1.0, -1.0], repeat=units)))


def brute_force(items, unit):
    """Return the exact p of every candidate and of every pair, by going through all patterns."""
    names, units = list(items), int(unit.max()) + 1
    of_candidate, largest, observed = {n: np.full(2**units, -np.inf) for n in names}, np.zeros(2**units), {}
    patterns = all_patterns(units)
    for i, j in product(names, names):
        d = np.bincount(unit, weights=items[j] - items[i], minlength=units)
        length = np.sqrt((d * d).sum())
        t = patterns @ d / length if length else np.zeros(2**units)
        observed[i, j] = t[0]
        of_candidate[i] = np.maximum(of_candidate[i], t)
        largest = np.maximum(largest, np.abs(t))
    p = {i: np.mean(t >= t[0] - 1e-9) for i, t in of_candidate.items()}
    return p, {pair: np.mean(largest >= abs(t) - 1e-9) for pair, t in observed.items()}, observed


# --- by hand ---------------------------------------------------------------------------------------------


def test_two_candidates_by_hand():
    # Twelve units of one item. b wins k of them alone: T = √k, as much in 1 of 2ᵏ patterns on one side. Four: 1/16,
    # kept; five: 1/32, not. On both sides, for the ranks: five: 1/16; six: 1/32.
    for wins, best_set, ranks in [(4, ("b", "a"), (1, 2)), (5, ("b",), (1, 2)), (6, ("b",), (2, 2))]:
        items = {"a": np.zeros(12), "b": np.array([1.0] * wins + [0] * (12 - wins))}
        found = rank_means(items, np.arange(12), DRAWS, "hand")
        assert found.best_set == best_set
        assert (found.rank_low["a"], found.rank_high["a"]) == ranks
        assert (found.items, found.units, found.reason) == (12, 12, None)
        assert found.values == {"b": wins / 12, "a": 0.0}


def test_statistics_by_hand():
    # Two units: sums of a 1, 0; of b 3, 1. d = (2, 1): Σd/√Σd² = 3/√5, and with the second unit flipped 1/√5.
    joint = JointFlips.of(np.array([[1.0, 3], [0, 1]]))
    plain, flipped = joint.gaps(np.array([[1.0, 1], [1, -1]]))
    assert plain == pytest.approx(np.array([[0, 3], [-3, 0]]) / np.sqrt(5))
    assert flipped == pytest.approx(np.array([[0, 1], [-1, 0]]) / np.sqrt(5))


# --- independent implementation --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_the_standings_are_those_of_all_patterns(seed):
    items, unit = candidates("abcde", units=11, size=8, seed=seed, step=0.35)
    p, p_pair, observed = brute_force(items, unit)
    found = rank_means(items, unit, DRAWS, "x")
    # Where the exact p is as near to 0.05 as drawing can tell, either answer may come out.
    sure = {name for name in items if abs(p[name] - 0.05) > 0.004}
    assert {name for name in found.best_set if name in sure} == {name for name in sure if p[name] > 0.05}
    if min(abs(q - 0.05) for q in p_pair.values()) > 0.004:
        better = {i: sum(p_pair[i, j] <= 0.05 and observed[i, j] > 0 for j in items) for i in items}
        worse = {i: sum(p_pair[i, j] <= 0.05 and observed[i, j] < 0 for j in items) for i in items}
        assert found.rank_low == {i: 1 + better[i] for i in items}
        assert found.rank_high == {i: 5 - worse[i] for i in items}


def test_exchanged_correlations_are_those_of_exchanged_items():
    rng = np.random.default_rng(0)
    unit = np.repeat(np.arange(12), 3)
    x = rng.normal(size=36)
    z = [(v - v.mean()) / v.std() for v in (x + rng.normal(size=(3, 36)))]
    joint = JointExchange(
        np.stack([correlation_sums(x, v, unit, 12, "pearson") for v in z], axis=2), np.ones((3, 3)), 36
    )
    sign = rng.choice([-1.0, 1.0], size=12)
    for i, j in product(range(3), range(3)):
        kept = sign[unit] > 0
        first, second = np.where(kept, z[i], z[j]), np.where(kept, z[j], z[i])
        expected = np.corrcoef(x, second)[0, 1] - np.corrcoef(x, first)[0, 1]
        assert joint.gaps(sign[None])[0, i, j] == pytest.approx(expected)


def test_golden_standings():
    # Provenance: p-values of 10⁶ patterns by a script of numpy products, without this package. Candidates: a 0.00003,
    # b 0.016, c 0.005, d 0.018, e 0.21, f 1. Pairs at 0.05 or below: a-e 0.025, a-f 0.0001, c-f 0.022.
    items, unit = candidates("abcdef", units=120, step=0.12)
    found = rank_means(items, unit, Draws(), "golden")
    assert found.best_set == ("f", "e")
    assert found.rank_low == {"f": 1, "e": 1, "b": 1, "d": 1, "c": 2, "a": 3}
    assert found.rank_high == {"f": 4, "e": 5, "b": 6, "d": 6, "c": 6, "a": 6}


# --- properties ------------------------------------------------------------------------------------------


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.1, 0.4]))
def test_the_highest_is_in_the_set_and_its_rank_interval_begins_at_1(seed, step):
    items, unit = candidates("abcd", units=20, seed=seed, step=step)
    found = rank_means(items, unit, DRAWS, "x")
    highest = next(iter(found.values))
    assert found.best_set[0] == highest
    assert found.rank_low[highest] == 1
    assert all(found.rank_low[n] <= found.rank_high[n] for n in items)
    # What is significantly below another on both sides is so on one side, too.
    assert {n for n in items if found.rank_low[n] == 1} >= set(found.best_set)
    levels = list(found.values.values())
    assert levels == sorted(levels, reverse=True)
    assert [n for n in found.values if n in found.best_set] == list(found.best_set)


def test_a_candidate_that_is_better_is_never_dropped():
    items, unit = candidates("ab", step=1.0)
    found = rank_means(items, unit, DRAWS, "x")
    assert found.best_set == ("b",)
    assert (found.rank_low, found.rank_high) == ({"b": 1, "a": 2}, {"b": 1, "a": 2})


def test_the_order_of_rows_and_of_candidates_moves_nothing():
    items, unit = candidates("abcd")
    order = np.random.default_rng(0).permutation(len(unit))
    plain = rank_means(items, unit, DRAWS, "x")
    turned = rank_means({n: items[n][order] for n in "dbca"}, unit[order], DRAWS, "x")
    assert (set(turned.best_set), turned.rank_low, turned.rank_high) == (
        set(plain.best_set),
        plain.rank_low,
        plain.rank_high,
    )


def test_a_shift_and_a_scale_of_all_items_move_no_rank():
    items, unit = candidates("abcd")
    plain = rank_means(items, unit, DRAWS, "x")
    moved = rank_means({n: 7 * v + 3 for n, v in items.items()}, unit, DRAWS, "x")
    assert (moved.best_set, moved.rank_low, moved.rank_high) == (plain.best_set, plain.rank_low, plain.rank_high)


def test_a_clone_of_the_best_changes_no_other_answer():
    items, unit = candidates("abcd")
    plain = rank_means(items, unit, DRAWS, "x")
    cloned = rank_means(items | {"clone": items[plain.best_set[0]].copy()}, unit, DRAWS, "x")
    assert set(cloned.best_set) == {*plain.best_set, "clone"}


def test_the_patterns_are_drawn_in_blocks_that_change_nothing(monkeypatch):
    items, unit = candidates("abcd", units=30)
    plain = rank_means(items, unit, DRAWS, "x")
    sizes = []
    gaps = JointFlips.gaps
    monkeypatch.setattr(best, "BLOCK", 3000)
    monkeypatch.setattr(JointFlips, "gaps", lambda self, signs: (sizes.append(signs.size), gaps(self, signs))[1])
    assert rank_means(items, unit, DRAWS, "x") == plain
    assert max(sizes) <= 3000


# --- undefined items -------------------------------------------------------------------------------------


def hard_texts():
    """Return a, without a vector for 60 hard texts of 600, and b, wrong on those and better on all others."""
    place = np.arange(600)
    hard, place = place < 60, place - 60
    a = np.where(hard, NAN, (place < 378).astype(float))
    b = np.where(hard, 0.0, ((place < 406) | (place >= 530)).astype(float))
    return {"a": a, "b": b}, np.arange(600)


def test_an_encoder_without_vectors_for_hard_texts_is_not_named_best():
    # On their own items a has 70 % and b 69.3 %; on the same items b wins by 7 points.
    items, unit = hard_texts()
    assert np.nanmean(items["a"]) > np.nanmean(items["b"])
    (d,) = compare_means(items, unit, Roles(("a", "b")), DRAWS, "x", of_shares=True)
    assert d.difference > 0.06
    assert d.significant
    found = rank_means(items, unit, DRAWS, "x")
    assert (found.best_set, found.left_out, found.items) == (("b",), ("a",), 600)
    assert "a" not in found.rank_low
    assert found.undefined_as_wrong == pytest.approx({"b": items["b"].mean(), "a": np.nansum(items["a"]) / 600})
    assert next(iter(found.undefined_as_wrong)) == "b"


def test_up_to_five_per_cent_of_undefined_items_are_left_out_for_all():
    items, unit = hard_texts()
    items["a"][:60] = np.where(np.arange(60) < 30, NAN, 0.0)
    found = rank_means(items, unit, DRAWS, "x")
    assert (found.left_out, found.items, found.units) == ((), 570, 570)
    assert found.values["b"] == items["b"][30:].mean()
    items["a"][30] = NAN
    assert rank_means(items, unit, DRAWS, "x").left_out == ("a",)


def test_items_that_no_candidate_defines_count_for_nobody():
    items, unit = candidates("ab")
    items = {name: np.append(values, np.full(90, NAN)) for name, values in items.items()}
    found = rank_means(items, np.append(unit, np.arange(90) % 60), DRAWS, "x")
    assert (found.left_out, found.items) == ((), 180)
    assert found.undefined_as_wrong == found.values


def test_what_is_undefined_counts_as_what_is_said_or_not_at_all():
    items, unit = candidates("ab")
    items["a"][:5] = NAN
    assert rank_means(items, unit, DRAWS, "x", wrong=None).undefined_as_wrong == {}
    found = rank_means(items, unit, DRAWS, "x", wrong=-1.0)
    assert found.undefined_as_wrong["a"] == pytest.approx((items["a"][5:].sum() - 5) / 180)


# --- means over folds ------------------------------------------------------------------------------------


def test_over_folds_each_fold_has_the_same_weight():
    items, unit = candidates("abc")
    fold = (np.arange(180) >= 20).astype(np.int64)
    found = rank_means(items, unit, DRAWS, "x", fold=fold)
    expected = {n: (v[:20].mean() + v[20:].mean()) / 2 for n, v in items.items()}
    assert found.values == pytest.approx(expected)
    assert found.undefined_as_wrong == pytest.approx(expected)


# --- correlations ----------------------------------------------------------------------------------------


def correlated(names, units=60, size=2, seed=0):
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(units), size)
    x = rng.normal(size=len(unit))
    return x, {n: x + (0.3 + 0.8 * k) * rng.normal(size=len(unit)) for k, n in enumerate(names)}, unit


@pytest.mark.parametrize("kind", ["pearson", "spearman"])
def test_correlations_are_ranked(kind):
    x, ys, unit = correlated("abc")
    found = rank_correlations(x, ys, unit, kind, DRAWS, "x")
    assert found.values == pytest.approx({n: correlation(x, y, kind) for n, y in ys.items()})
    assert found.best_set == ("a",)
    assert (found.rank_low["a"], found.rank_high["a"]) == (1, 1)
    assert found.undefined_as_wrong == {}


def test_a_monotone_map_of_one_candidate_moves_no_rank_by_spearman():
    x, ys, unit = correlated("abc")
    plain = rank_correlations(x, ys, unit, "spearman", DRAWS, "x")
    mapped = rank_correlations(x, ys | {"b": np.exp(ys["b"])}, unit, "spearman", DRAWS, "x")
    assert (mapped.best_set, mapped.rank_low, mapped.rank_high) == (plain.best_set, plain.rank_low, plain.rank_high)


def test_correlations_have_no_verdict_where_one_unit_holds_more_than_a_third_of_the_items():
    x, ys, unit = correlated("ab")
    unit = np.where(unit < 21, 0, unit)
    found = rank_correlations(x, ys, unit, "spearman", DRAWS, "x")
    assert (found.best_set, found.rank_low) == ((), {})
    assert found.reason == "one unit holds more than a third of the items"
    assert set(found.values) == {"a", "b"}


def test_a_candidate_that_does_not_vary_is_left_out_of_correlations():
    x, ys, unit = correlated("ab")
    found = rank_correlations(x, ys | {"same": np.ones(120)}, unit, "spearman", DRAWS, "x")
    assert (found.left_out, set(found.values)) == (("same",), {"a", "b"})
    nobody = rank_correlations(x, {"same": np.ones(120)}, unit, "spearman", DRAWS, "x")
    assert (nobody.best_set, nobody.reason) == ((), "the values of no candidate vary")


# --- degenerate data -------------------------------------------------------------------------------------


def test_identical_candidates_may_all_be_the_best():
    items, unit = candidates("a")
    found = rank_means(dict.fromkeys("xyz", items["a"]), unit, DRAWS, "x")
    assert found.best_set == ("x", "y", "z")
    assert (found.rank_low, found.rank_high) == (dict.fromkeys("xyz", 1), dict.fromkeys("xyz", 3))


def test_one_candidate_is_alone():
    items, unit = candidates("a")
    found = rank_means(items, unit, DRAWS, "x")
    assert (found.best_set, found.rank_low, found.rank_high) == (("a",), {"a": 1}, {"a": 1})


@pytest.mark.parametrize("units", [1, 9])
def test_under_ten_units_there_is_no_verdict_at_all(units):
    items = {"a": np.zeros(90), "b": np.ones(90)}
    found = rank_means(items, np.arange(90) % units, DRAWS, "x")
    assert (found.best_set, found.rank_low, found.rank_high) == ((), {}, {})
    assert found.reason == f"that takes 10 independent units; there are {units}"
    assert found.values == {"b": 1.0, "a": 0.0}


def test_no_candidates_and_nothing_defined_have_no_verdict():
    none = np.empty(0, dtype=np.int64)
    assert rank_means({}, none, DRAWS, "x").reason == "no candidate is defined for 95% of the items"
    nothing = rank_means({"a": np.full(30, NAN)}, np.arange(30), DRAWS, "x")
    assert nothing == Standings(
        left_out=("a",), undefined_as_wrong={}, reason="no candidate is defined for 95% of the items"
    )


def test_candidates_without_an_item_in_common_have_no_verdict():
    # 25 candidates, each without a vector for a different one of 25 texts.
    items = {f"e{k}": np.where(np.arange(25) == k, NAN, 1.0) for k in range(25)}
    found = rank_means(items, np.arange(25), DRAWS, "x")
    assert (found.left_out, found.items, found.reason) == ((), 0, "no item is defined for all candidates")


def test_the_seed_decides_nothing_that_is_clear():
    items, unit = candidates("abc", step=0.5)
    assert len({rank_means(items, unit, Draws(seed), "x").best_set for seed in range(5)}) == 1


NO_GAP = Estimate(0.0, 0.0, 0.0, 1, 1)


def test_by_how_much_the_first_is_too_high_is_the_mean_of_a_plain_loop_over_resamples():
    rng = np.random.default_rng(4)
    sums, sizes = rng.normal(size=(30, 4)), np.full(30, 2.0)
    is_best = np.array([True, True, False, True])
    here = sums.sum(axis=0) / 60
    of_highest, largest = [], []
    for block in counts(30, Draws(0, 500), "x"):
        for drawn in block:
            means = np.array([sum(c * sums[u, k] for u, c in enumerate(drawn)) / 60 for k in range(4)])
            of_highest.append((means - here)[means.argmax()])
            largest.append(max((means - here)[k] for k in (0, 1, 3)))
    found = FirstOfSeveral.of(sums, sizes, is_best, NO_GAP, Draws(0, 500), "x")
    assert found.too_high == pytest.approx(sorted([np.mean(of_highest), np.mean(largest)]))
    assert 0 < found.too_high[0] < found.too_high[1]


def test_the_interval_of_the_first_is_wider_the_more_candidates_there_are():
    # With many independent normal candidates the quantiles are known: 1.96 of one, Φ⁻¹(0.975^(1/K)) of K.
    rng = np.random.default_rng(4)
    for number, wanted in ((2, 2.236), (20, 3.018)):
        sums = rng.normal(size=(2000, number))
        sums = sums[:, np.argsort(-sums.sum(axis=0))]
        found = FirstOfSeveral.of(sums, np.ones(2000), np.ones(number, dtype=bool), NO_GAP, Draws(0, 10_000), "x")
        assert found.widening == pytest.approx(wanted / 1.960, abs=0.04)


def test_the_lead_has_the_interval_of_its_pair_made_longer_for_all_pairs():
    rng = np.random.default_rng(4)
    sums = rng.normal(size=(2000, 20))
    gap = Estimate(0.5, 0.3, 0.6, 2000, 2000)
    is_best = np.arange(20) != 1
    low, high = FirstOfSeveral.of(sums, np.ones(2000), is_best, gap, Draws(0, 10_000), "x").lead
    # Tukey's studentised range of 20 means is 5.01 in standard errors of one, 5.01/√2 in those of a difference.
    longer = 5.01 / 2**0.5 / 1.960
    assert (low, high) == pytest.approx((0.5 - 0.2 * longer, 0.5 + 0.1 * longer), abs=0.01)
    # A second that may be the best is not shown to be behind.
    low, _ = FirstOfSeveral.of(sums, np.ones(2000), is_best | True, gap, Draws(0, 100), "x").lead
    assert low <= 0


def test_the_lead_of_two_that_are_right_on_the_same_items_is_not_sure_to_be_0():
    right = np.ones(60)
    values = {"a": right, "b": right.copy(), "c": (np.arange(60) > 20).astype(float)}
    low, high = rank_means(values, np.arange(60), Draws(), of_shares=True).first.lead
    assert low < -0.02
    assert high > 0.02


def test_candidates_that_are_the_same_have_no_wider_interval():
    sums = np.repeat(np.arange(30.0)[:, None] % 2, 3, axis=1)
    found = FirstOfSeveral.of(sums, np.ones(30), np.ones(3, dtype=bool), NO_GAP, Draws(0, 200), "x")
    assert (found.widening, found.lead) == (pytest.approx(1.0), (0.0, 0.0))
