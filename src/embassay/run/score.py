"""One encoder on all its tasks: what is known already, what has to be encoded, what the diagnostics make of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from embassay.engine.pending import Pending, Submit
from embassay.engine.pool import Effort, encode
from embassay.engine.robustness import Robustness, check_robustness
from embassay.engine.topk import search
from embassay.errors import EncoderError, OutputError, one_line, reason_of
from embassay.result import Failure, Result
from embassay.run.plan import Entry, Plan, Task
from embassay.samples.base import Text
from embassay.store.cache import VectorCache
from embassay.store.runs import RunFolder
from embassay.types import Corpus, Encoder, ItemScores
from embassay.vectors import Vectors

LOG = logging.getLogger(__name__)
ENOUGH = 64
"""Texts that have to be timed before a speed is given."""


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
    """What a run leaves: the result, what each encoder took, and what failed and why."""

    result: Result
    effort: dict[str, Effort] = field(default_factory=dict)
    speed: dict[str, float] = field(default_factory=dict)
    route: dict[str, Any] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    badges: dict[str, Robustness | None] = field(default_factory=dict)

    def fail(self, encoder: str, reason: str, task: Task | None = None) -> None:
        """Note that an encoder failed, or a diagnostic on it; without its name a diagnostic on all encoders."""
        diagnostic, corpus = (task.name, task.corpus.name) if task else ("", "")
        self.failures.append(Failure(encoder, diagnostic, corpus, one_line(reason)))

    @property
    def failed_encoders(self) -> set[str]:
        """The labels of the encoders that failed themselves."""
        return {failure.encoder for failure in self.failures if not failure.diagnostic}

    def check(self) -> None:
        """Raise EncoderError if anything failed."""
        if self.failures:
            raise EncoderError("; ".join(failure.sentence for failure in self.failures))

    def notes(self, label: str) -> tuple[str, ...]:
        """Return what is to be said of an encoder: what it says itself, and what its vectors have shown."""
        found = self.badges.get(label)
        return (*self.route.get(label, {}).get("notes", ()), *(found.notes if found else ()))


@dataclass
class Scoring:
    """One encoder's scores: those that there are, by task, and those that are being worked out.

    Attributes
    ----------
    truncated
        How many of the distinct texts are longer than it reads; None where it cannot tell.
    failed
        By task, why a diagnostic failed.
    """

    dim: int | None
    folder: RunFolder | None
    truncated: int | None = None
    scores: dict[str, ItemScores] = field(default_factory=dict)
    pending: dict[str, Pending[ItemScores]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def collect(self, only_ready: bool = False) -> None:
        """Take in and keep what has been worked out; wait for the rest, unless only what is ready is wanted."""
        for name in [name for name, waiting in self.pending.items() if waiting.ready or not only_ready]:
            self.take(name, self.pending[name].finish)
            del self.pending[name]

    def take(self, name: str, finish: Callable[[], ItemScores]) -> None:
        """Work out and keep a score; a diagnostic that fails is noted, and the others go on.

        Raises
        ------
        EncoderError
            If the encoder fails, which the diagnostic may have asked to learn anew.
        OutputError
            If the score cannot be written.
        BrokenExecutor
            If a worker process was killed.
        """
        try:
            self.keep(name, finish())
        except (EncoderError, OutputError, BrokenExecutor):
            raise
        except Exception as error:
            LOG.debug("a diagnostic failed", exc_info=True)
            self.failed[name] = reason_of(error)

    @property
    def parts(self) -> tuple[Future[Any], ...]:
        """What has been handed out and is not finished."""
        return tuple(part for waiting in self.pending.values() for part in waiting.parts if not part.done())

    def abandon(self) -> None:
        """Keep what is ready, and call the rest off."""
        with suppress(Exception):
            self.collect(only_ready=True)
        for part in self.parts:
            part.cancel()

    def keep(self, name: str, score: ItemScores) -> None:
        """Take in a score, and write it down."""
        self.scores[name] = score
        if self.folder:
            self.folder.save(score)


def key(task: Task) -> str:
    """Return what names a task."""
    return f"{task.name}\x1f{task.corpus.name}"


def begin(
    entry: Entry,
    plan: Plan,
    cache: VectorCache | None,
    folder: RunFolder | None,
    progress: Progress,
    submit: Submit,
    outcome: Outcome,
) -> Scoring:
    """Score one encoder on its tasks; texts of tasks that share a fitted encoder are encoded together.

    Raises
    ------
    EncoderError
        If it cannot encode.
    """
    tasks = plan.tasks_of(entry)
    fitted = {c.name: _fit(entry, c) for c in {t.corpus.name: t.corpus for t in tasks}.values()}
    known = {key(t): folder.load(t.origin(entry, fitted[t.corpus.name])) if folder else None for t in tasks}
    todo = [t for t in tasks if known[key(t)] is None]
    scoring = Scoring(None, folder, scores={name: score for name, score in known.items() if score})
    dim = int(scoring.scores[key(tasks[0])].scalars["dim"]) if not todo else None
    pools = _pools(tasks, todo, fitted)
    effort = Effort()
    if cache:
        for fingerprint in pools:
            cache.note(fingerprint, entry.encoder.card.spec)
    try:
        with progress.encoding(entry.label, sum(len(texts) for _, texts in pools.values())) as advance:
            for fingerprint, (encoder, texts) in pools.items():
                ledger = partial(folder.ledger, entry.label, fingerprint, texts) if folder else None
                vectors, spent = encode(encoder, texts, cache, advance, ledger)
                effort, dim = effort + spent, vectors.matrix.shape[1]
                learn = partial(_learn, encoder, texts) if hasattr(encoder, "relearn") else None
                vectors = replace(vectors, search=partial(search, device=plan.device), learn=learn)
                if plan.badges and spent.encoded and encoder.card.cached and not encoder.card.remote:
                    outcome.badges[entry.label] = _robustness(encoder, vectors, texts, plan.seed, spent.encoded)
                for task in (t for t in todo if fitted[t.corpus.name].fingerprint == fingerprint):
                    _score(scoring, task, entry, encoder, vectors, submit)
    except BaseException:
        scoring.abandon()
        raise
    outcome.effort[entry.label] = effort
    if effort.timed >= ENOUGH and effort.seconds:
        outcome.speed[entry.label] = effort.timed / effort.seconds
    scoring.dim = None if entry.encoder.card.fitted else dim
    scoring.truncated = _truncated(entry.encoder, plan.corpora)
    return scoring


def _pools(
    tasks: Sequence[Task], todo: Sequence[Task], fitted: Mapping[str, Encoder]
) -> dict[str, tuple[Encoder, tuple[Text, ...]]]:
    """Return by fingerprint the encoders that have work left, each with the distinct texts of *all* its tasks.

    Also of those that are scored already: a run that goes on after a kill then encodes and looks at the same matrix,
    row by row, as one that was never interrupted.
    """
    unfinished = {fitted[task.corpus.name].fingerprint for task in todo}
    encoders: dict[str, Encoder] = {}
    texts: dict[str, dict[Text, None]] = {}
    for corpus in {task.corpus.name: task.corpus for task in tasks}.values():
        encoder = fitted[corpus.name]
        if encoder.fingerprint in unfinished:
            encoders.setdefault(encoder.fingerprint, encoder)
            texts.setdefault(encoder.fingerprint, {}).update(dict.fromkeys(corpus.texts()))
    return {fingerprint: (encoder, tuple(texts[fingerprint])) for fingerprint, encoder in encoders.items()}


def _score(scoring: Scoring, task: Task, entry: Entry, encoder: Encoder, vectors: Vectors, submit: Submit) -> None:
    """Score one task, or begin to."""
    origin = task.origin(entry, encoder)

    def complete(score: ItemScores) -> ItemScores:
        more = {"dim": float(vectors.matrix.shape[1]), **_unknown_words(encoder, task.corpus)}
        return replace(score, scalars={**score.scalars, **more})

    start = getattr(task.diagnostic, "begin", None)
    if start is None:
        scoring.take(key(task), lambda: complete(task.diagnostic.score(task.corpus, vectors, origin)))
        return
    try:
        waiting: Pending[ItemScores] = start(task.corpus, vectors, origin, submit)
    except (EncoderError, BrokenExecutor):
        raise
    except Exception as error:
        LOG.debug("a diagnostic failed", exc_info=True)
        scoring.failed[key(task)] = reason_of(error)
        return
    scoring.pending[key(task)] = Pending(waiting.parts, lambda: complete(waiting.finish()))


def _unknown_words(encoder: Encoder, corpus: Corpus[Any]) -> dict[str, float]:
    """Return what an encoder of words knows of a corpus's texts: unknown tokens, all, and texts without a known one."""
    ask: Any = getattr(encoder, "unknown_words", None)
    if ask is None:
        return {}
    names = ("unknown_tokens", "tokens", "without_words")
    return {name: float(n) for name, n in zip(names, ask([text for _, text in corpus.texts()]), strict=True)}


def _robustness(
    encoder: Encoder, vectors: Vectors, texts: Sequence[Text], seed: int, encoded: int
) -> Robustness | None:
    try:
        return check_robustness(encoder, vectors, texts, seed, encoded)
    except Exception as error:
        # Its vectors are there: whatever goes wrong while they are looked at is no failure of the run.
        return Robustness(0, reason=one_line(f"{type(error).__name__}: {error}"))


def _fit(entry: Entry, corpus: Corpus[Any]) -> Encoder:
    try:
        return entry.encoder.fit(list(corpus.learnt()))
    except EncoderError:
        raise
    except Exception as error:
        raise EncoderError(f"fit: {type(error).__name__}: {error}") from error


def _learn(encoder: Any, texts: Sequence[Text], rows: NDArray[np.int64]) -> Any:
    """Return the (n, d) matrix of all texts by an encoder that has learnt from those in the (m,) rows only."""
    try:
        learnt = encoder.relearn([texts[row][1] for row in rows.tolist()])
    except EncoderError:
        raise
    except Exception as error:
        raise EncoderError(f"relearn: {type(error).__name__}: {error}") from error
    return encode(learnt, texts, None, lambda done: None)[0].matrix


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
