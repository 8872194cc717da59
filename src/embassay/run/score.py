"""One encoder on all its tasks: load stored scores, encode the remaining texts, score the diagnostics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from embassay.core.errors import EncoderError, one_line
from embassay.core.processes.pending import Pending
from embassay.core.samples.base import Text
from embassay.core.store.files import TIMES
from embassay.core.store.hashes import Remembered
from embassay.core.types import AnyCorpus, ItemScores
from embassay.core.vectors import VectorMatrix, Vectors
from embassay.models.base import FullEncoder, adopted, encoder_of_vectors, key_in_cache
from embassay.run.engine.encode import Effort, derived, encode
from embassay.run.engine.robustness import TIMED, Robustness, check_robustness, encode_alone
from embassay.run.engine.timeline import TimeLine
from embassay.run.plan import Task, distinct_texts
from embassay.run.scoring import CandidateRun, as_encoder_error
from embassay.search.exact.alone import search_milliseconds
from embassay.search.exact.documents import nearest_documents
from embassay.search.exact.top import search


@dataclass(frozen=True)
class Pool:
    """The distinct texts of all tasks that share a fitted encoder, their corpora, and the tasks without scores yet."""

    encoder: FullEncoder
    texts: tuple[Text, ...]
    corpora: tuple[AnyCorpus, ...]
    tasks: tuple[Task, ...]


@dataclass
class EncoderRun(CandidateRun):
    """One encoder in a run."""

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the encoder before it learns from any corpus."""
        return self.entry.encoder.fingerprint

    def score_tasks(self) -> None:
        """Score the encoder on its tasks; texts of tasks that share a fitted encoder are encoded together.

        The work that diagnostics hand to worker processes is pending afterwards.

        Raises
        ------
        EncoderError
            If it cannot encode.
        """
        plan, timeline = self.services.plan, self.services.timeline
        tasks = plan.tasks_of(self.entry)
        with timeline.during("encoding"):
            fitted = fit_encoders(self.entry.encoder, tasks)
        self.fingerprints = {key: encoder.fingerprint for key, encoder in fitted.items()}
        self.load_stored(tasks)
        pools = make_pools(tasks, fitted, [task for task in tasks if task.key not in self.scores])
        effort, dim = Effort(), 0
        with plan.request.progress.encoding(self.entry.label, sum(len(pool.texts) for pool in pools)) as advance:
            for pool in pools:
                with timeline.during("encoding"):
                    vectors, of_pool = self.encode(pool, advance)
                    effort += of_pool
                    dim = vectors.matrix.shape[1]
                    # The check encodes some texts again, which a service would charge for.
                    if plan.request.robustness and of_pool.encoded and pool.encoder.card.cached:
                        self.report.robustness = measure_robustness(pool, vectors, plan.request.seed, of_pool.encoded)
                for task in pool.tasks:
                    self.score(task, pool.encoder, vectors)
                self.serve(pool, vectors)
        self.report.effort = effort
        if not pools:
            # All scores were stored by an earlier start of the run; they also hold the number of dimensions.
            dim = int(self.scores[tasks[0].key].scalars["dim"])
        # An encoder that learns from each corpus may have another number of dimensions on each.
        if not self.entry.card.fitted:
            self.report.dim = dim
        with timeline.during("encoding"):
            self.report.lengths = self.token_lengths()

    def encode(self, pool: Pool, advance: Callable[[int], None]) -> tuple[Vectors, Effort]:
        """Return the vectors of the texts of a pool and the effort of encoding them.

        They are encoded now, or taken from the cache or from another encoder of the run that shares them.

        Parameters
        ----------
        advance
            Called with the number of texts whose vectors are ready since the last call.
        """
        services, encoder, texts = self.services, pool.encoder, pool.texts
        # The vectors of a derived encoder, such as one with fewer dimensions, are computed from those of the full one.
        full = encoder_of_vectors(encoder)
        key = key_in_cache(full)
        shared = services.kept.get(key)
        if shared is not None and shared.row.keys() >= set(texts):
            advance(len(texts))
            rows = [shared.row[text] for text in texts]
            vectors, effort = replace(shared, matrix=shared.matrix[rows], row=rows_of(texts)), Effort(len(texts))
        else:
            if services.cache:
                services.cache.note(key, full.card.spec)
            vectors, effort = encode(full, texts, services.cache, advance, services.timeline)
            # Where the cache keeps the full vectors, the next derived encoder reads them there.
            if (services.cache is None or services.cache.trouble) and self.is_shared(key):
                services.kept[key] = vectors
        vectors = replace(derived(encoder, vectors), search=search)
        if encoder.card.relearns:
            learn = partial(relearnt_matrix, encoder, texts, timeline=services.timeline)
            vectors = replace(vectors, learn=learn)
        return vectors, effort

    def is_shared(self, key: str) -> bool:
        """Return whether other encoders of the run are computed from the full vectors with this key in the cache."""
        for entry in self.services.plan.entries:
            if entry.label == self.entry.label or entry.retriever or entry.card.fitted:
                continue
            # The fingerprint of a service needs a request. One of two that share vectors is computed from the other.
            if entry.card.full is not None or (self.entry.card.full is not None and not entry.card.remote):
                # Why a model cannot be read is said when it has to encode.
                with suppress(EncoderError, OSError):
                    if key_in_cache(encoder_of_vectors(entry.encoder)) == key:
                        return True
        return False

    def score(self, task: Task, encoder: FullEncoder, vectors: Vectors) -> None:
        """Score one task, or start to: a failing diagnostic is recorded, and the others continue."""
        origin, corpus, diagnostic = self.origin(task), task.corpus, task.diagnostic
        dim = float(vectors.matrix.shape[1])

        def with_scalars(scores: ItemScores) -> ItemScores:
            return replace(scores, scalars={**scores.scalars, "dim": dim, **count_unknown_words(encoder, corpus)})

        # The texts of stored documents are not at hand; their vectors were computed by "embassay encode".
        if corpus.stored_documents is not None:
            vectors = replace(vectors, documents=encoder.vectors_of(corpus.stored_documents))
        with self.noting_failure(task.key):
            pending: Pending[ItemScores] = diagnostic.begin(corpus, vectors, origin, self.services.submit)
            if not pending.parts:
                self.keep(task.key, with_scalars(pending.finish()))
                return
            # Worker processes go on after this call; collect() keeps the scores when they are finished.
            self.pending[task.key] = Pending(pending.parts, lambda: with_scalars(pending.finish()))

    def serve(self, pool: Pool, vectors: Vectors) -> None:
        """Keep what the retrievers need that are built on this encoder: the nearest documents, and vectors."""
        plan = self.services.plan
        users = plan.built_on(self.entry.label)
        for corpus in pool.corpora:
            # The texts of stored documents, which have no retrievers, are not available.
            if not corpus.documents or corpus.stored_documents:
                continue
            self.time_question(corpus, pool.encoder, vectors, plan.request.cache_folder)
            if users:
                depth = max(user.depth for user in users)
                nearest = nearest_documents(corpus, vectors, depth)
                if issparse(vectors.matrix):
                    # A document that shares no word with the question is not found: their order is that of the corpus.
                    nearest = replace(nearest, documents=np.where(nearest.similarity > 0, nearest.documents, -1))
                self.nearest[corpus.key] = nearest
                if any(user.needs_vectors for user in users):
                    self.vectors[corpus.key] = vectors

    def need(self, corpus: AnyCorpus) -> None:
        """Encode a corpus again for the retrievers that are built on this encoder, where all scores were stored."""
        if corpus.key in self.nearest:
            return
        tasks = [task for task in self.services.plan.tasks_of(self.entry) if task.corpus is corpus]
        for pool in make_pools(tasks, fit_encoders(self.entry.encoder, tasks), tasks):
            vectors, _ = self.encode(pool, lambda done: None)
            self.serve(pool, vectors)
        self.release()

    def time_question(self, corpus: AnyCorpus, encoder: FullEncoder, vectors: Vectors, cache: Path | None) -> None:
        """Time one question of a corpus: its encoding alone, and its exact search.

        A dense encoder was timed when its robustness was checked, in this run or in the one that filled the cache.
        """
        questions = [sample.question for sample in corpus.samples[:TIMED]]
        alone = self.report.robustness.query_milliseconds if self.report.robustness else None
        if issparse(vectors.matrix):
            _, alone = encode_alone(encoder, [("query", question) for question in questions])
        # Encoders with fewer dimensions take the time of the full one.
        model, remembered = encoder_of_vectors(encoder).fingerprint, Remembered(cache, TIMES)
        if alone:
            remembered[model] = str(alone)
        if model in remembered:
            alone = float(remembered[model])
            passages = [text for role, text in corpus.texts() if role == "document"]
            searching = search_milliseconds(vectors.take(questions, "query"), vectors.take(passages, "document"))
            self.report.milliseconds |= {"": alone, corpus.key: alone + searching}

    def token_lengths(self) -> dict[Text, int]:
        """Return the tokens of each distinct text; empty if that is unknown, or it reads texts of any length."""
        full = adopted(encoder_of_vectors(self.entry.encoder))
        if full.card.max_tokens is None:
            return {}
        lengths = self.services.lengths
        if full.fingerprint not in lengths:
            lengths[full.fingerprint] = token_counts(full, self.services.plan.corpora)
        return lengths[full.fingerprint]


def rows_of(texts: Sequence[Text]) -> dict[Text, int]:
    """Return the place of each text."""
    return {text: place for place, text in enumerate(texts)}


def fit_encoders(encoder: FullEncoder, tasks: Sequence[Task]) -> dict[str, FullEncoder]:
    """Return by corpus the encoder that has learnt from its texts; the encoder itself where it learns nothing.

    Raises
    ------
    EncoderError
        If the encoder fails.
    """
    fitted = {}
    for key, corpus in {task.corpus.key: task.corpus for task in tasks}.items():
        with as_encoder_error("fit"):
            fitted[key] = adopted(encoder.fit(list(corpus.learnt())))
    return fitted


def make_pools(tasks: Sequence[Task], fitted: Mapping[str, FullEncoder], unscored: Sequence[Task]) -> list[Pool]:
    """Return, for each fitted encoder with unscored tasks, these tasks and the distinct texts of *all* its tasks.

    The texts of scored tasks are included so that a run that continues after a kill has the same matrix, row by row, as
    one that was never interrupted.
    """
    # An encoder that learns nothing is the same on all corpora, so one pool has the texts of all of them.
    encoder_of = {encoder.fingerprint: encoder for encoder in fitted.values()}
    pools = []
    for fingerprint in dict.fromkeys(fitted[task.corpus.key].fingerprint for task in tasks):
        of_encoder = [task for task in tasks if fitted[task.corpus.key].fingerprint == fingerprint]
        corpora = {task.corpus.key: task.corpus for task in of_encoder}.values()
        to_score = tuple(task for task in of_encoder if task in unscored)
        if to_score:
            pools.append(Pool(encoder_of[fingerprint], distinct_texts(corpora), tuple(corpora), to_score))
    return pools


def count_unknown_words(encoder: FullEncoder, corpus: AnyCorpus) -> dict[str, float]:
    """Return the counts of unknown words in the texts of a corpus; empty for encoders that do not count them.

    They are the tokens without a vector, all tokens, and the texts without a token that has a vector.
    """
    counts = encoder.unknown_words([text for _, text in corpus.texts()])
    if counts is None:
        return {}
    return dict(zip(("unknown_tokens", "tokens", "without_words"), map(float, counts), strict=True))


def measure_robustness(pool: Pool, vectors: Vectors, seed: int, encoded: int) -> Robustness | None:
    """Return the robustness of the vectors of a pool, or the reason why the check failed; None for sparse vectors.

    Parameters
    ----------
    encoded
        The number of texts that were encoded now rather than taken from the cache.
    """
    if pool.encoder.card.remote:
        return None
    try:
        return check_robustness(pool.encoder, vectors, pool.texts, seed, encoded)
    except Exception as error:
        # The vectors have been computed: the run does not depend on this check.
        return Robustness(0, reason=one_line(f"{type(error).__name__}: {error}"))


def relearnt_matrix(
    encoder: FullEncoder, texts: Sequence[Text], rows: NDArray[np.int64], *, timeline: TimeLine
) -> VectorMatrix:
    """Return the (n, d) matrix of all texts by an encoder that has learnt from those in the (m,) rows only."""
    # Each text is a pair of role and content.
    to_learn = [texts[row][1] for row in rows.tolist()]
    with timeline.during("encoding"):
        with as_encoder_error("relearn"):
            learnt = encoder.relearn(to_learn)
        vectors, _ = encode(learnt, texts)
    return vectors.matrix


def token_counts(encoder: FullEncoder, corpora: Iterable[AnyCorpus]) -> dict[Text, int]:
    """Return the tokens of each distinct text, before truncation; empty if they cannot be counted."""
    texts = distinct_texts(corpora)
    tokens_of = dict[Text, int]()
    try:
        for role in dict.fromkeys(role for role, _ in texts):
            texts_of_role = [text for text in texts if text[0] == role]
            lengths = encoder.count_tokens([text for _, text in texts_of_role], role)
            if lengths is None:
                return {}
            tokens_of.update(zip(texts_of_role, map(int, lengths), strict=True))
    except Exception:
        # The vectors have been computed: the run does not depend on these counts.
        return {}
    return tokens_of
