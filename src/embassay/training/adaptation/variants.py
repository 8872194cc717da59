"""The variants of one adaptation, and the training that makes each of them.

Roychowdhury et al. (2024), section 2.4: the base model, pre-trained, fine-tuned, and pre-trained then fine-tuned.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Literal

from embassay.training.adaptation.options import AdaptOptions
from embassay.training.settings import FINETUNE, PRETRAIN, TrainingSettings

Kind = Literal["pretrain", "finetune"]
BASE = "base"
"""The label of the base model."""
PRETRAINED, FINETUNED, BOTH = "pretrained", "finetuned", "pretrained+finetuned"


@dataclass(frozen=True)
class Stage:
    """One training.

    Attributes
    ----------
    variant
        The name of the variant that it makes, which is also the name of its folder.
    start
        The variant that it starts from: ``base`` or ``pretrained``.
    """

    variant: str
    kind: Kind
    start: str
    settings: TrainingSettings
    options: AdaptOptions

    @property
    def identity(self) -> dict[str, object]:
        """Everything that determines the trained model, as JSON values; not the device."""
        record: dict[str, object] = {"kind": self.kind, "start": self.start}
        if self.kind == "pretrain":
            record["objective"] = self.options.objective
        else:
            record["loss"] = self.options.loss
        if self.kind == "finetune" and not self.options.triplets:
            record["per_question"] = self.options.negatives
            record["window"] = self.options.window
            record["margin"] = self.options.margin
        record.update(asdict(self.settings))
        del record["device"]
        return record


def planned_stages(options: AdaptOptions) -> tuple[Stage, ...]:
    """Return the requested trainings in order; both kinds if neither is requested.

    With both kinds there is a third training, which fine-tunes the pre-trained model.

    Raises
    ------
    SpecError
        If an option of the trainings is out of range.
    """
    neither = not options.pretrain and not options.finetune
    pretrain = options.pretrain or neither
    finetune = options.finetune or neither
    pretraining = _settings(PRETRAIN, options)
    finetuning = replace(_settings(FINETUNE, options), patience=options.patience)
    stages = []
    if pretrain:
        stages.append(Stage(PRETRAINED, "pretrain", BASE, pretraining, options))
    if finetune:
        stages.append(Stage(FINETUNED, "finetune", BASE, finetuning, options))
    if pretrain and finetune:
        stages.append(Stage(BOTH, "finetune", PRETRAINED, finetuning, options))
    return tuple(stages)


def _settings(default: TrainingSettings, options: AdaptOptions) -> TrainingSettings:
    """Return the settings of a kind of training: the options, and its own defaults for those that are None."""
    names = ("epochs", "batch", "rate", "warmup", "accumulate", "seed", "device")
    given = {name: getattr(options, name) for name in names}
    return replace(default, **{name: value for name, value in given.items() if value is not None})
