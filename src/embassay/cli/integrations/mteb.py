"""Our diagnostics as mteb tasks with pinned data, and our encoders as mteb models.

    task = mteb_task("mine.jsonl", "negated_antonyms")
    mteb.evaluate(mteb.get_model("intfloat/e5-small-v2"), task)

mteb finds stored results by the task's name and the model's name and revision, and ignores the revision of the data. So
a task's name ends in a hash of everything, except the model, that its scores depend on. The model's revision is its
fingerprint.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, get_args

import numpy as np
from numpy.typing import NDArray

from embassay._version import __version__
from embassay.cli.integrations.figures import Measurement
from embassay.cli.integrations.live import LiveEncoder
from embassay.cli.integrations.vectors import dense
from embassay.core.errors import EncoderError, MissingExtraError, SpecError, UnknownNameError
from embassay.core.samples.base import Role
from embassay.core.types import AnyCorpus, Draws, Encoder
from embassay.diagnostics.metrics.metric import declared
from embassay.models.base import supported_similarity
from embassay.models.objects.mteb_model import ANSWERS, SAME, encode, similarity_of
from embassay.run.resolve import load_encoder

if TYPE_CHECKING:
    from mteb.abstasks.abstask import AbsTask
    from mteb.abstasks.task_metadata import TaskMetadata
    from mteb.models import EncoderProtocol, ModelMeta
    from mteb.types import PromptType
    from torch import Tensor
    from torch.utils.data import DataLoader

NOT_IN_NAMES = r"[^\w.+-]"
"""Characters that mteb's file names cannot have."""
SPLIT = "test"
BATCH = 32


def mteb_task(
    corpus: str | AnyCorpus,
    diagnostic: str,
    metric: str = "",
    *,
    name: str = "",
    language: str = "eng-Latn",
    seed: int = 0,
    resamples: int = 100,
) -> AbsTask:
    """Make a task that ``mteb.evaluate`` and ``mteb.MTEB(tasks=[…])`` run without network access.

    Its scores are the diagnostic's figures. Their names join metric, subset, condition and, if it differs from the
    headline's, measure by ``_``. Undefined figures are left out.

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
        corpus, the diagnostic's options, the main score, the seed, the resamples and Embassay's version.
    language
        Language of the texts, in mteb's notation.
    seed, resamples
        Seed for all random numbers, and bootstrap resamples. mteb's scores have no intervals.

    Raises
    ------
    MissingExtraError
        If mteb is not installed.
    InputError
        If corpus and diagnostic do not match, or higher values of the figure are not better.
    UnknownNameError
        If there is no such figure.
    """
    task_class = _task_class()
    measurement = Measurement.of(corpus, diagnostic, Draws(seed, resamples))
    figures = measurement.of_stand_in()
    if metric and metric not in figures.values:
        raise UnknownNameError(f"metric of diagnostic {diagnostic!r}", metric, figures.values)
    main_score = metric or figures.headline
    main = figures.values[main_score]
    if metric and declared(main.key).better != "higher":
        raise SpecError(f"metric {metric!r} cannot be a main score: for mteb higher scores are better")
    name = name or f"Embassay.{diagnostic.partition(',')[0]}.{measurement.corpus.name}"
    valid_name = re.sub(NOT_IN_NAMES, "_", name)
    task_name = f"{valid_name}.{measurement.pin(main_score, language)}"
    return task_class(measurement, main_score, task_name, language)


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
        return dense(self.encoder, texts, role)

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


def _model_meta(encoder: Encoder) -> ModelMeta:
    """Return what mteb keeps about a model."""
    from mteb.models import ModelMeta
    from mteb.models.model_meta import ScoringFunction

    function = ScoringFunction.DOT_PRODUCT if encoder.card.similarity == "dot" else ScoringFunction.COSINE
    name = re.sub(NOT_IN_NAMES, "_", encoder.name, flags=re.ASCII)
    fields = {"name": f"embassay/{name}", "revision": encoder.fingerprint, "similarity_fn_name": function}
    return ModelMeta.create_empty(overwrites=fields)


def _live(model: EncoderProtocol, task: TaskMetadata, batch: int) -> LiveEncoder:
    """Return an encoder for a model that mteb has loaded.

    Parameters
    ----------
    task
        The metadata of the task, from which the model chooses its prompts.
    """
    similarity = supported_similarity(similarity_of(model.mteb_model_meta))
    return LiveEncoder(lambda texts, role: encode(model, texts, role, batch, task), similarity)


def _data_facts(corpus: AnyCorpus) -> Mapping[str, object]:
    """Return the facts about a task's data that mteb records and that a corpus knows."""
    from mteb.types import Licenses

    licences = {name.replace(" ", "-"): name for name in get_args(Licenses)}
    licence = corpus.licence.lower().replace(" ", "-").replace("unknown", "not-specified")
    facts = {"category": "t2t", "license": licences.get(licence), "is_public": corpus.builtin}
    if corpus.builtin:
        # Written for this package: no dialect, and no article to cite.
        facts |= {"sample_creation": "created", "dialect": [], "bibtex_citation": ""}
    return facts


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

        def __init__(self, measurement: Measurement, metric: str, name: str, language: str):
            corpus, draws = measurement.corpus, measurement.draws
            # mteb has no type for a diagnostic. The type and the instruction decide which prompts a model uses.
            kind = "STS"
            prompt: str | dict[str, str] = SAME
            if corpus.shape == "retrieval":
                kind = "Retrieval"
                prompt = ANSWERS
            self.measurement = measurement
            self.metadata = TaskMetadata(
                name=name,
                description=f"Embassay {__version__}: {measurement.diagnostic} on {corpus.name}, seed {draws.seed}, "
                f"{draws.resamples} resamples; licence: {corpus.licence}.",
                dataset={"path": f"embassay/{corpus.name}", "revision": corpus.fingerprint},
                type=kind,
                prompt=prompt,
                eval_splits=[SPLIT],
                eval_langs=[language],
                main_score=metric,
                **_data_facts(corpus),
            )
            super().__init__(seed=draws.seed)

        def load_data(self, *arguments: object, **more: object) -> None:
            """Use the texts of the corpus, which is already loaded."""
            from datasets import Dataset, DatasetDict

            texts = self.measurement.corpus.texts()
            columns = {"role": [role for role, _ in texts], "text": [text for _, text in texts]}
            split = Dataset.from_dict(columns)
            self.dataset: dict[str, object] | None = {"default": DatasetDict({SPLIT: split})}
            self.data_loaded = True

        def unload_data(self) -> None:
            """Release the texts. mteb's own method would also release the task's metadata, which no class stores."""
            self.dataset = None
            self.data_loaded = False

        def _evaluate_subset(
            self, model: EncoderProtocol, data_split: object, *, encode_kwargs: Mapping[str, int], **more: object
        ) -> dict[str, float]:
            encoder = _live(model, self.metadata, encode_kwargs.get("batch_size", BATCH))
            figures = self.measurement.of_encoder(encoder)
            # Undefined figures are left out.
            scores = {name: row.value for name, row in figures.values.items() if row.value is not None}
            if self.metadata.main_score not in scores:
                raise EncoderError(f"{self.metadata.main_score} is undefined for this model on {self.metadata.name}")
            return scores

        def _calculate_descriptive_statistics_from_split(self, split: str, **more: object) -> dict[str, int]:
            audit = self.measurement.corpus.audit()
            return {"num_samples": audit.items, "unique_texts": audit.distinct}

        def _push_dataset_to_hub(self, repo_name: str, **more: object) -> None:
            raise NotImplementedError("a user's corpus is not uploaded to the hub")

    return DiagnosticTask
