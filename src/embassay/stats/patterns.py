"""Tests and intervals of paired differences by exchanging items that share labels together.

Under the null hypothesis two systems are exchangeable, so the signs of their differences d_i may be flipped; items that
share a label are flipped together, the more often the more labels they share. In a *pattern* every label x gets a
number z_x from N(0, 1), and item i the sign w_i of Σ z_x over its labels. With one label each, this exchanges whole
units.

The test and the interval come from the same patterns, so that the interval contains 0 exactly if p > 0.05.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np

from embassay.core.randomness import generator
from embassay.core.result import ALPHA
from embassay.core.types import Draws
from embassay.stats.labels import Labels
from embassay.stats.permutation import monte_carlo_interval, random_signs
from embassay.stats.shares import wilson
from embassay.stats.units import Floats, Ints

ROUNDS = (9_999, 99_999, 999_999)
"""The number of patterns; more are drawn where a p-value is not settled."""
MAX_ENUMERATED = 13
"""The most units of which all patterns are taken instead: 4,095."""
MAX_NUMBERS = 40_000_000
"""The most numbers that more patterns may take in memory: 320 MB."""
BLOCK = 2**20
"""The most signs that are made at once: 8 MB."""
ROUNDING = 1e-9
DIGITS = 12
"""Decimals to which typical values are rounded: they are means of the same items in another order."""


@dataclass(frozen=True, eq=False)
class Patterns:
    """Patterns of signs of label sets, drawn from a named stream; all of them where there are few units.

    Attributes
    ----------
    labels
        Those of the n items.
    purpose
        Names the stream. A larger number of patterns begins with those of a smaller one.
    number
        M: how many patterns are drawn.
    """

    labels: Labels
    draws: Draws
    purpose: tuple[str, ...]
    number: int = ROUNDS[0]

    @property
    def are_all(self) -> bool:
        """Whether the patterns are all there are, except the one that flips nothing."""
        return self.labels.is_partition and self.labels.sets <= MAX_ENUMERATED

    def more(self, columns: int) -> Patterns | None:
        """Return the next larger number of patterns; None where there are no more, or too many for k columns."""
        larger = [number for number in ROUNDS if number > self.number]
        if self.are_all or not larger or larger[0] * columns > MAX_NUMBERS:
            return None
        return replace(self, number=larger[0])

    def sums(self, columns: Floats) -> Floats:
        """Return (M, k) Σ w_i·x_i of (n, k) columns in every pattern."""
        of_sets = np.zeros((self.labels.sets, columns.shape[1]))
        np.add.at(of_sets, self.labels.label_set, columns)
        return np.concatenate([signs @ of_sets for signs in self._blocks()])

    def _blocks(self) -> Iterator[Floats]:
        """Yield (b, label sets) signs, M rows in all."""
        labels = self.labels
        if self.are_all:
            # The first sign is fixed: to flip all units does not change the size of a sum.
            numbers = np.arange(1, 2 ** (labels.sets - 1))
            flips = numbers[:, None] >> np.arange(labels.sets - 1) & 1
            yield np.concatenate([np.ones((len(numbers), 1)), 1.0 - 2 * flips], axis=1)
            return
        stream = generator(self.draws.seed, "patterns", *self.purpose)
        rows = max(1, BLOCK // max(labels.sets, labels.labels, 1))
        if labels.is_partition:
            # The signs of numbers from N(0, 1), without the numbers.
            yield from random_signs(stream, labels.sets, self.number, rows)
            return
        belongs = np.zeros((labels.labels, labels.sets))
        belongs[labels.pairs[:, 1], labels.pairs[:, 0]] = 1.0
        for start in range(0, self.number, rows):
            numbers_of_labels = stream.standard_normal((min(rows, self.number - start), labels.labels))
            yield np.where(numbers_of_labels @ belongs >= 0, 1.0, -1.0)


AnyMoved = TypeVar("AnyMoved", bound="Moved")


class Interval(NamedTuple):
    """An interval of a difference. An end at 0 that is open does not belong to it."""

    low: float
    high: float
    low_is_open: bool = False
    high_is_open: bool = False

    @property
    def is_above_0(self) -> bool:
        """Whether all of it lies above 0."""
        return self.low > 0 or (self.low == 0 and self.low_is_open)

    @property
    def is_below_0(self) -> bool:
        """Whether all of it lies below 0."""
        return self.high < 0 or (self.high == 0 and self.high_is_open)


@dataclass(frozen=True, eq=False)
class Moved:
    """The differences of k pairs.

    Attributes
    ----------
    observed
        (k,) as they are.
    moved
        (M, k) the same in every pattern.
    """

    observed: Floats
    moved: Floats


@dataclass(frozen=True, eq=False)
class Exchanged(Moved):
    """The differences of the means of k pairs, as the sums Σd and Σ w·d.

    Attributes
    ----------
    items
        (k,) the number of defined items.
    flipped
        (M, k) how many of these are flipped.
    """

    items: Floats
    flipped: Floats

    @classmethod
    def of(cls, differences: Floats, patterns: Patterns) -> Exchanged:
        """Exchange the items of (n, k) differences; NaN is undefined."""
        defined = ~np.isnan(differences)
        columns = np.where(defined, differences, 0.0)
        # Most pairs are defined for the same items, which are counted once.
        masks, place = np.unique(defined, axis=1, return_inverse=True)
        sums = patterns.sums(np.concatenate([columns, masks.astype(np.float64)], axis=1))
        pairs = differences.shape[1]
        items = masks.sum(axis=0).astype(np.float64)
        flipped = np.rint((items - sums[:, pairs:]) / 2)
        place = place.ravel()
        return cls(columns.sum(axis=0), sums[:, :pairs], items[place], flipped[:, place])

    def interval(self, pair: int, level: float = ALPHA) -> Interval:
        """Return the interval of a pair's mean difference at 1 − ``level``: Hartigan's (1969) typical values.

        F are the flipped items of a pattern, and a and b the means of d over F and over the rest. The low end is the
        smallest δ with (#{min(a, b) < δ} + ½(#{min(a, b) = δ} + 1))/(M + 1) > level, the high end the same with the
        larger one, mirrored. A pattern that flips all items or none counts as tied with every δ. An end is open where
        δ itself is excluded.
        """
        flipped, items = self.flipped[:, pair], self.items[pair]
        of_flipped = (self.observed[pair] - self.moved[:, pair]) / 2
        is_usable = (flipped > 0) & (flipped < items)
        a = of_flipped[is_usable] / flipped[is_usable]
        b = (self.observed[pair] - of_flipped[is_usable]) / (items - flipped[is_usable])
        ties = 0.5 * (len(flipped) - len(a) + 1)
        low, low_is_open = _typical(np.minimum(a, b), ties, len(flipped), level)
        high, high_is_open = _typical(-np.maximum(a, b), ties, len(flipped), level)
        return Interval(low, -high + 0.0, low_is_open, high_is_open)


def _typical(smaller: Floats, ties: float, patterns: int, level: float) -> tuple[float, bool]:
    """Return the smallest δ whose p is above a level, and whether only larger ones are: whether the end is open."""
    values, counts = np.unique(np.round(smaller, DIGITS), return_counts=True)
    below = np.cumsum(counts) - counts
    p_at = (below + 0.5 * counts + ties) / (patterns + 1)
    p_above = (below + counts + ties) / (patterns + 1)
    place = int(np.argmax(p_above > level))
    return float(values[place]), bool(p_at[place] <= level)


def mid_p(moved: Floats, observed: float, tolerance: float = ROUNDING) -> float:
    """Return (#{|moved| > |observed|} + ½(#{|moved| = |observed|} + 1))/(M + 1) of (M,) values; in (0, 1]."""
    sizes, size = np.abs(moved), abs(observed)
    larger = np.count_nonzero(sizes > size + tolerance)
    equal = np.count_nonzero(np.abs(sizes - size) <= tolerance)
    return float((larger + 0.5 * (equal + 1)) / (len(moved) + 1))


@dataclass(frozen=True, eq=False)
class Corrected:
    """The p-values of k tests.

    Attributes
    ----------
    p
        (k,) each alone.
    adjusted
        (k,) corrected for all tests of its family.
    level
        (k,) the level of the interval that belongs to the corrected test, at most 0.05: that an interval at this level
        contains 0 is the same as an adjusted p above 0.05.
    tests
        (k,) the number of tests in its family.
    """

    p: Floats
    adjusted: Floats
    level: Floats
    tests: Ints

    def is_settled(self, patterns: int) -> bool:
        """Return whether no 99 % Monte Carlo interval of an adjusted p from M patterns contains 0.05."""
        low, high = monte_carlo_interval(np.rint(self.adjusted * (patterns + 1)).astype(np.int64), patterns)
        return not ((low <= ALPHA) & (high > ALPHA)).any()


def step_down(observed: Floats, moved: Floats) -> Corrected:
    """Correct the tests of a family by the step-down maximum of |T| (Romano & Wolf 2005, algorithm 4.1).

    T is a difference divided by its root mean square over the patterns. From the largest |T| down, each is compared
    with the maximum of |T*| over those that remain: p₍ₖ₎ = max(p₍ₖ₋₁₎, mid-p). The level of a test is the p, alone, of
    the 95 % quantile of that maximum.

    Parameters
    ----------
    observed
        (k,) differences.
    moved
        (M, k) the same in every pattern.
    """
    patterns, tests = moved.shape
    scale = np.sqrt((moved**2).mean(axis=0))
    # What differs nowhere is never significant.
    varies = scale > 0
    scale = np.where(varies, scale, np.inf)
    size, sizes = np.abs(observed) / scale, np.abs(moved) / scale
    p, adjusted, level = np.ones(tests), np.ones(tests), np.full(tests, ALPHA)
    order = np.argsort(-size, kind="stable")
    last, critical = 0.0, np.inf
    for step, test in enumerate(order.tolist()):
        largest = sizes[:, order[step:]].max(axis=1)
        if last <= ALPHA:
            critical = float(np.quantile(largest, 1 - ALPHA))
        if varies[test]:
            p[test] = mid_p(sizes[:, test], size[test])
            last = max(last, mid_p(largest, size[test]))
        else:
            last = 1.0
        adjusted[test] = last
        alone = np.count_nonzero(sizes[:, test] >= critical - ROUNDING) / patterns
        # Where values are tied, the quantile may fall on the other side of the observed one.
        level[test] = max(min(alone, ALPHA), p[test]) if last <= ALPHA else min(alone, ALPHA, np.nextafter(p[test], 0))
    return Corrected(p, adjusted, level, np.full(tests, tests))


def settled(
    patterns: Patterns, exchange: Callable[[Patterns], AnyMoved], families: Sequence[Sequence[int]]
) -> tuple[AnyMoved, Corrected]:
    """Test k pairs, with as many patterns as it takes until chance decides no verdict.

    Parameters
    ----------
    exchange
        Returns the differences in some patterns.
    families
        The places of the pairs of each family; every pair is in one.
    """
    while True:
        moved = exchange(patterns)
        number, pairs = moved.moved.shape
        corrected = Corrected(np.ones(pairs), np.ones(pairs), np.full(pairs, ALPHA), np.ones(pairs, dtype=np.int64))
        for places in map(list, families):
            of_family = step_down(moved.observed[places], moved.moved[:, places])
            for name, values in vars(of_family).items():
                getattr(corrected, name)[places] = values
        # Three arrays of this size are in memory at once.
        larger = None if corrected.is_settled(number) else patterns.more(3 * pairs)
        if larger is None:
            return moved, corrected
        patterns = larger


def newcombe(differences: Floats, number: float) -> tuple[float, float]:
    """Return Newcombe's (1998, method 10) 95 % interval of the difference of two paired shares.

    With Wilson's limits of the shares won w and lost l on n* items:

        w − l ∓ √(δ_w² − 2r·δ_w·δ_l + δ_l²)        r = −√(w·l/((1 − w)(1 − l)))

    δ_w and δ_l are the distances of the limits that matter.

    Parameters
    ----------
    differences
        (n,) all defined; only their signs matter.
    number
        n*.
    """
    won, lost = float((differences > 0).mean()), float((differences < 0).mean())
    won_low, won_high = wilson(won, number)
    lost_low, lost_high = wilson(lost, number)
    correlation = 0.0
    if won < 1 and lost < 1:
        correlation = -float(np.sqrt(won * lost / ((1 - won) * (1 - lost))))

    def reach(of_won: float, of_lost: float) -> float:
        return float(np.sqrt(of_won**2 + of_lost**2 - 2 * correlation * of_won * of_lost))

    below = reach(won - won_low, lost_high - lost)
    above = reach(won_high - won, lost - lost_low)
    return max(won - lost - below, -1.0), min(won - lost + above, 1.0)
