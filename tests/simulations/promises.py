"""Promises: thresholds that lose at most 2 points."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import integrate, stats

from embassay.stats.labels import Labels
from embassay.stats.thresholds import Threshold, recommend
from simulations import Row, mean_of, rate, simulation
from simulations.designs import Floats, Ints, normals, units_of_items

LOSS = 0.02


class Questions(NamedTuple):
    """A law of questions: similarities of right answers, and how often an answer of a similarity is found.

    A share ``lost`` of the units lies ``LOST`` standard deviations below the others, all its questions together.
    """

    within: float
    lost: float = 0.0

    def draw(self, rng: np.random.Generator, unit: Ints) -> tuple[Floats, Floats]:
        """Return (n,) similarities of right answers, and whether they are found."""
        lost = (rng.random(int(unit.max()) + 1) < self.lost)[unit]
        right = normals(rng, unit, self.within, 1)[:, 0] - LOST * lost
        return right, (rng.random(len(unit)) < _found(right)).astype(np.float64)

    def losses(self, thresholds: Floats) -> Floats:
        """Return the true loss at ascending thresholds: the share of questions that are found, by an answer below."""
        density = (1 - self.lost) * stats.norm.pdf(thresholds) + self.lost * stats.norm.pdf(thresholds + LOST)
        return integrate.cumulative_trapezoid(density * _found(thresholds), thresholds, initial=0.0)


LOST = 3.0


def _found(right: Floats) -> Floats:
    return np.asarray(stats.norm.cdf(1.5 + 0.5 * right))


CORRELATED = {f"correlation {within}": Questions(within) for within in (0.0, 0.3, 0.7)}
LOST_UNITS = {f"correlation {within}, 3 % of the units far below": Questions(within, 0.03) for within in (0.0, 0.3)}


@simulation("thresholds", "Thresholds with 95 % confidence: how often they lose more than 2 points all the same")
def confident_thresholds(repeats: int = 2000) -> Iterator[Row]:
    """Cross units and sizes with correlations within units."""
    yield from _confident(CORRELATED, repeats, most=0.05)


@simulation("thresholds-lost", "The same where a few units lose all their answers together")
def confident_thresholds_of_lost_units(repeats: int = 2000) -> Iterator[Row]:
    """Put 3 % of the units far below the others, which 10 % of the answers hardly show: a known limit."""
    yield from _confident(LOST_UNITS, repeats, most=0.30)


def _confident(laws: dict[str, Questions], repeats: int, most: float) -> Iterator[Row]:
    designs = [(150, "1 item"), (450, "1 item"), (1000, "1 item"), (28, "25 items"), (70, "7 items"), (70, "25 items")]
    designs += [(150, "7 items"), (150, "Pareto"), (450, "Pareto")]
    for units, sizes in designs:
        for name, law in laws.items():
            if sizes == "1 item" and law.within:
                continue
            losses = [loss for guarantee, loss in _losses(units, sizes, law, repeats) if guarantee == "confidence"]
            if len(losses) < repeats / 10:
                continue
            design = f"{units} units, {sizes}, {name} ({len(losses) / repeats:.0%} have one)"
            broken = sum(loss > LOSS for loss in losses)
            yield Row(design, "loses more than 2 points", (0.0, 0.05), *rate(broken, len(losses)), accepted=(0.0, most))


@simulation("thresholds-average", "Thresholds on average, of 49 to 148 effective questions: their mean loss")
def average_thresholds(repeats: int = 2000) -> Iterator[Row]:
    """Cross units and sizes with correlations within units, with and without units that are lost together."""
    designs = [(60, "1 item"), (100, "1 item"), (145, "1 item"), (28, "7 items"), (28, "25 items"), (28, "Pareto")]
    designs += [(70, "7 items"), (70, "25 items"), (70, "Pareto")]
    for units, sizes in designs:
        for name, law in {**CORRELATED, **LOST_UNITS}.items():
            if sizes == "1 item" and law.within:
                continue
            losses = [loss for guarantee, loss in _losses(units, sizes, law, repeats) if guarantee == "average"]
            if len(losses) < repeats / 10:
                continue
            design = f"{units} units, {sizes}, {name} ({len(losses) / repeats:.0%} have one)"
            yield Row(design, "mean loss", (0.0, LOSS), *mean_of(losses), accepted=(0.0, LOSS))


def _losses(units: int, sizes: str, law: Questions, repeats: int) -> Iterator[tuple[str | None, float]]:
    """Yield what is promised of each recommended threshold, and its true loss."""
    rng = np.random.default_rng([1, units, len(sizes), int(100 * law.within), int(100 * law.lost)])
    # The true loss on a fine grid of thresholds, once.
    grid = np.linspace(-12, 5, 17_001)
    true = law.losses(grid)
    for _ in range(repeats):
        unit = units_of_items(sizes, units, rng)
        right, success = law.draw(rng, unit)
        # Beside the right answers wrong ones are retrieved too.
        observed = np.concatenate([right[success == 1], rng.normal(-0.5, 1, len(right))])
        found: Threshold = recommend(right, success, observed, Labels.of(unit), LOSS)
        if found.value is not None:
            yield found.guarantee, float(np.interp(found.value, grid, true))
