"""``run.json``: the settings that identify a run, and its times and memory."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from embassay._version import __version__
from embassay.encoders.base import OfKnownContent, Remote
from embassay.errors import EncoderError
from embassay.run.execute import NO_TEXTS, Outcome
from embassay.run.plan import Plan
from embassay.run.specs import Spec, parse
from embassay.run.variants import Variant
from embassay.store.run_record import EncoderUse, RunRecord
from embassay.types import Corpus, Encoder

PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "transformers", "sentence-transformers", "tokenizers")


def settings_of(plan: Plan) -> dict[str, Any]:
    """Return the settings that identify a run; the order of encoders is the order in the result."""
    request = plan.request
    settings: dict[str, Any] = {
        "encoders": [[e.label, e.encoder.card.spec, _fingerprint(e.encoder), e.baseline] for e in plan.entries],
        "corpora": [[corpus.name, corpus.fingerprint] for corpus in plan.corpora],
        "diagnostics": [[task.name, task.version, dict(task.options), task.corpus.name] for task in plan.tasks],
        "seed": request.seed,
        "resamples": request.resamples,
        "texts": request.texts,
        "examples": request.examples,
        "reference": request.reference,
    }
    variants = [Variant.of(corpus) for corpus in plan.corpora if corpus.variant_of]
    if variants:
        settings["variants"] = [[variant.name, variant.corpus, variant.setting] for variant in variants]
    return settings


def variants_in(settings: Mapping[str, Any]) -> dict[str, Variant]:
    """Return by name the variants of corpora in the settings of a run; empty where nothing varies.

    Raises
    ------
    TypeError, ValueError
        If the settings are damaged.
    """
    return {
        name: Variant(str(name), str(corpus), str(setting)) for name, corpus, setting in settings.get("variants", ())
    }


def _fingerprint(encoder: Encoder) -> str:
    """Return a fingerprint; of a service that does not answer the last known one: the run will say what is wrong.

    An encoder of unknown content has another fingerprint in each run. It is left out, so that the run goes on with what
    the other encoders have done.
    """
    if isinstance(encoder, OfKnownContent) and not encoder.known:
        return ""
    try:
        return encoder.fingerprint
    except EncoderError:
        return (encoder.known_fingerprint if isinstance(encoder, Remote) else None) or ""


def finished_record(before: RunRecord, plan: Plan, outcome: Outcome, seconds: float) -> RunRecord:
    """Return ``run.json`` of a finished run: what is kept from before, and what this run took.

    Parameters
    ----------
    before
        The record of the run's start, with what earlier starts of it took.
    seconds
        How long this start has taken.
    """
    encoders = dict(before.get("encoders", {}))
    for run in outcome.encoders:
        label = run.entry.label
        known = encoders.get(label, {})
        if run.effort is None:  # it failed: what it took until then
            encoders[label] = {**known, "route": run.route}
            continue
        if run.effort.texts == 0 and known:
            continue  # all its scores were there: what they took is remembered from before
        speed = run.speed.texts_per_second
        query = run.speed.query_milliseconds
        encoders[label] = {
            "texts": run.effort.texts,
            "encoded": run.effort.encoded,
            "cached": run.effort.texts - run.effort.encoded,
            "seconds": round(run.effort.seconds, 3),
            "texts_per_second": known.get("texts_per_second") if speed is None else speed,
            "query_milliseconds": known.get("query_milliseconds") if query is None else query,
            "route": run.route,
            "badges": asdict(run.robustness) if run.robustness else known.get("badges"),
        }
    if not plan.request.texts:
        # Without texts: the reason of an error may quote one.
        encoders = {label: _without_reason(record) for label, record in encoders.items()}
    return {
        **before,
        "state": "failed in part" if outcome.failures else "finished",
        "seconds": round(seconds, 3),
        "peak_memory_mib": peak_memory(),
        "encoders": encoders,
        **environment(),
        "notes": list(plan.notes),
        "sources": sources_of(plan),
        "failures": [asdict(failure) for failure in outcome.result.failures],
    }


def sources_of(plan: Plan) -> dict[str, Any]:
    """Return how the corpora of a run are read again; those that were made in Python are left out."""
    request = plan.request
    sources = request.corpora
    if isinstance(sources, (str, Spec, Corpus)):
        sources = [sources]
    specs = [parse(source, "corpus") if isinstance(source, str) else source for source in sources]
    if not specs:
        specs = [Spec(corpus.name) for corpus in plan.corpora]
    corpora = [asdict(spec) for spec in specs if isinstance(spec, Spec)]
    return {"corpora": corpora, "limit": request.limit, "follow_links": request.follow_links}


def _without_reason(record: EncoderUse) -> EncoderUse:
    """Return a record whose badges do not say why there are none: the reason may quote a text."""
    badges = record.get("badges")
    if not badges or not badges.get("reason"):
        return record
    return {**record, "badges": {**badges, "reason": NO_TEXTS}}


def speeds(record: RunRecord) -> dict[str, float]:
    """Return the texts per second of each encoder, where they were measured."""
    return {label: speed for label, kept in _uses(record) if (speed := kept.get("texts_per_second"))}


def latencies(record: RunRecord) -> dict[str, float]:
    """Return the milliseconds for one query of each encoder, where they were measured."""
    return {label: query for label, kept in _uses(record) if (query := kept.get("query_milliseconds"))}


def trust(record: RunRecord) -> dict[str, dict[str, Any]]:
    """Return the robustness checks of each encoder that has them."""
    return {label: badges for label, kept in _uses(record) if (badges := kept.get("badges"))}


def _uses(record: RunRecord) -> Iterator[tuple[str, EncoderUse]]:
    """Yield the work of each encoder under its own label, then under its label on each variant of a corpus."""
    try:
        variants = variants_in(record.get("settings", {}))
    except (TypeError, ValueError):
        # The record is damaged; what it says of encoders may still be of use.
        variants = {}
    for label, use in record.get("encoders", {}).items():
        names = dict.fromkeys([label, *(variant.label(label) for variant in variants.values())])
        yield from ((name, use) for name in names)


def environment() -> RunRecord:
    """Return versions and platform."""
    packages = {}
    for package in PACKAGES:
        try:
            packages[package] = version(package)
        except PackageNotFoundError:
            # Most of these packages are optional; one that is not installed had no part in the numbers.
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
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(used / (1024 * 1024 if sys.platform == "darwin" else 1024))
