"""The minimum detectable difference of a corpus, and the number of units that a given difference needs.

Both come from one formula and one :class:`Precision`, so they never contradict each other: the minimum detectable
difference needs exactly the present number of units. Neither is computed from an observed difference.

What is still to be collected is planned with the upper 80 % limit of the variance (:attr:`Precision.sure`): a small
pilot's variance is too small as often as it is too large, and the average power would fall short of what is promised.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from embassay.result import ALPHA, MIN_UNITS
from embassay.stats.families import PairedDifference
from embassay.stats.units import Floats, Ints, effective_number, freedom_of_variance, ratio_variance

SURE = 0.8
"""How sure a plan is that the variance is not larger than the one it takes."""
FEW_DEGREES = 10
"""With fewer degrees of freedom a few units decide the variance, and its limit is not to be trusted either."""
POWER = 0.8
"""The power that is planned for unless another one is given."""
ROUNDING = 1e-9
STEPS = (7.5, 5.0, 2.5, 1.0)
"""Differences to aim at with more items, in margins: the first that is clearly below the detectable one is named."""
CLEARLY_BELOW = 0.7
"""A target is clearly below the minimum detectable difference if it is at most this share of it."""


@dataclass(frozen=True)
class Precision:
    """The precision with which a corpus estimates the difference of two candidates.

    With u times as many units, the standard error is error/√u and the effective number of items effective_items·u.

    Attributes
    ----------
    error
        The standard error of a difference, on these units.
    effective_items
        The effective number of items of the shares; None for values that are not shares.
    units, items
        The number of units and items that it was computed from.
    tests
        The number that Holm's correction multiplies p by. At the pair's own step it is not larger than in the test
        itself: with that of the first step, a significant difference could be far below the detectable one.
    power
        The probability that a true difference of the minimum detectable size becomes significant.
    freedom
        The degrees of freedom of the error's square; infinite where it is known.
    """

    error: float
    effective_items: float | None
    units: int
    items: int
    tests: int = 1
    power: float = POWER
    freedom: float = math.inf

    @property
    def sure(self) -> Precision:
        """The same with the upper 80 % limit of the variance: error²·ν/χ²_ν, with the 20 % quantile of χ²_ν."""
        from scipy.special import chdtri

        if math.isinf(self.freedom):
            return self
        growth = self.freedom / float(chdtri(self.freedom, SURE))
        return replace(self, error=self.error * math.sqrt(growth), freedom=math.inf)

    @property
    def minimum_detectable_difference(self) -> float:
        """The smallest true difference that such a corpus shows with this power.

        With m tests and z = z₁₋α/₂ₘ + z_power it is z·error; for shares at least z²/(n + z²), n the effective number of
        items that differ. This floor matters if two encoders hardly differ: for a difference of δ a share of at least δ
        of the items differs, so the standard error is at least √(δ(1 − δ)/n). The floor is the δ that is z times this
        error.
        """
        z = self._z
        difference = z * self.error
        if self.effective_items is None:
            return difference
        floor = z * z / (self.effective_items + z * z)
        return max(difference, floor)

    def units_needed(self, difference: float) -> int:
        """Return how many units show this true difference with this power; at least ``MIN_UNITS``.

        It is the smallest number of units for which :attr:`minimum_detectable_difference` is at most the difference.

        Parameters
        ----------
        difference
            Above 0, and for shares below 1; in the unit of ``error``.
        """
        if not difference > 0:
            raise ValueError(f"a difference must be above 0 to be planned for; it is {difference}")
        z = self._z
        growth = (z * self.error / difference) ** 2
        if self.effective_items is not None:
            for_floor = z * z * (1 - difference) / (difference * self.effective_items)
            growth = max(growth, for_floor)
        # Without the allowance for rounding, the minimum detectable difference itself could need one unit more.
        units = math.ceil(self.units * growth * (1 - ROUNDING))
        return max(units, MIN_UNITS)

    def items_needed(self, difference: float) -> int:
        """Return the number of items of :meth:`units_needed` units, with as many items per unit as now."""
        items = self.units_needed(difference) * self.items / self.units
        return math.ceil(items * (1 - ROUNDING))

    def next_target(self, margin: float) -> dict[str, Any]:
        """Return a smaller difference to aim at as ``target``, and the ``more_units`` and ``more_items`` it needs.

        They are those of :attr:`sure`. Empty if the minimum detectable difference is small already.

        Parameters
        ----------
        margin
            The difference that matters: the margin of the metric.
        """
        sure = self.sure
        for target in (steps * margin for steps in STEPS):
            if target <= CLEARLY_BELOW * self.minimum_detectable_difference:
                more_units = sure.units_needed(target) - self.units
                more_items = sure.items_needed(target) - self.items
                return {"target": target, "more_units": more_units, "more_items": more_items}
        return {}

    def with_units(self, units: int) -> Precision:
        """Return the precision of a corpus with another number of units like these."""
        growth = units / self.units
        effective = None
        if self.effective_items is not None:
            effective = self.effective_items * growth
        items = math.ceil(self.items * growth * (1 - ROUNDING))
        return replace(self, error=self.error / math.sqrt(growth), effective_items=effective, units=units, items=items)

    @property
    def _z(self) -> float:
        """z₁₋α/₂ₘ + z_power."""
        normal = NormalDist()
        tests = max(self.tests, 1)
        return normal.inv_cdf(1 - ALPHA / (2 * tests)) + normal.inv_cdf(self.power)


def precision_of(
    differences: Sequence[PairedDifference],
    values: Mapping[str, Floats],
    unit: Ints,
    *,
    of_shares: bool,
) -> Precision | None:
    """Return the precision with which a corpus shows the difference of each candidate from the reference.

    Parameters
    ----------
    differences
        Those of all families; only the family ``reference`` is used, which compares candidates only.
    values
        The (n,) item values of the candidates. If there is one, an independent second one with the same variance is
        assumed.
    of_shares
        Whether the values are shares, for which the minimum detectable difference has a floor.

    Returns
    -------
    The precision of the least precise pair; None if no pair has two units, or if means do not vary at all.
    """
    precisions = []
    for difference in differences:
        if difference.family == "reference":
            precision = precision_of_pair(difference, values, unit, of_shares=of_shares)
            if precision is not None:
                precisions.append(precision)
    has_pairs = any(difference.family == "reference" and difference.error is not None for difference in differences)
    if not has_pairs and len(values) == 1:
        (items_of_one,) = values.values()
        of_one = _precision(items_of_one, items_of_one, unit, of_shares)
        # Two independent candidates: the variance of the difference is twice that of one.
        precisions = [replace(of_one, error=math.sqrt(2) * of_one.error)] if of_one else []
    return max(precisions, key=lambda precision: precision.minimum_detectable_difference, default=None)


def precision_of_pair(
    difference: PairedDifference,
    values: Mapping[str, Floats],
    unit: Ints,
    *,
    of_shares: bool,
) -> Precision | None:
    """Return the precision with which a corpus shows the difference of two encoders.

    Parameters
    ----------
    difference
        The difference of any family; the number of tests at its step of Holm's correction counts.
    values
        The (n,) item values of both encoders.
    of_shares
        Whether the values are shares, for which the minimum detectable difference has a floor.

    Returns
    -------
    None for fewer than two units, or if the difference of two means does not vary at all.
    """
    if difference.error is None:
        return None
    precision = precision_of_values(
        values[difference.a], values[difference.b], unit, of_shares=of_shares, tests=difference.tests_at_step
    )
    if precision is None:
        return None
    # Of a mean over folds the error is not quite that of the mean over items.
    return replace(precision, error=difference.error, units=difference.units, items=difference.items)


def precision_of_values(a: Floats, b: Floats, unit: Ints, *, of_shares: bool, tests: int = 1) -> Precision | None:
    """Return the precision with which a corpus shows the difference of two means.

    Parameters
    ----------
    a, b
        (n,) item values of two encoders; NaN is undefined.
    unit
        (n,) unit codes.
    tests
        See :class:`Precision`.

    Returns
    -------
    None for fewer than two units, or if the difference of two means does not vary at all.
    """
    gaps = a - b
    return _precision(gaps, np.abs(gaps), unit, of_shares, tests)


def _precision(values: Floats, differing: Floats, unit: Ints, of_shares: bool, tests: int = 1) -> Precision | None:
    """Return the precision of a mean of (n,) values, where ``differing`` is the share of which items count."""
    defined = ~np.isnan(values)
    units = len(np.unique(unit[defined]))
    if units < 2:
        return None
    error = math.sqrt(ratio_variance(values[defined], unit[defined]))
    if not of_shares and error <= ROUNDING:
        return None
    effective = effective_items(unit, differing) if of_shares else None
    items = int(defined.sum())
    freedom = freedom_of_variance(values[defined], unit[defined])
    return Precision(error, effective, units, items, max(tests, 1), freedom=freedom)


def effective_items(unit: Ints, values: Floats) -> float:
    """Return the effective number of items of a share; see :func:`~embassay.stats.units.effective_number`.

    It is at least the number of units and at most the number of items. Of two encoders the share is that of the items
    on which they differ: where whole units are right or wrong, two encoders may still differ on single items.
    """
    defined = ~np.isnan(values)
    codes = unit[defined]
    units = len(np.unique(codes))
    items = int(defined.sum())
    return float(min(max(effective_number(values[defined], codes), units), items))
