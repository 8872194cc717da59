"""``run.json``: its content, and whether a run may continue that of a record."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from pathlib import Path
from typing import Any, Literal, NotRequired

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from embassay._version import __version__
from embassay.core.store.canonical import Plain, plain
from embassay.core.types import JsonObject
from embassay.reports.findings.speed import MeasuredTimes

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


class EncoderUse(TypedDict, total=False):
    """The work of one candidate: ``badges`` holds its robustness checks, ``route`` how its vectors were computed.

    ``encoder`` is its label without the cut of documents. ``milliseconds`` are those of one question by corpus, see
    docs/setups.md; without a name those of one text alone.
    """

    encoder: str
    texts: int
    encoded: int
    cached: int
    seconds: float
    milliseconds: dict[str, float]
    route: JsonObject
    badges: JsonObject | None


class Sources(TypedDict):
    """How the corpora are read again (head, label and options of a spec), and by label the options of encoders.

    The options are as they were given, without secrets.
    """

    corpora: list[dict[str, Any]]
    limit: int | None
    follow_links: bool
    encoders: dict[str, JsonObject]


class GateRecord(TypedDict):
    """What ``embassay bless`` has fixed for each ``embassay check``.

    ``pages`` says whether the documents are all there are, or a sample; ``margins`` are those of the user by the name
    of the metric, and ``default_margins`` those of the headlines (diagnostic, corpus, margin).
    """

    pages: Literal["given", "sampled"]
    margins: dict[str, float]
    default_margins: list[tuple[str, str, float]]


@OPEN
class RunRecord(TypedDict, total=False):
    """The content of ``run.json``.

    ``state`` is ``running``, ``finished`` or ``failed in part``. ``timeline`` has the seconds of loading, encoding,
    scoring and statistics, and report of the last start.
    ``cost`` has the times of encoding the same texts. ``gate`` marks a baseline.
    """

    settings: RunSettings
    state: str
    embassay: str
    encoders: dict[str, EncoderUse]
    failures: list[dict[str, str]]
    notes: list[str]
    sources: Sources
    cost: dict[str, MeasuredTimes]
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
