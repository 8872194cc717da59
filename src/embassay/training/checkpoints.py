"""The trainer's checkpoints: the newest one, and what it tells about the training so far.

A kill may come while a checkpoint is being written. So it is written into ``new`` and renamed when it is
complete. Older checkpoints are removed only afterwards.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embassay.training.stage import read_json

if TYPE_CHECKING:
    from torch import Tensor

NEW = "new"
"""The folder, within the working folder, of a checkpoint that is being written."""
WEIGHTS = "weights.safetensors"
SCORE = "eval_score"
"""The name of an evaluation's score in the trainer's log."""


@dataclass(frozen=True)
class History:
    """The training so far.

    Attributes
    ----------
    losses, evaluations
        [step, loss] of each step and [step, score] of each evaluation; the first evaluation is of the starting model.
    """

    step: int
    losses: list[list[float]]
    evaluations: list[list[float]]

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> History:
        """Return the history in a trainer's state."""
        log = state["log_history"]
        losses = [[entry["step"], entry["loss"]] for entry in log if "loss" in entry]
        evaluations = [[entry["step"], entry[SCORE]] for entry in log if SCORE in entry]
        return cls(state["global_step"], losses, evaluations)

    @property
    def best(self) -> list[float]:
        """[step, score] of the first best evaluation after training began; empty if there is none."""
        return max(self.evaluations[1:], key=lambda evaluation: evaluation[1], default=[])

    def kept_step(self) -> int:
        """Return the step whose weights are kept: that of the best evaluation, or the last one without evaluations."""
        return int(self.best[0]) if self.best else self.step


def checkpoint_of(work: Path, step: int) -> Path:
    """Return the folder of the checkpoint after a step, named as the trainer names it."""
    return work / f"checkpoint-{step}"


def newest(work: Path) -> History | None:
    """Return the history up to the newest checkpoint; None if there is none."""
    steps = [int(path.name.rpartition("-")[2]) for path in work.glob("checkpoint-*")]
    return History.of(read_json(checkpoint_of(work, max(steps)) / "trainer_state.json")) if steps else None


def put_in_place(work: Path, history: History) -> None:
    """Put the newest checkpoint in its place, and remove all others but the one with the best weights.

    Raises
    ------
    OSError
        If the folder cannot be written to.
    """
    checkpoint = checkpoint_of(work, history.step)
    new = checkpoint_of(work / NEW, history.step)
    new.rename(checkpoint)
    kept = {checkpoint, checkpoint_of(work, history.kept_step())}
    for other in work.glob("checkpoint-*"):
        if other not in kept:
            shutil.rmtree(other, ignore_errors=True)


def save_weights(weights: Mapping[str, Tensor], checkpoint: Path) -> None:
    """Write the weights of a model and those that its loss adds, such as a head."""
    from safetensors.torch import save_file

    checkpoint.mkdir(parents=True, exist_ok=True)
    save_file({name: weight.detach().cpu().contiguous() for name, weight in weights.items()}, checkpoint / WEIGHTS)


def load_weights(weights: Mapping[str, Tensor], checkpoint: Path) -> None:
    """Copy the weights of a checkpoint into those of the same names."""
    import torch
    from safetensors.torch import load_file

    stored = load_file(checkpoint / WEIGHTS)
    with torch.no_grad():
        for name, weight in weights.items():
            weight.copy_(stored[name])
