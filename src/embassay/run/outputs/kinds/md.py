"""The report as Markdown."""

from __future__ import annotations

from pathlib import Path

from embassay.core.errors import OutputError
from embassay.core.store.canonical import write as write_file
from embassay.reports.layouts import layouts
from embassay.run.finished import FinishedRun
from embassay.run.outputs.formats import Written, drawn_from
from embassay.run.outputs.markdown import MARKER, render
from embassay.run.record import latencies, measured_times

FILE = "report.md"


def write(finished: FinishedRun, place: Path) -> Written:
    """Write the text.

    Raises
    ------
    OutputError
        If the file exists and is not such a report.
    """
    # Another Markdown file, such as a README.md, must not be lost.
    if place.exists() and not place.read_bytes().startswith(MARKER.encode()):
        raise OutputError(f"{place}: exists and is not a report of Embassay; name another file with -o")
    record = finished.record
    with drawn_from(finished.folder.path):
        pages = layouts(finished.result)
        text = render(finished.result, pages, measured_times(record), record.get("notes", ()), latencies(record))
    write_file(place, text.encode("utf-8", "replace"))
    return Written(place)
