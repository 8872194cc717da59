"""A diagnostic that runs during training: an evaluator for sentence-transformers' trainer.

evaluator = ea.evaluator("edits", "minimal_pairs")
SentenceTransformerTrainer(model=model, evaluator=evaluator, …)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from embassay.api import assay
from embassay.core.errors import MissingExtraError, SpecError, UnknownNameError
from embassay.core.result import Row
from embassay.core.types import AnyCorpus, Corpus
from embassay.diagnostics.metrics.metric import declared
from embassay.reports.layouts import layouts
from embassay.reports.tables import scope_of
from embassay.run.resolve import EncoderInputs, load_corpus

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.evaluation import SentenceEvaluator

STAND_IN = "random,dim=8"
"""The encoder that provides the names of the figures before there is a model."""
RESAMPLES = 100
"""Few are enough, because a trainer shows no intervals."""


def evaluator(
    corpus: str | AnyCorpus,
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
        A source, or a corpus from :func:`embassay.load`.
    diagnostic
        The name of the diagnostic, with options.
    metric
        The figure that chooses the checkpoint: the part of its name after ``NAME_diagnostic_``. Default: the
        diagnostic's headline.
    name
        The first part of the figures' names. Default: the corpus's label.
    seed
        Seed for all random numbers.

    Raises
    ------
    InputError
        If corpus and diagnostic do not match, or if the figure does not exist or has no better direction.
    """
    try:
        from sentence_transformers.sentence_transformer.evaluation import SentenceEvaluator
    except ImportError:
        raise MissingExtraError("an evaluator", "hf") from None

    watched = corpus if isinstance(corpus, Corpus) else load_corpus(corpus)
    # Random vectors stand in for the model, so that mistakes are reported now and not after an hour of training.
    figures = figures_of(STAND_IN, watched, diagnostic, seed)
    chosen = metric or next(iter(figures))
    if chosen not in figures:
        raise UnknownNameError(f"metric of diagnostic {diagnostic!r}", metric, figures)
    key = figures[chosen].key
    better = declared(key).better
    if metric and better == "neither":
        raise SpecError(f"metric {metric!r}: neither higher nor lower is better, so it cannot choose a checkpoint")
    label = name or watched.name
    prefix = f"{label}_{key.diagnostic}"

    class DiagnosticEvaluator(SentenceEvaluator):  # type: ignore[misc]
        """Watches one diagnostic on one corpus; see :func:`embassay.evaluator`."""

        def __init__(self) -> None:
            super().__init__()
            self.name = label
            self.primary_metric = None if better == "neither" else f"{prefix}_{chosen}"
            self.greater_is_better = better != "lower"

        def __call__(
            self, model: SentenceTransformer, output_path: str | None = None, epoch: int = -1, steps: int = -1
        ) -> dict[str, float]:
            """Return the figures of the current model."""
            metrics = {}
            for figure, row in figures_of(model, watched, diagnostic, seed).items():
                # No comparison with NaN is true, so the trainer never takes an undefined figure for the best.
                metrics[f"{prefix}_{figure}"] = math.nan if row.value is None else row.value
            self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
            return metrics

    return DiagnosticEvaluator()


def figures_of(encoder: EncoderInputs, corpus: AnyCorpus, diagnostic: str, seed: int) -> dict[str, Row]:
    """Return the rows of the diagnostic's first table by name, such as ``similarity_antonym``, the headline first.

    Raises
    ------
    InputError
        If corpus and diagnostic do not match.
    EncoderError
        If the encoder fails.
    """
    result = assay(
        encoder, corpus, [diagnostic], seed=seed, resamples=RESAMPLES, baselines=False, examples=0, cache=None
    )
    # One diagnostic was run on one corpus, so there is one verdict.
    (verdict,) = result.verdicts
    pages = layouts(result)
    columns = pages[verdict.diagnostic].headline.columns
    rows = scope_of(result, verdict, pages).rows_of(result.encoders[0].name, columns)
    figures = {}
    for row in filter(None, rows):
        parts = (row.metric, "" if row.subset == "all" else row.subset, row.condition)
        figures["_".join(filter(None, parts)).replace(":", "_").replace(" ", "_")] = row
    return figures
