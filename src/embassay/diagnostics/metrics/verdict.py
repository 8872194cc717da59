"""The verdict of a diagnostic: what pairs of encoders differ by, and which may therefore be the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from embassay.core.metric_key import MetricKey
from embassay.core.result import MAX_UNDEFINED, Comparison, Row, Standings, Verdict
from embassay.stats.detectable import Precision
from embassay.stats.families import Roles
from embassay.stats.labels import Labels, effective_number
from embassay.stats.units import Floats


@dataclass(frozen=True)
class Headline:
    """The item values of the headline metric of a diagnostic on one corpus; higher is better.

    Attributes
    ----------
    key
        The metric, in any diagnostic and corpus.
    margin
        The smallest loss that matters.
    values
        The (n,) item values of each encoder, whose mean is the metric; NaN is undefined. Those of a correlation are
        influences.
    labels
        The unit labels of the items.
    of_shares
        Whether the values are yes and no, or shares of them.
    is_bounded
        Whether the values lie in [0, 1], as shares do.
    """

    key: MetricKey
    margin: float
    values: Mapping[str, Floats]
    labels: Labels
    of_shares: bool
    is_bounded: bool


def ranked(
    verdict: Verdict,
    roles: Roles,
    headline: Headline,
    rows: Mapping[str, Row],
    differences: Sequence[Comparison],
    *,
    is_ranking_of_right: bool,
) -> Verdict:
    """Return a verdict with which systems may be the best on the headline.

    Parameters
    ----------
    verdict
        That of a diagnostic that does not rank encoders.
    rows
        The headline's row by encoder.
    differences
        The paired differences on the headline, each pair once.
    is_ranking_of_right
        Whether items are right or wrong: then a higher value is better.
    """
    values = {name: row.value for name, row in rows.items() if row.value is not None}
    left_out = tuple(name for name in _often_undefined(headline.values, roles.base_systems) if name in values)
    competing = {name: values[name] for name in roles.base_systems if name in values and name not in left_out}
    reason = None
    if not competing:
        reason = f"no candidate is defined for {1 - MAX_UNDEFINED:.0%} of the items"
    elif headline.labels.too_few:
        reason = headline.labels.too_few.partition(": ")[2]
    undefined_as_wrong = {}
    if is_ranking_of_right:
        undefined_as_wrong = _undefined_as_wrong({name: headline.values[name] for name in roles.candidates})
    return replace(
        verdict,
        # Of equal values, the one named first comes first.
        candidates=tuple(sorted((n for n in roles.candidates if n in values), key=lambda name: -values[name])),
        best_set=() if reason else Standings.of(competing, differences).may_be_best,
        left_out=left_out,
        undefined_as_wrong=undefined_as_wrong,
        reason=reason,
    )


def with_precision(pairs: Sequence[Comparison], headline: Headline, number: float | None) -> tuple[Comparison, ...]:
    """Return what pairs differ by on the headline, with the difference that could be detected.

    Parameters
    ----------
    number
        See :func:`effective_items`.
    """
    rows = list[Comparison]()
    for pair in pairs:
        precision = None
        if pair.p is not None:
            differences = headline.values[pair.a] - headline.values[pair.b]
            precision = Precision.of(differences, headline.labels, number, pair.pairs_in_family)
        if precision is not None:
            target, needed = precision.next_target(headline.margin)
            smallest = precision.smallest_difference
            pair = replace(pair, smallest_difference=smallest, target=target, items_needed=needed)
        rows.append(pair)
    return tuple(rows)


def _often_undefined(values: Mapping[str, Floats], names: Sequence[str]) -> list[str]:
    """Return the systems that are undefined for too many of the items that any system is defined for."""
    undefined = {name: np.isnan(values[name]) for name in names if name in values}
    for_all = np.logical_and.reduce(list(undefined.values())) if undefined else np.array([], dtype=bool)
    possible = np.count_nonzero(~for_all)
    return [name for name, of_name in undefined.items() if (of_name & ~for_all).sum() > MAX_UNDEFINED * possible]


def effective_items(headline: Headline, roles: Roles) -> float | None:
    """Return n* of the headline; None where its values are not known to lie in [0, 1]."""
    if not headline.is_bounded or not headline.labels.items:
        return None
    pool = [headline.values[name] for name in roles.base_systems if name in headline.values]
    return effective_number(headline.labels, pool, of_shares=headline.of_shares)


def _undefined_as_wrong(values: Mapping[str, Floats]) -> dict[str, float]:
    """Return the mean of each candidate with undefined items counted as wrong, if any candidate has the item."""
    defined_for_any = ~np.all([np.isnan(items) for items in values.values()], axis=0) if values else np.array([])
    if not defined_for_any.any():
        return {}
    return {name: float(np.nan_to_num(items[defined_for_any]).mean()) for name, items in values.items()}
