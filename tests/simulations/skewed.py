"""Means of skewed items: tests and intervals of differences and of means, and their power.

Most laws here have many small gains and few large losses, of mean 0. The sample then often misses the losses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy import stats

from embassay.core.metric_key import MetricKey
from embassay.core.types import Draws
from embassay.stats.families import Roles, compare_means
from embassay.stats.labels import Labels
from embassay.stats.resample import mean
from simulations import Row, rate, simulation
from simulations.designs import Floats, Ints, normals, stream, units_of_items


def _pareto(index: float) -> Callable[[Floats], Floats]:
    return lambda z: index / (index - 1) - stats.norm.sf(z) ** (-1 / index)


def _rare(share: float) -> Callable[[Floats], Floats]:
    """Return a law that loses 20 in a share of the items and gains a little in the others, with some spread."""
    end = stats.norm.ppf(share)
    middle_of_others = stats.norm.pdf(end) / (1 - share)
    return lambda z: np.where(z < end, -20.0, 20 * share / (1 - share) + 0.2 * (z - middle_of_others))


SYMMETRIC: dict[str, Callable[[Floats], Floats]] = {
    "normal": lambda z: z,
    "reciprocal ranks": lambda z: np.sign(z) * (1 - 1 / np.floor(stats.norm.sf(np.abs(z)) ** -0.5)),
}
SKEWED: dict[str, Callable[[Floats], Floats]] = {
    "lognormal": lambda z: np.exp(0.5) - np.exp(z),
    "lognormal, σ 1.5": lambda z: np.exp(1.125) - np.exp(1.5 * z),
    "Pareto, index 2.5": _pareto(2.5),
}
RARE: dict[str, Callable[[Floats], Floats]] = {"2 % lose 20": _rare(0.02), "10 % lose 20": _rare(0.1)}
KEY = MetricKey("accuracy")
LAWS = SYMMETRIC | SKEWED | RARE
"""Laws of a difference, all of mean 0, as maps of a standard normal value."""
UNITS = (20, 100, 400)
SIZES = (("1 item", 0.0), ("Pareto", 0.7))
"""Sizes of units, and the correlation of the normal values within them."""
UNSEEN = {("2 % lose 20", 20): 0.72, ("2 % lose 20", 100): 0.17, ("10 % lose 20", 20): 0.15}
"""How often nearly no large loss is among so many units: then no sample shows that there are any."""
KNOWN = 0.1
"""The error that is known of skewed laws, where 20 units of unequal sizes show too little of the tail."""


def _designs() -> Iterator[tuple[str, int, str, float, float]]:
    """Yield laws, units, sizes, correlations, and the largest error that is accepted."""
    for law in LAWS:
        for units in UNITS:
            for sizes, within in SIZES:
                most = UNSEEN.get((law, units), 0.05 if law in SYMMETRIC else KNOWN)
                yield law, units, sizes, within, most


def _design(law: str, units: int, sizes: str, within: float) -> str:
    return f"{units} units, {sizes}, {law}, correlation {within:g}"


def _gaps(rng: np.random.Generator, law: str, unit: Ints, within: float) -> Floats:
    return LAWS[law](normals(rng, unit, within, 1)[:, 0])


def _is_called_different(gaps: Floats, unit: Ints, repeat: int) -> bool:
    """Return whether the test calls two encoders with these differences different; the interval must agree."""
    values = {"a": gaps, "b": np.zeros(len(gaps))}
    roles = Roles(("a",), lexical="b")
    (row,) = compare_means(KEY, values, Labels.of(unit), roles, Draws(repeat), "skewed")
    assert row.low is not None and row.high is not None
    assert row.is_significant == (not row.low <= 0 <= row.high)
    return row.is_significant


@simulation("skewed-test", "Differences of skewed means: how often encoders with equal means are called different")
def size_of_the_test(repeats: int = 200) -> Iterator[Row]:
    """Cross laws, units and sizes."""
    for law, units, sizes, within, most in _designs():
        rng = stream("skewed test", law, units, sizes)
        different = 0
        for repeat in range(repeats):
            unit = units_of_items(sizes, units, rng)
            different += _is_called_different(_gaps(rng, law, unit, within), unit, repeat)
        design = _design(law, units, sizes, within)
        yield Row(design, "called different", (0.0, 0.05), *rate(different, repeats), accepted=(0.0, most))


@simulation("skewed-means", "Means of skewed items: how often the interval holds the mean")
def coverage_of_means(repeats: int = 600) -> Iterator[Row]:
    """Cross laws, units and sizes."""
    for law, units, sizes, within, most in _designs():
        rng = stream("skewed mean", law, units, sizes)
        held = 0
        for repeat in range(repeats):
            unit = units_of_items(sizes, units, rng)
            estimate = mean(_gaps(rng, law, unit, within), unit, Draws(repeat, 400), "skewed")
            assert estimate.low is not None and estimate.high is not None
            held += estimate.low <= 0 <= estimate.high
        design = _design(law, units, sizes, within)
        least = min(0.92, 0.98 - most)
        yield Row(design, "coverage", (0.93, 0.97), *rate(held, repeats), accepted=(least, 1.0))


@simulation("skewed-power", "Differences of skewed means: how often a true difference is found")
def power_of_the_test(repeats: int = 100) -> Iterator[Row]:
    """Add 2.8 and 5 standard errors; where losses are large and rare, caution costs power."""
    for law in (*SYMMETRIC, *SKEWED):
        for units in UNITS:
            for errors, least in ((2.8, 0.65), (5.0, 0.9)):
                rng = stream("skewed power", law, units)
                unit = np.arange(units)
                difference = errors * float(LAWS[law](rng.standard_normal(1_000_000)).std()) / np.sqrt(units)
                found = 0
                for repeat in range(repeats):
                    found += _is_called_different(_gaps(rng, law, unit, 0.0) + difference, unit, repeat)
                if law in SKEWED:
                    least = 0.2
                design = f"{units} units, 1 item, {law}, {errors:g} standard errors"
                yield Row(design, "found", (least, 1.0), *rate(found, repeats), accepted=(least, 1.0))
