"""What scoring an encoder and scoring a retriever have in common: stored scores, failures, and what both report."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, field

from embassay.core.errors import EncoderError, OutputError, reason_of
from embassay.core.processes.pending import Submit
from embassay.core.samples.base import Text
from embassay.core.types import AnyCorpus, ItemScores, JsonObject, Origin
from embassay.core.vectors import Neighbours, Vectors
from embassay.run.cache.cache import VectorCache
from embassay.run.candidates import RunEncoder
from embassay.run.engine.robustness import Robustness
from embassay.run.plan import Plan, Task
from embassay.run.runs.folder import RunFolder

LOG = logging.getLogger(__name__)
Key = tuple[str, str]


@dataclass(frozen=True)
class Services:
    """What scoring uses: the plan, the stores of vectors and scores, worker processes.

    Attributes
    ----------
    lengths
        By fingerprint of a full encoder, the tokens of each text, before truncation.
    """

    plan: Plan
    cache: VectorCache | None
    folder: RunFolder | None
    submit: Submit
    lengths: dict[str, dict[Text, int]] = field(default_factory=dict)


@dataclass
class CandidateRun(ABC):
    """One encoder or retriever in a run, and its scores.

    Attributes
    ----------
    failure
        Why it failed; None if it did not.
    failed_tasks
        By task, why a diagnostic failed.
    fingerprints
        By corpus, the fingerprint of the encoder after it has learnt from it, of a retriever with its parts.
    nearest, vectors
        By corpus, what the retrievers that are built on it need.
    texts, encoded
        How many distinct texts were needed, or questions, and how many of them were encoded or answered now.
    dim
        The number of dimensions; None where it depends on the corpus.
    lengths
        The tokens of each distinct text, before truncation; empty where that is not known.
    route
        How vectors or lists were made, if that is known: device, precision, notes.
    milliseconds
        By corpus, how long one question takes with all parts, as docs/setups.md defines it; NaN where a part was not
        timed. Under an empty name, of an encoder one text alone, without a search, and of a retriever its own part.
    """

    entry: RunEncoder
    services: Services
    scores: dict[Key, ItemScores] = field(default_factory=dict)
    failed_tasks: dict[Key, str] = field(default_factory=dict)
    failure: str | None = None
    fingerprints: dict[str, str] = field(default_factory=dict)
    nearest: dict[str, Neighbours] = field(default_factory=dict)
    vectors: dict[str, Vectors] = field(default_factory=dict)
    texts: int = 0
    encoded: int = 0
    robustness: Robustness | None = None
    dim: int | None = None
    lengths: dict[Text, int] = field(default_factory=dict)
    route: JsonObject = field(default_factory=dict)
    milliseconds: dict[str, float] = field(default_factory=dict)

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """The fingerprint before anything is learnt from a corpus."""

    @abstractmethod
    def score_tasks(self) -> None:
        """Score all tasks that are not stored; EncoderError if the candidate fails on all corpora."""

    @abstractmethod
    def need(self, corpus: AnyCorpus) -> None:
        """Have ``nearest`` and ``vectors`` of a corpus, for the retrievers that are built on this candidate."""

    def release(self) -> None:
        """Release a model, so that two large ones are never in memory together; what it knows of its route is lost."""
        self.route |= self.entry.model.route()
        self.entry.model.release()

    def origin(self, task: Task) -> Origin:
        """Return what identifies the scores of a task."""
        return self.services.plan.origin(task, self.entry, self.fingerprints[task.corpus.key])

    def load_stored(self, tasks: Iterable[Task]) -> None:
        """Load the scores of tasks that are in the run's folder."""
        for task in tasks if self.services.folder else ():
            scores = self.services.folder.load(self.origin(task))
            if scores is not None:
                self.scores[task.key] = scores

    def keep(self, task: Task, score: Callable[[], ItemScores]) -> None:
        """Score a task, and keep the scores, also in the run's folder; a failing diagnostic lets the others continue.

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
            scores = score()
            if self.services.folder:
                self.services.folder.save(scores)
            self.scores[task.key] = scores
        except (EncoderError, OutputError, BrokenExecutor):
            raise
        except Exception as error:
            LOG.debug("a diagnostic failed", exc_info=True)
            self.failed_tasks[task.key] = reason_of(error)
