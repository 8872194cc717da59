"""The folder of a training on a text: its checkpoint while it lasts, then its model.

The folder holds ``checkpoint.npz`` during the training. The finished model is ``KIND.json`` with the files that it
names; ``KIND.json`` is written last, so that what it names is whole. Nothing is a pickle.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from embassay._version import __version__
from embassay.errors import OutputError
from embassay.store.canonical import canonical, write, write_with
from embassay.store.paths import output_path
from embassay.training.folders import as_stored, differences, names_in, read_json
from embassay.training.text import Sentences

KINDS = ("words", "paragraphs", "urae")
CHECKPOINT = "checkpoint.npz"
DAMAGED = (OSError, ValueError, KeyError, EOFError, AttributeError, zipfile.BadZipFile, zlib.error)
"""What reading a damaged checkpoint may raise."""
Arrays = Mapping[str, NDArray[Any]]
Writer = Callable[[BinaryIO], object]


class TrainingFolder:
    """The folder that one training writes.

    Call ``open`` (True: the same model is there already), ``resume``, ``keep`` after each epoch, ``finish`` at the end.

    Parameters
    ----------
    kind
        One of :data:`KINDS`: the encoder's scheme.
    settings
        All options as JSON values. With the text they determine the model.
    made_with
        Versions of the libraries by name. A checkpoint made with other versions is not used; a finished model is.
    """

    def __init__(
        self, path: Path, kind: str, settings: Mapping[str, Any], text: Sentences, made_with: Mapping[str, str]
    ):
        self.path = output_path(path)
        self.kind = kind
        self._identity = as_stored(
            {"kind": kind, "settings": settings, "text": text.sha256, "sentences": len(text.sentences)}
        )
        self._made_with = {"embassay": __version__, **made_with}

    def open(self, overwrite: bool = False) -> bool:
        """Make the folder, or continue in it; return whether it holds this very model, finished.

        Raises
        ------
        OutputError
            If it cannot be written to, holds other files, or holds another model (and not ``overwrite``).
        """
        model, checkpoint = self._model(), self._checkpoint_head()
        if names_in(self.path) - {CHECKPOINT} and not model and not checkpoint:
            raise OutputError(f"{self.path}: not empty and not a model of embassay; choose another folder with -o")
        if self._is_of_this(model) and not overwrite:
            # A training that was killed between its last two writes leaves a checkpoint beside the finished model.
            (self.path / CHECKPOINT).unlink(missing_ok=True)
            return True
        for record in (model, checkpoint):
            if record and not self._is_of_this(record) and not overwrite:
                raise OutputError(
                    f"{self.path}: holds a model of other settings ({self._changes(record)}); "
                    "choose another folder with -o, or --overwrite"
                )
        if model:
            # The record goes first, so that no half-removed model looks whole.
            for name in (f"{model['kind']}.json", *map(str, model.get("files", ()))):
                (self.path / Path(name).name).unlink(missing_ok=True)
        # A training that was killed while it wrote leaves half a file.
        for partial in self.path.glob(".*.part"):
            partial.unlink(missing_ok=True)
        # An empty checkpoint marks the folder as one of this training before the first epoch is done.
        if not self._continues(checkpoint):
            self.keep(0, {})
        return False

    def resume(self) -> tuple[int, dict[str, NDArray[Any]]]:
        """Return how many epochs are done and the arrays after the last; (0, {}) if the training has to begin."""
        head = self._checkpoint_head()
        if not self._continues(head):
            return 0, {}
        try:
            with (self.path / CHECKPOINT).open("rb") as file, np.load(file, allow_pickle=False) as kept:
                return int(head["epochs"]), {name: kept[name] for name in kept if name != "head"}
        except DAMAGED:
            return 0, {}

    def keep(self, epochs: int, arrays: Arrays) -> None:
        """Write the checkpoint after an epoch, whole or not at all.

        Raises
        ------
        OutputError
            If the place cannot be written to.
        """
        head = json.dumps({**self._identity, "made_with": self._made_with, "epochs": epochs})
        content: dict[str, Any] = {"head": np.array(head), **arrays}
        write_with(self.path / CHECKPOINT, lambda file: np.savez(file, **content))

    def finish(self, files: Mapping[str, Writer], facts: Mapping[str, Any]) -> None:
        """Write the model's files, then ``KIND.json`` with the settings and these facts; remove the checkpoint.

        Raises
        ------
        OutputError
            If the place cannot be written to.
        """
        for name, writer in files.items():
            write_with(self.path / name, writer)
        record = {**facts, **self._identity, "format": 1, "made_with": self._made_with, "files": sorted(files)}
        write(self.path / f"{self.kind}.json", canonical(record))
        (self.path / CHECKPOINT).unlink(missing_ok=True)

    def _model(self) -> dict[str, Any]:
        """Return the record of the finished model in the folder, of whatever kind; empty for none."""
        for kind in KINDS:
            record = read_json(self.path / f"{kind}.json")
            if record.get("kind") == kind:
                return record
        return {}

    def _checkpoint_head(self) -> dict[str, Any]:
        """Return the identity, versions and epochs of the checkpoint; empty if there is none or it is damaged."""
        try:
            with (self.path / CHECKPOINT).open("rb") as file, np.load(file, allow_pickle=False) as kept:
                head = json.loads(str(kept["head"]))
        except DAMAGED:
            return {}
        return head if isinstance(head, dict) else {}

    def _is_of_this(self, record: Mapping[str, Any]) -> bool:
        """Return whether a record is of this very training."""
        return all(record.get(name) == value for name, value in self._identity.items())

    def _continues(self, head: Mapping[str, Any]) -> bool:
        """Return whether this training can go on from a checkpoint."""
        return self._is_of_this(head) and head.get("made_with") == self._made_with

    def _changes(self, record: Mapping[str, Any]) -> str:
        """Return what differs between a record and this training."""
        if record.get("kind") != self.kind:
            return f"kind {record.get('kind')}"
        changes = [differences(record.get("settings") or {}, self._identity["settings"])]
        if record.get("text") != self._identity["text"]:
            changes.append("text")
        return ", ".join(filter(None, changes))


def array(values: NDArray[Any]) -> Writer:
    """Return a function that writes an array as ``.npy``."""
    return lambda file: np.save(file, values, allow_pickle=False)
