"""Our diagnostics as mteb tasks with pinned data.

    task = mteb_task("mine.jsonl", "negated_antonyms")
    mteb.evaluate(mteb.get_model("intfloat/e5-small-v2"), task)

mteb finds stored results by the task's name and the model's name and revision, and ignores the revision of the data. So
a task's name ends in a hash of everything, except the model, that its scores depend on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from embassay._version import __version__
from embassay.cli.evaluator import RESAMPLES, Source, figures_of, prepared
from embassay.core.errors import EncoderError, MissingExtraError, SpecError
from embassay.core.samples.base import Role
from embassay.core.types import Card, content_hash
from embassay.core.vectors import DenseVectors
from embassay.models.base import BaseEncoder, supported_similarity
from embassay.models.objects.mteb import ANSWERS, SAME, encode, similarity_of

if TYPE_CHECKING:
    from mteb.abstasks.abstask import AbsTask
    from mteb.models import EncoderProtocol

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
    try:
        from mteb.abstasks.abstask import AbsTask
        from mteb.abstasks.task_metadata import TaskMetadata
    except ImportError:
        raise MissingExtraError("the bridge to mteb", "mteb") from None

    only, spec, main_score, direction = prepared(corpus, diagnostic, metric, seed)
    if metric and direction != "higher":
        raise SpecError(f"metric {metric!r} cannot be a main score: for mteb higher scores are better")
    is_search = only.shape == "retrieval"
    pin = content_hash([diagnostic, only.fingerprint, main_score, language, seed, RESAMPLES, __version__])
    label = re.sub(NOT_IN_NAMES, "_", name or f"Embassay.{spec.head}.{only.name}")

    # A class for each task: mteb reads the metadata from it, again when it unloads the data.
    class DiagnosticTask(AbsTask):  # type: ignore[misc]
        """One diagnostic on one corpus; see :func:`mteb_task`."""

        metadata = TaskMetadata(
            name=f"{label}.{pin[:8]}",
            description=f"Embassay {__version__}: {spec.head} on {only.name}, seed {seed}",
            dataset={"path": f"embassay/{only.name}", "revision": only.fingerprint},
            # mteb has no type for a diagnostic. The type and the instruction decide which prompts a model uses.
            type="Retrieval" if is_search else "STS",
            prompt=ANSWERS if is_search else SAME,
            category="t2t",
            eval_splits=[SPLIT],
            eval_langs=[language],
            main_score=main_score,
            is_public=only.builtin,
        )

        def load_data(self, *arguments: object, **more: object) -> None:
            """Use the texts of the corpus, which is already loaded."""
            self.dataset: dict[str, object] | None = {"default": {SPLIT: only.texts()}}
            self.data_loaded = True

        def _evaluate_subset(self, model: EncoderProtocol, data_split: object, **more: object) -> dict[str, float]:
            figures = figures_of(EvaluatedModel(model), only, spec, seed)
            # Undefined figures are left out.
            scores = {name: row.value for name, row in figures.items() if row.value is not None}
            if main_score not in scores:
                raise EncoderError(f"{main_score} is undefined for this model on {self.metadata.name}")
            return scores

        def _calculate_descriptive_statistics_from_split(self, split: str, **more: object) -> dict[str, int]:
            audit = only.audit()
            return {"num_samples": audit.items, "unique_texts": audit.distinct_texts}

    return DiagnosticTask(seed=seed)


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
