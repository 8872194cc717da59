"""Permutation p-values: exact where possible, otherwise from random patterns until chance no longer decides.

Two encoders are compared on the same items. Under the null hypothesis they are exchangeable within a unit, so each unit
is exchanged with probability 1/2 (Fisher's randomisation test). A *pattern* says which units are exchanged. A p-value
is computed from

``exact``
    the whole distribution, by convolution, if the sums of the units are multiples of a common step;
``enumerated``
    all patterns, if at most 20 units differ;
``drawn``
    random patterns: p = (1 + extreme)/(1 + draws), which is never 0 (Phipson & Smyth 2010).

Patterns are drawn until the 99 % Monte Carlo interval of every *adjusted* p excludes 0.05.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, Protocol, TypeVar

import numpy as np

from embassay.randomness import generator
from embassay.result import ALPHA
from embassay.stats.units import Bools, Floats, Ints
from embassay.types import Draws

ROUNDING = 1e-9
"""Patterns whose statistics differ by less than this share of the largest possible one are tied."""
MAX_DENOMINATOR = 2520
"""The largest common denominator of unit sums that is searched for; every number up to 10 divides it."""
MAX_ADDITIONS = 500_000_000
"""The most additions in a convolution: about a third of a second."""
MAX_REACH = 10_000_000
"""The most values in a convolution: 80 MB."""
MAX_ENUMERATED = 20
"""The most differing units for which all patterns are enumerated: 2¹⁹ of them, as one sign is fixed."""
ROUNDS = (9_999, 29_999, 99_999, 299_999, 999_999)
"""The number of patterns that have been drawn after each round."""
MONTE_CARLO_LEVEL = 0.99
BLOCK = 2**18
"""The most signs that are drawn at once: 2 MB, which stay in a processor's cache."""

Key = TypeVar("Key", bound=Hashable)
Method = Literal["exact", "enumerated", "drawn", "skewed"]


@dataclass(frozen=True)
class PValue:
    """A two-sided p-value, the method, and the standard error of a drawn p (0 for the other methods).

    The method ``skewed`` is a t-test corrected for skewed units, where it has a larger p than their exchange
    (:mod:`embassay.stats.skewness`).
    """

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
        """Return the p-value of a pair from all patterns; None where there are too many."""

    def extreme(self, signs: Floats, pairs: Ints) -> Ints:
        """Return (k,) in how many of (b, units) patterns of ±1 the difference is at least as large as observed."""


@dataclass(frozen=True)
class SignFlips:
    """The permutation tests of means: to exchange two encoders in a unit flips the sign of the unit's difference.

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
        """Return (k,) in how many of (b, units) patterns |Σ ±d_u| is at least the observed |Σ d_u|."""
        sums = self.sums[:, pairs]
        observed = np.abs(sums.sum(axis=0))
        largest_possible = np.abs(sums).sum(axis=0)
        threshold = observed - ROUNDING * largest_possible
        at_least = np.abs(signs @ sums) >= threshold
        return np.asarray(at_least.sum(axis=0), dtype=np.int64)


def whole_multiples(sums: Floats) -> Ints | None:
    """Return unit sums as multiples of their largest common step; None where there is no such step.

    Sums of yes/no items are whole numbers. With ties, or means over a few draws, they are fractions with a small common
    denominator. The denominator of one sum after the other is taken into it, up to ``MAX_DENOMINATOR``.
    """
    denominator = 1
    while True:
        scaled = sums * denominator
        nearest = np.rint(scaled)
        rounding = ROUNDING * np.abs(scaled).max(initial=0.0)
        not_whole = np.abs(scaled - nearest) > rounding
        if not not_whole.any():
            break
        fraction = Fraction(float(sums[not_whole][0])).limit_denominator(MAX_DENOMINATOR)
        common = math.lcm(denominator, fraction.denominator)
        if common == denominator or common > MAX_DENOMINATOR:
            return None
        denominator = common
    # From 2**53 on a float64 does not hold every whole number; such sums are far too large for a convolution anyway.
    if np.abs(nearest).sum() >= 2**53:
        return None
    multiples = nearest.astype(np.int64)
    divisor = max(int(np.gcd.reduce(multiples, initial=0)), 1)
    return np.asarray(multiples // divisor)


def convolved_p(multiples: Ints) -> float:
    """Return P(|Σ ±w| ≥ |Σ w|) over all patterns of signs of whole numbers w, by convolution; in (0, 1].

    With W = Σ|w| and T the sum of the |w| that get a minus, Σ ±|w| = W − 2T. So the upper tail is T ≤ (W − |Σ w|)/2,
    and the p-value is twice its probability. T is a sum of independent variables that are |w| or 0, each with
    probability 1/2.
    """
    weights = np.sort(np.abs(multiples[multiples != 0]))
    observed = abs(int(multiples.sum()))
    if observed == 0:
        return 1.0
    reach = (int(weights.sum()) - observed) // 2
    # mass[t] is 2^k·P(T = t) after k weights. Only t up to reach is needed, because T never falls as weights are added.
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
        # 512 halvings at once, before the numbers overflow.
        if halvings == 512:
            mass[: filled + 1] *= 2.0**-512
            halvings = 0
    p = 2 * float(mass.sum()) * 2.0**-halvings
    # A p below the smallest normal float64 becomes that number: p is never 0.
    return min(1.0, max(p, sys.float_info.min))


def enumerated_p(sums: Floats) -> float:
    """Return P(|Σ ±d| ≥ |Σ d|) over all patterns of signs; for m nonzero sums the time and memory grow with 2ᵐ."""
    nonzero = sums[sums != 0]
    # The first sign is fixed: to flip all signs does not change the absolute sum.
    flipped = np.zeros(1)
    if len(nonzero):
        flipped = nonzero[:1]
    for value in nonzero[1:]:
        flipped = np.concatenate([flipped + value, flipped - value])
    observed = abs(float(nonzero.sum()))
    largest_possible = float(np.abs(nonzero).sum())
    at_least = np.abs(flipped) >= observed - ROUNDING * largest_possible
    return float(at_least.mean())


def p_values(exchange: Exchange, families: Sequence[Sequence[int]], draws: Draws, *purpose: str) -> tuple[PValue, ...]:
    """Return the p-value of every pair, not adjusted; patterns are drawn only for pairs without an exact one.

    Parameters
    ----------
    families
        The pairs of each family, to which Holm's correction is applied. A drawn p is settled when the 99 % Monte Carlo
        interval of its adjusted p excludes 0.05 in every family.
    purpose
        Names the random stream; every pair gets the same patterns.

    Returns
    -------
    The p-values. If the last round leaves an adjusted p unsettled, its p is the upper limit of its Monte Carlo
    interval, so that chance never makes a difference significant.
    """
    # None for the pairs whose patterns have to be drawn.
    p = [exchange.without_drawing(pair) for pair in range(exchange.size)]
    # The limits of the Monte Carlo interval of each p; both limits of an exact p are that p.
    low = np.full(exchange.size, np.nan)
    for pair, exact in enumerate(p):
        if exact is not None:
            low[pair] = exact.p
    high = low.copy()
    to_draw = np.flatnonzero(np.isnan(low))
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
        for pair in unsettled.tolist():
            p[pair] = _drawn_p(int(extreme[pair]), drawn)
        undecided = _undecided(low, high, families)
        unsettled = to_draw[undecided[to_draw]]
    for pair in unsettled.tolist():
        p[pair] = replace(_drawn_p(int(extreme[pair]), drawn), p=float(high[pair]))
    return tuple(one for one in p if one is not None)


def holm(p: Sequence[float]) -> tuple[float, ...]:
    """Return the p-values of one family after Holm's (1979) step-down correction, in the order given.

    The i-th smallest of m p-values becomes the maximum over j ≤ i of (m − j + 1)·p(j), at most 1. No adjusted p falls
    when any p rises.
    """
    values = np.asarray(p, dtype=float)
    order = np.argsort(values, kind="stable")
    factors = np.arange(len(values), 0, -1)
    products = values[order] * factors
    stepped = np.maximum.accumulate(products)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(stepped, 1.0)
    return tuple(adjusted.tolist())


def holm_steps(p: Sequence[float], corrected: Sequence[float]) -> tuple[int, ...]:
    """Return for each test of a family how many tests Holm's correction counts at its step.

    A test that is rejected is compared when those with a smaller p have been rejected; one that is not, when all that
    are significant have been. So this is m for the first one only.
    """
    not_rejected = sum(value > ALPHA for value in corrected)
    steps = []
    for own, own_corrected in zip(p, corrected, strict=True):
        is_rejected = own_corrected <= ALPHA
        steps.append(sum(other >= own for other in p) if is_rejected else not_rejected)
    return tuple(steps)


def corrected(p: Mapping[Key, float]) -> tuple[dict[Key, float], dict[Key, int]]:
    """Return the p-values of one family after :func:`holm`, and the number of tests at each :func:`holm_steps`."""
    uncorrected = list(p.values())
    adjusted = holm(uncorrected)
    steps = holm_steps(uncorrected, adjusted)
    return dict(zip(p, adjusted, strict=True)), dict(zip(p, steps, strict=True))


def random_signs(stream: np.random.Generator, units: int, number: int, block: int) -> Iterator[Floats]:
    """Yield ``number`` random patterns of ±1 in blocks of (b, units), b at most ``block``."""
    words_per_row = -(-units // 64)
    for start in range(0, number, block):
        rows = min(block, number - start)
        # One bit for each sign. Every row takes whole words, so the patterns do not depend on the size of the blocks.
        words = stream.integers(0, 2**64, size=(rows, words_per_row), dtype=np.uint64)
        # Little-endian, so that all machines read the bits in the same order.
        words = words.astype("<u8")
        bits = np.unpackbits(words.view(np.uint8), axis=1)[:, :units]
        yield 2 * bits.astype(np.float64) - 1


def monte_carlo_interval(extreme: Ints, drawn: int) -> tuple[Floats, Floats]:
    """Return the (k,) low and high ends of the 99 % intervals of p, after Clopper & Pearson (1934).

    Parameters
    ----------
    extreme
        (k,) the number of patterns that were at least as extreme as the observed one.
    drawn
        The number of patterns.
    """
    from scipy.special import betaincinv

    beyond = (1 - MONTE_CARLO_LEVEL) / 2
    others = drawn - extreme
    # An end at 0 or 1 is exact there, where the beta distribution is not defined.
    low = np.where(extreme > 0, betaincinv(np.maximum(extreme, 1), others + 1, beyond), 0.0)
    high = np.where(others > 0, betaincinv(extreme + 1, np.maximum(others, 1), 1 - beyond), 1.0)
    return low, high


def _undecided(low: Floats, high: Floats, families: Sequence[Sequence[int]]) -> Bools:
    """Return for which p-values the interval of the adjusted p contains 0.05 in any of their families.

    No adjusted p falls when a p of its family rises. So the adjusted lower limits are the lower limits of the adjusted
    p-values, and likewise the upper ones.
    """
    undecided = np.zeros(len(low), dtype=bool)
    for family in families:
        places = np.array(family, dtype=np.int64)
        adjusted_low = np.array(holm(low[places].tolist()))
        adjusted_high = np.array(holm(high[places].tolist()))
        undecided[places] |= (adjusted_low <= ALPHA) & (adjusted_high > ALPHA)
    return undecided


def _drawn_p(extreme: int, drawn: int) -> PValue:
    """Return p = (1 + extreme)/(1 + drawn) with its standard error."""
    p = (1 + extreme) / (1 + drawn)
    return PValue(p, "drawn", math.sqrt(p * (1 - p) / drawn))


def _convolves(multiples: Ints) -> bool:
    """Return whether :func:`convolved_p` stays within its limits of time and memory."""
    total = int(np.abs(multiples).sum())
    observed = abs(int(multiples.sum()))
    reach = (total - observed) // 2
    additions = int(np.count_nonzero(multiples)) * reach
    return reach <= MAX_REACH and additions <= MAX_ADDITIONS
