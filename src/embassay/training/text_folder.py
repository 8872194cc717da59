"""The folder of a training on a text: its checkpoint during the training, then its model.

The folder contains ``checkpoint.npz`` during the training. The finished model is ``KIND.json`` with the files that it
names; ``KIND.json`` is written last, so the files that it names are complete. Nothing is pickled.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from embassay._version import __version__
from embassay.errors import OutputError
from embassay.store.canonical import canonical, write, write_with
from embassay.store.paths import output_path
from embassay.training.folders import as_stored, differences, names_in, read_json
from embassay.training.text import Sentences
from embassay.types import JsonObject

KINDS = ("words", "paragraphs", "urae")
CHECKPOINT = "checkpoint.npz"
DAMAGED = (OSError, ValueError, KeyError, EOFError, AttributeError, zipfile.BadZipFile, zlib.error)
"""Errors that reading a damaged checkpoint may raise."""
Arrays = Mapping[str, np.ndarray]
Writer = Callable[[BinaryIO], object]


class TrainingFolder:
    """The folder of one training.

    Call ``open`` (True: the same model already exists), ``resume``, ``keep`` after each epoch, ``finish`` at the end.

    Parameters
    ----------
    kind
        One of :data:`KINDS`: the encoder's scheme.
    settings
        All options as JSON values. Together with the text they determine the model.
    made_with
        Versions of the libraries by name. A checkpoint made with other versions is not used; a finished model is.
    """

    def __init__(
        self, path: Path, kind: str, settings: Mapping[str, object], text: Sentences, made_with: Mapping[str, str]
    ):
        self.path = output_path(path)
        self.kind = kind
        self._identity = as_stored(
            {"kind": kind, "settings": settings, "text": text.sha256, "sentences": len(text.sentences)}
        )
        self._made_with = {"embassay": __version__, **made_with}

    def open(self, overwrite: bool = False) -> bool:
        """Make the folder, or continue in it; return whether it already contains this finished model.

        Raises
        ------
        OutputError
            If it cannot be written to, contains other files, or (without ``overwrite``) contains another model.
        """
        model, checkpoint = self._model(), self._checkpoint_head()
        if names_in(self.path) - {CHECKPOINT} and not model and not checkpoint:
            raise OutputError(
                f"{self.path}: is not empty and was not written by embassay train; choose another folder with -o"
            )
        if self._is_of_this(model) and not overwrite:
            # A training that was killed between its last two writes leaves a checkpoint beside the finished model.
            (self.path / CHECKPOINT).unlink(missing_ok=True)
            return True
        for record in (model, checkpoint):
            if record and not self._is_of_this(record) and not overwrite:
                raise OutputError(
                    f"{self.path}: contains a model with other settings (different: {self._changes(record)}); "
                    "choose another folder with -o, or pass --overwrite"
                )
        if model:
            # The record is removed first, so that a partly removed model never looks complete.
            for name in (f"{model['kind']}.json", *map(str, model.get("files", ()))):
                (self.path / Path(name).name).unlink(missing_ok=True)
        # A training that was killed while writing leaves a partial file.
        for partial in self.path.glob(".*.part"):
            partial.unlink(missing_ok=True)
        # An empty checkpoint marks the folder as one of this training before the first epoch is done.
        if not self._continues(checkpoint):
            self.keep(0, {})
        return False

    def resume(self) -> tuple[int, dict[str, np.ndarray]]:
        """Return the number of finished epochs and the arrays after the last one; (0, {}) without a checkpoint."""
        head = self._checkpoint_head()
        if not self._continues(head):
            return 0, {}
        try:
            with (self.path / CHECKPOINT).open("rb") as file, np.load(file, allow_pickle=False) as kept:
                return int(head["epochs"]), {name: kept[name] for name in kept if name != "head"}
        except DAMAGED:
            # A checkpoint that cannot be read costs only the epochs that it had: training starts again.
            return 0, {}

    def keep(self, epochs: int, arrays: Arrays) -> None:
        """Write the checkpoint after an epoch atomically.

        Raises
        ------
        OutputError
            If the folder cannot be written to.
        """
        head = json.dumps({**self._identity, "made_with": self._made_with, "epochs": epochs})
        content: dict[str, Any] = {"head": np.array(head), **arrays}
        write_with(self.path / CHECKPOINT, lambda file: np.savez(file, **content))

    def finish(self, files: Mapping[str, Writer], facts: Mapping[str, object]) -> None:
        """Write the model's files, then ``KIND.json`` with the settings and these facts; remove the checkpoint.

        Raises
        ------
        OutputError
            If the folder cannot be written to.
        """
        for name, writer in files.items():
            write_with(self.path / name, writer)
        record = {
            **facts,
            **self._identity,
            "format": 1,
            "made_with": self._made_with,
            "files": sorted(files),
        }
        # The record is written after the files that it names, and only then is the checkpoint no longer needed.
        write(self.path / f"{self.kind}.json", canonical(record))
        (self.path / CHECKPOINT).unlink(missing_ok=True)

    def _model(self) -> JsonObject:
        """Return the record of the finished model in the folder, of any kind; empty if there is none."""
        for kind in KINDS:
            record = read_json(self.path / f"{kind}.json")
            if record.get("kind") == kind:
                return record
        return {}

    def _checkpoint_head(self) -> JsonObject:
        """Return the identity, versions and epochs of the checkpoint; empty if there is none or it is damaged."""
        try:
            with (self.path / CHECKPOINT).open("rb") as file, np.load(file, allow_pickle=False) as kept:
                head = json.loads(str(kept["head"]))
        except DAMAGED:
            return {}
        return head if isinstance(head, dict) else {}

    def _is_of_this(self, record: Mapping[str, object]) -> bool:
        """Return whether a record belongs to this training."""
        return all(record.get(name) == value for name, value in self._identity.items())

    def _continues(self, head: Mapping[str, object]) -> bool:
        """Return whether this training can resume from a checkpoint."""
        return self._is_of_this(head) and head.get("made_with") == self._made_with

    def _changes(self, record: JsonObject) -> str:
        """Return what differs between a record and this training."""
        if record.get("kind") != self.kind:
            return f"kind {record.get('kind')}"
        settings = record.get("settings") or {}
        changes = [differences(settings, self._identity["settings"])]
        if record.get("text") != self._identity["text"]:
            changes.append("text")
        return ", ".join(filter(None, changes))


def array(values: np.ndarray) -> Writer:
    """Return a function that writes an array as ``.npy``."""
    return lambda file: np.save(file, values, allow_pickle=False)
