"""``run.json``: its content, and the checks when it is read again.

The file may have been edited by hand or truncated by a full disk. Parts that do not fit their schema are left out; a
report is drawn, or a run resumes, without them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from embassay._version import __version__
from embassay.store.canonical import canonical
from embassay.store.schema import Schema, SchemaError
from embassay.types import JsonObject

Rules = dict[str, object]
"""A part of a JSON schema."""


class EncoderUse(TypedDict, total=False):
    """The work of one encoder: ``badges`` holds its robustness checks, ``route`` how its vectors were computed."""

    texts: int
    encoded: int
    cached: int
    seconds: float
    query_milliseconds: float | None
    route: JsonObject
    badges: JsonObject | None


class RunRecord(TypedDict, total=False):
    """The content of ``run.json``.

    ``settings`` identifies the run: ``encoders`` is a list of [label, spec, fingerprint, whether a baseline],
    ``diagnostics`` a list of tasks [diagnostic, version of its code, options, corpus], ``routes`` has the routes by
    label of the encoders that have several, and there are single values such as ``seed``. ``key`` is a hash of the
    settings and of the version of embassay. ``state`` is
    ``running``, ``finished`` or ``failed in part``. ``sources`` says how the corpora are read again: their specs,
    ``limit`` and ``follow_links``. ``cost`` holds how long the models took for the same texts, ``timeline`` the
    seconds of loading, encoding, scoring and statistics, and report of the last start. ``blessed`` marks a
    baseline, and ``reduced`` lists its diagnostics and corpora of which only the scores are kept that a check reads.
    """

    key: str
    settings: JsonObject
    state: str
    embassay: str
    encoders: dict[str, EncoderUse]
    failures: list[dict[str, str]]
    notes: list[str]
    sources: JsonObject
    cost: JsonObject
    seconds: float
    timeline: dict[str, float]
    peak_memory_mib: int | None
    python: str
    platform: str
    packages: dict[str, str]
    time: str
    blessed: bool
    reduced: list[list[str]]


_TEXT: Rules = {"type": "string"}
_TEXTS: Rules = {"type": "array", "items": _TEXT}
_NUMBER: Rules = {"type": ["number", "null"]}
_SECONDS: Rules = {"type": "array", "minItems": 1, "items": {"type": "number", "exclusiveMinimum": 0}}
_CPU_SECONDS: Rules = {"type": "array", "minItems": 1, "items": {"type": "number", "minimum": 0}}
"""The clock of processor time is coarse on some systems."""
_WORDING: Rules = {
    "type": "object",
    "required": ["cosine", "same_nearest"],
    "additionalProperties": {"type": "number"},
}
"""The effect of another wording of a prompt."""
RECORD: dict[str, Rules] = {
    "settings": {"type": "object"},
    "state": _TEXT,
    "seconds": {"type": "number", "minimum": 0},
    "failures": {"type": "array", "items": {"type": "object", "additionalProperties": _TEXT}},
    "notes": _TEXTS,
    "blessed": {"type": "boolean"},
    "reduced": {"type": "array", "items": _TEXTS},
    "encoders": {"type": "object"},
    "cost": {
        "type": "object",
        "required": ["texts", "encoders"],
        "properties": {
            "texts": {"type": "integer", "minimum": 1},
            "encoders": {
                "type": "object",
                "additionalProperties": {
                    "type": "object",
                    "required": ["wall", "cpu", "device", "model"],
                    "properties": {"wall": _SECONDS, "cpu": _CPU_SECONDS, "device": _TEXT, "model": _TEXT},
                },
            },
        },
    },
    "sources": {
        "type": "object",
        "required": ["corpora", "limit", "follow_links"],
        "properties": {
            "corpora": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["head", "label", "options"],
                    "properties": {
                        "head": _TEXT,
                        "label": {"type": ["string", "null"]},
                        "options": {"type": "object"},
                    },
                },
            },
            "limit": {"type": ["integer", "null"], "minimum": 1},
            "follow_links": {"type": "boolean"},
        },
    },
}
ENCODER: dict[str, Rules] = {
    "query_milliseconds": {"type": ["number", "null"], "minimum": 0},
    "route": {"type": "object"},
    "badges": {
        "type": ["object", "null"],
        "required": ["sampled"],
        "properties": {
            "sampled": {"type": "integer", "minimum": 0},
            "drift": _NUMBER,
            "half_ties": _NUMBER,
            "prompts": {"type": ["object", "null"], "additionalProperties": _WORDING},
            "reason": {"type": ["string", "null"]},
            "notes": _TEXTS,
        },
    },
}
"""Schemas of the parts of each encoder in ``run.json`` that are read again; those of the run are in ``RECORD``."""


def read_record(path: Path) -> RunRecord:
    """Return the content of ``run.json`` without its damaged parts; an empty record if there is none."""
    try:
        # NaN and infinity, which could not be written again, become None.
        data = json.loads(path.read_bytes(), parse_constant=lambda name: None, parse_float=_finite)
    except (OSError, ValueError, RecursionError):
        # A new folder has no record, and a killed run may leave half of one. Both start from the beginning.
        return {}
    if not isinstance(data, dict) or "key" not in data:
        return {}
    record = _fitting(data, RECORD)
    if "encoders" in record:
        encoders = {}
        for label, use in record["encoders"].items():
            # An encoder whose entry is no object is left out.
            if isinstance(use, dict):
                encoders[label] = _fitting(use, ENCODER)
        record["encoders"] = encoders
    # The parts without a schema are unchecked: they may not be what their types say.
    sound: RunRecord = record  # type: ignore[assignment]
    return sound


def _finite(written: str) -> float | None:
    """Return the number that is written; None if it is too large for a float, such as 1e999."""
    number = float(written)
    if math.isfinite(number):
        return number
    return None


def _fitting(values: Mapping[str, object], schemas: Mapping[str, Rules]) -> JsonObject:
    """Return the values that fit their schema. Values without a schema are kept unchecked."""
    fitting = {}
    for name, value in values.items():
        try:
            if name in schemas:
                # {}: these schemas have no references to parts of a larger one.
                Schema(schemas[name], {}).check(value)
        except SchemaError:
            # A damaged part must not make the whole run unreadable: the rest of it is still of use.
            continue
        fitting[name] = value
    return fitting


def may_go_on(record: RunRecord, settings: Mapping[str, object]) -> bool:
    """Return whether a run may be resumed although its settings differ from those of the record.

    It may if only the code of diagnostics differs, as each score is stored with the version of that code, or if only
    the content of encoders that had failed differs.
    """
    if record.get("embassay") != __version__:
        return False
    failed_encoders = set()
    for failure in record.get("failures", []):
        # A failure without a diagnostic is that of the encoder itself.
        if not failure.get("diagnostic"):
            failed_encoders.add(failure.get("encoder"))
    try:
        before = _without_what_may_differ(record["settings"], failed_encoders)
        now = _without_what_may_differ(_as_written(settings), failed_encoders)
        return before == now
    except (AttributeError, KeyError, TypeError, ValueError):
        # The record is damaged.
        return False


def _without_what_may_differ(settings: JsonObject, failed_encoders: set[str | None]) -> JsonObject:
    """Return settings without the versions of diagnostics, and without the content of encoders that failed."""
    encoders = []
    for label, spec, *content in settings.get("encoders", ()):
        if label in failed_encoders:
            encoders.append([label, spec])
        else:
            encoders.append([label, spec, *content])
    tasks = [task for task, _ in _versions(settings)]
    return {**settings, "encoders": encoders, "diagnostics": tasks}


def changed_code(record: RunRecord, settings: Mapping[str, object]) -> tuple[str, ...]:
    """Return the names of the diagnostics whose code has another version than in a record of the same tasks."""
    before = _versions(record["settings"])
    now = _versions(_as_written(settings))
    changed = []
    for (task, old_version), (_, new_version) in zip(before, now, strict=True):
        diagnostic = str(task[0])
        if old_version != new_version and diagnostic not in changed:
            changed.append(diagnostic)
    return tuple(changed)


def _versions(settings: JsonObject) -> list[tuple[list[object], str]]:
    """Return each task of a run ([diagnostic, options, corpus]) with the version of the diagnostic's code."""
    tasks = []
    for diagnostic, version, *options_and_corpus in settings.get("diagnostics", ()):
        task = [diagnostic, *options_and_corpus]
        tasks.append((task, version))
    return tasks


def differences(record: RunRecord, settings: Mapping[str, object]) -> str:
    """Name what differs between a record and a run that must not resume it, as ``seed, encoders – new: A``.

    The caller has compared their keys, which depend on the settings and on the version of embassay. So if no setting
    differs, the version does.
    """
    # {} if the record is damaged: then all settings are named.
    before = record.get("settings", {})
    names = []
    # Only "variants" may be in the record alone; then "corpora", which lists the variants too, differs as well.
    for name, value in _as_written(settings).items():
        if before.get(name) == value:
            continue
        if name == "encoders":
            names.append(name + _changes_of_encoders(before.get(name), value))
        else:
            names.append(name)
    if not names:
        return "another version of embassay"
    return ", ".join(names)


def _changes_of_encoders(before: object, now: Sequence[object]) -> str:
    """Describe which encoders were added and removed, as `` – new: A; removed: B``; an empty text if none was."""
    labels_before = _labels(before)
    labels_now = _labels(now)
    added = [label for label in labels_now if label not in labels_before]
    removed = [label for label in labels_before if label not in labels_now]
    parts = []
    if added:
        parts.append(f"new: {', '.join(added)}")
    if removed:
        parts.append(f"removed: {', '.join(removed)}")
    if not parts:
        return ""
    return f" – {'; '.join(parts)}"


def _labels(encoders: object) -> list[str]:
    """Return the labels in a record's list of encoders, which may be damaged."""
    if not isinstance(encoders, list):
        return []
    # [label, spec, fingerprint, whether a baseline] -> label
    labels = [entry[0] for entry in encoders if isinstance(entry, list) and entry]
    return [label for label in labels if isinstance(label, str)]


def _as_written(settings: Mapping[str, object]) -> JsonObject:
    """Return settings as they are when read from JSON, to compare them with a record."""
    written: JsonObject = json.loads(canonical(settings))
    return written
