"""A run's folder: ``run.json``, ``scores/``, ``result.json``, ``report.html``.

``run.json`` is written first (running) and last (finished): what it calls finished is whole. Scores are kept one file
for each encoder, corpus and diagnostic; a run of the same settings takes them up again.
"""

from __future__ import annotations

import io
import json
import math
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from embassay._version import __version__
from embassay.errors import OutputError, one_line
from embassay.result import Result
from embassay.samples.base import Text
from embassay.store import results
from embassay.store.canonical import canonical, write
from embassay.store.ledger import Ledger
from embassay.store.partial_files import remove_left_overs
from embassay.store.schema import Schema, SchemaError
from embassay.types import ItemScores, Origin, content_hash

ENCODING = "encoding"
"""The folder of what an unfinished run has encoded; removed when nothing is left to do."""
OURS = {"run.json", "result.json", "report.html", "scores", ENCODING}


_TEXT: dict[str, Any] = {"type": "string"}
_TEXTS: dict[str, Any] = {"type": "array", "items": _TEXT}
_NUMBER: dict[str, Any] = {"type": ["number", "null"]}
_WORDING: dict[str, Any] = {
    "type": "object",
    "required": ["cosine", "same_nearest"],
    "additionalProperties": {"type": "number"},
}
"""What another wording of a prompt does."""
RECORD: dict[str, dict[str, Any]] = {
    "settings": {"type": "object"},
    "state": _TEXT,
    "failures": {"type": "array", "items": {"type": "object", "additionalProperties": _TEXT}},
    "notes": _TEXTS,
    "encoders": {"type": "object"},
}
ENCODER: dict[str, dict[str, Any]] = {
    "texts_per_second": {"type": ["number", "null"], "minimum": 0},
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
"""What is read of ``run.json`` again, and of each encoder in it, as schemas."""


class RunFolder:
    """The folder of one run."""

    def __init__(self, path: Path):
        """Name the folder; nothing is made or read yet."""
        self.path = path
        self.report = path / "report.html"

    def open(self, settings: Mapping[str, Any], overwrite: bool = False) -> tuple[str, ...]:
        """Make the folder, or take up the run of the same settings that it holds.

        Returns
        -------
        The diagnostics whose code has changed since: their scores are not taken up again.

        Raises
        ------
        OutputError
            If it cannot be written to, holds another run (and not ``overwrite``), or is not ours.
        """
        key = content_hash([settings, __version__])
        record = self.record()
        if self._is_foreign():
            raise OutputError(f"{self.path}: not empty and not a run of embassay; choose another folder with -o")
        for place in (self.path, self.path / "scores"):
            remove_left_overs(place)
        changed = tuple[str, ...]()
        if overwrite:
            self._clear()
        elif record and record["key"] != key and _may_go_on(record, settings):
            changed = _changed_code(record, settings)
        elif record and record["key"] != key:
            raise OutputError(
                f"{self.path}: holds a run of other settings ({_changed(record, settings)}); "
                "choose another folder with -o, or --overwrite"
            )
        own = {"key": key, "settings": settings, "state": "running", "embassay": __version__}
        self.write_record({**self.record(), **own})
        return changed

    def record(self) -> dict[str, Any]:
        """Return what ``run.json`` says; empty when there is none. What is damaged in it is left out."""
        try:
            content = (self.path / "run.json").read_bytes()
            data = json.loads(content, parse_constant=lambda name: None, parse_float=_finite)
        except (OSError, ValueError, RecursionError):
            return {}
        return _sound(data) if isinstance(data, dict) and "key" in data else {}

    def write_record(self, record: Mapping[str, Any]) -> None:
        """Write ``run.json``; what is said to people in it is on one line each, as on standard error."""
        notes = {"notes": [one_line(note) for note in record["notes"]]} if "notes" in record else {}
        write(self.path / "run.json", canonical({**record, **notes}))

    def write_result(self, result: Result) -> None:
        """Write ``result.json``."""
        write(self.path / "result.json", results.to_bytes(result))

    def ledger(self, label: str, fingerprint: str, texts: Sequence[Text]) -> Ledger:
        """Open what earlier starts of this run have encoded by one encoder."""
        return Ledger(self.path / ENCODING / f"{content_hash([label, fingerprint])}.json", fingerprint, texts)

    def forget_encoding(self) -> None:
        """Remove what is remembered for a restart: the run is finished."""
        for path in (self.path / ENCODING).glob("*.json"):
            path.unlink(missing_ok=True)
        with suppress(OSError):
            (self.path / ENCODING).rmdir()

    def save(self, scores: ItemScores) -> None:
        """Keep the scores of one encoder, corpus and diagnostic."""
        arrays: dict[str, Any] = {f"labels.{k}": v for k, v in scores.labels.items()}
        arrays |= {f"values.{k}": v for k, v in scores.values.items()}
        arrays |= {"item": scores.item, "unit": scores.unit}
        if any(np.asarray(array).dtype.hasobject for array in arrays.values()):
            raise ValueError("scores must be arrays of numbers and strings, not of Python objects")
        head = {"embassay": __version__, "measure": scores.measure, **_identity(scores.origin)}
        head["scalars"] = dict(scores.scalars)
        buffer = io.BytesIO()
        np.savez_compressed(buffer, head=np.array(json.dumps(head)), **arrays)
        write(self._file(scores.origin), buffer.getvalue())

    def load(self, origin: Origin) -> ItemScores | None:
        """Return the kept scores; None when there are none, or when they are of something else."""
        try:
            with np.load(io.BytesIO(self._file(origin).read_bytes()), allow_pickle=False) as kept:
                arrays = dict(kept)
                head = dict(json.loads(str(arrays.pop("head"))))
        except (OSError, ValueError, TypeError, KeyError, EOFError, AttributeError, zipfile.BadZipFile, zlib.error):
            return None
        measure, scalars = head.pop("measure", ""), head.pop("scalars", {})
        if head != {"embassay": __version__, **_identity(origin)}:
            return None
        groups = {
            group: {k.partition(".")[2]: v for k, v in arrays.items() if k.startswith(f"{group}.")}
            for group in ("labels", "values")
        }
        if not {"item", "unit"} <= arrays.keys():
            return None
        return ItemScores(origin, measure, arrays["item"], arrays["unit"], **groups, scalars=scalars)

    def _file(self, origin: Origin) -> Path:
        words = (origin.diagnostic, origin.corpus, origin.encoder)
        slug = ".".join(re.sub(r"[^A-Za-z0-9_-]+", "_", word)[:40] for word in words)
        return self.path / "scores" / f"{slug}.{content_hash(_identity(origin))[:8]}.npz"

    def _is_foreign(self) -> bool:
        """Say whether the folder holds something that no run of ours has left there.

        Without a record of ours it may be empty, or hold what an interrupted write leaves: a damaged ``run.json``
        with nothing strange beside it.
        """
        try:
            names = {p.name for p in self.path.iterdir() if p.suffix != ".part"} if self.path.exists() else set()
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be used as a folder: {error.strerror}") from None
        return bool(names) and not self.record() and not (names <= OURS and self._is_damaged())

    def _is_damaged(self) -> bool:
        try:
            json.loads((self.path / "run.json").read_bytes())
        except (ValueError, RecursionError):
            return True
        except OSError:
            return False
        return False

    def _clear(self) -> None:
        known = [self.path / name for name in OURS - {"scores", ENCODING}]
        for path in (*known, *(self.path / "scores").glob("*.npz")):
            path.unlink(missing_ok=True)
        self.forget_encoding()


def _sound(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record without what is damaged in it: a report can be drawn, and a run goes on, without that."""
    sound = _fitting(record, RECORD)
    if "encoders" in sound:
        known = {label: kept for label, kept in sound["encoders"].items() if isinstance(kept, dict)}
        sound["encoders"] = {label: _fitting(kept, ENCODER) for label, kept in known.items()}
    return sound


def _finite(written: str) -> float | None:
    """Return a number; None for one that is too large, which could not be written again."""
    return number if math.isfinite(number := float(written)) else None


def _fitting(values: Mapping[str, Any], schemas: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the values that fit their schema; those that have none are not looked at."""
    return {name: value for name, value in values.items() if name not in schemas or _fits(value, schemas[name])}


def _fits(value: Any, rules: Mapping[str, Any]) -> bool:
    try:
        Schema(rules, {}).check(value)
    except SchemaError:
        return False
    return True


def _identity(origin: Origin) -> dict[str, Any]:
    """Return what makes scores what they are; what an encoder is compared as does not."""
    return {name: value for name, value in asdict(origin).items() if name not in ("baseline", "reference")}


def _changed(record: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """Name the settings that differ from a record's, and the encoders that joined or left."""
    before = record.get("settings") or {}
    now = json.loads(canonical(settings))
    names = [name for name, value in now.items() if before.get(name) != value]
    told = [f"{name}{_moved(before.get(name), now[name])}" if name == "encoders" else name for name in names]
    return ", ".join(told) or "another version of embassay"


def _moved(before: Any, now: Sequence[Sequence[Any]]) -> str:
    """Say which encoders are there that were not, and which were there that are not."""
    were, are = _labels(before), _labels(now)
    new, gone = [label for label in are if label not in were], [label for label in were if label not in are]
    parts = [f"{what} {', '.join(labels)}" for what, labels in (("new:", new), ("not now:", gone)) if labels]
    return f" – {'; '.join(parts)}" if parts else ""


def _labels(encoders: Any) -> list[str]:
    """Return the labels in a record's list of encoders, which may be damaged."""
    entries = encoders if isinstance(encoders, list) else []
    return [entry[0] for entry in entries if isinstance(entry, list) and entry and isinstance(entry[0], str)]


def _may_go_on(record: Mapping[str, Any], settings: Mapping[str, Any]) -> bool:
    """Say whether a run of other settings may go on all the same.

    It may where only the code of diagnostics differs, whose scores are kept by their version, or the content of
    encoders that had failed.
    """
    noted = [failure for failure in record.get("failures") or () if isinstance(failure, dict)]
    failed = {failure.get("encoder") for failure in noted if not failure.get("diagnostic")}

    def but_for_code(side: Mapping[str, Any]) -> dict[str, Any]:
        encoders = [
            [label, spec, *([] if label in failed else rest)] for label, spec, *rest in side.get("encoders", ())
        ]
        return {**side, "encoders": encoders, "diagnostics": [task for task, _ in _versions(side)]}

    if record.get("embassay") != __version__:
        return False
    try:
        return but_for_code(record["settings"]) == but_for_code(json.loads(canonical(settings)))
    except (AttributeError, KeyError, TypeError, ValueError):
        return False  # a damaged record


def _changed_code(record: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the diagnostics whose code has another version than in a record."""
    both = zip(_versions(record["settings"]), _versions(json.loads(canonical(settings))), strict=True)
    return tuple(dict.fromkeys(task[0] for (_, before), (task, now) in both if before != now))


def _versions(settings: Mapping[str, Any]) -> list[tuple[list[Any], str]]:
    """Return each task of a run (diagnostic, options, corpus) with the version of the diagnostic's code."""
    return [([name, *rest], version) for name, version, *rest in settings.get("diagnostics", ())]
