"""What an adaptation is asked to be, and the trainings that follow from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from embassay.adapt.gain import BASE
from embassay.adapt.settings import FINETUNE, PRETRAIN, Settings
from embassay.adapt.splits import By
from embassay.adapt.variants import FINETUNED, PRETRAINED, Loss, Objective, Stage, stages
from embassay.errors import SpecError
from embassay.types import Corpus

Training = Callable[[str], AbstractContextManager[Any]]


@dataclass(frozen=True)
class Order:
    """What is asked for; see ``embassay adapt --help``.

    Attributes
    ----------
    negatives
        Hard negatives of a question, at most.
    epochs, batch, rate
        Of every stage; each stage's own defaults where None.
    say
        Is told, a line at a time, what is being done.
    training
        Opens a bar for a training.
    """

    base: str
    corpora: Sequence[str | Corpus[Any]]
    out: Path
    pretrain: bool = False
    finetune: bool = False
    objective: Objective = "mlm"
    loss: Loss = "mnr"
    negatives: int = 2
    by: By = "question"
    test: float = 0.2
    general: Sequence[str | Corpus[Any]] = ()
    epochs: float | None = None
    batch: int | None = None
    rate: float | None = None
    seed: int = 0
    resamples: int = 1000
    device: str = "auto"
    limit: int | None = None
    overwrite: bool = False
    cache: Path | None = None
    quiet: bool = True
    say: Callable[[str], None] = lambda line: None
    training: Training = lambda label: nullcontext(lambda done, total: None)

    def __post_init__(self) -> None:
        """Refuse what no training can do with.

        Raises
        ------
        SpecError
            If there is less than one negative.
        """
        if self.negatives < 1:
            raise SpecError(f"negatives must be 1 or more, is {self.negatives}")

    def stages(self) -> tuple[Stage, ...]:
        """Return the trainings; with neither stage asked for, both."""
        both = not self.pretrain and not self.finetune
        first = Stage(PRETRAINED, "pretrain", BASE, self._settings(PRETRAIN), {"objective": self.objective})
        options = {"loss": self.loss, "per_question": self.negatives}
        second = Stage(FINETUNED, "finetune", BASE, self._settings(FINETUNE), options)
        return stages(first if self.pretrain or both else None, second if self.finetune or both else None)

    def _settings(self, default: Settings) -> Settings:
        given = {"epochs": self.epochs, "batch": self.batch, "rate": self.rate}
        given = {name: value for name, value in given.items() if value is not None}
        return replace(default, **given, seed=self.seed, device=self.device)  # type: ignore[arg-type]
