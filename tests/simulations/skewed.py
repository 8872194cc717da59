"""Skewed differences with equal means: how often an encoder is called better or worse, and how often intervals hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from embassay.stats.families import Roles, compare_means
from embassay.stats.resample import mean
from embassay.types import Draws
from simulations import Row, rate, simulation
from simulations.designs import Floats

RESAMPLES = 200
UNITS = (20, 50, 150, 400)


def lognormal(spread: float) -> Callable[[np.random.Generator, int], Floats]:
    """Return a law of mean 0 in which most gain a little and few lose much."""
    return lambda rng, units: np.exp(spread**2 / 2) - np.exp(spread * rng.normal(size=units))


def rare_losses(share: float) -> Callable[[np.random.Generator, int], Floats]:
    """Return a law of mean 0 and variance 1 in which a share of the units lose much, and all others gain alike."""
    loss = np.sqrt((1 - share) / share)

    def law(rng: np.random.Generator, units: int) -> Floats:
        gains = np.where(rng.random(units) < share, -loss, share * loss / (1 - share))
        return gains + 0.05 * rng.normal(size=units)

    return law


LAWS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "normal": lambda rng, units: rng.normal(size=units),
    "exponential": lambda rng, units: 1 - rng.exponential(size=units),
    "lognormal, spread 1": lognormal(1.0),
    "lognormal, spread 1.5": lognormal(1.5),
    "Pareto, index 2.5": lambda rng, units: 1 / 1.5 - rng.pareto(2.5, size=units),
    "10% lose much": rare_losses(0.1),
    "5% lose much": rare_losses(0.05),
    "2% lose much": rare_losses(0.02),
}


@simulation("skewed", "Means of skewed differences: false better and worse, and coverage")
def skewed_differences(repeats: int = 1000) -> Iterator[Row]:
    """Cross laws with numbers of units; a sample without any of the rare losses cannot be recognised."""
    for law, draw in LAWS.items():
        for units in UNITS:
            rng = np.random.default_rng([12, len(law), units])
            unit = np.arange(units)
            better = worse = covered = unseen = 0
            for repeat in range(repeats):
                gaps = draw(rng, units)
                values = {"old": np.zeros(units), "new": gaps}
                (found,) = compare_means(values, unit, Roles(("old", "new")), Draws(repeat, RESAMPLES))
                better += found.significant and found.difference > 0
                worse += found.significant and found.difference < 0
                estimate = mean(gaps, unit, Draws(repeat, RESAMPLES), "skewed")
                covered += estimate.low <= 0 <= estimate.high
                unseen += (gaps > -1).all()
            design = f"{units} units, {law}"
            # Nothing in such a sample tells that there are losses.
            share_unseen = unseen / repeats if law.endswith("lose much") else 0.0
            most = max(0.05, share_unseen)
            yield Row(design, "called better", (0.0, 0.025), *rate(better, repeats), accepted=(0.0, max(0.07, most)))
            yield Row(design, "called worse", (0.0, 0.025), *rate(worse, repeats), accepted=(0.0, 0.04))
            least = 0.78 if "1.5" in law or "Pareto" in law else 0.88
            least = min(least, 0.97 - share_unseen)
            yield Row(design, "coverage", (0.95, 1.0), *rate(covered, repeats), accepted=(least, 1.0))
