"""What ``embassay adapt --dry-run`` prints: the work that would be done, and how long it takes."""

from __future__ import annotations

from collections.abc import Iterator

from embassay.adaptation.forecast import STEPS, TIMED, Forecast
from embassay.adaptation.pipeline import Adaptation
from embassay.adaptation.variants import BASE, Stage
from embassay.formatting import counted, duration
from embassay.samples.base import Text


def outlook(adaptation: Adaptation) -> Iterator[str]:
    """Yield what an adaptation would do, one line each. A small part of each task is run to estimate its duration."""
    request, material, stages = adaptation.request, adaptation.material, adaptation.stages
    tasks = adaptation.assay.base_plan.tasks
    # Several diagnostics use the same corpus; each distinct text is encoded once.
    distinct: dict[Text, None] = {}
    for task in tasks:
        distinct.update(dict.fromkeys(task.corpus.texts()))
    texts = tuple(distinct)
    forecast = Forecast(adaptation.making, texts, adaptation.assay.scoring_seconds())
    yield f"base: {request.base} ({adaptation.base.fingerprint})"
    yield f"questions: {adaptation.split_summary()}"
    yield from adaptation.notes()
    yield f"sentences to pre-train on: {len(material.sentences):,}; documents: {len(material.union.documents):,}"
    limit = request.options.limit
    if limit is not None:
        yield f"--limit {limit} limits the units of the questions; all documents and their sentences are kept"

    total = forecast.mining()
    if total:
        yield f"search for negatives: about {duration(total)}"
    for stage in stages:
        seconds = forecast.training(stage)
        total += seconds
        estimate = ""
        if seconds:
            estimate = f", about {duration(seconds)}"
        yield f"{stage.variant}: {_training(forecast, stage)}{estimate}"
    seconds = forecast.assay()
    total += seconds
    corpora = ", ".join(dict.fromkeys(task.corpus.name for task in tasks))
    variants = ", ".join((BASE, *(stage.variant for stage in stages)))
    yield f"assay: {variants} on {corpora}: {counted(len(texts), 'text')} each, about {duration(seconds)}"
    yield from adaptation.assay.limitations()
    yield (
        f"total: about {duration(total)} on this computer (estimated from {STEPS} steps of each kind of training, "
        f"{TIMED} encoded texts and one assay of hashed word counts)"
    )


def _training(forecast: Forecast, stage: Stage) -> str:
    """Return how many rows a stage reads, and how often it evaluates the model."""
    rows = forecast.rows(stage)
    description = counted(rows, "row")
    if stage.kind == "finetune" and stage.options.loss == "triplet":
        description += " at most, one for each negative"
    elif stage.kind == "finetune":
        description += f" with at most {stage.options.negatives} negatives each"
    if not forecast.making.due(stage):
        return f"{description}: already trained"
    description += f": {counted(stage.steps(rows), 'step')}"
    evaluations = forecast.evaluations(stage)
    if evaluations:
        description += f", {counted(evaluations, 'evaluation')} on all documents"
    return description
