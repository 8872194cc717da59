"""Execution of a plan: each encoder scores its tasks, then each task is summarised over all encoders."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Any

from embassay.core.errors import EncoderError, one_line, reason_of
from embassay.core.layout import Column
from embassay.core.result import CorpusRecord, EncoderFacts, EncoderRecord, Failure, Result, Verdict
from embassay.core.types import AnyCorpus, Card, Draws, ItemScores
from embassay.reports.findings.advice import effective_units
from embassay.reports.findings.limits import findings_of
from embassay.reports.findings.shared_words import mismatch
from embassay.run.candidates import in_scoring_order
from embassay.run.cuts import by_name, joined_setting
from embassay.run.item_tests import misses, screenings_of
from embassay.run.items import ScoredTask, examples_of, scored_tasks
from embassay.run.plan import Plan
from embassay.run.progress import counting
from embassay.run.request import RunRequest
from embassay.run.retrieve import RetrieverRun
from embassay.run.runs.folder import RunFolder
from embassay.run.runs.results import rounded
from embassay.run.score import CandidateRun, EncoderRun

FLOAT32_BITS = 32
BITS: dict[object, int] = {"int8": 8, "binary": 1}
"""Bits of each coordinate of a quantised vector; all others are float32."""
OF_PARTS = ("rows", "comparisons", "series", "examples", "verdicts", "screenings")
"""What a result has of each task."""
KILLED = "a worker process was killed, probably because it ran out of memory; repeat the command to continue"
NO_TEXTS = "the reason is not stored because it may contain texts"
"""Replaces the reason of a failure, which may quote a text, if texts are not stored."""


@dataclass(frozen=True)
class Outcome:
    """The result of a run, the run of each encoder, and the tasks that could be summarised."""

    result: Result
    encoders: tuple[CandidateRun, ...]
    tasks: tuple[ScoredTask, ...]

    def check(self) -> None:
        """Raise EncoderError if anything failed."""
        if self.result.failed:
            raise EncoderError("; ".join(failure.sentence for failure in self.result.failed))

    @property
    def notes(self) -> list[str]:
        """Notes of the encoders on how they ran, and of the robustness checks."""
        notes = []
        for run in self.encoders:
            checks = run.robustness
            of_run = (*run.route.get("notes", ()), *(checks.notes if checks else ()))
            notes += [f"{run.entry.label}: {note}" for note in of_run]
        return notes


def execute(plan: Plan, folder: RunFolder | None = None) -> Outcome:
    """Carry out a plan; a failing encoder or diagnostic is recorded, and the others finish.

    Parameters
    ----------
    folder
        Folder where scores are stored as they are computed, and from which a run continues.
    """
    request = plan.request
    run_of: dict[str, CandidateRun] = {}
    for entry in in_scoring_order(plan.entries):
        kind = RetrieverRun if entry.retriever else EncoderRun
        run = run_of[entry.label] = kind(entry, plan, folder, run_of)
        try:
            run.score_tasks()
        except EncoderError as error:
            run.failure = str(error)
        except BrokenExecutor:
            run.failure = KILLED
        finally:
            run.release()
    cache = request.vector_cache
    if cache and cache.trouble:
        request.warn(f"the cache could not be written: {cache.trouble}; later vectors were not stored")
    runs = tuple(run_of[entry.label] for entry in plan.entries)
    result, tasks = summarise(plan, runs)
    return Outcome(result if request.texts else without_texts(result), runs, tuple(tasks))


def without_texts(result: Result) -> Result:
    """Return the result without any text of a corpus: neither in examples nor in the reasons of failures."""
    examples = tuple(replace(example, texts={}) for example in result.examples)
    return replace(result, examples=examples, failed=tuple(replace(one, reason=NO_TEXTS) for one in result.failed))


def summarise(plan: Plan, runs: Sequence[CandidateRun]) -> tuple[Result, list[ScoredTask]]:
    """Return the result of a run with the findings of the whole run, and the tasks in it.

    A task that cannot be summarised has failed.
    """
    request, finished = plan.request, [run for run in runs if run.failure is None]
    failures = [Failure(run.entry.label, "", "", one_line(run.failure)) for run in runs if run.failure is not None]
    for run in finished:
        failures += run.failed_tasks
    parts: list[Result] = []
    summarised: list[ScoredTask] = []
    headlines: dict[str, Column] = {}
    scores = [run.scores[task.key] for run in finished for task in plan.tasks_of(run.entry) if task.key in run.scores]
    for task in scored_tasks(plan.tasks, scores):
        try:
            with counting(f"statistics of {task.name} on {task.corpus.name}", quiet=request.quiet):
                part = summarise_task(task, request)
        except Exception as error:
            failures.append(Failure("", task.name, task.corpus.name, reason_of(error)))
        else:
            parts.append(part)
            summarised.append(task)
            for verdict in part.verdicts:
                if verdict.metric:
                    headlines[task.name] = headline_column(task, verdict)
    encoders = []
    for run in finished:
        # An encoder has a record for each of its candidates, which differ in how documents are cut.
        for label, cuts in plan.candidates_of(run.entry).items():
            of_candidate = [one for one in run.scores.values() if one.origin.encoder == label]
            if of_candidate or not cuts[0].cut:
                encoders.append(encoder_record(run, label, cuts, of_candidate))
    # A corpus that is cut in several ways has one record, that of its first cut.
    corpora = [corpus_record(cuts[0]) for cuts in by_name(plan.corpora).values()]
    records = Result(
        request.seed, request.resamples, encoders=tuple(encoders), corpora=tuple(corpora), failed=tuple(failures)
    )
    # The parts are rounded already.
    of_parts: dict[str, Any] = {
        name: tuple(chain.from_iterable(getattr(part, name) for part in parts)) for name in OF_PARTS
    }
    result = replace(rounded(records), findings=tuple(chain(*(part.statements for part in parts))), **of_parts)
    return result.with_statements(findings_of(result, headlines, request.accept)), summarised


def headline_column(task: ScoredTask, verdict: Verdict) -> Column:
    """Return the column of the metric that a verdict ranks by; a plain one where the diagnostic declares none."""
    figures, key = task.diagnostic.figures(task.scores), verdict.key
    for metric in figures.metrics if figures else ():
        if metric.headline:
            return metric.column
    return Column(key.metric, key.metric, key.subset, key.condition, key.similarity_function)


def summarise_task(task: ScoredTask, request: RunRequest) -> Result:
    """Return the result of one diagnostic on one corpus, with numbers rounded as they are written."""
    draws = Draws(request.seed, request.resamples)
    part = task.diagnostic.summarise(task.scores, draws)
    verdicts = []
    findings = list(part.statements)
    for verdict in part.verdicts:
        findings += misses(task, verdict)
        if task.corpus.builtin:
            # Nobody should choose an encoder by a built-in corpus. A diagnostic that ranks none needs no reason.
            reason = "a built-in corpus is for trying things out" if verdict.key.metric else verdict.reason
            verdict = replace(verdict, best_set=(), reason=reason)
        verdicts.append(verdict)
    examples = examples_of(task, None if request.examples == "all" else request.examples, draws.seed)
    part = replace(
        part,
        examples=(*part.examples, *examples),
        verdicts=tuple(verdicts),
        screenings=tuple(screenings_of(task, draws)),
    )
    return rounded(part.with_statements(findings))


def encoder_record(
    run: CandidateRun, label: str, corpora: Sequence[AnyCorpus], scores: Sequence[ItemScores]
) -> EncoderRecord:
    """Return the record of a candidate with its scores, on the corpora that are cut in its way."""
    entry, card = run.entry, run.entry.card
    limit = card.max_tokens or 0
    # By corpus.
    truncated, counted_texts, vectors = dict[str, int](), dict[str, int](), dict[str, int]()
    unread = dict[str, float]()
    for corpus in corpora:
        if corpus.documents:
            vectors[corpus.name] = corpus.audit().passages
        lengths = [(role, run.lengths[role, text]) for role, text in corpus.texts() if (role, text) in run.lengths]
        tokens = [number for _, number in lengths]
        # Questions are short and many, so they count only where no document is truncated.
        of_documents = [number for role, number in lengths if role == "document"]
        if max(of_documents, default=0) > limit:
            tokens = of_documents
            unread[corpus.name] = sum(max(number - limit, 0) for number in tokens) / sum(tokens)
        if too_long := sum(number > limit for number in tokens):
            truncated[corpus.name], counted_texts[corpus.name] = too_long, len(tokens)
    scalars = [one.scalars for one in scores]
    # An encoder that learns from each corpus may have another number of dimensions on each. A retriever has none.
    dim = int(scalars[0]["dim"]) if scalars and "dim" in scalars[0] and not card.fitted else None
    # Only encoders of words count them.
    words = [one for one in scalars if "tokens" in one]
    all_tokens = sum(one["tokens"] for one in words)
    origin = scores[0].origin if scores else entry
    return EncoderRecord(
        **{one.name: getattr(card, one.name) for one in fields(EncoderFacts)},
        name=label,
        fingerprint=run.fingerprint,
        dim=dim,
        baseline=entry.baseline,
        truncated_in=truncated,
        texts_in=counted_texts,
        unread_in=unread,
        unknown_words=sum(one["unknown_tokens"] for one in words) / all_tokens if all_tokens else None,
        without_words=int(sum(one["without_words"] for one in words)) if all_tokens else None,
        setting=joined_setting(entry.setting, "" if card.is_chance else corpora[0].cut),
        vectors=vectors,
        vector_bytes=vector_bytes(card, dim),
        parts=origin.parts,
        step=origin.step,
    )


def vector_bytes(card: Card, dim: int | None) -> int | None:
    """Return the bytes of a stored vector; None where its numbers, or those that are not 0, depend on the corpus."""
    if dim is None or card.is_sparse:
        return None
    return math.ceil(dim * BITS.get(card.options.get("vectors"), FLOAT32_BITS) / 8)


def corpus_record(corpus: AnyCorpus) -> CorpusRecord:
    """Return a corpus as the result names it."""
    questions_of = Counter(name for sample in corpus.samples for name in set(getattr(sample, "right", ())))
    most_right = {name: count for name, count in questions_of.most_common(1) if count > 1}
    return CorpusRecord(
        **vars(corpus.audit()),
        name=corpus.name,
        shape=corpus.shape,
        fingerprint=corpus.fingerprint,
        effective_units=effective_units(corpus),
        licence=corpus.licence,
        source=corpus.source,
        builtin=corpus.builtin,
        loader=corpus.loader,
        settings=corpus.settings,
        right_documents=len(questions_of),
        most_right=most_right,
        document_noun=corpus.document_noun,
        mismatch=mismatch(corpus),
    )
