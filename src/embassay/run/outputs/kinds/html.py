"""The report as a page."""

from __future__ import annotations

from pathlib import Path

from embassay.reports.layouts import layouts
from embassay.run.finished import FinishedRun, draw
from embassay.run.outputs.formats import Written, drawn_from

FILE = "report.html"


def write(finished: FinishedRun, place: Path) -> Written:
    """Write the page."""
    with drawn_from(finished.folder.path):
        draw(place, finished.result, layouts(finished.result), finished.record)
    return Written(place)
