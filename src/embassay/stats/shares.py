"""Means of values in [0, 1] with Wilson's interval (1927) on an effective number of items.

The percentile bootstrap covers only 65-89 % for a share of 2 % at 40-120 units in simulations. Wilson's interval does
not collapse at the ends; here it is computed on n*, the effective number of items of a table
(:func:`~embassay.stats.labels.effective_number`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from embassay.core.result import Estimate
from embassay.stats.labels import Labels, effective_number
from embassay.stats.resample import undefined_estimate
from embassay.stats.units import Floats

Z = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""


def wilson(p: float, n: float) -> tuple[float, float]:
    """Return Wilson's (1927) 95 % interval of a share p of n items, both ends in [0, 1].

        (p + z²/2n ± z·√(p(1 − p)/n + z²/4n²)) / (1 + z²/n)

    The share itself where n is infinite.
    """
    if math.isinf(n):
        return p, p
    centre = p + Z * Z / (2 * n)
    reach = Z * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    scale = 1 + Z * Z / n
    # Rounding may leave an end on the wrong side of the share, which itself is right at 0 and 1.
    low = min(max((centre - reach) / scale, 0.0), p) if p > 0 else 0.0
    high = max(min((centre + reach) / scale, 1.0), p) if p < 1 else 1.0
    return low, high


def bounded_mean(values: Floats, labels: Labels, design_effect: float, *, of_shares: bool) -> Estimate:
    """Estimate a mean of values in [0, 1] with Wilson's 95 % interval on n*·max(1, m(1 − m)/s²).

    s² is the variance of the items: a mean of values between 0 and 1 is known better than a share. Of shares the factor
    is 1.

    Parameters
    ----------
    values
        (n,) in [0, 1]; NaN is undefined, ``ABSENT`` no item.
    labels
        Those of the n items.
    design_effect
        n/n* of the table, at least 1.

    Returns
    -------
    No value where nothing is defined; no interval where the items say too little about others.
    """
    defined = np.isfinite(values)
    items, undefined = int(defined.sum()), int(np.isnan(values).sum())
    if not items:
        return undefined_estimate(undefined)
    of_items, defined_labels = values[defined], labels.of_items(defined)
    mean = min(max(float(of_items.mean()), 0.0), 1.0)
    reason = defined_labels.too_few
    if reason:
        return Estimate(mean, None, None, items, defined_labels.sets, undefined, reason)
    number = items / design_effect
    if not of_shares:
        variance = float(of_items.var(ddof=1))
        number *= max(1.0, mean * (1 - mean) / variance) if variance > 0 else 1.0
    low, high = wilson(mean, number)
    return Estimate(mean, low, high, items, defined_labels.sets, undefined)


def bounded_means(
    values: Mapping[str, Floats], labels: Labels, base_systems: Sequence[str], *, of_shares: bool
) -> dict[str, Estimate]:
    """Estimate one mean of values in [0, 1] of several systems, all on one effective number of items.

    Parameters
    ----------
    values
        The (n,) values of each system, as in :func:`bounded_mean`.
    base_systems
        The systems that n* is estimated from, where any of them is here: those that are derived from others would count
        a model twice.
    """
    if not values:
        return {}
    # Which items belong to the mean is the same for all systems.
    present = ~np.isinf(next(iter(values.values())))
    of_present = labels.of_items(present)
    pool = [column[present] for name, column in values.items() if name in base_systems]
    pool = pool or [column[present] for column in values.values()]
    design_effect = 1.0
    if of_present.items:
        design_effect = of_present.items / effective_number(of_present, pool, of_shares=of_shares)
    return {name: bounded_mean(column, labels, design_effect, of_shares=of_shares) for name, column in values.items()}
