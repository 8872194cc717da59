"""Exchanges of whole units: exact p-values, random signs, and what chance leaves open; Holm's correction."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from embassay.stats.units import Floats, Ints

ROUNDING = 1e-9
"""Patterns whose statistics differ by less than this share of the largest possible one are tied."""
MAX_DENOMINATOR = 2520
"""The largest common denominator of unit sums that is searched for; every number up to 10 divides it."""
MONTE_CARLO_LEVEL = 0.99


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
