"""Domain adaptation from request to verdict: split, trainings, the assay of all variants, the cards.

Roychowdhury et al. (2024), section 2.4, with the same test questions for all variants, and with what adaptation cost
elsewhere: retrieval of general questions, negations, composition, similarity.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from embassay.adaptation import card, figures, gain, lineage
from embassay.adaptation.domain import check_outside, general, loaded, watched
from embassay.adaptation.making import Making
from embassay.adaptation.material import Material, gather
from embassay.adaptation.order import Order
from embassay.adaptation.variants import AdaptationFolder, Stage
from embassay.errors import OutputError, SpecError
from embassay.plugins import DIAGNOSTICS
from embassay.result import Result
from embassay.run.execute import execute
from embassay.run.pages import layouts
from embassay.run.plan import Plan, Task, limited, prepare
from embassay.run.record import environment, settings_of
from embassay.run.request import RunRequest
from embassay.run.session import write_outcome, write_report
from embassay.run.specs import Spec
from embassay.store.canonical import canonical, write
from embassay.store.runs import RunFolder
from embassay.training.stage import spec_of
from embassay.types import Corpus

NO_SHIFT = (
    "How far your documents and questions lie from general ones is not looked at, and has no histograms: that takes a "
    "general corpus of questions and documents; name one with --general"
)

DIMENSIONS = 384
"""Of the vectors that stand in for a variant's when it is measured how long their assay takes."""


@dataclass(frozen=True)
class Adapted:
    """What an adaptation leaves.

    Attributes
    ----------
    folder
        Where all of it lies.
    models
        The spec of each variant, base included, as ``-e`` takes it.
    verdict
        What may be said, one sentence each.
    """

    folder: Path
    result: Result
    models: Mapping[str, str]
    verdict: tuple[str, ...]


@dataclass(frozen=True)
class Adaptation:
    """An adaptation whose input has been checked; nothing is written before :meth:`carry_out`."""

    order: Order
    base: Any
    material: Material
    general: tuple[Corpus[Any], ...]
    stages: tuple[Stage, ...]
    asked: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, order: Order) -> Adaptation:
        """Resolve and check everything.

        Raises
        ------
        InputError
            For the first thing that cannot be used.
        """
        from embassay.training.base_model import find_base
        from embassay.training.fitness import check_device, check_objective

        if "," in str(order.out):
            raise SpecError(f"{order.out}: a comma ends a spec; choose a folder without one with -o")
        trainings = order.stages()
        base = replace(find_base(order.base), device=order.device)
        check_device(order.device)
        check_outside(order, base.found.folder)
        corpora = whole = loaded(order.corpora)
        if order.limit is not None:
            corpora = [limited(corpus, order.limit, order.seed) for corpus in whole]
        material = gather(corpora, by=order.by, test=order.test, seed=order.seed)
        asked = {
            "base": base.fingerprint,
            "corpora": [[corpus.name, corpus.fingerprint] for corpus in corpora],
            "split": {"by": order.by, "test": order.test},
            "seed": order.seed,
            **({"options": dict(base.given)} if base.given else {}),
        }
        found = cls(order, base, material, general(order.general, whole, material), trainings, asked)
        found.folder.check(asked, trainings, order.overwrite)
        lineage.check_unlearnt(base.found.folder, material)
        for stage in trainings:
            if stage.kind == "pretrain":
                check_objective(base, stage.options["objective"])
        found.base_plan()
        return found

    @property
    def making(self) -> Making:
        """The trainings."""
        return Making(self.order, self.base, self.material, self.stages)

    @property
    def folder(self) -> AdaptationFolder:
        """Where the variants are kept."""
        return AdaptationFolder(self.order.out)

    @property
    def own(self) -> tuple[str, ...]:
        """The labels of the corpora of the domain."""
        return tuple(test.name for test in self.material.tests)

    @property
    def request(self) -> RunRequest:
        """What the assay of the variants is asked to be."""
        o = self.order
        return RunRequest(
            out=o.out / "run",
            seed=o.seed,
            resamples=o.resamples,
            device=o.device,
            texts=o.texts,
            cache=(o.cache or "default") if o.use_cache else None,
            quiet=o.quiet,
            baselines=False,
            robustness=True,
        )

    def plan(self, encoders: Sequence[Spec]) -> Plan:
        """Return the plan of the assay: test questions, general corpora, and the shift between them."""
        corpora = (*self.material.tests, *self.general)
        # All pairs: what both stages gain is also set against fine-tuning alone.
        by_shape = watched()
        names = dict.fromkeys(f"{by_shape[corpus.shape]},compare=all" for corpus in corpora)
        plan = prepare(replace(self.request, encoders=encoders, corpora=corpora, diagnostics=tuple(names)))
        return replace(plan, tasks=(*plan.tasks, *self._shifts()))

    def base_plan(self) -> Plan:
        """Return the plan for the base alone: what can be known before anything is trained."""
        return self.plan([self._base_spec])

    @property
    def _base_spec(self) -> Spec:
        """The base with its options, as the assay takes it."""
        return Spec(f"st:{self.base.target}", gain.BASE, self.base.given)

    def notes(self) -> tuple[str, ...]:
        """Return what to know before training, a sentence each: of the split, the corpora and the base."""
        return tuple(dict.fromkeys((*self.material.warnings(), *self.base_plan().notes)))

    def _shifts(self) -> Iterator[Task]:
        """Yield the tasks that set each corpus of the domain beside the first general one of questions."""
        shift = DIAGNOSTICS.module("shift")
        beside = self._beside
        for test in self.material.tests if beside else ():
            options = {"domain": test.name, "general": beside.name}  # type: ignore[union-attr]
            diagnostic = shift.create(**options)
            yield Task("shift", diagnostic, diagnostic.join(test, beside), options)

    @property
    def _beside(self) -> Corpus[Any] | None:
        """The first general corpus of questions and documents."""
        return next((corpus for corpus in self.general if corpus.shape == "retrieval"), None)

    def scoring(self) -> float:
        """Return how many seconds the assay of one variant takes beside its encoding: measured on counted words."""
        plan = self.plan([Spec("hashing", None, {"dim": str(DIMENSIONS)})])
        start = time.perf_counter()
        execute(replace(plan, request=replace(plan.request, cache=None, quiet=True)))
        return time.perf_counter() - start

    def unseen(self) -> tuple[str, ...]:
        """Say what the assay does not look at, a sentence each."""
        return () if self._beside else (NO_SHIFT,)

    @property
    def split_in_words(self) -> str:
        """How many questions are for what."""
        s, o = self.material.split, self.order
        bare = sum(not sample.right for test in self.material.tests for sample in test.samples)
        unanswered = f" ({bare:,} of them without an answer)" if bare else ""
        return (
            f"{len(s.train):,} to learn from, {len(s.dev):,} to stop by, {len(s.test):,} to test{unanswered}; "
            f"divided by {o.by}, seed {o.seed}"
        )

    def carry_out(self) -> Adapted:
        """Train what is not there yet, assay all variants, write verdict and cards.

        Raises
        ------
        EncoderError
            If a training or a variant fails; what was finished is kept.
        OutputError
            If the folder cannot be written to.
        """
        say = self.order.say
        say(f"questions: {self.split_in_words}")
        for note in self.notes():
            say(note)
        mined = self.making.mined()  # before anything is written: there may be nothing to learn from
        self.folder.open(self.asked, self.stages, self.order.overwrite)
        write(self.order.out / lineage.SPLIT, canonical(self._split()))
        self.making.carry_out(mined)
        result, headlines = self._assay()
        said = gain.verdict(result, headlines, self.own, card.evaluations(self._facts()))
        lines = (*said, *self.unseen())
        self._write(result, said, lines)
        return Adapted(self.order.out, result, self._models(), lines)

    def _split(self) -> dict[str, Any]:
        """Return what ``split.json`` says."""
        o, learnt = self.order, lineage.record(self.base.found.folder, self.material)
        return {"by": o.by, "test": o.test, "seed": o.seed, "corpora": self.material.ids(), "learnt": learnt}

    def _assay(self) -> tuple[Result, gain.Headlines]:
        """Assay all variants into the run's folder; return the result, and the item values of its headlines."""
        start = time.perf_counter()
        run = RunFolder(self.order.out / "run")
        variants = [Spec(spec_of(self.folder.place(s)), s.variant) for s in self.stages]
        plan = self.plan([self._base_spec, *variants])
        settings = settings_of(plan)
        try:
            run.open(settings)
        except OutputError:
            run.open(settings, overwrite=True)  # of other variants or general corpora: ours, and made anew
        outcome = execute(plan, run)
        record = write_outcome(run, plan, outcome, time.perf_counter() - start)
        outcome.check()
        write_report(run, outcome.result, layouts(outcome.result), record)
        return outcome.result, _headlines(plan, run)

    def _write(self, result: Result, said: Sequence[str], lines: Sequence[str]) -> None:
        """Write the verdict with the figures of all variants, and a card into each variant's folder.

        Parameters
        ----------
        said
            What may be said of the variants.
        lines
            The same, and what was not looked at.
        """
        body = "\n".join(f"- {line}" for line in lines)
        table = "\n".join(figures.of_variants(result, self.own))
        rows = figures.quoted(result, self.own, [e.name for e in result.encoders])
        text = f"# Verdict\n\n{body}\n\n{table}\n\nSignature of the figures: {figures.signature(rows)}\n"
        write(self.order.out / "verdict.md", text.encode())
        origin, facts = self._origin(), self._facts()
        for stage in self.stages:
            first = [s for s in self.stages if s.variant == stage.start]
            text = card.card_of(stage, (*first, stage), facts, origin, result, self.own, said)
            write(self.folder.place(stage) / "README.md", text.encode())

    def _origin(self) -> card.Origin:
        """Return what all variants have in common, for their cards."""
        learnt = [
            (test.name, fingerprint, test.licence)
            for test, (_, fingerprint) in zip(self.material.tests, self.asked["corpora"], strict=True)
        ]
        return card.Origin(
            self.order.base,
            self.base.fingerprint,
            self.split_in_words,
            {name: str(version) for name, version in environment()["packages"].items()},
            learnt,
            card.hub_name(self.base.target, self.base.found.folder),
        )

    def _facts(self) -> dict[str, Any]:
        """Return what was found when each variant was trained."""
        return {stage.variant: self.folder.finished(stage) or {} for stage in self.stages}

    def _models(self) -> dict[str, str]:
        own = {stage.variant: spec_of(self.folder.place(stage)) for stage in self.stages}
        return {gain.BASE: self.order.base, **own}


def _headlines(plan: Plan, run: RunFolder) -> gain.Headlines:
    """Return the item values of each diagnostic's headline, from the scores that a run's folder keeps.

    Raises
    ------
    OutputError
        If a score cannot be read again.
    """
    found = {}
    for task in plan.tasks:
        headline_of = getattr(task.diagnostic, "headline", None)
        if headline_of is None:
            continue
        # These encoders learn nothing from a corpus: the scores are those of the encoders as they are.
        kept = {entry.label: run.load(task.origin(entry, entry.encoder)) for entry in plan.entries}
        scores = [score for score in kept.values() if score is not None]
        if len(scores) < len(kept):
            lost = ", ".join(label for label, score in kept.items() if score is None)
            raise OutputError(
                f"{run.path}: the scores of {lost} ({task.name} on {task.corpus.name}) cannot be read again"
            )
        headline = headline_of(scores)
        if headline is not None:
            found[task.name, task.corpus.name] = headline
    return found
