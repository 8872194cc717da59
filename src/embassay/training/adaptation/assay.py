"""The assay of the base and its variants: test questions, general corpora, and the shift between the two."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from embassay.core.columns import ItemColumn, read_columns
from embassay.core.errors import OutputError
from embassay.core.plugins import DIAGNOSTICS
from embassay.core.result import Result
from embassay.core.samples.retrieval import Question
from embassay.core.types import AnyCorpus, Corpus
from embassay.diagnostics.metrics.metric import ranking_diagnostics
from embassay.reports.layouts import layouts
from embassay.run.command import attempt, write_outcome
from embassay.run.execute import execute
from embassay.run.finished import draw
from embassay.run.plan import Plan, Task, prepare
from embassay.run.record import settings_of
from embassay.run.request import RunRequest
from embassay.run.runs.folder import RunFolder
from embassay.run.specs import Spec
from embassay.training.adaptation.request import AdaptRequest

NO_SHIFT = (
    "The shift between your texts and general ones was not measured: it needs a general corpus of questions and "
    "documents; name one with --general"
)


@dataclass(frozen=True)
class VariantAssay:
    """The corpora and diagnostics of an assay, the same for each variant.

    Attributes
    ----------
    base
        The spec of the base, with its options.
    tests
        The corpora of the domain with their test questions.
    general
        Corpora that show what adaptation loses elsewhere.
    """

    request: AdaptRequest
    base: Spec
    tests: Sequence[Corpus[Question]]
    general: Sequence[AnyCorpus]

    @cached_property
    def base_plan(self) -> Plan:
        """The plan for the base alone, which can be prepared before any training."""
        return self._plan([self.base])

    def run(self, variants: Sequence[Spec]) -> tuple[Result, tuple[ItemColumn, ...]]:
        """Assay the base and its variants into the folder of the run.

        Returns
        -------
        The result, and its item values.

        Raises
        ------
        EncoderError
            If a variant cannot be assayed.
        OutputError
            If the folder cannot be written to.
        """
        start = time.perf_counter()
        folder = RunFolder(self.run_request.out)
        plan = self._plan([self.base, *variants])
        settings = settings_of(plan)
        try:
            folder.open(settings)
        except OutputError:
            # The run has other variants or general corpora. It belongs to this adaptation and is redone.
            folder.open(settings, overwrite=True)
        outcome = execute(plan, folder)
        record = write_outcome(folder, plan, outcome, time.perf_counter() - start)
        outcome.check()
        result = outcome.result
        attempt("the report cannot be drawn", folder, lambda: draw(folder.report, result, layouts(result), record))
        return result, read_columns(folder.path)

    def limitations(self) -> tuple[str, ...]:
        """Return what the assay does not examine, one sentence each."""
        if self._general_questions is None:
            return (NO_SHIFT,)
        return ()

    @property
    def run_request(self) -> RunRequest:
        """The options of the run, without encoders, corpora and diagnostics."""
        request, options = self.request, self.request.options
        return RunRequest(
            out=request.out / "run",
            seed=options.seed,
            resamples=options.resamples,
            device=options.device,
            texts=not options.no_texts,
            cache=request.cache,
            quiet=request.quiet,
            baselines=False,
            robustness=True,
        )

    def _plan(self, encoders: Sequence[Spec]) -> Plan:
        corpora = (*self.tests, *self.general)
        # One diagnostic for each shape of corpus, each once; the model cards have the paper's figures of retrieval.
        by_shape = {**ranking_diagnostics(), "retrieval": "retrieval,paper=true"}
        # All pairs are compared, so that pretrained+finetuned is also compared with fine-tuning alone.
        diagnostics = dict.fromkeys(f"{by_shape[corpus.shape]},compare=all" for corpus in corpora)
        request = replace(self.run_request, encoders=encoders, corpora=corpora, diagnostics=tuple(diagnostics))
        plan = prepare(request)
        return replace(plan, tasks=(*plan.tasks, *self._shift_tasks()))

    def _shift_tasks(self) -> list[Task]:
        """Return the tasks that compare each corpus of the domain with the first general one of questions."""
        general = self._general_questions
        if general is None:
            return []
        shift = DIAGNOSTICS.module("shift")
        tasks = []
        for test in self.tests:
            options = {"domain": test.name, "general": general.name}
            diagnostic = shift.create(**options)
            tasks.append(Task("shift", diagnostic, diagnostic.join(test, general), options))
        return tasks

    @property
    def _general_questions(self) -> AnyCorpus | None:
        """The first general corpus of questions and documents."""
        return next((corpus for corpus in self.general if corpus.shape == "retrieval"), None)
