"""Which candidate to use, which others are worth a thought, and which are out: from values, verdicts and costs.

The highest observed value costs most and is often highest by luck. The cheapest candidate that no test shows to be
worse costs least, but few questions show nothing: it may be worse by ten points. So the cheapest is used that is
neither shown to be worse nor observed to lose more than the user accepts. ``docs/statistics.md`` has the simulated true
loss of these three rules.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

MOST_ALTERNATIVES = 2
DIGITS = 10
"""Losses are rounded: 0.87 − 0.85 is 2 points, not a little more."""

Cost = tuple[float, ...]


@dataclass(frozen=True)
class Shortlist:
    """A decision over candidates.

    Attributes
    ----------
    use
        The candidate to use; never one that is rejected.
    highest
        The candidate with the highest value among those that are not shown to be worse than another; often ``use``.
    others
        What to consider instead: at most two that are cheaper than ``use``, the highest value first, and at the end
        ``highest`` where that is not ``use``. A cheaper one stands here only if nothing that costs as little has a
        value as high.
    rejected
        What not to use, the highest value first: with the candidate that it is shown to be worse than (``use`` or
        ``highest`` where it is one of these), or with None where it only lies far below ``highest``.
    """

    use: str
    highest: str
    others: tuple[str, ...]
    rejected: Mapping[str, str | None]


def decide(
    values: Mapping[str, float],
    worse_than: Mapping[str, Collection[str]],
    costs: Mapping[str, Cost],
    *,
    accept: float,
    far: float,
) -> Shortlist:
    """Decide between candidates.

    Use is the cheapest candidate that is not shown to be worse than another one and whose value is at most ``accept``
    below the highest. Of several that cost the same it is the one with the highest value, then the first.

    Parameters
    ----------
    values
        The observed value of each candidate, of one at least, in the order given by the user; higher is better, all are
        finite.
    worse_than
        For a candidate the others that a printed verdict shows it to be worse than; one without any may be left out.
        Names without a value are ignored. If every candidate is worse than some other, which can only be where pairs
        are compared on different items, no verdict rejects anything.
    costs
        The costs of each candidate, the most important first: the number of parts, milliseconds of a question, bytes.
        All have the same length, and none is NaN. ``math.inf`` is an unknown cost: it is above every known one and
        equal to another unknown one, so that what is unknown never makes a candidate cheaper.
    accept
        The loss, in the unit of the values, at which a cheaper candidate is still used; at least 0.
    far
        A candidate that loses more is rejected without a verdict, unless the user accepts such a loss: 5 points.

    Examples
    --------
    >>> values = {"mpnet": 0.87, "MiniLM": 0.83, "bm25": 0.65}
    >>> costs = {"mpnet": (1, 12.0), "MiniLM": (1, 2.0), "bm25": (1, 0.3)}
    >>> decide(values, {"bm25": ["mpnet"]}, costs, accept=0.02, far=0.05)
    Shortlist(use='mpnet', highest='mpnet', others=('MiniLM',), rejected={'bm25': 'mpnet'})
    >>> decide(values, {"bm25": ["mpnet"]}, costs, accept=0.05, far=0.05)
    Shortlist(use='MiniLM', highest='mpnet', others=('mpnet',), rejected={'bm25': 'mpnet'})
    """
    better = {name: [other for other in worse_than.get(name, ()) if other in values] for name in values}
    # Sorting is stable: what has the same value stays in the order given.
    by_value = sorted(values, key=lambda name: -values[name])
    remaining = [name for name in by_value if not better[name]] or by_value
    highest = remaining[0]
    losses = {name: round(values[highest] - values[name], DIGITS) for name in remaining}

    # Of equal costs the first counts, which has the highest value.
    use = min((name for name in remaining if losses[name] <= accept), key=costs.__getitem__)

    others: list[str] = []
    cheapest = costs[use]
    within_reach = [name for name in remaining if losses[name] <= max(far, accept)]
    for name in within_reach:
        if costs[name] < cheapest and len(others) < MOST_ALTERNATIVES:
            others.append(name)
            cheapest = costs[name]
    if highest != use:
        others.append(highest)

    rejected: dict[str, str | None] = {}
    for name in by_value:
        if name not in remaining:
            rejected[name] = min(better[name], key=lambda other: (other != use, other != highest, -values[other]))
        elif name not in within_reach:
            rejected[name] = None
    return Shortlist(use, highest, tuple(others), rejected)
