"""The objectives and losses of domain adaptation, and their common settings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from embassay.core.errors import SpecError

Objective = Literal["mlm", "tsdae", "simcse"]
OBJECTIVES: tuple[Objective, ...] = get_args(Objective)
LOSSES = ("mnr", "triplet")
"""The losses of fine-tuning with a name of their own; any other name is that of a class of the library."""
DEVICES = ("auto", "cpu", "cuda", "mps")


@dataclass(frozen=True)
class TrainingSettings:
    """The settings of a stage: duration, learning rate, seed and device.

    Attributes
    ----------
    epochs
        Number of passes over the data, above 0; 0.5 reads half of the data.
    batch
        Number of rows in a batch.
    accumulate
        Number of batches in a step. With the ``mnr`` loss and ``simcse`` they are compared as one large batch, which
        needs a second forward pass (Gao et al. 2021, "Scaling deep contrastive learning batch size"; exact). Otherwise
        their gradients are averaged.
    rate
        Highest learning rate of AdamW; it falls linearly to 0.
    warmup
        Share of the steps in which the learning rate rises, from 0 to below 1.
    seed
        Seed for all random numbers, 0 or more.
    device
        One of :data:`DEVICES`. A GPU computes in bfloat16 if it supports it, a CPU in float32.
    patience
        Fine-tuning stops after this many evaluations in a row without improvement.
    max_steps
        Maximum number of steps, whatever the value of ``epochs``.
    checkpoints
        Number of checkpoints per epoch; in fine-tuning also the number of evaluations.

    Raises
    ------
    SpecError
        If an option is out of range. The message names it.
    """

    epochs: float
    batch: int
    accumulate: int
    rate: float
    warmup: float
    seed: int
    device: str = "auto"
    patience: int = 3
    max_steps: int | None = None
    checkpoints: int = 2

    def __post_init__(self) -> None:
        """Check the range of each option."""
        least = {"batch": 1, "accumulate": 1, "patience": 1, "checkpoints": 1, "seed": 0, "max_steps": 1}
        for name, low in least.items():
            value = getattr(self, name)
            if name == "max_steps" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < low:
                raise SpecError(f"option {name!r}: must be a whole number of {low} or more, is {value}")
        for name in ("epochs", "rate"):
            if not 0 < getattr(self, name) < math.inf:
                raise SpecError(f"option {name!r}: must be above 0, is {getattr(self, name)}")
        if not 0 <= self.warmup < 1:
            raise SpecError(f"option 'warmup': must be from 0 to below 1 (a share of the steps), is {self.warmup}")
        if self.device not in DEVICES:
            raise SpecError(
                f"option 'device': training runs on one of {', '.join(DEVICES)}, not on {self.device!r}; "
                "set CUDA_VISIBLE_DEVICES to choose among several GPUs"
            )


PRETRAIN = TrainingSettings(epochs=1, batch=32, accumulate=1, rate=3e-5, warmup=0.1, seed=0)
FINETUNE = TrainingSettings(epochs=2, batch=32, accumulate=1, rate=2e-5, warmup=0.1, seed=0)
