"""A training with sentence-transformers' trainer, which is resumed from the trainer's own checkpoints.

A checkpoint holds the weights of the model and of the loss, the optimizer, the learning rate and the states of all
random numbers. So on a CPU an interrupted training ends with the same weights as an uninterrupted one. The random state
of torch, numpy and random is restored afterwards.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from embassay.core.errors import EncoderError, OutputError, first_line_of
from embassay.core.randomness import generator
from embassay.models.neural.library import quiet
from embassay.training.base_model import Base, load, write_model
from embassay.training.batches import Batch
from embassay.training.checkpoints import (
    NEW,
    SCORE,
    History,
    checkpoint_of,
    load_weights,
    newest,
    put_in_place,
    save_weights,
)
from embassay.training.options import R, SentenceRecipe
from embassay.training.stage import THERE, Advance, Stage, Trained

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import Tensor
    from torch.nn import Module
    from transformers import TrainerCallback, TrainerControl, TrainerState

CHECKPOINTS = 2
"""The number of checkpoints per epoch; in fine-tuning also the number of evaluations."""


@dataclass(frozen=True)
class Job:
    """The model, loss and batches of a training.

    Attributes
    ----------
    model, loss
        A sentence-transformers model, and a torch module that contains it and returns the loss of a batch.
    collate
        Turns the rows of a batch into the trainer's input: tensors named ``column_input_ids`` … Its random numbers come
        from the generator that is passed to it, one for each batch.
    batches
        All batches of all epochs, one for each step.
    evaluate
        Returns the current score of the model (larger is better); None for no evaluations.
    """

    model: SentenceTransformer
    loss: Module
    collate: Callable[[Batch, np.random.Generator], dict[str, Tensor]]
    batches: Sequence[Batch]
    recipe: SentenceRecipe
    evaluate: Callable[[], float] | None = None

    def input_of(self, items: Sequence[tuple[int, Batch]]) -> dict[str, Tensor]:
        """Return the trainer's input of one numbered batch."""
        ((number, batch),) = items
        # A stream for each batch: the loader prepares batches ahead, so their random numbers are not those of a step.
        return self.collate(batch, generator(self.recipe.seed, "adapt", f"batch {number}"))

    def is_due(self, step: int) -> bool:
        """Return whether the model is saved and evaluated after a step: at intervals and at the end."""
        per_epoch = len(self.batches) / max(self.recipe.epochs, 1)
        interval = max(1, round(per_epoch / CHECKPOINTS))
        return step % interval == 0 or step == len(self.batches)

    def weights(self) -> dict[str, Tensor]:
        """Return all trained weights by name; weights that model and loss share are named once."""
        import torch

        return dict(torch.nn.ModuleDict({"model": self.model, "loss": self.loss}).named_parameters())


def train_stage(
    stage: Stage[R],
    base: Base,
    prepare: Callable[[SentenceTransformer], Job],
    facts: Mapping[str, object],
    notes: tuple[str, ...] = (),
    *,
    advance: Advance,
) -> Trained:
    """Train a base and write the model. An existing finished model is used as it is.

    Parameters
    ----------
    prepare
        Returns the job for the loaded model.
    facts, notes
        What the record says of the data.

    Raises
    ------
    EncoderError
        If the loss became NaN or infinite, or the memory does not suffice.
    OutputError
        If a checkpoint cannot be written.
    """
    if stage.open():
        return stage.trained(THERE)
    # A loss may add new weights, such as a head: they depend on the seed too.
    with own_state(stage.recipe.seed), quiet():
        model = load(base, stage.recipe.device)
        job = prepare(model)
        history = newest(stage.work)
        if history is None or history.step < len(job.batches):
            try:
                history = _run_trainer(job, stage.work, history, advance)
            except (MemoryError, RuntimeError) as error:
                if isinstance(error, RuntimeError) and "memory" not in str(error):
                    raise
                raise EncoderError(
                    f"training needs more memory than there is ({first_line_of(error)}); use a smaller --batch"
                ) from error
        load_weights(job.weights(), checkpoint_of(stage.work, history.kept_step()))
        if history.best:
            (_, before), (step, best) = history.evaluations[0], history.best
            success = f"{before:.3f} before training, {best:.3f} at step {step:g} (kept)"
            notes = (*notes, f"Success@5 of the held-out questions: {success}")
        # No time and no date: an interrupted training writes the same record as an uninterrupted one.
        record = {
            **facts,
            "tokens": model.max_seq_length,
            "steps": history.step,
            "device": job.model.device.type,
            "losses": history.losses,
            "evaluations": history.evaluations,
            "best": history.best,
            "notes": notes,
        }
        stage.finish(lambda new: write_model(base, model, new), record)
    return stage.trained(*notes)


def _run_trainer(job: Job, work: Path, history: History | None, advance: Advance) -> History:
    """Run the remaining steps with the library's trainer."""
    import torch
    from sentence_transformers.sentence_transformer.trainer import SentenceTransformerTrainer
    from sentence_transformers.sentence_transformer.training_args import SentenceTransformerTrainingArguments
    from torch.utils.data import DataLoader
    from transformers import PrinterCallback

    weights = job.weights()

    class Trainer(SentenceTransformerTrainer):  # type: ignore[misc]
        """The library's trainer with our batches, and with checkpoints that are whole or not there."""

        def get_train_dataloader(self) -> DataLoader:
            """Return all batches of all epochs, which are one epoch to the trainer."""
            return DataLoader(list(enumerate(job.batches)), batch_size=1, collate_fn=job.input_of)

        def compute_loss(self, *args: object, **kwargs: object) -> Tensor:
            """Return the loss after checking that it is finite; the trainer itself would go on without a word."""
            loss = super().compute_loss(*args, **kwargs)
            if not np.isfinite(float(loss.detach())):
                step = self.state.global_step + 1
                raise EncoderError(f"the loss became NaN or infinite at step {step}; a smaller rate may help")
            return loss

        def evaluate(self, *args: object, **kwargs: object) -> dict[str, float]:
            """Evaluate as the job does, instead of on a dataset."""
            scores = {SCORE: job.evaluate() if job.evaluate else 0.0}
            self.log(scores)
            self.callback_handler.on_evaluate(self.args, self.state, self.control, scores)
            return scores

        def add_model_card_callback(self, *args: object) -> None:
            """Leave out the library's model card, which quotes training texts."""

        def _save(self, output_dir: str, state_dict: object = None) -> None:
            """Write the weights of the model and those that the loss adds, such as a head."""
            save_weights(weights, Path(output_dir))

        def _load_from_checkpoint(self, checkpoint_path: str) -> None:
            load_weights(weights, Path(checkpoint_path))

        def _save_checkpoint(self, *args: object) -> None:
            """Write a checkpoint, and put it in its place when it is complete."""
            try:
                super()._save_checkpoint(*args)
                put_in_place(work, History.of(vars(self.state)))
            except (OSError, RuntimeError) as error:
                raise OutputError(f"{work}: a checkpoint cannot be written: {first_line_of(error)}") from error

    device = job.model.device.type
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(work / NEW),
        max_steps=len(job.batches),
        per_device_train_batch_size=job.recipe.batch,
        learning_rate=job.recipe.rate,
        lr_scheduler_type="linear",
        warmup_steps=job.recipe.warmup,
        seed=job.recipe.seed % 2**32,
        use_cpu=device == "cpu",
        bf16=device == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False),
        save_strategy="no",
        eval_on_start=job.evaluate is not None and history is None,
        logging_steps=1,
        report_to="none",
        disable_tqdm=True,
    )
    # With several GPUs, each would get only a part of a batch and of its negatives.
    arguments._n_gpu = min(arguments.n_gpu, 1)
    trainer = Trainer(model=job.model, args=arguments, loss=job.loss, callbacks=[_after_steps(job, advance)])
    trainer.remove_callback(PrinterCallback)
    job.loss.train()
    trainer.train(resume_from_checkpoint=str(checkpoint_of(work, history.step)) if history else None)
    return History.of(vars(trainer.state))


def _after_steps(job: Job, advance: Advance) -> TrainerCallback:
    """Return what happens after each step."""
    from transformers import TrainerCallback

    rows = [0, *accumulate(map(len, job.batches))]

    class AfterSteps(TrainerCallback):  # type: ignore[misc]
        """Progress, evaluations, checkpoints."""

        def on_step_end(self, args: object, state: TrainerState, control: TrainerControl, **kwargs: object) -> None:
            """Report a step; evaluate and save at intervals, and after the last one."""
            advance(rows[state.global_step], rows[-1])
            control.should_save = job.is_due(state.global_step)
            control.should_evaluate = control.should_save and job.evaluate is not None

    return AfterSteps()


@contextmanager
def own_state(seed: int) -> Iterator[None]:
    """Seed torch, numpy and random in this context, and restore their random states afterwards."""
    import torch
    from transformers import set_seed

    before, numbers = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        with torch.random.fork_rng():
            set_seed(seed % 2**32)
            yield
    finally:
        random.setstate(before)
        np.random.set_state(numbers)  # noqa: NPY002
