"""The steps of a training, run by sentence-transformers' trainer. Training can be interrupted and resumed at any step.

The trainer gets the remaining batches, the saved state of the optimizer, and the learning rate of each step. Its files,
reports and messages are switched off. Random numbers of a step (dropout) come from a stream of that step; the random
state of torch, numpy and random is restored afterwards. So on a CPU an interrupted training ends with the same weights
as an uninterrupted one.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING

import numpy as np

from embassay.errors import EncoderError
from embassay.training import precision
from embassay.training.base_model import quiet
from embassay.training.checkpoints import StageFolder
from embassay.training.job import (
    Job,
    Progress,
    copy_into,
    new_optimizer,
    optimizer_tensors,
    restore_optimizer,
    weights_of,
)
from embassay.training.shared import Advance
from embassay.training.streams import own_state, seed_torch

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim import Optimizer
    from transformers import TrainerControl

CLIP = 1.0
"""The largest norm of a step's gradient."""


def train(job: Job, folder: StageFolder, advance: Advance) -> Progress:
    """Train from the last checkpoint, if there is one. Afterwards the model has its best weights.

    Raises
    ------
    EncoderError
        If the loss became NaN or infinite.
    OutputError
        If a checkpoint cannot be written, or the best weights cannot be read.
    KeyboardInterrupt
        After the step in which Ctrl-C was pressed; the checkpoint is kept.
    """
    state, tensors = folder.resume()
    progress = Progress(**state)
    weights = weights_of(job)
    copy_into(weights, tensors)
    optimizer = new_optimizer(job, weights)
    restore_optimizer(optimizer, weights, tensors)
    del tensors  # a copy of model and optimizer that would stay in memory during the training
    with own_state(), quiet():
        if not progress.step and job.evaluate:
            progress.evaluations.append([0, job.evaluate()])
        if progress.step < job.steps and not progress.stopped:
            with _until_interrupted() as interrupted:
                _run_trainer(_TrainingRun(job, folder, progress, weights, optimizer, advance, interrupted))
            if interrupted.is_set():
                raise KeyboardInterrupt(f"stopped after step {progress.step} of {job.steps}; the checkpoint is kept")
        if progress.best:
            copy_into(weights, folder.best())
    return progress


@dataclass
class _TrainingRun:
    """One run over the remaining steps of a training: their losses, evaluations and checkpoints."""

    job: Job
    folder: StageFolder
    progress: Progress
    weights: Mapping[str, Tensor]
    optimizer: Optimizer
    advance: Advance
    interrupted: threading.Event
    losses: list[float] = field(default_factory=list)
    since: float = field(default_factory=time.monotonic)

    def note_loss(self, loss: float) -> None:
        """Record the loss of a batch.

        Raises
        ------
        EncoderError
            If it is NaN or infinite.
        """
        if not np.isfinite(loss):
            raise EncoderError(
                f"the loss became NaN or infinite at step {self.progress.step + 1}; a smaller rate may help"
            )
        self.losses.append(loss)

    def end_step(self) -> bool:
        """Count a step, evaluate and write a checkpoint if they are due; return whether to stop."""
        job, progress = self.job, self.progress
        progress.rows += job.rows_of_step(progress.step)
        progress.step += 1
        self.advance(progress.rows, job.total_rows)
        last = progress.step == job.steps
        due = last or progress.step % job.checkpoint_interval == 0
        if due:
            self._evaluate()
        if due or self.interrupted.is_set():
            self._write_checkpoint()
        return last or progress.stopped or self.interrupted.is_set()

    def _evaluate(self) -> None:
        """Evaluate the model, keep the best weights, and decide whether to stop early."""
        job, progress = self.job, self.progress
        if not job.evaluate:
            return
        score = job.evaluate()
        progress.evaluations.append([progress.step, score])
        if not progress.best or score > progress.best[1]:
            progress.best = [progress.step, score]
            progress.poorer = 0
            # Weights that a loss adds, such as a head, are not part of the model that is written.
            model_weights = {name: weight for name, weight in self.weights.items() if name.startswith("model.")}
            self.folder.keep_best(model_weights)
        else:
            progress.poorer += 1
        progress.stopped = progress.poorer >= job.settings.patience

    def _write_checkpoint(self) -> None:
        progress = self.progress
        if self.losses:
            progress.losses.append([progress.step, float(np.mean(self.losses))])
            self.losses.clear()
        now = time.monotonic()
        progress.seconds += now - self.since
        self.since = now
        self.folder.keep(vars(progress), {**self.weights, **optimizer_tensors(self.optimizer, self.weights)})


def _run_trainer(run: _TrainingRun) -> None:
    """Run the remaining steps with the trainer."""
    import torch
    from sentence_transformers.sentence_transformer.trainer import SentenceTransformerTrainer
    from sentence_transformers.sentence_transformer.training_args import SentenceTransformerTrainingArguments
    from torch.optim.lr_scheduler import LambdaLR
    from torch.utils.data import DataLoader
    from transformers import PrinterCallback, TrainerCallback

    job = run.job
    start = run.progress.step
    device = job.model.device.type
    remaining = list(job.batches[start * job.accumulate :])

    class Trainer(SentenceTransformerTrainer):  # type: ignore[misc]
        """The library's trainer with our batches and our record of losses, but without a model card."""

        def get_train_dataloader(self) -> DataLoader:
            """Return the remaining batches."""
            # The loader draws a random number when it starts, which must not come from the stream of dropout.
            return DataLoader(remaining, batch_size=None, collate_fn=job.collate, generator=torch.Generator())

        def compute_loss(self, *args: object, **kwargs: object) -> Tensor | tuple[Tensor, object]:
            """Return the loss, and record it."""
            # The trainer itself would change the precision of the model's forward permanently: in evaluations too, and
            # not in the weights that a loss adds.
            with precision.of_training(device):
                loss = super().compute_loss(*args, **kwargs)
            value = loss
            if isinstance(loss, tuple):
                value = loss[0]
            run.note_loss(float(value.detach()))
            return loss

        def add_model_card_callback(self, *args: object) -> None:
            """Leave out the library's model card, which quotes training texts."""

    class Callback(TrainerCallback):  # type: ignore[misc]
        """The actions before and after each step."""

        def on_step_begin(self, *args: object, **kwargs: object) -> None:
            """Draw the step's dropout from its own stream."""
            seed_torch(job.settings.seed, "step", str(run.progress.step))

        def on_step_end(self, args: object, state: object, control: TrainerControl, **kwargs: object) -> None:
            """Count the step, and decide whether to continue."""
            control.should_training_stop = run.end_step()

    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(run.folder.work),
        max_steps=job.steps - start,
        per_device_train_batch_size=job.settings.batch,
        gradient_accumulation_steps=job.accumulate,
        max_grad_norm=CLIP,
        seed=job.settings.seed,
        use_cpu=device == "cpu",
        save_strategy="no",
        eval_strategy="no",
        logging_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    # With several GPUs, each would get only a part of a batch and of its negatives.
    arguments._n_gpu = min(arguments.n_gpu, 1)
    schedule = LambdaLR(run.optimizer, lambda step: job.rate(start + step))
    trainer = Trainer(
        model=job.model,
        args=arguments,
        loss=job.loss,
        optimizers=(run.optimizer, schedule),
        callbacks=[Callback()],
    )
    trainer.remove_callback(PrinterCallback)
    job.loss.train()
    trainer.train()


@contextmanager
def _until_interrupted() -> Iterator[threading.Event]:
    """Set an event at the first Ctrl-C, so that the current step finishes; a second Ctrl-C stops immediately.

    If Ctrl-C is ignored, for example under ``nohup`` or in a background job, it stays ignored.
    """
    interrupted = threading.Event()
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is signal.SIG_IGN:
        yield interrupted
        return

    def note(number: int, frame: FrameType | None) -> None:
        interrupted.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, note)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)
