"""Making the variants: hard negatives by the base, then the trainings that are still to be done, in their order."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from embassay.adaptation.gain import BASE
from embassay.adaptation.material import Material
from embassay.adaptation.negatives import Mined, mine
from embassay.adaptation.order import Order
from embassay.adaptation.variants import AdaptationFolder, Stage
from embassay.errors import OutputError
from embassay.training.base_model import find_base
from embassay.training.checkpoints import read_record
from embassay.training.shared import Advance, Trained
from embassay.training.stage import spec_of

TOLD = ("rows", "data", "tokens", "steps", "planned", "seconds", "device", "evaluations")
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

    def due(self, stage: Stage) -> bool:
        """Say whether a variant is still to be trained."""
        return self.order.overwrite or self.folder.finished(stage) is None

    def mined(self) -> Mined | None:
        """Look for hard negatives by the base model; None where nothing is left to fine-tune.

        Raises
        ------
        InputError
            If there is none.
        """
        if not any(stage.kind == "finetune" and self.due(stage) for stage in self.stages):
            return None
        m, o = self.material, self.order
        found = mine(
            m.union,
            m.train,
            self.base,
            per_question=o.negatives,
            ranks=(1, o.window),
            margin=o.margin,
            seed=o.seed,
            held_out=m.held_out,
        )
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

    def _train(self, stage: Stage, mined: Mined | None) -> None:
        """Train one variant, and note what was found."""
        self.folder.start(stage)
        began = time.perf_counter()
        with self.order.training(stage.variant) as advance:
            trained = self._trained(stage, mined, advance)
        for line in (*trained.notes, f"trained in {duration(time.perf_counter() - began)}"):
            self.order.say(f"{stage.variant}: {line}")
        record = read_record(self.folder.place(stage))
        known = {**record.get("asked", {}), **record}
        told = {name: known[name] for name in TOLD if name in known}
        facts = {**_facts(stage, mined), **told, "fingerprint": self._fingerprint(stage)}
        self.folder.finish(stage, {**facts, "notes": [*(_notes(stage, mined)), *trained.notes]})

    def _trained(self, stage: Stage, mined: Mined | None, advance: Advance) -> Trained:
        place, settings, m = self.folder.place(stage), stage.settings, self.material
        start = self.order.base if stage.start == BASE else spec_of(self.order.out / stage.start)
        if stage.kind == "pretrain":
            from embassay.training.pretraining import pretrain

            objective = stage.options["objective"]
            return pretrain(start, m.sentences, place, objective=objective, settings=settings, advance=advance)
        from embassay.training.finetuning import finetune

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


def duration(seconds: float) -> str:
    """Write a time: ``40 s``, ``12 min``, ``2.5 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
