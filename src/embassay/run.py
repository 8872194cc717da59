"""The conductor: encode, score, summarise; nothing else calls anything in order."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

from embassay._version import __version__
from embassay.engine.badges import Badges, badges
from embassay.engine.pool import Effort, encode
from embassay.engine.topk import search
from embassay.errors import EncoderError
from embassay.folder import DIAGNOSTICS
from embassay.layout import Layout
from embassay.plan import Entry, Plan, Task
from embassay.result import CorpusRecord, EncoderRecord, Example, Result
from embassay.samples import Text
from embassay.store.cache import VectorCache
from embassay.store.results import rounded
from embassay.store.runs import RunFolder
from embassay.types import Corpus, Draws, Encoder, ItemScores

ENOUGH = 64
"""Texts that have to be timed before a speed is given."""
PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "transformers", "sentence-transformers", "tokenizers")


class Progress(Protocol):
    """Shows how far an encoder is."""

    def encoding(self, label: str, texts: int) -> AbstractContextManager[Callable[[int], None]]:
        """Open a bar of so many texts; the callable moves it on."""
        ...


class Quiet:
    """Shows nothing."""

    @contextmanager
    def encoding(self, label: str, texts: int) -> Iterator[Callable[[int], None]]:
        """Ignore everything."""
        yield lambda done: None


@dataclass
class Outcome:
    """What a run leaves: the result, what each encoder took, and which failed and why."""

    result: Result
    effort: dict[str, Effort] = field(default_factory=dict)
    speed: dict[str, float] = field(default_factory=dict)
    route: dict[str, Any] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    badges: dict[str, Badges | None] = field(default_factory=dict)


def execute(
    plan: Plan,
    draws: Draws,
    cache: VectorCache | None = None,
    folder: RunFolder | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Carry out a plan; an encoder that fails is noted, and the others finish.

    Parameters
    ----------
    folder
        Where scores are kept as they come, and taken up again.
    """
    scores: dict[str, list[ItemScores]] = {}
    outcome = Outcome(Result(draws.seed, draws.resamples))
    records = []
    for entry in plan.entries:
        try:
            found, dim = _assay_one(entry, plan, cache, folder, progress or Quiet(), outcome)
        except EncoderError as error:
            outcome.failures[entry.label] = f"{entry.label}: {error}"
            continue
        finally:
            outcome.route[entry.label] = dict(getattr(entry.encoder, "route", {}))
            # So that two large models are never in memory together.
            getattr(entry.encoder, "release", lambda: None)()
        records.append(_encoder_record(entry, dim, _truncated(entry.encoder, plan.corpora)))
        for task, score in zip(plan.tasks_of(entry), found, strict=True):
            scores.setdefault(_key(task), []).append(score)
    outcome.result = _summarise(plan, scores, draws, tuple(records))
    return outcome


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


def _key(task: Task) -> str:
    return f"{task.name}\x1f{task.corpus.name}"


def _assay_one(
    entry: Entry,
    plan: Plan,
    cache: VectorCache | None,
    folder: RunFolder | None,
    progress: Progress,
    outcome: Outcome,
) -> tuple[list[ItemScores], int | None]:
    """Score one encoder on its tasks; texts of tasks that share a fitted encoder are encoded together."""
    tasks = plan.tasks_of(entry)
    fitted = {c.name: _fit(entry, c) for c in {t.corpus.name: t.corpus for t in tasks}.values()}
    kept = {_key(t): folder.load(t.origin(entry, fitted[t.corpus.name])) if folder else None for t in tasks}
    todo = [t for t in tasks if kept[_key(t)] is None]
    pools: dict[str, tuple[Encoder, dict[Text, None]]] = {}
    for corpus in {t.corpus.name: t.corpus for t in todo}.values():
        encoder = fitted[corpus.name]
        pools.setdefault(encoder.fingerprint, (encoder, {}))[1].update(dict.fromkeys(corpus.texts()))
    dim = int(kept[_key(tasks[0])].scalars["dim"]) if not todo else None  # type: ignore[union-attr]
    effort = Effort()
    if cache:
        for fingerprint in pools:
            cache.note(fingerprint, entry.encoder.card.spec)
    with progress.encoding(entry.label, sum(len(texts) for _, texts in pools.values())) as advance:
        for fingerprint, (encoder, texts) in pools.items():
            vectors, spent = encode(encoder, list(texts), cache, advance)
            effort, dim = effort + spent, vectors.matrix.shape[1]
            vectors = replace(vectors, search=partial(search, device=plan.device))
            if plan.badges and spent.encoded and encoder.card.cached and not encoder.card.remote:
                # Its vectors are there: whatever goes wrong while they are looked at is no failure of the run.
                with suppress(Exception):
                    outcome.badges[entry.label] = badges(encoder, vectors, list(texts), plan.seed)
            for task in (t for t in todo if fitted[t.corpus.name].fingerprint == fingerprint):
                score = task.diagnostic.score(task.corpus, vectors, task.origin(entry, encoder))
                kept[_key(task)] = score = replace(score, scalars={**score.scalars, "dim": float(dim)})
                if folder:
                    folder.save(score)
    outcome.effort[entry.label] = effort
    if effort.timed >= ENOUGH and effort.seconds:
        outcome.speed[entry.label] = effort.timed / effort.seconds
    return [score for score in kept.values() if score], None if entry.encoder.card.fitted else dim


def _fit(entry: Entry, corpus: Corpus[Any]) -> Encoder:
    try:
        return entry.encoder.fit(list(corpus.learnt()))
    except EncoderError:
        raise
    except Exception as error:
        raise EncoderError(f"fit: {type(error).__name__}: {error}") from error


def _truncated(encoder: Encoder, corpora: Iterable[Corpus[Any]]) -> int | None:
    """Count the distinct texts that are longer than the encoder reads; None where it cannot tell."""
    count: Any = getattr(encoder, "count_tokens", None)
    limit = encoder.card.max_tokens
    if count is None or limit is None:
        return None
    texts = dict.fromkeys(text for corpus in corpora for text in corpus.texts())
    try:
        tokens = [int(n) for role in {r for r, _ in texts} for n in count([t for r, t in texts if r == role], role)]
    except Exception:
        return None  # its vectors are there all the same
    return sum(n > limit for n in tokens)


def _summarise(
    plan: Plan, scores: dict[str, list[ItemScores]], draws: Draws, records: tuple[EncoderRecord, ...]
) -> Result:
    found = [task.diagnostic.summarise(scores[_key(task)], draws) for task in plan.tasks if scores.get(_key(task))]
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


def _encoder_record(entry: Entry, dim: int | None, truncated: int | None) -> EncoderRecord:
    card = entry.encoder.card
    return EncoderRecord(
        entry.label,
        card.spec,
        entry.encoder.fingerprint,
        card.revision,
        dim,
        card.parameters,
        card.prompts,
        entry.baseline,
        card.max_tokens,
        truncated,
        card.similarity,
        card.price,
    )


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
