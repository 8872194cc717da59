"""``embassay adapt``: the command line of domain adaptation, and what it says."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

if TYPE_CHECKING:
    from embassay.adaptation import Adaptation

FINE = 0
TIMED = 48
"""Texts that the base encodes for an estimate of the time."""
BACKWARD = 3.0
"""How many times as long a text takes in training as in encoding."""
Flag = Parameter(negative="")
Repeated = Parameter(consume_multiple=False, negative="")


def adapt(
    base: str,
    *,
    corpus: Annotated[list[str], Parameter(name=("-c", "--corpus")), Repeated],
    out: Annotated[Path, Parameter(name=("-o", "--out"))],
    pretrain: Annotated[bool, Flag] = False,
    finetune: Annotated[bool, Flag] = False,
    objective: Literal["mlm", "tsdae", "simcse"] = "mlm",
    loss: Literal["mnr", "triplet"] = "mnr",
    negatives: int = 2,
    by: Literal["question", "context"] = "question",
    test: float = 0.2,
    general: Annotated[list[str], Repeated] = [],  # noqa: B006
    epochs: float | None = None,
    batch: int | None = None,
    rate: float | None = None,
    seed: int = 0,
    resamples: int = 1000,
    device: str = "auto",
    limit: int | None = None,
    cache: Path | None = None,
    dry_run: Annotated[bool, Flag] = False,
    overwrite: Annotated[bool, Flag] = False,
    quiet: Annotated[bool, Flag] = False,
) -> int:
    """Adapt a model to a domain, and say what that gained on held-out questions and what it cost elsewhere.

    Parameters
    ----------
    base
        A sentence-transformers model by name, or ./FOLDER.
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
    seed
        Of every random draw.
    resamples
        Of every bootstrap.
    device
        Where it runs: auto, cpu, cuda, mps.
    limit
        Keep so many whole units of each corpus, drawn by the seed.
    cache
        Folder of the vector cache.
    dry_run
        Say what would be done and about how long it takes, and stop.
    overwrite
        Replace another adaptation that the folder holds.
    quiet
        Print the verdict only.
    """
    from embassay.adapt.order import Order
    from embassay.adaptation import Adaptation
    from embassay.progress import Bar

    order = Order(
        base,
        corpus,
        out,
        pretrain=pretrain,
        finetune=finetune,
        objective=objective,
        loss=loss,
        negatives=negatives,
        by=by,
        test=test,
        general=general,
        epochs=epochs,
        batch=batch,
        rate=rate,
        seed=seed,
        resamples=resamples,
        device=device,
        limit=limit,
        overwrite=overwrite,
        cache=cache,
        quiet=quiet,
        say=_silent if quiet else _say,
        training=_unseen if quiet else Bar().training,
    )
    adaptation = Adaptation.of(order)
    if dry_run:
        _print(*outlook(adaptation))
        return FINE
    adapted = adaptation.carry_out()
    _print(*adapted.verdict)
    if not quiet:
        for label, spec in adapted.models.items():
            _say(f"{label}: embassay run -e {shlex.quote(spec)}")
        _say(f"report: {out / 'run' / 'report.html'}")
        _say(f"verdict: {out / 'verdict.md'}")
    return FINE


def outlook(adaptation: Adaptation) -> Iterator[str]:
    """Yield what would be done, a line each; the base encodes some texts to tell how long it takes."""
    from embassay.adapt.gain import BASE
    from embassay.adapt.making import duration

    material, folder, making = adaptation.material, adaptation.folder, adaptation.making
    yield f"base: {adaptation.order.base} ({adaptation.base.fingerprint})"
    yield f"questions: {adaptation.split_in_words}"
    yield from material.warnings()
    yield f"sentences to pre-train on: {len(material.sentences):,}; documents: {len(material.union.documents):,}"
    each, total = _seconds_each(adaptation), 0.0
    for stage in adaptation.stages:
        rows, texts = making.rows(stage)
        done = folder.finished(stage) is not None and not adaptation.order.overwrite
        seconds = 0.0 if done else BACKWARD * texts * stage.settings.epochs * each
        total += seconds
        negatives = f" with {adaptation.order.negatives} negatives each at most" if stage.kind == "finetune" else ""
        told = "there already" if done else f"{stage.steps(rows):,} steps, about {duration(seconds)}"
        yield f"{stage.variant}: {rows:,} rows{negatives}: {told}"
    corpora = dict.fromkeys(task.corpus.name for task in adaptation.base_plan().tasks)
    yield f"assay: {', '.join((BASE, *(s.variant for s in adaptation.stages)))} on {', '.join(corpora)}"
    yield f"training takes about {duration(total)} here (told from {TIMED} texts that were encoded)"


def _seconds_each(adaptation: Adaptation) -> float:
    """Return how long the base takes to encode one document, the loading of the model apart."""
    texts = adaptation.material.union.learnt()[:TIMED]
    adaptation.base.encode(texts[:1], "document")
    start = time.perf_counter()
    adaptation.base.encode(texts, "document")
    return (time.perf_counter() - start) / max(len(texts), 1)


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
