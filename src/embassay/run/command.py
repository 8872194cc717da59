"""The steps from a request to result and report, for ``embassay run``, ``ea.assay`` and the assay of variants.

prepare        specs → corpora, encoders, diagnostics → a plan, checked before any work
execute        each encoder scores its tasks; each task is summarised over all encoders
write_outcome  result.json and run.json
layouts        how each diagnostic is shown in the terminal and on the page
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from embassay.core.errors import EmbassayError, SpecError, UnknownNameError, reason_of, say
from embassay.core.result import Result
from embassay.reports.layouts import layouts
from embassay.run.execute import Outcome, execute
from embassay.run.finished import draw, finished_run
from embassay.run.items import columns_of
from embassay.run.plan import Plan, prepare
from embassay.run.record import finished_record, question_milliseconds, settings_of
from embassay.run.request import RunRequest
from embassay.run.runs.folder import RunFolder, RunRecord, texts_of

FINE, FAILED_IN_PART = 0, 3


def carry_out(request: RunRequest, started: float | None = None) -> int:
    """Run, write the folder, print tables and verdict, draw the report; return the exit code.

    The code is ``FINE`` or ``FAILED_IN_PART``.

    Parameters
    ----------
    started
        When the command began, by ``time.perf_counter``; now by default.

    Raises
    ------
    InputError
        If the request cannot be carried out as a whole: an input cannot be used, or the folder holds another run.
    """
    started = started or time.perf_counter()
    tell = request.tell
    plan = prepare(request)
    folder = RunFolder(request.out)
    folder.open(settings_of(plan), request.overwrite)
    for note in plan.notes:
        tell(note)
    outcome = execute(plan, folder)
    record = write_outcome(folder, plan, outcome, time.perf_counter() - started)
    for note in outcome.notes:
        tell(note)
    if not any(run.texts for run in outcome.encoders) and not outcome.result.failed:
        tell(f"{folder.path} is already complete: nothing was encoded or scored again")
    exit_code = present(folder, outcome.result, record, tell)
    tell(f"time: {time.perf_counter() - started:.1f} s")
    return exit_code


def present(folder: RunFolder, result: Result, record: RunRecord, tell: Callable[[str], None]) -> int:
    """Print the first screen of a result, draw its report, say where the files are, and return the exit code."""

    from embassay.reports.screen import show_summary
    from embassay.reports.terminal import stdout

    was_shown = True
    try:
        show_summary(result, layouts(result), question_milliseconds(record), stdout(), str(folder.path))
        if result.rows:
            draw(folder.report, result, record)
    except Exception as error:
        # The figures are already in result.json: an error in a table or on the page must not lose them.
        was_shown = False
        reason = str(error) if isinstance(error, EmbassayError) else reason_of(error)
        say(f"failed: the result cannot be shown: {reason}; the figures are in {folder.path / 'result.json'}")
    for failure in result.failed:
        say(f"failed: {failure.sentence}")
    if result.rows and was_shown:
        tell(f"report: {folder.report}")
    if result.rows:
        tell(f"result: {folder.path / 'result.json'}")
    return FINE if was_shown and not result.failed else FAILED_IN_PART


def write_outcome(folder: RunFolder, plan: Plan, outcome: Outcome, seconds: float) -> RunRecord:
    """Write ``result.json``, item values, texts and ``run.json`` into the run's folder, and return the record.

    Parameters
    ----------
    seconds
        How long the run has taken.
    """
    record = finished_record(folder.record(), plan, outcome, seconds)
    folder.write_result(outcome.result)
    folder.write_items(columns_of(outcome.tasks), texts_of(plan.corpora) if plan.request.texts else {})
    folder.write_record(record)
    return record


def save(plan: Plan, outcome: Outcome, seconds: float, path: Path, overwrite: bool = False) -> None:
    """Write the folder of a run that was carried out without one, as :func:`carry_out` does.

    Parameters
    ----------
    seconds
        How long the run has taken.
    """
    folder = RunFolder(path)
    folder.open(settings_of(plan), overwrite)
    for run in outcome.encoders:
        for scores in run.scores.values():
            folder.save(scores)
    record = write_outcome(folder, plan, outcome, seconds)
    draw(folder.report, outcome.result, record)


def show_again(
    run: Path,
    diagnostic: str = "",
    *,
    signatures: bool = False,
    failures: bool = False,
    encoder: str = "",
    against: str = "",
) -> None:
    """Print the full tables of a run, or instead the items that an encoder is wrong about; see ``embassay show``.

    Raises
    ------
    SpecError
        If an encoder is named without ``failures``.
    SourceError
        If the run did not finish, nothing was scored in it, or its result cannot be read.
    UnknownNameError
        If the run has no such diagnostic.
    """
    from embassay.reports.terminal import show, show_failures, stdout

    finished = finished_run(run)
    result, pages = finished.result, layouts(finished.result)
    names = list(dict.fromkeys(verdict.diagnostic for verdict in result.verdicts))
    if diagnostic and diagnostic not in names:
        raise UnknownNameError("diagnostic", diagnostic, names)
    if failures:
        with_items = replace(result, items=finished.items)
        show_failures(with_items, pages, stdout(), diagnostic=diagnostic, encoder=encoder, against=against)
    elif encoder or against:
        raise SpecError("-e and --against name whose failures are shown; add --failures")
    else:
        show(result, pages, stdout(), diagnostic=diagnostic, signatures=signatures)
