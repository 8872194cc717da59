"""Training the variants: hard negatives found with the base, then the remaining trainings in their order."""

from __future__ import annotations

import time
from dataclasses import dataclass

from embassay.core.errors import OutputError
from embassay.core.formatting import counted, duration
from embassay.models.neural.model import Model
from embassay.training.adaptation.folder import AdaptationFolder
from embassay.training.adaptation.material import Material
from embassay.training.adaptation.negatives import Mined, mine
from embassay.training.adaptation.request import AdaptRequest
from embassay.training.adaptation.variants import BASE, Stage
from embassay.training.base_model import find_base
from embassay.training.model_folder import RECORD, read_json
from embassay.training.stage import spec_of
from embassay.training.trained import Advance, Trained

REPEATED = ("rows", "tokens", "steps", "planned", "device", "evaluations")
"""The facts of ``training.json`` that are copied to the record of the adaptation and to the model card."""


@dataclass(frozen=True)
class VariantTraining:
    """The trainings of one adaptation."""

    request: AdaptRequest
    base: Model
    material: Material
    stages: tuple[Stage, ...]

    @property
    def folder(self) -> AdaptationFolder:
        """Where the variants are kept."""
        return AdaptationFolder(self.request.out)

    def due(self, stage: Stage) -> bool:
        """Return whether a variant is still to be trained."""
        return self.request.overwrite or self.folder.finished(stage) is None

    def mined(self) -> Mined | None:
        """Return the user's triplets, or find hard negatives with the base; None if nothing is to be fine-tuned.

        Raises
        ------
        InputError
            If there is none.
        """
        if not any(stage.kind == "finetune" and self.due(stage) for stage in self.stages):
            return None
        options = self.request.options
        mined = self.material.own or mine(
            self.material.union,
            self.material.train,
            self.base,
            per_question=options.negatives,
            window=options.window,
            margin=options.margin,
            seed=options.seed,
            held_out=self.material.held_out,
        )
        # Free the memory of the base: the trainings load it again.
        self.base.release()
        self.request.say(f"triplets: {len(mined.triplets):,} with {counted(mined.negatives, 'negative')}")
        return mined

    def carry_out(self, mined: Mined | None) -> None:
        """Train the variants that are not finished.

        Parameters
        ----------
        mined
            What :meth:`mined` returned.

        Raises
        ------
        EncoderError
            If a training fails. Finished variants are kept.
        OutputError
            If the folder cannot be written to, or a finished variant has been changed.
        """
        for stage in self.stages:
            facts = self.folder.finished(stage)
            if facts is None:
                self._make(stage, mined)
            elif self._fingerprint(stage) == facts["fingerprint"]:
                self.request.say(f"{stage.variant}: already trained, the finished model is used")
            else:
                raise OutputError(
                    f"{self.folder.place(stage)}: was changed after training; pass --overwrite to train all variants "
                    "again"
                )

    def train(self, stage: Stage, mined: Mined | None, advance: Advance) -> Trained:
        """Run the training of one variant."""
        start = self.request.base if stage.start == BASE else spec_of(self.request.out / stage.start)
        place = self.folder.place(stage)
        if stage.kind == "pretrain":
            from embassay.training.pretraining import pretrain

            return pretrain(
                start,
                self.material.sentences,
                place,
                objective=stage.options.objective,
                settings=stage.settings,
                advance=advance,
            )
        from embassay.training.finetuning import finetune

        return finetune(
            start,
            mined.triplets if mined else (),
            self.material.dev,
            self.material.union,
            place,
            loss=stage.options.loss,
            settings=stage.settings,
            advance=advance,
        )

    def _make(self, stage: Stage, mined: Mined | None) -> None:
        """Train one variant, and record the facts of its training."""
        began = time.perf_counter()
        with self.request.training(stage.variant) as advance:
            trained = self.train(stage, mined, advance)
        for note in (*trained.notes, f"trained in {duration(time.perf_counter() - began)}"):
            self.request.say(f"{stage.variant}: {note}")
        facts: dict[str, object] = {}
        notes: list[str] = []
        if stage.kind == "finetune" and mined is not None:
            facts["triplets"] = len(mined.triplets)
            facts["negatives"] = mined.negatives
            notes += mined.notes
            for reason, count in mined.left_out.most_common():
                notes.append(f"left out when mining negatives: {count:,} {reason}")
        record = read_json(self.folder.place(stage) / RECORD)
        facts["data"] = record["asked"]["data"]
        facts.update((name, record[name]) for name in REPEATED)
        facts["fingerprint"] = self._fingerprint(stage)
        # Those of the record, because a model that was complete before a kill is not trained again.
        facts["notes"] = [*notes, *record["notes"]]
        self.folder.finish(stage, facts)

    def _fingerprint(self, stage: Stage) -> str:
        return find_base(spec_of(self.folder.place(stage))).fingerprint
