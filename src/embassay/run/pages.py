"""The layouts of the diagnostics of a result."""

from __future__ import annotations

from embassay.errors import PluginError, UnknownNameError
from embassay.layout import Column, Layout, check_layout, plain
from embassay.plugins import DIAGNOSTICS, warn_once
from embassay.result import Result


def layouts(result: Result) -> dict[str, Layout]:
    """Return the layout of each diagnostic of a result; a plain one if its own is not available."""
    names = [row.diagnostic for row in result.rows] + [verdict.diagnostic for verdict in result.verdicts]
    return {name: _layout(name, result) for name in dict.fromkeys(names)}


def headlines(result: Result) -> dict[str, Column]:
    """Return how the headline of each diagnostic that ranks encoders is called and written."""
    names = dict.fromkeys(verdict.diagnostic for verdict in result.verdicts if verdict.quantity)
    return {name: _layout(name, result).headline.columns[0] for name in names}


def _layout(name: str, result: Result) -> Layout:
    try:
        module = DIAGNOSTICS.module(name)
        with DIAGNOSTICS.guarded(name):
            layout: Layout = module.layout(result) if hasattr(module, "layout") else module.LAYOUT
            check_layout(layout)
            return layout
    except UnknownNameError:
        reason = f"diagnostic {name!r} is not installed"
    except PluginError as error:
        reason = str(error)
    # Of another package: it is not installed here, or does not work. Its figures are there all the same.
    warn_once(f"{reason}; its figures are shown in plain tables")
    rows = [row for row in result.rows if row.diagnostic == name]
    return plain(name, [(row.quantity, row.subset, row.condition, row.measure) for row in rows])
