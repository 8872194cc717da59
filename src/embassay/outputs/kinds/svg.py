"""The figures of the report as SVG, with their captions."""

from __future__ import annotations

from pathlib import Path

from embassay.outputs.figures import drawn
from embassay.outputs.formats import Export, Written, encoded, write_files
from embassay.run.finished import FinishedRun

HOLDS = "figure"


def write(finished: FinishedRun, place: Path) -> Written:
    """Write the files, after all of them are made."""
    return write_files(finished, place, export)


def export(finished: FinishedRun) -> Export:
    """Draw the figures."""
    figures, contents = drawn(finished, "svg")
    captions = [f"{figure.name}.svg\n    {figure.caption}\n" for figure in figures]
    return Export({**contents, **encoded({"captions.txt": "\n".join(captions)})}, len(figures))
