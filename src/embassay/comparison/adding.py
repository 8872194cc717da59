"""``embassay run --add``: encoders are added to a finished run, whose other encoders are not needed again.

The scores of the others are read from the run's folder, so their point values stay, and neither their models nor their
services have to be there. Verdicts, comparisons and findings are computed again over all encoders. The result is the
one of a run with all of them.
"""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from typing import Any

from embassay._version import __version__
from embassay.comparison.runs import StoredRun, read_run
from embassay.errors import OutputError, SpecError
from embassay.result import Result
from embassay.run.command import present
from embassay.run.examples import ScoredTask
from embassay.run.execute import Outcome, encoder_records, execute, joined, summarise_task, without_texts
from embassay.run.items import joining_diagnostics
from embassay.run.plan import Plan, prepare
from embassay.run.record import finished_record, settings_of
from embassay.run.request import RunRequest
from embassay.run.specs import Spec
from embassay.store.runs.folder import RunFolder
from embassay.store.runs.record import RunRecord, RunSettings
from embassay.types import ItemScores, content_hash


def add_encoders(request: RunRequest) -> int:
    """Score encoders on the corpora of a finished run, put them into its result, and return the exit code.

    The same command can be repeated after it was killed, at whatever moment: what the folder holds of these encoders
    is replaced.

    Parameters
    ----------
    request
        The new encoders, and the folder of the run. Corpora, diagnostics and settings are those of the run.

    Raises
    ------
    InputError
        If the folder holds no finished run of this version, a corpus has changed since or cannot be read again, or a
        label is taken. Nothing is changed then.
    """
    start = time.perf_counter()
    stored = read_run(request.out)
    plan = prepare(_same_request(request, stored))
    _check_addable(plan, stored)
    for note in plan.remarks:
        request.tell(note)
    folder = RunFolder(stored.path)
    stored = _without(stored, plan)
    # Until everything is there, the folder holds the finished run without the new encoders.
    outcome = execute(plan, folder)
    result = _result(plan, outcome, stored)
    if not plan.request.texts:
        result = without_texts(result)
    seconds = time.perf_counter() - start
    record = _record(stored.record, plan, outcome, result, seconds)
    folder.write_result(result)
    folder.write_record(record)
    return present(folder, result, record, request.tell)


def _same_request(request: RunRequest, stored: StoredRun) -> RunRequest:
    """Return the request for the new encoders with everything else as in the run.

    Raises
    ------
    SpecError
        If the request names corpora, diagnostics or no encoders.
    OutputError
        If the run cannot be repeated as it was.
    """
    if not request.encoders:
        raise SpecError("--add needs the encoders to add: -e SPEC")
    if request.corpora or request.diagnostics or request.overwrite:
        raise SpecError("--add takes encoders only; corpora and diagnostics are those of the run")
    record = stored.record
    settings = record["settings"]
    sources = record.get("sources")
    if record.get("embassay") != __version__:
        version = record.get("embassay", "an unknown version")
        raise OutputError(
            f"{stored.path}: the run was made with embassay {version}, this is {__version__}; repeat its command with "
            "--overwrite"
        )
    # A diagnostic makes the corpus of its task of two others, which have sources.
    joined_corpora = joining_diagnostics(settings)
    if sources is None or len(sources["corpora"]) + len(joined_corpora) < len(settings["corpora"]):
        raise OutputError(f"{stored.path}: its corpora were made in Python and cannot be read again")
    if settings.get("variants"):
        raise OutputError(
            f"{stored.path}: a corpus of this run varies; repeat its command with all encoders (what is scored already "
            "is reused) and another folder"
        )
    diagnostics = {name: Spec(name, options=dict(options)) for name, _, options, _ in settings["diagnostics"]}
    recorded: dict[str, Any] = {name: value for name, value in settings.items() if name in request.recorded}
    # The reference is an encoder of the run, not one of those that are added.
    recorded["reference"] = ""
    return replace(
        request,
        corpora=[Spec(**spec) for spec in sources["corpora"]],
        diagnostics=list(diagnostics.values()),
        profile="default",
        limit=sources["limit"],
        follow_links=sources["follow_links"],
        baselines=False,
        **recorded,
    )


def _check_addable(plan: Plan, stored: StoredRun) -> None:
    """Refuse labels that other encoders have, and corpora or diagnostics that have changed since the run.

    Raises
    ------
    SpecError
        For a label that is taken.
    OutputError
        For a corpus or diagnostic that has changed.
    """
    in_run = {label: identity for label, *identity in stored.record["settings"]["encoders"]}
    for label, *identity in settings_of(plan)["encoders"]:
        if in_run.get(label, identity) != identity:
            raise SpecError(f"the run has an encoder {label!r} already; give the new one another label: -e NAME=SPEC")
    fingerprints = dict(stored.record["settings"]["corpora"])
    for corpus in plan.corpora:
        before = fingerprints.get(corpus.name)
        if before != corpus.fingerprint:
            raise OutputError(
                f"{stored.path}: the corpus {corpus.name!r} has changed since (fingerprint {before}, now "
                f"{corpus.fingerprint}); run all encoders again in another folder, or with --overwrite"
            )
    versions = {name: version for name, version, _, _ in stored.record["settings"]["diagnostics"]}
    for task in plan.tasks:
        if versions.get(task.name) != task.version:
            raise OutputError(
                f"{stored.path}: the code of {task.name} has changed since; run all encoders again with --overwrite"
            )


def _without(stored: StoredRun, plan: Plan) -> StoredRun:
    """Return a run without the encoders that are added, and without those that ``run.json`` does not list.

    The result of a killed command has encoders before ``run.json`` lists them.
    """
    added = {entry.label for entry in plan.entries}
    settings = stored.record["settings"]
    encoders = [encoder for encoder in settings["encoders"] if encoder[0] not in added]
    labels = {label for label, *_ in encoders}
    tasks = {name: task.with_only(labels) for name, task in stored.tasks.items()}
    result = replace(
        stored.result,
        encoders=tuple(encoder for encoder in stored.result.encoders if encoder.name in labels),
        # A failure of a diagnostic on all encoders names none.
        failed=tuple(failure for failure in stored.result.failed if failure.encoder in {*labels, ""}),
    )
    record: RunRecord = {**stored.record, "settings": {**settings, "encoders": encoders}}
    return replace(stored, result=result, record=record, tasks=tasks)


def _result(plan: Plan, outcome: Outcome, stored: StoredRun) -> Result:
    """Return the result of all encoders: the stored ones and those that were scored now."""
    draws = plan.request.draws
    new_scores = {(task.name, task.corpus.name): task.scores for task in outcome.scored(plan)}
    # The results of the single tasks.
    parts = []
    for task in plan.tasks:
        scores: list[ItemScores] = []
        if task.key in stored.tasks:
            scores += stored.tasks[task.key].scores.values()
        scores += new_scores.get(task.key, ())
        if not scores:
            continue
        # Baselines are last, as in a run with all encoders.
        scores.sort(key=lambda s: s.origin.baseline)
        scored = ScoredTask.of(task.name, task.diagnostic, [(task.corpus, scores)], options=task.options)
        parts.append(summarise_task(scored, plan.request))

    records = list(stored.result.encoders)
    for encoder in outcome.encoders:
        if encoder.failure is None:
            records += encoder_records(encoder, plan)
    records.sort(key=lambda record: record.baseline)
    head = Result(
        draws.seed,
        draws.resamples,
        encoders=tuple(records),
        corpora=stored.result.corpora,
        failed=(*stored.result.failed, *outcome.result.failed),
    )
    return joined(head, parts, plan.request.accept)


def _record(before: RunRecord, plan: Plan, outcome: Outcome, result: Result, seconds: float) -> RunRecord:
    """Return ``run.json`` of the run with all its encoders.

    Parameters
    ----------
    before
        The record of the run without the new encoders.
    plan, outcome
        Of the new encoders only.
    result
        Of all encoders.
    seconds
        How long the new encoders took.
    """
    # This has the work of all encoders, but notes, seconds, failures and state of the new ones only.
    record = finished_record(before, plan, outcome, seconds)

    added = settings_of(plan)
    encoders = [*before["settings"]["encoders"], *added["encoders"]]
    # Baselines are last, as in a run with all encoders.
    encoders.sort(key=lambda encoder: encoder[3])
    routes = {**before["settings"].get("routes", {}), **added["routes"]}
    settings: RunSettings = {**before["settings"], "encoders": encoders, "routes": routes}
    record["settings"] = settings
    record["key"] = content_hash([settings, __version__])

    notes = [*before.get("notes", ()), *record["notes"]]
    record["notes"] = list(dict.fromkeys(notes))
    seconds_before = before.get("seconds", 0.0)
    record["seconds"] = round(seconds_before + seconds, 3)
    record["failures"] = [asdict(failure) for failure in result.failed]
    record["state"] = "failed in part" if result.failed else "finished"
    return record
