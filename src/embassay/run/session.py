"""The one way from a request to result and report, for ``embassay run``, ``ea.assay`` and the assay of variants.

prepare        specs → corpora, encoders, diagnostics → a plan, checked before any work
execute        each encoder scores its tasks; each task is summarised over all encoders
write_outcome  result.json and run.json
layouts        how each diagnostic is shown in the terminal and on the page
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from embassay.errors import EmbassayError, SourceError, UnknownNameError, reason_of, say
from embassay.layout import Layout
from embassay.result import Result
from embassay.run.execute import Outcome, execute
from embassay.run.item_files import write_items
from embassay.run.items import items_in
from embassay.run.pages import layouts
from embassay.run.paper import Style, write_files
from embassay.run.plan import Plan, prepare
from embassay.run.record import finished_record, latencies, settings_of, speeds, trust
from embassay.run.request import RunRequest
from embassay.store import results
from embassay.store.canonical import write
from embassay.store.files import default_folder
from embassay.store.items import CorpusItems
from embassay.store.paths import output_path, source_path
from embassay.store.run_record import RunRecord
from embassay.store.runs import RunFolder

FINE, FAILED_IN_PART = 0, 3


def carry_out(request: RunRequest) -> int:
    """Run, write the folder, print tables and verdict, draw the report; return the exit code."""
    start = time.perf_counter()
    tell = request.tell
    plan = prepare(request)
    folder = RunFolder(request.out)
    changed = folder.open(settings_of(plan), request.overwrite)
    for name in changed:
        tell(f"{name}: the code of this diagnostic has changed; its scores are computed again")
    for note in plan.notes:
        tell(note)

    prepared = time.perf_counter()
    outcome = execute(plan, folder)
    executed = time.perf_counter()
    result = outcome.result
    record = write_outcome(folder, plan, outcome, time.perf_counter() - start)

    for note in outcome.notes:
        tell(note)
    pages = make_layouts(folder, result)
    printed = pages is not None and print_summary(folder, result, pages, record)
    efforts = [run.effort for run in outcome.encoders if run.effort]
    if efforts and not any(effort.texts for effort in efforts):
        tell(f"{folder.path} is already complete: nothing was encoded or scored again")
    for failure in result.failures:
        say(f"failed: {failure.sentence}")
    if not result.rows:
        return FAILED_IN_PART if result.failures else FINE
    drawn = pages is not None and write_report(folder, result, pages, record)
    if drawn:
        tell(f"report: {folder.report}")
    tell(f"result: {folder.path / 'result.json'}")
    encoding = sum(effort.seconds for effort in efforts)
    scoring = executed - prepared - encoding
    drawing = time.perf_counter() - executed
    tell(
        f"time: loading {prepared - start:.1f} s, encoding {encoding:.1f} s, "
        f"scoring and statistics {max(scoring, 0.0):.1f} s, report {drawing:.1f} s"
    )
    return FINE if printed and drawn and not result.failures else FAILED_IN_PART


def write_outcome(folder: RunFolder, plan: Plan, outcome: Outcome, seconds: float) -> RunRecord:
    """Write ``result.json``, the items and ``run.json`` into the run's folder, and return the record.

    Parameters
    ----------
    seconds
        How long the run has taken.
    """
    record = finished_record(folder.record(), plan, outcome, seconds)
    folder.write_result(outcome.result)
    folder.write_items(CorpusItems.of(corpus, texts=plan.request.texts) for corpus in plan.corpora)
    folder.write_record(record)
    # What failed can be tried again by the same command, which needs the records of the restart.
    if not outcome.failures:
        folder.remove_restart_records()
    return record


def make_layouts(folder: RunFolder, result: Result) -> dict[str, Layout] | None:
    """Return the layouts of a result; if that fails, print why and return None."""
    try:
        return layouts(result)
    except Exception as error:
        say(f"failed: the tables cannot be laid out: {reason_of(error)}; the figures are in {folder.path}/result.json")
        return None


def print_summary(folder: RunFolder, result: Result, pages: Mapping[str, Layout], record: RunRecord) -> bool:
    """Print the first screen: scorecard, findings, what to do next; if that fails, print why and return False."""
    from embassay.reports.summary import show_summary
    from embassay.reports.terminal import stdout

    try:
        show_summary(result, pages, speeds(record), stdout(), str(folder.path))
    except BrokenPipeError:
        raise
    except Exception as error:
        say(f"failed: the summary cannot be printed: {reason_of(error)}; the figures are in {folder.path}/result.json")
        return False
    return True


def write_report(folder: RunFolder, result: Result, pages: Mapping[str, Layout], record: RunRecord) -> bool:
    """Draw the page of a result; if that fails, print why and return False.

    The figures are already in ``result.json``: an error on the page must not lose them.
    """
    try:
        draw(folder.report, result, pages, record)
    except Exception as error:
        reason = str(error) if isinstance(error, EmbassayError) else reason_of(error)
        say(f"failed: the report cannot be drawn: {reason}; the figures are in {folder.path / 'result.json'}")
        return False
    return True


def show_again(run: Path, diagnostic: str = "", *, signatures: bool = False) -> None:
    """Print the full tables of a run.

    Parameters
    ----------
    run
        The run's folder, or the ``result.json`` in it.
    diagnostic
        Only this diagnostic; all of them if empty.
    signatures
        Whether everything that the figures depend on is printed below each table.

    Raises
    ------
    SourceError
        If the run did not finish, nothing was scored in it, or its result cannot be read.
    UnknownNameError
        If the run has no such diagnostic.
    """
    from embassay.reports.terminal import show, stdout

    result, record = _finished(run)
    names = list(dict.fromkeys(verdict.diagnostic for verdict in result.verdicts))
    if diagnostic and diagnostic not in names:
        raise UnknownNameError("diagnostic", diagnostic, names)
    show(result, layouts(result), speeds(record), stdout(), diagnostic=diagnostic, signatures=signatures)


def draw_again(run: Path, out: Path | None = None) -> Path:
    """Write the report of a run again from what its folder holds, and return where it is.

    Parameters
    ----------
    run
        The run's folder, or the ``result.json`` in it.
    out
        File to write; ``report.html`` in the folder by default.

    Raises
    ------
    SourceError
        If the run did not finish, nothing was scored in it, or its result cannot be read.
    """
    run = source_path(run)
    page = output_path(out) if out else RunFolder(run.parent if run.is_file() else run).report
    result, record = _finished(run)
    draw(page, result, layouts(result), record)
    return page


def write_for_paper(run: Path, style: Style, out: Path | None = None) -> tuple[Path, int]:
    """Write the tables (``latex``) or figures (``svg``, ``pdf``) of a run; return the folder and how many there are.

    Parameters
    ----------
    run
        The run's folder, or the ``result.json`` in it.
    out
        Folder to write; by default one in the run's folder, with the name of the format.

    Raises
    ------
    MissingExtraError
        For figures, if the extra ``charts`` is not installed.
    OutputError
        If the folder cannot be written to.
    SourceError
        If the run did not finish, nothing was scored in it, or its result cannot be read.
    """
    run = source_path(run)
    folder = output_path(out) if out else (run.parent if run.is_file() else run) / style
    result, _ = _finished(run)
    return folder, write_files(result, layouts(result), style, folder)


def write_items_again(run: Path, out: Path | None = None, *, with_vectors: bool = False) -> tuple[Path, ...]:
    """Write the single items of a run as Parquet files, and return the files.

    Parameters
    ----------
    run
        The run's folder.
    out
        Folder to write; ``parquet`` in the run's folder by default.
    with_vectors
        Whether the vectors in the user's cache are added.

    Raises
    ------
    OutputError
        If the folder cannot be written to, or no diagnostic of the run shows single items.
    SourceError
        If the run did not finish, or a corpus of it cannot be read again.
    """
    run = source_path(run)
    if run.is_file():
        run = run.parent
    _finished(run)
    folder = output_path(out) if out else run / "parquet"
    return write_items(items_in(RunFolder(run)), folder, default_folder() if with_vectors else None)


def _finished(run: Path) -> tuple[Result, RunRecord]:
    """Return result and record of a run that has finished."""
    run = source_path(run)
    if run.is_dir() and not (run / "run.json").exists() and not (run / "result.json").exists():
        raise SourceError("not a run folder: it has neither run.json nor result.json", run)
    folder = RunFolder(run.parent if run.is_file() else run)
    record = folder.record()
    if record.get("state") == "running":
        raise SourceError("this run did not finish; repeat the command to continue it", run)
    result = results.read(run / "result.json" if run.is_dir() else run)
    if not result.rows:
        failures = [f"failed: {failure.sentence}" for failure in result.failures]
        raise SourceError("; ".join(["nothing was scored in this run", *failures]), run)
    return result, record


def draw(path: Path, result: Result, pages: Mapping[str, Layout], record: RunRecord) -> None:
    """Write the page of a result."""
    from embassay.reports.page import render

    page = render(result, pages, speeds(record), trust(record), record.get("notes", ()), latencies(record))
    write(path, page.encode("utf-8", "replace"))
