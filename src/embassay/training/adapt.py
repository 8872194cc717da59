"""Domain adaptation from top to bottom: split, trainings, the assay of all variants, the verdict, the model cards.

Roychowdhury et al. (2024), section 2.4, with the same test questions for all variants: the base model, pre-trained,
fine-tuned, and pre-trained then fine-tuned. The assay also measures the loss elsewhere: retrieval of general questions,
negations, composition, similarity.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from embassay.core.columns import ItemColumn, read_columns
from embassay.core.errors import SpecError
from embassay.core.formatting import counted
from embassay.core.result import Result
from embassay.core.store.canonical import canonical, write
from embassay.core.types import AnyCorpus, JsonObject, content_hash
from embassay.diagnostics.metrics.metric import ranking_diagnostics
from embassay.models.neural.library import available_device
from embassay.reports.findings import templates
from embassay.run.command import save
from embassay.run.execute import execute
from embassay.run.plan import Plan, load_given_corpora
from embassay.run.plan import prepare as plan_run
from embassay.run.request import RunRequest
from embassay.run.specs import Spec
from embassay.training.base_model import LIBRARIES, Base, find_base
from embassay.training.card import bullets, card_of
from embassay.training.material import Material, gather, general_corpora, write_questions
from embassay.training.negatives import Triplet, mine
from embassay.training.options import AdaptOptions, FinetuneOptions, SentenceRecipe
from embassay.training.stage import RECORD, Advance, Kind, Stage, as_stored, check_folder, read_json
from embassay.training.verdict import BASE, BOTH, FINETUNED, PRETRAINED, figures, verdict

SPLIT, QUESTIONS = "split.json", "questions"
"""The file of the ids of all questions, and the folder of the questions, a file for each corpus."""
TRAINED_BASE = (
    "the base was trained by embassay adapt; if test questions were among its training questions, its figures are too "
    "high: use the same corpora, --seed, --test and --by"
)
AnyStage = Stage[Any]


@dataclass(frozen=True)
class AdaptRequest:
    """One adaptation as it was requested.

    Attributes
    ----------
    base
        Spec of the sentence-transformers model to adapt.
    corpora, general
        Sources or loaded corpora: those of the domain, and those that show the loss elsewhere.
    out
        Folder of the variants, their run and the verdict.
    overwrite
        Replace another adaptation in that folder.
    cache
        Folder of the vector cache; None for no cache.
    quiet
        Print no messages during the assay of the variants.
    say
        Called with each message, one line.
    training
        Called with a variant's name; returns a context that gives the progress callback of its training.
    """

    base: str
    corpora: Sequence[str | AnyCorpus]
    out: Path
    options: AdaptOptions = field(default_factory=AdaptOptions)
    general: Sequence[str | AnyCorpus] = ()
    overwrite: bool = False
    cache: Path | Literal["default"] | None = "default"
    quiet: bool = True
    say: Callable[[str], None] = lambda line: None
    training: Callable[[str], AbstractContextManager[Advance]] = lambda label: nullcontext(lambda done, total: None)


@dataclass(frozen=True)
class Adapted:
    """The outcome of an adaptation.

    Attributes
    ----------
    folder
        The output folder.
    models
        The spec of each variant and of the base, for ``-e``.
    verdict
        The verdict, one sentence each.
    figures
        A Markdown table of all variants.
    held_out
        For each corpus its source with the test questions only, for ``-c``; empty with ``no_texts``.
    """

    folder: Path
    result: Result
    models: Mapping[str, str]
    verdict: tuple[str, ...]
    figures: str
    held_out: tuple[str, ...]


@dataclass(frozen=True)
class Adaptation:
    """An adaptation whose input has been checked. Nothing is written before :meth:`carry_out`.

    Attributes
    ----------
    stages
        By variant the training that makes it, in order.
    made_from
        What identifies the adaptation, as JSON values: base, corpora, split, seed.
    plan
        The assay of the base alone.
    """

    request: AdaptRequest
    base: Base
    material: Material
    general: tuple[AnyCorpus, ...]
    stages: Mapping[str, AnyStage]
    made_from: JsonObject
    plan: Plan

    @classmethod
    def prepare(cls, request: AdaptRequest) -> Adaptation:
        """Load the corpora, find the base, and check everything that can be checked before training.

        Raises
        ------
        InputError
            For the first input that cannot be used.
        """
        options = request.options
        # Cheap checks come first: options, then the base, then the corpora. So mistakes are found early.
        if "," in str(request.out):
            raise SpecError(f"{request.out}: the folder name must not contain a comma; choose another folder with -o")
        base = replace(find_base(request.base), device=options.device)
        if options.device != "auto":
            available_device(options.device)
        if base.found.folder.resolve().is_relative_to(request.out.resolve()):
            raise SpecError(
                f"base {request.base!r} is inside the output folder {request.out}; choose another folder with -o"
            )
        if options.pretrain or not options.finetune:
            from embassay.training.pretraining import check_masks

            check_masks(base)
        material = gather(load_given_corpora(request.corpora, follow_links=False), options)
        made_from = as_stored(
            {
                "base": base.fingerprint,
                # It does not change vectors, so it is not in the fingerprint, but the loss depends on it.
                "similarity": base.card.similarity,
                "corpora": [[corpus.name, corpus.fingerprint] for corpus in material.corpora],
                "by": options.by,
                "test": options.test,
                "seed": options.seed,
            }
        )
        check_folder(request.out, read_json(request.out / SPLIT).get("made_from", {}), made_from, request.overwrite)
        stages = planned_stages(request, made_from)
        for stage in stages.values():
            stage.is_finished()
        general = general_corpora(request.general, material)
        plan = _plan(request, base, material, general, {})
        return cls(request, base, material, general, stages, made_from, plan)

    def summary(self) -> tuple[str, ...]:
        """Return what is known before any training: the base, the data and what is assumed about them."""
        material = self.material
        notes = [*material.warnings(), *self.plan.notes]
        if read_json(self.base.found.folder / RECORD):
            notes.append(TRAINED_BASE)
        return (
            f"base: {self.request.base} ({self.base.fingerprint})",
            f"questions: {self.split_summary()}",
            *dict.fromkeys(notes),
            f"sentences to pre-train on: {len(material.sentences):,}; documents: {len(material.union.documents):,}",
            f"variants: {', '.join(self.stages)}",
        )

    def split_summary(self) -> str:
        """Return the numbers of training, dev and test questions, and how they were divided."""
        split, options = self.material.split, self.request.options
        unanswered = sum(not question.right for test in self.material.tests for question in test.samples)
        tested = f"{len(split.test):,} for the test"
        if unanswered:
            tested += f" ({unanswered:,} of them without a right document)"
        return (
            f"{len(split.train):,} for training, {len(split.dev):,} to choose the best step, {tested}; "
            f"split by {options.by}, seed {options.seed}"
        )

    def triplets(self) -> tuple[Triplet, ...]:
        """Find hard negatives with the base; none if nothing is to be fine-tuned.

        Raises
        ------
        InputError
            If there is none.
        """
        stages = self.stages.values()
        if all(stage.kind != "finetuning" or stage.is_finished() for stage in stages):
            return ()
        material, recipe = self.material, self.request.options.of(FinetuneOptions)
        triplets = mine(material.union, material.split.train, self.base, recipe, material.held_out)
        # Free the memory of the base: the trainings load it again.
        self.base.release()
        negatives = sum(len(triplet.wrong) for triplet in triplets)
        self.request.say(f"triplets: {len(triplets):,} with {counted(negatives, 'negative')}")
        return triplets

    def train(self, variant: str, triplets: Sequence[Triplet], advance: Advance) -> tuple[str, ...]:
        """Train one variant, and return notes."""
        stage, material = self.stages[variant], self.material
        start = self.stages[PRETRAINED].spec if variant == BOTH else self.request.base
        if stage.kind == "finetuning":
            from embassay.training.finetuning import finetune

            return finetune(stage, start, triplets, material.split.dev, material.union, advance=advance).notes
        from embassay.training.pretraining import pretrain

        return pretrain(stage, start, material.sentences, advance=advance).notes

    def carry_out(self) -> Adapted:
        """Train the variants that are not finished, assay all variants, write verdict and cards.

        Raises
        ------
        EncoderError
            If a training or a variant fails. Finished work is kept.
        OutputError
            If the folder cannot be written to.
        """
        request, material = self.request, self.material
        for line in self.summary():
            request.say(line)
        # Negatives are mined before anything is written, because there may be nothing to learn from.
        triplets = self.triplets()
        ids = {part: [question.id for question in questions] for part, questions in vars(material.split).items()}
        write(request.out / SPLIT, canonical({"made_from": self.made_from, **ids}))
        held_out = () if request.options.no_texts else write_questions(request.out / QUESTIONS, material)
        self.train_all(triplets)

        # One assay of all variants, so that their differences are tested on the same test questions.
        specs = {variant: stage.spec for variant, stage in self.stages.items()}
        plan, began = _plan(request, self.base, material, self.general, specs), time.perf_counter()
        outcome = execute(plan)
        outcome.check()
        # The run belongs to this adaptation: one of other variants or general corpora is replaced.
        save(plan, outcome, time.perf_counter() - began, plan.request.out, overwrite=True)
        result = outcome.result
        sentences, table = self.write_outcome(result, read_columns(plan.request.out))
        return Adapted(request.out, result, {BASE: request.base, **specs}, sentences, table, held_out)

    def train_all(self, triplets: Sequence[Triplet]) -> None:
        """Train the variants that are not finished."""
        say = self.request.say
        for variant, stage in self.stages.items():
            if stage.is_finished():
                say(f"{variant}: already trained, the finished model is used")
                continue
            began = time.perf_counter()
            with self.request.training(variant) as advance:
                notes = self.train(variant, triplets, advance)
            seconds = round(time.perf_counter() - began)
            for note in (*notes, f"trained in {timedelta(seconds=seconds)}"):
                say(f"{variant}: {note}")

    def write_outcome(self, result: Result, columns: Sequence[ItemColumn]) -> tuple[tuple[str, ...], str]:
        """Write the verdict and the cards of the variants.

        Returns
        -------
        The sentences of the verdict, and the table of all variants.
        """
        request, material = self.request, self.material
        records = {variant: stage.record() for variant, stage in self.stages.items()}
        evaluations = {variant: record.get("evaluations", ()) for variant, record in records.items()}
        domain = [test.name for test in material.tests]
        of_variant = verdict(result, columns, domain, evaluations)
        caveat = templates.CAVEAT.sentence(seed=result.seed)
        sentences = (*chain.from_iterable(of_variant.values()), caveat)
        table = figures(result, domain, (BASE, *self.stages))
        write(request.out / "verdict.md", f"# Verdict\n\n{bullets(sentences)}\n\n{table}\n".encode())
        origin = f"Base: {request.base} ({self.base.fingerprint}). Questions: {self.split_summary()}."
        for variant, stage in self.stages.items():
            trainings = {variant: records[variant]}
            if variant == BOTH:
                trainings = {PRETRAINED: records[PRETRAINED], **trainings}
            card = card_of(origin, trainings, material.corpora, result, domain, (*of_variant[variant], caveat))
            write(stage.folder / "README.md", card.encode())
        return sentences, table


def planned_stages(request: AdaptRequest, made_from: JsonObject) -> dict[str, AnyStage]:
    """Return the requested trainings by variant, in order; both kinds if neither is requested.

    With both kinds there is a third training, which fine-tunes the pre-trained model.
    """
    options = request.options
    stages: dict[str, AnyStage] = {}

    def add(variant: str, kind: Kind, recipe: SentenceRecipe, origin: JsonObject) -> None:
        stages[variant] = Stage(request.out / variant, kind, recipe, origin, LIBRARIES, request.overwrite)

    if options.pretrain or not options.finetune:
        add(PRETRAINED, "pretraining", options.of(SentenceRecipe), made_from)
    if options.finetune or not options.pretrain:
        add(FINETUNED, "finetuning", options.of(FinetuneOptions), made_from)
    if len(stages) > 1:
        # Known before it is trained: what makes the pre-trained model determines it.
        origin = {**made_from, "base": content_hash(stages[PRETRAINED].identity)}
        add(BOTH, "finetuning", stages[FINETUNED].recipe, origin)
    return stages


def _plan(
    request: AdaptRequest, base: Base, material: Material, general: Sequence[AnyCorpus], variants: Mapping[str, str]
) -> Plan:
    """Return the assay of base and variants on test questions and general corpora.

    Parameters
    ----------
    variants
        The spec of each variant.
    """
    options = request.options
    corpora = (*material.tests, *general)
    of_base = Spec(f"st:{base.name}", BASE, base.options)
    # One diagnostic for each shape of corpus, each once; the cards have the paper's figures of retrieval. All pairs are
    # compared, so that pretrained+finetuned is also compared with fine-tuning alone.
    by_shape = {**ranking_diagnostics(), "retrieval": "retrieval,paper=true"}
    diagnostics = dict.fromkeys(f"{by_shape[corpus.shape]},compare=all" for corpus in corpora)
    return plan_run(
        RunRequest(
            encoders=[of_base, *(Spec(spec, variant) for variant, spec in variants.items())],
            corpora=corpora,
            diagnostics=tuple(diagnostics),
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
    )
