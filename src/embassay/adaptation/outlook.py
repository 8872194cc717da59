"""What ``embassay adapt --dry-run`` prints: the work that would be done."""

from __future__ import annotations

from collections.abc import Iterator

from embassay.adaptation.making import Making
from embassay.adaptation.pipeline import Adaptation
from embassay.adaptation.variants import BASE, Stage
from embassay.samples.base import Text


def outlook(adaptation: Adaptation) -> Iterator[str]:
    """Yield what an adaptation would do, one line each."""
    request, material, stages = adaptation.request, adaptation.material, adaptation.stages
    yield f"base: {request.base} ({adaptation.base.fingerprint})"
    yield f"questions: {adaptation.split_summary()}"
    yield from adaptation.notes()
    yield f"sentences to pre-train on: {len(material.sentences):,}; documents: {len(material.union.documents):,}"
    limit = request.options.limit
    if limit is not None:
        yield f"--limit {limit} limits the units of the questions; all documents and their sentences are kept"

    for stage in stages:
        yield f"{stage.variant}: {_training(adaptation.making, stage)}"
    tasks = adaptation.assay.base_plan.tasks
    # Several diagnostics use the same corpus; each distinct text is encoded once.
    distinct: set[Text] = set()
    for task in tasks:
        distinct.update(task.corpus.texts())
    corpora = ", ".join(dict.fromkeys(task.corpus.name for task in tasks))
    variants = ", ".join((BASE, *(stage.variant for stage in stages)))
    yield f"assay: {variants} on {corpora}: {len(distinct):,} texts each"
    yield from adaptation.assay.limitations()


def _training(making: Making, stage: Stage) -> str:
    """Return how many rows a stage reads, and how often it evaluates the model."""
    rows = _rows(making, stage)
    description = f"{rows:,} rows"
    if stage.kind == "finetune" and stage.options.loss == "triplet":
        description += " at most, one for each negative"
    elif stage.kind == "finetune":
        description += f" with at most {stage.options.negatives} negatives each"
    if not making.due(stage):
        return f"{description}: already trained"
    description += f": {stage.steps(rows):,} steps"
    if stage.kind == "finetune" and making.material.dev:
        description += f", {stage.evaluations(rows)} evaluations on all documents"
    return description


def _rows(making: Making, stage: Stage) -> int:
    """Return the largest number of rows that a stage reads in an epoch."""
    material = making.material
    if stage.kind == "pretrain":
        return len(material.sentences)
    pairs = sum(len(set(question.right)) for question in material.train)
    if stage.options.loss == "triplet":
        return pairs * stage.options.negatives
    return pairs
