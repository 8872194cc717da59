"""The smallest difference that a test set shows, and the number of items that a smaller one needs.

Both come from one formula and one :class:`Precision`, so they never contradict each other: the smallest difference
needs exactly the present number of items, and more items never raise it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from embassay.core.result import ALPHA
from embassay.stats.labels import Labels
from embassay.stats.units import Floats, ratio_variance

POWER = 0.8
"""The power that is planned for unless another one is given."""
ROUNDING = 1e-9
STEPS = (7.5, 5.0, 2.5, 1.0)
"""Differences to aim at with more items, in margins: the first that is clearly below the present one is named."""
CLEARLY_BELOW = 0.7
MAX_GROWTH = 1e6
"""A test set that would have to grow by more is out of reach."""


@dataclass(frozen=True)
class Precision:
    """The precision with which a test set estimates the difference of two systems.

    Attributes
    ----------
    items, effective_units
        Their number, and U_e: t has U_e − 1 degrees of freedom.
    number
        n*, for values in [0, 1]; None for others.
    squares
        For values in [0, 1] the mean square of the differences: of shares, the share of the items that differ.
    error
        For other values the standard error of the difference over units.
    tests
        The number of tests in the family of the pair.
    power
        The probability that a true difference of the smallest size becomes significant.
    """

    items: int
    effective_units: float
    number: float | None = None
    squares: float = 0.0
    error: float = 0.0
    tests: int = 1
    power: float = POWER

    @classmethod
    def of(cls, differences: Floats, labels: Labels, number: float | None, tests: int = 1) -> Precision | None:
        """Take the (n,) differences of two systems; NaN is undefined.

        Parameters
        ----------
        number
            n* of all n items, for values in [0, 1].

        Returns
        -------
        None where the items are too few for a verdict, or where the differences of other values do not vary.
        """
        defined = ~np.isnan(differences)
        of_defined, of_labels = differences[defined], labels.of_items(defined)
        if of_labels.too_few:
            return None
        base = cls(int(defined.sum()), of_labels.effective_units, tests=max(tests, 1))
        if number is not None:
            share = base.items / labels.items
            return replace(base, number=number * share, squares=float((of_defined**2).mean()))
        error = math.sqrt(ratio_variance(of_defined, of_labels.label_set))
        return replace(base, error=error) if error > ROUNDING else None

    @property
    def smallest_difference(self) -> float:
        """The smallest true difference that such a test set shows with this power.

        With m tests, z = z₁₋α/₂ₘ + z_power and q the mean square of the differences, it is the δ for which
        δ = z·√((q − δ²)/n*). Where two systems hardly differ, q is δ: for a difference of δ a share of at least δ of
        the items differs. Of other values it is (t₁₋α/₂ₘ + z_power)·error.

            max(z·√(q/(n* + z²)), z²/(n* + z²))
        """
        from scipy.special import stdtrit

        power = NormalDist().inv_cdf(self.power)
        quantile = 1 - ALPHA / (2 * self.tests)
        if self.number is None:
            return (float(stdtrit(max(self.effective_units - 1, 1.0), quantile)) + power) * self.error
        # Few units widen n* already.
        z = NormalDist().inv_cdf(quantile) + power
        scale = self.number + z * z
        return max(z * math.sqrt(self.squares / scale), z * z / scale)

    def next_target(self, margin: float) -> tuple[float | None, int | None]:
        """Return a smaller difference to aim at, and about how many items it needs; None where there is none.

        Parameters
        ----------
        margin
            The difference that matters.
        """
        for target in (steps * margin for steps in STEPS):
            if target <= CLEARLY_BELOW * self.smallest_difference:
                return target, self.items_needed(target)
        return None, None

    def grown(self, growth: float) -> Precision:
        """Return the precision of so many times as many items like these, about so many times as many units."""
        return replace(
            self,
            items=math.ceil(self.items * growth - ROUNDING),
            effective_units=self.effective_units * growth,
            number=None if self.number is None else self.number * growth,
            error=self.error / math.sqrt(growth),
        )

    def items_needed(self, difference: float) -> int | None:
        """Return how many items show a true difference above 0 with this power, rounded up to two digits.

        None where it would take a million times as many.
        """
        low, high = 1 / self.items, MAX_GROWTH
        if self.grown(high).smallest_difference > difference:
            return None
        while high / low > 1 + ROUNDING:
            middle = math.sqrt(low * high)
            if self.grown(middle).smallest_difference > difference:
                low = middle
            else:
                high = middle
        return rounded_up(self.items * high)


def rounded_up(number: float) -> int:
    """Round up to two significant digits."""
    step: int = 10 ** max(len(str(math.ceil(number))) - 2, 0)
    # Rounding errors must not move 100.0000001 to the next step.
    return math.ceil(round(number / step, 6)) * step
