"""The folder of a trained model, and the working folder beside it during the training.

While ``DIR/finetuned`` is being trained, ``DIR/finetuned.training`` holds the checkpoints. The model is written there
completely and then renamed, so a model's folder is there whole or not at all. A record in it (``training.json``,
``words.json`` …) says what was trained, so that the same training is not repeated and another one is not overwritten.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from embassay._version import __version__
from embassay.core.errors import OutputError
from embassay.core.store.canonical import canonical, replace_folder, write
from embassay.core.store.partial_files import names_in
from embassay.core.types import JsonObject

RECORD = "training.json"
"""The record of a sentence encoder."""
RECORDS = (RECORD, "words.json", "paragraphs.json", "urae.json")
ASKED = "asked.json"
"""The file in the working folder that says what is being trained."""


class ModelFolder:
    """The folder of one training: call ``open``, train with checkpoints in ``work``, then call ``finish``.

    Parameters
    ----------
    record
        One of :data:`RECORDS`.
    identity
        Everything that determines the trained model, as JSON values by name: settings, base or text.
    made_with
        Versions of the libraries by name. A checkpoint made with other versions is not used; a finished model is.
    """

    def __init__(self, path: Path, record: str, identity: Mapping[str, object], made_with: Mapping[str, str]):
        self.path = path
        # A link stays where it is, and what it leads to is replaced.
        self._place = path.resolve()
        self.work = self._place.parent / f"{self._place.name}.training"
        self.identity = as_stored(identity)
        self._record = record
        self._made_with = {"embassay": __version__, **made_with}

    def open(self, overwrite: bool = False) -> bool:
        """Make the working folder, or continue in it; return whether the finished model already exists.

        Raises
        ------
        OutputError
            If a folder cannot be written to, contains other files, or (without ``overwrite``) contains a training with
            other settings or data.
        """
        model = record_in(self.path)
        begun = read_json(self.work / ASKED)
        for folder, record in ((self.path, model), (self.work, begun)):
            if not record and names_in(folder):
                command = "embassay adapt" if self._record == RECORD else "embassay train"
                raise OutputError(
                    f"{folder}: is not empty and was not written by {command}; choose another folder with -o"
                )
        if model and not overwrite and not self._changes(model):
            self._remove_work()
            return True
        for folder, record in ((self.path, model), (self.work, begun)):
            if record and not overwrite and (changes := self._changes(record)):
                raise OutputError(
                    f"{folder}: contains a training with other settings (different: {changes}); choose another folder "
                    "with -o, or pass --overwrite"
                )
        check_files(self.path)
        # A finished model is renamed to its place, which these folders do not allow or do not show.
        if Path.cwd().is_relative_to(self._place) or self._place.is_mount():
            raise OutputError(
                f"{self.path}: is the current folder, contains it or is a mounted volume; choose another folder with -o"
            )
        asked = {"asked": self.identity, "made_with": self._made_with}
        try:
            if begun != asked:
                self._remove_work()
            self.work.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{self.work}: cannot be created: {error.strerror}") from None
        write(self.work / ASKED, canonical(asked))
        return False

    def finish(self, write_model: Callable[[Path], object], facts: Mapping[str, object]) -> None:
        """Write the model and its record with the names of its files, put the folder in place, remove the working one.

        Parameters
        ----------
        write_model
            Writes the model into the folder that is passed to it.

        Raises
        ------
        OutputError
            If the folder cannot be written to.
        """
        new = self.work / "model"
        try:
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir()
            write_model(new)
            files = sorted(path.name for path in new.iterdir())
            record = {**facts, "files": files, "made_with": self._made_with, "format": 1}
            write(new / self._record, canonical(record))
            replace_folder(new, self._place)
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be written: {error.strerror or error}") from None
        self._remove_work()

    def _remove_work(self) -> None:
        """Remove the working folder."""
        # What names it comes last: after a kill in between, the same command still knows the folder.
        for folder in self.work.glob("*/"):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(self.work, ignore_errors=True)

    def _changes(self, record: JsonObject) -> str:
        """Return the names of the settings that differ between a record and this training; empty if none does."""
        before = record.get("asked", record)
        if not isinstance(before, dict):
            before = {}  # damaged, so all settings differ
        names = before.keys() & {"kind", "stage", *self.identity}
        return differences(_flat({name: before[name] for name in names}), _flat(self.identity))


def check_files(folder: Path) -> None:
    """Refuse a folder whose content would be lost with its model: files that the model's record does not list.

    Raises
    ------
    OutputError
        If there are such files. A folder without a model has none, nor one whose record lists no files.
    """
    files = record_in(folder).get("files")
    if not isinstance(files, list):
        return
    foreign = names_in(folder) - {*map(str, files), *RECORDS}
    if foreign:
        raise OutputError(
            f"{folder}: contains files that are not of the model ({', '.join(sorted(foreign))}); move them, or "
            "choose another folder with -o"
        )


def record_in(folder: Path) -> JsonObject:
    """Return the record of the trained model in a folder; empty if there is none."""
    return next(filter(None, (read_json(folder / name) for name in RECORDS)), {})


def read_json(path: Path) -> JsonObject:
    """Return the JSON object in a file; empty if the file is missing, damaged or contains something else."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def as_stored(record: Mapping[str, object]) -> JsonObject:
    """Return a record as it reads back from its file: floats rounded, tuples as lists."""
    stored: JsonObject = json.loads(canonical(record))
    return stored


def differences(before: Mapping[str, object], now: Mapping[str, object]) -> str:
    """Return the names whose values differ between two records, sorted and joined by commas; empty if none does."""
    names = sorted({*before, *now})
    return ", ".join(name for name in names if before.get(name) != now.get(name))


def _flat(identity: JsonObject) -> JsonObject:
    """Return a record with the settings merged into its other values."""
    flat = dict(identity)
    settings = flat.get("settings")
    if isinstance(settings, dict):
        del flat["settings"]
        flat |= settings
    return flat
