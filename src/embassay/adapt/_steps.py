"""The steps of a training on sentence-transformers' trainer, which can be stopped after any and goes on exactly there.

The trainer is given the batches that are still to come, the optimizer as it was, and the rate of each step; what it
would write, report or print is switched off. What is random in a step (dropout) is drawn from a stream of that step,
and torch, numpy and random have their own state again afterwards. So on a CPU a training that was stopped comes to the
same weights as one that was not.
"""

from __future__ import annotations

import random
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from embassay.adapt._base import quiet
from embassay.adapt._batches import Batch
from embassay.adapt._keeping import StageFolder
from embassay.adapt._training import Advance
from embassay.adapt.settings import Settings
from embassay.errors import EncoderError
from embassay.randomness import generator

MOMENTS = ("exp_avg", "exp_avg_sq", "step")
"""What AdamW remembers of a weight."""
CLIP = 1.0
"""The largest norm of a step's gradient."""


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
    """

    step: int = 0
    rows: int = 0
    seconds: float = 0.0
    losses: list[list[float]] = field(default_factory=list)
    evaluations: list[list[float]] = field(default_factory=list)
    best: list[float] = field(default_factory=list)
    poorer: int = 0
    stopped: bool = False


def train(job: Job, folder: StageFolder, advance: Advance) -> Progress:
    """Train, from the last checkpoint where there is one; afterwards the model has its best weights.

    Raises
    ------
    EncoderError
        If the loss becomes no number.
    KeyboardInterrupt
        After the step in which Ctrl-C was pressed; the checkpoint is kept.
    """
    state, tensors = folder.resume()
    progress = Progress(**state)
    weights = _weights(job)
    optimizer = _optimizer(job, weights, tensors)
    del tensors
    with _own_state(), quiet():
        if not progress.step and job.evaluate:
            progress.evaluations.append([0, job.evaluate()])
        if progress.step < job.steps and not progress.stopped:
            with _until_interrupted() as asked:
                keeper = _Keeper(job, folder, progress, weights, optimizer, advance, asked)
                _run(job, keeper, optimizer, progress.step)
            if asked.is_set():
                raise KeyboardInterrupt(f"stopped after step {progress.step} of {job.steps}; its checkpoint is kept")
        if best := folder.best():
            _put(weights, best)
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
        bf16=_bfloat16(kind),
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
        """Return the loss, and note it down."""
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
        _seed_torch(self.keeper.job.settings.seed, "step", str(self.keeper.progress.step))

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


def _weights(job: Job) -> dict[str, Any]:
    """Return all weights that are trained by name, the model's under ``model.``; shared ones once."""
    import torch

    return dict(torch.nn.ModuleDict({"model": job.model, "loss": job.loss}).named_parameters())


def _put(weights: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Write values into the weights of these names."""
    import torch

    with torch.no_grad():
        for name in weights.keys() & values.keys():
            weights[name].copy_(values[name])


def _optimizer(job: Job, weights: Mapping[str, Any], kept: Mapping[str, Any]) -> Any:
    """Return AdamW over the weights; with a checkpoint's tensors, as it was, the weights too."""
    import torch

    _put(weights, kept)
    optimizer = torch.optim.AdamW(list(weights.values()), lr=job.settings.rate, weight_decay=0.0)
    for name, weight in weights.items():
        found = {moment: kept[f"{moment}.{name}"] for moment in MOMENTS if f"{moment}.{name}" in kept}
        if found:
            optimizer.state[weight] = {n: t if n == "step" else t.to(weight.device) for n, t in found.items()}
    return optimizer


def _bfloat16(kind: str) -> bool:
    """Say whether the device computes in bfloat16; not tried on a GPU."""
    import torch

    return kind == "cuda" and bool(torch.cuda.is_bf16_supported(including_emulation=False))


def seed_of(seed: int, *purpose: str) -> int:
    """Return the number that starts torch's stream of this purpose, below 2**63."""
    return int(generator(seed, "adapt", *purpose).integers(2**63))


def _seed_torch(seed: int, *purpose: str) -> None:
    """Start torch's own streams, on all devices; only inside :func:`_own_state`."""
    import torch

    number = seed_of(seed, *purpose)
    torch.set_rng_state(torch.Generator().manual_seed(number).get_state())
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(number)
    if torch.backends.mps.is_available():
        torch.mps.manual_seed(number)


@contextmanager
def drawn(seed: int, *purpose: str) -> Iterator[None]:
    """Draw what torch draws meanwhile, new weights for example, from the stream of this purpose."""
    with _own_state():
        _seed_torch(seed, *purpose)
        yield


@contextmanager
def _own_state() -> Iterator[None]:
    """Put the state of the libraries' random streams back afterwards."""
    import torch

    before, numbers = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        with torch.random.fork_rng():
            yield
    finally:
        random.setstate(before)
        np.random.set_state(numbers)  # noqa: NPY002


@contextmanager
def _until_interrupted() -> Iterator[threading.Event]:
    """Note the first Ctrl-C, so that the step is done first; a second one stops at once."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    before = signal.getsignal(signal.SIGINT)

    def note(number: int, frame: Any) -> None:
        asked.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, note)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)
