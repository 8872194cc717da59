"""A diagnostic watched while somebody trains: an evaluator for sentence-transformers' trainer.

evaluator = ea.evaluator("edits", "minimal_pairs")
SentenceTransformerTrainer(model=model, evaluator=evaluator, …)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.diagnostics.base import meaning_of
from embassay.encoders.neural.prompts import by_role
from embassay.errors import MissingExtraError, SpecError, UnknownNameError
from embassay.result import Result, Row
from embassay.run.execute import execute
from embassay.run.pages import layouts
from embassay.run.plan import prepare
from embassay.run.request import RunRequest
from embassay.run.resolve import load_corpus, load_encoder
from embassay.run.specs import Spec, parse
from embassay.samples.base import Role
from embassay.types import Card, Corpus, Encoder
from embassay.vectors import Similarity

LABEL = "model"
PAIRED = "shift"
"""The diagnostic that sets two corpora side by side."""
Source = str | Corpus[Any]
RESAMPLES = 100
"""Of every bootstrap: the intervals are not shown."""


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
    watch = _Watch(*_understood(corpus, diagnostic), seed, batch)
    # A stand-in for the model: what is wrong is said now, and not after an hour of training.
    figures, headline = watch.figures(load_encoder("random,dim=8"))
    if quantity and quantity not in figures:
        raise UnknownNameError(f"quantity of diagnostic {diagnostic!r}", quantity, figures)
    neither = meaning_of(watch.diagnostic.head).neither
    if quantity.startswith(neither):
        raise SpecError(f"quantity {quantity!r}: neither more nor less of it is better, so it chooses no checkpoint")
    kind: Any = _evaluator()
    return kind(watch, name or watch.corpora[0].name, quantity or ("" if headline.startswith(neither) else headline))


def _understood(corpus: Source | tuple[Source, Source], diagnostic: str) -> tuple[tuple[Corpus[Any], ...], Spec]:
    """Return the corpora, loaded, and the diagnostic with the labels of a pair."""
    sources, spec = corpus if isinstance(corpus, tuple) else (corpus,), parse(diagnostic, "diagnostic")
    if len(sources) != (2 if spec.head == PAIRED else 1):
        raise SpecError(
            f"diagnostic {PAIRED!r} needs two corpora, the domain's and a general one: give a pair (domain, general)"
            if spec.head == PAIRED
            else f"diagnostic {spec.head!r} looks at one corpus; a pair (domain, general) is for {PAIRED!r}"
        )
    loaded = tuple(source if isinstance(source, Corpus) else load_corpus(source) for source in sources)
    labels = dict(zip(("domain", "general"), (c.name for c in loaded), strict=True)) if len(loaded) == 2 else {}
    return loaded, replace(spec, options={**spec.options, **labels})


@dataclass(frozen=True)
class LiveModel:
    """A model in training as an encoder: no cache, its own prompts for each role.

    Attributes
    ----------
    model
        A ``SentenceTransformer``.
    batch
        Texts that go through it together.
    """

    model: Any
    batch: int = 32
    name: str = LABEL
    fingerprint: str = "live"

    @property
    def card(self) -> Card:
        """What the model compares by; its vectors are never kept."""
        own = str(getattr(self.model, "similarity_fn_name", None) or "cosine")
        similarity: Similarity = "dot" if own == "dot" else "cosine"
        return Card("live", cached=False, similarity=similarity)

    def fit(self, texts: Sequence[str]) -> Encoder:
        """Return itself: nothing is learnt."""
        return self

    def encode(self, texts: Sequence[str], role: Role = "text") -> NDArray[np.float32]:
        """Return (n, d) float32, each text with its role's prompt."""
        way = {"query": "encode_query", "document": "encode_document", "text": "encode"}[role]
        own, default = (getattr(self.model, name, None) for name in ("prompts", "default_prompt_name"))
        rows = getattr(self.model, way)(
            list(texts),
            prompt=by_role(own or {}, default)[role],
            batch_size=self.batch,
            show_progress_bar=False,
            convert_to_numpy=True,
        )
        return np.asarray(rows, dtype=np.float32)


@dataclass(frozen=True)
class _Watch:
    """One diagnostic on one corpus, or on a pair."""

    corpora: tuple[Corpus[Any], ...]
    diagnostic: Spec
    seed: int
    batch: int

    def figures(self, encoder: Encoder) -> tuple[Mapping[str, float], str]:
        """Return the figures of the diagnostic's first table by name, and the name of its headline."""
        request = RunRequest(
            [encoder],
            self.corpora,
            [self.diagnostic],
            seed=self.seed,
            resamples=RESAMPLES,
            baselines=False,
            quiet=True,
        )
        outcome = execute(prepare(request), workers=1)
        outcome.check()
        return _figures(outcome.result)


def _figures(result: Result) -> tuple[dict[str, float], str]:
    """Return (figures by name, the headline's name) of a result of one encoder and one diagnostic."""
    (diagnostic,) = layouts(result)
    columns = layouts(result)[diagnostic].headline.columns
    found: dict[str, float] = {}
    for column in columns:
        wanted = (column.quantity, column.subset, column.condition)
        row = next((r for r in result.rows if (r.quantity, r.subset, r.condition) == wanted and r.encoder), None)
        if row is not None:
            found[_name(row)] = float("nan") if row.value is None else row.value
    if not found:
        raise SpecError(f"diagnostic {diagnostic!r} has no figure of its first table on this corpus")
    verdict = result.verdicts[0]
    headline = next(
        (
            _name(row)
            for row in result.rows
            if (row.quantity, row.subset, row.condition) == (verdict.quantity, verdict.subset, verdict.condition)
        ),
        "",
    )
    return found, headline if headline in found else next(iter(found))


def _name(row: Row) -> str:
    """Return quantity, subset and condition as one word; what goes without saying is left out."""
    parts = (row.quantity, "" if row.subset == "all" else row.subset, row.condition)
    return "_".join(part.replace(":", "_").replace(" ", "_") for part in parts if part)


@cache
def _evaluator() -> type:
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

        def __init__(self, watch: _Watch, name: str, quantity: str):
            super().__init__()
            self.watch, self.name = watch, name
            self.prefix = f"{name}_{watch.diagnostic.head}"
            self.primary_metric = f"{self.prefix}_{quantity}" if quantity else None
            self.greater_is_better = not quantity.startswith(meaning_of(watch.diagnostic.head).lower)

        def __call__(
            self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1
        ) -> dict[str, float]:
            """Return the figures of the model as it is."""
            found, _ = self.watch.figures(LiveModel(model, self.watch.batch))
            metrics = {f"{self.prefix}_{name}": value for name, value in found.items()}
            self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
            return metrics

        @property
        def description(self) -> str:
            """What stands in the trainer's own model card."""
            return f"Embassay: {self.watch.diagnostic.head}"

    return DiagnosticEvaluator
