"""A diagnostic that runs during training: an evaluator for sentence-transformers' trainer.

evaluator = ea.evaluator("edits", "minimal_pairs")
SentenceTransformerTrainer(model=model, evaluator=evaluator, …)
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

from embassay.cli.integrations.figures import Source, Watched
from embassay.core.errors import MissingExtraError, SpecError
from embassay.diagnostics.metrics.metric import Direction
from embassay.models.objects.foreign import from_object

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.evaluation import SentenceEvaluator


def evaluator(
    corpus: Source | tuple[Source, Source],
    diagnostic: str = "retrieval",
    metric: str = "",
    *,
    name: str = "",
    seed: int = 0,
) -> SentenceEvaluator:
    """Make an evaluator that a ``SentenceTransformerTrainer`` calls with the current model.

    It returns the figures of the diagnostic's first table as ``NAME_diagnostic_metric``, followed by the subset and
    the condition if there are any: ``mine_retrieval_Success@5``, ``mine_minimal_pairs_similarity_antonym``. An
    undefined figure is NaN, which the trainer never treats as the best. ``primary_metric`` and ``greater_is_better``
    are set; use ``metric_for_best_model="eval_" + evaluator.primary_metric`` to choose a checkpoint by it.
    ``primary_metric`` is None if the headline has no better direction.

    Parameters
    ----------
    corpus
        A source, or a corpus from :func:`embassay.load`. For ``shift``, a pair of them: ``(domain, general)``.
    diagnostic
        The name of the diagnostic, with options.
    metric
        The figure that chooses the checkpoint: the part of its name after ``NAME_diagnostic_``. Default: the
        diagnostic's headline.
    name
        The first part of the figures' names. Default: the corpus's label; for a pair, the label of the domain.
    seed
        Seed for all random numbers.

    Raises
    ------
    InputError
        If corpus and diagnostic do not match, or if the figure does not exist or has no better direction.
    """
    watched = Watched.of(corpus, diagnostic, seed)
    primary, direction = watched.primary(metric)
    if metric and direction == "neither":
        raise SpecError(f"metric {metric!r}: neither higher nor lower is better, so it cannot choose a checkpoint")
    evaluator_class = _evaluator_class()
    return evaluator_class(watched, name or watched.corpora[0].name, primary, direction)


@cache
def _evaluator_class() -> type:
    """Return the class of the evaluator; this imports sentence-transformers.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    try:
        from sentence_transformers.sentence_transformer.evaluation import SentenceEvaluator
    except ImportError:
        raise MissingExtraError("an evaluator", "hf") from None

    class DiagnosticEvaluator(SentenceEvaluator):  # type: ignore[misc]
        """Watches one diagnostic on one corpus; see :func:`embassay.evaluator`."""

        def __init__(self, watched: Watched, name: str, metric: str, direction: Direction):
            super().__init__()
            self.watched, self.name = watched, name
            self.prefix = f"{name}_{watched.diagnostic.head}"
            self.primary_metric = None
            if direction != "neither":
                self.primary_metric = f"{self.prefix}_{metric}"
            self.greater_is_better = direction != "lower"

        def __call__(
            self, model: SentenceTransformer, output_path: str | None = None, epoch: int = -1, steps: int = -1
        ) -> dict[str, float]:
            """Return the figures of the current model."""
            # Nothing of it is stored, so its version need not change with its weights.
            figures = self.watched.figures(from_object(model, "model", version="in training"))
            metrics = {}
            for name, row in figures.items():
                # No comparison with NaN is true, so the trainer never takes an undefined figure for the best.
                metrics[f"{self.prefix}_{name}"] = math.nan if row.value is None else row.value
            self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
            return metrics

        @property
        def description(self) -> str:
            """The name in the trainer's own model card."""
            return f"Embassay: {self.watched.diagnostic.head}"

    return DiagnosticEvaluator
