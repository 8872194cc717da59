"""The variants of one adaptation: which there are, how each is trained, and the folder that keeps them.

Roychowdhury et al. (2024), section 2.4: the base model, pre-trained, fine-tuned, and pre-trained then fine-tuned.

``DIR/adaptation.json`` says what the folder is of, and of each variant how it was asked to be trained and whether it
is finished. A variant is finished when its model is whole; what the record calls finished is taken, not trained again.
"""

from __future__ import annotations

import json
import math
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from embassay.errors import OutputError
from embassay.store.canonical import canonical, write
from embassay.training.checkpoints import CHECKPOINT, changed
from embassay.training.settings import Settings

Kind = Literal["pretrain", "finetune"]
PRETRAINED, FINETUNED, BOTH = "pretrained", "finetuned", "pretrained+finetuned"
RECORD = "adaptation.json"
OURS = ("split.json", "verdict.md", RECORD)
FORMAT = 1


@dataclass(frozen=True)
class Stage:
    """One training: what it makes, of what, and how.

    Attributes
    ----------
    variant
        The name of what it makes, which is also its folder's.
    start
        The variant that it goes on from: ``base`` or ``pretrained``.
    options
        ``objective`` of pre-training; of fine-tuning ``loss``, and of the negatives ``per_question``, ``window`` and
        ``margin``.
    """

    variant: str
    kind: Kind
    start: str
    settings: Settings
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def asked(self) -> dict[str, Any]:
        """All that was asked for, as JSON values; the device is none of it."""
        numbers = {name: value for name, value in asdict(self.settings).items() if name != "device"}
        return {"kind": self.kind, "start": self.start, **self.options, **numbers}

    def steps(self, rows: int) -> int:
        """Return how many steps so many rows take, at most."""
        each = math.ceil(rows / (self.settings.batch * self.settings.accumulate))
        planned = math.ceil(each * self.settings.epochs)
        return min(planned, self.settings.max_steps or planned)

    def evaluations(self, rows: int) -> int:
        """Return how often fine-tuning on so many rows asks how good the model is, the beginning included, at most."""
        steps = self.steps(rows)
        every = max(1, round(min(steps / max(self.settings.epochs, 1), steps) / self.settings.checkpoints))
        return 1 + math.ceil(steps / every)


def stages(pretrain: Stage | None, finetune: Stage | None) -> tuple[Stage, ...]:
    """Return the trainings in their order; with both stages a third goes on from the pre-trained model."""
    found = [stage for stage in (pretrain, finetune) if stage]
    if pretrain and finetune:
        found.append(Stage(BOTH, finetune.kind, pretrain.variant, finetune.settings, finetune.options))
    return tuple(found)


class AdaptationFolder:
    """The folder of one adaptation: a base, its data and its variants."""

    def __init__(self, path: Path):
        """Name the folder; nothing is made or read yet."""
        self.path = path

    def check(self, asked: Mapping[str, Any], wanted: Sequence[Stage], overwrite: bool = False) -> None:
        """Refuse a folder that cannot be written to, or that holds something else; nothing is written.

        Parameters
        ----------
        asked
            What makes the adaptation this one: base, data, split, seed.
        overwrite
            Another adaptation may be there.

        Raises
        ------
        OutputError
            If it is no folder, not ours, or holds an adaptation or a variant of other settings.
        """
        record = self.record()
        if not record and self._names():
            raise OutputError(
                f"{self.path}: not empty and not an adaptation of embassay; choose another folder with -o"
            )
        self._check_writable()
        if overwrite or not record:
            return
        if other := changed(record["asked"], _plain(asked)):
            raise OutputError(
                f"{self.path}: holds another adaptation ({other}); choose another folder with -o, or --overwrite"
            )
        for stage in filter(self._begun, wanted):
            if other := changed(self._variant(stage)["asked"], _plain(stage.asked)):
                raise OutputError(
                    f"{self.path}: holds a variant {stage.variant!r} of other settings ({other}); choose another "
                    "folder with -o, or --overwrite"
                )

    def open(self, asked: Mapping[str, Any], wanted: Sequence[Stage], overwrite: bool = False) -> None:
        """Make the folder, or take it up; with ``overwrite`` what an adaptation left there goes first.

        Raises
        ------
        OutputError
            As :meth:`check`.
        """
        self.check(asked, wanted, overwrite)
        if overwrite and self.record():
            self._clear()
        for left in self.path.glob(".*.part"):  # of a command that was killed while it wrote
            if left.is_file():
                left.unlink(missing_ok=True)
        self._write({"format": FORMAT, "asked": _plain(asked), "variants": self.record().get("variants", {})})

    def place(self, stage: Stage) -> Path:
        """Return the folder of a variant's model."""
        return self.path / stage.variant

    def finished(self, stage: Stage) -> dict[str, Any] | None:
        """Return what was found when a variant was trained; None where it is still to be trained."""
        found = self._variant(stage)
        return found.get("facts") if found.get("asked") == _plain(stage.asked) else None

    def start(self, stage: Stage) -> None:
        """Note that a variant is being trained with these settings."""
        self._note(stage, {"asked": _plain(stage.asked)})

    def finish(self, stage: Stage, facts: Mapping[str, Any]) -> None:
        """Note that a variant's model is whole, and what was found."""
        self._note(stage, {"asked": _plain(stage.asked), "facts": dict(facts)})

    def record(self) -> dict[str, Any]:
        """Return what ``adaptation.json`` says; empty where there is none."""
        try:
            found = json.loads((self.path / RECORD).read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) and {"asked", "variants"} <= found.keys() else {}

    def _variant(self, stage: Stage) -> dict[str, Any]:
        found: dict[str, Any] = self.record().get("variants", {}).get(stage.variant, {})
        return found

    def _begun(self, stage: Stage) -> bool:
        """Say whether there is anything of a variant that another training would replace."""
        found, place = self._variant(stage), self.place(stage)
        checkpoint = place.with_name(f"{place.name}.training") / CHECKPOINT
        return "asked" in found and ("facts" in found or place.exists() or checkpoint.exists())

    def _note(self, stage: Stage, note: Mapping[str, Any]) -> None:
        record = self.record()
        self._write({**record, "variants": {**record["variants"], stage.variant: note}})

    def _write(self, record: Mapping[str, Any]) -> None:
        write(self.path / RECORD, canonical(record))

    def _names(self) -> set[str]:
        try:
            return {p.name for p in self.path.iterdir() if p.suffix != ".part"} if self.path.exists() else set()
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be used as a folder: {error.strerror}") from None

    def _check_writable(self) -> None:
        """Write to the nearest folder that is there, without leaving anything."""
        try:
            nearest = next(folder for folder in (self.path, *self.path.absolute().parents) if folder.exists())
            with tempfile.TemporaryFile(dir=nearest):
                pass
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be written to: {error.strerror}") from None

    def _clear(self) -> None:
        """Remove what adaptations have left, the record last, so that no half of it looks whole."""
        try:
            for name in (*self.record()["variants"], "run"):
                for folder in (self.path / name, self.path / f"{name}.training"):
                    if name in (PRETRAINED, FINETUNED, BOTH, "run") and folder.is_dir():
                        shutil.rmtree(folder)
            for name in OURS:
                (self.path / name).unlink(missing_ok=True)
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be emptied: {error.strerror}") from None


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record as it reads back."""
    found: dict[str, Any] = json.loads(canonical(value))
    return found
