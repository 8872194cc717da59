"""What a corpus can show: the minimum detectable difference, and the units that a smaller one takes.

Both come from one formula and one :class:`Precision`, so they never contradict each other: the units needed for the
minimum detectable difference are the units that there are. Neither is computed from an observed difference.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from embassay.result import MIN_UNITS
from embassay.stats.families import PairedDifference
from embassay.stats.permutation import ALPHA
from embassay.stats.units import Floats, Ints, effective_number, ratio_variance

POWER = 0.8
ROUNDING = 1e-9


@dataclass(frozen=True)
class Precision:
    """How precisely a corpus shows the difference of two candidates.

    With u times as many units, the standard error is error/√u and the effective number effective_items·u.

    Attributes
    ----------
    error
        The standard error of a difference, on these units.
    effective_items
        How many independent items the shares rest on; None for values that are no shares.
    units, items
        What it was computed from.
    tests
        The number of tests in the family, all of which Holm's correction may count.
    """

    error: float
    effective_items: float | None
    units: int
    items: int
    tests: int = 1

    @property
    def minimum_detectable_difference(self) -> float:
        """The smallest true difference that such a corpus shows with a power of 80 %.

        z·error, z = z₁₋α/₂ₘ + z₀.₈ for m tests; for shares at least z²/(n + z²), n the effective items. A difference of
        δ needs a share of at least δ of items that differ, whose standard error is √(δ(1 − δ)/n): that floor is where
        δ equals z times it. It matters where two encoders hardly differ.
        """
        z = self._z
        if self.effective_items is None:
            return z * self.error
        return max(z * self.error, z * z / (self.effective_items + z * z))

    def units_needed(self, difference: float) -> int:
        """Return how many units show this true difference with a power of 80 %; at least ``MIN_UNITS``.

        The smallest u at which the formula of :attr:`minimum_detectable_difference`, with u units instead of the
        present ones, is at most the difference.

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
            growth = max(growth, z * z * (1 - difference) / (difference * self.effective_items))
        # The minimum detectable difference itself gives the present units, but for rounding.
        return max(math.ceil(self.units * growth * (1 - ROUNDING)), MIN_UNITS)

    def items_needed(self, difference: float) -> int:
        """Return how many items these units hold, at as many items per unit as now."""
        return math.ceil(self.units_needed(difference) * self.items / self.units * (1 - ROUNDING))

    @property
    def _z(self) -> float:
        normal = NormalDist()
        return normal.inv_cdf(1 - ALPHA / (2 * max(self.tests, 1))) + normal.inv_cdf(POWER)


def precision_of(
    differences: Sequence[PairedDifference],
    values: Mapping[str, Floats],
    unit: Ints,
    *,
    of_shares: bool,
) -> Precision | None:
    """Return the precision that a corpus has for every candidate against the reference.

    Parameters
    ----------
    differences
        Those of all families; only the family ``reference`` counts, which holds candidates only.
    values
        The (n,) item values of the candidates. With one candidate, a second one of the same spread is assumed whose
        errors are independent of its own.
    of_shares
        Whether the values are shares, so that a difference needs items that differ.

    Returns
    -------
    The least precise of the pairs; None where no pair has two units, or where means do not vary at all.
    """
    pairs = [d for d in differences if d.family == "reference" and d.error is not None]
    if pairs:
        found = [_of_pair(d, values, unit, of_shares) for d in pairs]
    else:
        found = [_of_one(items, unit, of_shares) for items in values.values()] if len(values) == 1 else []
    usable = [p for p in found if p is not None and (of_shares or p.error > ROUNDING)]
    return max(usable, key=lambda p: p.minimum_detectable_difference, default=None)


def _of_pair(
    difference: PairedDifference, values: Mapping[str, Floats], unit: Ints, of_shares: bool
) -> Precision | None:
    d = difference
    if d.error is None:
        return None
    effective = effective_items(unit, values[d.a], values[d.b]) if of_shares else None
    return Precision(d.error, effective, d.units, d.items, max(d.tests, 1))


def _of_one(items: Floats, unit: Ints, of_shares: bool) -> Precision | None:
    defined = ~np.isnan(items)
    units = len(np.unique(unit[defined]))
    if units < 2:
        return None
    error = math.sqrt(2 * ratio_variance(items[defined], unit[defined]))
    effective = effective_items(unit, items) if of_shares else None
    return Precision(error, effective, units, int(defined.sum()))


def effective_items(unit: Ints, *values: Floats) -> float:
    """Return how many independent items encoders' shares rest on, the fewest of them; from the units to the items.

    Items that differ are taken to cluster within a unit as the right answers do; see
    :func:`~embassay.stats.units.effective_number`.
    """
    defined = ~np.isnan(values).any(axis=0)
    units, items = len(np.unique(unit[defined])), int(defined.sum())
    fewest = min(effective_number(v[defined], unit[defined]) for v in values)
    return float(min(max(fewest, units), items))
