"""The gate: how large a loss the answers leave possible, how small a one a test set can rule out, and the p of a loss.

The new encoder may lose what this test set has not seen. So the limit of a loss counts one more item than was seen, as
lost; see :func:`loss_limit`. How small a loss a test set can rule out is its :func:`resolution`. Whether a loss is
significant is tested without that item; see :func:`loss_p`.

An item is a *gain* of the new encoder, its value less the old one's: 1, 0 or −1 of a share, or anything between. Items
of one unit are exchanged together; where each item is its own unit, ``unit`` numbers the items.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from embassay.core.randomness import generator
from embassay.core.result import ALPHA
from embassay.core.types import Draws
from embassay.stats.permutation import convolved_p, enumerated_p, whole_multiples
from embassay.stats.units import Floats, Ints, effective_units, unit_sums

CHANGED = 0.1
"""The share of the answers that is assumed to change between two versions of a model, half of them for the worse."""
POWER_80 = 0.8416212335729143
"""The 80 % quantile of the normal distribution."""
PRECISION = 1e-8
"""The precision of a limit, as a share of the largest loss of an item."""
CERTAIN = 10.0
"""Standard errors beyond which a probability counts as 0 or 1."""
POINTS_OF_INTEGRAL = np.geomspace(1e-3, 3e3, 400)
STEP = math.log(POINTS_OF_INTEGRAL[1] / POINTS_OF_INTEGRAL[0])
NEGLIGIBLE = 1e-12
"""The integral ends where its integrand is damped to this size."""
BLOCK = 200_000
"""Terms of the integral that are computed at once: 1.6 MB."""
MAX_ADDITIONS = 200_000_000
"""The most additions of an exact p: a few tenths of a second."""
MAX_ENUMERATED = 12
"""The most units of unlike gains for which all halves are enumerated."""
DRAWN = 9_999
"""The random halves of the units that a p is drawn from where it is not computed from all."""


@dataclass(frozen=True)
class Groups:
    """Units of the same loss and size, and the unit that is added to them.

    Attributes
    ----------
    loss, size
        (g,) the net loss of such a unit, summed over its items, and its number of items.
    count
        (g,) how many there are; a number that need not be whole.
    added
        The number of items of the unit that is added.
    most
        What each of these items loses.
    """

    loss: Floats
    size: Floats
    count: Floats
    added: float
    most: float

    @property
    def observed(self) -> float:
        """The mean loss of the items, without the unit that is added."""
        return float(self.loss @ self.count / (self.size @ self.count))

    def probability(self, loss: float) -> float:
        """Return P(R ≥ loss) of the R of :func:`loss_limit`, without random numbers.

        R is at least m where the linear form Σ D_u·a_u is at least 0, with a_u = loss_u − m·n_u. D_u is half a χ² of
        two degrees of freedom, so by Imhof's (1961) integral

            P = 1/2 + 1/π ∫ sin(Σ arctan(a_u·x)) / (x·Π √(1 + a_u²x²)) dx,   x from 0 to ∞

        It is summed over points whose logarithms are evenly spaced; below the first one the sine is its argument.
        """
        coefficients = np.append(self.loss - loss * self.size, self.added * (self.most - loss))
        counts = np.append(self.count, 1.0)
        scale = math.sqrt(float((counts * coefficients**2).sum()))
        if scale == 0:
            return 1.0
        coefficients = coefficients / scale
        mean = float((counts * coefficients).sum())
        if abs(mean) > CERTAIN:
            return float(mean > 0)
        total = mean * float(POINTS_OF_INTEGRAL[0]) * math.exp(-STEP / 2)
        block = max(BLOCK // len(coefficients), 1)
        for start in range(0, len(POINTS_OF_INTEGRAL), block):
            products = coefficients[:, None] * POINTS_OF_INTEGRAL[start : start + block]
            angle = counts @ np.arctan(products)
            damping = np.exp(-0.5 * (counts @ np.log1p(products**2)))
            total += STEP * float((np.sin(angle) * damping).sum())
            if damping[-1] < NEGLIGIBLE:
                break
        return min(max(0.5 + total / math.pi, 0.0), 1.0)

    def limit(self) -> float:
        """Return the smallest loss, at least the observed one and 0, whose probability is at most 5 %.

        The probability falls with the loss. The root is enclosed by the Illinois variant of false position: the end of
        the interval that stays twice in a row counts half.
        """
        low, high = max(self.observed, 0.0), float(self.most)
        excess_low, excess_high = self.probability(low) - ALPHA, -ALPHA
        if excess_low <= 0:
            return low
        last = 0
        while high - low > PRECISION * self.most:
            middle = (low * excess_high - high * excess_low) / (excess_high - excess_low)
            # At least a hair from either end, so that rounding cannot stop the search.
            middle = min(max(middle, low + PRECISION * self.most / 2), high - PRECISION * self.most / 2)
            excess = self.probability(middle) - ALPHA
            if excess > 0:
                low, excess_low = middle, excess
                excess_high /= 2 if last > 0 else 1
                last = 1
            else:
                high, excess_high = middle, excess
                excess_low /= 2 if last < 0 else 1
                last = -1
        return high


def loss_limit(gains: Floats, unit: Ints, most: float = 1.0) -> float:
    """Return the upper 95 % limit of the true mean loss: one more unit is counted, and lost whole.

    Gaffke's (2005) limit is the 95 % quantile of

        R = (Σ D_u·loss_u + D*·n*·most) / (Σ D_u·n_u + D*·n*)

    with D independent exponential variables, loss_u the net loss of unit u and n_u its number of items. The unit that
    is added has the size of the unit that a random item is in, n* = Σ n_u²/n. Where nothing is gained and each item is
    its own unit, it is the exact limit of Clopper and Pearson (1934). No gain raises it. That the true loss is above it
    in at most 5 % of the cases is simulated (``docs/gate.md``), not proved.

    Parameters
    ----------
    gains
        (n,) all defined, at least one.
    unit
        (n,) unit codes.
    most
        What an item can lose, see :func:`most_lost`; 1 of a share.

    Returns
    -------
    At least the observed loss, and at least 0.
    """
    sums, sizes = unit_sums(gains, unit)
    held = sizes > 0
    # Units of the same loss and size have the same coefficient: most shares have a handful of them.
    kinds, count = np.unique(np.stack([-sums[held], sizes[held]], axis=1), axis=0, return_counts=True)
    most = max(most, -float(gains.min()))
    added = float((sizes**2).sum() / sizes.sum())
    return Groups(kinds[:, 0], kinds[:, 1], count.astype(np.float64), added, most).limit()


def most_lost(old: Floats, span: float | None) -> float:
    """Return what an item can lose: the span of its values, or one standard deviation of the old encoder's.

    :func:`loss_limit` takes the largest loss that was seen instead where that is larger.

    Parameters
    ----------
    old
        (n,) values of the old encoder, all defined.
    span
        The difference of the ends of the range where that is narrow (1 of a share); None where it is wide or endless.
    """
    return float(old.std()) if span is None else span


def resolution(unit: Ints) -> float:
    """Return the loss of a share that a test set can rule out, r.

    The larger of two limits: that where no answer changes; and that where a tenth of the answers changes, k of them, of
    which an equally good encoder loses (k + z₀.₈·√k)/2 or fewer in four of five cases. Units count as Kish's effective
    number of equal units. With this margin an encoder with the same answers passes.

    Parameters
    ----------
    unit
        (n,) unit codes of at least one item.
    """
    unchanged = loss_limit(np.zeros(len(unit)), unit)
    return max(unchanged, _resolution_of_singles(effective_units(np.bincount(unit).astype(np.float64))))


@cache
def _resolution_of_singles(units: float) -> float:
    """Return r of this many units of one item, a number that need not be whole; it falls as that grows."""
    changed = CHANGED * units
    lost = min((changed + POWER_80 * math.sqrt(changed)) / 2, changed)
    gained, equal = changed - lost, units - changed
    losses, counts = np.array([1.0, -1.0, 0.0]), np.array([lost, gained, equal])
    some_change = Groups(losses, size=np.ones(3), count=counts, added=1.0, most=1.0)
    # Of u units none is lost with a probability of 5 % where each is lost with this one.
    no_change = 1 - float(ALPHA ** (1 / units))
    return max(some_change.limit(), no_change)


def whole_points(loss: float) -> float:
    """Return a share rounded up to a whole percentage point: what cannot be ruled out must not be printed."""
    # What is a whole point but for rounding errors stays that point.
    return math.ceil(round(100 * loss, 6)) / 100


def loss_p(gains: Floats, unit: Ints, draws: Draws, *purpose: str) -> float:
    """Return the one-sided p of a loss: how often exchanging old and new in random units loses as much or more.

    The exchange of unit u flips the sign of its net gain s_u. The sum after flipping a random half F of the units is at
    most the observed one where Σ s_u over F is at least 0. So the p rises with every single gain. It is exact where the
    s_u are multiples of a common step or few differ from 0; otherwise p = (1 + extreme)/(1 + draws) from random halves.

    Parameters
    ----------
    gains
        (n,) all defined.
    unit
        (n,) unit codes.
    draws, purpose
        The seed, and the name of the random stream.

    Returns
    -------
    In (0, 1]; 1 where nothing is lost on balance.
    """
    sums, _ = unit_sums(gains, unit)
    sums = sums[sums != 0]
    if sums.sum() >= 0:
        return 1.0
    multiples = whole_multiples(sums)
    # Both functions are two-sided; the sum of a loss is not 0, so that its two sides are equally probable.
    if multiples is not None and np.abs(multiples).sum() * len(multiples) <= MAX_ADDITIONS:
        return convolved_p(multiples) / 2
    if len(sums) <= MAX_ENUMERATED:
        return enumerated_p(sums) / 2
    stream = generator(draws.seed, "halves", *purpose)
    threshold = -1e-9 * float(np.abs(sums).sum())
    extreme = 0
    for rows in (1_000,) * (DRAWN // 1_000) + (DRAWN % 1_000,):
        halves = stream.integers(0, 2, (rows, len(sums)), dtype=np.int8)
        extreme += int(np.count_nonzero(halves @ sums >= threshold))
    return (1 + extreme) / (1 + DRAWN)
