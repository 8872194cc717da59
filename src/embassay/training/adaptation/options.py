"""The options of ``embassay adapt``: one record for the command line, for Python and for the variants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from embassay.core.errors import SpecError
from embassay.training.settings import Objective

By = Literal["question", "context"]
"""What training and test questions must not share: their text, or also a unit or a right document."""


@dataclass(frozen=True)
class AdaptOptions:
    """Options of domain adaptation, the same as those of ``embassay adapt``.

    Attributes
    ----------
    pretrain
        Pre-train on the sentences of the documents. Without --pretrain and --finetune, all four variants are made.
    finetune
        Fine-tune on questions, their right documents and hard negatives.
    objective
        Objective of pre-training: mlm (predict masked words), tsdae (restore deleted words), simcse (dropout).
    loss
        Loss of fine-tuning: mnr (right document first in batch), triplet (by a margin), or one of the library by name.
    negatives
        Maximum number of hard negatives for each question, found with the base model. More make training slower.
    window
        Negatives are sampled from this many nearest documents of a question.
    margin
        A negative must be less similar to the question than the right document by this difference of cosines.
    by
        Keep training and test questions apart by their text (question), or also by unit and right document (context).
    test
        Share of the questions that is held out for the test.
    epochs
        Number of passes over the data in each stage. Default: 1 for pre-training, 2 for fine-tuning.
    batch
        Number of rows in a batch, in each stage. Default: 32.
    rate
        Highest learning rate, in each stage. Default: 3e-5 for pre-training, 2e-5 for fine-tuning.
    warmup
        Share of the steps in which the learning rate rises, in each stage.
    accumulate
        Number of batches in one step, in each stage.
    patience
        Stop fine-tuning after this many evaluations in a row without improvement.
    seed
        Seed for all random numbers.
    resamples
        Bootstrap resamples. Affects intervals, not p-values of comparisons (9,999 sign flips or more).
    device
        Device for training and assay: auto, cpu, cuda, mps. CUDA_VISIBLE_DEVICES chooses among several GPUs.
    limit
        Keep the questions of at most N randomly chosen units of each corpus. All documents are kept.
    documents
        Keep at most N randomly chosen documents of each corpus and the questions that they answer, for a trial.
    text
        File or folder of further text for pre-training, repeatable: documents or a table of texts, without questions.
    triplets
        Table with the columns query, positive and negatives, to fine-tune on instead of mined negatives.
    no_texts
        Leave all sentences of the corpora out of the result and the report of the run.

    Raises
    ------
    SpecError
        If an option of the negatives or of the split is out of range.

    Examples
    --------
    >>> ea.AdaptOptions(finetune=True).loss
    'mnr'
    """

    pretrain: bool = False
    finetune: bool = False
    objective: Objective = "mlm"
    loss: str = "mnr"
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
    documents: int | None = None
    text: tuple[str, ...] = ()
    triplets: str | None = None
    no_texts: bool = False

    def __post_init__(self) -> None:
        """Check the options that neither the trainings nor the assay check."""
        if self.documents is not None and self.documents < 1:
            raise SpecError(f"documents must be 1 or more, is {self.documents}")
        if self.text and self.finetune and not self.pretrain:
            raise SpecError("--text is for pre-training: add --pretrain, or leave out --finetune")
        if self.triplets and self.pretrain and not self.finetune:
            raise SpecError("--triplets is for fine-tuning: add --finetune, or leave out --pretrain")
        if self.negatives < 1:
            raise SpecError(f"negatives must be 1 or more, is {self.negatives}")
        if self.window < 1:
            raise SpecError(f"window must be 1 or more, is {self.window}")
        if not 0 <= self.margin < 2:
            raise SpecError(f"margin must be 0 or more and below 2, is {self.margin:g}")
        if self.by not in get_args(By):
            raise SpecError(f"by must be {' or '.join(get_args(By))}, is {self.by!r}")
        if not 0 < self.test < 1:
            raise SpecError(f"test must be above 0 and below 1 (0.2 is a fifth of the questions), is {self.test:g}")
