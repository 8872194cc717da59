"""The options of ``embassay adapt``: one record for the command line, for Python and for the variants that are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from embassay.errors import SpecError
from embassay.training.settings import Loss, Objective

By = Literal["question", "context"]
"""What training and test questions do not share: their text, or also a unit or a right document."""


@dataclass(frozen=True)
class AdaptOptions:
    """Options of domain adaptation, as ``embassay adapt`` has them.

    Attributes
    ----------
    pretrain
        Learn from the sentences of the documents; neither this nor --finetune: both, and all four variants.
    finetune
        Learn from questions, their right documents and hard negatives.
    objective
        Of pre-training: mlm (masked words), tsdae (sentences with words left out), simcse (dropout).
    loss
        Of fine-tuning: mnr (the right document among all of a batch), triplet (nearer by a margin).
    negatives
        Hard negatives of a question, at most, found with the base model; more are slower.
    window
        They are drawn of the question's so many nearest documents.
    margin
        How much less similar to the question than the right document they are: a difference of cosines.
    by
        What training and test do not share: the question, or also its context (unit and right document).
    test
        Share of the questions that is held out.
    epochs
        How often each stage reads its data; each stage's own number by default.
    batch
        Rows of a batch, of each stage.
    rate
        Highest learning rate, of each stage.
    warmup
        Share of the steps in which the rate rises, of each stage.
    accumulate
        How many batches make one step, of each stage.
    patience
        After how many evaluations in a row without a better one fine-tuning stops.
    seed
        Of every random draw.
    resamples
        Of every bootstrap. Governs intervals, not the p of comparisons (9,999 sign flips or more).
    device
        Where it runs: auto, cpu, cuda, mps; CUDA_VISIBLE_DEVICES chooses among several GPUs.
    limit
        Keep the questions of so many whole units of each corpus, drawn by the seed; all documents stay.
    no_texts
        Keep no sentence of a corpus in the result and the report of the run.

    Raises
    ------
    SpecError
        If an option of the negatives or of the split is out of range.
    """

    pretrain: bool = False
    finetune: bool = False
    objective: Objective = "mlm"
    loss: Loss = "mnr"
    negatives: int = 2
    window: int = 50
    margin: float = 0.05
    by: By = "question"
    test: float = 0.2
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
    no_texts: bool = False

    def __post_init__(self) -> None:
        """Check what neither the trainings nor the assay check."""
        if self.negatives < 1:
            raise SpecError(f"negatives must be 1 or more, is {self.negatives}")
        if self.window < 1:
            raise SpecError(f"window must be 1 or more, the last rank that negatives are drawn of; is {self.window}")
        if not 0 <= self.margin < 2:
            raise SpecError(f"margin must be 0 or more and below 2, is {self.margin:g}")
        if self.by not in get_args(By):
            raise SpecError(f"by must be {' or '.join(get_args(By))}, is {self.by!r}")
        if not 0 < self.test < 1:
            raise SpecError(f"test must be above 0 and below 1 (0.2 is a fifth of the questions), is {self.test:g}")
