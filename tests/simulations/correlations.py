"""How often the 95 % interval of Pearson's coefficient holds the truth, with light and with heavy tails."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy import stats

from embassay.core.types import Draws
from embassay.stats.correlate import correlate
from simulations import Row, rate, simulation
from simulations.designs import Floats, stream

LAWS: dict[str, Callable[[Floats], Floats]] = {
    "normal": lambda z: z,
    "uniform": stats.norm.cdf,
    "scores 0 to 5": lambda z: np.digitize(z, [-1.2, -0.6, 0, 0.6, 1.2]).astype(np.float64),
    "exponential": lambda z: stats.expon.isf(stats.norm.sf(z)),
    "lognormal": np.exp,
}
"""The law of the first value, as a map of a standard normal one; the second is normal."""


def pairs(rng: np.random.Generator, law: str, r: float, items: int) -> tuple[Floats, Floats]:
    """Draw pairs whose normal values have the correlation r."""
    z = rng.standard_normal((2, items))
    return LAWS[law](z[0]), r * z[0] + np.sqrt(1 - r * r) * z[1]


KNOWN = {("lognormal", 50): 0.25, ("lognormal", 150): 0.17}
"""With few units the tail that decides the coefficient may not have shown yet."""


@simulation("pearson", "Pearson's coefficient: how often it has an interval, and that misses")
def pearson(repeats: int = 2000) -> Iterator[Row]:
    """Cross laws, correlations and numbers of units."""
    for law in LAWS:
        for r in (0.0, 0.8):
            rng = stream("pearson", law, r)
            true = np.corrcoef(*pairs(rng, law, r, 2_000_000))[0, 1]
            for units in (50, 150, 450):
                found = [
                    correlate(*pairs(rng, law, r, units), np.arange(units), "pearson", Draws(repeat, 400), "simulated")
                    for repeat in range(repeats)
                ]
                with_interval = [estimate for estimate in found if estimate.low is not None]
                misses = sum(not estimate.low <= true <= estimate.high for estimate in with_interval)
                share = len(with_interval) / repeats
                design = f"{units} units, {law} against normal, r {r:g} ({share:.0%} have one)"
                most = KNOWN.get((law, units), 0.07)
                yield Row(design, "misses", (0.0, 0.07), *rate(misses, repeats), accepted=(0.0, most))
