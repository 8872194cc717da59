"""Execution of a plan: each encoder scores its tasks, then each task is summarised over all encoders."""

from __future__ import annotations

import logging
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from embassay.core.errors import EncoderError, one_line, reason_of
from embassay.core.layout import Column
from embassay.core.processes.cores import cores
from embassay.core.processes.workers import Workers
from embassay.core.result import CorpusRecord, EncoderRecord, Failure, Result, Verdict, answers_and_findings
from embassay.core.types import AnyCorpus, Card, ItemScores
from embassay.diagnostics.metrics.metric import known_metric, with_options
from embassay.reports.findings.limits import findings_of
from embassay.reports.findings.shared_words import mismatch
from embassay.run.cache.cache import VectorCache
from embassay.run.cuts import by_name, joined_setting
from embassay.run.engine.timeline import TimeLine
from embassay.run.examples import ScoredTask, examples_of
from embassay.run.item_tests import changed_by_steps, headline_of, misses
from embassay.run.plan import Plan
from embassay.run.request import RunRequest
from embassay.run.retrieve import runs_of
from embassay.run.runs.folder import RunFolder
from embassay.run.runs.results import rounded
from embassay.run.scoring import CandidateRun, Services
from embassay.run.screenings import screenings_of
from embassay.stats.labels import Labels

LOG = logging.getLogger(__name__)
FLOAT32_BITS = 32
BITS = {"int8": 8, "binary": 1}
"""Bits of each coordinate of a quantised vector; all others are float32."""
KILLED = "a worker process was killed, probably because it ran out of memory; repeat the command to continue"
NO_TEXTS = "the reason is not stored because it may contain texts"
"""Replaces the reason of a failure, which may quote a text, if texts are not stored."""


@dataclass(frozen=True)
class Outcome:
    """The result of a run, the run of each encoder, and the failures.

    ``failures`` has the reasons; those in ``result.failed`` are left out where texts are not stored, because a reason
    may quote a text.
    """

    result: Result
    encoders: tuple[CandidateRun, ...]
    failures: tuple[Failure, ...]

    def check(self) -> None:
        """Raise EncoderError if anything failed."""
        if self.failures:
            raise EncoderError("; ".join(failure.sentence for failure in self.failures))

    def scored(self, plan: Plan) -> list[ScoredTask]:
        """Return the tasks of a plan with the scores of all encoders that finished, if they could be summarised."""
        failed = {(one.diagnostic, one.corpus) for one in self.failures if not one.encoder}
        tasks = scored_tasks(plan, self.encoders)
        return [task for task in tasks if (task.name, task.corpus.name) not in failed]

    @property
    def notes(self) -> list[str]:
        """Notes of the encoders on how they ran, and of the robustness checks."""
        notes = []
        for run in self.encoders:
            notes_of_run = list(run.report.route.get("notes", ()))
            if run.report.robustness:
                notes_of_run += run.report.robustness.notes
            notes += [f"{run.entry.label}: {note}" for note in notes_of_run]
        return notes


def execute(
    plan: Plan, folder: RunFolder | None = None, workers: int | None = None, timeline: TimeLine | None = None
) -> Outcome:
    """Carry out a plan; a failing encoder or diagnostic is recorded, and the others finish.

    Parameters
    ----------
    folder
        Folder where scores are stored as they are computed, and from which a run continues.
    workers
        Processes for the diagnostics that use some; one for each core by default.
    timeline
        Where the time of loading models and of encoding is counted.
    """
    request = plan.request
    with open_cache(request) as cache, Workers(workers) as processes:
        run_of = runs_of(Services(plan, cache, folder, processes.submit, timeline or TimeLine()))
        runs = [run_of[entry.label] for entry in plan.entries]
        try:
            for run in run_of.values():
                score_encoder(run)
                # Worker processes go on scoring while the next encoder encodes. Too many unfinished calls, which hold
                # vectors, would fill the memory.
                collect(runs, at_most=2 * cores())
            with request.progress.working("worker processes"):
                collect(runs, at_most=0)
        except BaseException:
            # Also where the user presses Ctrl-C: finished scores are stored before the program ends.
            for run in runs:
                run.abandon()
            raise
    result = summarise(plan, runs)
    failures = result.failed
    if not request.texts:
        result = without_texts(result)
    return Outcome(result, tuple(runs), failures)


def score_encoder(run: CandidateRun) -> None:
    """Score an encoder on its tasks, and release its model; if it fails, the reason is recorded in its run."""
    try:
        run.score_tasks()
    except EncoderError as error:
        run.fail(str(error))
    except BrokenExecutor:
        run.fail(KILLED)
    finally:
        run.release()


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


def collect(runs: Sequence[CandidateRun], at_most: int) -> None:
    """Collect finished scores from worker processes, and wait until at most this many calls are unfinished."""
    while True:
        for run in runs:
            try:
                run.collect()
            except BrokenExecutor:
                run.fail(KILLED)
        unfinished = list(chain.from_iterable(run.unfinished_calls for run in runs))
        if len(unfinished) <= at_most:
            return
        wait(unfinished, return_when=FIRST_COMPLETED)


def summarise(plan: Plan, runs: Sequence[CandidateRun]) -> Result:
    """Return the result of a run; a task that cannot be summarised is recorded as failed."""
    draws = plan.request.draws
    failures = list_failures(plan, runs)
    parts: list[Result] = []
    for task in scored_tasks(plan, runs):
        try:
            with plan.request.progress.working(f"statistics of {task.name} on {task.corpus.name}"):
                parts.append(summarise_task(task, plan.request))
        except Exception as error:
            LOG.debug("a diagnostic failed", exc_info=True)
            failures.append(Failure("", task.name, task.corpus.name, reason_of(error)))
    encoders: list[EncoderRecord] = []
    for run in runs:
        if run.failure is None:
            encoders += encoder_records(run, plan)
    # A corpus that is cut in several ways has one record, that of its first cut.
    corpora = [corpus_record(cuts[0]) for cuts in by_name(plan.corpora).values()]
    without_parts = Result(
        draws.seed, draws.resamples, encoders=tuple(encoders), corpora=tuple(corpora), failed=tuple(failures)
    )
    return joined(without_parts, parts, plan.request.accept)


def joined(without_parts: Result, parts: Sequence[Result], accept: float | None = None) -> Result:
    """Return the result of a run, with all that its tasks have given and the findings of the whole run.

    Parameters
    ----------
    without_parts
        A result with encoders, corpora and failures only.
    parts
        The result of each task: rows, comparisons, series, examples, verdicts and findings.
    accept
        The loss at which a cheaper candidate is still used; None for the margin of each headline.
    """
    result = replace(
        rounded(without_parts),
        rows=tuple(chain.from_iterable(part.rows for part in parts)),
        comparisons=tuple(chain.from_iterable(part.comparisons for part in parts)),
        series=tuple(chain.from_iterable(part.series for part in parts)),
        examples=tuple(chain.from_iterable(part.examples for part in parts)),
        verdicts=tuple(chain.from_iterable(part.verdicts for part in parts)),
        screenings=tuple(chain.from_iterable(part.screenings for part in parts)),
        findings=tuple(chain.from_iterable(part.statements for part in parts)),
    )
    return replace(result, **answers_and_findings(findings_of(result, headline_columns(result), accept)))


def headline_columns(result: Result) -> dict[str, Column]:
    """Return the heading and format of the headline of each diagnostic that ranks encoders, as it declares them."""
    return {verdict.diagnostic: _headline_column(verdict) for verdict in result.verdicts if verdict.metric}


def _headline_column(verdict: Verdict) -> Column:
    """Return the column of the metric that a verdict ranks by; a plain one where it is not declared here."""
    metric = known_metric(verdict.key)
    if metric is None:
        key = verdict.key
        return Column(key.metric, key.metric, key.subset, key.condition, key.similarity_function)
    # The options that the run was made with stand in the name of its metric: "Success@{k}", "Success@5" -> k = 5.
    pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+)", re.escape(metric.name))
    found = re.fullmatch(pattern, verdict.metric)
    options = found.groupdict() if found else {}
    (metric,) = with_options([metric], **options)
    return metric.column


def without_texts(result: Result) -> Result:
    """Return the result without any text of a corpus: neither in examples nor in the reasons of failures."""
    examples = tuple(replace(example, texts={}) for example in result.examples)
    failures = tuple(replace(failure, reason=NO_TEXTS) for failure in result.failed)
    return replace(result, examples=examples, failed=failures)


def list_failures(plan: Plan, runs: Sequence[CandidateRun]) -> list[Failure]:
    """Return a failure for each encoder that failed, then one for each task that failed for one of the others."""
    candidates = [run for run in runs if not run.entry.baseline]
    reference = plan.reference if len(candidates) > 1 else None
    consequence = "it was the reference; the others are compared with the first encoder that did not fail"

    def failure_of(run: CandidateRun, reason: str, diagnostic: str = "", corpus: str = "") -> Failure:
        reason = one_line(reason)
        if run.entry.label == reference:
            reason += f" ({consequence})"
        return Failure(run.entry.label, diagnostic, corpus, reason)

    failures = [failure_of(run, run.failure) for run in runs if run.failure is not None]
    finished = [run for run in runs if run.failure is None]
    for task in plan.tasks:
        for run in finished:
            reason = run.failed_tasks.get(task.key)
            if reason is not None:
                failures.append(failure_of(run, reason, task.name, task.corpus.name))
    return failures


def scored_tasks(plan: Plan, runs: Sequence[CandidateRun]) -> list[ScoredTask]:
    """Return each diagnostic on each corpus with the scores of all candidates that finished."""
    corpora: dict[tuple[str, str], dict[str, AnyCorpus]] = {}
    scores: dict[tuple[str, str], list[ItemScores]] = {}
    for run in runs:
        if run.failure is not None:
            continue
        for task in plan.tasks_of(run.entry):
            if task.key in run.scores:
                of_task = task.name, task.corpus.name
                corpora.setdefault(of_task, {})[task.corpus.fingerprint] = task.corpus
                scores.setdefault(of_task, []).append(run.scores[task.key])
    first_task = {(task.name, task.corpus.name): task for task in reversed(plan.tasks)}
    return [
        ScoredTask(task.name, task.diagnostic, corpora[key], tuple(scores[key]), task.options)
        for key in dict.fromkeys((task.name, task.corpus.name) for task in plan.tasks)
        if key in scores
        for task in [first_task[key]]
    ]


def summarise_task(task: ScoredTask, request: RunRequest) -> Result:
    """Return the result of one diagnostic on one corpus, with numbers rounded as they are written."""
    draws = request.draws
    part = task.diagnostic.summarise(task.scores, draws)
    examples = (*part.examples, *examples_of(task, request.most_examples, draws.seed))
    verdicts = []
    findings = list(part.statements)
    for verdict in part.verdicts:
        headline = headline_of(task, verdict)
        if headline is not None:
            findings += misses(task, verdict, headline)
        if task.corpus.builtin:
            verdict = without_best(verdict)
        elif headline is not None:
            findings += changed_by_steps(task, verdict, headline, texts=request.texts)
        verdicts.append(verdict)
    part = replace(
        part,
        examples=examples,
        verdicts=tuple(verdicts),
        screenings=tuple(screenings_of(task, draws)),
        **answers_and_findings(findings),
    )
    return rounded(part)


def without_best(verdict: Verdict) -> Verdict:
    """Return a verdict on a built-in corpus without its best encoders: nobody should choose an encoder by it."""
    # A diagnostic that does not rank encoders needs no reason.
    if not verdict.metric:
        return verdict
    return replace(verdict, best_set=(), reason="a built-in corpus is for trying things out")


def encoder_records(run: CandidateRun, plan: Plan) -> Iterator[EncoderRecord]:
    """Yield the records of an encoder: one for each of its candidates, which differ in how documents are cut."""
    scored = {key for _, key in run.scores}
    read = {task.corpus.key: task.corpus for task in plan.tasks_of(run.entry)}
    corpora_of: dict[str, list[AnyCorpus]] = {}
    for corpus in read.values() if run.entry.whole else plan.corpora:
        # An encoder stands in the result for all corpora that are cut in one way, whether it suits them or not.
        if not corpus.cut or corpus.key in scored:
            corpora_of.setdefault(run.entry.label_on(corpus), []).append(corpus)
    for label, corpora in corpora_of.items():
        yield encoder_record(run, label, corpora, plan)


def encoder_record(run: CandidateRun, label: str, corpora: Sequence[AnyCorpus], plan: Plan) -> EncoderRecord:
    """Return the record of a candidate on the corpora that are cut in its way."""
    entry = run.entry
    card = entry.card
    unknown_words, without_words = count_words(run, corpora)
    truncation = truncation_by_corpus(run, corpora)
    vectors = document_vectors(corpora)
    origin = next((s.origin for s in run.scores.values() if s.origin.encoder == label), None)
    prices = {one.name: plan.price_of_questions(entry, one) for one in corpora if one.documents}
    return EncoderRecord(
        name=label,
        spec=card.spec,
        fingerprint=run.fingerprint,
        revision=card.revision,
        dim=run.report.dim,
        parameters=card.parameters,
        prompts=card.prompts,
        baseline=entry.baseline,
        is_chance=card.is_chance,
        max_tokens=card.max_tokens,
        truncated_in={label: one.truncated for label, one in truncation.items()},
        texts_in={label: one.texts for label, one in truncation.items()},
        unread_in={label: one.unread for label, one in truncation.items() if one.unread is not None},
        similarity=card.similarity,
        price=card.price,
        unknown_words=unknown_words,
        without_words=without_words,
        setting=joined_setting(entry.setting, "" if entry.is_same_on_all_cuts else corpora[0].cut),
        vectors=vectors,
        vector_bytes=vector_bytes(card, run.report.dim),
        dim_in=dim_by_corpus(run, corpora),
        missing_prompts=card.missing_prompts,
        parts=origin.parts if origin else entry.parts,
        step=origin.step if origin else entry.step,
        question_price={name: price for name, price in prices.items() if price},
    )


def count_words(run: CandidateRun, corpora: Sequence[AnyCorpus]) -> tuple[float, int] | tuple[None, None]:
    """Return the share of the tokens of some corpora without a vector, and the number of texts without a known token.

    None where the encoder does not count words.
    """
    names = {corpus.key for corpus in corpora}
    # Diagnostics on the same corpus count the same words.
    counts_of_corpus = {}
    for (_diagnostic, corpus_name), scores in run.scores.items():
        # Only encoders of words count them.
        if corpus_name in names and "tokens" in scores.scalars:
            counts_of_corpus[scores.origin.corpus_fingerprint] = scores.scalars
    tokens = 0.0
    unknown = 0.0
    without_words = 0.0
    for counts in counts_of_corpus.values():
        tokens += counts["tokens"]
        unknown += counts["unknown_tokens"]
        without_words += counts["without_words"]
    if not tokens:
        return None, None
    return unknown / tokens, int(without_words)


def dim_by_corpus(run: CandidateRun, corpora: Sequence[AnyCorpus]) -> dict[str, int]:
    """Return by label the number of dimensions on some corpora, where it depends on the corpus."""
    if run.report.dim is not None:
        return {}
    # The lists of a retriever have no dimensions.
    dims = {corpus: int(s.scalars["dim"]) for (_diagnostic, corpus), s in run.scores.items() if "dim" in s.scalars}
    return {corpus.name: dims[corpus.key] for corpus in corpora if corpus.key in dims}


class Truncation(NamedTuple):
    """How many of some texts are truncated; of documents, also the share of their tokens that is not read."""

    truncated: int
    texts: int
    unread: float | None


def truncation_by_corpus(run: CandidateRun, corpora: Sequence[AnyCorpus]) -> dict[str, Truncation]:
    """Return by label what an encoder truncates of some corpora, where it truncates a text.

    Questions are short and many, so they count only where no document is truncated.
    """
    limit = run.entry.card.max_tokens or 0
    truncation = {}
    for corpus in corpora:
        lengths = {text: run.report.lengths[text] for text in run.report.lengths.keys() & set(corpus.texts())}
        documents = [tokens for (role, _), tokens in lengths.items() if role == "document"]
        counted = list(lengths.values())
        unread = None
        if max(documents, default=0) > limit:
            counted = documents
            unread = sum(max(tokens - limit, 0) for tokens in documents) / sum(documents)
        truncated = sum(tokens > limit for tokens in counted)
        if truncated:
            truncation[corpus.name] = Truncation(truncated, len(counted), unread)
    return truncation


def document_vectors(corpora: Sequence[AnyCorpus]) -> dict[str, int]:
    """Return how many vectors the documents of some corpora take, by label; corpora without documents are left out."""
    vectors = {}
    for corpus in corpora:
        if corpus.stored_documents:
            vectors[corpus.name] = len(corpus.documents)
        elif corpus.documents:
            vectors[corpus.name] = sum(len(document.passages) for document in corpus.documents)
    return vectors


def vector_bytes(card: Card, dim: int | None) -> int | None:
    """Return the bytes of a stored vector; None where its numbers, or those that are not 0, depend on the corpus."""
    if dim is None or card.spec.startswith("sparse:"):
        return None
    bits_per_coordinate = BITS.get(str(card.options.get("vectors")), FLOAT32_BITS)
    return math.ceil(dim * bits_per_coordinate / 8)


def corpus_record(corpus: AnyCorpus) -> CorpusRecord:
    """Return a corpus as the result names it."""
    audit = corpus.audit()
    questions_of = Counter(name for sample in corpus.samples for name in set(getattr(sample, "right", ())))
    most_right = {name: count for name, count in questions_of.most_common(1) if count > 1}
    return CorpusRecord(
        name=corpus.name,
        shape=corpus.shape,
        fingerprint=corpus.fingerprint,
        items=audit.items,
        units=audit.units,
        effective_units=Labels.of(corpus.units, corpus.unit_labels).effective_units,
        duplicates=audit.duplicates,
        distinct_texts=audit.distinct,
        licence=corpus.licence,
        source=corpus.source,
        builtin=corpus.builtin,
        documents=audit.documents,
        passages=audit.passages,
        loader=corpus.loader,
        settings=corpus.settings,
        right_documents=len(questions_of),
        most_right=most_right,
        document_noun=corpus.document_noun,
        mismatch=mismatch(corpus),
    )
