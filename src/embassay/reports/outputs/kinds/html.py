"""The report as a page."""

from __future__ import annotations

from pathlib import Path

from embassay.reports.layouts import layouts
from embassay.reports.outputs.formats import Written, drawn_from
from embassay.run.finished import FinishedRun, draw

FILE = "report.html"


def write(finished: FinishedRun, place: Path) -> Written:
    """Write the page."""
    with drawn_from(finished.folder.path):
        draw(place, finished.result, layouts(finished.result), finished.record)
    return Written(place)
