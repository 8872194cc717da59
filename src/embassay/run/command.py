"""The steps from a request to result and report, for ``embassay run``, ``ea.assay`` and the assay of variants.

prepare        specs → corpora, encoders, diagnostics → a plan, checked before any work
execute        each encoder scores its tasks; each task is summarised over all encoders
write_outcome  result.json and run.json
layouts        how each diagnostic is shown in the terminal and on the page
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from embassay.core.errors import EmbassayError, SpecError, UnknownNameError, reason_of, say
from embassay.core.result import Result
from embassay.reports.layouts import layouts
from embassay.run.columns import columns_of
from embassay.run.engine.timeline import TimeLine
from embassay.run.execute import Outcome, execute
from embassay.run.finished import draw, finished_run
from embassay.run.items import items_in
from embassay.run.plan import Plan, prepare
from embassay.run.record import finished_record, question_milliseconds, settings_of
from embassay.run.request import RunRequest
from embassay.run.runs.folder import RunFolder
from embassay.run.runs.items import texts_of
from embassay.run.runs.record import RunRecord

FINE, FAILED_IN_PART = 0, 3


def carry_out(request: RunRequest, started: float | None = None) -> int:
    """Run, write the folder, print tables and verdict, draw the report; return the exit code.

    The code is ``FINE`` or ``FAILED_IN_PART``.

    Parameters
    ----------
    started
        When the command began, by ``time.perf_counter``; its imports count as loading. Now by default.

    Raises
    ------
    InputError
        If the request cannot be carried out as a whole: an input cannot be used, or the folder holds another run.
    """
    timeline = TimeLine(started)
    tell = request.tell
    plan = prepare(request)
    folder = RunFolder(request.out)
    folder.open(settings_of(plan), request.overwrite)
    for note in plan.notes:
        tell(note)

    with timeline.during("scoring and statistics"):
        outcome = execute(plan, folder, timeline=timeline)
    with timeline.during("report"):
        record = write_outcome(folder, plan, outcome, sum(timeline.seconds().values()))
        for note in outcome.notes:
            tell(note)
        # An encoder that failed has no effort.
        texts = [run.report.effort.texts for run in outcome.encoders if run.report.effort]
        if texts and not any(texts) and not outcome.result.failed:
            tell(f"{folder.path} is already complete: nothing was encoded or scored again")
        exit_code = present(folder, outcome.result, record, tell)
    record["timeline"] = {part: round(seconds, 3) for part, seconds in timeline.seconds().items()}
    folder.write_record(record)
    times = [f"{part} {seconds:.1f} s" for part, seconds in record["timeline"].items()]
    tell(f"time: {', '.join(times)}")
    return exit_code


def present(folder: RunFolder, result: Result, record: RunRecord, tell: Callable[[str], None]) -> int:
    """Print the first screen of a result, draw its report, say where the files are, and return the exit code."""

    def show() -> None:
        from embassay.reports.screen import show_summary
        from embassay.reports.terminal import stdout

        pages = layouts(result)
        show_summary(result, pages, question_milliseconds(record), stdout(), str(folder.path))
        if result.rows:
            draw(folder.report, result, pages, record)

    was_shown = attempt("the result cannot be shown", folder, show)
    for failure in result.failed:
        say(f"failed: {failure.sentence}")
    if result.rows:
        if was_shown:
            tell(f"report: {folder.report}")
        tell(f"result: {folder.path / 'result.json'}")
    return FINE if was_shown and not result.failed else FAILED_IN_PART


def attempt(problem: str, folder: RunFolder, step: Callable[[], None]) -> bool:
    """Return whether a step succeeds that shows a result; print why it does not.

    The figures are already in ``result.json``: an error in a table or on the page must not lose them.
    """
    try:
        step()
    except Exception as error:
        reason = str(error) if isinstance(error, EmbassayError) else reason_of(error)
        say(f"failed: {problem}: {reason}; the figures are in {folder.path / 'result.json'}")
        return False
    return True


def write_outcome(folder: RunFolder, plan: Plan, outcome: Outcome, seconds: float) -> RunRecord:
    """Write ``result.json``, item values, texts and ``run.json`` into the run's folder, and return the record.

    Parameters
    ----------
    seconds
        How long the run has taken.
    """
    record = finished_record(folder.record(), plan, outcome, seconds)
    folder.write_result(outcome.result)
    folder.write_items(columns_of(outcome.scored(plan)), texts_of(plan.corpora) if plan.request.texts else {})
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
    draw(folder.report, outcome.result, layouts(outcome.result), record)


def show_again(
    run: Path,
    diagnostic: str = "",
    *,
    signatures: bool = False,
    failures: bool = False,
    encoder: str = "",
    against: str = "",
) -> None:
    """Print the full tables of a run.

    Parameters
    ----------
    run
        The run's folder, or the ``result.json`` in it.
    diagnostic
        Only this diagnostic; all of them if empty.
    signatures
        Whether everything that the figures depend on is printed below each table.
    failures
        Instead of the tables, the items that one encoder is wrong about.
    encoder
        Its label; the candidate with the highest value of each diagnostic if empty.
    against
        The label of another one: the items on which the first is worse than this one, instead.

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
    result = finished.result
    names = list(dict.fromkeys(verdict.diagnostic for verdict in result.verdicts))
    if diagnostic and diagnostic not in names:
        raise UnknownNameError("diagnostic", diagnostic, names)
    if failures:
        with_items = replace(result, items=items_in(finished.folder))
        show_failures(with_items, layouts(result), stdout(), diagnostic=diagnostic, encoder=encoder, against=against)
        return
    if encoder or against:
        raise SpecError("-e and --against name whose failures are shown; add --failures")
    show(
        result,
        layouts(result),
        stdout(),
        diagnostic=diagnostic,
        signatures=signatures,
    )
