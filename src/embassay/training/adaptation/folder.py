"""The folder of one adaptation: a base, its data and its variants.

``DIR/adaptation.json`` records the base and the data, and for each finished variant the settings and the facts of its
training. A finished variant is reused, not trained again.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from embassay.core.errors import OutputError
from embassay.core.store.canonical import canonical, write
from embassay.core.store.partial_files import names_in
from embassay.core.types import JsonObject
from embassay.training.adaptation.variants import BOTH, FINETUNED, PRETRAINED, Stage
from embassay.training.model_folder import as_stored, check_files, differences, read_json

RECORD = "adaptation.json"
FILES = ("split.json", "verdict.md", RECORD)
"""The files of an adaptation. The record is last, so that a partly removed folder never looks complete."""
QUESTIONS = "questions"
"""The folder of the questions, a file for each corpus."""
MODELS = (PRETRAINED, FINETUNED, BOTH)


class AdaptationFolder:
    """The folder of one adaptation. Nothing is read or written when it is constructed."""

    def __init__(self, path: Path):
        self.path = path

    def check(self, identity: Mapping[str, object], stages: Sequence[Stage], overwrite: bool = False) -> None:
        """Refuse a folder that cannot be written to or that contains something else. Nothing is written.

        Parameters
        ----------
        identity
            What identifies the adaptation: base, data, split, seed.
        overwrite
            Accept a folder that contains another adaptation.

        Raises
        ------
        OutputError
            If it is not a folder, not an adaptation, or contains an adaptation or a variant with other settings; with
            ``overwrite``, if the folder of a model contains other files, which would be lost.
        """
        # Only a folder with a record was written by this command, and only such a folder is ever cleared.
        record = self._record()
        if not record and names_in(self.path):
            raise OutputError(
                f"{self.path}: is not empty and was not written by embassay adapt; choose another folder with -o"
            )
        nearest = next(folder for folder in (self.path, *self.path.absolute().parents) if folder.exists())
        if not nearest.is_dir() or not os.access(nearest, os.W_OK):
            raise OutputError(f"{self.path}: cannot be written to; choose another folder with -o")
        if overwrite:
            for name in MODELS:
                check_files(self.path / name)
            return
        if not record:
            return
        if changes := differences(record["asked"], as_stored(identity)):
            raise OutputError(
                f"{self.path}: contains another adaptation (different: {changes}); choose another folder with -o, or "
                "pass --overwrite"
            )
        for stage in stages:
            variant = record["variants"].get(stage.variant)
            if variant and (changes := differences(variant["asked"], as_stored(stage.identity))):
                raise OutputError(
                    f"{self.path}: contains a variant {stage.variant!r} with other settings (different: {changes}); "
                    "choose another folder with -o, or pass --overwrite"
                )

    def open(self, identity: Mapping[str, object], overwrite: bool = False) -> None:
        """Make the folder, or continue in it. With ``overwrite`` the adaptation in it is removed first.

        Raises
        ------
        OutputError
            If it cannot be emptied or written to.
        """
        if overwrite and self._record():
            self._clear()
        variants = self._record().get("variants", {})
        self._write({"format": 1, "asked": identity, "variants": variants})

    def place(self, stage: Stage) -> Path:
        """Return the folder of a variant's model."""
        return self.path / stage.variant

    def finished(self, stage: Stage) -> JsonObject | None:
        """Return the facts of a variant's training; None if it has not been trained with these settings."""
        variant = self._record().get("variants", {}).get(stage.variant, {})
        if variant.get("asked") != as_stored(stage.identity):
            return None
        facts: JsonObject = variant["facts"]
        return facts

    def finish(self, stage: Stage, facts: Mapping[str, object]) -> None:
        """Record that a variant's model is complete, with the facts of its training."""
        record = self._record()
        record["variants"][stage.variant] = {"asked": stage.identity, "facts": facts}
        self._write(record)

    def _record(self) -> JsonObject:
        """Return the content of ``adaptation.json``; empty if there is none."""
        record = read_json(self.path / RECORD)
        return record if {"asked", "variants"} <= record.keys() else {}

    def _write(self, record: Mapping[str, object]) -> None:
        write(self.path / RECORD, canonical(record))

    def _clear(self) -> None:
        """Remove the models and the files of the adaptation; the run that assays them clears its folder itself."""
        try:
            for name in MODELS:
                for folder in (self.path / name, self.path / f"{name}.training"):
                    if folder.is_dir():
                        shutil.rmtree(folder)
            for file in (*(self.path / QUESTIONS).glob("*.jsonl"), *(self.path / name for name in FILES)):
                file.unlink(missing_ok=True)
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be emptied: {error.strerror}") from None
