"""A run that has finished: reading its folder, and drawing its page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from embassay.core.errors import SourceError
from embassay.core.result import Result
from embassay.core.store.canonical import write
from embassay.core.store.paths import source_path
from embassay.reports.layouts import layouts
from embassay.run.items import Items, items_in
from embassay.run.record import question_milliseconds
from embassay.run.runs import results
from embassay.run.runs.folder import RunFolder, RunRecord


@dataclass(frozen=True)
class FinishedRun:
    """The folder of a run, and what it holds."""

    folder: RunFolder
    result: Result
    record: RunRecord

    @property
    def items(self) -> Items:
        """Its single items, which are read when they are needed."""
        return items_in(self.folder, self.result)


def finished_run(run: Path, *, may_have_failed: bool = False) -> FinishedRun:
    """Read a run that has finished.

    Parameters
    ----------
    run
        Its folder, or the ``result.json`` in it.
    may_have_failed
        Whether a run in which everything failed is read as well.

    Raises
    ------
    SourceError
        If the folder holds no run, the run did not finish, nothing was scored in it, or its result cannot be read.
    """
    run = source_path(run)
    result_file = run / "result.json" if run.is_dir() else run
    folder = RunFolder(result_file.parent)
    if run.is_dir() and not result_file.exists() and not (run / "run.json").exists():
        raise SourceError("not a run folder: it has neither run.json nor result.json", run)
    record = folder.record()
    if record.get("state") == "running":
        raise SourceError("this run did not finish; repeat the command to continue it", run)
    # Reading it says that there is no such file.
    result = results.read(result_file)
    if not result.rows and not may_have_failed:
        reasons = ["nothing was scored in this run", *(f"failed: {failure.sentence}" for failure in result.failed)]
        raise SourceError("; ".join(reasons), run)
    return FinishedRun(folder, result, record)


def draw(path: Path, result: Result, record: RunRecord) -> None:
    """Write the page of a result."""
    write(path, page(result, record).encode("utf-8", "replace"))


def page(result: Result, record: RunRecord) -> str:
    """Return the page of a result, with the robustness checks of its encoders where they have one."""
    from embassay.reports.page import render

    uses = record.get("encoders", {}).items()
    badges = {label: badges for label, use in uses if (badges := use.get("badges"))}
    return render(result, layouts(result), badges, record.get("notes", ()), question_milliseconds(record))
