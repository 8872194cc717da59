"""A run's folder: ``run.json``, ``scores/``, ``result.json``, ``report.html``.

``run.json`` is written first (running) and last (finished): what it calls finished is whole. Scores are kept one file
for each encoder, corpus and diagnostic; a run of the same settings takes them up again.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from embassay._version import __version__
from embassay.errors import OutputError
from embassay.result import Result
from embassay.store import results
from embassay.store.canonical import canonical, write
from embassay.types import ItemScores, Origin, content_hash

OURS = {"run.json", "result.json", "report.html", "scores"}


class RunFolder:
    """The folder of one run."""

    def __init__(self, path: Path):
        """Name the folder; nothing is made or read yet."""
        self.path = path
        self.report = path / "report.html"

    def open(self, settings: Mapping[str, Any], overwrite: bool = False) -> None:
        """Make the folder, or take up the run of the same settings that it holds.

        Raises
        ------
        OutputError
            If it cannot be written to, holds another run (and not ``overwrite``), or is not ours.
        """
        key = content_hash([settings, __version__])
        record = self.record()
        if self._is_foreign():
            raise OutputError(f"{self.path}: not empty and not a run of embassay; choose another folder with -o")
        if overwrite:
            self._clear()
        elif record and record["key"] != key and not _only_mended(record, settings):
            raise OutputError(
                f"{self.path}: holds a run of other settings ({_changed(record, settings)}); "
                "choose another folder with -o, or --overwrite"
            )
        self.write_record({**self.record(), "key": key, "settings": settings, "state": "running"})

    def record(self) -> dict[str, Any]:
        """Return what ``run.json`` says; empty when there is none."""
        try:
            data = json.loads((self.path / "run.json").read_bytes())
        except (OSError, ValueError):
            return {}
        return data if isinstance(data, dict) and "key" in data else {}

    def write_record(self, record: Mapping[str, Any]) -> None:
        """Write ``run.json``."""
        write(self.path / "run.json", canonical(record))

    def write_result(self, result: Result) -> None:
        """Write ``result.json``."""
        write(self.path / "result.json", results.to_bytes(result))

    def save(self, scores: ItemScores) -> None:
        """Keep the scores of one encoder, corpus and diagnostic."""
        arrays: dict[str, Any] = {f"labels.{k}": v for k, v in scores.labels.items()}
        arrays |= {f"values.{k}": v for k, v in scores.values.items()}
        arrays |= {"item": scores.item, "unit": scores.unit}
        head = {"version": __version__, "measure": scores.measure, **_identity(scores.origin)}
        head["scalars"] = dict(scores.scalars)
        buffer = io.BytesIO()
        np.savez_compressed(buffer, head=np.array(json.dumps(head)), **arrays)
        write(self._file(scores.origin), buffer.getvalue())

    def load(self, origin: Origin) -> ItemScores | None:
        """Return the kept scores; None when there are none, or when they are of something else."""
        try:
            with np.load(io.BytesIO(self._file(origin).read_bytes()), allow_pickle=False) as kept:
                arrays = dict(kept)
                head = json.loads(str(arrays.pop("head")))
        except (OSError, ValueError, KeyError, EOFError, AttributeError, zipfile.BadZipFile, zlib.error):
            return None
        measure, scalars = head.pop("measure", ""), head.pop("scalars", {})
        if head != {"version": __version__, **_identity(origin)}:
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
        except ValueError:
            return True
        except OSError:
            return False
        return False

    def _clear(self) -> None:
        known = [self.path / name for name in OURS - {"scores"}]
        for path in (*known, *(self.path / "scores").glob("*.npz")):
            path.unlink(missing_ok=True)


def _identity(origin: Origin) -> dict[str, Any]:
    """Return what makes scores what they are; whether an encoder joined as a baseline does not."""
    return {name: value for name, value in asdict(origin).items() if name != "baseline"}


def _changed(record: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """Name the settings that differ from a record's, and the encoders that joined or left."""
    before = record.get("settings") or {}
    now = json.loads(canonical(settings))
    names = [name for name, value in now.items() if before.get(name) != value]
    told = [f"{name}{_moved(before.get(name), now[name])}" if name == "encoders" else name for name in names]
    return ", ".join(told) or "another version of embassay"


def _moved(before: Any, now: Sequence[Sequence[Any]]) -> str:
    """Say which encoders are there that were not, and which were there that are not."""
    were, are = ([entry[0] for entry in side or ()] for side in (before, now))
    new, gone = [label for label in are if label not in were], [label for label in were if label not in are]
    parts = [f"{what} {', '.join(labels)}" for what, labels in (("new:", new), ("not now:", gone)) if labels]
    return f" – {'; '.join(parts)}" if parts else ""


def _only_mended(record: Mapping[str, Any], settings: Mapping[str, Any]) -> bool:
    """Say whether nothing has changed but the content of encoders that had failed, so that the run may go on."""
    failed = set(record.get("failures") or ())

    def but_for_failed(side: Mapping[str, Any]) -> dict[str, Any]:
        encoders = [[label, spec, *([] if label in failed else rest)] for label, spec, *rest in side["encoders"]]
        return {**side, "encoders": encoders}

    if not failed or record.get("embassay") != __version__:
        return False
    return but_for_failed(record["settings"]) == but_for_failed(json.loads(canonical(settings)))
