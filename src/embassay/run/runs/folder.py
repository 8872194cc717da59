"""A run's folder: ``run.json``, ``scores/``, ``result.json``, ``values.npz``, ``items.json``, ``report.html``.

``run.json`` is written first (running) and last (finished), so a run that it calls finished is complete. Scores are
stored in one file per encoder, corpus and diagnostic; a later command in the same folder reuses them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay._version import __version__
from embassay.core.columns import FILE as VALUES
from embassay.core.columns import ItemColumn, write_columns
from embassay.core.errors import OutputError, one_line
from embassay.core.plugins import FORMATS
from embassay.core.result import Result
from embassay.core.store.arrays import read_arrays, write_arrays
from embassay.core.store.canonical import canonical, write
from embassay.core.store.files import LISTS
from embassay.core.store.partial_files import names_in, remove_left_overs
from embassay.core.types import ItemScores, JsonObject, Origin, content_hash
from embassay.run.runs import results
from embassay.run.runs.items import FILE as ITEMS
from embassay.run.runs.items import Texts, write_texts
from embassay.run.runs.record import (
    RunRecord,
    RunSettings,
    as_written,
    changed_code,
    differences,
    may_go_on,
    read_record,
)

RECORD = "run.json"
FILES = (RECORD, "result.json", VALUES, ITEMS, "report.html", "report.md")


class RunFolder:
    """The folder of one run."""

    def __init__(self, path: Path):
        """Set the path of the folder; nothing is created or read yet."""
        self.path = path
        self.report = path / "report.html"

    def open(self, settings: RunSettings, overwrite: bool = False) -> tuple[str, ...]:
        """Create the folder, or continue the run that it holds, perhaps with encoders or corpora added.

        Returns
        -------
        tuple of str
            The diagnostics whose code has changed since. Their scores are not reused.

        Raises
        ------
        OutputError
            If the folder cannot be written to, holds another run and ``overwrite`` is false, or holds files that are
            not from Embassay.
        """
        key = content_hash([settings, __version__])
        settings = as_written(settings)
        record = self.record()
        self._check_ours(record)
        for place in (self.path, self.path / "scores", self.path / LISTS):
            remove_left_overs(place)
        changed: tuple[str, ...] = ()
        if overwrite:
            self._clear()
            record = {}
        # A run with the same key is simply resumed.
        elif record and record["key"] != key:
            if not may_go_on(record, settings):
                changes = differences(record, settings)
                raise OutputError(
                    f"{self.path}: contains a run with different settings ({changes}); "
                    "choose another folder with -o, or --overwrite"
                )
            changed = changed_code(record, settings)
        record["key"] = key
        record["settings"] = settings
        record["state"] = "running"
        record["embassay"] = __version__
        self.write_record(record)
        return changed

    def record(self) -> RunRecord:
        """Return the content of ``run.json`` without its damaged parts; an empty record if there is none."""
        return read_record(self.path / "run.json")

    def write_record(self, record: RunRecord) -> None:
        """Write ``run.json`` with each note on one line."""
        if "notes" in record:
            record = {**record, "notes": [one_line(note) for note in record["notes"]]}
        write(self.path / "run.json", canonical(record))

    def write_result(self, result: Result) -> None:
        """Write ``result.json``."""
        write(self.path / "result.json", results.to_bytes(result))

    def save(self, scores: ItemScores) -> None:
        """Store the scores of one encoder, corpus and diagnostic.

        The arrays ``item``, ``unit``, ``labels.NAME`` and ``values.NAME`` go into one .npz file. Its array ``head`` is
        a JSON text with everything that is not an array.
        """
        arrays: dict[str, Any] = {"item": scores.item, "unit": scores.unit}
        if len(scores.unit_labels):
            arrays["unit_labels"] = scores.unit_labels
        for name, labels in scores.labels.items():
            arrays[f"labels.{name}"] = labels
        for name, values in scores.values.items():
            arrays[f"values.{name}"] = values
        for array in arrays.values():
            # Such an array could only be read with pickle, which may run any code.
            if np.asarray(array).dtype.hasobject:
                raise ValueError("scores must be arrays of numbers and strings, not of Python objects")
        head = {
            "embassay": __version__,
            "similarity_function": scores.similarity_function,
            "scalars": dict(scores.scalars),
            **_identity(scores.origin),
        }
        write_arrays(self._scores_path(scores.origin), {"head": np.array(json.dumps(head)), **arrays})

    def load(self, origin: Origin) -> ItemScores | None:
        """Return the stored scores; None if there are none, if they are damaged or of another origin or version."""
        stored = _read_scores(self._scores_path(origin))
        if stored is None:
            return None
        version, scores = stored
        # Scores of another origin or version are computed again.
        if version != __version__ or _identity(scores.origin) != _identity(origin):
            return None
        return replace(scores, origin=origin)

    def write_items(self, columns: Iterable[ItemColumn], texts: Texts) -> None:
        """Write the item values of the metrics, and the texts of the items where they are stored."""
        write_columns(self.path, columns)
        (self.path / ITEMS).unlink(missing_ok=True)
        if texts:
            write_texts(self.path, texts)

    def stored(self, *, any_version: bool = False) -> Iterator[ItemScores]:
        """Yield all scores in the folder that this version wrote, in the order of their file names.

        Parameters
        ----------
        any_version
            Yield also those that another version of embassay wrote.
        """
        for path in sorted((self.path / "scores").glob("*.npz")):
            stored = _read_scores(path)
            if stored is None:
                # A damaged file: the run computes its scores again, and here they are missing.
                continue
            version, scores = stored
            # A file under another name is a copy, or of a development version.
            if path != self._scores_path(scores.origin):
                continue
            if any_version or version == __version__:
                yield scores

    def _scores_path(self, origin: Origin) -> Path:
        """Return the file of the scores of one encoder, corpus and diagnostic; what has changed replaces it."""
        names = (origin.diagnostic, origin.corpus, origin.encoder)
        parts = [re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:40] for name in names]
        # The names are for people; the hash tells those apart whose shortened names are equal.
        return self.path / "scores" / f"{'.'.join(parts)}.{content_hash(names)[:8]}.npz"

    def _check_ours(self, record: RunRecord) -> None:
        """Raise OutputError if the folder holds files, but no run."""
        if names_in(self.path) and not record:
            raise OutputError(f"{self.path}: is not empty and not an Embassay run; choose another folder with -o")

    def _clear(self) -> None:
        """Remove the files of a run, and the files with a suffix in the folders of its exports, whoever made them.

        Folders stay, and so do all other files.
        """
        for name in FILES:
            if name != RECORD:
                (self.path / name).unlink(missing_ok=True)
        for path in (*(self.path / "scores").glob("*.npz"), *(self.path / LISTS).glob("*.npz")):
            path.unlink(missing_ok=True)
        # Tables and figures of the run before would pass for those of the next.
        # The folder that 'embassay report --format' writes by default has the name of the format.
        for folder in (name.replace("_", "-") for name in FORMATS.names()):
            # Every exported file has a suffix.
            for path in (self.path / folder).glob("*.*"):
                if not path.is_dir():
                    path.unlink(missing_ok=True)
        # Last, because without it the folder is not known as that of a run.
        (self.path / RECORD).unlink(missing_ok=True)


def _read_scores(path: Path) -> tuple[str, ItemScores] | None:
    """Return the scores in a file, and the version that wrote them; None if there is no file or if it is damaged."""
    arrays = read_arrays(path)
    try:
        head = json.loads(str(arrays.pop("head")))
        version = str(head.pop("embassay"))
        parts = tuple(head.pop("parts", ()))
        scores = ItemScores(
            similarity_function=head.pop("similarity_function"),
            item=arrays["item"],
            unit=arrays["unit"],
            labels=_group(arrays, "labels."),
            values=_group(arrays, "values."),
            scalars=head.pop("scalars"),
            unit_labels=arrays.get("unit_labels", np.zeros((0, 2), dtype=np.int64)),
            # What remains of the head are the fields of the origin.
            origin=Origin(**head, parts=parts),
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        # Scores that are missing or damaged are computed again from the cached vectors.
        return None
    return version, scores


def _group(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """Return the arrays whose names begin with a prefix, by what follows it."""
    group = {}
    for name, array in arrays.items():
        if name.startswith(prefix):
            group[name.removeprefix(prefix)] = array
    return group


def _identity(origin: Origin) -> JsonObject:
    """Return the fields of an origin that identify its scores.

    Whether the encoder is a baseline, or the reference of the comparisons, does not affect its scores.
    """
    identity = asdict(origin)
    del identity["baseline"], identity["reference"]
    # Left out where they are empty, so that scores stored before these fields existed are still found.
    for name in ("route", "group", "published", "parts", "step"):
        if not identity[name]:
            del identity[name]
    return identity
