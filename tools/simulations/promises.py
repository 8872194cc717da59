"""Simulations of the promises: thresholds that lose at most 2 points, and encoders that are not worse by 2 points.

Each function returns rows: the design, the figure, what it should be, what was seen, and the standard error of the
simulation. The generators are written for this file; they share no code with what they test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, stats

from embassay.stats.noninferiority import mean_not_worse, share_not_worse
from embassay.stats.thresholds import Threshold, recommend
from embassay.types import Draws

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
LOSS = MARGIN = 0.02


class Row(NamedTuple):
    """One figure of one design: the range it should be in, what was seen, and the Monte Carlo standard error."""

    design: str
    figure: str
    wanted: tuple[float, float]
    seen: float
    error: float

    @property
    def holds(self) -> bool:
        """Whether the figure is in its range, within three standard errors of the simulation."""
        low, high = self.wanted
        return low - 3 * self.error <= self.seen <= high + 3 * self.error


SIZES: dict[str, Callable[[np.random.Generator, int], Ints]] = {
    "1 item": lambda rng, units: np.ones(units, dtype=np.int64),
    "7 items": lambda rng, units: np.full(units, 7),
    "25 items": lambda rng, units: np.full(units, 25),
    "Pareto": lambda rng, units: np.minimum(28, 4 * rng.random(units) ** (-1 / 1.2)).astype(np.int64),
}


def clustered(rng: np.random.Generator, unit: Ints, within: float) -> Floats:
    """Return (items,) standard normal values that correlate by ``within`` inside a unit."""
    of_unit = rng.standard_normal(int(unit.max()) + 1)[unit]
    return sqrt(within) * of_unit + sqrt(1 - within) * rng.standard_normal(len(unit))


def share_of(hits: list[bool]) -> tuple[float, float]:
    """Return the share of hits and its standard error."""
    seen = float(np.mean(hits))
    return seen, sqrt(max(seen * (1 - seen), 1 / len(hits)) / len(hits))


# --- thresholds ------------------------------------------------------------------------------------------


class Questions(NamedTuple):
    """A law of questions: similarities of right answers, and how often an answer of a similarity is found.

    A share ``lost`` of the units lies ``LOST`` standard deviations below the others, all its questions together.
    """

    within: float
    lost: float = 0.0

    def draw(self, rng: np.random.Generator, unit: Ints) -> tuple[Floats, Floats]:
        """Return (n,) similarities of right answers, and whether they are found."""
        lost = (rng.random(int(unit.max()) + 1) < self.lost)[unit]
        right = clustered(rng, unit, self.within) - LOST * lost
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


def confident_thresholds(repeats: int = 2000) -> list[Row]:
    """How often a threshold that is recommended with 95 % confidence loses more than 2 points all the same."""
    return _confident(CORRELATED, repeats)


def confident_thresholds_of_lost_units(repeats: int = 2000) -> list[Row]:
    """The same where a few units lose all their answers together, which 10 % of the answers hardly show.

    A known limit: with several questions a unit the promise is broken in 5-29 % of the cases.
    """
    return _confident(LOST_UNITS, repeats)


def _confident(laws: dict[str, Questions], repeats: int) -> list[Row]:
    designs = [(150, "1 item"), (450, "1 item"), (1000, "1 item"), (28, "25 items"), (70, "7 items"), (70, "25 items")]
    designs += [(150, "7 items"), (150, "Pareto"), (450, "Pareto")]
    rows = []
    for units, sizes in designs:
        for name, law in laws.items():
            if sizes == "1 item" and law.within:
                continue
            losses = [loss for guarantee, loss in _losses(units, sizes, law, repeats) if guarantee == "confidence"]
            if len(losses) < repeats / 10:
                continue
            design = f"{units} units, {sizes}, {name} ({len(losses) / repeats:.0%} have one)"
            rows.append(Row(design, "loses more than 2 points", (0.0, 0.05), *share_of([x > LOSS for x in losses])))
    return rows


def average_thresholds(repeats: int = 2000) -> list[Row]:
    """The mean true loss of thresholds that are recommended on average, with 49 to 148 effective questions."""
    designs = [(60, "1 item"), (100, "1 item"), (145, "1 item"), (28, "7 items"), (28, "25 items"), (28, "Pareto")]
    designs += [(70, "7 items"), (70, "25 items"), (70, "Pareto")]
    rows = []
    for units, sizes in designs:
        for name, law in {**CORRELATED, **LOST_UNITS}.items():
            if sizes == "1 item" and law.within:
                continue
            losses = [loss for guarantee, loss in _losses(units, sizes, law, repeats) if guarantee == "average"]
            if len(losses) < repeats / 10:
                continue
            design = f"{units} units, {sizes}, {name} ({len(losses) / repeats:.0%} have one)"
            error = float(np.std(losses)) / sqrt(len(losses))
            rows.append(Row(design, "mean loss", (0.0, LOSS), float(np.mean(losses)), error))
    return rows


def _losses(units: int, sizes: str, law: Questions, repeats: int) -> Iterator[tuple[str | None, float]]:
    """Yield what is promised of each recommended threshold, and its true loss."""
    rng = np.random.default_rng([1, units, len(sizes), int(100 * law.within), int(100 * law.lost)])
    # The true loss on a fine grid of thresholds, once.
    grid = np.linspace(-12, 5, 17_001)
    true = law.losses(grid)
    for _ in range(repeats):
        unit = np.repeat(np.arange(units), SIZES[sizes](rng, units))
        right, success = law.draw(rng, unit)
        # Beside the right answers wrong ones are retrieved too.
        observed = np.concatenate([right[success == 1], rng.normal(-0.5, 1, len(right))])
        found: Threshold = recommend(right, success, observed, unit, LOSS)
        if found.value is not None:
            yield found.guarantee, float(np.interp(found.value, grid, true))


# --- not worse -------------------------------------------------------------------------------------------


def paired_answers(rng: np.random.Generator, unit: Ints, wins: float, losses: float, within: float) -> Floats:
    """Return (n,) new answers less old ones: 1 in a share ``wins`` of the items, −1 in a share ``losses``."""
    position = stats.norm.cdf(clustered(rng, unit, within))
    return np.where(position < losses, -1.0, np.where(position > 1 - wins, 1.0, 0.0))


DISCORDANT = (0.02, 0.05, 0.2, 0.5)
"""Shares of the items on which two encoders differ."""


def size_for_shares(repeats: int = 4000) -> list[Row]:
    """How often an encoder that is worse by exactly 2 points passes as not worse by 2 points."""
    rows = []
    for units in (28, 70, 155, 300, 1000):
        for sizes, within in (("1 item", 0.0), ("7 items", 0.0), ("7 items", 0.3), ("7 items", 0.7), ("Pareto", 0.3)):
            for discordant in DISCORDANT:
                rng = np.random.default_rng([2, units, len(sizes), int(10 * within), int(100 * discordant)])
                wins, losses = (discordant - MARGIN) / 2, (discordant + MARGIN) / 2
                passed = [_passes(rng, units, sizes, wins, losses, within) for _ in range(repeats)]
                design = f"{units} units, {sizes}, {discordant:.0%} differ, correlation {within}"
                rows.append(Row(design, "passes although 2 points worse", (0.0, 0.05), *share_of(passed)))
    return rows


def power_for_shares(repeats: int = 2000) -> list[Row]:
    """How often an equally good encoder passes as not worse by 2 points: hardly ever under 300 units."""
    rows = []
    for units, wanted in ((70, (0.0, 0.3)), (300, (0.1, 0.8)), (1000, (0.3, 1.0)), (3000, (0.5, 1.0))):
        for discordant in (0.02, 0.05, 0.1):
            rng = np.random.default_rng([3, units, int(100 * discordant)])
            passed = [_passes(rng, units, "1 item", discordant / 2, discordant / 2, 0.0) for _ in range(repeats)]
            design = f"{units} units, 1 item, {discordant:.0%} differ, equally good"
            rows.append(Row(design, "passes", wanted, *share_of(passed)))
    return rows


def _passes(rng: np.random.Generator, units: int, sizes: str, wins: float, losses: float, within: float) -> bool:
    unit = np.repeat(np.arange(units), SIZES[sizes](rng, units))
    gaps = paired_answers(rng, unit, wins, losses, within)
    return share_not_worse(gaps, unit, MARGIN).outcome == "not worse"


GAPS: dict[str, Callable[[Floats], Floats]] = {
    "normal": lambda z: z,
    # Mostly nothing happens; where it does, rather a loss: exponential beyond the median, of mean ½ and scaled to 1.
    "skewed to losses": lambda z: -(np.maximum(stats.expon.isf(stats.norm.sf(z)), 0) - 1),
    "skewed to gains": lambda z: np.maximum(stats.expon.isf(stats.norm.sf(z)), 0) - 1,
}
"""Laws of a difference of means, of mean 0 and standard deviation 1, as maps of a standard normal value."""


def size_for_means(repeats: int = 1000) -> list[Row]:
    """How often an encoder whose mean is lower by exactly the margin passes as not worse."""
    return _size_for_means({law: GAPS[law] for law in ("normal", "skewed to gains")}, repeats)


def size_for_means_skewed_to_losses(repeats: int = 1000) -> list[Row]:
    """The same where most items gain a little and few lose much (skewness −2).

    A known limit: 9-13 % with 15-28 units, 8-9 % with 70 and more. Few units do not show the rare large losses.
    """
    law = "skewed to losses"
    return _size_for_means({law: GAPS[law]}, repeats)


def _size_for_means(laws: dict[str, Callable[[Floats], Floats]], repeats: int) -> list[Row]:
    rows = []
    for units in (15, 28, 70, 155, 450):
        for sizes, within in (("1 item", 0.0), ("7 items", 0.3), ("Pareto", 0.7)):
            for law, of_normal in laws.items():
                rng = np.random.default_rng([4, units, len(sizes), len(law)])
                passed = []
                for repeat in range(repeats):
                    unit = np.repeat(np.arange(units), SIZES[sizes](rng, units))
                    gaps = of_normal(clustered(rng, unit, within)) - MARGIN
                    found = mean_not_worse(gaps, unit, MARGIN, Draws(repeat, 400), "size of means")
                    passed.append(found.outcome == "not worse")
                design = f"{units} units, {sizes}, {law}, correlation {within}"
                rows.append(Row(design, "passes although worse by the margin", (0.0, 0.05), *share_of(passed)))
    return rows
