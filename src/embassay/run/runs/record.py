"""``run.json``: its content, and the checks when it is read again.

The file may have been edited by hand. Parts that do not fit their types are left out; a report is drawn, or a run
resumes, without them.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, Required

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from embassay._version import __version__
from embassay.core.store.canonical import canonical
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


Positive = Annotated[float, Field(gt=0)]


class Times(TypedDict):
    """How long the model of one encoder took, in rounds. The clock of processor time is coarse on some systems."""

    wall: Annotated[list[Positive], Field(min_length=1)]
    cpu: Annotated[list[Annotated[float, Field(ge=0)]], Field(min_length=1)]
    device: str
    model: str


class Cost(TypedDict):
    """How long the models took for the same texts."""

    texts: int
    encoders: dict[str, Times]


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
    of the metric, and ``default_margins`` those of the headlines (diagnostic, corpus, margin).
    """

    pages: Literal["given", "sampled"]
    margins: dict[str, Positive]
    default_margins: list[tuple[str, str, Positive]]


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
    cost: Cost
    seconds: float
    timeline: dict[str, float]
    peak_memory_mib: int | None
    python: str
    platform: str
    packages: dict[str, str]
    time: str
    gate: GateRecord


@cache
def _adapter() -> TypeAdapter[RunRecord]:
    return TypeAdapter(RunRecord)


def read_record(path: Path) -> RunRecord:
    """Return the content of ``run.json`` without its damaged parts; an empty record if there is none."""
    try:
        content = path.read_bytes()
    except OSError:
        return {}
    try:
        record = _adapter().validate_json(content, strict=True)
    except ValidationError as error:
        damaged = {problem["loc"][0] for problem in error.errors() if problem["loc"]}
        if not damaged:
            # It may be half of a record, or the file of another program; the folder is not taken for a run.
            return {}
        # A damaged part must not make the whole run unreadable: the rest of it is still of use.
        rest = {name: value for name, value in json.loads(content).items() if name not in damaged}
        record = _adapter().validate_python(rest)
    return record if "key" in record else {}


def as_written(settings: RunSettings) -> RunSettings:
    """Return settings as they are when read from JSON, to compare them with a record."""
    return _adapter().validate_json(canonical({"settings": settings}))["settings"]


def may_go_on(record: RunRecord, settings: RunSettings) -> bool:
    """Return whether a run may be continued although its settings differ from those of the record.

    Each score is stored with all that it depends on. So encoders and corpora may be added, the code of diagnostics may
    differ, and the content of encoders that had failed.
    """
    before = record.get("settings")
    if before is None or record.get("embassay") != __version__:
        return False
    # A failure without a diagnostic is that of the encoder itself.
    failed = {failure.get("encoder") for failure in record.get("failures", ()) if not failure.get("diagnostic")}
    parts_before, parts_now = _extensible(before, failed), _extensible(settings, failed)
    for name, members in parts_before.items():
        if any(member not in parts_now[name] for member in members):
            return False
    corpora = {name for name, _ in before["corpora"]}
    return _fixed(before, corpora) == _fixed(settings, corpora)


def _extensible(settings: RunSettings, failed_encoders: set[str | None]) -> dict[str, list[tuple[str | None, ...]]]:
    """Return what a later command may add to: the encoders, without the content of those that failed, and corpora."""
    encoders = list[tuple[str | None, ...]]()
    for label, spec, fingerprint, _baseline in settings["encoders"]:
        encoders.append((label, spec, None if label in failed_encoders else fingerprint))
    return {
        "encoders": encoders,
        "routes": list(settings.get("routes", {}).items()),
        "corpora": list(settings["corpora"]),
    }


def _fixed(settings: RunSettings, corpora: set[str]) -> JsonObject:
    """Return the settings that may not change, with the tasks on these corpora without the versions of their code."""
    diagnostics = settings["diagnostics"]
    tasks = [(name, options, corpus) for name, _version, options, corpus in diagnostics if corpus in corpora]
    others = ("encoders", "routes", "corpora", "diagnostics")
    return {"tasks": tasks, **{name: value for name, value in settings.items() if name not in others}}


def changed_code(record: RunRecord, settings: RunSettings) -> tuple[str, ...]:
    """Return the names of the diagnostics whose code has another version than in a record."""
    versions = {(name, corpus): version for name, version, _options, corpus in record["settings"]["diagnostics"]}
    changed = []
    for name, version, _options, corpus in settings["diagnostics"]:
        if versions.get((name, corpus), version) != version:
            changed.append(name)
    return tuple(dict.fromkeys(changed))


def differences(record: RunRecord, settings: RunSettings) -> str:
    """Name what differs between a record and a run that must not continue it, as ``seed, encoders – removed: A``.

    The caller has compared their keys, which depend on the settings and on the version of embassay. So if no setting
    differs, the version does.
    """
    before = record.get("settings")
    if before is None:
        return "damaged"
    names = []
    for name, value in settings.items():
        if before.get(name) == value:
            continue
        if name == "encoders":
            changes = _changes_of_encoders(before, settings)
            if not changes:
                continue
            name += f" – {changes}"
        names.append(name)
    if not names:
        return "another version of embassay"
    return ", ".join(names)


def _changes_of_encoders(before: RunSettings, now: RunSettings) -> str:
    """Name the encoders that were removed or have changed, as ``removed: A; changed: B``; empty if there are none."""
    content_now = {label: (spec, fingerprint) for label, spec, fingerprint, _ in now["encoders"]}
    removed, changed = [], []
    for label, spec, fingerprint, _ in before["encoders"]:
        if label not in content_now:
            removed.append(label)
        elif content_now[label] != (spec, fingerprint):
            changed.append(label)
    parts = []
    if removed:
        parts.append(f"removed: {', '.join(removed)}")
    if changed:
        parts.append(f"changed: {', '.join(changed)}")
    return "; ".join(parts)
