"""How a stage of domain adaptation trains: the objectives and losses, and the settings that all of them have."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from embassay.errors import SpecError

Objective = Literal["mlm", "tsdae", "simcse"]
OBJECTIVES: tuple[Objective, ...] = get_args(Objective)
Loss = Literal["mnr", "triplet"]
LOSSES: tuple[Loss, ...] = get_args(Loss)
DEVICES = ("auto", "cpu", "cuda", "mps")


@dataclass(frozen=True)
class Settings:
    """How long, at what rate and where a stage trains.

    Attributes
    ----------
    epochs
        How often the data are read, above 0; 0.5 reads half of them.
    batch
        Rows that go through the model together.
    accumulate
        The number of batches of a step. With the ``mnr`` loss and ``simcse`` they are compared as one large batch (Gao
        et al. 2021, "Scaling deep contrastive learning batch size", exact), at the price of a second pass forward;
        elsewhere their gradients are averaged.
    rate
        The highest learning rate of AdamW; it falls linearly to 0.
    warmup
        The share of the steps in which the rate rises to it, from 0 to below 1.
    seed
        Of every random draw, 0 or more.
    device
        One of :data:`DEVICES`. A GPU computes in bfloat16 where it can, a CPU in float32; evaluations are in
        float32.
    patience
        Fine-tuning stops after this many evaluations in a row without improvement.
    max_steps
        The most steps, whatever ``epochs`` says.
    checkpoints
        The number of checkpoints of an epoch, and of evaluations in fine-tuning.

    Raises
    ------
    SpecError
        For an option out of its range, by name.
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
        """Check the range of each."""
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
            raise SpecError(f"option 'warmup': a share of the steps, from 0 to below 1; it is {self.warmup}")
        if self.device not in DEVICES:
            raise SpecError(
                f"option 'device': training runs on one of {', '.join(DEVICES)}, not on {self.device!r}; "
                "CUDA_VISIBLE_DEVICES chooses among several GPUs"
            )


PRETRAIN = Settings(epochs=1, batch=32, accumulate=1, rate=3e-5, warmup=0.1, seed=0)
FINETUNE = Settings(epochs=2, batch=32, accumulate=1, rate=2e-5, warmup=0.1, seed=0)
