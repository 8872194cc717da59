"""The steps of a training on sentence-transformers' trainer, which can be stopped after any and goes on exactly there.

The trainer is given the batches that are still to come, the optimizer as it was, and the rate of each step; what it
would write, report or print is switched off. What is random in a step (dropout) is drawn from a stream of that step,
and torch, numpy and random have their own state again afterwards. So on a CPU a training that was stopped comes to the
same weights as one that was not.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from embassay.errors import EncoderError
from embassay.training import precision
from embassay.training.base_model import quiet
from embassay.training.batches import Batch
from embassay.training.checkpoints import StageFolder
from embassay.training.job import MOMENTS, Job, Progress, optimizer_of, put, weights_of
from embassay.training.shared import Advance
from embassay.training.streams import own_state, seed_torch

CLIP = 1.0
"""The largest norm of a step's gradient."""


def train(job: Job, folder: StageFolder, advance: Advance) -> Progress:
    """Train, from the last checkpoint where there is one; afterwards the model has its best weights.

    Raises
    ------
    EncoderError
        If the loss becomes no number.
    OutputError
        If a checkpoint cannot be written, or the best weights cannot be read again.
    KeyboardInterrupt
        After the step in which Ctrl-C was pressed; the checkpoint is kept.
    """
    state, tensors = folder.resume()
    progress = Progress(**state)
    weights = weights_of(job)
    optimizer = optimizer_of(job, weights, tensors)
    del tensors
    with own_state(), quiet():
        if not progress.step and job.evaluate:
            progress.evaluations.append([0, job.evaluate()])
        if progress.step < job.steps and not progress.stopped:
            with _until_interrupted() as asked:
                keeper = _Keeper(job, folder, progress, weights, optimizer, advance, asked)
                _run(job, keeper, optimizer, progress.step)
            if asked.is_set():
                raise KeyboardInterrupt(f"stopped after step {progress.step} of {job.steps}; its checkpoint is kept")
        if progress.best:
            put(weights, folder.best())
    return progress


def _run(job: Job, keeper: _Keeper, optimizer: Any, start: int) -> None:
    """Let the trainer do the steps that are left."""
    from sentence_transformers.sentence_transformer.trainer import SentenceTransformerTrainer
    from sentence_transformers.sentence_transformer.training_args import SentenceTransformerTrainingArguments
    from torch.optim.lr_scheduler import LambdaLR
    from transformers import PrinterCallback, TrainerCallback

    kind = job.model.device.type
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(keeper.folder.work),
        max_steps=job.steps - start,
        per_device_train_batch_size=job.settings.batch,
        gradient_accumulation_steps=job.accumulate,
        max_grad_norm=CLIP,
        seed=job.settings.seed,
        use_cpu=kind == "cpu",
        save_strategy="no",
        eval_strategy="no",
        logging_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    arguments._n_gpu = min(arguments.n_gpu, 1)  # several GPUs would each get a part of a batch, and of its negatives
    trainer = type("Trainer", (_Trainer, SentenceTransformerTrainer), {})(
        model=job.model,
        args=arguments,
        loss=job.loss,
        optimizers=(optimizer, LambdaLR(optimizer, lambda step: job.rate(start + step))),
        callbacks=[type("Keeper", (_Callback, TrainerCallback), {})(keeper)],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.keeper, trainer.coming = keeper, job.batches[start * job.accumulate :]
    job.loss.train()
    trainer.train()


class _Trainer:
    """What the trainer does otherwise: our batches, our ledger of losses, no model card."""

    keeper: _Keeper
    coming: Sequence[Batch]

    def get_train_dataloader(self) -> Any:
        """Return the batches that are still to come."""
        import torch
        from torch.utils.data import DataLoader

        # A generator of its own: the loader draws a number at its start, which must not come from dropout's stream.
        own = torch.Generator()
        return DataLoader(list(self.coming), batch_size=None, collate_fn=self.keeper.job.collate, generator=own)

    def compute_loss(self, *args: Any, **kwargs: Any) -> Any:
        """Return the loss, and note it down.

        The precision is set here and not by the trainer, which would set that of the model's own forward for good: in
        the evaluations too, and not in what a loss adds to the model.
        """
        with precision.of_training(self.keeper.job.model.device.type):
            loss = super().compute_loss(*args, **kwargs)  # type: ignore[misc]
        self.keeper.note(float(loss.detach() if hasattr(loss, "detach") else loss[0].detach()))
        return loss

    def add_model_card_callback(self, *args: Any) -> None:
        """Leave the library's card out: it quotes what was trained on."""


class _Callback:
    """Hands the trainer's events to the keeper."""

    def __init__(self, keeper: _Keeper):
        self.keeper = keeper

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Draw the step's dropout from its own stream."""
        seed_torch(self.keeper.job.settings.seed, "step", str(self.keeper.progress.step))

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Keep what has to be kept, and say whether to go on."""
        control.should_training_stop = self.keeper.after_step()


class _Keeper:
    """Looks after a training from step to step."""

    def __init__(
        self,
        job: Job,
        folder: StageFolder,
        progress: Progress,
        weights: Mapping[str, Any],
        optimizer: Any,
        advance: Advance,
        interrupted: threading.Event,
    ):
        self.job, self.folder, self.progress, self.weights = job, folder, progress, weights
        self._optimizer, self._advance, self._interrupted = optimizer, advance, interrupted
        self._losses: list[float] = []
        self._since = time.monotonic()
        self._total = sum(map(len, job.batches[: job.steps * job.accumulate]))

    def note(self, loss: float) -> None:
        """Note the loss of a batch.

        Raises
        ------
        EncoderError
            If it is no number.
        """
        if not np.isfinite(loss):
            raise EncoderError(
                f"the loss is no number any more at step {self.progress.step + 1}; a smaller rate may help"
            )
        self._losses.append(loss)

    def after_step(self) -> bool:
        """Count a step, keep a checkpoint where it is time; return whether to stop."""
        job, progress = self.job, self.progress
        first = progress.step * job.accumulate
        progress.rows += sum(map(len, job.batches[first : first + job.accumulate]))
        progress.step += 1
        self._advance(progress.rows, self._total)
        last, due = progress.step == job.steps, progress.step % job.every == 0
        if last or due:
            self._evaluate()
        if last or due or self._interrupted.is_set():
            self._keep()
        return last or progress.stopped or self._interrupted.is_set()

    def _evaluate(self) -> None:
        """Ask how good the model is, keep it where it is the best so far, and stop where it has long been none."""
        progress = self.progress
        if not self.job.evaluate:
            return
        score = self.job.evaluate()
        progress.evaluations.append([progress.step, score])
        if not progress.best or score > progress.best[1]:
            progress.best, progress.poorer = [progress.step, score], 0
            self.folder.keep_best({n: w for n, w in self.weights.items() if n.startswith("model.")})
        else:
            progress.poorer += 1
        progress.stopped = progress.poorer >= self.job.settings.patience

    def _keep(self) -> None:
        if self._losses:
            self.progress.losses.append([self.progress.step, float(np.mean(self._losses))])
            self._losses.clear()
        now = time.monotonic()
        self.progress.seconds, self._since = self.progress.seconds + now - self._since, now
        moments = {
            f"{moment}.{name}": self._optimizer.state[weight][moment]
            for name, weight in self.weights.items()
            for moment in MOMENTS
            if moment in self._optimizer.state.get(weight, {})
        }
        self.folder.keep(vars(self.progress), {**self.weights, **moments})


@contextmanager
def _until_interrupted() -> Iterator[threading.Event]:
    """Note the first Ctrl-C, so that the step is done first; a second one stops at once.

    Where Ctrl-C is ignored, as under ``nohup`` or in the background of a script, it stays ignored.
    """
    asked = threading.Event()
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is signal.SIG_IGN:
        yield asked
        return

    def note(number: int, frame: Any) -> None:
        asked.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, note)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)
