"""A run that has finished: reading its folder, and drawing its page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from embassay.core.errors import SourceError
from embassay.core.layout import Layout
from embassay.core.result import Result
from embassay.core.store.canonical import write
from embassay.core.store.paths import source_path
from embassay.run.record import question_milliseconds, trust
from embassay.run.runs import results
from embassay.run.runs.folder import RunFolder
from embassay.run.runs.record import RunRecord


@dataclass(frozen=True)
class FinishedRun:
    """The folder of a run, and what it holds."""

    folder: RunFolder
    result: Result
    record: RunRecord


def finished_run(run: Path, *, may_have_failed: bool = False) -> FinishedRun:
    """Read a run that has finished.

    Parameters
    ----------
    may_have_failed
        Whether a run in which everything failed is read as well.

    Raises
    ------
    SourceError
        If the folder holds no run, the run did not finish, nothing was scored in it, or its result cannot be read.
    """
    run = source_path(run)
    if run.is_dir():
        path = run
        result_file = run / "result.json"
        if not result_file.exists() and not (run / "run.json").exists():
            raise SourceError("not a run folder: it has neither run.json nor result.json", run)
    elif run.is_file():
        path = run.parent
        result_file = run
    else:
        # Reading it says that there is no such file.
        path = result_file = run
    folder = RunFolder(path)
    record = folder.record()
    if record.get("state") == "running":
        raise SourceError("this run did not finish; repeat the command to continue it", run)
    result = results.read(result_file)
    if not result.rows and not may_have_failed:
        reasons = ["nothing was scored in this run"]
        reasons += [f"failed: {failure.sentence}" for failure in result.failed]
        raise SourceError("; ".join(reasons), run)
    return FinishedRun(folder, result, record)


def draw(path: Path, result: Result, pages: Mapping[str, Layout], record: RunRecord) -> None:
    """Write the page of a result."""
    write(path, page(result, pages, record).encode("utf-8", "replace"))


def page(result: Result, pages: Mapping[str, Layout], record: RunRecord) -> str:
    """Return the page of a result."""
    from embassay.reports.page import render

    notes = record.get("notes", ())
    return render(result, pages, trust(record), notes, question_milliseconds(record))
