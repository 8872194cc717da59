"""All figures as CSV."""

from __future__ import annotations

from pathlib import Path

from embassay.run.finished import FinishedRun
from embassay.run.outputs.formats import Export, Written, write_files
from embassay.run.outputs.spreadsheet import files

HOLDS = "file"


def write(finished: FinishedRun, place: Path) -> Written:
    """Write the files, after all of them are made."""
    return write_files(finished, place, export)


def export(finished: FinishedRun) -> Export:
    """Make the files of the records of a run's result."""
    return Export(files(finished.result))
