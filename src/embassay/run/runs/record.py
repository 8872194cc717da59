"""``run.json``: its content, and whether a run may continue that of a record."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from pathlib import Path
from typing import Any, Literal, NotRequired, Required

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from embassay._version import __version__
from embassay.core.store.canonical import Plain, plain
from embassay.core.types import JsonObject

OPEN = with_config(ConfigDict(extra="allow", allow_inf_nan=False))
"""Fields without a type are kept as they are."""


@OPEN
class RunSettings(TypedDict):
    """What identifies a run.

    ``encoders`` are (label, spec, fingerprint, whether a baseline), ``diagnostics`` the tasks (diagnostic, version of
    its code, options, corpus), ``corpora`` (label with the cut, fingerprint), and ``routes`` has the routes by label of
    the encoders that have several.
    """

    encoders: list[tuple[str, str, str, bool]]
    corpora: list[tuple[str, str]]
    diagnostics: list[tuple[str, str, dict[str, Any], str]]
    seed: int
    resamples: int
    reference: str
    routes: NotRequired[dict[str, str]]
    texts: NotRequired[bool]
    examples: NotRequired[int | Literal["all"]]


class Badges(TypedDict, total=False):
    """The robustness checks of one encoder, see ``engine.robustness``."""

    sampled: Required[int]
    drift: float | None
    reason: str | None
    notes: list[str]
    query_milliseconds: float | None


class EncoderUse(TypedDict, total=False):
    """The work of one encoder: ``badges`` holds its robustness checks, ``route`` how its vectors were computed.

    ``candidates`` are its labels in the result: several where documents are cut in several ways.
    ``query_milliseconds`` are those of one text alone; ``question_milliseconds``, by candidate and corpus, see
    docs/setups.md.
    """

    texts: int
    encoded: int
    cached: int
    seconds: float
    query_milliseconds: float | None
    question_milliseconds: dict[str, dict[str, float]]
    candidates: list[str]
    route: JsonObject
    badges: Badges | None


class CorpusSource(TypedDict):
    """The spec of a corpus."""

    head: str
    label: str | None
    options: JsonObject


class Sources(TypedDict):
    """How the corpora are read again, and by label the options of encoders as they were given, without secrets."""

    corpora: list[CorpusSource]
    limit: int | None
    follow_links: bool
    encoders: NotRequired[dict[str, JsonObject]]


class GateRecord(TypedDict):
    """What ``embassay bless`` has fixed for each ``embassay check``.

    ``pages`` says whether the documents are all there are, or a sample; ``margins`` are those of the user by the name
    of the metric.
    """

    pages: Literal["given", "sampled"]
    margins: dict[str, float]


@OPEN
class RunRecord(TypedDict, total=False):
    """The content of ``run.json``.

    ``key`` is a hash of the settings and of the version of embassay. ``state`` is ``running``, ``finished`` or ``failed
    in part``. ``timeline`` has the seconds of loading, encoding, scoring and statistics, and report of the last start.
    ``gate`` marks a baseline.
    """

    key: str
    settings: RunSettings
    state: str
    embassay: str
    encoders: dict[str, EncoderUse]
    failures: list[dict[str, str]]
    notes: list[str]
    sources: Sources
    seconds: float
    timeline: dict[str, float]
    peak_memory_mib: int | None
    python: str
    platform: str
    packages: dict[str, str]
    time: str
    gate: GateRecord


def read_record(path: Path) -> RunRecord:
    """Return the content of ``run.json``; an empty record if there is none, or if it is damaged."""
    try:
        return TypeAdapter(RunRecord).validate_json(path.read_bytes(), strict=True)
    except (OSError, ValidationError):
        return {}


def changes(record: RunRecord, settings: RunSettings) -> list[str]:
    """Name what keeps a run from continuing that of a record, as ``seed`` or ``encoder bow``; empty if nothing does.

    Each score is stored with all that it depends on. So encoders and corpora may be added, the code of diagnostics may
    differ, and the content of encoders that had failed.
    """
    # A failure without a diagnostic is that of the encoder itself.
    failed = {failure.get("encoder", "") for failure in record.get("failures", ()) if not failure.get("diagnostic")}
    before, now = _facts(record["settings"], failed), _facts(settings, failed)
    changed = [name for name, fact in before.items() if now.get(name) != fact]
    if record.get("embassay") != __version__:
        changed.append("version of embassay")
    return changed


def _facts(settings: RunSettings, failed: Collection[str]) -> dict[str, Plain]:
    """Return by name what may not change in a run; without the content of the encoders that failed."""
    groups = ("encoders", "routes", "corpora", "diagnostics")
    facts: dict[str, object] = {name: value for name, value in settings.items() if name not in groups}
    for label, spec, fingerprint, _ in settings["encoders"]:
        route = settings.get("routes", {}).get(label)
        facts[f"encoder {label}"] = (spec, route, "" if label in failed else fingerprint)
    for label, fingerprint in settings["corpora"]:
        facts[f"corpus {label}"] = fingerprint
    tasks = defaultdict(list)
    for name, _, options, corpus in settings["diagnostics"]:
        tasks[f"diagnostics on {corpus}"].append((name, options))
    # As they are written to the file, and read from it.
    return {name: plain(fact) for name, fact in {**facts, **tasks}.items()}
