"""One training: a recipe and data make a folder.

``DIR`` holds the model and a record of what made it: the recipe, hashes of the data and the base. The same training is
not repeated, and another one is refused. Until the model is complete, ``DIR.training`` holds the checkpoints, from
which a training that was killed goes on. The model is written there and renamed, so it is there whole or not at all.
"""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import numpy as np

from embassay._version import __version__
from embassay.core.errors import OutputError
from embassay.core.store.arrays import read_arrays
from embassay.core.store.canonical import canonical, names_in, write, write_with
from embassay.core.types import JsonObject
from embassay.training.options import Recipe

Advance = Callable[[int, int], None]
"""Called with the progress of a training: the number of rows read so far and the total, over all epochs."""
Kind = Literal["words", "paragraphs", "urae", "pretraining", "finetuning"]
ON_TEXT: tuple[Kind, ...] = ("words", "paragraphs", "urae")
"""Trainings on a text. The record is then ``KIND.json``, which the encoder reads."""
RECORD = "training.json"
"""The record of a sentence encoder."""
BEGUN, CHECKPOINT = "begun.json", "checkpoint.npz"
"""The files in the working folder: what is trained, and the arrays after the last complete epoch."""
THERE = "this model was already trained; nothing was done"
R = TypeVar("R", bound="Recipe")


@dataclass(frozen=True)
class Trained:
    """The result of a training.

    Attributes
    ----------
    folder
        The model's folder.
    spec
        The encoder's spec, for example ``words:folder``.
    notes
        Assumptions and deviations from the request, one sentence each.
    """

    folder: Path
    spec: str
    notes: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The command line that assays the model."""
        return f"embassay run -e {shlex.quote(self.spec)}"


@dataclass(frozen=True)
class Stage(Generic[R]):
    """One training.

    Attributes
    ----------
    folder
        The model's folder.
    recipe
        The options of the training.
    made_from
        Everything else that determines the model, as JSON values by name: hashes of the text, of the base and the data.
    libraries
        The libraries that the weights depend on. A checkpoint made with other versions is not used; a model is.
    overwrite
        Replace another model in the folder.
    settings
        Options that are recorded otherwise than they were given.
    """

    folder: Path
    kind: Kind
    recipe: R
    made_from: Mapping[str, object]
    libraries: tuple[str, ...] = ()
    overwrite: bool = False
    settings: Mapping[str, object] = field(default_factory=dict)

    @cached_property
    def identity(self) -> JsonObject:
        """What determines the model, as it reads back from its file."""
        settings = {**asdict(self.recipe), **self.settings}
        # The same training on another device makes the same model.
        settings.pop("device", None)
        return as_stored({"kind": self.kind, "settings": settings, **self.made_from})

    @property
    def spec(self) -> str:
        """The spec of the model."""
        if self.kind in ON_TEXT:
            return f"{self.kind}:{self.folder}"
        text = self.folder.as_posix()
        # Without the dot, a folder would be mistaken for a model's name.
        return text if self.folder.is_absolute() or text.startswith("../") else f"./{text}"

    @property
    def work(self) -> Path:
        """The working folder."""
        return self._place.parent / f"{self._place.name}.training"

    @property
    def _place(self) -> Path:
        # A link stays where it is, and what it leads to is replaced.
        return self.folder.resolve()

    def trained(self, *notes: str) -> Trained:
        """Return the result of the training."""
        return Trained(self.folder, self.spec, notes)

    def record(self) -> JsonObject:
        """Return the record of the model in the folder, of whatever kind; empty if there is none."""
        return next(filter(None, (read_json(self.folder / name) for name in RECORDS)), {})

    def is_finished(self) -> bool:
        """Return whether the model is there. Nothing is written.

        Raises
        ------
        OutputError
            If the folder contains other files, or (without ``overwrite``) another training; if it cannot be replaced.
        """
        record, begun = self.record(), read_json(self.work / BEGUN)
        check_folder(self.folder, record, self.identity, self.overwrite)
        check_folder(self.work, begun.get("asked", {}), self.identity, self.overwrite)
        if record and not self.overwrite:
            return True
        foreign = names_in(self.folder) - {*map(str, record.get("files", ())), *RECORDS, "README.md"}
        if foreign:
            raise OutputError(
                f"{self.folder}: contains files that are not of the model ({', '.join(sorted(foreign))}); move them, "
                "or choose another folder with -o"
            )
        # A finished model is renamed to its place, which these folders do not allow or do not show.
        if Path.cwd().is_relative_to(self._place) or self._place.is_mount():
            raise OutputError(
                f"{self.folder}: is the current folder, contains it or is a mounted volume; choose another folder "
                "with -o"
            )
        return False

    def open(self) -> bool:
        """Make the working folder, or continue in it; return whether the model is there.

        Raises
        ------
        OutputError
            As :meth:`is_finished`, and if a folder cannot be written to.
        """
        if self.is_finished():
            self._remove_work()
            return True
        begun = {"asked": self.identity, "made_with": self._made_with()}
        if read_json(self.work / BEGUN) != begun:
            self._remove_work()
        write(self.work / BEGUN, canonical(begun))
        return False

    def resume(self) -> tuple[int, dict[str, np.ndarray]]:
        """Return the number of complete epochs and the arrays after the last one; (0, {}) without a checkpoint."""
        # A checkpoint that cannot be read costs only the epochs that it had: training starts again.
        arrays = read_arrays(self.work / CHECKPOINT)
        return int(arrays.pop("epochs", 0)), arrays

    def keep(self, epochs: int, arrays: Mapping[str, np.ndarray]) -> None:
        """Write the checkpoint after an epoch whole or not at all.

        Raises
        ------
        OutputError
            If the folder cannot be written to.
        """
        content: dict[str, Any] = {"epochs": np.array(epochs), **arrays}
        write_with(self.work / CHECKPOINT, lambda file: np.savez(file, **content))

    def finish(self, write_model: Callable[[Path], object], facts: Mapping[str, object]) -> None:
        """Write the model and its record, put the folder in place, remove the working one.

        Parameters
        ----------
        write_model
            Writes the model into the folder that is passed to it.

        Raises
        ------
        OutputError
            If the folder cannot be written to.
        """
        new, replaced = self.work / "model", self.work / "replaced"
        try:
            for left_over in (new, replaced):
                shutil.rmtree(left_over, ignore_errors=True)
            new.mkdir()
            write_model(new)
            files = sorted(path.name for path in new.iterdir())
            record = {**facts, **self.identity, "files": files, "made_with": self._made_with(), "format": 1}
            write(new / (f"{self.kind}.json" if self.kind in ON_TEXT else RECORD), canonical(record))
            # A folder cannot be renamed over another one that contains files.
            if self._place.exists():
                self._place.rename(replaced)
            new.rename(self._place)
        except OSError as error:
            raise OutputError(f"{self.folder}: cannot be written: {error.strerror or error}") from None
        self._remove_work()

    def _made_with(self) -> dict[str, str]:
        return {"embassay": __version__, **{name: version(name) for name in self.libraries}}

    def _remove_work(self) -> None:
        """Remove the working folder."""
        # What names it comes last: after a kill in between, the same command still knows the folder.
        for folder in self.work.glob("*/"):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(self.work, ignore_errors=True)


RECORDS = (RECORD, *(f"{kind}.json" for kind in ON_TEXT))


def check_folder(folder: Path, record: JsonObject, identity: JsonObject, overwrite: bool) -> None:
    """Refuse a folder that this command did not write, or (without ``overwrite``) that has another content.

    Parameters
    ----------
    record
        What the folder was made from; empty if nothing says so.
    identity
        What it would be made from now.

    Raises
    ------
    OutputError
        Naming the settings that differ.
    """
    if not record and names_in(folder):
        raise OutputError(f"{folder}: is not empty and was not written by embassay; choose another folder with -o")
    if not record or overwrite:
        return
    before, now = {**record, **record.get("settings", {})}, {**identity, **identity.get("settings", {})}
    changes = sorted(name for name in now if name != "settings" and before.get(name) != now[name])
    if changes:
        raise OutputError(
            f"{folder}: contains a training with other settings (different: {', '.join(changes)}); choose "
            "another folder with -o, or pass --overwrite"
        )


def save_arrays(folder: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write each array as ``NAME.npy``."""
    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", values, allow_pickle=False)


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
