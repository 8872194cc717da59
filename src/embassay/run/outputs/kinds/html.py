"""The report as a page."""

from __future__ import annotations

from embassay.run.finished import FinishedRun, page
from embassay.run.outputs.formats import Export

FILE = "report.html"


def export(finished: FinishedRun) -> Export:
    """Make the page."""
    return Export({FILE: page(finished.result, finished.record)})
