"""Our diagnostics as mteb tasks with pinned data, and our encoders as mteb models.

    task = mteb_task("mine.jsonl", "negated_antonyms")
    mteb.evaluate(mteb.get_model("intfloat/e5-small-v2"), task)

mteb finds stored results by the task's name and the model's name and revision, and ignores the revision of the data. So
a task's name ends in a hash of everything, except the model, that its scores depend on. The model's revision is its
fingerprint.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from embassay._version import __version__
from embassay.cli.evaluator import RESAMPLES, Source, figures_of, loaded, primary_figure
from embassay.core.errors import EncoderError, MissingExtraError, SpecError
from embassay.core.samples.base import Role
from embassay.core.types import AnyCorpus, Card, Encoder, content_hash
from embassay.core.vectors import DenseVectors, dense_rows
from embassay.models.base import BaseEncoder, supported_similarity
from embassay.models.objects.mteb import ANSWERS, SAME, encode, similarity_of
from embassay.run.resolve import load_encoder
from embassay.run.specs import Spec

if TYPE_CHECKING:
    from mteb.abstasks.abstask import AbsTask
    from mteb.models import EncoderProtocol, ModelMeta
    from mteb.types import PromptType
    from torch import Tensor
    from torch.utils.data import DataLoader

NOT_IN_NAMES = r"[^\w.+-]"
"""Characters that mteb's file names cannot have."""
SPLIT = "test"


def mteb_task(
    corpus: Source,
    diagnostic: str,
    metric: str = "",
    *,
    name: str = "",
    language: str = "eng-Latn",
    seed: int = 0,
) -> AbsTask:
    """Make a task that ``mteb.evaluate`` and ``mteb.MTEB(tasks=[…])`` run without network access.

    Its scores are the figures of the diagnostic's first table. Their names join metric, subset, condition and, if it
    differs from the headline's, measure by ``_``. Undefined figures are left out.

    Parameters
    ----------
    corpus
        A source, or a corpus from :func:`embassay.load`.
    diagnostic
        The name of the diagnostic, with options.
    metric
        The figure that is the main score. Default: the diagnostic's headline. mteb treats higher scores as better, so
        other figures are refused.
    name
        The task's name. Default: made from diagnostic and corpus. Eight digits are appended; they change with the
        corpus, the diagnostic's options, the main score, the language, the seed and Embassay's version.
    language
        Language of the texts, in mteb's notation.
    seed
        Seed for all random numbers.

    Raises
    ------
    MissingExtraError
        If mteb is not installed.
    InputError
        If corpus and diagnostic do not match, there is no such figure, or higher values of it are not better.
    """
    task_class = _task_class()
    corpora, spec = loaded(corpus, diagnostic)
    main_score, direction = primary_figure(corpora, spec, metric, seed)
    if metric and direction != "higher":
        raise SpecError(f"metric {metric!r} cannot be a main score: for mteb higher scores are better")
    (only,) = corpora
    pin = content_hash([diagnostic, only.fingerprint, main_score, language, seed, RESAMPLES, __version__])
    name = name or f"Embassay.{spec.head}.{only.name}"
    return task_class(only, spec, seed, main_score, f"{re.sub(NOT_IN_NAMES, '_', name)}.{pin[:8]}", language)


def mteb_model(encoder: Encoder | str) -> MtebModel:
    """Make a model of mteb from an encoder, for ``mteb.evaluate(model, tasks)``.

    Parameters
    ----------
    encoder
        An encoder from :func:`embassay.encoder`, fitted if it learns from texts, or anything that this function takes.
        Its name and fingerprint become the model's name and revision.

    Raises
    ------
    MissingExtraError
        If mteb is not installed.
    InputError
        If there is no such encoder.
    """
    _require()
    return MtebModel(load_encoder(encoder))


class MtebModel:
    """An encoder with the methods of mteb's ``EncoderProtocol``."""

    def __init__(self, encoder: Encoder):
        self.encoder = encoder
        self._by_dot_product = encoder.card.similarity == "dot"
        self.mteb_model_meta = _model_meta(encoder)

    def encode(
        self, inputs: DataLoader, *, prompt_type: PromptType | None = None, **more: object
    ) -> NDArray[np.float32]:
        """Return the (n, d) vectors of mteb's batches, with the role of the prompt's type."""
        texts: list[str] = []
        for batch in inputs:
            texts += batch["text"]
        # mteb has no prompt type for tasks without queries and documents.
        role: Role = "text" if prompt_type is None else prompt_type.value
        return dense_rows(self.encoder.encode(texts, role))

    def similarity(self, embeddings1: Tensor, embeddings2: Tensor) -> Tensor:
        """Return the (n, m) cosines or dot products of two sets of vectors."""
        from mteb.similarity_functions import cos_sim, dot_score

        compare = cos_sim
        if self._by_dot_product:
            compare = dot_score
        return compare(embeddings1, embeddings2)

    def similarity_pairwise(self, embeddings1: Tensor, embeddings2: Tensor) -> Tensor:
        """Return the (n,) cosines or dot products of corresponding vectors."""
        from mteb.similarity_functions import pairwise_cos_sim, pairwise_dot_score

        compare = pairwise_cos_sim
        if self._by_dot_product:
            compare = pairwise_dot_score
        return compare(embeddings1, embeddings2)


@dataclass(frozen=True)
class EvaluatedModel(BaseEncoder):
    """A model that mteb evaluates, as an encoder. Nothing of it is stored, so it has no fingerprint of its own."""

    model: EncoderProtocol
    name: str = "model"
    fingerprint: str = "of mteb"

    @property
    def card(self) -> Card:
        """The properties of the encoder that are known without running it."""
        similarity = supported_similarity(similarity_of(self.model.mteb_model_meta))
        return Card("model of mteb", cached=False, similarity=similarity)

    def encode(self, texts: Sequence[str], role: Role = "text") -> DenseVectors:
        """Return (n, d) float32."""
        return encode(self.model, texts, role)


def _model_meta(encoder: Encoder) -> ModelMeta:
    """Return what mteb keeps about a model."""
    from mteb.models import ModelMeta
    from mteb.models.model_meta import ScoringFunction

    function = ScoringFunction.DOT_PRODUCT if encoder.card.similarity == "dot" else ScoringFunction.COSINE
    name = re.sub(NOT_IN_NAMES, "_", encoder.name, flags=re.ASCII)
    fields = {"name": f"embassay/{name}", "revision": encoder.fingerprint, "similarity_fn_name": function}
    return ModelMeta.create_empty(overwrites=fields)


def _require() -> None:
    if find_spec("mteb") is None:
        raise MissingExtraError("the bridge to mteb", "mteb")


@cache
def _task_class() -> type:
    """Return the class of the tasks; this imports mteb."""
    _require()
    from mteb.abstasks.abstask import AbsTask
    from mteb.abstasks.task_metadata import TaskMetadata

    class DiagnosticTask(AbsTask):  # type: ignore[misc]
        """One diagnostic on one corpus; see :func:`mteb_task`."""

        def __init__(self, corpus: AnyCorpus, diagnostic: Spec, seed: int, metric: str, name: str, language: str):
            is_search = corpus.shape == "retrieval"
            self.corpus, self.diagnostic = corpus, diagnostic
            self.metadata = TaskMetadata(
                name=name,
                description=f"Embassay {__version__}: {diagnostic.head} on {corpus.name}, seed {seed}",
                dataset={"path": f"embassay/{corpus.name}", "revision": corpus.fingerprint},
                # mteb has no type for a diagnostic. The type and the instruction decide which prompts a model uses.
                type="Retrieval" if is_search else "STS",
                prompt=ANSWERS if is_search else SAME,
                category="t2t",
                eval_splits=[SPLIT],
                eval_langs=[language],
                main_score=metric,
                is_public=corpus.builtin,
            )
            super().__init__(seed=seed)

        def load_data(self, *arguments: object, **more: object) -> None:
            """Use the texts of the corpus, which is already loaded."""
            self.dataset: dict[str, object] | None = {"default": {SPLIT: self.corpus.texts()}}
            self.data_loaded = True

        def unload_data(self) -> None:
            """Release the texts. mteb's own method would also release the task's metadata, which no class stores."""
            self.dataset = None
            self.data_loaded = False

        def _evaluate_subset(self, model: EncoderProtocol, data_split: object, **more: object) -> dict[str, float]:
            figures = figures_of(EvaluatedModel(model), [self.corpus], self.diagnostic, self.seed)
            # Undefined figures are left out.
            scores = {name: row.value for name, row in figures.items() if row.value is not None}
            if self.metadata.main_score not in scores:
                raise EncoderError(f"{self.metadata.main_score} is undefined for this model on {self.metadata.name}")
            return scores

        def _calculate_descriptive_statistics_from_split(self, split: str, **more: object) -> dict[str, int]:
            audit = self.corpus.audit()
            return {"num_samples": audit.items, "unique_texts": audit.distinct}

        def _push_dataset_to_hub(self, repo_name: str, **more: object) -> None:
            raise NotImplementedError("a user's corpus is not uploaded to the hub")

    return DiagnosticTask
