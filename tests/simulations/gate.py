"""The gate: how often a check calls equally good models worse, misses a loss, or passes one of the margin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np

from embassay.comparison.losses import PairedMetric, changes_of, units_to_detect
from embassay.stats.detectable import Precision
from embassay.types import Draws
from simulations import Row, rate, simulation
from simulations.designs import Floats, Ints

MARGIN = 0.02
DRAWS = Draws(0, 20)
"""Few resamples: they make intervals, on which the outcome for shares does not depend."""
SIZES = {"1 item": (1, 0.0), "4 items": (4, 0.3)}
"""Items of a unit, and the correlation of their gaps."""


@dataclass(frozen=True)
class Design:
    """A check of some candidates on some metrics, all shares on the same items.

    Attributes
    ----------
    differ
        The share of the items on which old and new differ.
    sizes
        A name in ``SIZES``.
    """

    candidates: int
    metrics: int
    differ: float
    sizes: str
    units: int

    def __str__(self) -> str:
        """Return the design in words."""
        return f"{self.candidates} x {self.metrics} tests, {self.units} units, {self.sizes}, {self.differ:.0%} differ"

    @property
    def unit(self) -> Ints:
        """(n,) the unit of each item."""
        return np.repeat(np.arange(self.units), SIZES[self.sizes][0])

    def gaps(self, rng: np.random.Generator, loss: float) -> Floats:
        """Return (n,) gaps of 1, 0 and −1 with a mean of −loss, of which a share ``differ`` is not 0.

        With probability √correlation an item copies the gap of its unit.
        """
        unit = self.unit
        correlation = SIZES[self.sizes][1]
        chances = [(self.differ + loss) / 2, 1 - self.differ, (self.differ - loss) / 2]
        of_unit = rng.choice([-1.0, 0.0, 1.0], self.units, p=chances)[unit]
        own = rng.choice([-1.0, 0.0, 1.0], len(unit), p=chances)
        return np.where(rng.random(len(unit)) < sqrt(correlation), of_unit, own)

    def outcomes(self, rng: np.random.Generator, first_loss: float) -> list[str]:
        """Return the outcome of each test of a check; only the first one has a loss."""
        pairs = []
        for candidate in range(self.candidates):
            before = None
            for metric in range(self.metrics):
                loss = first_loss if candidate == metric == 0 else 0.0
                gaps = self.gaps(rng, loss)
                if before is not None and loss == 0.0 and first_loss == 0.0:
                    # The metrics of a candidate are correlated: they are right about the same items.
                    gaps = np.where(rng.random(len(gaps)) < 0.7, before, gaps)
                before = gaps
                old = np.where(gaps == 0, rng.random(len(gaps)) < 0.7, gaps < 0).astype(np.float64)
                pairs.append(self.pair(f"{candidate}", f"{metric}", old, old + gaps))
        return [change.outcome for change in changes_of(pairs, DRAWS)]

    def pair(self, candidate: str, metric: str, old: Floats, new: Floats) -> PairedMetric:
        """Return the values of one test."""
        item = np.array([""] * len(old))
        return PairedMetric(candidate, "", "", metric, MARGIN, old, new, self.unit, item, (metric,))


def planned(candidates: int, metrics: int, differ: float, sizes: str, loss: float) -> Design:
    """Return the design with as many units as are planned to detect a loss with a power of 95 %."""
    items, correlation = SIZES[sizes]
    pilot = 1000
    effect = 1 + (items - 1) * correlation
    effective = pilot * items / effect
    error = sqrt((differ - loss**2) / effective)
    precision = Precision(error, effective, pilot, pilot * items, candidates * metrics)
    units = units_to_detect(precision, loss, power=0.95)
    return Design(candidates, metrics, differ, sizes, units)


@simulation("gate-equal", "The gate: how often a check of equally good models reports a regression")
def equal_models(repeats: int = 2000) -> Iterator[Row]:
    """Cross numbers of tests and sizes of units with shares of items that differ."""
    for candidates, metrics in ((1, 1), (3, 1), (3, 3)):
        for units, sizes in ((300, "1 item"), (1000, "1 item"), (150, "4 items")):
            for differ in (0.05, 0.1, 0.2):
                design = Design(candidates, metrics, differ, sizes, units)
                rng = np.random.default_rng([11, candidates, metrics, units, int(100 * differ)])
                hits = sum("regression" in design.outcomes(rng, 0.0) for _ in range(repeats))
                yield Row(str(design), "reports a regression", (0.0, 0.05), *rate(hits, repeats), accepted=(0.0, 0.05))


@simulation("gate-loss", "The gate: how often a loss of twice the margin is found, at the planned size")
def loss_of_twice_the_margin(repeats: int = 2000) -> Iterator[Row]:
    """Plan for 95 % and count."""
    for candidates, metrics in ((1, 1), (3, 1), (3, 3)):
        for sizes in SIZES:
            for differ in (0.05, 0.1, 0.2):
                design = planned(candidates, metrics, differ, sizes, 2 * MARGIN)
                rng = np.random.default_rng([12, candidates, metrics, design.units])
                hits = sum(design.outcomes(rng, 2 * MARGIN)[0] == "regression" for _ in range(repeats))
                yield Row(str(design), "finds the loss", (0.95, 1.0), *rate(hits, repeats), accepted=(0.95, 1.0))


@simulation("gate-margin", "The gate: how often a loss of the margin passes")
def loss_of_the_margin(repeats: int = 2000) -> Iterator[Row]:
    """One test, for which a pass is most likely, and three."""
    for candidates in (1, 3):
        for units, sizes in ((300, "1 item"), (1000, "1 item"), (150, "4 items"), (500, "4 items")):
            for differ in (0.05, 0.1, 0.2):
                design = Design(candidates, 1, differ, sizes, units)
                rng = np.random.default_rng([13, candidates, units, int(100 * differ)])
                hits = sum(set(design.outcomes(rng, MARGIN)) == {"pass"} for _ in range(repeats))
                yield Row(str(design), "passes", (0.0, 0.05), *rate(hits, repeats), accepted=(0.0, 0.05))
