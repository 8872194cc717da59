"""A training as data: what is trained on what, how far it is, and the optimizer as it was left."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from embassay.training.batches import Batch
from embassay.training.settings import Settings

MOMENTS = ("exp_avg", "exp_avg_sq", "step")
"""What AdamW remembers of a weight."""


@dataclass(frozen=True)
class Job:
    """What is trained, on what.

    Attributes
    ----------
    model, loss
        A sentence-transformers model, and a torch module that has it as a part and makes a number of a batch.
    collate
        Turns a batch into the trainer's input: tensors named ``column_input_ids`` …
    batches
        All batches of all epochs.
    accumulate
        How many batches make a step.
    evaluate
        Returns how good the model is now, larger is better; None where that is not asked for.
    """

    model: Any
    loss: Any
    collate: Callable[[Batch], dict[str, Any]]
    batches: Sequence[Batch]
    settings: Settings
    accumulate: int = 1
    evaluate: Callable[[], float] | None = None

    @property
    def steps(self) -> int:
        """The number of steps, where nothing stops it early."""
        whole = -(-len(self.batches) // self.accumulate)
        return min(whole, self.settings.max_steps or whole)

    @property
    def every(self) -> int:
        """After how many steps a checkpoint is kept."""
        an_epoch = len(self.batches) / self.accumulate / max(self.settings.epochs, 1)
        return max(1, round(min(an_epoch, self.steps) / self.settings.checkpoints))

    def rate(self, step: int) -> float:
        """Return the share of the highest rate at a step, from 0: linear up, then linear down."""
        warm = self.settings.warmup * self.steps
        return (step + 1) / (warm + 1) if step < warm else (self.steps - step) / max(self.steps - warm, 1)


@dataclass
class Progress:
    """How far a training is, as it stands in a checkpoint.

    Attributes
    ----------
    losses, evaluations
        [step, mean loss since the last] and [step, score].
    poorer
        Evaluations since the best.
    notes
        What a reader must know of how it went.
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


def weights_of(job: Job) -> dict[str, Any]:
    """Return all weights that are trained by name, the model's under ``model.``; shared ones once."""
    import torch

    return dict(torch.nn.ModuleDict({"model": job.model, "loss": job.loss}).named_parameters())


def put(weights: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Write values into the weights of these names."""
    import torch

    with torch.no_grad():
        for name in weights.keys() & values.keys():
            weights[name].copy_(values[name])


def optimizer_of(job: Job, weights: Mapping[str, Any], kept: Mapping[str, Any]) -> Any:
    """Return AdamW over the weights; with a checkpoint's tensors, as it was, the weights too."""
    import torch

    put(weights, kept)
    optimizer = torch.optim.AdamW(list(weights.values()), lr=job.settings.rate, weight_decay=0.0)
    for name, weight in weights.items():
        found = {moment: kept[f"{moment}.{name}"] for moment in MOMENTS if f"{moment}.{name}" in kept}
        if found:
            optimizer.state[weight] = {n: t if n == "step" else t.to(weight.device) for n, t in found.items()}
    return optimizer
