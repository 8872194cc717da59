"""One encoder on all its tasks: load stored scores, encode the remaining texts, score the diagnostics."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from embassay.core.errors import EncoderError, OutputError, one_line, reason_of
from embassay.core.processes.pending import Pending, Submit
from embassay.core.samples.base import Text
from embassay.core.store.files import TIMES
from embassay.core.store.hashes import Remembered
from embassay.core.types import AnyCorpus, Encoder, ItemScores, JsonObject, Origin
from embassay.core.vectors import Neighbours, VectorMatrix, Vectors
from embassay.diagnostics.base import ScoresInParallel
from embassay.models.base import (
    CountsTokens,
    Derived,
    HasStoredVectors,
    KnowsWords,
    Relearns,
    Releases,
    Remote,
    Routed,
    encoder_of_vectors,
    key_in_cache,
)
from embassay.run.cache.cache import VectorCache
from embassay.run.candidates import RunEncoder
from embassay.run.engine.encode import Effort, derived, encode
from embassay.run.engine.robustness import TIMED, Robustness, check_robustness, encode_alone
from embassay.run.engine.timeline import TimeLine
from embassay.run.plan import Plan, Task, as_read, distinct_texts
from embassay.run.progress import Progress
from embassay.run.runs.folder import RunFolder
from embassay.search.exact.alone import search_milliseconds
from embassay.search.exact.documents import nearest_documents
from embassay.search.exact.top import search

LOG = logging.getLogger(__name__)
Key = tuple[str, str]


@dataclass
class SharedVectors:
    """Full vectors that several encoders of a run are computed from, in memory where no cache keeps them.

    Attributes
    ----------
    uses
        By key of a full encoder's vectors in the cache, how many encoders of the run its vectors serve.
    kept
        By the same key, its vectors.
    lengths
        By fingerprint of a full encoder, the tokens of each text, before truncation; the same for all that are computed
        from its vectors.
    """

    uses: Mapping[str, int] = field(default_factory=dict)
    kept: dict[str, Vectors] = field(default_factory=dict)
    lengths: dict[str, dict[Text, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, encoders: Iterable[Encoder]) -> SharedVectors:
        """Count the encoders of a run that share full vectors."""
        keys = []
        for encoder in encoders:
            if isinstance(encoder, Derived):
                # Why a model cannot be read is said when it has to encode.
                with suppress(EncoderError, OSError):
                    keys.append(key_in_cache(encoder_of_vectors(encoder)))
        return cls(Counter(keys))

    def take(self, key: str, texts: Sequence[Text]) -> Vectors | None:
        """Return the full vectors of the texts, in the order of the texts; None if that of one text is missing."""
        vectors = self.kept.get(key)
        if vectors is None:
            return None
        rows = []
        for text in texts:
            if text not in vectors.row:
                return None
            rows.append(vectors.row[text])
        new_row = {text: place for place, text in enumerate(texts)}
        return replace(vectors, matrix=vectors.matrix[rows], row=new_row)

    def lengths_by(self, encoder: Encoder, corpora: Iterable[AnyCorpus]) -> dict[Text, int]:
        """Return the tokens of each distinct text; empty if that is unknown, or it reads texts of any length."""
        full = encoder_of_vectors(encoder)
        if full.card.max_tokens is None or not isinstance(full, CountsTokens):
            return {}
        if full.fingerprint not in self.lengths:
            self.lengths[full.fingerprint] = token_counts(full, corpora)
        return self.lengths[full.fingerprint]

    def keep(self, key: str, vectors: Vectors) -> None:
        """Keep vectors that another encoder of the run also needs."""
        if self.uses.get(key, 0) > 1:
            self.kept[key] = vectors


@dataclass(frozen=True)
class Services:
    """What scoring uses: the stores of vectors and scores, the display of progress, worker processes, the clock."""

    cache: VectorCache | None
    folder: RunFolder | None
    progress: Progress
    submit: Submit
    shared: SharedVectors = field(default_factory=SharedVectors)
    timeline: TimeLine = field(default_factory=TimeLine)


@dataclass(frozen=True)
class Pool:
    """The distinct texts of all tasks that share a fitted encoder, their corpora, and the tasks without scores yet."""

    encoder: Encoder
    texts: tuple[Text, ...]
    corpora: tuple[AnyCorpus, ...]
    tasks: tuple[Task, ...]


@dataclass
class EncoderRun:
    """One encoder in a run: its scores, those still being computed, and the work that it took.

    Attributes
    ----------
    failure
        Why the encoder failed; None if it did not.
    failed_tasks
        By task, why a diagnostic failed.
    effort
        The work of encoding; None where the encoder failed before the end.
    dim
        The number of dimensions; None where it depends on the corpus.
    lengths
        The tokens of each distinct text, before truncation; empty where that is not known.
    route
        How the encoder computed its vectors, if it reports that: device, precision, notes.
    fingerprints
        By corpus, the fingerprint of the encoder after it has learnt from it, of a retriever with its parts.
    depth
        How many documents of each question the retrievers that are built on it need; 0 without any.
    keeps_vectors
        Whether one of them needs its vectors.
    nearest, vectors
        By corpus, what they need.
    milliseconds
        By corpus, how long one question takes with all parts, as docs/setups.md defines it; NaN where a part was not
        timed. Under an empty name, of an encoder one text alone, without a search, and of a retriever its own part.
    """

    entry: RunEncoder
    services: Services
    scores: dict[Key, ItemScores] = field(default_factory=dict)
    pending: dict[Key, Pending[ItemScores]] = field(default_factory=dict)
    failed_tasks: dict[Key, str] = field(default_factory=dict)
    failure: str | None = None
    effort: Effort | None = None
    robustness: Robustness | None = None
    dim: int | None = None
    lengths: dict[Text, int] = field(default_factory=dict)
    route: JsonObject = field(default_factory=dict)
    fingerprints: dict[str, str] = field(default_factory=dict)
    depth: int = 0
    keeps_vectors: bool = False
    nearest: dict[str, Neighbours] = field(default_factory=dict)
    vectors: dict[str, Vectors] = field(default_factory=dict)
    milliseconds: dict[str, float] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the encoder before it learns from any corpus."""
        return self.entry.encoder.fingerprint

    @property
    def unfinished_calls(self) -> list[Future[object]]:
        """The calls that worker processes have not finished."""
        calls = chain.from_iterable(pending.parts for pending in self.pending.values())
        return [call for call in calls if not call.done()]

    def score_tasks(self, plan: Plan) -> None:
        """Score the encoder on its tasks; texts of tasks that share a fitted encoder are encoded together.

        The work that diagnostics hand to worker processes is pending afterwards: see :meth:`collect`.

        Raises
        ------
        EncoderError
            If it cannot encode.
        """
        tasks = plan.tasks_of(self.entry)
        timeline = self.services.timeline
        with timeline.during("encoding"):
            fitted = fit_encoders(self.entry.encoder, tasks)
        self.fingerprints = {name: encoder.fingerprint for name, encoder in fitted.items()}
        self.load_stored(tasks)
        pools = make_pools(tasks, self.scores, fitted)
        effort = Effort()
        dim = 0
        total = sum(len(pool.texts) for pool in pools)
        with self.services.progress.encoding(self.entry.label, total) as advance:
            for pool in pools:
                with timeline.during("encoding"):
                    vectors, pool_effort = self.encode_pool(pool, advance)
                effort += pool_effort
                dim = vectors.matrix.shape[1]
                card = pool.encoder.card
                vectors = replace(vectors, search=search)
                # The check encodes some texts again, which a service would charge for.
                if plan.request.robustness and pool_effort.encoded and card.cached and not card.remote:
                    with timeline.during("encoding"):
                        self.robustness = measure_robustness(pool, vectors, plan.request.seed, pool_effort.encoded)
                for task in pool.tasks:
                    self.score(task, pool.encoder, vectors)
                self.serve(pool, vectors, plan)
        self.effort = effort
        if not pools:
            # All scores were stored by an earlier start of the run; they also hold the number of dimensions.
            first_scores = self.scores[tasks[0].key]
            dim = int(first_scores.scalars["dim"])
        # An encoder that learns from each corpus may have another number of dimensions on each.
        if not self.entry.encoder.card.fitted:
            self.dim = dim
        with timeline.during("encoding"):
            self.lengths = self.services.shared.lengths_by(self.entry.encoder, plan.corpora)

    def serve(self, pool: Pool, vectors: Vectors, plan: Plan) -> None:
        """Keep what the retrievers need that are built on this encoder: the nearest documents, and vectors."""
        if not self.depth:
            return
        for corpus in pool.corpora:
            # The texts of stored documents, which have no retrievers, are not at hand.
            if corpus.documents and not corpus.stored_documents:
                nearest = nearest_documents(corpus, vectors, self.depth)
                if issparse(vectors.matrix):
                    # A document that shares no word with the question is not found: their order is that of the corpus.
                    nearest = replace(nearest, documents=np.where(nearest.similarity > 0, nearest.documents, -1))
                self.nearest[corpus.name] = nearest
                if self.keeps_vectors:
                    self.vectors[corpus.name] = vectors
                self.time_question(corpus, pool.encoder, vectors, plan.request.cache_folder)

    def time_question(self, corpus: AnyCorpus, encoder: Encoder, vectors: Vectors, cache: Path | None) -> None:
        """Time one question of a corpus: its encoding alone, and its exact search.

        A dense encoder was timed when its robustness was checked, in this run or in the one that filled the cache.
        """
        questions = [sample.question for sample in corpus.samples[:TIMED]]
        alone = self.robustness.query_milliseconds if self.robustness else None
        if issparse(vectors.matrix):
            _, alone = encode_alone(encoder, [("query", question) for question in questions])
        remembered = Remembered(cache, TIMES)
        if alone:
            remembered[encoder.fingerprint] = str(alone)
        if encoder.fingerprint in remembered:
            alone = float(remembered[encoder.fingerprint])
            passages = [text for role, text in as_read(corpus, encoder).texts() if role == "document"]
            searching = search_milliseconds(vectors.take(questions, "query"), vectors.take(passages, "document"))
            self.milliseconds |= {"": alone, corpus.name: alone + searching}

    def price_of_questions(self, corpus: AnyCorpus) -> float | None:
        """Return what 1,000 questions of a corpus cost, estimated from their length; None where no price is known."""
        card = self.entry.encoder.card
        if not card.remote:
            return 0.0
        if card.price is None:
            return None
        service = cast("Remote", self.entry.encoder)
        tokens = service.estimate_tokens([sample.question for sample in corpus.samples], "query")
        return card.price * float(tokens.mean()) / 1000

    def need(self, corpus: AnyCorpus, plan: Plan) -> None:
        """Encode a corpus again for the retrievers that are built on this encoder, where all scores were stored."""
        if corpus.name in self.nearest:
            return
        tasks = [task for task in plan.tasks_of(self.entry) if task.corpus is corpus]
        for pool in make_pools(tasks, (), fit_encoders(self.entry.encoder, tasks)):
            vectors, _ = self.encode_pool(pool, lambda done: None)
            self.serve(pool, vectors, plan)
        self.release()

    def origin(self, task: Task) -> Origin:
        """Return what identifies the scores of a task."""
        return task.origin(self.entry, self.fingerprints[task.corpus.name])

    def load_stored(self, tasks: Iterable[Task]) -> None:
        """Load the scores of tasks that are in the run's folder."""
        folder = self.services.folder
        if folder is None:
            return
        for task in tasks:
            scores = folder.load(self.origin(task))
            if scores is not None:
                self.scores[task.key] = scores

    def encode_pool(self, pool: Pool, advance: Callable[[int], None]) -> tuple[Vectors, Effort]:
        """Return the vectors of the texts of a pool and the effort of encoding them.

        They are encoded now, or taken from the cache or from another encoder of the run that shares them.

        Parameters
        ----------
        advance
            Called with the number of texts whose vectors are ready since the last call.
        """
        cache = self.services.cache
        shared = self.services.shared
        # The vectors of a derived encoder, such as one with fewer dimensions, are computed from those of the full one.
        full_encoder = encoder_of_vectors(pool.encoder)
        key = key_in_cache(full_encoder)
        shared_vectors = shared.take(key, pool.texts)
        if shared_vectors is not None:
            advance(len(pool.texts))
            return derived(pool.encoder, shared_vectors), Effort(len(pool.texts))
        if cache:
            cache.note(key, full_encoder.card.spec)
        full_vectors, effort = encode(full_encoder, pool.texts, cache, advance, self.services.timeline)
        # Where the cache keeps the full vectors, the next derived encoder reads them there.
        if cache is None or cache.trouble:
            shared.keep(key, full_vectors)
        vectors = derived(pool.encoder, full_vectors)
        if isinstance(pool.encoder, Relearns):
            learn = partial(relearnt_matrix, pool.encoder, pool.texts, timeline=self.services.timeline)
            vectors = replace(vectors, learn=learn)
        return vectors, effort

    def score(self, task: Task, encoder: Encoder, vectors: Vectors) -> None:
        """Score one task, or start to: a failing diagnostic is recorded, and the others continue."""
        origin = self.origin(task)
        corpus = task.corpus
        diagnostic = task.diagnostic
        dim = float(vectors.matrix.shape[1])

        def with_scalars(scores: ItemScores) -> ItemScores:
            scalars = {**scores.scalars, "dim": dim, **count_unknown_words(encoder, corpus)}
            return replace(scores, scalars=scalars)

        # The texts of stored documents are not at hand; their vectors were computed by "embassay encode".
        stored = corpus.stored_documents
        if stored is not None and isinstance(encoder, HasStoredVectors):
            vectors = replace(vectors, documents=encoder.vectors_of(stored))
        with self.noting_failure(task.key):
            if not isinstance(diagnostic, ScoresInParallel):
                scores = diagnostic.score(corpus, vectors, origin)
                self.keep(task.key, with_scalars(scores))
                return
            # Worker processes go on after this call; collect() keeps the scores when they are finished.
            pending: Pending[ItemScores] = diagnostic.begin(corpus, vectors, origin, self.services.submit)
            self.pending[task.key] = Pending(pending.parts, lambda: with_scalars(pending.finish()))

    def collect(self) -> None:
        """Keep the scores that worker processes have finished.

        Raises
        ------
        BrokenExecutor
            If a worker process was killed.
        """
        ready = [key for key, pending in self.pending.items() if pending.ready]
        for key in ready:
            with self.noting_failure(key):
                self.keep(key, self.pending.pop(key).finish())

    def keep(self, key: Key, scores: ItemScores) -> None:
        """Keep the scores of a task, also in the run's folder."""
        if self.services.folder:
            self.services.folder.save(scores)
        self.scores[key] = scores

    @contextmanager
    def noting_failure(self, key: Key) -> Iterator[None]:
        """Record a failing diagnostic, and let the others continue.

        Raises
        ------
        EncoderError
            If the encoder fails: a diagnostic may have it learn again in each fold.
        OutputError
            If the score cannot be written.
        BrokenExecutor
            If a worker process was killed.
        """
        try:
            yield
        except (EncoderError, OutputError, BrokenExecutor):
            raise
        except Exception as error:
            LOG.debug("a diagnostic failed", exc_info=True)
            self.failed_tasks[key] = reason_of(error)

    def fail(self, reason: str) -> None:
        """Record why the encoder failed; finished scores are kept, the others cancelled."""
        self.failure = reason
        self.abandon()

    def release(self) -> None:
        """Release the model, so that two large ones are never in memory together."""
        encoder = self.entry.encoder
        # What the model knows of its route is lost when it is released.
        if isinstance(encoder, Routed):
            self.route |= encoder.route()
        if isinstance(encoder, Releases):
            encoder.release()

    def abandon(self) -> None:
        """Keep finished scores, and cancel the others."""
        with suppress(Exception):
            self.collect()
        for call in self.unfinished_calls:
            call.cancel()
        self.pending.clear()


def fit_encoders(encoder: Encoder, tasks: Sequence[Task]) -> dict[str, Encoder]:
    """Return by corpus the encoder that has learnt from its texts; the encoder itself where it learns nothing.

    Raises
    ------
    EncoderError
        If the encoder fails.
    """
    fitted = {}
    corpora = {task.corpus.name: task.corpus for task in tasks}
    for name, corpus in corpora.items():
        with as_encoder_error("fit"):
            fitted[name] = encoder.fit(list(as_read(corpus, encoder).learnt()))
    return fitted


@contextmanager
def as_encoder_error(step: str) -> Iterator[None]:
    """Raise whatever an encoder raises as an EncoderError: it may be of another package."""
    try:
        yield
    except EncoderError:
        raise
    except Exception as error:
        raise EncoderError(f"{step}: {type(error).__name__}: {error}") from error


def make_pools(tasks: Sequence[Task], scored: Container[Key], fitted: Mapping[str, Encoder]) -> list[Pool]:
    """Return, for each fitted encoder with unscored tasks, these tasks and the distinct texts of *all* its tasks.

    The texts of scored tasks are included so that a run that continues after a kill has the same matrix, row by row, as
    one that was never interrupted.
    """
    # An encoder that learns nothing is the same on all corpora, so one pool has the texts of all of them.
    tasks_of: dict[str, list[Task]] = {}
    encoder_of: dict[str, Encoder] = {}
    for task in tasks:
        encoder = fitted[task.corpus.name]
        fingerprint = encoder.fingerprint
        tasks_of.setdefault(fingerprint, []).append(task)
        encoder_of.setdefault(fingerprint, encoder)
    pools = []
    for fingerprint, encoder in encoder_of.items():
        unscored = tuple(task for task in tasks_of[fingerprint] if task.key not in scored)
        if unscored:
            corpora = {task.corpus.name: task.corpus for task in tasks_of[fingerprint]}.values()
            texts = distinct_texts(as_read(corpus, encoder) for corpus in corpora)
            pools.append(Pool(encoder, texts, tuple(corpora), unscored))
    return pools


def count_unknown_words(encoder: Encoder, corpus: AnyCorpus) -> dict[str, float]:
    """Return the counts of unknown words in the texts of a corpus; empty for encoders that do not count them.

    They are the tokens without a vector, all tokens, and the texts without a token that has a vector.
    """
    if not isinstance(encoder, KnowsWords):
        return {}
    texts = [text for _, text in corpus.texts()]
    unknown_tokens, tokens, without_words = encoder.unknown_words(texts)
    return {
        "unknown_tokens": float(unknown_tokens),
        "tokens": float(tokens),
        "without_words": float(without_words),
    }


def measure_robustness(pool: Pool, vectors: Vectors, seed: int, encoded: int) -> Robustness | None:
    """Return the robustness of the vectors of a pool, or the reason why the check failed; None for sparse vectors.

    Parameters
    ----------
    encoded
        The number of texts that were encoded now rather than taken from the cache.
    """
    try:
        return check_robustness(pool.encoder, vectors, pool.texts, seed, encoded)
    except Exception as error:
        # The vectors have been computed: the run does not depend on this check.
        return Robustness(0, reason=one_line(f"{type(error).__name__}: {error}"))


def relearnt_matrix(
    encoder: Relearns, texts: Sequence[Text], rows: NDArray[np.int64], *, timeline: TimeLine
) -> VectorMatrix:
    """Return the (n, d) matrix of all texts by an encoder that has learnt from those in the (m,) rows only."""
    # Each text is a pair of role and content.
    to_learn = [texts[row][1] for row in rows.tolist()]
    with timeline.during("encoding"):
        with as_encoder_error("relearn"):
            learnt = encoder.relearn(to_learn)
        vectors, _ = encode(learnt, texts, None, lambda done: None)
    return vectors.matrix


def token_counts(encoder: CountsTokens, corpora: Iterable[AnyCorpus]) -> dict[Text, int]:
    """Return the tokens of each distinct text, before truncation; empty if they cannot be counted."""
    texts = distinct_texts(corpora)
    tokens_of = dict[Text, int]()
    try:
        for role in dict.fromkeys(role for role, _ in texts):
            texts_of_role = [text for text in texts if text[0] == role]
            lengths = encoder.count_tokens([text for _, text in texts_of_role], role)
            tokens_of.update(zip(texts_of_role, map(int, lengths), strict=True))
    except Exception:
        # The vectors have been computed: the run does not depend on these counts.
        return {}
    return tokens_of
