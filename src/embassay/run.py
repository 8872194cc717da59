"""The conductor: encode, score, summarise; nothing else calls anything in order."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from embassay._version import __version__
from embassay.cores import cores
from embassay.engine.workers import Workers
from embassay.errors import EncoderError
from embassay.folder import DIAGNOSTICS
from embassay.layout import Layout
from embassay.plan import Entry, Plan
from embassay.result import CorpusRecord, EncoderRecord, Example, Result
from embassay.scoring import Outcome, Progress, Quiet, Scoring, begin, key
from embassay.store.cache import VectorCache
from embassay.store.results import rounded
from embassay.store.runs import RunFolder
from embassay.types import Corpus, Draws, ItemScores

PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "transformers", "sentence-transformers", "tokenizers")


def execute(
    plan: Plan,
    draws: Draws,
    cache: VectorCache | None = None,
    folder: RunFolder | None = None,
    progress: Progress | None = None,
    workers: int | None = None,
) -> Outcome:
    """Carry out a plan; an encoder that fails is noted, and the others finish.

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
                except EncoderError as error:
                    outcome.failures[entry.label] = f"{entry.label}: {error}"
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
    started = [(entry, scoring) for entry, scoring in started if entry.label not in outcome.failures]
    scores = [[s.scores[key(task)] for _, s in started if key(task) in s.scores] for task in plan.tasks]
    records = tuple(_encoder_record(entry, scoring) for entry, scoring in started)
    outcome.result = _summarise(plan, scores, draws, records)
    return outcome


def _collect(started: Sequence[tuple[Entry, Scoring]], outcome: Outcome, at_most: int) -> None:
    """Take in what other processes have worked out, until no more than so many calls are out."""
    while True:
        for entry, scoring in started:
            try:
                scoring.collect(only_ready=True)
            except BrokenExecutor:
                scoring.pending.clear()
                outcome.failures[entry.label] = (
                    f"{entry.label}: a worker process was ended from outside, probably for want of memory; the same "
                    "command goes on from here"
                )
        out = [part for _, scoring in started for part in scoring.parts]
        if len(out) <= at_most:
            return
        wait(out, return_when=FIRST_COMPLETED)


def layouts(result: Result) -> dict[str, Layout]:
    """Return the layout of each diagnostic of a result."""
    names = dict.fromkeys(row.diagnostic for row in result.rows)
    modules = {name: DIAGNOSTICS.module(name) for name in names}
    return {name: m.layout(result) if hasattr(m, "layout") else m.LAYOUT for name, m in modules.items()}


def environment() -> dict[str, Any]:
    """Return what a run ran on: versions and machine."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
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
    plan: Plan, scores: Sequence[Sequence[ItemScores]], draws: Draws, records: tuple[EncoderRecord, ...]
) -> Result:
    found = [task.diagnostic.summarise(s, draws) for task, s in zip(plan.tasks, scores, strict=True) if s]
    corpora = {c.name: c for c in plan.corpora}
    result = Result(
        draws.seed,
        draws.resamples,
        encoders=records,
        corpora=tuple(_corpus_record(c) for c in corpora.values()),
        rows=tuple(row for part in found for row in part.rows),
        comparisons=tuple(c for part in found for c in part.comparisons),
        series=tuple(s for part in found for s in part.series),
        examples=tuple(replace(e, texts=_texts(corpora[e.corpus], e)) for part in found for e in part.examples),
        verdicts=tuple(
            replace(v, best=None, value=None, low=None, high=None, not_separable=(), above=())
            if corpora[v.corpus].builtin
            else v
            for part in found
            for v in part.verdicts
        ),
    )
    return rounded(result)


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
