"""``embassay adapt``: the command line of domain adaptation, and what it says."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from embassay.store.paths import output_path
from embassay.training.settings import Loss, Objective

if TYPE_CHECKING:
    from embassay.adaptation.forecast import Forecast
    from embassay.adaptation.pipeline import Adaptation
    from embassay.adaptation.variants import Stage

FINE = 0
Flag = Parameter(negative="")
Repeated = Parameter(consume_multiple=False, negative="")


def adapt(
    base: str,
    *,
    corpus: Annotated[list[str], Parameter(name=("-c", "--corpus")), Repeated],
    out: Annotated[Path, Parameter(name=("-o", "--out"))],
    pretrain: Annotated[bool, Flag] = False,
    finetune: Annotated[bool, Flag] = False,
    objective: Objective = "mlm",
    loss: Loss = "mnr",
    negatives: int = 2,
    window: int = 50,
    margin: float = 0.05,
    by: Literal["question", "context"] = "question",
    test: float = 0.2,
    general: Annotated[list[str], Repeated] = [],  # noqa: B006
    epochs: float | None = None,
    batch: int | None = None,
    rate: float | None = None,
    warmup: float = 0.1,
    accumulate: int = 1,
    patience: int = 3,
    seed: int = 0,
    resamples: int = 1000,
    device: str = "auto",
    limit: int | None = None,
    no_texts: Annotated[bool, Flag] = False,
    cache: Path | None = None,
    dry_run: Annotated[bool, Flag] = False,
    overwrite: Annotated[bool, Flag] = False,
    quiet: Annotated[bool, Flag] = False,
) -> int:
    """Adapt a model to a domain, and say what that gained on held-out questions and what it cost elsewhere.

    Parameters
    ----------
    base
        A sentence-transformers model by name, or ./FOLDER, with [,option=value…]: query_prompt, document_prompt,
        text_prompt, max_length, similarity; they hold in training and assay and are kept in every variant.
    corpus
        [NAME=]SOURCE[,option=value…] of questions and documents, repeatable: learnt from together, tested each.
    out
        Folder of the variants, their run and the verdict; an adaptation that was stopped goes on.
    pretrain
        Learn from the sentences of the documents; neither this nor --finetune: both, and all four variants.
    finetune
        Learn from questions, their right documents and hard negatives.
    objective
        Of pre-training: mlm (masked words), tsdae (sentences with words left out), simcse (dropout).
    loss
        Of fine-tuning: mnr (the right document among all of a batch), triplet (nearer by a margin).
    negatives
        Hard negatives of a question, at most, found with the base model; more are slower.
    window
        They are drawn of the question's so many nearest documents.
    margin
        How much less similar to the question than the right document they are: a difference of cosines.
    by
        What training and test do not share: the question, or also its context (unit and right document).
    test
        Share of the questions that is held out.
    general
        [NAME=]SOURCE of general corpora, to see what is lost, repeatable; built-in ones for the shapes not given.
    epochs
        How often each stage reads its data; each stage's own number by default.
    batch
        Rows of a batch, of each stage.
    rate
        Highest learning rate, of each stage.
    warmup
        Share of the steps in which the rate rises, of each stage.
    accumulate
        How many batches make one step, of each stage.
    patience
        After how many evaluations in a row without a better one fine-tuning stops.
    seed
        Of every random draw.
    resamples
        Of every bootstrap. Governs intervals, not the p of comparisons (9,999 sign flips or more).
    device
        Where it runs: auto, cpu, cuda, mps; CUDA_VISIBLE_DEVICES chooses among several GPUs.
    limit
        Keep the questions of so many whole units of each corpus, drawn by the seed; all documents stay.
    no_texts
        Keep no sentence of a corpus in the result and the report of the run.
    cache
        Folder of the vector cache.
    dry_run
        Say what would be done and about how long it takes, and stop.
    overwrite
        Replace another adaptation that the folder holds.
    quiet
        Print the verdict and its figures only.
    """
    from embassay.adaptation.figures import of_variants
    from embassay.adaptation.order import Order
    from embassay.adaptation.pipeline import Adaptation
    from embassay.run.progress import Bar

    out = output_path(out)
    order = Order(
        base,
        corpus,
        out,
        pretrain=pretrain,
        finetune=finetune,
        objective=objective,
        loss=loss,
        negatives=negatives,
        window=window,
        margin=margin,
        by=by,
        test=test,
        general=general,
        epochs=epochs,
        batch=batch,
        rate=rate,
        warmup=warmup,
        accumulate=accumulate,
        patience=patience,
        seed=seed,
        resamples=resamples,
        device=device,
        limit=limit,
        overwrite=overwrite,
        texts=not no_texts,
        cache=output_path(cache) if cache else None,
        quiet=quiet,
        say=_silent if quiet else _say,
        training=_unseen if quiet else Bar().training,
    )
    adaptation = Adaptation.of(order)
    if dry_run:
        _print(*outlook(adaptation))
        return FINE
    try:
        adapted = adaptation.carry_out()
    except KeyboardInterrupt as stopped:
        if str(stopped):
            _say(str(stopped))
        raise
    _print(*adapted.verdict, "", *of_variants(adapted.result, adaptation.own))
    if not quiet:
        for label, spec in adapted.models.items():
            _say(f"{label}: embassay run -e {shlex.quote(spec)}")
        _say(f"report: {out / 'run' / 'report.html'}")
        _say(f"verdict: {out / 'verdict.md'}")
    return FINE


def outlook(adaptation: Adaptation) -> Iterator[str]:
    """Yield what would be done, a line each; a little of everything is done to tell how long it takes."""
    from embassay.adaptation.forecast import STEPS, TIMED, Forecast
    from embassay.adaptation.gain import BASE
    from embassay.adaptation.making import duration

    order, material, stages = adaptation.order, adaptation.material, adaptation.stages
    tasks = adaptation.base_plan().tasks
    texts = tuple(dict.fromkeys(text for task in tasks for text in task.corpus.texts()))
    forecast = Forecast(adaptation.making, texts, adaptation.scoring())
    yield f"base: {order.base} ({adaptation.base.fingerprint})"
    yield f"questions: {adaptation.split_in_words}"
    yield from adaptation.notes()
    yield f"sentences to pre-train on: {len(material.sentences):,}; documents: {len(material.union.documents):,}"
    if order.limit is not None:
        yield f"--limit {order.limit} is of the questions' units: all documents and their sentences stay"
    parts = [forecast.mining(), *map(forecast.training, stages), forecast.assay()]
    if parts[0]:
        yield f"negatives: about {duration(parts[0])}"
    for stage, seconds in zip(stages, parts[1:], strict=False):
        yield f"{stage.variant}: {_training(forecast, stage)}" + (f", about {duration(seconds)}" if seconds else "")
    corpora = ", ".join(dict.fromkeys(task.corpus.name for task in tasks))
    variants = ", ".join((BASE, *(stage.variant for stage in stages)))
    yield f"assay: {variants} on {corpora}: {len(forecast.texts):,} texts each, about {duration(parts[-1])}"
    yield from adaptation.unseen()
    yield (
        f"all of it takes about {duration(sum(parts))} here (measured: {STEPS} steps of each kind of training, {TIMED} "
        "texts, one assay of word counts)"
    )


def _training(forecast: Forecast, stage: Stage) -> str:
    """Say what a stage reads and how often it looks how good the model is."""
    rows = forecast.rows(stage)
    told = f"{rows:,} rows"
    if stage.kind == "finetune" and stage.options["loss"] == "triplet":
        told += " at most, one for each negative"
    elif stage.kind == "finetune":
        told += f" with {stage.options['per_question']} negatives each at most"
    if not forecast.making.due(stage):
        return f"{told}: there already"
    evaluations = forecast.evaluations(stage)
    looks = f", {evaluations} evaluations on all documents" if evaluations else ""
    return f"{told}: {stage.steps(rows):,} steps{looks}"


def _silent(line: str) -> None:
    """Say nothing."""


@contextmanager
def _unseen(label: str) -> Iterator[Callable[[int, int], None]]:
    """Open no bar."""
    yield lambda done, total: None


def _print(*lines: str) -> None:
    for line in lines:
        print(line)  # noqa: T201


def _say(line: str) -> None:
    print(line, file=sys.stderr)  # noqa: T201
