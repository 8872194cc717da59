"""How often a test set whose size was planned from a small pilot shows the difference that it was planned for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import stats

from embassay.stats.detectable import FEW_DEGREES, POWER, precision_of_values
from simulations import Row, mean_of, simulation
from simulations.designs import Floats, Ints, normals, stream, unit_sizes

DIFFERENCE = 0.04
KNOWN = {("Pareto", 0.7): 0.5, ("zipf", 0.3): 0.65, ("zipf", 0.7): 0.25}
"""The average power at least of pilots that have not met a large unit yet; most pilots of these designs are weak."""
MANY = 40_000
"""Units that show the true variance."""


def sizes_of(kind: str, units: int, rng: np.random.Generator) -> Ints:
    """Return (units,) numbers of items: as in the other designs, or of Zipf's law, cut at 60."""
    if kind == "zipf":
        return np.minimum(60, rng.zipf(1.8, units))
    return unit_sizes(kind, units, rng)


def differences(
    rng: np.random.Generator, kind: str, units: int, within: float, discordant: float
) -> tuple[Floats, Ints]:
    """Draw paired answers that differ in a share of the items, and by ``DIFFERENCE`` on average; and their units."""
    unit = np.repeat(np.arange(units), sizes_of(kind, units, rng))
    position = stats.norm.cdf(normals(rng, unit, within, 1)[:, 0])
    losses, wins = (discordant - DIFFERENCE) / 2, (discordant + DIFFERENCE) / 2
    return np.where(position < losses, -1.0, np.where(position > 1 - wins, 1.0, 0.0)), unit


def variance_per_unit(gaps: Floats, unit: Ints) -> float:
    """Return the variance of the mean difference times the number of units, by a loop of its own."""
    sums, sizes = np.bincount(unit, weights=gaps), np.bincount(unit)
    residuals = sums - gaps.mean() * sizes
    return float(residuals.var() / sizes.mean() ** 2)


def power(variance: float, units: int) -> float:
    """Return how often so many units show ``DIFFERENCE``, by the normal law."""
    return float(stats.norm.cdf(DIFFERENCE / np.sqrt(variance / units) - stats.norm.ppf(0.975)))


@simulation("pilots", "Sizes planned from a pilot: the average power where 80 % is promised")
def pilots(repeats: int = 1000) -> Iterator[Row]:
    """Cross sizes, units, correlations and shares of items that differ; pilots that are called weak promise nothing."""
    for kind in ("equal", "Pareto", "zipf"):
        for within, discordant in ((0.0, 0.1), (0.0, 0.4), (0.3, 0.4), (0.7, 0.1), (0.7, 0.4)):
            rng = stream("pilots", kind, within, discordant)
            true = variance_per_unit(*differences(rng, kind, MANY, within, discordant))
            for units in (25, 100, 600):
                powers, powers_of_estimate = [], []
                for _ in range(repeats):
                    gaps, unit = differences(rng, kind, units, within, discordant)
                    precision = precision_of_values(gaps, np.zeros_like(gaps), unit, of_shares=True)
                    if precision is None or precision.freedom < FEW_DEGREES:
                        continue
                    powers.append(power(true, precision.sure.units_needed(DIFFERENCE)))
                    powers_of_estimate.append(power(true, precision.units_needed(DIFFERENCE)))
                if len(powers) < repeats / 10:
                    continue
                design = f"{units} units, {kind} sizes, correlation {within:g}, {discordant:.0%} differ"
                design += f" ({len(powers) / repeats:.0%} of the pilots are not weak)"
                least = KNOWN.get((kind, within), POWER - 0.03)
                yield Row(design, "power", (POWER - 0.03, 0.95), *mean_of(powers), accepted=(least, 1.0))
                without = "power, of sizes from the estimated variance itself"
                yield Row(design, without, (0.0, 1.0), *mean_of(powers_of_estimate), accepted=(0.0, 1.0))
