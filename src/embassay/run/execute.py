"""The conductor: encode, score, summarise; nothing else calls anything in order."""

from __future__ import annotations

import logging
import platform
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from embassay._version import __version__
from embassay.engine.cores import cores
from embassay.engine.workers import Workers
from embassay.errors import EncoderError, PluginError, UnknownNameError, reason_of
from embassay.layout import Layout, check_layout, plain
from embassay.plugins import DIAGNOSTICS, warn_once
from embassay.result import CorpusRecord, EncoderRecord, Example, Result, Verdict
from embassay.run.plan import Entry, Plan, Task
from embassay.run.score import Outcome, Progress, Quiet, Scoring, begin, key
from embassay.store.cache import VectorCache
from embassay.store.results import rounded
from embassay.store.runs import RunFolder
from embassay.types import Corpus, Draws, ItemScores

LOG = logging.getLogger(__name__)
KILLED = "a worker process was killed, probably because it ran out of memory; the same command goes on from here"
PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "transformers", "sentence-transformers", "tokenizers")


def execute(
    plan: Plan,
    draws: Draws,
    cache: VectorCache | None = None,
    folder: RunFolder | None = None,
    progress: Progress | None = None,
    workers: int | None = None,
) -> Outcome:
    """Carry out a plan; an encoder or a diagnostic that fails is noted, and the others finish.

    Parameters
    ----------
    folder
        Where scores are kept as they come, and taken up again.
    workers
        Processes for the diagnostics that use some; one for each core by default.
    """
    outcome = Outcome(Result(draws.seed, draws.resamples))
    started: list[tuple[Entry, Scoring]] = []
    with Workers(workers) as hands:
        try:
            for entry in plan.entries:
                try:
                    started.append(
                        (entry, begin(entry, plan, cache, folder, progress or Quiet(), hands.submit, outcome))
                    )
                except (EncoderError, BrokenExecutor) as error:
                    outcome.fail(entry.label, KILLED if isinstance(error, BrokenExecutor) else str(error))
                finally:
                    outcome.route[entry.label] = dict(getattr(entry.encoder, "route", {}))
                    # So that two large models are never in memory together.
                    getattr(entry.encoder, "release", lambda: None)()
                _collect(started, outcome, at_most=2 * cores())
            _collect(started, outcome, at_most=0)
        except BaseException:
            for _, scoring in started:
                scoring.abandon()
            raise
    started = [(entry, scoring) for entry, scoring in started if entry.label not in outcome.failed_encoders]
    for task in plan.tasks:
        for entry, scoring in started:
            if key(task) in scoring.failed:
                outcome.fail(entry.label, scoring.failed[key(task)], task)
    scores = [[s.scores[key(task)] for _, s in started if key(task) in s.scores] for task in plan.tasks]
    _tell_of_the_reference(plan, outcome)
    records = tuple(_encoder_record(entry, scoring) for entry, scoring in started)
    outcome.result = _summarise(plan, scores, draws, records, outcome)
    return outcome


def _tell_of_the_reference(plan: Plan, outcome: Outcome) -> None:
    """Where the reference failed, say that comparisons with it are missing, and who took its place."""
    for place, failure in enumerate(outcome.failures):
        if failure.encoder == plan.reference:
            reason = f"{failure.reason} (it is the reference: the others are compared with the first that did not fail)"
            outcome.failures[place] = replace(failure, reason=reason)


def _collect(started: Sequence[tuple[Entry, Scoring]], outcome: Outcome, at_most: int) -> None:
    """Take in what other processes have worked out, until no more than so many calls are out."""
    while True:
        for entry, scoring in started:
            try:
                scoring.collect(only_ready=True)
            except BrokenExecutor:
                scoring.pending.clear()
                outcome.fail(entry.label, KILLED)
        out = [part for _, scoring in started for part in scoring.parts]
        if len(out) <= at_most:
            return
        wait(out, return_when=FIRST_COMPLETED)


def layouts(result: Result) -> dict[str, Layout]:
    """Return the layout of each diagnostic of a result; a plain one where its own cannot be had."""
    names = dict.fromkeys([*(row.diagnostic for row in result.rows), *(v.diagnostic for v in result.verdicts)])
    return {name: _layout(name, result) for name in names}


def _layout(name: str, result: Result) -> Layout:
    try:
        module = DIAGNOSTICS.module(name)
        with DIAGNOSTICS.guarded(name):
            own: Layout = module.layout(result) if hasattr(module, "layout") else module.LAYOUT
            check_layout(own)
            return own
    except (UnknownNameError, PluginError) as error:
        # Of another package: it is not installed here, or does not work. Its figures are there all the same.
        why = f"diagnostic {name!r} is not installed here" if isinstance(error, UnknownNameError) else str(error)
        warn_once(f"{why}; its figures are shown in plain tables")
        rows = [row for row in result.rows if row.diagnostic == name]
        return plain(name, [(row.quantity, row.subset, row.condition, row.measure) for row in rows])


def environment() -> dict[str, Any]:
    """Return what a run ran on: versions and machine."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue  # a run without it has no version of it
    return {
        "embassay": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": found,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def peak_memory() -> int | None:
    """Return the most memory that this process has held, in MiB; None where the system does not tell."""
    try:
        import resource
    except ImportError:
        return None
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(used / (1024 * 1024 if sys.platform == "darwin" else 1024))


def _summarise(
    plan: Plan,
    scores: Sequence[Sequence[ItemScores]],
    draws: Draws,
    records: tuple[EncoderRecord, ...],
    outcome: Outcome,
) -> Result:
    """Put the parts of all tasks together; a task whose part cannot be made is noted as failed."""
    parts = []
    for task, of_task in zip(plan.tasks, scores, strict=True):
        if not of_task:
            continue
        try:
            parts.append(_part(task, of_task, draws))
        except Exception as error:
            LOG.debug("a diagnostic failed", exc_info=True)
            outcome.fail("", reason_of(error), task)
    corpora = tuple(_corpus_record(corpus) for corpus in plan.corpora)
    failures = tuple(outcome.failures)
    head = rounded(Result(draws.seed, draws.resamples, encoders=records, corpora=corpora, failures=failures))
    return replace(
        head,
        rows=tuple(row for part in parts for row in part.rows),
        comparisons=tuple(comparison for part in parts for comparison in part.comparisons),
        series=tuple(series for part in parts for series in part.series),
        examples=tuple(example for part in parts for example in part.examples),
        verdicts=tuple(verdict for part in parts for verdict in part.verdicts),
    )


def _part(task: Task, scores: Sequence[ItemScores], draws: Draws) -> Result:
    """Return the part of the result that is one diagnostic's on one corpus, as it will be read back."""
    part = task.diagnostic.summarise(scores, draws)
    examples = tuple(replace(e, texts=_texts(task.corpus, e)) for e in part.examples)
    verdicts = tuple(_without_best(v) for v in part.verdicts) if task.corpus.builtin else part.verdicts
    return rounded(replace(part, examples=examples, verdicts=verdicts))


def _without_best(verdict: Verdict) -> Verdict:
    """Return a verdict that names no best encoder: built-in corpora are for trying things out."""
    unnamed = replace(verdict, best=None, value=None, low=None, high=None, best_set=(), rank_low={}, rank_high={})
    return replace(unnamed, reason="a built-in corpus is for trying things out") if verdict.quantity else unnamed


def _texts(corpus: Corpus[Any], example: Example) -> dict[str, str]:
    """Return the texts of an example's item, and those of the passages that it refers to."""
    found = {name: corpus.passage(reference) if reference else "–" for name, reference in example.texts.items()}
    return {**corpus.shown(example.item), **found}


def _encoder_record(entry: Entry, scoring: Scoring) -> EncoderRecord:
    card = entry.encoder.card
    unknown, without = _unknown_words(scoring.scores.values())
    return EncoderRecord(
        entry.label,
        card.spec,
        entry.encoder.fingerprint,
        card.revision,
        scoring.dim,
        card.parameters,
        card.prompts,
        entry.baseline,
        card.max_tokens,
        scoring.truncated,
        card.similarity,
        card.price,
        unknown,
        without,
    )


def _unknown_words(scores: Iterable[ItemScores]) -> tuple[float | None, int | None]:
    """Return the share of unknown tokens, and how many texts have no other, each corpus counted once."""
    found = {s.origin.corpus_fingerprint: s.scalars for s in scores if "tokens" in s.scalars}.values()
    tokens = sum(scalars["tokens"] for scalars in found)
    if not tokens:
        return None, None
    return sum(s["unknown_tokens"] for s in found) / tokens, int(sum(s["without_words"] for s in found))


def _corpus_record(corpus: Corpus[Any]) -> CorpusRecord:
    audit = corpus.audit()
    return CorpusRecord(
        corpus.name,
        corpus.shape,
        corpus.fingerprint,
        audit.items,
        audit.units,
        audit.effective_units,
        audit.duplicates,
        audit.distinct,
        corpus.licence,
        corpus.source,
        corpus.builtin,
        audit.documents,
        audit.passages,
    )
