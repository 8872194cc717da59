"""The layouts of the diagnostics of a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from embassay.core.errors import PluginError
from embassay.core.layout import Column, Format, Layout
from embassay.core.plugins import DIAGNOSTICS
from embassay.core.result import Result
from embassay.diagnostics.metrics.metric import Metric, declared_metrics, pattern_of
from embassay.reports.default_layout import default_layout


def layouts(result: Result) -> dict[str, Layout]:
    """Return the layout of each diagnostic of a result.

    Raises
    ------
    UnknownNameError, PluginError
        If the diagnostic of another package is not installed, or fails.
    """
    names = [row.diagnostic for row in result.rows] + [verdict.diagnostic for verdict in result.verdicts]
    return {name: _own_layout(name, result) for name in dict.fromkeys(names)}


def _own_layout(name: str, result: Result) -> Layout:
    """Return the layout that a diagnostic defines, or the one that follows from its ``METRICS``."""
    module = DIAGNOSTICS.module(name)
    # A module has a function where the layout depends on the result.
    if hasattr(module, "layout"):
        layout: Layout = module.layout(result)
    elif hasattr(module, "LAYOUT"):
        layout = module.LAYOUT
    elif declared_metrics(name):
        layout = default_layout(name, result)
    else:
        raise PluginError(f"diagnostic {name!r} has neither METRICS nor LAYOUT")
    formatted: Layout = _with_formats(layout, declared_metrics(name))
    return formatted


def _with_formats(part: Any, metrics: Sequence[Metric]) -> Any:
    """Return a layout, or a part of one, whose columns and tables have the format that their metric declares."""
    if isinstance(part, tuple):
        return tuple(_with_formats(one, metrics) for one in part)
    if not is_dataclass(part) or isinstance(part, type):
        return part
    changes = {field.name: _with_formats(getattr(part, field.name), metrics) for field in fields(part)}
    if changes.get("format") == "declared":
        changes["format"] = _format(part, metrics)
    return replace(part, **changes)


def _format(part: Any, metrics: Sequence[Metric]) -> Format:
    """Return how a column or a table of subsets is written, by the declaration of its metric."""
    of_name = [metric for metric in metrics if fnmatchcase(part.metric, pattern_of(metric.name))]
    if isinstance(part, Column):
        for metric in of_name:
            if metric.describes(part.metric, part.subset, part.condition):
                return metric.style
    # The subsets differ from line to line. The last declaration of a name is the most general one.
    return of_name[-1].style if of_name else "declared"
