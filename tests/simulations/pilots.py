"""How often a test set whose size was planned from a small pilot shows the difference that it was planned for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from scipy import stats

from embassay.stats.detectable import POWER, Precision
from embassay.stats.labels import Labels, effective_number
from simulations import Row, mean_of, simulation
from simulations.comparisons import answers
from simulations.designs import Floats, Ints, stream, units_of_items

SHARES = (0.8, 0.74)
DIFFERENCE = SHARES[0] - SHARES[1]
MANY = 20_000
"""Units that show the true variance."""


def variance_per_item(differences: Floats, unit: Ints) -> float:
    """Return the variance of the mean difference times the number of items, by a loop of its own."""
    sums, sizes = np.bincount(unit, weights=differences), np.bincount(unit)
    return float((sums - differences.mean() * sizes).var() / sizes.mean())


def power(variance: float, items: int) -> float:
    """Return how often so many items show ``DIFFERENCE``, by the normal law."""
    return float(stats.norm.cdf(DIFFERENCE / np.sqrt(variance / items) - stats.norm.ppf(0.975)))


@simulation("pilots", "Sizes planned from a pilot: the average power where 80 % is planned for")
def pilots(repeats: int = 400) -> Iterator[Row]:
    """Cross sizes, units, correlations within units and between the two systems."""
    for sizes, units, within, between in product(
        ("1 item", "4 items", "Pareto"), (25, 100), (0.0, 0.3, 0.7), (0.5, 0.8)
    ):
        if sizes == "1 item" and within:
            continue
        rng = stream("pilots", sizes, units, within, between)
        unit = units_of_items(sizes, MANY, rng)
        true = variance_per_item(np.subtract(*answers(rng, unit, SHARES, within, between).T), unit)
        powers = []
        for _ in range(repeats):
            unit = units_of_items(sizes, units, rng)
            a, b = answers(rng, unit, SHARES, within, between).T
            labels = Labels.of(unit)
            precision = Precision.of(a - b, labels, effective_number(labels, [a, b], of_shares=True))
            items = precision.items_needed(DIFFERENCE) if precision else None
            assert items is not None
            powers.append(power(true, items))
        design = f"{units} units, {sizes}, correlation {within:g}, between the two {between:g}"
        yield Row(design, "power", (POWER - 0.05, 1.0), *mean_of(powers), accepted=(POWER - 0.1, 1.0))
