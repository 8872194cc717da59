"""Domain adaptation from request to verdict: split, trainings, the assay of all variants, the model cards.

Roychowdhury et al. (2024), section 2.4, with the same test questions for all variants. The assay also measures the loss
elsewhere: retrieval of general questions, negations, composition, similarity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from embassay.core.errors import SpecError
from embassay.core.formatting import DASH
from embassay.core.result import Result
from embassay.core.store.canonical import canonical, write
from embassay.core.types import AnyCorpus, Draws, JsonObject, content_hash
from embassay.models.neural.model import Model
from embassay.run.cuts import limited
from embassay.run.record import environment
from embassay.run.specs import Spec
from embassay.training.adaptation import card, figures, lineage, wording
from embassay.training.adaptation.assay import VariantAssay
from embassay.training.adaptation.domain import check_outside, general_corpora, load_corpora, with_fewer_documents
from embassay.training.adaptation.folder import QUESTIONS, AdaptationFolder
from embassay.training.adaptation.held_out import write_questions
from embassay.training.adaptation.material import LEAST_TRAIN, Material, gather
from embassay.training.adaptation.own_data import own_triplets, read_texts
from embassay.training.adaptation.request import AdaptRequest
from embassay.training.adaptation.variant_training import VariantTraining
from embassay.training.adaptation.variants import BASE, Stage, planned_stages
from embassay.training.base_model import find_base
from embassay.training.fitness import check_device, check_objective
from embassay.training.losses import check_loss
from embassay.training.stage import spec_of


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
    held_out
        For each corpus its source with the test questions only, for ``-c``; empty with ``no_texts``.
    """

    folder: Path
    result: Result
    models: Mapping[str, str]
    verdict: tuple[str, ...]
    held_out: tuple[str, ...]


@dataclass(frozen=True)
class Adaptation:
    """An adaptation whose input has been checked. Nothing is written before :meth:`carry_out`.

    Attributes
    ----------
    identity
        What identifies the adaptation, as JSON values: base, data, split, seed.
    """

    request: AdaptRequest
    base: Model
    material: Material
    general: tuple[AnyCorpus, ...]
    stages: tuple[Stage, ...]
    identity: JsonObject

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
        Draws(options.seed, options.resamples)
        stages = planned_stages(options)
        base = replace(find_base(request.base), device=options.device)
        check_device(options.device)
        check_outside(request, base.found.folder)
        corpora = load_corpora(request.corpora)
        if options.limit is not None:
            corpora = limited(corpora, options.limit, options.seed)
        if options.documents is not None:
            corpora = [with_fewer_documents(corpus, options.documents, options.seed) for corpus in corpora]
        texts = read_texts(options.text)
        material = gather(
            corpora,
            by=options.by,
            test=options.test,
            seed=options.seed,
            texts=texts,
            # The user's triplets can be learnt from without the questions of the corpora.
            least_train=0 if options.triplets else LEAST_TRAIN,
        )
        material = replace(material, own=own_triplets(options.triplets, material))
        general = general_corpora(request.general, material)
        identity = {
            "base": base.fingerprint,
            "corpora": [[corpus.name, corpus.fingerprint] for corpus in corpora],
            "split": {"by": options.by, "test": options.test},
            "seed": options.seed,
        }
        if base.options:
            identity["options"] = base.options
        if texts:
            identity["text"] = content_hash(list(texts))
        if material.own:
            rows = [[row.question, row.right, *row.wrong] for row in material.own.triplets]
            identity["triplets"] = content_hash(rows)
        adaptation = cls(request, base, material, general, stages, identity)
        adaptation.folder.check(identity, stages, request.overwrite)
        lineage.check_unlearnt(base.found.folder, material)
        for stage in stages:
            if stage.kind == "pretrain":
                check_objective(base, options.objective)
            else:
                check_loss(options.loss)
        _ = adaptation.assay.base_plan  # errors of the assay are raised before training
        return adaptation

    @property
    def making(self) -> VariantTraining:
        """The trainings."""
        return VariantTraining(self.request, self.base, self.material, self.stages)

    @cached_property
    def assay(self) -> VariantAssay:
        """The assay of the variants."""
        base = Spec(f"st:{self.base.target}", BASE, self.base.options)
        return VariantAssay(self.request, base, self.material.tests, self.general)

    @property
    def folder(self) -> AdaptationFolder:
        """Where the variants are kept."""
        return AdaptationFolder(self.request.out)

    @property
    def domain(self) -> tuple[str, ...]:
        """The labels of the corpora of the domain."""
        return tuple(test.name for test in self.material.tests)

    @property
    def general_sources(self) -> tuple[str, ...]:
        """The sources of the general corpora of questions that the user names."""
        named = zip(self.request.general, self.general, strict=False)
        return tuple(source for source, corpus in named if isinstance(source, str) and corpus.shape == "retrieval")

    def notes(self) -> tuple[str, ...]:
        """Return notes about the split, the corpora and the base before training, one sentence each."""
        return tuple(dict.fromkeys((*self.material.warnings(), *self.material.own.notes, *self.assay.base_plan.notes)))

    def summary(self) -> tuple[str, ...]:
        """Return what ``--dry-run`` prints: the base, the data and what is assumed about them."""
        material = self.material
        return (
            f"base: {self.request.base} ({self.base.fingerprint})",
            f"questions: {self.split_summary()}",
            *self.notes(),
            f"sentences to pre-train on: {len(material.sentences):,}; documents: {len(material.union.documents):,}",
            f"variants: {', '.join(stage.variant for stage in self.stages)}",
            *self.assay.limitations(),
        )

    def split_summary(self) -> str:
        """Return the numbers of training, dev and test questions, and how they were divided."""
        split, options = self.material.split, self.request.options
        unanswered = sum(not question.right for test in self.material.tests for question in test.samples)
        tested = f"{len(split.test):,} for the test"
        if unanswered:
            tested += f" ({unanswered:,} of them without a right document)"
        return (
            f"{len(split.train):,} for training, {len(split.dev):,} for early stopping, {tested}; "
            f"split by {options.by}, seed {options.seed}"
        )

    def split_record(self) -> dict[str, object]:
        """Return the content of ``split.json``."""
        options = self.request.options
        return {
            "by": options.by,
            "test": options.test,
            "seed": options.seed,
            "corpora": self.material.ids(),
            "learnt": lineage.record(self.base.found.folder, self.material),
        }

    def carry_out(self) -> Adapted:
        """Train the variants that are not finished, assay all variants, write verdict and cards.

        Raises
        ------
        EncoderError
            If a training or a variant fails. Finished work is kept.
        OutputError
            If the folder cannot be written to.
        """
        request = self.request
        request.say(f"questions: {self.split_summary()}")
        for note in self.notes():
            request.say(note)
        # Negatives are mined before anything is written, because there may be nothing to learn from.
        mined = self.making.mined()
        self.folder.open(self.identity, request.overwrite)
        write(request.out / lineage.SPLIT, canonical(self.split_record()))
        held_out = () if request.options.no_texts else write_questions(request.out / QUESTIONS, self.material)
        self.making.carry_out(mined)
        specs: dict[str, str] = {}
        facts: dict[str, JsonObject] = {}
        for stage in self.stages:
            specs[stage.variant] = spec_of(self.folder.place(stage))
            facts[stage.variant] = self.folder.finished(stage) or {}
        # One assay of all variants, so that their differences are tested on the same test questions.
        result, columns = self.assay.run([Spec(spec, variant) for variant, spec in specs.items()])
        evaluations = {variant: of_training.get("evaluations", ()) for variant, of_training in facts.items()}
        sentences = wording.verdict(result, columns, self.domain, evaluations)
        verdict = (*sentences, *self.assay.limitations())
        self._write_verdict(result, verdict)
        self._write_cards(result, facts, sentences)
        return Adapted(request.out, result, {BASE: request.base, **specs}, verdict, held_out)

    def _write_verdict(self, result: Result, verdict: Sequence[str]) -> None:
        """Write ``verdict.md``: the sentences, and a table of all variants."""
        sentences = [f"- {sentence}" for sentence in verdict]
        lines = ["# Verdict", "", *sentences, "", *figures.of_variants(result, self.domain), ""]
        write(self.request.out / "verdict.md", "\n".join(lines).encode())

    def _write_cards(self, result: Result, facts: Mapping[str, JsonObject], verdict: Sequence[str]) -> None:
        """Write a model card into the folder of each variant."""
        # The fingerprints are those of the corpora before the split.
        learnt = [(corpus.name, corpus.fingerprint, corpus.licence) for corpus in self.material.corpora]
        options = self.request.options
        for kind, source in (("text", ", ".join(options.text)), ("triplets", options.triplets)):
            if source:
                learnt.append((f"{kind}: {source}", self.identity[kind], DASH))
        origin = card.VariantsOrigin(
            base=self.request.base,
            fingerprint=self.base.fingerprint,
            split=self.split_summary(),
            versions={name: str(version) for name, version in environment()["packages"].items()},
            learnt=learnt,
            hub=card.hub_name(self.base.target, self.base.found),
        )
        for stage in self.stages:
            before = [other for other in self.stages if other.variant == stage.start]
            text = card.card_of([*before, stage], facts, origin, result, self.domain, verdict)
            write(self.folder.place(stage) / "README.md", text.encode())
