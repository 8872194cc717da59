"""``run.json``: its content, and the checks when it is read again.

The file may have been edited by hand or truncated by a full disk. Parts that do not fit their schema are left out; a
report is drawn, or a run resumes, without them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from embassay._version import __version__
from embassay.store.canonical import canonical
from embassay.store.schema import Schema, SchemaError

Rules = dict[str, Any]
"""A part of a JSON schema."""


class EncoderUse(TypedDict, total=False):
    """The work of one encoder: ``badges`` holds its robustness checks, ``route`` how its vectors were computed."""

    texts: int
    encoded: int
    cached: int
    seconds: float
    texts_per_second: float | None
    query_milliseconds: float | None
    route: dict[str, Any]
    badges: dict[str, Any] | None


class RunRecord(TypedDict, total=False):
    """The content of ``run.json``.

    ``settings`` identifies the run, and ``key`` is a hash of the settings and of the version of embassay. ``state`` is
    ``running``, ``finished`` or ``failed in part``. ``sources`` says how the corpora are read again: their specs,
    ``limit`` and ``follow_links``. ``blessed`` marks a baseline, and ``reduced`` lists its diagnostics and corpora of
    which only the scores are kept that a check reads.
    """

    key: str
    settings: dict[str, Any]
    state: str
    embassay: str
    encoders: dict[str, EncoderUse]
    failures: list[dict[str, str]]
    notes: list[str]
    sources: dict[str, Any]
    seconds: float
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
_WORDING: Rules = {
    "type": "object",
    "required": ["cosine", "same_nearest"],
    "additionalProperties": {"type": "number"},
}
"""The effect of another wording of a prompt."""
RECORD: dict[str, Rules] = {
    "settings": {"type": "object"},
    "state": _TEXT,
    "failures": {"type": "array", "items": {"type": "object", "additionalProperties": _TEXT}},
    "notes": _TEXTS,
    "blessed": {"type": "boolean"},
    "reduced": {"type": "array", "items": _TEXTS},
    "encoders": {"type": "object"},
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
    "texts_per_second": {"type": ["number", "null"], "minimum": 0},
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
            if isinstance(use, dict):
                encoders[label] = _fitting(use, ENCODER)
        record["encoders"] = encoders
    sound: RunRecord = record  # type: ignore[assignment]
    return sound


def _finite(written: str) -> float | None:
    """Return a number; None if it is too large for a float, as infinity could not be written again."""
    number = float(written)
    return number if math.isfinite(number) else None


def _fitting(values: Mapping[str, Any], schemas: Mapping[str, Rules]) -> dict[str, Any]:
    """Return the values that fit their schema. Values without a schema are kept unchecked."""
    fitting = {}
    for name, value in values.items():
        try:
            if name in schemas:
                Schema(schemas[name], {}).check(value)
        except SchemaError:
            # A damaged part must not make the whole run unreadable: the rest of it is still of use.
            continue
        fitting[name] = value
    return fitting


def may_go_on(record: RunRecord, settings: Mapping[str, Any]) -> bool:
    """Return whether a run may be resumed although its settings differ from those of the record.

    It may if only the code of diagnostics differs, as each score is stored with the version of that code, or if only
    the content of encoders that had failed differs.
    """
    if record.get("embassay") != __version__:
        return False
    failures = record.get("failures", [])
    failed = {failure.get("encoder") for failure in failures if not failure.get("diagnostic")}
    try:
        return _comparable(record["settings"], failed) == _comparable(_as_written(settings), failed)
    except (AttributeError, KeyError, TypeError, ValueError):
        # The record is damaged.
        return False


def _comparable(settings: Mapping[str, Any], failed: set[str | None]) -> dict[str, Any]:
    """Return settings without the versions of diagnostics, and without the content of encoders that failed."""
    encoders = []
    for label, spec, *content in settings.get("encoders", ()):
        if label in failed:
            encoders.append([label, spec])
        else:
            encoders.append([label, spec, *content])
    tasks = [task for task, _ in _versions(settings)]
    return {**settings, "encoders": encoders, "diagnostics": tasks}


def changed_code(record: RunRecord, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the diagnostics whose code has another version than in a record of the same tasks."""
    before = _versions(record["settings"])
    now = _versions(_as_written(settings))
    changed = []
    for (task, old_version), (_, new_version) in zip(before, now, strict=True):
        diagnostic = task[0]
        if old_version != new_version and diagnostic not in changed:
            changed.append(diagnostic)
    return tuple(changed)


def _versions(settings: Mapping[str, Any]) -> list[tuple[list[Any], str]]:
    """Return each task of a run (diagnostic, options, corpus) with the version of the diagnostic's code."""
    tasks = []
    for name, version, *rest in settings.get("diagnostics", ()):
        tasks.append(([name, *rest], version))
    return tasks


def differences(record: RunRecord, settings: Mapping[str, Any]) -> str:
    """Name the settings that differ from those of a record, and the encoders that were added or removed."""
    before = record.get("settings") or {}
    names = []
    for name, value in _as_written(settings).items():
        if before.get(name) == value:
            continue
        if name == "encoders":
            name += _changes_of_encoders(before.get(name), value)
        names.append(name)
    return ", ".join(names) or "another version of embassay"


def _changes_of_encoders(before: Any, now: Sequence[Sequence[Any]]) -> str:
    """Describe which encoders were added and removed; an empty text if none was."""
    old = _labels(before)
    new = _labels(now)
    added = [label for label in new if label not in old]
    removed = [label for label in old if label not in new]
    parts = []
    if added:
        parts.append(f"new: {', '.join(added)}")
    if removed:
        parts.append(f"removed: {', '.join(removed)}")
    if not parts:
        return ""
    return f" – {'; '.join(parts)}"


def _labels(encoders: Any) -> list[str]:
    """Return the labels in a record's list of encoders, which may be damaged."""
    if not isinstance(encoders, list):
        return []
    entries = [entry for entry in encoders if isinstance(entry, list) and entry]
    return [entry[0] for entry in entries if isinstance(entry[0], str)]


def _as_written(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as they are when read from JSON, to compare them with a record."""
    written: dict[str, Any] = json.loads(canonical(settings))
    return written
