"""Is one encoder not worse than another? A claim of no loss needs a test of it.

That a difference is not significant says nothing about how large a loss may be. *Not worse* means that a loss of a
margin or more is rejected at 5 % (one-sided); *worse* that the difference is significantly below 0; everything else is
*inconclusive*. A loss that is both significant and smaller than the margin is *not worse*, and the note names it.

Shares: Tango's (1998) score test for paired proportions, on a number of items that is divided by how much the items of
a unit depend on each other. Means: the lower limit of the one-sided 95 % bootstrap interval.

Where the test is inconclusive, the number of units that it takes is that for a power of 80 % where nothing is lost:
(z₀.₉₅ + z₀.₈)²·v/m² of them, v the variance of the difference for one unit and m the margin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from embassay.result import MIN_UNITS
from embassay.stats.resample import bootstrap_means, tail
from embassay.stats.units import LEVEL, Floats, effective_units, ratio_variance, unit_sums
from embassay.types import Draws

Outcome = Literal["not worse", "worse", "inconclusive"]
ALPHA = 0.05
Z = 1.6448536269514722
"""The 95 % quantile of the normal distribution."""
PRIOR_UNITS = 3
"""Units' worth of complete dependence that the design effect is shrunk towards, where few units differ."""
USUAL_MARGIN, USUAL_UNITS = 0.02, 300
"""With fewer units the test can hardly pass at 2 points (power 29-68 % between equal encoders); goes by margin²."""
POWER_Z = Z + 0.8416212335729143
"""z₀.₉₅ + z₀.₈: by how many standard errors a margin is to be above 0 for a power of 80 %."""
PRECISION = 1e-6
UNCHANGED = "nothing changed"
"""The note where the same encoder has the same value on every item: no test is needed."""
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class NotWorse:
    """What can be said of a possible loss.

    Attributes
    ----------
    outcome
        ``not worse``, ``worse`` or ``inconclusive``.
    margin
        The loss from which on it would matter.
    difference
        The mean of the new encoder less that of the old one; None where nothing is defined for both.
    smallest_margin
        The smallest margin at which the test would have passed: a loss of that size or more is ruled out. None where
        none would.
    units_needed
        About how many units like these the test takes to pass in four cases of five where nothing is lost; None where
        that cannot be told.
    note
        What to say beside the outcome, one sentence without a full stop; may be empty.
    """

    outcome: Outcome
    margin: float
    difference: float | None
    smallest_margin: float | None
    note: str = ""
    units_needed: int | None = None


@dataclass(frozen=True)
class Headline:
    """The headline quantity of a diagnostic on one corpus, item by item: what a possible loss is tested on.

    Attributes
    ----------
    quantity, subset, condition
        As the comparisons name it.
    margin
        The loss from which on it matters.
    values
        The (n,) item values of each encoder, whose mean is the quantity; higher is better, NaN is undefined.
    unit
        (n,) unit codes.
    purpose
        Names the random streams, as in the comparisons.
    of_shares
        Whether the values are yes and no, or shares of them.
    """

    quantity: str
    margin: float
    values: Mapping[str, Floats]
    unit: Ints
    purpose: tuple[str, ...]
    subset: str = "all"
    condition: str = ""
    of_shares: bool = True

    def not_worse(
        self, new: str, old: str, draws: Draws, *, p: float | None = None, same_encoder: bool = False
    ) -> NotWorse:
        """Test whether one encoder is worse than another by the margin; see :func:`share_not_worse`."""
        gaps = self.values[new] - self.values[old]
        if self.of_shares:
            return share_not_worse(gaps, self.unit, self.margin, p=p, same_encoder=same_encoder)
        return mean_not_worse(gaps, self.unit, self.margin, draws, *self.purpose, p=p, same_encoder=same_encoder)


def share_not_worse(
    gaps: Floats, unit: Ints, margin: float, *, p: float | None = None, same_encoder: bool = False
) -> NotWorse:
    """Test whether a share fell by less than a margin.

    Parameters
    ----------
    gaps
        (n,) the new encoder's answer less the old one's on each item: 1, 0 or −1, between them where answers are
        expected values over ties; NaN is left out.
    unit
        (n,) unit codes.
    margin
        Above 0 and below 1.
    p
        The two-sided p of the difference, for the outcome ``worse``; None where there is none.
    same_encoder
        Whether the fingerprints of both encoders are equal: then equal answers need no test.
    """
    defined = ~np.isnan(gaps)
    values, codes = gaps[defined], np.unique(unit[defined], return_inverse=True)[1].astype(np.int64)
    if not len(values):
        return NotWorse("inconclusive", margin, None, None, "no item is defined for both")
    counts = DiscordantCounts.of(values, codes)
    smallest = counts.smallest_margin()
    if same_encoder and defined.all() and not values.any():
        return NotWorse("not worse", margin, 0.0, smallest, UNCHANGED)
    units = len(np.unique(codes))
    needed = units * counts.growth_needed(margin)
    if units < (usual := _usual_units(margin)):
        needed = max(needed, usual)
    test = _Test(margin, counts.statistic(margin) > Z, smallest, _rounded_up(needed), of_shares=True)
    return _judged(values, units, test, p)


def mean_not_worse(
    gaps: Floats,
    unit: Ints,
    margin: float,
    draws: Draws,
    *purpose: str,
    p: float | None = None,
    same_encoder: bool = False,
) -> NotWorse:
    """Test whether a mean fell by less than a margin: the one-sided 95 % interval ends above −margin.

    Where few items lose much and most gain a little (skewness −2), an encoder that is worse by the margin passes in
    9-13 % of the cases with 15-28 units, 8-9 % with 70 and more.

    Parameters
    ----------
    gaps
        (n,) the new encoder's value less the old one's on each item; NaN is left out.
    draws, purpose
        The resamples and their random stream.
    unit, margin, p, same_encoder
        As in :func:`share_not_worse`.
    """
    defined = ~np.isnan(gaps)
    values, codes = gaps[defined], np.unique(unit[defined], return_inverse=True)[1].astype(np.int64)
    if not len(values):
        return NotWorse("inconclusive", margin, None, None, "no item is defined for both")
    if same_encoder and defined.all() and not values.any():
        return NotWorse("not worse", margin, 0.0, 0.0, UNCHANGED)
    replicates = bootstrap_means(values[:, None], codes, draws, *purpose)[:, 0]
    # A one-sided 95 % interval leaves as much below it as a two-sided one of 90 %.
    beyond = tail(np.bincount(codes).astype(np.float64), level=2 * LEVEL - 1)
    low = float(np.quantile(replicates, beyond))
    units = len(np.unique(codes))
    needed = units * POWER_Z**2 * ratio_variance(values, codes) / margin**2 if units > 1 else None
    test = _Test(margin, low > -margin, max(-low, 0.0), _rounded_up(needed), of_shares=False)
    return _judged(values, units, test, p)


@dataclass(frozen=True)
class DiscordantCounts:
    """Wins, losses and items of a paired comparison, divided by the design effect.

    Attributes
    ----------
    wins, losses
        Items that only the new, or only the old encoder answers.
    items
        All items, those that both or neither answer included.
    """

    wins: float
    losses: float
    items: float

    @classmethod
    def of(cls, gaps: Floats, unit: Ints) -> DiscordantCounts:
        """Count, and divide by :func:`design_effect`."""
        divisor = design_effect(gaps, unit)
        wins, losses = float(np.maximum(gaps, 0).sum()), float(np.maximum(-gaps, 0).sum())
        return cls(wins / divisor, losses / divisor, len(gaps) / divisor)

    def statistic(self, margin: float) -> float:
        """Return Tango's score statistic of the null hypothesis that the share fell by ``margin`` (0 to 1).

        With δ = −margin, b wins, c losses and n items: A = 2n, B = −b − c + (2n − b + c)δ, C = −cδ(1 − δ); q, the
        share of losses under the hypothesis, is (√(B² − 4AC) − B)/(2A), and the statistic
        (b − c − nδ)/√(n(2q + δ(1 − δ))).
        """
        b, c, n, delta = self.wins, self.losses, self.items, -margin
        first, second = 2 * n, -b - c + (2 * n - b + c) * delta
        third = -c * delta * (1 - delta)
        q = (np.sqrt(max(second**2 - 4 * first * third, 0.0)) - second) / (2 * first)
        variance = n * (2 * q + delta * (1 - delta))
        excess = b - c - n * delta
        return float(excess / np.sqrt(variance)) if variance > 0 else float(np.inf * np.sign(excess))

    def growth_needed(self, margin: float) -> float:
        """Return how many times as many items the test takes to pass in four cases of five where nothing is lost.

        As many items differ as here, half of them wins. At least so many that it passes where no item differs:
        n = z²(1 − m)/m.
        """
        differing = (self.wins + self.losses) / self.items
        items = max(POWER_Z**2 * differing / margin**2, Z**2 * (1 - margin) / margin)
        return items / self.items

    def smallest_margin(self) -> float | None:
        """Return the smallest margin at which the test passes, by bisection: the statistic grows with the margin."""
        low, high = 0.0, 1.0 - PRECISION
        if self.statistic(high) <= Z:
            return None
        while high - low > PRECISION:
            middle = (low + high) / 2
            if self.statistic(middle) > Z:
                high = middle
            else:
                low = middle
        return high


def design_effect(gaps: Floats, unit: Ints) -> float:
    """Return by how much items in units are worth less than independent ones.

    D = (w·deff + (1 − w)·F)·(t/z)², with F = Σn_u²/n the effect of complete dependence, deff = v/v₀ within [1, F], v
    the variance of the mean over units and v₀ that of independent items, w = k/(k + 3) for k units in which an item
    differs (few say little about dependence), and t, z the 95 % quantiles of Student's t on n/F − 1 degrees of freedom
    and of the normal distribution.
    """
    from scipy.special import stdtrit

    _, sizes = unit_sums(gaps, unit)
    number, units = len(gaps), effective_units(sizes)
    complete = number / units
    independent = float(((gaps - gaps.mean()) ** 2).sum()) / max(number - 1, 1) / number
    effect = complete
    if independent > 0 and len(sizes) > 1:
        effect = min(max(ratio_variance(gaps, unit) / independent, 1.0), complete)
    differing = len(np.unique(unit[gaps != 0]))
    weight = differing / (differing + PRIOR_UNITS)
    widening = (float(stdtrit(max(units - 1, 1.0), LEVEL)) / Z) ** 2
    return (weight * effect + (1 - weight) * complete) * widening


@dataclass(frozen=True)
class _Test:
    """What the test itself came to; the attributes are those of :class:`NotWorse`."""

    margin: float
    passed: bool
    smallest_margin: float | None
    units_needed: int | None
    of_shares: bool

    def size(self, value: float) -> str:
        """Write the size of a loss: points for shares."""
        return f"{100 * value:.2g} points" if self.of_shares else f"{value:.2g}"


def _judged(gaps: Floats, units: int, test: _Test, p: float | None) -> NotWorse:
    difference = float(gaps.mean())
    significant_loss = p is not None and p <= ALPHA and difference < 0
    outcome: Outcome = "inconclusive"
    if units < MIN_UNITS:
        note = f"{units} units are too few for a verdict; that takes {MIN_UNITS}"
    elif test.passed:
        outcome = "not worse"
        note = f"the loss of {test.size(-difference)} is significant and within the margin" if significant_loss else ""
    elif significant_loss:
        outcome, note = "worse", ""
    else:
        note = _power_note(units, test)
    return NotWorse(outcome, test.margin, difference, test.smallest_margin, note, test.units_needed)


def _power_note(units: int, test: _Test) -> str:
    """Say how many units the test takes, where it is likely to be inconclusive even if nothing is lost."""
    if test.units_needed is None or units >= test.units_needed:
        return ""
    margin = test.size(test.margin)
    if test.of_shares and units < _usual_units(test.margin):
        return (
            f"with {units:,} units this test can hardly pass at {margin} even where nothing is lost; it takes about "
            f"{test.units_needed:,}"
        )
    return f"to rule out a loss of {margin} takes about {test.units_needed:,} units like these; there are {units:,}"


def _usual_units(margin: float) -> float:
    return USUAL_UNITS * (USUAL_MARGIN / margin) ** 2


def _rounded_up(number: float | None) -> int | None:
    """Return a whole number of two significant digits, not below the one given."""
    if number is None:
        return None
    step: int = 10 ** max(len(str(ceil(number))) - 2, 0)
    return ceil(round(number / step, 6)) * step
