"""The charts of the report as Vega-Lite specifications, which Vega's tools draw as SVG, PDF or PNG."""

from __future__ import annotations

from embassay.core.store.canonical import canonical
from embassay.reports.tables import Table
from embassay.run.finished import FinishedRun
from embassay.run.outputs.exhibits import exhibits
from embassay.run.outputs.formats import Export

HOLDS = "chart"
WIDTH = 330
"""Width of the plot in points: with its axis a chart is about as wide as the text of a page."""


def export(finished: FinishedRun) -> Export:
    """Make the specification of each chart, with its caption as the description."""
    contents = {}
    for chart in exhibits(finished.result):
        if not isinstance(chart.content, Table):
            spec = {**chart.content, "description": chart.caption, "width": WIDTH, "background": "white"}
            contents[f"{chart.name}.vl.json"] = canonical(spec).decode()
    return Export(contents)
