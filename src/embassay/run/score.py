"""One encoder on all its tasks: load stored scores, encode the remaining texts, score the diagnostics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from scipy.sparse import issparse

from embassay.core.errors import EncoderError, OutputError, one_line, reason_of
from embassay.core.grouping import grouped
from embassay.core.result import Failure
from embassay.core.samples.base import Text
from embassay.core.types import AnyCorpus, ItemScores, JsonObject, Origin
from embassay.core.vectors import Indices, Neighbours, VectorMatrix, Vectors
from embassay.models.base import FullEncoder, adopted, encoder_of_vectors, key_in_cache
from embassay.run.cache.folder import TIMES_FILE
from embassay.run.candidates import RunEncoder
from embassay.run.engine.encode import as_encoder_error, encode, tokens_of
from embassay.run.engine.robustness import TIMED, Robustness, check_robustness, milliseconds_alone
from embassay.run.plan import Plan, Task, distinct_texts
from embassay.run.progress import counting
from embassay.run.runs.folder import RunFolder
from embassay.search.exact.alone import search_milliseconds
from embassay.search.exact.documents import nearest_documents
from embassay.search.exact.top import search

Key = tuple[str, str]


@dataclass
class CandidateRun(ABC):
    """One encoder or retriever in a run, and its scores.

    Attributes
    ----------
    others
        The runs of all entries, by label; those that it is built on are scored before it.
    failure
        Why it failed; None if it did not.
    failed_tasks
        Where only a diagnostic, or the candidate on one corpus, failed.
    fingerprints
        By corpus, the fingerprint of the encoder after it has learnt from it, of a retriever with its parts.
    facts
        By the fingerprint of a corpus, the numbers that a retriever has found out.
    nearest, vectors
        By the fingerprint of a corpus, what the retrievers that are built on it need.
    texts, encoded
        How many distinct texts were needed, or questions, and how many of them were encoded or answered now.
    lengths
        The tokens of each distinct text, before truncation; empty where that is not known.
    route
        How vectors or lists were made, if that is known: device, precision, notes.
    milliseconds
        By corpus, how long one question takes with all parts, as docs/setups.md defines it; NaN where a part was not
        timed. Under an empty name, of an encoder one text alone, without a search, and of a retriever its own part.
    """

    entry: RunEncoder
    plan: Plan
    folder: RunFolder | None
    others: Mapping[str, CandidateRun]
    scores: dict[Key, ItemScores] = field(default_factory=dict)
    failed_tasks: list[Failure] = field(default_factory=list)
    failure: str | None = None
    fingerprints: dict[str, str] = field(default_factory=dict)
    facts: dict[str, dict[str, float]] = field(default_factory=dict)
    nearest: dict[str, Neighbours] = field(default_factory=dict)
    vectors: dict[str, Vectors] = field(default_factory=dict)
    texts: int = 0
    encoded: int = 0
    robustness: Robustness | None = None
    lengths: dict[Text, int] = field(default_factory=dict)
    route: JsonObject = field(default_factory=dict)
    milliseconds: dict[str, float] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """The fingerprint before anything is learnt from a corpus."""
        return self.entry.model.fingerprint

    def score_tasks(self) -> None:
        """Score all tasks that are not stored; EncoderError if the candidate fails on all corpora."""
        for tasks in grouped(self.plan.tasks_of(self.entry), lambda task: task.corpus.key).values():
            self.score_corpus(tasks[0].corpus, tasks)

    @abstractmethod
    def score_corpus(self, corpus: AnyCorpus, tasks: Sequence[Task]) -> None:
        """Score the tasks of a corpus that are not stored."""

    @abstractmethod
    def need(self, corpus: AnyCorpus) -> None:
        """Have ``nearest`` and ``vectors`` of a corpus, for the retrievers that are built on this candidate."""

    def release(self) -> None:
        """Release a model, so that two large ones are never in memory together; what it knows of its route is lost."""
        self.route |= self.entry.model.route()
        self.entry.model.release()

    def origin(self, task: Task) -> Origin:
        """Return what identifies the scores of a task."""
        return self.plan.origin(task, self.entry, self.fingerprints[task.corpus.key])

    def unscored(self, tasks: Iterable[Task]) -> list[Task]:
        """Load the scores of tasks that are in the run's folder, and return the other tasks."""
        unscored = []
        for task in tasks:
            scores = self.folder.load(self.origin(task)) if self.folder else None
            if scores is None:
                unscored.append(task)
            else:
                self.scores[task.key] = scores
        return unscored

    def fail(self, task: Task, reason: str) -> None:
        """Remember why a task has no scores."""
        self.failed_tasks.append(Failure(self.entry.label, task.name, task.corpus.name, one_line(reason)))

    def keep(self, task: Task, score: Callable[[Origin], ItemScores], facts: Mapping[str, float]) -> None:
        """Score a task, and keep the scores with what is known of the candidate, also in the run's folder.

        A failing diagnostic lets the others continue.

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
            scores = score(self.origin(task))
            scores = replace(scores, scalars={**scores.scalars, **facts})
            if self.folder:
                self.folder.save(scores)
            self.scores[task.key] = scores
        except (EncoderError, OutputError, BrokenExecutor):
            raise
        except Exception as error:
            self.fail(task, reason_of(error))


class EncoderRun(CandidateRun):
    """One encoder in a run."""

    def score_tasks(self) -> None:
        """Score the encoder on its tasks, and count the tokens of all texts.

        Raises
        ------
        EncoderError
            If it cannot encode.
        """
        super().score_tasks()
        self.lengths = self.token_lengths()

    def score_corpus(self, corpus: AnyCorpus, tasks: Sequence[Task]) -> None:
        """Encode a corpus, and score the tasks that are not stored; nothing is encoded if all are."""
        encoder = self.fitted(corpus)
        self.fingerprints[corpus.key] = encoder.fingerprint
        unscored = self.unscored(tasks)
        if not unscored:
            return
        vectors, encoded = self.encode(corpus, encoder)
        self.texts += len(vectors.row)
        self.encoded += encoded
        self.check(encoder, vectors, encoded)
        facts = facts_of(encoder, corpus, vectors)
        for task in unscored:
            self.keep(task, partial(task.diagnostic.score, corpus, vectors), facts)
        self.serve(corpus, encoder, vectors)

    def fitted(self, corpus: AnyCorpus) -> FullEncoder:
        """Return the encoder that has learnt from the texts of a corpus; the encoder itself where it learns nothing."""
        with as_encoder_error():
            return adopted(self.entry.encoder.fit(list(corpus.learnt())))

    def encode(self, corpus: AnyCorpus, encoder: FullEncoder) -> tuple[Vectors, int]:
        """Return the vectors of the texts of a corpus, and how many were encoded now rather than taken from the cache.

        All its texts are encoded, also if some tasks are scored already, so that a run that continues after a kill has
        the same matrix, row by row, as one that was never interrupted.
        """
        texts, full, cache = corpus.texts(), adopted(encoder_of_vectors(encoder)), self.plan.request.vector_cache
        if cache:
            cache.note(key_in_cache(full), full.card.spec)
        with counting(self.entry.label, len(texts), quiet=self.plan.request.quiet) as advance:
            vectors, encoded = encode(encoder, texts, cache, advance)
        learn = partial(relearnt_matrix, encoder, texts) if encoder.card.relearns else None
        documents = None
        # The texts of stored documents are not available; their vectors were computed by "embassay encode".
        if corpus.stored_documents is not None:
            documents = encoder.vectors_of(corpus.stored_documents)
        tokens, most_tokens = partial(full.count_tokens, role="document"), full.card.max_tokens
        vectors = replace(vectors, search=search, learn=learn, documents=documents)
        return replace(vectors, tokens=tokens, most_tokens=most_tokens), encoded

    def check(self, encoder: FullEncoder, vectors: Vectors, encoded: int) -> None:
        """Check the robustness of the vectors, and time one text alone, where the run asks for it."""
        request, card = self.plan.request, encoder.card
        # The check encodes some texts again, which a service would charge for.
        if not request.robustness or not encoded or not card.cached or card.remote:
            return
        try:
            self.robustness = check_robustness(encoder, vectors, request.seed, encoded)
            texts = list(vectors.row)
            queries = [text for text in texts if text[0] == "query"]
            self.milliseconds[""] = milliseconds_alone(encoder, queries or texts)
        except Exception as error:
            # The vectors have been computed: the run does not depend on this check.
            request.warn(f"{self.entry.label}: its vectors were not checked: {reason_of(error)}")

    def serve(self, corpus: AnyCorpus, encoder: FullEncoder, vectors: Vectors) -> None:
        """Keep what the retrievers need that are built on this encoder: the nearest documents, and vectors."""
        # The texts of stored documents, which have no retrievers, are not available.
        if not corpus.documents or corpus.stored_documents:
            return
        self.time_question(corpus, encoder, vectors)
        users = [e.retriever for e in self.plan.entries if e.retriever and self.entry.label in e.retriever.parts]
        if users:
            nearest = nearest_documents(corpus, vectors, max(user.depth for user in users))
            if issparse(vectors.matrix):
                # A document that shares no word with the question is not found: their order is that of the corpus.
                nearest = replace(nearest, documents=np.where(nearest.similarity > 0, nearest.documents, -1))
            self.nearest[corpus.fingerprint] = nearest
        if any(user.needs_vectors for user in users):
            self.vectors[corpus.fingerprint] = vectors

    def need(self, corpus: AnyCorpus) -> None:
        """Encode a corpus again for the retrievers that are built on this encoder, where all scores were stored."""
        if corpus.fingerprint not in self.nearest:
            encoder = self.fitted(corpus)
            vectors, _ = self.encode(corpus, encoder)
            self.serve(corpus, encoder, vectors)
            self.release()

    def time_question(self, corpus: AnyCorpus, encoder: FullEncoder, vectors: Vectors) -> None:
        """Time one question of a corpus: its encoding alone, and its exact search.

        A dense encoder was timed when its robustness was checked, in this run or in the one that filled the cache.
        """
        questions = [sample.question for sample in corpus.samples[:TIMED]]
        if issparse(vectors.matrix):
            self.milliseconds[""] = milliseconds_alone(encoder, [("query", question) for question in questions])
        # Encoders with fewer dimensions take the time of the full one.
        model, times = encoder_of_vectors(encoder).fingerprint, self.plan.request.remembered(TIMES_FILE)
        if "" in self.milliseconds:
            times[model] = str(self.milliseconds[""])
        if model in times:
            passages = [text for role, text in corpus.texts() if role == "document"]
            searching = search_milliseconds(vectors.take(questions, "query"), vectors.take(passages, "document"))
            alone = float(times[model])
            self.milliseconds |= {"": alone, corpus.key: alone + searching}

    def token_lengths(self) -> dict[Text, int]:
        """Return the tokens of each distinct text, before truncation.

        Empty if they cannot be counted, or the encoder reads texts of any length.
        """
        full = adopted(encoder_of_vectors(self.entry.encoder))
        # The vectors have been computed: the run does not depend on these counts.
        with suppress(Exception):
            if full.card.max_tokens:
                return tokens_of(distinct_texts(self.plan.corpora), full.count_tokens)
        return {}


def facts_of(encoder: FullEncoder, corpus: AnyCorpus, vectors: Vectors) -> dict[str, float]:
    """Return the dimensions of the vectors of a corpus, and counts of unknown words where the encoder counts them."""
    facts = {"dim": float(vectors.matrix.shape[1])}
    with as_encoder_error():
        counts = encoder.unknown_words([text for _, text in corpus.texts()])
    if counts is not None:
        # Tokens without a vector, all tokens, and texts without a token that has a vector.
        facts |= zip(("unknown_tokens", "tokens", "without_words"), map(float, counts), strict=True)
    return facts


def relearnt_matrix(encoder: FullEncoder, texts: Sequence[Text], rows: Indices) -> VectorMatrix:
    """Return the (n, d) matrix of all texts by an encoder that has learnt from those in the (m,) rows only."""
    with as_encoder_error():
        # Each text is a pair of role and content.
        learnt = encoder.relearn([texts[row][1] for row in rows.tolist()])
    return encode(learnt, texts)[0].matrix
