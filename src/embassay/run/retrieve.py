"""One retriever on all its tasks: hand it what it is built on, check and keep its lists, score the diagnostics.

Lists are kept in the folder of the run, so that it is continued where it stopped.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from embassay.core.errors import EncoderError
from embassay.core.formatting import counted, names
from embassay.core.result import MIN_UNITS
from embassay.core.samples.base import Text
from embassay.core.samples.retrieval import right_pairs
from embassay.core.store.arrays import read_arrays, write_arrays
from embassay.core.types import AnyCorpus, Encoder, content_hash
from embassay.core.vectors import Vectors
from embassay.run.engine.encode import as_encoder_error, encode
from embassay.run.plan import Task
from embassay.run.progress import counting
from embassay.run.score import CandidateRun
from embassay.search.exact.lists import NONE, joined, lists_of, of_rows, ranked, validated_lists
from embassay.search.retrievers.base import Lists, Questions, Retriever
from embassay.stats.choosing import best_column, cross_fit
from embassay.stats.ranking import RightPlaces

LISTS = "lists"
"""The folder of the lists, in that of the run."""
SAVED_AFTER = 30.0
"""Seconds after which finished lists are written while a retriever still answers."""
NAMED = 3
"""Ids that a note names, at most."""


class RetrieverRun(CandidateRun):
    """One retriever in a run; its facts are what it has found out (``Lists.facts``) and chosen (:func:`choose`)."""

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
        """Score the retriever on its tasks.

        Raises
        ------
        EncoderError
            If it fails on all corpora.
        """
        super().score_tasks()
        if not self.scores:
            raise EncoderError(self.failed_tasks[0].reason)

    def score_corpus(self, corpus: AnyCorpus, tasks: Sequence[Task]) -> None:
        """Score the tasks of a corpus that are not stored; where the retriever fails, the other corpora continue."""
        key = corpus.key
        try:
            of_parts = [run.fingerprints[key] for run in self.parts(key).values()]
        except EncoderError as error:
            for task in tasks:
                self.fail(task, str(error))
            return
        self.fingerprints[key] = self._with_parts(of_parts)
        for task in self.unscored(tasks):
            searched = task.diagnostic.searched(corpus)
            try:
                self.need(searched)
                score = partial(task.diagnostic.score_rankings, corpus, self.nearest[searched.fingerprint])
                self.keep(task, score, self.facts[searched.fingerprint])
            except EncoderError as error:
                self.fail(task, str(error))
        if not any(task.key in self.scores for task in tasks):
            # What is built on it must not ask again.
            del self.fingerprints[key]

    def parts(self, key: str) -> dict[str, CandidateRun]:
        """Return by label the runs of what it is built on.

        Raises
        ------
        EncoderError
            If one failed, or is not scored on the corpus with this key.
        """
        runs = {label: self.others[label] for label in self.retriever.parts}
        for label, run in runs.items():
            if run.failure is not None:
                raise EncoderError(f"it is built on {label!r}, which failed: {run.failure}")
            if key not in run.fingerprints:
                raise EncoderError(f"it is built on {label!r}, which is not scored on {key}")
        return runs

    def need(self, corpus: AnyCorpus) -> None:
        """Have the retriever answer the questions of a corpus, unless it has.

        Raises
        ------
        EncoderError
            If it fails, or no list has a document of the corpus.
        """
        key, retriever = corpus.fingerprint, self.retriever
        if key in self.nearest:
            return
        parts = self.parts(corpus.key)
        for part in parts.values():
            part.need(corpus)

        def encode_for(encoder: Encoder, texts: Sequence[Text]) -> Vectors:
            return encode(encoder, texts, self.plan.request.vector_cache)[0]

        lists_of_parts = {label: lists_of(part.nearest[key], retriever.depth) for label, part in parts.items()}
        vectors = {label: part.vectors[key] for label, part in parts.items() if retriever.needs_vectors}
        questions = Questions(corpus, corpus.samples, lists_of_parts, vectors, encode_for)
        choice: dict[str, float] = {}
        if retriever.choices:
            k = self.plan.tasks_of(self.entry)[0].diagnostic.k
            choice = choose(retriever, questions, k, self.plan.request.seed)
            retriever = retriever.choices[choice["setting"]]
        lists = self.ask(retriever, questions, lists_key(self.fingerprints[corpus.key], corpus, choice.get("setting")))
        self.note_problems(questions, lists)
        self.keep_times(corpus, lists)
        facts = (fact.partition("=") for fact in lists.facts)
        self.facts[key] = {**choice, **{name: float(number) for name, _, number in facts}}
        continued = parts.get(self.retriever.continues)
        self.nearest[key] = ranked(corpus, lists, continued.nearest[key] if continued else None)

    def ask(self, retriever: Retriever, questions: Questions, key: str) -> Lists:
        """Return the lists of all questions that have one: stored ones, and those that a retriever gives now.

        What it has given is stored, even if it fails later.
        """
        folder = self.folder.path if self.folder else None
        lists = stored_lists(folder, key) if folder else NONE
        missing = np.setdiff1d(np.arange(len(questions.samples)), lists.rows)
        if not len(missing):
            return lists
        parts = [lists]
        saved = time.perf_counter()
        try:
            for given in self.answers(retriever, of_rows(questions, missing)):
                parts.append(replace(given, rows=missing[given.rows]))
                if time.perf_counter() - saved > SAVED_AFTER:
                    parts = [_save(parts, folder, key)]
                    saved = time.perf_counter()
        finally:
            lists = _save(parts, folder, key)
        self.texts += len(questions.samples)
        self.encoded += len(missing)
        return lists

    def answers(self, retriever: Retriever, questions: Questions) -> Iterator[Lists]:
        """Yield checked lists as a retriever gives them."""
        quiet = self.plan.request.quiet
        with counting(self.entry.label, len(questions.samples), quiet=quiet) as advance, as_encoder_error():
            began = time.perf_counter()
            for given in retriever.retrieve(questions):
                yield validated_lists(given, questions, time.perf_counter() - began)
                advance(len(given.rows))
                began = time.perf_counter()

    def note_problems(self, questions: Questions, lists: Lists) -> None:
        """Note ids that are no documents, and questions without a list.

        Raises
        ------
        EncoderError
            If no list has a document of the corpus.
        """
        corpus, notes = questions.corpus, self.route.setdefault("notes", [])
        unknown_ids = names(list(dict.fromkeys(lists.unknown))[:NAMED])
        with_list = lists.rows[(lists.documents >= 0).any(axis=1)]
        if not len(with_list):
            raise EncoderError(
                f"no list of a question of {corpus.key} has one of its documents; listed: {unknown_ids or 'none'}; ids "
                f"of documents are such as {corpus.documents[0].id!r}, of questions such as {corpus.samples[0].id!r}"
            )
        if lists.unknown:
            unknown = counted(len(lists.unknown), "id")
            notes.append(f"{unknown} in its lists are no documents of {corpus.key}: {unknown_ids}; they were left out")
        without_list = np.setdiff1d(np.arange(len(questions.samples)), with_list)
        # For a question that a reranker has no list of, the list that it reranks stays. Where that one is missing also,
        # the candidate that made it has the note.
        if len(without_list) and not self.retriever.continues:
            question_ids = names([questions.samples[row].id for row in without_list[:NAMED].tolist()])
            missed = counted(len(without_list), "question")
            notes.append(f"{missed} of {corpus.key} without a list count as missed: {question_ids}")

    def keep_times(self, corpus: AnyCorpus, lists: Lists) -> None:
        """Keep the median time of a question, if it is known.

        ``milliseconds[""]`` is that of this retriever alone, ``milliseconds[corpus.key]`` that with all its parts.
        """
        alone = 1000 * float(np.median(np.asarray(lists.seconds)))
        if math.isnan(alone):
            return
        # An index takes the place of its encoder's exact search, so only the encoding is added.
        part_key = "" if self.retriever.needs_vectors else corpus.key
        of_parts = [self.others[label].milliseconds.get(part_key, math.nan) for label in self.retriever.parts]
        self.milliseconds |= {"": alone, corpus.key: alone + sum(of_parts)}


def choose(retriever: Retriever, questions: Questions, k: int, seed: int) -> dict[str, float]:
    """Choose one of a retriever's choices by the questions of a corpus: the one with the highest mean reciprocal rank.

    Returns
    -------
    What scores say about the choice. ``setting``: what was chosen; ``setting/expected``: the Success@k that is expected
    on other questions; ``setting/lowest`` and ``setting/highest``: what was chosen for single folds.

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
    settings, ranks, successes = list(retriever.choices), [], []
    for choice in retriever.choices.values():
        with as_encoder_error():
            lists = joined([validated_lists(given, questions, 0.0) for given in choice.retrieve(questions)])
        nearest = ranked(corpus, lists, pairs=pairs)
        # The gain of a right document does not matter here.
        places = RightPlaces(len(answered), question, nearest.greater, nearest.tied, np.ones_like(nearest.tied))
        ranks.append(places.reciprocal_rank())
        successes.append(places.success(k))
    # (m, settings), of the m answered questions.
    reciprocal_rank = np.stack(ranks, axis=1)
    expected, columns = cross_fit(reciprocal_rank, np.stack(successes, axis=1), unit, seed)
    return {
        "setting": settings[best_column(reciprocal_rank.mean(axis=0))],
        "setting/expected": expected,
        "setting/lowest": settings[min(columns)],
        "setting/highest": settings[max(columns)],
    }


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


def stored_lists(folder: Path, key: str) -> Lists:
    """Return the lists that are stored in a folder; none if none has a document, so that a service is asked again."""
    arrays: dict[str, Any] = read_arrays(folder / LISTS / f"{key}.npz")
    if not arrays or not (arrays["documents"] >= 0).any():
        return NONE
    return Lists(**{**arrays, "unknown": tuple(arrays["unknown"].tolist()), "facts": tuple(arrays["facts"].tolist())})


def _save(parts: Sequence[Lists], folder: Path | None, key: str) -> Lists:
    """Return lists as one record, and store them if there is a folder."""
    lists = joined(parts)
    if folder:
        write_arrays(folder / LISTS / f"{key}.npz", {name: np.asarray(value) for name, value in vars(lists).items()})
    return lists
