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

from embassay import session
from embassay.adapt import card, gain
from embassay.adapt.making import Making, spec_of
from embassay.adapt.material import Material, gather
from embassay.adapt.order import Order
from embassay.adapt.variants import AdaptationFolder, Stage
from embassay.errors import EncoderError, OutputError, SpecError
from embassay.folder import DIAGNOSTICS
from embassay.plan import Plan, Task, limited, prepare
from embassay.resolve import load_corpus
from embassay.result import Result
from embassay.run import environment
from embassay.specs import Spec
from embassay.store.cache import FileHashes
from embassay.store.canonical import canonical, write
from embassay.store.runs import RunFolder
from embassay.types import Corpus, Runtime

SHAPES = {
    "retrieval": "retrieval",
    "choice": "negated_antonyms",
    "minimal_pairs": "minimal_pairs",
    "composition": "composition",
    "pairs": "similarity",
    "groups": "localization",
}
"""The diagnostic that looks at a general corpus of each shape."""
BUILT_IN = ("handbook", "opposites", "edits", "vignettes")
"""General corpora that join where none of their shape is given."""


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
        from embassay.adapt._base import find_base

        if "," in str(order.out):
            raise SpecError(f"{order.out}: a comma ends a spec; choose a folder without one with -o")
        trainings = order.stages()
        base = replace(find_base(order.base), device=order.device)
        corpora = _loaded(order.corpora)
        if order.limit is not None:
            corpora = [limited(corpus, order.limit, order.seed) for corpus in corpora]
        material = gather(corpora, by=order.by, test=order.test, seed=order.seed)
        asked = {
            "base": base.fingerprint,
            "corpora": [[corpus.name, corpus.fingerprint] for corpus in corpora],
            "split": {"by": order.by, "test": order.test},
            "seed": order.seed,
        }
        found = cls(order, base, material, _general(order.general, corpora), trainings, asked)
        if not order.overwrite:
            found.folder.check(asked, trainings)
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
    def request(self) -> session.Request:
        """What the assay of the variants is asked to be."""
        o = self.order
        return session.Request(
            out=o.out / "run", seed=o.seed, resamples=o.resamples, device=o.device, cache=o.cache, quiet=o.quiet
        )

    def plan(self, encoders: Sequence[Spec]) -> Plan:
        """Return the plan of the assay: test questions, general corpora, and the shift between them."""
        corpora = (*self.material.tests, *self.general)
        names = dict.fromkeys(SHAPES[corpus.shape] for corpus in corpora)
        request = self.request
        plan = prepare(
            encoders,
            corpora,
            tuple(names),
            runtime=Runtime(request.device, sha256=FileHashes(request.cache_folder)),
            baselines=False,
            seed=request.seed,
            badges=True,
        )
        return replace(plan, tasks=(*plan.tasks, *self._shifts()))

    def base_plan(self) -> Plan:
        """Return the plan for the base alone: what can be known before anything is trained."""
        return self.plan([Spec(self.base.target, gain.BASE)])

    def _shifts(self) -> Iterator[Task]:
        """Yield the tasks that set each corpus of the domain beside the first general one of questions."""
        shift = DIAGNOSTICS.module("shift")
        beside = next((corpus for corpus in self.general if corpus.shape == "retrieval"), None)
        for test in self.material.tests if beside else ():
            options = {"domain": test.name, "general": beside.name}  # type: ignore[union-attr]
            diagnostic = shift.create(**options)
            yield Task("shift", diagnostic, diagnostic.join(test, beside), options)

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
        for warning in self.material.warnings():
            say(warning)
        mined = self.making.mined()  # before anything is written: there may be nothing to learn from
        self.folder.open(self.asked, self.stages, self.order.overwrite)
        ids = {"by": self.order.by, "test": self.order.test, "seed": self.order.seed, "corpora": self.material.ids()}
        write(self.order.out / "split.json", canonical(ids))
        self.making.carry_out(mined)
        result = self._assay()
        lines = gain.verdict(result, self.own)
        self._write(result, lines)
        return Adapted(self.order.out, result, self._models(), lines)

    def _assay(self) -> Result:
        """Assay all variants into the run's folder, and return the result."""
        start = time.perf_counter()
        request, run = self.request, RunFolder(self.order.out / "run")
        variants = [Spec(spec_of(self.folder.place(s)), s.variant) for s in self.stages]
        plan = self.plan([Spec(self.base.target, gain.BASE), *variants])
        settings = session.settings_of(request, plan)
        try:
            run.open(settings)
        except OutputError:
            run.open(settings, overwrite=True)  # of other variants or general corpora: ours, and made anew
        outcome = session.into(run, request, plan, request.draws, start)
        if outcome.failures:
            raise EncoderError("; ".join(outcome.failures.values()))
        return outcome.result

    def _write(self, result: Result, lines: Sequence[str]) -> None:
        """Write the verdict, and a card into each variant's folder."""
        body = "\n".join(f"- {line}" for line in lines)
        rows = card.quoted(result, self.own, [e.name for e in result.encoders])
        write(
            self.order.out / "verdict.md",
            f"# Verdict\n\n{body}\n\nSignature of the figures: {card.signature(rows)}\n".encode(),
        )
        libraries = {name: str(version) for name, version in environment()["packages"].items()}
        origin = card.Origin(self.order.base, self.base.fingerprint, self.split_in_words, libraries)
        facts = {stage.variant: self.folder.finished(stage) or {} for stage in self.stages}
        for stage in self.stages:
            first = [s for s in self.stages if s.variant == stage.start]
            text = card.card_of(stage, (*first, stage), facts, origin, result, self.own)
            write(self.folder.place(stage) / "README.md", text.encode())

    def _models(self) -> dict[str, str]:
        own = {stage.variant: spec_of(self.folder.place(stage)) for stage in self.stages}
        return {gain.BASE: self.order.base, **own}


def _loaded(corpora: Sequence[str | Corpus[Any]]) -> list[Corpus[Any]]:
    given = [corpora] if isinstance(corpora, (str, Corpus)) else corpora
    return [corpus if isinstance(corpus, Corpus) else load_corpus(corpus) for corpus in given]


def _general(given: Sequence[str | Corpus[Any]], own: Sequence[Corpus[Any]]) -> tuple[Corpus[Any], ...]:
    """Return the general corpora: those given, and the built-in ones of the shapes that none was given of.

    Raises
    ------
    SpecError
        For a corpus that is one of the domain's, or of a shape that no diagnostic here looks at.
    """
    found = _loaded(given)
    ours = {corpus.fingerprint for corpus in own}
    for corpus in found:
        if corpus.shape not in SHAPES:
            raise SpecError(f"corpus {corpus.name!r} is of shape {corpus.shape}; known here: {', '.join(SHAPES)}")
        if corpus.fingerprint in ours:
            raise SpecError(f"corpus {corpus.name!r} is both adapted to and general; name another with --general")
    shapes = {corpus.shape for corpus in found}
    joining = (load_corpus(name) for name in BUILT_IN)
    found += [c for c in joining if c.shape not in shapes and c.fingerprint not in ours]
    return tuple(found)
