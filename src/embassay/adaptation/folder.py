"""The folder of one adaptation: a base, its data and its variants.

``DIR/adaptation.json`` records the base and the data, and for each variant the settings of its training and whether it
is finished. A variant is finished when its model is completely written. A finished variant is reused, not trained
again.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from embassay.adaptation.variants import BOTH, FINETUNED, PRETRAINED, Stage
from embassay.errors import OutputError
from embassay.store.canonical import canonical, write
from embassay.training.checkpoints import CHECKPOINT
from embassay.training.folders import as_stored, differences, names_in, read_json
from embassay.types import JsonObject

RECORD = "adaptation.json"
FORMAT = 1
FILES = ("split.json", "verdict.md", RECORD)
"""The files of an adaptation. The record is last, so that a partly removed folder never looks complete."""
FOLDERS = (PRETRAINED, FINETUNED, BOTH, "run")


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
            If it is not a folder, not an adaptation, or contains an adaptation or a variant with other settings.
        """
        # Only a folder with a record was written by this command, and only such a folder is ever cleared.
        record = self.record()
        if not record and names_in(self.path):
            raise OutputError(
                f"{self.path}: is not empty and was not written by embassay adapt; choose another folder with -o"
            )
        self._check_writable()
        if overwrite or not record:
            return
        if changes := differences(record["asked"], as_stored(identity)):
            raise OutputError(
                f"{self.path}: contains another adaptation (different: {changes}); choose another folder with -o, or "
                "pass --overwrite"
            )
        for stage in stages:
            if not self._begun(stage):
                continue
            if changes := differences(self._entry(stage)["asked"], as_stored(stage.identity)):
                raise OutputError(
                    f"{self.path}: contains a variant {stage.variant!r} with other settings (different: {changes}); "
                    "choose another folder with -o, or pass --overwrite"
                )

    def open(self, identity: Mapping[str, object], stages: Sequence[Stage], overwrite: bool = False) -> None:
        """Make the folder, or continue in it. With ``overwrite`` the adaptation in it is removed first.

        Raises
        ------
        OutputError
            As :meth:`check`.
        """
        self.check(identity, stages, overwrite)
        if overwrite and self.record():
            self._clear()
        # A command that was killed while it wrote leaves half a file.
        for partial in self.path.glob(".*.part"):
            if partial.is_file():
                partial.unlink(missing_ok=True)
        variants = self.record().get("variants", {})
        self._write({"format": FORMAT, "asked": as_stored(identity), "variants": variants})

    def place(self, stage: Stage) -> Path:
        """Return the folder of a variant's model."""
        return self.path / stage.variant

    def finished(self, stage: Stage) -> JsonObject | None:
        """Return the facts of a variant's training; None if it has not been trained with these settings."""
        entry = self._entry(stage)
        if entry.get("asked") != as_stored(stage.identity):
            return None
        facts: JsonObject | None = entry.get("facts")
        return facts

    def start(self, stage: Stage) -> None:
        """Record that a variant is being trained."""
        self._record_variant(stage, {"asked": as_stored(stage.identity)})

    def finish(self, stage: Stage, facts: Mapping[str, object]) -> None:
        """Record that a variant's model is complete, with the facts of its training."""
        self._record_variant(stage, {"asked": as_stored(stage.identity), "facts": dict(facts)})

    def record(self) -> JsonObject:
        """Return the content of ``adaptation.json``; empty if there is none."""
        record = read_json(self.path / RECORD)
        if {"asked", "variants"} <= record.keys():
            return record
        return {}

    def _entry(self, stage: Stage) -> JsonObject:
        """Return the entry of a variant in the record."""
        entry: JsonObject = self.record().get("variants", {}).get(stage.variant, {})
        return entry

    def _begun(self, stage: Stage) -> bool:
        """Return whether a variant has written anything that another training would replace."""
        entry, place = self._entry(stage), self.place(stage)
        checkpoint = place.with_name(f"{place.name}.training") / CHECKPOINT
        return "asked" in entry and ("facts" in entry or place.exists() or checkpoint.exists())

    def _record_variant(self, stage: Stage, entry: Mapping[str, object]) -> None:
        record = self.record()
        record["variants"][stage.variant] = entry
        self._write(record)

    def _write(self, record: Mapping[str, object]) -> None:
        write(self.path / RECORD, canonical(record))

    def _check_writable(self) -> None:
        """Write a temporary file to the nearest existing folder; it leaves nothing behind."""
        try:
            # The folder itself is made later; until then nothing is left behind.
            nearest = next(folder for folder in (self.path, *self.path.absolute().parents) if folder.exists())
            with tempfile.TemporaryFile(dir=nearest):
                pass
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be written to: {error.strerror}") from None

    def _clear(self) -> None:
        """Remove the files of the adaptation; everything else in the folder stays."""
        names = {*self.record()["variants"], "run"}
        try:
            for name in names.intersection(FOLDERS):
                for folder in (self.path / name, self.path / f"{name}.training"):
                    if folder.is_dir():
                        shutil.rmtree(folder)
            for name in FILES:
                (self.path / name).unlink(missing_ok=True)
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be emptied: {error.strerror}") from None
