"""How well a score separates two groups: the area under the ROC curve, with its interval."""

from __future__ import annotations

import math

import numpy as np

from embassay.core.result import Estimate
from embassay.stats.labels import Labels, effective_number
from embassay.stats.shares import Z
from embassay.stats.units import Bools, Floats

PRECISION = 1e-9
LEAST_SEPARATED = 5
"""With fewer independent items of a group than this the area under the curve has no interval."""


def separation(scores: Floats, labels: Labels, high: Bools, low: Bools) -> Estimate | None:
    """Estimate the area under the curve of two groups; None where a group has no defined score.

    Parameters
    ----------
    scores
        (n,) NaN is undefined.
    labels
        Those of the n items.
    high, low
        (n,) which items are in each group.
    """
    groups, units, numbers = [], 0, []
    for members in (high & ~np.isnan(scores), low & ~np.isnan(scores)):
        of_members = labels.of_items(members)
        groups.append(scores[members])
        units += of_members.sets
        numbers.append(effective_number(of_members, [scores[members]], of_shares=False))
    above, below = groups
    if not len(above) or not len(below):
        return None
    value, items = area(above, below), len(above) + len(below)
    undefined = int(high.sum() + low.sum()) - items
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
