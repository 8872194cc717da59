"""The checkpoints and the model folder of one stage of domain adaptation.

While ``DIR/finetuned`` is being trained, ``DIR/finetuned.training`` holds the last checkpoint: ``checkpoint.json``,
which names the file of its weights and is written last. The model's folder is written completely under another name and
then renamed. Weights and the optimizer's state are stored as safetensors; nothing is pickled.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from embassay._version import __version__
from embassay.errors import OutputError
from embassay.store.canonical import canonical, write
from embassay.store.partial_files import partial_file
from embassay.training.folders import as_stored, differences, names_in, read_json
from embassay.types import JsonObject

if TYPE_CHECKING:
    from torch import Tensor

RECORD = "training.json"
CHECKPOINT = "checkpoint.json"
BEST = "best.safetensors"
Tensors: TypeAlias = "Mapping[str, Tensor]"
DAMAGED = "the checkpoint could not be read: training started from the beginning"
"""The note of a training whose checkpoint is damaged."""


class StageFolder:
    """The folder of one stage: call ``open``, ``resume``, ``keep`` at intervals, then ``finish``.

    Parameters
    ----------
    identity
        Everything that determines the trained model, as JSON values by name: settings, base, data.
    made_with
        Versions of the libraries by name. A checkpoint made with other versions is not used; a finished model is.
    """

    def __init__(self, path: Path, identity: Mapping[str, object], made_with: Mapping[str, str]):
        self.path = path
        self.work = path.with_name(f"{path.name}.training")
        self._identity = as_stored(identity)
        self._made_with = {"embassay": __version__, **made_with}

    def open(self, overwrite: bool = False) -> bool:
        """Make the working folder, or continue in it; return whether the finished model already exists.

        Raises
        ------
        OutputError
            If a folder cannot be written to, contains other files, or (without ``overwrite``) contains a training with
            other settings, base or data.
        """
        model, checkpoint = read_record(self.path), read_json(self.work / CHECKPOINT)
        if not model and names_in(self.path):
            raise OutputError(
                f"{self.path}: is not empty and was not written by embassay adapt; choose another folder with -o"
            )
        if model and not self._changes(model) and not overwrite:
            shutil.rmtree(self.work, ignore_errors=True)
            self._remove_left_overs()
            return True
        # A finished model would be replaced, so its record is compared rather than the checkpoint's.
        where, record = (self.path, model) if model else (self.work, checkpoint)
        if record and not overwrite and (changes := self._changes(record)):
            raise OutputError(
                f"{where}: contains a training with other settings (different: {changes}); choose another folder with "
                "-o, or pass --overwrite"
            )
        if checkpoint and self._changes(checkpoint):
            shutil.rmtree(self.work, ignore_errors=True)
        self._remove_left_overs()
        try:
            self.work.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{self.work}: cannot be created: {error.strerror}") from None
        return False

    def resume(self) -> tuple[JsonObject, dict[str, Tensor]]:
        """Return the state and the tensors of the last checkpoint.

        If the training starts from the beginning, there are no tensors, and the state is empty except for a note if a
        checkpoint is damaged. The best weights belong to the checkpoint and are removed with it.
        """
        head = read_json(self.work / CHECKPOINT)
        usable = bool(head) and not self._changes(head) and head.get("made_with") == self._made_with
        if not usable:
            (self.work / BEST).unlink(missing_ok=True)
            return {}, {}
        state = head.get("state")
        # Only the last part of the name, so that a record cannot name a file elsewhere.
        tensors = _load(self.work / Path(str(head.get("file"))).name)
        if tensors and isinstance(state, dict):
            has_best = not state.get("best") or bool(_load(self.work / BEST))
            if has_best:
                return state, tensors
        (self.work / BEST).unlink(missing_ok=True)
        return {"notes": [DAMAGED]}, {}

    def best(self) -> dict[str, Tensor]:
        """Return the weights of the best evaluation.

        Raises
        ------
        OutputError
            If they cannot be read.
        """
        weights = _load(self.work / BEST)
        if not weights:
            raise OutputError(
                f"{self.work / BEST}: the best weights cannot be read; run the same command to train again"
            )
        return weights

    def keep(self, state: Mapping[str, object], tensors: Tensors) -> None:
        """Replace the checkpoint atomically.

        Raises
        ------
        OutputError
            If the folder cannot be written to.
        """
        name = f"checkpoint-{state['step']}.safetensors"
        _save(self.work / name, tensors)
        head = {"asked": self._identity, "made_with": self._made_with, "file": name, "state": state}
        # This activates the new tensors; the old ones are removed afterwards.
        write(self.work / CHECKPOINT, canonical(head))
        for other in self.work.glob("checkpoint-*.safetensors"):
            if other.name != name:
                other.unlink(missing_ok=True)

    def keep_best(self, tensors: Tensors) -> None:
        """Replace the best weights so far atomically."""
        _save(self.work / BEST, tensors)

    def finish(self, write_model: Callable[[Path], object], facts: Mapping[str, object]) -> None:
        """Write the model and ``training.json``, put the folder in its place and remove the checkpoints.

        Parameters
        ----------
        write_model
            Writes the model into the folder that is passed to it.

        Raises
        ------
        OutputError
            If the folder cannot be written to.
        """
        new = self.path.with_name(f".{self.path.name}.{os.getpid()}.{secrets.token_hex(4)}.part")
        old = new.with_name(f"{new.name}.old")
        record = {**facts, "asked": self._identity, "made_with": self._made_with, "format": 1}
        try:
            new.mkdir(parents=True)
            write_model(new)
            write(new / RECORD, canonical(record))
            # A folder cannot be renamed over another one that contains files.
            if self.path.exists():
                self.path.rename(old)
            new.rename(self.path)
            shutil.rmtree(old, ignore_errors=True)
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be written: {error.strerror or error}") from None
        finally:
            shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(self.work, ignore_errors=True)

    def _remove_left_overs(self) -> None:
        """Remove the partial files that a killed training left in the working folder and beside the model folder."""
        name = re.compile(rf"\.{re.escape(self.path.name)}\.\d+\.[0-9a-f]{{8}}\.part(\.old)?")
        for path in self.path.parent.glob(".*"):
            if name.fullmatch(path.name):
                shutil.rmtree(path, ignore_errors=True)
        for path in self.work.glob(".*.part"):
            path.unlink(missing_ok=True)

    def _changes(self, record: Mapping[str, object]) -> str:
        """Return the names of the settings that differ between a record and this training; empty if none does."""
        before = record.get("asked")
        return differences(_flat(before if isinstance(before, dict) else {}), _flat(self._identity))


def read_record(folder: Path) -> JsonObject:
    """Return ``training.json`` of a finished model; empty if there is none."""
    return read_json(folder / RECORD)


def _flat(identity: JsonObject) -> JsonObject:
    """Return a record with the settings merged into its other values."""
    flat = {**identity, **(identity.get("settings") or {})}
    flat.pop("settings", None)
    return flat


def _load(path: Path) -> dict[str, Tensor]:
    """Return the tensors of a file; empty if it is missing or damaged."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return dict(load_file(path))
    except (OSError, SafetensorError, ValueError):
        # The callers decide: a checkpoint is left out with a note, missing best weights are an error.
        return {}


def _save(path: Path, tensors: Tensors) -> None:
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    temporary = partial_file(path)
    try:
        save_file({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, temporary)
        temporary.replace(path)
    except (OSError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OutputError(f"{path}: the checkpoint cannot be written: {reason}") from None
    finally:
        temporary.unlink(missing_ok=True)
