"""Where a stage of domain adaptation keeps what it has: checkpoints beside the model's folder, then the model.

While ``DIR/finetuned`` is in the making, ``DIR/finetuned.training`` holds the last checkpoint: ``checkpoint.json``,
which names the file of its weights and is written last. The model's folder is written whole under another name and
renamed. Weights and the optimizer's state are safetensors; nothing is a pickle.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from embassay._version import __version__
from embassay.errors import OutputError
from embassay.store.canonical import canonical, write
from embassay.store.partial_files import partial_file

RECORD = "training.json"
CHECKPOINT = "checkpoint.json"
BEST = "best.safetensors"
Tensors = Mapping[str, Any]
DAMAGED = "the checkpoint could not be read: the training began anew"
"""The note of a training that would have gone on."""


class StageFolder:
    """The folder that one stage writes: ``open``, ``resume``, ``keep`` now and then, ``finish``."""

    def __init__(self, path: Path, asked: Mapping[str, Any], made_with: Mapping[str, str]):
        """Name the folder and what will be in it; nothing is made or read yet.

        Parameters
        ----------
        asked
            All that makes the model what it is, as JSON values by name: settings, base, data.
        made_with
            Versions of the libraries by name. A checkpoint made with others is not taken up; a model stays.
        """
        self.path, self.work = path, path.with_name(f"{path.name}.training")
        self._asked = json.loads(canonical(asked))
        self._made_with = {"embassay": __version__, **made_with}

    def open(self, overwrite: bool = False) -> bool:
        """Make the working folder, or take it up; say whether the model is there already, finished.

        Raises
        ------
        OutputError
            If a folder cannot be written to, is not ours, or holds a training of other settings, base or data (and not
            ``overwrite``).
        """
        record, head = _read(self.path / RECORD), _read(self.work / CHECKPOINT)
        if not record and _filled(self.path):
            raise OutputError(f"{self.path}: not empty and no model of embassay adapt; choose another folder with -o")
        if record and self._differs(record) == "" and not overwrite:
            shutil.rmtree(self.work, ignore_errors=True)
            self._clean()
            return True
        if (record or head) and not overwrite:
            where, found = (self.path, record) if record else (self.work, head)
            if other := self._differs(found):
                raise OutputError(
                    f"{where}: holds a training of other {other}; choose another folder with -o, or --overwrite"
                )
        if head and self._differs(head):
            shutil.rmtree(self.work, ignore_errors=True)
        self._clean()
        try:
            self.work.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{self.work}: cannot be made: {error.strerror}") from None
        return False

    def resume(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what the last checkpoint says and its tensors.

        Where the training has to begin there are no tensors, and it says nothing but a note where it was damaged: the
        best weights that it tells of belong to it.
        """
        head = _read(self.work / CHECKPOINT)
        going_on = bool(head) and not self._differs(head) and head.get("made_with") == self._made_with
        if going_on:
            state, tensors = head.get("state"), _load(self.work / Path(str(head.get("file"))).name)
            if tensors and isinstance(state, dict) and (not state.get("best") or _load(self.work / BEST)):
                return state, tensors
        (self.work / BEST).unlink(missing_ok=True)
        return {"notes": [DAMAGED]} if going_on else {}, {}

    def best(self) -> dict[str, Any]:
        """Return the weights of the best evaluation.

        Raises
        ------
        OutputError
            If they cannot be read.
        """
        if not (found := _load(self.work / BEST)):
            raise OutputError(f"{self.work / BEST}: the best weights cannot be read; the same command trains anew")
        return found

    def keep(self, state: Mapping[str, Any], tensors: Tensors) -> None:
        """Replace the checkpoint, whole or not at all.

        Raises
        ------
        OutputError
            If the place cannot be written to.
        """
        name = f"checkpoint-{state['step']}.safetensors"
        _save(self.work / name, tensors)
        head = {"asked": self._asked, "made_with": self._made_with, "file": name, "state": state}
        write(self.work / CHECKPOINT, canonical(head))
        for other in self.work.glob("checkpoint-*.safetensors"):
            if other.name != name:
                other.unlink(missing_ok=True)

    def keep_best(self, tensors: Tensors) -> None:
        """Replace the best weights so far, whole or not at all."""
        _save(self.work / BEST, tensors)

    def finish(self, writer: Callable[[Path], object], facts: Mapping[str, Any]) -> None:
        """Write the model by ``writer``, with ``training.json``, put it in its place and remove the checkpoints.

        Raises
        ------
        OutputError
            If the place cannot be written to.
        """
        new = self.path.with_name(f".{self.path.name}.{os.getpid()}.{secrets.token_hex(4)}.part")
        record = {**facts, "asked": self._asked, "made_with": self._made_with, "format": 1}
        try:
            new.mkdir(parents=True)
            writer(new)
            write(new / RECORD, canonical(record))
            old = new.with_name(f"{new.name}.old")
            if self.path.exists():
                self.path.rename(old)
            new.rename(self.path)
            shutil.rmtree(old, ignore_errors=True)
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be written: {error.strerror or error}") from None
        finally:
            shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(self.work, ignore_errors=True)

    def _clean(self) -> None:
        """Remove what a training that was killed while it wrote has left here and beside the folder."""
        ours = re.compile(rf"\.{re.escape(self.path.name)}\.\d+\.[0-9a-f]{{8}}\.part(\.old)?")
        for left in self.path.parent.glob(".*"):
            if ours.fullmatch(left.name):
                shutil.rmtree(left, ignore_errors=True)
        for left in self.work.glob(".*.part"):
            left.unlink(missing_ok=True)

    def _differs(self, found: Mapping[str, Any]) -> str:
        """Name what another training was asked for otherwise; empty for the same."""
        before = found.get("asked")
        return changed(_flat(before if isinstance(before, dict) else {}), _flat(self._asked))


def changed(before: Mapping[str, Any], asked: Mapping[str, Any]) -> str:
    """Name what differs between two records; empty for the same."""
    return ", ".join(name for name in sorted({**before, **asked}) if before.get(name) != asked.get(name))


def read_record(folder: Path) -> dict[str, Any]:
    """Return ``training.json`` of a finished model; empty where there is none."""
    return _read(folder / RECORD)


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _flat(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was asked for with the settings among it."""
    return {name: value for name, value in asked.items() if name != "settings"} | dict(asked.get("settings") or {})


def _filled(path: Path) -> bool:
    try:
        return path.exists() and any(path.iterdir())
    except OSError as error:
        raise OutputError(f"{path}: cannot be used as a folder: {error.strerror}") from None


def _load(path: Path) -> dict[str, Any]:
    """Return the tensors of a file; none where it is missing or damaged."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return dict(load_file(path))
    except (OSError, SafetensorError, ValueError):
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
