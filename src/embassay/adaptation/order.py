"""What an adaptation is asked to be, and the trainings that follow from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from embassay.adaptation.gain import BASE
from embassay.adaptation.splits import By
from embassay.adaptation.variants import FINETUNED, PRETRAINED, Stage, stages
from embassay.errors import SpecError
from embassay.training.settings import FINETUNE, PRETRAIN, Loss, Objective, Settings
from embassay.types import Corpus, Draws

Training = Callable[[str], AbstractContextManager[Any]]


@dataclass(frozen=True)
class Order:
    """What is asked for; see ``embassay adapt --help``.

    Attributes
    ----------
    negatives, window, margin
        Hard negatives of a question, at most; the last rank of which they are drawn; how much less similar to the
        question than the right document they are.
    epochs, batch, rate
        Of every stage; each stage's own defaults where None.
    warmup, accumulate, patience
        As :class:`~embassay.training.settings.Settings` has them; the last of fine-tuning.
    texts
        Whether result and report of the run keep sentences of the corpora.
    cache, use_cache
        Folder of the vector cache, the user's own where None; whether there is one.
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
    window: int = 50
    margin: float = 0.05
    by: By = "question"
    test: float = 0.2
    general: Sequence[str | Corpus[Any]] = ()
    epochs: float | None = None
    batch: int | None = None
    rate: float | None = None
    warmup: float = 0.1
    accumulate: int = 1
    patience: int = 3
    seed: int = 0
    resamples: int = 1000
    device: str = "auto"
    limit: int | None = None
    overwrite: bool = False
    texts: bool = True
    cache: Path | None = None
    use_cache: bool = True
    quiet: bool = True
    say: Callable[[str], None] = lambda line: None
    training: Training = lambda label: nullcontext(lambda done, total: None)

    def __post_init__(self) -> None:
        """Refuse what neither mining nor the assay can do with.

        Raises
        ------
        SpecError
            If the negatives, their window or margin, the seed or the resamples are out of range.
        """
        if self.negatives < 1:
            raise SpecError(f"negatives must be 1 or more, is {self.negatives}")
        if self.window < 1:
            raise SpecError(f"window must be 1 or more, the last rank that negatives are drawn of; is {self.window}")
        if not 0 <= self.margin < 2:
            raise SpecError(f"margin must be 0 or more and below 2, is {self.margin:g}")
        Draws(self.seed, self.resamples)

    def stages(self) -> tuple[Stage, ...]:
        """Return the trainings; with neither stage asked for, both."""
        both = not self.pretrain and not self.finetune
        first = Stage(PRETRAINED, "pretrain", BASE, self._settings(PRETRAIN), {"objective": self.objective})
        mining = {"per_question": self.negatives, "window": self.window, "margin": self.margin}
        settings = replace(self._settings(FINETUNE), patience=self.patience)
        second = Stage(FINETUNED, "finetune", BASE, settings, {"loss": self.loss, **mining})
        return stages(first if self.pretrain or both else None, second if self.finetune or both else None)

    def _settings(self, default: Settings) -> Settings:
        given = {"epochs": self.epochs, "batch": self.batch, "rate": self.rate}
        given = {name: value for name, value in given.items() if value is not None}
        given |= {"warmup": self.warmup, "accumulate": self.accumulate}
        return replace(default, **given, seed=self.seed, device=self.device)  # type: ignore[arg-type]
