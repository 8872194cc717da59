"""Execution of a plan: each encoder scores its tasks, then each task is summarised over all encoders."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace

from embassay.engine.cores import cores
from embassay.engine.workers import Workers
from embassay.errors import EncoderError, one_line, reason_of
from embassay.result import CorpusRecord, EncoderRecord, Failure, Result, Verdict
from embassay.run.examples import ScoredTask, examples_of
from embassay.run.findings import findings_of
from embassay.run.pages import headlines
from embassay.run.plan import Plan
from embassay.run.request import RunRequest
from embassay.run.score import EncoderRun, Services, SharedVectors
from embassay.run.variants import Variant, by_corpus, joined_setting
from embassay.samples.base import Text
from embassay.store.cache import VectorCache
from embassay.store.results import rounded
from embassay.store.runs import RunFolder
from embassay.types import AnyCorpus, Draws, is_chance

LOG = logging.getLogger(__name__)
BITS = {"int8": 8, "binary": 1}
"""Bits of each coordinate of a quantised vector; others are of float32."""
KILLED = "a worker process was killed, probably because it ran out of memory; repeat the command to continue"
NO_TEXTS = "the reason is not stored because it may contain texts"
"""Replaces a reason, which may quote texts, if texts are not stored."""


@dataclass(frozen=True)
class Outcome:
    """The result of a run, what it took each encoder, and what failed and why.

    The reasons in ``result.failures`` are left out where no texts are to be kept, because they may quote texts.
    """

    result: Result
    encoders: tuple[EncoderRun, ...]
    failures: tuple[Failure, ...]

    def check(self) -> None:
        """Raise EncoderError if anything failed."""
        if self.failures:
            raise EncoderError("; ".join(failure.sentence for failure in self.failures))

    def scored(self, plan: Plan) -> list[ScoredTask]:
        """Return the tasks of a plan with the scores of all encoders that finished."""
        return scored_tasks(plan, self.encoders)

    @property
    def notes(self) -> list[str]:
        """Notes of the encoders on how they ran, and of the robustness checks."""
        notes = []
        for run in self.encoders:
            observed = run.robustness.notes if run.robustness else ()
            notes += [f"{run.entry.label}: {note}" for note in (*run.route.get("notes", ()), *observed)]
        return notes


def execute(plan: Plan, folder: RunFolder | None = None, workers: int | None = None) -> Outcome:
    """Carry out a plan; a failing encoder or diagnostic is recorded, and the others finish.

    Parameters
    ----------
    folder
        Folder where scores are stored as they are computed, and from which a run continues.
    workers
        Processes for the diagnostics that use some; one for each core by default.
    """
    request = plan.request
    runs: list[EncoderRun] = []
    shared = SharedVectors.of(entry.encoder for entry in plan.entries)
    with open_cache(request) as cache, Workers(workers) as processes:
        services = Services(cache, folder, request.progress, processes.submit, shared)
        try:
            for entry in plan.entries:
                run = EncoderRun(entry, services)
                runs.append(run)
                try:
                    run.score_tasks(plan)
                except EncoderError as error:
                    run.fail(str(error))
                except BrokenExecutor:
                    run.fail(KILLED)
                finally:
                    run.release()
                # While the next encoder encodes, worker processes score; too much waiting would fill the memory.
                collect(runs, at_most=2 * cores())
            collect(runs, at_most=0)
        except BaseException:
            for run in runs:
                run.abandon()
            raise
    result = summarise(plan, runs)
    failures = result.failures
    return Outcome(result if request.texts else without_texts(result), tuple(runs), failures)


@contextmanager
def open_cache(request: RunRequest) -> Iterator[VectorCache | None]:
    """Open the vector cache that a request asks for; warn at the end if it could not be written."""
    if request.cache_folder is None:
        yield None
        return
    with VectorCache(request.cache_folder) as cache:
        yield cache
        if cache.trouble:
            request.warn(f"the cache could not be written: {cache.trouble}; later vectors were not stored")


def collect(runs: Sequence[EncoderRun], at_most: int) -> None:
    """Collect finished scores from worker processes until at most this many calls are unfinished."""
    while True:
        for run in runs:
            try:
                run.collect()
            except BrokenExecutor:
                run.fail(KILLED)
        unfinished = [part for run in runs for part in run.parts]
        if len(unfinished) <= at_most:
            return
        wait(unfinished, return_when=FIRST_COMPLETED)


def summarise(plan: Plan, runs: Sequence[EncoderRun]) -> Result:
    """Combine the parts of all tasks; a task that cannot be summarised is recorded as failed."""
    draws = plan.request.draws
    finished = [run for run in runs if run.failure is None]
    failures = list_failures(plan, runs)
    parts = []
    for task in scored_tasks(plan, runs):
        try:
            parts.append(summarise_task(task, draws, plan.request.most_examples))
        except Exception as error:
            LOG.debug("a diagnostic failed", exc_info=True)
            failures.append(Failure("", task.name, task.corpus.name, reason_of(error)))
    encoders = tuple(record for run in finished for record in encoder_records(run, plan))
    groups = by_corpus(plan.corpora)
    corpora = tuple(corpus_record(replace(variants[0], name=label)) for label, variants in groups.items())
    head = Result(draws.seed, draws.resamples, encoders=encoders, corpora=corpora, failures=tuple(failures))
    return joined(head, parts)


def joined(head: Result, parts: Sequence[Result]) -> Result:
    """Return a result with the parts of all its tasks, and the findings of the whole.

    Parameters
    ----------
    head
        Encoders, corpora and failures.
    """
    result = replace(
        rounded(head),
        rows=tuple(row for part in parts for row in part.rows),
        comparisons=tuple(comparison for part in parts for comparison in part.comparisons),
        series=tuple(series for part in parts for series in part.series),
        examples=tuple(example for part in parts for example in part.examples),
        verdicts=tuple(verdict for part in parts for verdict in part.verdicts),
        findings=tuple(finding for part in parts for finding in part.findings),
    )
    return replace(result, findings=findings_of(result, headlines(result)))


def without_texts(result: Result) -> Result:
    """Return the result without any sentence of a corpus: not in examples, not in what a failure quotes."""
    examples = tuple(replace(example, texts={}) for example in result.examples)
    failures = tuple(replace(failure, reason=NO_TEXTS) for failure in result.failures)
    return replace(result, examples=examples, failures=failures)


def list_failures(plan: Plan, runs: Sequence[EncoderRun]) -> list[Failure]:
    """Return the encoders that failed, then the tasks that failed for one of the others."""
    failures = [Failure(run.entry.label, "", "", one_line(run.failure)) for run in runs if run.failure is not None]
    for task in plan.tasks:
        for run in runs:
            reason = run.failed_tasks.get(task.key)
            if reason is not None and run.failure is None:
                failures.append(Failure(run.entry.label, *task.key, one_line(reason)))
    for place, failure in enumerate(failures):
        if failure.encoder == plan.reference:
            consequence = "it was the reference; the others are compared with the first encoder that did not fail"
            failures[place] = replace(failure, reason=f"{failure.reason} ({consequence})")
    return failures


def scored_tasks(plan: Plan, runs: Sequence[EncoderRun]) -> list[ScoredTask]:
    """Return the tasks with the scores of all encoders that finished; those on variants of one corpus are one."""
    finished = [run for run in runs if run.failure is None]
    scored = []
    for group in plan.summaries:
        parts = []
        for task in group:
            scores = [run.scores[task.key] for run in finished if task.key in run.scores]
            if scores:
                parts.append((task.corpus, scores))
        if parts:
            scored.append(
                ScoredTask.of(group[0].name, group[0].diagnostic, parts, plan.request.reference, group[0].options)
            )
    return scored


def summarise_task(task: ScoredTask, draws: Draws, most_examples: int | None) -> Result:
    """Return the part of the result that is one diagnostic's on one corpus, with its numbers as they are written."""
    part = task.diagnostic.summarise(task.scores, draws)
    examples = (*part.examples, *examples_of(task, most_examples, draws.seed))
    verdicts = part.verdicts
    if task.corpus.builtin:
        verdicts = tuple(without_best(verdict) for verdict in verdicts)
    return rounded(replace(part, examples=examples, verdicts=verdicts))


def without_best(verdict: Verdict) -> Verdict:
    """Return a verdict that names no best encoder: built-in corpora are for trying things out."""
    unnamed = replace(verdict, best=None, value=None, low=None, high=None, best_set=(), rank_low={}, rank_high={})
    return replace(unnamed, reason="a built-in corpus is for trying things out") if verdict.quantity else unnamed


def encoder_records(run: EncoderRun, plan: Plan) -> Iterator[EncoderRecord]:
    """Yield an encoder as the result names it: once for all corpora that do not vary, and for each setting of others.

    Of random vectors only the first variant of a corpus is in the result.
    """
    by_setting: dict[str, list[AnyCorpus]] = {}
    for variants in by_corpus(plan.corpora).values():
        scored = [corpus for corpus in variants if any(key[1] == corpus.name for key in run.scores)]
        if not variants[0].variant_of:
            by_setting.setdefault("", []).extend(variants)
        for corpus in scored[:1] if is_chance(run.entry.encoder.card.spec) else scored:
            if corpus.variant_of:
                by_setting.setdefault(Variant.of(corpus).setting, []).append(corpus)
    for setting, corpora in by_setting.items():
        yield encoder_record(run, setting, corpora)


def encoder_record(run: EncoderRun, setting: str, corpora: Sequence[AnyCorpus]) -> EncoderRecord:
    """Return an encoder on corpora of one setting, as the result names it."""
    entry, card = run.entry, run.entry.encoder.card
    names = {corpus.name for corpus in corpora}
    # Diagnostics on the same corpus count the same words.
    counts_of = {}
    for (_, corpus_name), scores in run.scores.items():
        if corpus_name in names and "tokens" in scores.scalars:
            counts_of[scores.origin.corpus_fingerprint] = scores.scalars
    tokens = sum(counts["tokens"] for counts in counts_of.values())
    unknown = sum(counts["unknown_tokens"] for counts in counts_of.values())
    without_words = sum(counts["without_words"] for counts in counts_of.values())
    truncated_in = dict[str, int]()
    truncated = set[Text]()
    vectors = dict[str, int]()
    characters = dict[str, int]()
    texts_in = dict[str, int]()
    for corpus in corpora:
        label = Variant.of(corpus).corpus
        if setting:
            texts_in[label] = len(corpus.texts())
        if corpus.stored_documents:
            vectors[label] = len(corpus.documents)
        elif corpus.documents:
            vectors[label] = sum(len(document.passages) for document in corpus.documents)
            characters[label] = sum(len(passage) for document in corpus.documents for passage in document.passages)
        if run.truncated:
            too_long = run.truncated.intersection(corpus.texts())
            truncated |= too_long
            truncated_in[label] = len(too_long)
    return EncoderRecord(
        name=joined_setting(entry.label, setting),
        spec=card.spec,
        fingerprint=entry.encoder.fingerprint,
        revision=card.revision,
        dim=run.dim,
        parameters=card.parameters,
        prompts=card.prompts,
        baseline=entry.baseline,
        max_tokens=card.max_tokens,
        truncated=None if run.truncated is None else len(truncated),
        truncated_in={name: count for name, count in truncated_in.items() if count},
        similarity=card.similarity,
        price=card.price,
        unknown_words=unknown / tokens if tokens else None,
        without_words=int(without_words) if tokens else None,
        setting=joined_setting(entry.setting, setting),
        vectors=vectors,
        characters=characters,
        vector_bytes=vector_bytes(card.spec, run.dim),
        texts_in=texts_in,
    )


def vector_bytes(spec: str, dim: int | None) -> int | None:
    """Return the bytes of a stored vector; None where the number of dimensions depends on the corpus."""
    if dim is None:
        return None
    kind = re.search(r",vectors=(\w+)", spec)
    bits = BITS.get(kind[1], 32) if kind else 32
    return math.ceil(dim * bits / 8)


def corpus_record(corpus: AnyCorpus) -> CorpusRecord:
    """Return a corpus as the result names it."""
    audit = corpus.audit()
    return CorpusRecord(
        name=corpus.name,
        shape=corpus.shape,
        fingerprint=corpus.fingerprint,
        items=audit.items,
        units=audit.units,
        effective_units=audit.effective_units,
        duplicates=audit.duplicates,
        distinct_texts=audit.distinct,
        licence=corpus.licence,
        source=corpus.source,
        builtin=corpus.builtin,
        documents=audit.documents,
        passages=audit.passages,
        loader=corpus.loader,
    )
