"""The verdict of a diagnostic: what pairs of encoders differ by, and which may therefore be the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from embassay.core.columns import ItemColumn
from embassay.core.metric_key import MetricKey
from embassay.core.result import Comparison, Row, Verdict, best_set
from embassay.core.types import Draws
from embassay.stats.correlate import Kind, influences
from embassay.stats.detectable import Precision
from embassay.stats.exchange import compare_correlations
from embassay.stats.families import Roles, compare_means
from embassay.stats.labels import Labels, effective_number
from embassay.stats.units import Floats

MAX_UNDEFINED = 0.05
"""A candidate with a larger share of undefined items is not ranked; else all would be ranked on fewer items."""


def labels_of(column: ItemColumn) -> Labels:
    """Return the unit labels of a column's items."""
    return Labels.of(column.unit, column.unit_labels)


def item_values(column: ItemColumn) -> Floats:
    """Return (n,) values whose mean is the metric: those of a column, of a correlation their influences on it."""
    if column.kind != "correlation":
        return column.value
    return influences(column.against, column.value, cast(Kind, column.correlation))


def compared(
    key: MetricKey, columns: Mapping[str, ItemColumn], roles: Roles, draws: Draws, *stream: str
) -> tuple[Comparison, ...]:
    """Return the paired differences of systems in one metric, each pair once.

    Parameters
    ----------
    columns
        By system, of the same items; the first one says what kind of metric it is.
    stream
        The names of the random stream.
    """
    first = next(iter(columns.values()))
    values, labels = {name: column.value for name, column in columns.items()}, labels_of(first)
    if first.kind == "correlation":
        kind = cast(Kind, first.correlation)
        return compare_correlations(key, first.against, values, labels, kind, roles, draws, *stream)
    return compare_means(
        key,
        values,
        labels,
        roles,
        draws,
        *stream,
        of_shares=first.of_shares,
        is_bounded=first.is_bounded,
        fold=first.fold if len(first.fold) else None,
    )


def effective_items(column: ItemColumn, pool: Sequence[Floats]) -> float | None:
    """Return n* of a metric from the (n,) values of the base systems; None where these may lie outside [0, 1]."""
    labels = labels_of(column)
    if not column.is_bounded or not labels.items:
        return None
    return effective_number(labels, pool, of_shares=column.of_shares)


def ranked(
    verdict: Verdict,
    roles: Roles,
    columns: Mapping[str, ItemColumn],
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
    columns, rows
        The item values and the row of the headline by encoder.
    differences
        The paired differences on the headline, each pair once.
    is_ranking_of_right
        Whether items are right or wrong: then a higher value is better.
    """
    values = {name: row.value for name, row in rows.items() if row.value is not None}
    items = {name: item_values(column) for name, column in columns.items()}
    labels = labels_of(next(iter(columns.values())))
    left_out = tuple(name for name in _often_undefined(items, roles.base_systems) if name in values)
    competing = {name: values[name] for name in roles.base_systems if name in values and name not in left_out}
    reason = None
    if not competing:
        reason = f"no candidate is defined for {1 - MAX_UNDEFINED:.0%} of the items"
    elif labels.too_few:
        reason = labels.too_few.partition(": ")[2]
    undefined_as_wrong = {}
    if is_ranking_of_right:
        undefined_as_wrong = _undefined_as_wrong({name: items[name] for name in roles.candidates})
    return replace(
        verdict,
        # Of equal values, the one named first comes first.
        candidates=tuple(sorted((n for n in roles.candidates if n in values), key=lambda name: -values[name])),
        best_set=() if reason else best_set(competing, differences),
        left_out=left_out,
        undefined_as_wrong=undefined_as_wrong,
        reason=reason,
    )


def precision_of(a: ItemColumn, b: ItemColumn, number: float | None, tests: int) -> Precision | None:
    """Return with which precision the items estimate the difference of two systems; None where they are too few.

    Parameters
    ----------
    number
        See :func:`effective_items`.
    tests
        The number of tests in the family of the pair.
    """
    return Precision.of(item_values(a) - item_values(b), labels_of(a), number, tests)


def with_precision(
    pairs: Sequence[Comparison], columns: Mapping[str, ItemColumn], number: float | None
) -> tuple[Comparison, ...]:
    """Return what pairs differ by on the headline, with the difference that could be detected."""
    rows = list[Comparison]()
    for pair in pairs:
        a, b = columns[pair.a], columns[pair.b]
        precision = precision_of(a, b, number, pair.pairs_in_family)
        if pair.p is not None and precision is not None:
            target, needed = precision.next_target(a.margin or 0.0)
            smallest = precision.smallest_difference
            pair = replace(pair, smallest_difference=smallest, target=target, items_needed=needed)
        rows.append(pair)
    return tuple(rows)


def _often_undefined(values: Mapping[str, Floats], names: Sequence[str]) -> list[str]:
    """Return the systems that are undefined for too many of the items that any system is defined for."""
    undefined = {name: np.isnan(values[name]) for name in names if name in values}
    for_all = np.logical_and.reduce(list(undefined.values()))
    possible = np.count_nonzero(~for_all)
    return [name for name, of_name in undefined.items() if (of_name & ~for_all).sum() > MAX_UNDEFINED * possible]


def _undefined_as_wrong(values: Mapping[str, Floats]) -> dict[str, float]:
    """Return the mean of each candidate with undefined items counted as wrong, if any candidate has the item."""
    defined_for_any = ~np.logical_and.reduce([np.isnan(items) for items in values.values()])
    if not defined_for_any.any():
        return {}
    return {name: float(np.nan_to_num(items[defined_for_any]).mean()) for name, items in values.items()}
