"""The charts of the report as Vega-Lite specifications, which Vega's tools draw as SVG, PDF or PNG."""

from __future__ import annotations

from pathlib import Path

from embassay.core.store.canonical import canonical
from embassay.reports.layouts import layouts
from embassay.run.finished import FinishedRun
from embassay.run.outputs.citations import citations_of
from embassay.run.outputs.exhibits import exhibits, figures_of
from embassay.run.outputs.formats import Export, Written, write_files

HOLDS = "chart"
WIDTH = 330
"""Width of the plot in points: with its axis a chart is about as wide as the text of a page."""


def write(finished: FinishedRun, place: Path) -> Written:
    """Write the files, after all of them are made."""
    return write_files(finished, place, export)


def export(finished: FinishedRun) -> Export:
    """Make the specification of each chart, with its caption as the description."""
    result = finished.result
    contents = {}
    for figure in exhibits(result, layouts(result), citations_of(result), figures_of):
        spec = {**figure.content, "description": figure.caption, "width": WIDTH, "background": "white"}
        contents[f"{figure.name}.vl.json"] = canonical(spec)
    return Export(contents)
