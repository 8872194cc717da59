"""What pre-training and fine-tuning share: from a base and a job to a folder with a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from embassay.encoders.neural.st import SentenceTransformersEncoder
from embassay.training.base_model import load, quiet, versions, write_model
from embassay.training.checkpoints import StageFolder
from embassay.training.job import Job, Progress
from embassay.training.settings import Settings
from embassay.training.shared import THERE, Advance, Trained
from embassay.training.steps import train
from embassay.training.streams import drawn


@dataclass(frozen=True)
class Recipe:
    """What makes a stage's model what it is.

    Attributes
    ----------
    name, aim
        ``pretraining`` with its objective, or ``finetuning`` with its loss.
    options
        What was asked for beside the settings, as JSON values.
    data
        A fingerprint of what is learnt from.
    rows
        How many rows that is.
    """

    name: str
    aim: str
    settings: Settings
    options: Mapping[str, Any]
    data: str
    rows: int

    def asked(self, base: SentenceTransformersEncoder) -> dict[str, Any]:
        """Return what a checkpoint or a model has to agree with; where it is trained is no part of it."""
        settings = {name: value for name, value in vars(self.settings).items() if name != "device"}
        settings |= {self.aim_name: self.aim, **self.options}
        settings |= {"similarity": base.card.similarity}  # which moves no vector, and so no fingerprint
        return {"stage": self.name, "settings": settings, "base": base.fingerprint, "data": self.data}

    @property
    def aim_name(self) -> str:
        """What the aim is called among the options."""
        return "objective" if self.name == "pretraining" else "loss"


def conduct(
    recipe: Recipe,
    encoder: SentenceTransformersEncoder,
    folder: Path,
    prepare: Callable[[Any], tuple[Job, Sequence[str], int]],
    *,
    overwrite: bool,
    advance: Advance,
) -> Trained:
    """Train what ``prepare`` makes of the loaded model and write it; a model that is there already is taken.

    Parameters
    ----------
    prepare
        From the model to a job, notes, and after how many tokens texts are cut.
    """
    trained = Trained(folder, spec_of(folder))
    place = StageFolder(folder, recipe.asked(encoder), versions())
    if place.open(overwrite):
        return replace(trained, notes=(THERE,))
    with quiet(), drawn(recipe.settings.seed, "new weights"):
        model = load(encoder, recipe.settings)
        job, notes, cut = prepare(model)
    progress = train(job, place, advance)
    notes = (*notes, *progress.notes, *_notes(progress, job))
    with quiet():
        place.finish(lambda new: write_model(encoder, model, new), _facts(recipe, encoder, job, progress, notes, cut))
    return replace(trained, notes=notes)


def spec_of(folder: Path) -> str:
    """Return the encoder's spec of a folder, which no model's name can be taken for."""
    text = folder.as_posix()
    return text if folder.is_absolute() or text.startswith("../") else f"./{text}"


def columns(model: Any, texts: Mapping[str, Sequence[str]], prompts: Mapping[str, str], cut: int) -> dict[str, Any]:
    """Return the trainer's input of a batch: the features of each column of texts, named ``column_feature``."""
    found: dict[str, Any] = {}
    for column, own in texts.items():
        features = model.preprocess(list(own), prompt=prompts.get(column) or None, max_length=cut)
        found |= {f"{column}_{name}": value for name, value in features.items()}
    return found


def _notes(progress: Progress, job: Job) -> tuple[str, ...]:
    """Say what came of the evaluations."""
    if not job.evaluate or not progress.best:
        return ()
    step, best = progress.best
    before = progress.evaluations[0][1]
    found = [f"Success@5 of the held-out questions: {before:.3f} before, {best:.3f} at step {step:g}, which is kept"]
    if best <= before:
        found.append("no step was better on the held-out questions than the model that training began with")
    if progress.step < job.steps:
        found.append(
            f"stopped early, after {progress.step} of {job.steps} steps: {progress.poorer} evaluations no better"
        )
    return tuple(found)


def _facts(
    recipe: Recipe,
    encoder: SentenceTransformersEncoder,
    job: Job,
    progress: Progress,
    notes: Sequence[str],
    cut: int,
) -> dict[str, Any]:
    """Return what ``training.json`` says beside what was asked for."""
    return {
        "stage": recipe.name,
        "base": {
            "spec": encoder.card.spec,
            "fingerprint": encoder.fingerprint,
            "revision": encoder.card.revision,
        },
        "rows": recipe.rows,
        "tokens": cut,
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
