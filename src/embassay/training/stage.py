"""What pre-training and fine-tuning share: train a base with a job and write the model's folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from embassay.models.neural.library import quiet
from embassay.models.neural.model import Model
from embassay.training.base_model import NOISY, load, versions, write_model
from embassay.training.checkpoints import History
from embassay.training.model_folder import RECORD, ModelFolder
from embassay.training.settings import TrainingSettings
from embassay.training.trained import THERE, Advance, Trained
from embassay.training.trainer import Job, own_state, train

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
        The objective or the loss, as JSON values.
    data
        A fingerprint of the training data.
    rows
        The number of rows of training data.
    """

    stage: str
    settings: TrainingSettings
    options: Mapping[str, object]
    data: str
    rows: int

    def identity(self, base: Model) -> dict[str, object]:
        """Return the record that a checkpoint or a model must match."""
        settings = {**vars(self.settings), **self.options}
        # The similarity does not change vectors, so it is not in the base's fingerprint, but the loss depends on it.
        settings["similarity"] = base.card.similarity
        # The same training on another device makes the same model.
        del settings["device"]
        return {"stage": self.stage, "settings": settings, "base": base.fingerprint, "data": self.data}


def train_stage(
    recipe: Recipe,
    encoder: Model,
    folder: Path,
    prepare: Callable[[SentenceTransformer], Job],
    *,
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
    model_folder = ModelFolder(folder, RECORD, recipe.identity(encoder), versions())
    if model_folder.open():
        return replace(trained, notes=(THERE,))
    # A loss may add new weights, such as a head: they depend on the seed too.
    with own_state(recipe.settings.seed), quiet(*NOISY):
        model = load(encoder, recipe.settings)
        job = prepare(model)
        history = train(job, model_folder.work, advance)
        notes = (*job.notes, *_evaluation_notes(history, job))
        card = encoder.card
        # No time and no date: an interrupted training writes the same record as an uninterrupted one.
        facts = {
            "asked": model_folder.identity,
            "stage": recipe.stage,
            "base": {"spec": card.spec, "fingerprint": encoder.fingerprint, "revision": card.revision},
            "rows": recipe.rows,
            "tokens": model.max_seq_length,
            "steps": history.step,
            "planned": job.steps,
            "rows_seen": job.rows_after(history.step),
            "device": job.model.device.type,
            "losses": history.losses,
            "evaluations": history.evaluations,
            "best": history.best,
            "notes": list(notes),
        }
        model_folder.finish(lambda new: write_model(encoder, model, new), facts)
    return replace(trained, notes=notes)


def spec_of(folder: Path) -> str:
    """Return the encoder's spec of a folder, in a form that is not mistaken for a model's name."""
    text = folder.as_posix()
    if folder.is_absolute() or text.startswith("../"):
        return text
    return f"./{text}"


def features(model: SentenceTransformer, columns: Mapping[str, tuple[Sequence[str], str]]) -> dict[str, Tensor]:
    """Return the trainer's input of a batch: the tensors of each column, named ``column_feature``.

    Parameters
    ----------
    columns
        By name, one text of each row and the prompt before each text, which may be empty.
    """
    named: dict[str, Tensor] = {}
    for name, (texts, prompt) in columns.items():
        for feature, tensor in model.preprocess(list(texts), prompt=prompt or None).items():
            named[f"{name}_{feature}"] = tensor
    return named


def _evaluation_notes(history: History, job: Job) -> list[str]:
    """Return the outcome of the evaluations, one sentence each."""
    if not history.best:
        return []
    step, best = history.best
    before = history.evaluations[0][1]
    notes = [f"Success@5 of the held-out questions: {before:.3f} before training, {best:.3f} at step {step:g} (kept)"]
    if best <= before:
        notes.append("no step was better on the held-out questions than the starting model")
    if history.step < job.steps:
        notes.append(
            f"stopped early after {history.step} of {job.steps} steps: {history.poorer} evaluations without improvement"
        )
    return notes
