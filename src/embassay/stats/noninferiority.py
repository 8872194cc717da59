"""Non-inferiority tests: is an encoder worse than another by less than a margin?

A difference that is not significant may still be a large loss. The outcome is *not worse* if a loss of the margin or
more is rejected at 5 % (one-sided), *worse* if the difference is significantly below 0, and *inconclusive* otherwise. A
loss that is significant and smaller than the margin is *not worse*; the note states the loss.

Shares are tested by Tango's (1998) score test for paired proportions. The counts are divided by a design effect,
because the items of a unit depend on each other. Means are tested by the lower limit of the one-sided 95 % bootstrap
interval.

``units_needed`` is the number of units for a power of 80 % between encoders without a true difference:
(z₀.₉₅ + z₀.₈)²·v/m² units, v the variance of the difference for one unit and m the margin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Literal

import numpy as np

from embassay.formatting import size_in_points
from embassay.metrics.key import MetricKey
from embassay.result import ALPHA, MIN_UNITS
from embassay.stats.correlate import Kind
from embassay.stats.resample import bootstrap_means, tail
from embassay.stats.skewness import ONE_SIDED, SkewedMeans
from embassay.stats.units import LEVEL, Floats, Ints, effective_units, ratio_variance, unit_codes, unit_sums
from embassay.types import Draws

Outcome = Literal["not worse", "worse", "inconclusive"]
Z = 1.6448536269514722
"""The 95 % quantile of the normal distribution."""
PRIOR_UNITS = 3
"""The weight of the prior of the design effect, complete dependence, as a number of units."""
USUAL_MARGIN, USUAL_UNITS = 0.02, 300
"""With fewer units the test can hardly pass at 2 points: its power is 26-67 % between equal encoders."""
POWER_80 = 0.8416212335729143
"""The 80 % quantile of the normal distribution."""
POWER_Z = Z + POWER_80
"""z₀.₉₅ + z₀.₈: the margin in standard errors that gives a power of 80 %."""
PRECISION = 1e-6
"""The precision to which the smallest margin is computed."""
CHANGED = 0.1
"""The share of the answers that is assumed to change between two versions of a model, half of them for the better."""
UNCHANGED = "nothing changed"
"""The note if the same encoder has the same value on every item, which needs no test."""
NOTHING_DEFINED = "no item is defined for both"


@dataclass(frozen=True)
class NotWorse:
    """The result of a non-inferiority test.

    Attributes
    ----------
    outcome
        ``not worse``, ``worse`` or ``inconclusive``.
    margin
        The smallest loss that matters.
    difference
        The mean of the new encoder less that of the old one; None where nothing is defined for both.
    smallest_margin
        The smallest margin at which the test passes: a loss of that size or more is ruled out. None if there is none.
    units_needed
        About how many units like these give the test a power of 80 % if nothing is lost; None if that cannot be
        computed.
    note
        A remark on the outcome, one sentence without a full stop; may be empty.
    """

    outcome: Outcome
    margin: float
    difference: float | None
    smallest_margin: float | None
    note: str = ""
    units_needed: int | None = None


@dataclass(frozen=True)
class Correlated:
    """What a correlation over items is computed from.

    Attributes
    ----------
    x
        (n,) for example the human scores.
    ys
        The (n,) values of each encoder.
    """

    x: Floats
    ys: Mapping[str, Floats]
    kind: Kind


@dataclass(frozen=True)
class ItemMetric:
    """A metric of a diagnostic on one corpus that is a mean over items, on which a possible loss is tested.

    Attributes
    ----------
    metric, subset, condition
        The names of the metric in rows and comparisons.
    margin
        The smallest loss that matters; None where the diagnostic declares none.
    values
        The (n,) item values of each encoder, whose mean is the metric; NaN is undefined.
    unit
        (n,) unit codes.
    stream
        The names of its random streams, as in the comparisons.
    of_shares
        Whether the values are yes and no, or shares of them.
    similarity_function
        As in rows; empty for the similarity function of the scores.
    places
        (n,) the places of these items in the scores; None for all items.
    correlated
        For a correlation, whose item values are influences: what it is computed from.
    """

    metric: str
    margin: float | None
    values: Mapping[str, Floats]
    unit: Ints
    stream: tuple[str, ...]
    subset: str = "all"
    condition: str = ""
    of_shares: bool = True
    similarity_function: str = ""
    places: Ints | None = None
    correlated: Correlated | None = None

    @property
    def key(self) -> MetricKey:
        """The metric, in any diagnostic and corpus."""
        return MetricKey(self.metric, self.subset, self.similarity_function, self.condition)


@dataclass(frozen=True)
class Headline(ItemMetric):
    """The headline metric of a diagnostic; higher is better, and it has a margin."""

    margin: float

    def not_worse(
        self, new: str, old: str, draws: Draws, *, p: float | None = None, same_encoder: bool = False
    ) -> NotWorse:
        """Test whether one encoder is worse than another by the margin; see :func:`share_not_worse`."""
        gaps = self.values[new] - self.values[old]
        if self.of_shares:
            return share_not_worse(gaps, self.unit, self.margin, p=p, same_encoder=same_encoder)
        return mean_not_worse(gaps, self.unit, self.margin, draws, *self.stream, p=p, same_encoder=same_encoder)


def share_not_worse(
    gaps: Floats, unit: Ints, margin: float, *, p: float | None = None, same_encoder: bool = False
) -> NotWorse:
    """Test whether a share fell by less than a margin, by Tango's score test.

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
    values, codes = _defined(gaps, unit)
    if not len(values):
        return NotWorse("inconclusive", margin, None, None, NOTHING_DEFINED)
    counts = DiscordantCounts.of(values, codes)
    smallest_margin = counts.smallest_margin()
    if same_encoder and _unchanged(gaps):
        return NotWorse("not worse", margin, 0.0, smallest_margin, UNCHANGED)

    units = len(np.unique(codes))
    units_needed = units * counts.growth_needed(margin)
    if units < _least_units(margin):
        units_needed = max(units_needed, _least_units(margin))
    test = _Test(
        passed=counts.statistic(margin) > Z,
        margin=margin,
        smallest_margin=smallest_margin,
        units_needed=_rounded_up(units_needed),
        of_shares=True,
    )
    return _judge(values, units, test, p)


def possible_margin(unit: Ints) -> float | None:
    """Return the smallest margin that :func:`share_not_worse` passes in about four of five samples.

    ``CHANGED`` of the items are assumed to differ, evenly spread over the units, so the number rests on the units only.
    Of equally good models one sample in five loses z₀.₈·√k more of k such items than it wins; with that loss it passes.

    Parameters
    ----------
    unit
        (n,) unit codes of the items, in which the items of a unit stand together.

    Returns
    -------
    None where no margin passes.
    """
    count = max(round(CHANGED * len(unit)), 2)
    net_loss = POWER_80 * np.sqrt(count)
    count_lost = min(round((count + net_loss) / 2), count)
    changed = np.linspace(0, len(unit) - 1, count).astype(np.int64)
    lost = changed[np.linspace(0, count - 1, count_lost).astype(np.int64)]
    gaps = np.zeros(len(unit))
    gaps[changed] = 1.0
    gaps[lost] = -1.0
    return DiscordantCounts.of(gaps, unit_codes(unit)).smallest_margin()


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

    The interval is corrected for skewed units (:mod:`embassay.stats.skewness`). Where few items lose much and most gain
    a little (skewness −2), an encoder that is worse by the margin passes in 2-7 % of the cases.

    Parameters
    ----------
    gaps
        (n,) the new encoder's value less the old one's on each item; NaN is left out.
    draws, purpose
        The resamples and their random stream.
    unit, margin, p, same_encoder
        As in :func:`share_not_worse`.
    """
    values, codes = _defined(gaps, unit)
    if not len(values):
        return NotWorse("inconclusive", margin, None, None, NOTHING_DEFINED)
    if same_encoder and _unchanged(gaps):
        return NotWorse("not worse", margin, 0.0, 0.0, UNCHANGED)

    replicates = bootstrap_means(values[:, None], codes, draws, *purpose)[:, 0]
    # A one-sided 95 % interval leaves as much below it as a two-sided one of 90 %.
    beyond = tail(np.bincount(codes).astype(np.float64), level=2 * LEVEL - 1)
    low_of_bootstrap = np.quantile(replicates, [beyond])
    # Of units skewed to losses the limit is that of the two-sided interval: at 95 % on one side it would not hold.
    skewed = SkewedMeans.of(*unit_sums(values[:, None], codes), ONE_SIDED)
    lows, _ = skewed.widened(low_of_bootstrap, low_of_bootstrap)
    low = float(lows[0])

    units = len(np.unique(codes))
    units_needed = None
    if units > 1:
        units_needed = units * POWER_Z**2 * ratio_variance(values, codes) / margin**2
    test = _Test(
        passed=low > -margin,
        margin=margin,
        smallest_margin=max(-low, 0.0),
        units_needed=_rounded_up(units_needed),
        of_shares=False,
    )
    return _judge(values, units, test, p)


def _defined(gaps: Floats, unit: Ints) -> tuple[Floats, Ints]:
    """Return the defined differences, and the units of these items, numbered from 0 without a gap."""
    defined = ~np.isnan(gaps)
    return gaps[defined], unit_codes(unit[defined])


def _unchanged(gaps: Floats) -> bool:
    """Return whether every item is defined and has the same value for both encoders."""
    return bool((gaps == 0).all())


@dataclass(frozen=True)
class DiscordantCounts:
    """Wins, losses and items of a paired comparison, each divided by the design effect.

    Attributes
    ----------
    wins, losses
        Items that only the new, or only the old encoder answers correctly.
    items
        All items, including those that both or neither answer correctly.
    """

    wins: float
    losses: float
    items: float

    @classmethod
    def of(cls, gaps: Floats, unit: Ints) -> DiscordantCounts:
        """Count the (n,) differences, and divide by :func:`design_effect`.

        Units of several items may be lost whole, as when a topic breaks, and a few such units do not show how often
        that happens: an encoder that is worse by the margin passed in 4-11 % of the cases. So one more unit is counted
        as lost, less the item that the test allows for by itself; then it passes in 2-6 %. It has the size of the unit
        that a random item is in, Σn_u²/n: where sizes differ, the large ones decide.
        """
        divisor = design_effect(gaps, unit)
        wins = float(np.maximum(gaps, 0).sum())
        losses = float(np.maximum(-gaps, 0).sum())
        sizes = np.bincount(unit)
        one_more_unit = float((sizes**2).sum()) / len(gaps) - 1
        return cls(wins / divisor, (losses + one_more_unit) / divisor, (len(gaps) + one_more_unit) / divisor)

    def statistic(self, margin: float) -> float:
        """Return Tango's (1998, section 3) score statistic of the null hypothesis that the share fell by ``margin``.

        With δ = −margin, b wins, c losses and n items, q is the maximum-likelihood estimate of the share of losses
        under the hypothesis, the larger root of A q² + B q + C = 0:

            A = 2n        B = −b − c + (2n − b + c)δ        C = −cδ(1 − δ)
            q = (√(B² − 4AC) − B)/(2A)
            T = (b − c − nδ)/√(n(2q + δ(1 − δ)))

        T is about standard normal under the hypothesis; larger values speak against a loss of the margin. Where the
        variance is 0, T is ±∞ by the sign of its numerator.

        Parameters
        ----------
        margin
            From 0 to 1.
        """
        b, c, n = self.wins, self.losses, self.items
        delta = -margin

        quadratic = 2 * n
        linear = -b - c + (2 * n - b + c) * delta
        constant = -c * delta * (1 - delta)
        # Rounding may leave a discriminant just below 0.
        discriminant = max(linear**2 - 4 * quadratic * constant, 0.0)
        q = (np.sqrt(discriminant) - linear) / (2 * quadratic)

        excess = b - c - n * delta
        variance = n * (2 * q + delta * (1 - delta))
        if variance <= 0:
            return float(np.inf * np.sign(excess))
        return float(excess / np.sqrt(variance))

    def growth_needed(self, margin: float) -> float:
        """Return the factor by which the number of items must grow for a power of 80 % if nothing is lost.

        If a share d of the items differs, as here, and half of these are wins, the test needs (z₀.₉₅ + z₀.₈)²·d/m²
        items. It needs at least z²(1 − m)/m, with which it passes if no item differs.
        """
        differing = (self.wins + self.losses) / self.items
        for_power = POWER_Z**2 * differing / margin**2
        to_pass = Z**2 * (1 - margin) / margin
        return max(for_power, to_pass) / self.items

    def smallest_margin(self) -> float | None:
        """Return the smallest margin at which the test passes; None if there is none."""
        low, high = 0.0, 1.0 - PRECISION
        if self.statistic(high) <= Z:
            return None
        # Bisection: the statistic grows with the margin.
        while high - low > PRECISION:
            middle = (low + high) / 2
            if self.statistic(middle) > Z:
                high = middle
            else:
                low = middle
        return high


def design_effect(gaps: Floats, unit: Ints) -> float:
    """Return the factor by which the variance of a mean grows because items of a unit depend on each other.

        D = (w·deff + (1 − w)·F)·(t/z)²

    deff = v/v₀ within [1, F], v the variance of the mean over units and v₀ that of independent items; F = Σn_u²/n, the
    effect of complete dependence; w = k/(k + 3) for k units in which an item differs, because few such units show
    little about dependence; t and z the 95 % quantiles of Student's t on n/F − 1 degrees of freedom and of the normal
    distribution.

    Parameters
    ----------
    gaps
        (n,) differences, all defined.
    unit
        (n,) unit codes.

    Returns
    -------
    1 or more. If no item differs, complete dependence within units is assumed.
    """
    from scipy.special import stdtrit

    _, sizes = unit_sums(gaps, unit)
    items = len(gaps)
    units = effective_units(sizes)
    complete = items / units
    squares = float(((gaps - gaps.mean()) ** 2).sum())
    independent = squares / max(items - 1, 1) / items
    effect = complete
    if independent > 0 and len(sizes) > 1:
        deff = ratio_variance(gaps, unit) / independent
        effect = min(max(deff, 1.0), complete)

    differing_units = len(np.unique(unit[gaps != 0]))
    weight = differing_units / (differing_units + PRIOR_UNITS)
    combined = weight * effect + (1 - weight) * complete
    t = float(stdtrit(max(units - 1, 1.0), LEVEL))
    return combined * (t / Z) ** 2


@dataclass(frozen=True)
class _Test:
    """Whether a test passed; the other attributes are those of :class:`NotWorse`."""

    passed: bool
    margin: float
    smallest_margin: float | None
    units_needed: int | None
    of_shares: bool

    def written(self, value: float) -> str:
        """Return a loss or a margin as text: points for shares."""
        if self.of_shares:
            return size_in_points(value)
        return f"{value:.2g}"


def _judge(gaps: Floats, units: int, test: _Test, p: float | None) -> NotWorse:
    """Return the outcome with its note, from the test and from the two-sided p of the difference."""
    difference = float(gaps.mean())
    significant_loss = p is not None and p <= ALPHA and difference < 0
    outcome: Outcome = "inconclusive"
    note = ""
    if units < MIN_UNITS:
        note = f"{units} units are too few for a verdict; that takes {MIN_UNITS}"
    elif test.passed:
        outcome = "not worse"
        if significant_loss:
            note = f"the loss of {test.written(-difference)} is significant and within the margin"
    elif significant_loss:
        outcome = "worse"
    else:
        note = _power_note(units, test)
    return NotWorse(outcome, test.margin, difference, test.smallest_margin, note, test.units_needed)


def _power_note(units: int, test: _Test) -> str:
    """Return how many units the test needs if it is likely to be inconclusive even without a loss; else nothing."""
    if test.units_needed is None or units >= test.units_needed:
        return ""
    margin = test.written(test.margin)
    # In this case the number was raised to a fixed minimum, so the note must not say "units like these".
    if test.of_shares and units < _least_units(test.margin):
        return (
            f"with {units:,} units this test can hardly pass at {margin} even where nothing is lost; it takes about "
            f"{test.units_needed:,} units"
        )
    return f"to rule out a loss of {margin} takes about {test.units_needed:,} units like these; there are {units:,}"


def _least_units(margin: float) -> float:
    """Return the number of units below which the test can hardly pass, proportional to 1/margin²."""
    return USUAL_UNITS * (USUAL_MARGIN / margin) ** 2


def _rounded_up(number: float | None) -> int | None:
    """Round up to two significant digits."""
    if number is None:
        return None
    step: int = 10 ** max(len(str(ceil(number))) - 2, 0)
    # Rounding errors must not move 100.0000001 to the next step.
    return ceil(round(number / step, 6)) * step
