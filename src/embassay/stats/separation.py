"""How well a score separates two groups: the area under the ROC curve, with its interval."""

from __future__ import annotations

import math

import numpy as np

from embassay.core.result import Estimate
from embassay.stats.labels import Labels, effective_number
from embassay.stats.shares import Z
from embassay.stats.units import Floats

PRECISION = 1e-9
LEAST_SEPARATED = 5
"""With fewer independent items of a group than this the area under the curve has no interval."""


def separation(high: tuple[Floats, Labels], low: tuple[Floats, Labels]) -> Estimate | None:
    """Estimate the area under the curve of two groups; None where a group has no defined score.

    Parameters
    ----------
    high, low
        The scores of each group, with NaN for undefined ones, and their unit labels.
    """
    groups = [(scores[~np.isnan(scores)], labels.of_items(~np.isnan(scores))) for scores, labels in (high, low)]
    (above, _), (below, _) = groups
    if not len(above) or not len(below):
        return None
    value, items = area(above, below), len(above) + len(below)
    units, undefined = sum(labels.sets for _, labels in groups), len(high[0]) + len(low[0]) - items
    numbers = [effective_number(labels, [scores], of_shares=False) for scores, labels in groups]
    if min(numbers) < LEAST_SEPARATED:
        return Estimate(value, None, None, items, units, undefined, "no interval: too few independent items")
    return Estimate(value, *area_interval(value, *numbers), items, units, undefined)


def area(high: Floats, low: Floats) -> float:
    """Return the probability that a score of one group is above one of another, ties counted half, in [0, 1].

    0.5 is no separation, 1 is that every score of the first group is above all of the second.

    Parameters
    ----------
    high, low
        (m,) and (n,) the scores of both groups, each at least one; all are finite or −inf.
    """
    ordered = np.sort(low)
    below = np.searchsorted(ordered, high, side="left")
    not_above = np.searchsorted(ordered, high, side="right")
    return float((below + not_above).mean() / (2 * len(low)))


def area_interval(value: float, high_number: float, low_number: float) -> tuple[float, float]:
    """Return Newcombe's (2006, method 5) 95 % interval of an area under the curve.

    With m and n scores, N = (m + n)/2 − 1, the ends are the θ with |value − θ| = z·√V(θ), of Hanley and McNeil's (1982)

        V(θ) = θ(1 − θ)/(m·n) · (1 + N·((1 − θ)/(2 − θ) + θ/(1 + θ)))

    Parameters
    ----------
    high_number, low_number
        The effective numbers of scores of both groups.
    """
    number = (high_number + low_number) / 2 - 1

    def reach(theta: float) -> float:
        variance = theta * (1 - theta) / (high_number * low_number)
        return Z * math.sqrt(variance * (1 + number * ((1 - theta) / (2 - theta) + theta / (1 + theta))))

    def end(limit: float) -> float:
        """Return by bisection the θ between the value and 0 or 1 from which on the value is out of reach."""
        inside, outside = value, limit
        while abs(outside - inside) > PRECISION:
            middle = (inside + outside) / 2
            if abs(value - middle) <= reach(middle):
                inside = middle
            else:
                outside = middle
        return inside

    return end(0.0), end(1.0)
