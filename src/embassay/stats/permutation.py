"""Permutation p-values: exact where that is possible, otherwise drawn until the answer no longer depends on chance.

Two encoders are compared on the same items. Under the null hypothesis they are exchangeable within a unit, so every
unit keeps or exchanges the two with probability 1/2 (Fisher's randomisation test). A p-value comes from

``exact``
    the whole distribution, by convolution, where the sums of the units are multiples of a common step;
``enumerated``
    all patterns of at most 20 units;
``drawn``
    random patterns: p = (1 + extreme)/(1 + draws), which is never 0 (Phipson & Smyth 2010).

Draws continue until the 99 % Monte Carlo interval of every *adjusted* p excludes 0.05.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, Protocol

import numpy as np

from embassay.randomness import generator
from embassay.stats.units import Bools, Floats, Ints
from embassay.types import Draws

ALPHA = 0.05
ROUNDING = 1e-9
"""Patterns whose statistics differ by less than this share of their scale are tied."""
MAX_DENOMINATOR = 2520
"""The largest denominator of unit sums that is looked for; every number up to 10 divides it."""
MAX_ADDITIONS = 500_000_000
"""The most additions that a convolution may take: about a third of a second."""
MAX_REACH = 10_000_000
"""The most values that a convolution may hold: 80 MB."""
MAX_ENUMERATED = 20
ROUNDS = (9_999, 29_999, 99_999, 299_999, 999_999)
"""How many patterns have been drawn after each round."""
MONTE_CARLO_LEVEL = 0.99
BLOCK = 2**18
"""Signs that are drawn at once: 2 MB, which stay in a processor's cache."""

Method = Literal["exact", "enumerated", "drawn"]


@dataclass(frozen=True)
class PValue:
    """A two-sided p-value, how it was computed, and the standard error that drawing leaves in it (0 if not drawn)."""

    p: float
    method: Method
    error: float = 0.0


class Exchange(Protocol):
    """The permutation tests of k pairs that share their units."""

    @property
    def units(self) -> int:
        """The number of units."""

    @property
    def size(self) -> int:
        """k."""

    def without_drawing(self, pair: int) -> PValue | None:
        """Return the p-value of a pair from all patterns; None where that is not possible."""

    def extreme(self, signs: Floats, pairs: Ints) -> Ints:
        """Return in how many of (b, units) patterns of ±1 each of these pairs differs as much as it does."""


@dataclass(frozen=True)
class SignFlips:
    """Tests of means: exchanging two encoders in a unit flips the sign of the unit's summed difference.

    Attributes
    ----------
    sums
        (units, k) the difference a − b of each pair, summed over the items of each unit.
    """

    sums: Floats

    @property
    def units(self) -> int:
        """The number of units."""
        return len(self.sums)

    @property
    def size(self) -> int:
        """The number of pairs."""
        return int(self.sums.shape[1])

    def without_drawing(self, pair: int) -> PValue | None:
        """Return the p-value of a pair by convolution or by enumeration; None where neither is possible."""
        sums = self.sums[:, pair]
        multiples = whole_multiples(sums)
        if multiples is not None and _convolves(multiples):
            return PValue(convolved_p(multiples), "exact")
        if np.count_nonzero(sums) <= MAX_ENUMERATED:
            return PValue(enumerated_p(sums), "enumerated")
        return None

    def extreme(self, signs: Floats, pairs: Ints) -> Ints:
        """Return in how many patterns each of these pairs has a sum as large as the observed one, on either side."""
        sums = self.sums[:, pairs]
        threshold = np.abs(sums.sum(axis=0)) - ROUNDING * np.abs(sums).sum(axis=0)
        at_least = np.abs(signs @ sums) >= threshold
        return np.asarray(at_least.sum(axis=0), dtype=np.int64)


def whole_multiples(sums: Floats) -> Ints | None:
    """Return unit sums as whole multiples of a common step, without common divisor; None where there is no such step.

    Sums of yes/no items are whole numbers already. With ties, or means over a few draws, they are fractions with a
    small common denominator. It is searched one sum at a time, up to ``MAX_DENOMINATOR``.
    """
    denominator = 1
    while True:
        scaled = sums * denominator
        nearest = np.rint(scaled)
        not_whole = np.abs(scaled - nearest) > ROUNDING * np.abs(scaled).max(initial=0.0)
        if not not_whole.any():
            break
        fraction = Fraction(float(sums[not_whole][0])).limit_denominator(MAX_DENOMINATOR)
        common = math.lcm(denominator, fraction.denominator)
        if common == denominator or common > MAX_DENOMINATOR:
            return None
        denominator = common
    # Larger ones are no longer told apart by a float64, and far too many for a convolution.
    if np.abs(nearest).sum() >= 2**53:
        return None
    multiples = nearest.astype(np.int64)
    divisor = max(int(np.gcd.reduce(multiples, initial=0)), 1)
    return np.asarray(multiples // divisor)


def convolved_p(multiples: Ints) -> float:
    """Return P(|Σ ±w| ≥ |Σ w|) over all patterns of signs of whole numbers w, for any number of them.

    With W = Σ|w| and T the sum of the |w| that get a minus, the flipped sum is W − 2T. So the upper tail is
    T ≤ (W − |Σ w|)/2, and T is a sum of independent variables that are |w| or 0, each with probability 1/2.
    """
    weights = np.sort(np.abs(multiples[multiples != 0]))
    observed = abs(int(multiples.sum()))
    if observed == 0:
        return 1.0
    reach = (int(weights.sum()) - observed) // 2
    # mass[t] is 2^k·P(T = t) after k weights. Only t up to reach counts, and T never falls as weights are added.
    mass = np.zeros(reach + 1)
    mass[0] = 1.0
    filled = 0
    halvings = 0
    for weight in weights.tolist():
        if weight <= reach:
            last = min(filled + weight, reach)
            mass[weight : last + 1] += mass[: last + 1 - weight].copy()
            filled = last
        halvings += 1
        # Before the numbers overflow, 512 of the halvings are carried out.
        if halvings == 512:
            mass[: filled + 1] *= 2.0**-512
            halvings = 0
    p = 2 * float(mass.sum()) * 2.0**-halvings
    # A p below the smallest float64 is reported as that one: p is never 0.
    return min(1.0, max(p, sys.float_info.min))


def enumerated_p(sums: Floats) -> float:
    """Return P(|Σ ±d| ≥ |Σ d|) by going through all patterns of signs; 2ᵐ for m sums that are not 0."""
    moving = sums[sums != 0]
    # The first sign is fixed: turning all of them changes nothing on two sides.
    flipped = np.zeros(1) if len(moving) == 0 else moving[:1]
    for value in moving[1:]:
        flipped = np.concatenate([flipped + value, flipped - value])
    threshold = abs(float(moving.sum())) - ROUNDING * float(np.abs(moving).sum())
    return float((np.abs(flipped) >= threshold).mean())


def p_values(exchange: Exchange, families: Sequence[Sequence[int]], draws: Draws, *purpose: str) -> tuple[PValue, ...]:
    """Return the p-value of every pair, not adjusted; draw only for those that have no exact one.

    Parameters
    ----------
    families
        The pairs of each family that Holm's correction is applied to. A drawn p is settled when its adjusted p lies
        on one side of 0.05 in every family, with all limits of the 99 % Monte Carlo intervals.
    purpose
        Names the random stream: every pair sees the same patterns.

    Returns
    -------
    Where even the last round leaves an adjusted p unsettled, the upper limit of the interval stands for its p: chance
    never makes a difference significant.
    """
    p = [exchange.without_drawing(pair) for pair in range(exchange.size)]
    to_draw = np.array([pair for pair, exact in enumerate(p) if exact is None], dtype=np.int64)
    # The limits of the Monte Carlo interval of each p; an exact one is both of its own limits.
    low = np.array([np.nan if exact is None else exact.p for exact in p])
    high = low.copy()
    extreme = np.zeros(exchange.size, dtype=np.int64)
    stream = generator(draws.seed, "signs", *purpose)
    block = max(1, BLOCK // max(exchange.units, 1))
    unsettled = to_draw
    drawn = 0
    for total in ROUNDS:
        if not unsettled.size:
            break
        for signs in random_signs(stream, exchange.units, total - drawn, block):
            extreme[unsettled] += exchange.extreme(signs, unsettled)
        drawn = total
        low[unsettled], high[unsettled] = monte_carlo_interval(extreme[unsettled], drawn)
        for pair in unsettled:
            p[pair] = _drawn_p(int(extreme[pair]), drawn)
        unsettled = to_draw[_astride(low, high, families)[to_draw]]
    for pair in unsettled:
        p[pair] = replace(_drawn_p(int(extreme[pair]), drawn), p=float(high[pair]))
    return tuple(one for one in p if one is not None)


def holm(p: Sequence[float]) -> tuple[float, ...]:
    """Return the p-values of one family after Holm's (1979) step-down correction, in the order given.

    The i-th smallest of m becomes the maximum over j ≤ i of (m − j + 1)·p(j), at most 1. It never falls when any of
    the p-values rises.
    """
    values = np.asarray(p, dtype=float)
    order = np.argsort(values, kind="stable")
    stepped = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(stepped, 1.0)
    return tuple(float(v) for v in adjusted)


def random_signs(stream: np.random.Generator, units: int, number: int, block: int) -> Iterator[Floats]:
    """Yield ``number`` random patterns, at most ``block`` at once: (b, units) of ±1 each."""
    for start in range(0, number, block):
        rows = min(block, number - start)
        # One bit for each sign and whole words for each row, so that the size of the blocks changes no pattern.
        words = stream.integers(0, 2**64, size=(rows, -(-units // 64)), dtype=np.uint64).astype("<u8")
        bits = np.unpackbits(words.view(np.uint8), axis=1)[:, :units]
        yield 2 * bits.astype(np.float64) - 1


def monte_carlo_interval(extreme: Ints, drawn: int) -> tuple[Floats, Floats]:
    """Return the (k,) ends of the 99 % intervals of p, after Clopper & Pearson (1934)."""
    from scipy.special import betaincinv

    beyond = (1 - MONTE_CARLO_LEVEL) / 2
    others = drawn - extreme
    low = np.where(extreme > 0, betaincinv(np.maximum(extreme, 1), others + 1, beyond), 0.0)
    high = np.where(others > 0, betaincinv(extreme + 1, np.maximum(others, 1), 1 - beyond), 1.0)
    return low, high


def _astride(low: Floats, high: Floats, families: Sequence[Sequence[int]]) -> Bools:
    """Say which p-values have an adjusted interval with 0.05 inside, in any of their families.

    An adjusted p rises with every p of its family, so the limits of all give the limits of each.
    """
    astride = np.zeros(len(low), dtype=bool)
    for family in families:
        places = np.array(family, dtype=np.int64)
        adjusted_low = np.array(holm(low[places].tolist()))
        adjusted_high = np.array(holm(high[places].tolist()))
        astride[places] |= (adjusted_low <= ALPHA) & (adjusted_high > ALPHA)
    return astride


def _drawn_p(extreme: int, drawn: int) -> PValue:
    """Return p = (1 + extreme)/(1 + drawn) with its standard error."""
    p = (1 + extreme) / (1 + drawn)
    return PValue(p, "drawn", math.sqrt(p * (1 - p) / drawn))


def _convolves(multiples: Ints) -> bool:
    """Say whether :func:`convolved_p` is fast and small enough."""
    reach = (int(np.abs(multiples).sum()) - abs(int(multiples.sum()))) // 2
    return reach <= MAX_REACH and int(np.count_nonzero(multiples)) * reach <= MAX_ADDITIONS
