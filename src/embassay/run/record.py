"""``run.json``: the settings that identify a run, and its times and memory."""

from __future__ import annotations

import platform
import resource
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import distributions
from typing import cast

from embassay._version import __version__
from embassay.core.errors import EncoderError, one_line
from embassay.core.types import AnyCorpus, Corpus, JsonObject
from embassay.reports.costs import Milliseconds
from embassay.run.candidates import RunEncoder
from embassay.run.execute import Outcome
from embassay.run.options import RECORD, options_in
from embassay.run.plan import Plan, corpus_list
from embassay.run.resolve import builtin_names
from embassay.run.runs.folder import EncoderUse, RunRecord, RunSettings, Sources
from embassay.run.score import CandidateRun
from embassay.run.specs import Spec, as_spec

PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "transformers", "sentence-transformers", "tokenizers")


def settings_of(plan: Plan) -> RunSettings:
    """Return the settings that identify a run."""
    request = plan.request
    diagnostics: dict[str, dict[str, JsonObject]] = {}
    for task in plan.tasks:
        diagnostics.setdefault(task.corpus.key, {})[task.name] = dict(task.options)
    settings = {
        "encoders": {entry.label: (entry.card.spec, entry.card.route, _fingerprint(entry)) for entry in plan.entries},
        "corpora": {corpus.key: corpus.fingerprint for corpus in plan.corpora},
        "diagnostics": diagnostics,
        **{name: getattr(request, name) for name in options_in(RECORD)},
    }
    return cast("RunSettings", settings)


def _fingerprint(entry: RunEncoder) -> str:
    """Return the fingerprint of a candidate; that of a service that does not answer is the last known one, or empty.

    An encoder of unknown content has another fingerprint in each run. It is left out, so that a repeated command
    continues the run with the scores of the other encoders.
    """
    try:
        return entry.model.fingerprint if entry.card.known else ""
    except EncoderError:
        # Why the encoder fails is reported when it has to encode.
        return (entry.encoder.known_fingerprint() or "") if entry.card.remote else ""


def finished_record(before: RunRecord, plan: Plan, outcome: Outcome, seconds: float) -> RunRecord:
    """Return ``run.json`` of a finished run.

    Parameters
    ----------
    before
        The record of the run's start, with the work of earlier starts.
    seconds
        How long this start has taken.
    """
    encoders = dict(before.get("encoders", {}))
    for run in outcome.encoders:
        for label, corpora in plan.candidates_of(run.entry).items():
            encoders[label] = _use_of(run, encoders.get(label, {}), corpora)
    return {
        **before,
        "state": "failed in part" if outcome.result.failed else "finished",
        "seconds": round(seconds, 3),
        "peak_memory_mib": peak_memory(),
        "encoders": encoders,
        # Most of these packages are optional; one that is not installed cannot affect the numbers.
        "packages": {dist.name: dist.version for package in PACKAGES for dist in distributions(name=package)},
        "embassay": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "notes": [one_line(note) for note in plan.notes],
        "sources": sources_of(plan),
        "failures": [asdict(failure) for failure in outcome.result.failed],
    }


def _use_of(run: CandidateRun, before: EncoderUse, corpora: Sequence[AnyCorpus]) -> EncoderUse:
    """Return the work of one candidate, for ``run.json``; the cuts of a corpus share the work of their encoder.

    Counts and times are those of the last start that scored something; they are not added up.

    Parameters
    ----------
    before
        Its work in earlier starts of the run; empty if there is none.
    """
    if run.failure is not None:
        return {**before, "route": run.route}
    if run.texts == 0 and before:
        # All its scores were stored, so nothing was measured.
        return before
    # What was not measured now stays as an earlier start has measured it.
    milliseconds = dict(before.get("milliseconds", {}))
    for name, key in (("", ""), *((corpus.name, corpus.key) for corpus in corpora)):
        # NaN where a part was not timed.
        if run.milliseconds.get(key, 0) > 0:
            milliseconds[name] = run.milliseconds[key]
    return {
        "badges": asdict(run.robustness) if run.robustness else before.get("badges"),
        "encoder": run.entry.label,
        "texts": run.texts,
        "encoded": run.encoded,
        "cached": run.texts - run.encoded,
        "milliseconds": milliseconds,
        "route": run.route,
    }


def sources_of(plan: Plan) -> Sources:
    """Return what is needed to read the corpora of a run again; those that were made in Python are left out."""
    request = plan.request
    corpora = corpus_list(request.corpora)
    specs = [as_spec(source, "corpus") for source in corpora if not isinstance(source, Corpus)]
    if not corpora:
        # A run without sources uses built-in corpora, which are read by their names. A diagnostic may join two of them.
        specs = [Spec(corpus.name) for corpus in plan.corpora if corpus.name in builtin_names()]
    return {
        "corpora": [vars(spec) for spec in specs],
        "limit": request.limit,
        "follow_links": request.follow_links,
        # Canonical specs leave out what changes no figure, such as the address of a service.
        "encoders": {
            entry.label: {"spec": entry.card.spec.split(",")[0], **_without_secrets(entry.given)}
            for entry in plan.entries
        },
    }


def _without_secrets(given: Mapping[str, object]) -> JsonObject:
    """Return the options of a spec; those that are sent to a service only where they name a variable."""
    options = dict(given)
    for name in {"headers", "parameters"} & options.keys():
        if isinstance(table := options[name], dict):
            options[name] = {key: value for key, value in table.items() if str(value).startswith("$")}
    # The query of an address may hold a key.
    if "?" in str(options.get("base_url", "")):
        del options["base_url"]
    return options


def question_milliseconds(record: RunRecord) -> Milliseconds:
    """Return the time of one question by encoder and corpus, where it was measured.

    Where a corpus has no questions, that of an encoder for one text alone stands for it, for an empty corpus.
    """
    uses = record.get("encoders", {})
    return {(label, corpus): ms for label, use in uses.items() for corpus, ms in use.get("milliseconds", {}).items()}


def peak_memory() -> int:
    """Return the peak memory of this process in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # macOS counts bytes, Linux KiB.
    units_per_mib = 1024 * 1024 if sys.platform == "darwin" else 1024
    return int(peak / units_per_mib)
