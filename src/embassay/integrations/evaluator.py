"""A diagnostic watched while somebody trains: an evaluator for sentence-transformers' trainer.

evaluator = ea.evaluator("edits", "minimal_pairs")
SentenceTransformerTrainer(model=model, evaluator=evaluator, …)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from embassay.diagnostics.base import meaning_of
from embassay.encoders.neural.prompts import by_role
from embassay.errors import MissingExtraError, SpecError, UnknownNameError
from embassay.integrations.figures import STAND_IN, Figures, assay_one, headline_row, joined_name
from embassay.integrations.live import LiveEncoder
from embassay.result import Row
from embassay.run.pages import layouts
from embassay.run.resolve import load_corpus, load_encoder
from embassay.run.specs import Spec, parse
from embassay.samples.base import Role
from embassay.types import Corpus, Draws, Encoder

PAIRED = "shift"
"""The diagnostic of two corpora side by side."""
Source = str | Corpus[Any]
RESAMPLES = 100
"""Resamples of every bootstrap. Few are enough: the intervals are not shown."""


def evaluator(
    corpus: Source | tuple[Source, Source],
    diagnostic: str = "retrieval",
    quantity: str = "",
    *,
    name: str = "",
    batch: int = 32,
    seed: int = 0,
) -> Any:
    """Make an evaluator that a ``SentenceTransformerTrainer`` calls with the model as it is.

    It returns the figures of the diagnostic's first table as ``NAME_diagnostic_quantity``, with the subset and the
    condition after it where there are some: ``mine_retrieval_Success@5``, ``mine_minimal_pairs_similarity_antonym``. A
    figure that is undefined is NaN, which the trainer never takes for the best. ``primary_metric`` and
    ``greater_is_better`` are set; ``metric_for_best_model="eval_" + evaluator.primary_metric`` chooses a checkpoint.
    ``primary_metric`` is None where neither more nor less of the headline is better.

    Parameters
    ----------
    corpus
        A source, or a corpus from :func:`embassay.load`; for ``shift`` a pair of them, ``(domain, general)``.
    diagnostic
        Its name, with options.
    quantity
        The figure to choose by: what stands after ``NAME_diagnostic_``; the diagnostic's headline by default.
    name
        What the names of the figures begin with; the corpus's label by default, of a pair the domain's.
    batch
        Texts that go through the model together.
    seed
        Of every random draw.

    Raises
    ------
    InputError
        If corpus and diagnostic do not fit, or the figure is not there or no one to choose by.
    """
    if batch < 1:
        raise SpecError(f"batch must be 1 or more, is {batch}")
    corpora, spec = _corpora_and_diagnostic(corpus, diagnostic)
    watched = _Watched(corpora, spec, Draws(seed, RESAMPLES))
    # A stand-in for the model: what is wrong is said now, and not after an hour of training.
    figures = watched.figures(load_encoder(STAND_IN))
    if quantity and quantity not in figures.values:
        raise UnknownNameError(f"quantity of diagnostic {diagnostic!r}", quantity, figures.values)
    neither = meaning_of(spec.head).neither
    if quantity.startswith(neither):
        raise SpecError(f"quantity {quantity!r}: neither more nor less of it is better, so it chooses no checkpoint")
    if not quantity and not figures.headline.startswith(neither):
        quantity = figures.headline
    kind: Any = _evaluator_class()
    return kind(watched, name or corpora[0].name, quantity, batch)


def live_model(model: Any, batch: int = 32) -> LiveEncoder:
    """Return a ``SentenceTransformer`` in training as an encoder, with its own prompt for each role.

    Parameters
    ----------
    batch
        Texts that go through the model together.
    """
    methods = {"query": "encode_query", "document": "encode_document", "text": "encode"}
    prompts = by_role(getattr(model, "prompts", None) or {}, getattr(model, "default_prompt_name", None))

    def vectors(texts: Sequence[str], role: Role) -> Any:
        encode = getattr(model, methods[role])
        return encode(
            list(texts), prompt=prompts[role], batch_size=batch, show_progress_bar=False, convert_to_numpy=True
        )

    by_dot_product = str(getattr(model, "similarity_fn_name", None)) == "dot"
    return LiveEncoder(vectors, "dot" if by_dot_product else "cosine")


def _corpora_and_diagnostic(
    corpus: Source | tuple[Source, Source], diagnostic: str
) -> tuple[tuple[Corpus[Any], ...], Spec]:
    """Load the corpora; return them and the diagnostic, which gets the labels of a pair as options."""
    sources = corpus if isinstance(corpus, tuple) else (corpus,)
    spec = parse(diagnostic, "diagnostic")
    if spec.head == PAIRED and len(sources) != 2:
        raise SpecError(
            f"diagnostic {PAIRED!r} needs two corpora, the domain's and a general one: give a pair (domain, general)"
        )
    if spec.head != PAIRED and len(sources) != 1:
        raise SpecError(f"diagnostic {spec.head!r} looks at one corpus; a pair (domain, general) is for {PAIRED!r}")
    loaded = tuple(source if isinstance(source, Corpus) else load_corpus(source) for source in sources)
    if spec.head == PAIRED:
        domain, general = loaded
        spec = replace(spec, options={**spec.options, "domain": domain.name, "general": general.name})
    return loaded, spec


@dataclass(frozen=True)
class _Watched:
    """One diagnostic on one corpus, or on a pair."""

    corpora: tuple[Corpus[Any], ...]
    diagnostic: Spec
    draws: Draws

    def figures(self, encoder: Encoder) -> Figures[float]:
        """Return the figures of the diagnostic's first table; NaN where undefined.

        Raises
        ------
        SpecError
            If there is none.
        """
        result = assay_one(encoder, self.corpora, self.diagnostic, self.draws)
        ((diagnostic, layout),) = layouts(result).items()
        rows = {(row.quantity, row.subset, row.condition): row for row in reversed(result.rows) if row.encoder}
        values = {}
        for column in layout.headline.columns:
            row = rows.get((column.quantity, column.subset, column.condition))
            if row is not None:
                values[_name(row)] = float("nan") if row.value is None else row.value
        if not values:
            raise SpecError(f"diagnostic {diagnostic!r} has no figure of its first table on this corpus")
        headline = headline_row(result)
        if headline is None or _name(headline) not in values:
            return Figures(values, next(iter(values)))
        return Figures(values, _name(headline))


def _name(row: Row) -> str:
    """Return quantity, subset and condition as one word."""
    return joined_name(row).replace(" ", "_")


@cache
def _evaluator_class() -> type:
    """Return the class of the evaluator; sentence-transformers is imported for it.

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

        def __init__(self, watched: _Watched, name: str, quantity: str, batch: int):
            super().__init__()
            self.watched, self.name, self.batch = watched, name, batch
            diagnostic = watched.diagnostic.head
            self.prefix = f"{name}_{diagnostic}"
            self.primary_metric = f"{self.prefix}_{quantity}" if quantity else None
            self.greater_is_better = not quantity.startswith(meaning_of(diagnostic).lower)

        def __call__(
            self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1
        ) -> dict[str, float]:
            """Return the figures of the model as it is."""
            figures = self.watched.figures(live_model(model, self.batch))
            metrics = {f"{self.prefix}_{name}": value for name, value in figures.values.items()}
            self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
            return metrics

        @property
        def description(self) -> str:
            """The name in the trainer's own model card."""
            return f"Embassay: {self.watched.diagnostic.head}"

    return DiagnosticEvaluator
