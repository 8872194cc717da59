"""What pre-training and fine-tuning share: train a base with a job and write the model's folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from embassay.encoders.neural.st import SentenceTransformersEncoder
from embassay.training.base_model import load, quiet, versions, write_model
from embassay.training.checkpoints import StageFolder
from embassay.training.job import Job, Progress
from embassay.training.settings import Settings
from embassay.training.shared import THERE, Advance, Trained
from embassay.training.steps import train
from embassay.training.streams import drawn

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import Tensor


@dataclass(frozen=True)
class Recipe:
    """Everything that determines the model that a stage makes from its base.

    Attributes
    ----------
    stage
        ``pretraining`` or ``finetuning``.
    options
        The objective or the loss, and its options, as JSON values.
    data
        A fingerprint of the training data.
    rows
        The number of rows of training data.
    """

    stage: str
    settings: Settings
    options: Mapping[str, object]
    data: str
    rows: int

    def identity(self, base: SentenceTransformersEncoder) -> dict[str, object]:
        """Return the record that a checkpoint or a model must match."""
        settings = {**vars(self.settings), **self.options}
        # The similarity does not change vectors, so it is not in the base's fingerprint, but the loss depends on it.
        settings["similarity"] = base.card.similarity
        # The same training on another device makes the same model.
        del settings["device"]
        return {"stage": self.stage, "settings": settings, "base": base.fingerprint, "data": self.data}


def train_stage(
    recipe: Recipe,
    encoder: SentenceTransformersEncoder,
    folder: Path,
    prepare: Callable[[SentenceTransformer], Job],
    *,
    overwrite: bool,
    advance: Advance,
) -> Trained:
    """Train a base and write the model. An existing finished model is used as it is.

    Parameters
    ----------
    encoder
        The base.
    prepare
        Returns the job for the loaded model.
    """
    trained = Trained(folder, spec_of(folder))
    stage_folder = StageFolder(folder, recipe.identity(encoder), versions())
    if stage_folder.open(overwrite):
        return replace(trained, notes=(THERE,))
    # A loss may add new weights, such as a head: they depend on the seed too.
    with quiet(), drawn(recipe.settings.seed, "new weights"):
        model = load(encoder, recipe.settings)
        job = prepare(model)
    progress = train(job, stage_folder, advance)
    notes = (*job.notes, *progress.notes, *_evaluation_notes(progress, job))
    card = encoder.card
    base = {"spec": card.spec, "fingerprint": encoder.fingerprint, "revision": card.revision}
    facts = {
        "stage": recipe.stage,
        "base": base,
        "rows": recipe.rows,
        "tokens": job.max_tokens,
        "steps": progress.step,
        "planned": job.steps,
        "rows_seen": progress.rows,
        "seconds": progress.seconds,
        "device": job.model.device.type,
        "losses": progress.losses,
        "evaluations": progress.evaluations,
        "best": progress.best,
        "notes": list(notes),
    }
    with quiet():
        stage_folder.finish(lambda new: write_model(encoder, model, new), facts)
    return replace(trained, notes=notes)


def spec_of(folder: Path) -> str:
    """Return the encoder's spec of a folder, in a form that is not mistaken for a model's name."""
    text = folder.as_posix()
    if folder.is_absolute() or text.startswith("../"):
        return text
    return f"./{text}"


@dataclass(frozen=True)
class Column:
    """One text of each row of a batch.

    Attributes
    ----------
    prompt
        The prompt before each text; may be empty.
    """

    texts: Sequence[str]
    prompt: str = ""


def features(model: SentenceTransformer, columns: Mapping[str, Column], max_tokens: int) -> dict[str, Tensor]:
    """Return the trainer's input of a batch: the tensors of each column, named ``column_feature``."""
    named: dict[str, Tensor] = {}
    for name, column in columns.items():
        tensors = model.preprocess(list(column.texts), prompt=column.prompt or None, max_length=max_tokens)
        for feature, tensor in tensors.items():
            named[f"{name}_{feature}"] = tensor
    return named


def _evaluation_notes(progress: Progress, job: Job) -> list[str]:
    """Return the outcome of the evaluations, one sentence each."""
    if not job.evaluate or not progress.best:
        return []
    step, best = progress.best
    before = progress.evaluations[0][1]
    notes = [f"Success@5 of the held-out questions: {before:.3f} before training, {best:.3f} at step {step:g} (kept)"]
    if best <= before:
        notes.append("no step was better on the held-out questions than the starting model")
    if progress.step < job.steps:
        notes.append(
            f"stopped early after {progress.step} of {job.steps} steps: {progress.poorer} evaluations without "
            "improvement"
        )
    return notes
