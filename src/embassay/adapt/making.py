"""Making the variants: hard negatives by the base, then the trainings that are still to be done, in their order."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embassay.adapt._base import find_base
from embassay.adapt._keeping import read_record
from embassay.adapt._training import Advance, Trained
from embassay.adapt.gain import BASE
from embassay.adapt.material import Material
from embassay.adapt.negatives import Mined, mine
from embassay.adapt.order import Order
from embassay.adapt.variants import AdaptationFolder, Stage
from embassay.errors import OutputError

TOLD = ("rows", "tokens", "steps", "planned", "seconds", "device")
"""What a stage's own record says of its training that a card repeats."""


@dataclass(frozen=True)
class Making:
    """The trainings of one adaptation.

    Attributes
    ----------
    base
        The encoder that is adapted.
    """

    order: Order
    base: Any
    material: Material
    stages: tuple[Stage, ...]

    @property
    def folder(self) -> AdaptationFolder:
        """Where the variants are kept."""
        return AdaptationFolder(self.order.out)

    def mined(self) -> Mined | None:
        """Look for hard negatives by the base model; None where nothing is left to fine-tune.

        Raises
        ------
        InputError
            If there is none.
        """
        fresh = self.order.overwrite
        if all(s.kind == "pretrain" or not (fresh or self.folder.finished(s) is None) for s in self.stages):
            return None
        m = self.material
        found = mine(m.union, m.train, self.base, per_question=self.order.negatives, seed=self.order.seed)
        self.base.release()
        self.order.say(f"triplets: {len(found.triplets):,} with {found.negatives:,} negatives")
        return found

    def carry_out(self, mined: Mined | None) -> None:
        """Train what is not there yet.

        Parameters
        ----------
        mined
            What :meth:`mined` found.

        Raises
        ------
        EncoderError
            If a training fails; what was finished is kept.
        OutputError
            If the folder cannot be written to, or a finished variant was changed since.
        """
        for stage in self.stages:
            facts = self.folder.finished(stage)
            if facts is None:
                self._train(stage, mined)
            elif self._fingerprint(stage) == facts["fingerprint"]:
                self.order.say(f"{stage.variant}: there already, nothing was trained")
            else:
                raise OutputError(
                    f"{self.folder.place(stage)}: was changed after its training; --overwrite trains all variants anew"
                )

    def rows(self, stage: Stage) -> tuple[int, int]:
        """Return how many rows a stage reads in an epoch at most, and how many texts of them go through the model."""
        if stage.kind == "pretrain":
            rows = len(self.material.sentences)
            return rows, rows * (1 if stage.options["objective"] == "mlm" else 2)
        rows = sum(len(question.right) for question in self.material.train)
        return rows, rows * (2 + self.order.negatives)

    def _train(self, stage: Stage, mined: Mined | None) -> None:
        """Train one variant, and note what was found."""
        self.folder.start(stage)
        began = time.perf_counter()
        with self.order.training(stage.variant) as advance:
            trained = self._trained(stage, mined, advance)
        for line in (*trained.notes, f"trained in {duration(time.perf_counter() - began)}"):
            self.order.say(f"{stage.variant}: {line}")
        record = read_record(self.folder.place(stage))
        told = {name: record[name] for name in TOLD if name in record}
        facts = {**_facts(stage, mined), **told, "fingerprint": self._fingerprint(stage)}
        self.folder.finish(stage, {**facts, "notes": [*(_notes(stage, mined)), *trained.notes]})

    def _trained(self, stage: Stage, mined: Mined | None, advance: Advance) -> Trained:
        place, settings, m = self.folder.place(stage), stage.settings, self.material
        start = spec_of(self.base.found.folder if stage.start == BASE else self.order.out / stage.start)
        if stage.kind == "pretrain":
            from embassay.adapt.pretraining import pretrain

            objective = stage.options["objective"]
            return pretrain(start, m.sentences, place, objective=objective, settings=settings, advance=advance)
        from embassay.adapt.finetuning import finetune

        loss, triplets = stage.options["loss"], mined.triplets if mined else ()
        return finetune(start, triplets, m.dev, m.union, place, loss=loss, settings=settings, advance=advance)

    def _fingerprint(self, stage: Stage) -> str:
        return find_base(spec_of(self.folder.place(stage))).fingerprint


def _facts(stage: Stage, mined: Mined | None) -> dict[str, Any]:
    if stage.kind == "pretrain" or mined is None:
        return {}
    return {"triplets": len(mined.triplets), "negatives": mined.negatives}


def _notes(stage: Stage, mined: Mined | None) -> tuple[str, ...]:
    if stage.kind == "pretrain" or mined is None:
        return ()
    left_out = (f"left out of the negatives: {number:,} × {why}" for why, number in mined.left_out.most_common())
    return (*mined.notes, *left_out)


def spec_of(folder: Path) -> str:
    """Return a folder as the spec of an encoder: ``./folder``."""
    told = str(folder)
    return told if folder.is_absolute() or told.startswith((".", "~")) else f"./{told}"


def duration(seconds: float) -> str:
    """Write a time: ``40 s``, ``12 min``, ``2.5 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
