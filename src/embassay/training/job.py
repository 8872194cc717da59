"""A training as data: its model and batches, its progress, and the optimizer's state in checkpoints."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from embassay.training.batches import Batch
from embassay.training.settings import Settings

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import Tensor
    from torch.nn import Module
    from torch.optim import Optimizer

MOMENTS = ("exp_avg", "exp_avg_sq", "step")
"""The state that AdamW keeps for a weight."""


@dataclass(frozen=True)
class Job:
    """The model, loss and batches of a training.

    Attributes
    ----------
    model, loss
        A sentence-transformers model, and a torch module that contains it and returns the loss of a batch.
    collate
        Turns a batch into the trainer's input: tensors named ``column_input_ids`` …
    batches
        All batches of all epochs.
    max_tokens
        Texts are truncated after this many tokens.
    accumulate
        The number of batches in a step.
    evaluate
        Returns the current score of the model (larger is better); None for no evaluations.
    notes
        Notes on the training, one sentence each.
    """

    model: SentenceTransformer
    loss: Module
    collate: Callable[[Batch], dict[str, Tensor]]
    batches: Sequence[Batch]
    settings: Settings
    max_tokens: int
    accumulate: int = 1
    evaluate: Callable[[], float] | None = None
    notes: tuple[str, ...] = ()

    @property
    def steps(self) -> int:
        """The number of steps, unless something stops the training early."""
        planned = math.ceil(len(self.batches) / self.accumulate)
        return min(planned, self.settings.max_steps or planned)

    @property
    def checkpoint_interval(self) -> int:
        """The number of steps between two checkpoints."""
        per_epoch = len(self.batches) / self.accumulate / max(self.settings.epochs, 1)
        return max(1, round(min(per_epoch, self.steps) / self.settings.checkpoints))

    def rate(self, step: int) -> float:
        """Return the factor of the highest rate at a step (counted from 0): linear up, then linear down."""
        warmup = self.settings.warmup * self.steps
        # Counted from 1, because a first step at rate 0 would learn nothing.
        if step < warmup:
            return (step + 1) / (warmup + 1)
        return (self.steps - step) / max(self.steps - warmup, 1)

    def rows_of_step(self, step: int) -> int:
        """Return the number of rows in a step, counted from 0."""
        first = step * self.accumulate
        return sum(map(len, self.batches[first : first + self.accumulate]))

    @cached_property
    def total_rows(self) -> int:
        """The number of rows in all steps."""
        return sum(map(len, self.batches[: self.steps * self.accumulate]))


@dataclass
class Progress:
    """The progress of a training, as stored in a checkpoint.

    Attributes
    ----------
    losses, evaluations
        [step, mean loss since the last entry] and [step, score].
    best
        [step, score] of the best evaluation after training began; empty before that.
    poorer
        The number of evaluations since the best one.
    notes
        Notes on the training, one sentence each.
    """

    step: int = 0
    rows: int = 0
    seconds: float = 0.0
    losses: list[list[float]] = field(default_factory=list)
    evaluations: list[list[float]] = field(default_factory=list)
    best: list[float] = field(default_factory=list)
    poorer: int = 0
    stopped: bool = False
    notes: list[str] = field(default_factory=list)


def weights_of(job: Job) -> dict[str, Tensor]:
    """Return all trained weights by name, those of the model under ``model.``; shared weights once."""
    import torch

    return dict(torch.nn.ModuleDict({"model": job.model, "loss": job.loss}).named_parameters())


def copy_into(weights: Mapping[str, Tensor], values: Mapping[str, Tensor]) -> None:
    """Copy values into the weights of the same names; other names are ignored."""
    import torch

    with torch.no_grad():
        for name in weights.keys() & values.keys():
            weights[name].copy_(values[name])


def new_optimizer(job: Job, weights: Mapping[str, Tensor]) -> Optimizer:
    """Return AdamW over the weights."""
    import torch

    return torch.optim.AdamW(list(weights.values()), lr=job.settings.rate, weight_decay=0.0)


def optimizer_tensors(optimizer: Optimizer, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return AdamW's state of each weight, named ``moment.weight``."""
    tensors = {}
    for name, weight in weights.items():
        for moment, tensor in optimizer.state.get(weight, {}).items():
            if moment in MOMENTS:
                tensors[f"{moment}.{name}"] = tensor
    return tensors


def restore_optimizer(optimizer: Optimizer, weights: Mapping[str, Tensor], tensors: Mapping[str, Tensor]) -> None:
    """Restore the state that :func:`optimizer_tensors` returned."""
    for name, weight in weights.items():
        state = {}
        for moment in MOMENTS:
            tensor = tensors.get(f"{moment}.{name}")
            if tensor is not None:
                # AdamW keeps its count of steps on the CPU.
                state[moment] = tensor if moment == "step" else tensor.to(weight.device)
        if state:
            optimizer.state[weight] = state
