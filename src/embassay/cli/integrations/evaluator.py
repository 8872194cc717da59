"""A diagnostic that runs during training: an evaluator for sentence-transformers' trainer.

evaluator = ea.evaluator("edits", "minimal_pairs")
SentenceTransformerTrainer(model=model, evaluator=evaluator, …)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from embassay.cli.integrations.figures import STAND_IN, NamedFigures, assay_one, headline_row
from embassay.cli.integrations.live import LiveEncoder
from embassay.core.errors import MissingExtraError, SpecError, UnknownNameError
from embassay.core.result import Row
from embassay.core.samples.base import Role
from embassay.core.types import AnyCorpus, Corpus, Draws, Encoder
from embassay.diagnostics.metrics.metric import Direction, declared
from embassay.models.base import supported_similarity
from embassay.models.neural.prompts import by_role
from embassay.reports.layouts import layouts
from embassay.run.resolve import load_corpus, load_encoder
from embassay.run.specs import Spec, parse

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.evaluation import SentenceEvaluator

PAIRED = "shift"
"""The diagnostic that compares two corpora."""
Source = str | AnyCorpus
RESAMPLES = 100
"""Bootstrap resamples. Few are enough, because the intervals are not shown."""


def evaluator(
    corpus: Source | tuple[Source, Source],
    diagnostic: str = "retrieval",
    metric: str = "",
    *,
    name: str = "",
    batch: int = 32,
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
    batch
        Number of texts in a batch.
    seed
        Seed for all random numbers.

    Raises
    ------
    InputError
        If corpus and diagnostic do not match, or if the figure does not exist or has no better direction.
    """
    if batch < 1:
        raise SpecError(f"batch must be 1 or more, is {batch}")
    corpora, spec = _corpora_and_diagnostic(corpus, diagnostic)
    watched = _Watched(corpora, spec, Draws(seed, RESAMPLES))
    # Random vectors stand in for the model, so that mistakes are reported now and not after an hour of training.
    figures = watched.figures(load_encoder(STAND_IN))
    if metric and metric not in figures.values:
        raise UnknownNameError(f"metric of diagnostic {diagnostic!r}", metric, figures.values)
    primary = figures.values[metric or figures.headline]
    direction = declared(primary.key).better
    if metric and direction == "neither":
        raise SpecError(f"metric {metric!r}: neither higher nor lower is better, so it cannot choose a checkpoint")
    evaluator_class = _evaluator_class()
    return evaluator_class(watched, name or corpora[0].name, metric or figures.headline, direction, batch)


def live_model(model: SentenceTransformer, batch: int = 32) -> LiveEncoder:
    """Return an encoder for a ``SentenceTransformer`` in training, with the model's own prompt for each role.

    Parameters
    ----------
    batch
        Number of texts in a batch.
    """
    methods = {"query": "encode_query", "document": "encode_document", "text": "encode"}
    prompts = by_role(getattr(model, "prompts", None) or {}, getattr(model, "default_prompt_name", None))

    def vectors(texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        encode = getattr(model, methods[role])
        rows: NDArray[np.float32] = encode(
            list(texts), prompt=prompts[role], batch_size=batch, show_progress_bar=False, convert_to_numpy=True
        )
        return rows

    return LiveEncoder(vectors, supported_similarity(getattr(model, "similarity_fn_name", None)))


def _corpora_and_diagnostic(
    corpus: Source | tuple[Source, Source], diagnostic: str
) -> tuple[tuple[AnyCorpus, ...], Spec]:
    """Load the corpora; return them and the diagnostic, with the labels of a pair as options."""
    sources = corpus if isinstance(corpus, tuple) else (corpus,)
    spec = parse(diagnostic, "diagnostic")
    if spec.head == PAIRED and len(sources) != 2:
        raise SpecError(
            f"diagnostic {PAIRED!r} needs two corpora, one of the domain and a general one: pass (domain, general)"
        )
    if spec.head != PAIRED and len(sources) != 1:
        raise SpecError(f"diagnostic {spec.head!r} takes one corpus; only {PAIRED!r} takes a pair (domain, general)")
    loaded = tuple(source if isinstance(source, Corpus) else load_corpus(source) for source in sources)
    if spec.head == PAIRED:
        domain, general = loaded
        spec = replace(spec, options={**spec.options, "domain": domain.name, "general": general.name})
    return loaded, spec


@dataclass(frozen=True)
class _Watched:
    """One diagnostic on one corpus, or on a pair."""

    corpora: tuple[AnyCorpus, ...]
    diagnostic: Spec
    draws: Draws

    def figures(self, encoder: Encoder) -> NamedFigures:
        """Return the rows of the diagnostic's first table.

        Raises
        ------
        SpecError
            If there is none.
        """
        result = assay_one(encoder, self.corpora, self.diagnostic, self.draws)
        # One diagnostic was run, so there is one layout.
        ((diagnostic, layout),) = layouts(result).items()
        rows = [row for row in result.rows if row.encoder]
        shown = {}
        for column in layout.headline.columns:
            # If several rows have the same place in the table, the first one counts.
            column_row = next((row for row in rows if column.key.covers(row.key)), None)
            if column_row is not None:
                shown[_name(column_row)] = column_row
        if not shown:
            raise SpecError(f"diagnostic {diagnostic!r} has no figures in its first table on this corpus")
        headline = headline_row(result)
        if headline is None or _name(headline) not in shown:
            return NamedFigures(shown, next(iter(shown)))
        return NamedFigures(shown, _name(headline))


def _name(row: Row) -> str:
    """Return metric, subset and condition as one word."""
    return row.key.slug(row.similarity_function).replace(" ", "_")


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

        def __init__(self, watched: _Watched, name: str, metric: str, direction: Direction, batch: int):
            super().__init__()
            self.watched, self.name, self.batch = watched, name, batch
            diagnostic = watched.diagnostic.head
            self.prefix = f"{name}_{diagnostic}"
            self.primary_metric = None
            if direction != "neither":
                self.primary_metric = f"{self.prefix}_{metric}"
            self.greater_is_better = direction != "lower"

        def __call__(
            self, model: SentenceTransformer, output_path: str | None = None, epoch: int = -1, steps: int = -1
        ) -> dict[str, float]:
            """Return the figures of the current model."""
            figures = self.watched.figures(live_model(model, self.batch))
            metrics = {}
            for name, row in figures.values.items():
                # No comparison with NaN is true, so the trainer never takes an undefined figure for the best.
                metrics[f"{self.prefix}_{name}"] = math.nan if row.value is None else row.value
            self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
            return metrics

        @property
        def description(self) -> str:
            """The name in the trainer's own model card."""
            return f"Embassay: {self.watched.diagnostic.head}"

    return DiagnosticEvaluator
