"""Task results as mteb writes them."""

from __future__ import annotations

from pathlib import Path

from embassay.outputs.formats import Export, Written, write_files
from embassay.outputs.mteb_results import task_results
from embassay.run.finished import FinishedRun

HOLDS = "file"


def write(finished: FinishedRun, place: Path) -> Written:
    """Write the files, after all of them are made."""
    return write_files(finished, place, export)


def export(finished: FinishedRun) -> Export:
    """Make the results."""
    return task_results(finished)
