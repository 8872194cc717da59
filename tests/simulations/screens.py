"""What a whole screen gets wrong where all encoders are equally good: sentences, the best set, the first value."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from embassay.stats.best import rank_means
from embassay.stats.families import Roles, compare_means
from embassay.stats.shares import shares_of_encoders
from embassay.types import Draws
from simulations import Row, mean_of, rate, simulation
from simulations.comparisons import answers
from simulations.designs import units_of_items

SHARE = 0.7
CANDIDATES = (2, 5, 8, 12, 16, 20)
DESIGNS = ((60, "1 item", 0.0), (150, "4 items", 0.3))
FIRST = (
    (30, "1 item", 0.7, 0.0),
    (30, "1 item", 0.7, 0.05),
    (30, "1 item", 0.97, 0.02),
    (150, "4 items", 0.7, 0.02),
    (150, "4 items", 0.7, 0.05),
    (150, "4 items", 0.97, 0.02),
)
"""Units, their items (of which several have a correlation of 0.3), the share of all candidates but one, and by how
much that one is better."""


@simulation("screens", "A screen of equally good encoders: how often it says anything false")
def screens(repeats: int = 600) -> Iterator[Row]:
    """Cross candidates with designs; two lexical baselines are as good as all others."""
    for units, sizes, within in DESIGNS:
        for number in CANDIDATES:
            rng = np.random.default_rng([11, units, number])
            false, excluded, too_high, estimates = [], [], [], []
            own, as_first, lead = [], [], []
            names = [f"m{place}" for place in range(number)]
            roles = Roles(tuple(names), lexical=("bm25", "tfidf"), bm25=("bm25",))
            for repeat in range(repeats):
                unit = units_of_items(sizes, units, rng)
                drawn = answers(rng, unit, [SHARE] * (number + 2), within, 0.5)
                values = dict(zip([*names, "bm25", "tfidf"], drawn.T, strict=True))
                draws = Draws(repeat, 300)
                false.append(any(row.significant for row in compare_means(values, unit, roles, draws, of_shares=True)))
                standings = rank_means({name: values[name] for name in names}, unit, draws, of_shares=True)
                excluded.append(len(standings.best_set) < number)
                first = next(iter(standings.values))
                too_high.append(standings.values[first] - SHARE)
                estimates.append(standings.first.too_high)
                (shares,) = shares_of_encoders([{"x": values[first]}], unit)
                own_interval = (shares["x"].estimate.low, shares["x"].estimate.high)
                own.append(is_inside(SHARE, own_interval))
                as_first.append(is_inside(SHARE, standings.first.interval(standings.values[first], *own_interval)))
                # Whoever leads, the true lead is 0; the shares of units decide who may be the best.
                lead.append(is_inside(0.0, standings.first.lead))
            design = f"{number} candidates, {units} units, {sizes}, correlation {within:g}"
            yield Row(design, "some false sentence", (0.0, 0.15), *rate(sum(false), repeats), accepted=(0.0, 0.16))
            yield Row(
                design, "some not in the best set", (0.0, 0.5), *rate(sum(excluded), repeats), accepted=(0.0, 0.5)
            )
            seen, error = mean_of(too_high)
            # The upper estimate is a little too low for two candidates, where it is not shown.
            low, high = np.round(np.mean(estimates, axis=0), 3).tolist()
            yield Row(design, "the first value, too high by", (low, high), seen, error, (low, 1.2 * high), number=True)
            yield Row(
                design, "the first's own interval holds it", (0.95, 1.0), *rate(sum(own), repeats), accepted=(0.5, 1.0)
            )
            yield Row(design, "its interval as the first does", (0.95, 1.0), *rate(sum(as_first), repeats), (0.93, 1.0))
            yield Row(design, "the interval of its lead holds 0", (0.95, 1.0), *rate(sum(lead), repeats), (0.93, 1.0))


@simulation("screens-first", "The first of several: whether its interval and that of its lead hold")
def first_of_several(repeats: int = 120) -> Iterator[Row]:
    """Cross candidates with units, shares and how much better one of them is."""
    for units, sizes, share, ahead in FIRST:
        for number in (5, 12):
            rng = np.random.default_rng([14, units, number, int(100 * share), int(100 * ahead)])
            true = {f"m{place}": share for place in range(number)}
            true["m0"] += ahead
            too_high, estimates, as_first, lead = [], [], [], []
            for repeat in range(repeats):
                unit = units_of_items(sizes, units, rng)
                drawn = answers(rng, unit, list(true.values()), 0.3, 0.5)
                values = dict(zip(true, drawn.T, strict=True))
                standings = rank_means(values, unit, Draws(repeat, 300), of_shares=True)
                first, second = list(standings.values)[:2]
                too_high.append(standings.values[first] - true[first])
                estimates.append(standings.first.too_high)
                (shares,) = shares_of_encoders([{"x": values[first]}], unit)
                own_interval = (shares["x"].estimate.low, shares["x"].estimate.high)
                interval = standings.first.interval(standings.values[first], *own_interval)
                as_first.append(is_inside(true[first], interval))
                lead.append(is_inside(true[first] - true[second], standings.first.lead))
            design = f"{number} candidates of {share:.0%}, one better by {100 * ahead:g} points, {units} units, {sizes}"
            low, high = np.round(np.mean(estimates, axis=0), 3).tolist()
            seen, error = mean_of(too_high)
            yield Row(design, "the first value, too high by", (low, high), seen, error, (-1, 1.2 * high), number=True)
            yield Row(design, "its interval as the first", (0.95, 1.0), *rate(sum(as_first), repeats), (0.92, 1.0))
            yield Row(design, "the interval of its lead", (0.95, 1.0), *rate(sum(lead), repeats), (0.92, 1.0))


def is_inside(value: float, interval: tuple[float, float]) -> bool:
    """Return whether an interval holds a value."""
    low, high = interval
    return low <= value <= high
