"""One retriever on all its tasks: hand it what it is built on, check and keep its lists, score the diagnostics.

Lists are kept in the folder of the run, so that it is continued where it stopped; those of a retriever that answers the
same in every run are kept in the cache, too.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np

from embassay.core.errors import EncoderError
from embassay.core.formatting import counted, names
from embassay.core.result import MIN_UNITS
from embassay.core.samples.base import Text
from embassay.core.samples.retrieval import right_pairs
from embassay.core.store.lists import FROM_CACHE, read_lists, write_lists
from embassay.core.types import AnyCorpus, Encoder, content_hash
from embassay.core.vectors import Neighbours, Vectors
from embassay.run.candidates import in_scoring_order
from embassay.run.engine.encode import Effort, encode
from embassay.run.plan import Task
from embassay.run.score import EncoderRun
from embassay.run.scoring import CandidateRun, Services, as_encoder_error
from embassay.search.exact.lists import NONE, checked, joined, lists_of, of_rows, ranked
from embassay.search.retrievers.base import Lists, Questions, Retriever
from embassay.stats.choosing import best_column, cross_fit
from embassay.stats.ranking import RightPlaces
from embassay.stats.units import Floats, Ints

SAVED_AFTER = 30.0
"""Seconds after which finished lists are written while a retriever still answers."""
NAMED = 3
"""Ids that a note names, at most."""


def runs_of(services: Services) -> dict[str, CandidateRun]:
    """Return by label the run of each entry, after those that it is built on."""
    run_of: dict[str, CandidateRun] = {}
    known: dict[str, float] = {}
    for entry in in_scoring_order(services.plan.entries):
        if entry.retriever:
            run_of[entry.label] = RetrieverRun(entry, services, others=run_of, known=known)
        else:
            run_of[entry.label] = EncoderRun(entry, services)
    return run_of


@dataclass
class RetrieverRun(CandidateRun):
    """One retriever in a run.

    Attributes
    ----------
    others
        The runs of all entries, by label; those that it is built on are scored before it.
    known
        By a hash of encoder and text, the scores that a retriever of the run has had computed as vectors.
    choice_on
        By corpus, what its setting was chosen by, where one is chosen.
    facts
        By corpus, the numbers that it has found out; see ``Lists.facts``.
    seconds
        Of each question of all corpora.
    """

    others: Mapping[str, CandidateRun] = field(default_factory=dict)
    known: dict[str, float] = field(default_factory=dict)
    choice_on: dict[str, ChosenSetting] = field(default_factory=dict)
    facts: dict[str, dict[str, float]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)

    @property
    def retriever(self) -> Retriever:
        """The retriever."""
        return cast("Retriever", self.entry.retriever)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the retriever and of what it is built on, before that learns from any corpus."""
        return self._with_parts([self.others[label].fingerprint for label in self.retriever.parts])

    def _with_parts(self, of_parts: Sequence[str]) -> str:
        own = self.retriever.fingerprint
        return content_hash([own, *of_parts]) if of_parts else own

    def score_tasks(self) -> None:
        """Score the retriever on its tasks; where it fails on one corpus, the others continue.

        Raises
        ------
        EncoderError
            If it fails on all.
        """
        self.report.effort = Effort()
        tasks = self.services.plan.tasks_of(self.entry)
        for corpus in {task.corpus.key: task.corpus for task in tasks}.values():
            of_corpus = [task for task in tasks if task.corpus is corpus]
            try:
                self.score_on(corpus, of_corpus)
            except EncoderError as error:
                self.failed_tasks |= {task.key: str(error) for task in of_corpus if task.key not in self.scores}
                # What is built on it must not ask again.
                self.fingerprints.pop(corpus.key, None)
        if not self.scores:
            raise EncoderError(next(iter(self.failed_tasks.values())))

    def score_on(self, corpus: AnyCorpus, tasks: Sequence[Task]) -> None:
        """Score the tasks on one corpus, as far as their scores are not stored."""
        parts = [self.part(label, corpus).fingerprints[corpus.key] for label in self.retriever.parts]
        self.fingerprints[corpus.key] = self._with_parts(parts)
        self.load_stored(tasks)
        for task in tasks:
            if task.key in self.scores:
                continue
            self.need(corpus)
            with self.noting_failure(task.key):
                diagnostic = task.diagnostic
                scores = diagnostic.score_rankings(corpus, self.nearest[corpus.key], self.origin(task))
                scalars = {**scores.scalars, **self.facts[corpus.key]}
                if self.retriever.choices:
                    scalars |= self.choice_on[corpus.key].scalars(diagnostic.k, self.services.plan.request.seed)
                self.keep(task.key, replace(scores, scalars=scalars))

    def part(self, label: str, corpus: AnyCorpus) -> CandidateRun:
        """Return the run of a part.

        Raises
        ------
        EncoderError
            If it failed, or is not scored on the corpus.
        """
        run = self.others[label]
        if run.failure is not None:
            raise EncoderError(f"it is built on {label!r}, which failed: {run.failure}")
        if corpus.key not in run.fingerprints:
            raise EncoderError(f"it is built on {label!r}, which is not scored on {corpus.key}")
        return run

    def need(self, corpus: AnyCorpus) -> None:
        """Have the retriever answer the questions of a corpus, unless it has.

        Raises
        ------
        EncoderError
            If it fails, or no list has a document of the corpus.
        """
        if corpus.key in self.nearest:
            return
        retriever = self.retriever
        parts, vectors = dict[str, Neighbours](), dict[str, Vectors]()
        for label in retriever.parts:
            part = self.part(label, corpus)
            part.need(corpus)
            parts[label] = part.nearest[corpus.key]
            if retriever.needs_vectors:
                vectors[label] = part.vectors[corpus.key]
        lists_of_parts = {label: lists_of(nearest, retriever.depth) for label, nearest in parts.items()}
        encoding = partial(_encoded, services=self.services, known=self.known)
        questions = Questions(corpus, corpus.samples, lists_of_parts, vectors, encoding)
        with self.services.timeline.during("encoding"):
            chosen, setting = retriever, None
            if retriever.choices:
                choice = self.choice_on[corpus.key] = choose(retriever, questions)
                chosen, setting = retriever.choices[choice.setting], choice.setting
            lists = self.ask(chosen, questions, lists_key(self.fingerprints[corpus.key], corpus, setting))
        self.note(questions, lists)
        facts = (fact.split("=") for fact in lists.facts)
        self.facts[corpus.key] = {name: float(number) for name, number in facts}
        self.nearest[corpus.key] = ranked(corpus, lists, parts.get(retriever.continues))

    def ask(self, retriever: Retriever, questions: Questions, key: str) -> Lists:
        """Return the lists of all questions that have one: stored ones, and those that a retriever gives now.

        What it has given is stored, even if it fails later.
        """
        folder, cache = self.services.folder, self.services.plan.request.cache_folder
        if not retriever.keeps_answers:
            cache = None
        places = [place for place in (folder.path if folder else None, cache) if place]
        kept = [stored_lists(place, key) for place in places]
        stored = max(kept, key=lambda lists: len(lists.rows), default=NONE)
        if cache and stored is kept[-1] and len(stored.rows):
            # A check of this run against the one that asked would compare answers with themselves.
            self.report.route |= {"answers": FROM_CACHE}
        missing = np.setdiff1d(np.arange(len(questions.samples)), stored.rows)
        if not len(missing):
            # The folder of the run has what the cache had.
            return _save([stored], places, key)
        parts = [stored]
        saved = started = time.perf_counter()
        try:
            for given in self.answers(retriever, of_rows(questions, missing)):
                parts.append(replace(given, rows=missing[given.rows]))
                if time.perf_counter() - saved > SAVED_AFTER:
                    parts = [_save(parts, places, key)]
                    saved = time.perf_counter()
        finally:
            lists = _save(parts, places, key)
        effort = Effort(len(questions.samples), len(missing), time.perf_counter() - started)
        self.report.effort = (self.report.effort or Effort()) + effort
        return lists

    def answers(self, retriever: Retriever, questions: Questions) -> Iterator[Lists]:
        """Yield checked lists as a retriever gives them."""
        progress = self.services.plan.request.progress
        with progress.encoding(self.entry.label, len(questions.samples)) as advance:
            began = time.perf_counter()
            with as_encoder_error("retrieve"):
                for given in retriever.retrieve(questions):
                    yield checked(given, questions, time.perf_counter() - began)
                    advance(len(given.rows))
                    began = time.perf_counter()

    def note(self, questions: Questions, lists: Lists) -> None:
        """Note ids that are no documents, questions without a list, and the time of a question.

        Raises
        ------
        EncoderError
            If no list has a document of the corpus.
        """
        corpus, report = questions.corpus, self.report
        unknown = f"{counted(len(lists.unknown), 'id')} in its lists are no documents of {corpus.key}: "
        unknown += names(list(dict.fromkeys(lists.unknown))[:NAMED])
        has_documents = (lists.documents >= 0).any(axis=1)
        if not has_documents.any():
            reason = f"it has no list for any question of {corpus.key}, whose ids are such as {corpus.samples[0].id!r}"
            if lists.unknown:
                reason = f"{unknown}; those of {corpus.key} are such as {corpus.documents[0].id!r}"
            raise EncoderError(reason)
        notes = list(report.route.get("notes", ()))
        if lists.unknown:
            notes.append(f"{unknown}; they were left out")
        without = np.setdiff1d(np.arange(len(questions.samples)), lists.rows[has_documents])
        # What continues a part leaves the others their ranks, and that says which have none.
        if len(without) and not self.retriever.continues:
            ids = names([questions.samples[row].id for row in without[:NAMED].tolist()])
            notes.append(f"{counted(len(without), 'question')} of {corpus.key} without a list count as missed: {ids}")
        report.route |= {"notes": notes}
        if lists.seconds is not None and not np.isnan(lists.seconds).any():
            self.seconds += lists.seconds.tolist()
            p50, p95, p99 = (1000 * np.quantile(self.seconds, (0.5, 0.95, 0.99))).tolist()
            report.route |= {"answer_milliseconds": {"p50": p50, "p95": p95, "p99": p99}}
            # An index takes the place of the exact search.
            of_parts = "" if self.retriever.needs_vectors else corpus.key
            parts = [self.others[label].report.milliseconds.get(of_parts, math.nan) for label in self.retriever.parts]
            own = 1000 * float(np.median(lists.seconds))
            report.milliseconds |= {"": p50, corpus.key: own + sum(parts)}


@dataclass(frozen=True)
class ChosenSetting:
    """A setting that was chosen by the m answered questions of a corpus.

    Attributes
    ----------
    setting
        The one with the highest mean reciprocal rank.
    places
        By setting, in ascending order, the places of the right documents.
    reciprocal_rank
        (m, settings).
    unit
        (m,) unit codes.
    """

    setting: float
    places: Mapping[float, RightPlaces]
    reciprocal_rank: Floats
    unit: Ints

    def scalars(self, k: int, seed: int) -> dict[str, float]:
        """Return what scores say about the choice.

        ``setting``: what was chosen; ``setting/expected``: the Success@k that is expected on other questions;
        ``setting/lowest`` and ``setting/highest``: what was chosen for single folds; by setting, ``curve/0.05`` …: the
        mean reciprocal rank.
        """
        settings = list(self.places)
        success = np.stack([places.success(k) for places in self.places.values()], axis=1)
        expected, columns = cross_fit(self.reciprocal_rank, success, self.unit, seed)
        curve = zip(settings, self.reciprocal_rank.mean(axis=0).tolist(), strict=True)
        return {
            "setting": self.setting,
            "setting/expected": expected,
            "setting/lowest": settings[min(columns)],
            "setting/highest": settings[max(columns)],
            **{f"curve/{setting:g}": mean for setting, mean in curve},
        }


def choose(retriever: Retriever, questions: Questions) -> ChosenSetting:
    """Choose one of a retriever's choices by the questions of a corpus.

    Raises
    ------
    EncoderError
        If fewer than 10 units have a question with a right document.
    """
    corpus = questions.corpus
    pairs = right_pairs(corpus.samples, corpus.documents)
    answered, question = np.unique(pairs[:, 0], return_inverse=True)
    unit = corpus.units[answered]
    units = len(np.unique(unit))
    if units < MIN_UNITS:
        raise EncoderError(
            f"{retriever.card.spec} is chosen on {MIN_UNITS} units of answered questions or more; {corpus.key} has "
            f"{units}: give it a fixed value"
        )
    places_at = {}
    for setting, choice in retriever.choices.items():
        with as_encoder_error("retrieve"):
            lists = joined([checked(given, questions, 0.0) for given in choice.retrieve(questions)])
        nearest = ranked(corpus, lists, pairs=pairs)
        # The gain of a right document does not matter here.
        gains = np.ones_like(nearest.tied)
        places_at[setting] = RightPlaces(len(answered), question, nearest.greater, nearest.tied, gains)
    reciprocal_rank = np.stack([places.reciprocal_rank() for places in places_at.values()], axis=1)
    setting = list(places_at)[best_column(reciprocal_rank.mean(axis=0))]
    return ChosenSetting(setting, places_at, reciprocal_rank, unit)


def lists_key(fingerprint: str, corpus: AnyCorpus, setting: float | None) -> str:
    """Return what lists are stored under.

    Parameters
    ----------
    fingerprint
        That of the retriever with its parts.
    setting
        What was chosen on the corpus; None where nothing is chosen.
    """
    return content_hash([fingerprint, corpus.fingerprint, setting])


def _encoded(encoder: Encoder, texts: Sequence[Text], *, services: Services, known: dict[str, float]) -> Vectors:
    """Return the vectors of texts: cached ones, and those that the encoder makes now.

    Vectors of one number are scores; they are made once in a run, also where no cache keeps them.
    """
    key_of = {text: content_hash([encoder.fingerprint, *text]) for text in texts}
    missing = [text for text in texts if key_of[text] not in known]
    vectors, _ = encode(encoder, missing, services.cache, None, services.timeline)
    if vectors.matrix.shape[1] > 1:
        return vectors
    known |= {key_of[text]: vectors.matrix[vectors.row[text], 0] for text in missing}
    scores = np.array([[known[key]] for key in key_of.values()], dtype=np.float32)
    return replace(vectors, matrix=scores, row={text: place for place, text in enumerate(texts)})


def stored_lists(folder: Path, key: str) -> Lists:
    """Return the lists that are stored in a folder; none if none has a document, so that a service is asked again."""
    arrays = read_lists(folder, key)
    if not arrays or not (arrays["documents"] >= 0).any():
        return NONE
    unknown, facts = (tuple(arrays.pop(name, np.array([])).tolist()) for name in ("unknown", "facts"))
    return Lists(**arrays, unknown=unknown, facts=facts)


def _save(parts: Sequence[Lists], folders: Sequence[Path], key: str) -> Lists:
    """Store lists, and return them as one record."""
    lists = joined(parts)
    arrays = {name: np.asarray(value) for name, value in vars(lists).items()}
    for folder in folders:
        write_lists(folder, key, arrays)
    return lists
