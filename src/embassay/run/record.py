"""``run.json``: the settings that identify a run, and its times and memory."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import cast

from embassay._version import __version__
from embassay.core.errors import EncoderError
from embassay.core.types import Corpus, JsonObject
from embassay.reports.costs import Milliseconds
from embassay.run.candidates import RunEncoder
from embassay.run.execute import NO_TEXTS, Outcome
from embassay.run.loaders import builtin_names
from embassay.run.plan import Plan, corpus_sources
from embassay.run.presets import named_in
from embassay.run.resolve import default_label, encoder_list
from embassay.run.runs.record import Badges, EncoderUse, RunRecord, RunSettings, Sources
from embassay.run.scoring import CandidateRun
from embassay.run.specs import Spec, alternatives, as_spec

PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "transformers", "sentence-transformers", "tokenizers")


def settings_of(plan: Plan) -> RunSettings:
    """Return the settings that identify a run; the order of encoders is the order in the result."""
    request = plan.request
    settings = {
        "encoders": [(entry.label, entry.card.spec, _fingerprint(entry), entry.baseline) for entry in plan.entries],
        # Encoders with a single route, or with the usual one, are not listed.
        "routes": {entry.label: entry.card.route for entry in plan.entries if entry.card.route},
        "corpora": [(corpus.key, corpus.fingerprint) for corpus in plan.corpora],
        "diagnostics": [(task.name, task.version, dict(task.options), task.corpus.key) for task in plan.tasks],
        **request.recorded,
    }
    return cast("RunSettings", settings)


def _fingerprint(entry: RunEncoder) -> str:
    """Return the fingerprint of a candidate; that of a service that does not answer is the last known one, or empty.

    An encoder of unknown content has another fingerprint in each run. It is left out, so that a repeated command
    continues the run with the scores of the other encoders.
    """
    if not entry.card.known:
        return ""
    try:
        return entry.model.fingerprint
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
        label = run.entry.label
        read = [task.corpus for task in plan.tasks_of(run.entry)]
        candidates = {corpus.key: (run.entry.label_on(corpus), corpus.name) for corpus in read}
        use = _use_of(run, encoders.get(label, {}), candidates)
        encoders[label] = {**use, "candidates": list(dict.fromkeys(candidate for candidate, _ in candidates.values()))}
    if not plan.request.texts:
        # The reason of an error may quote a text.
        encoders = {label: _without_reason(use) for label, use in encoders.items()}
    return {
        **before,
        "state": "failed in part" if outcome.failures else "finished",
        "seconds": round(seconds, 3),
        "peak_memory_mib": peak_memory(),
        "encoders": encoders,
        **environment(),
        "notes": list(plan.notes),
        "sources": sources_of(plan),
        "failures": [asdict(failure) for failure in outcome.result.failed],
    }


def _use_of(run: CandidateRun, before: EncoderUse, candidates: Mapping[str, tuple[str, str]]) -> EncoderUse:
    """Return the work of one encoder, for ``run.json``.

    Counts and times are those of the last start that scored something; they are not added up.

    Parameters
    ----------
    before
        Its work in earlier starts of the run; empty if there is none.
    candidates
        Its label on each cut of a corpus, and the label of the corpus.
    """
    effort = run.report.effort
    if effort is None:
        # The encoder failed.
        return {**before, "route": run.report.route}
    if effort.texts == 0 and before:
        # All its scores were stored, so nothing was measured.
        return before
    # What was not measured now stays as an earlier start has measured it.
    query_milliseconds = run.report.milliseconds.pop("", before.get("query_milliseconds"))
    milliseconds = dict(before.get("question_milliseconds", {}))
    for key, time in run.report.milliseconds.items():
        if time > 0:
            label, corpus = candidates[key]
            milliseconds[label] = {**milliseconds.get(label, {}), corpus: time}
    badges = before.get("badges")
    if run.report.robustness:
        badges = cast("Badges", asdict(run.report.robustness))
        query_milliseconds = run.report.robustness.query_milliseconds or query_milliseconds
    return {
        "texts": effort.texts,
        "encoded": effort.encoded,
        "cached": effort.texts - effort.encoded,
        # The time of encoding without the first batch, for which the model may be loaded.
        "seconds": round(effort.seconds, 3),
        "query_milliseconds": query_milliseconds,
        "question_milliseconds": milliseconds,
        "route": run.report.route,
        "badges": badges,
    }


def sources_of(plan: Plan) -> Sources:
    """Return what is needed to read the corpora of a run again; those that were made in Python are left out."""
    request = plan.request
    sources = corpus_sources(request)
    specs = [as_spec(source, "corpus") for source in sources if not isinstance(source, Corpus)]
    if not sources:
        # A run without sources uses built-in corpora, which are read by their names. A diagnostic may join two of them.
        specs = [Spec(corpus.name) for corpus in plan.corpora if corpus.name in builtin_names()]
    return {
        "corpora": [{"head": spec.head, "label": spec.label, "options": dict(spec.options)} for spec in specs],
        "limit": request.limit,
        "follow_links": request.follow_links,
        "encoders": {spec.label or default_label(spec): _without_secrets(spec) for spec in given_specs(plan)},
    }


def given_specs(plan: Plan) -> Iterator[Spec]:
    """Yield the specs of single encoders as they were given, one for each value of options that are lists."""
    for given in encoder_list(plan.request.encoders):
        if isinstance(given, (str, Spec)) and named_in(given) is None:
            spec = as_spec(given, "encoder")
            yield from alternatives(spec, spec.label or default_label(spec))


def _without_secrets(spec: Spec) -> JsonObject:
    """Return the options of a spec; those that are sent to a service only where they name a variable."""
    options = dict(spec.options)
    for name in ("headers", "parameters"):
        table = options.get(name)
        if isinstance(table, dict):
            options[name] = {key: value for key, value in table.items() if str(value).startswith("$")}
    # An address may hold a password.
    if "@" in str(options.get("base_url", "")):
        del options["base_url"]
    return options


def _without_reason(use: EncoderUse) -> EncoderUse:
    """Return the work of an encoder without the reason why a robustness check failed: it may quote a text."""
    badges = use.get("badges")
    if not badges or not badges.get("reason"):
        return use
    return {**use, "badges": {**badges, "reason": NO_TEXTS}}


def question_milliseconds(record: RunRecord) -> Milliseconds:
    """Return the time of one question by encoder and corpus, where it was measured.

    Where a corpus has no questions, that of an encoder for one text alone stands for it, for an empty corpus.
    """
    times: dict[tuple[str, str], float] = {}
    for use in record.get("encoders", {}).values():
        if alone := use.get("query_milliseconds"):
            times |= {(label, ""): alone for label in use.get("candidates", ())}
        for label, of_corpora in use.get("question_milliseconds", {}).items():
            times |= {(label, corpus): milliseconds for corpus, milliseconds in of_corpora.items()}
    return times


def trust(record: RunRecord) -> dict[str, Badges]:
    """Return by encoder the record of its robustness checks, where it has one."""
    return {
        label: badges
        for use in record.get("encoders", {}).values()
        if (badges := use.get("badges"))
        for label in use.get("candidates", ())
    }


def environment() -> RunRecord:
    """Return the part of ``run.json`` that says with which versions, on which platform and when the run was made."""
    packages = {}
    for package in PACKAGES:
        try:
            packages[package] = version(package)
        except PackageNotFoundError:
            # Most of these packages are optional; one that is not installed cannot affect the numbers.
            continue
    return {
        "embassay": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": packages,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def peak_memory() -> int | None:
    """Return the peak memory of this process in MiB; None if the system does not report it."""
    try:
        import resource
    except ImportError:
        # Windows does not have the module.
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # macOS counts bytes, Linux KiB.
    units_per_mib = 1024 * 1024 if sys.platform == "darwin" else 1024
    return int(peak / units_per_mib)
