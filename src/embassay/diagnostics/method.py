"""The base of a method: what it stores of each item, and METRICS of that; everything else follows from these two."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from embassay.core.claims import LIMIT, Template
from embassay.core.errors import SpecError
from embassay.core.result import Example, Finding, Result, Row, Series
from embassay.core.types import Corpus, Draws, ItemScores, Origin
from embassay.core.vectors import Vectors
from embassay.diagnostics.base import BaseDiagnostic, Outcomes
from embassay.diagnostics.findings import against_chance, written
from embassay.diagnostics.metrics.metric import Metric
from embassay.diagnostics.metrics.scoreboard import View
from embassay.diagnostics.metrics.summary import Figures, MetricSummary
from embassay.diagnostics.published import Paper
from embassay.stats.units import Bools, Floats, Ints

Shown = tuple[Mapping[str, float], Mapping[str, str]]
"""Numbers and labels of an item by name: NaN and infinity are not shown."""
Stored = Mapping[str, NDArray[Any] | float]
"""What is stored of n items by name: (n,) or (n, k) numbers, (n,) texts, and numbers that belong to no single item."""
UNDEFINED = Template(
    "{encoder} has no value: {row.reason}.",
    "every item is undefined",
    LIMIT,
    title="Undefined",
    kind="headline",
    question="{question}",
    severity="medium",
)


def item_scores(
    origin: Origin, stored: Stored, *, item: Sequence[str], unit: Ints, similarity_function: str = "cosine"
) -> ItemScores:
    """Return the scores of an encoder; numbers that are NaN and belong to no item are left out."""
    numbers, texts, scalars = dict[str, Floats](), dict[str, NDArray[np.str_]](), dict[str, float]()
    for name, content in stored.items():
        if not isinstance(content, np.ndarray):
            scalars[name] = content
        elif content.dtype.kind == "U":
            texts[name] = content
        else:
            numbers[name] = content
    return ItemScores(
        origin,
        similarity_function=similarity_function,
        item=np.array(item),
        unit=unit,
        labels=texts,
        values=numbers,
        scalars={name: number for name, number in scalars.items() if not np.isnan(number)},
    )


def need_within(diagnostic: str, options: object, **ranges: tuple[float, float]) -> None:
    """Check that options are within their lowest and highest value.

    Raises
    ------
    SpecError
        For the first one that is not.
    """
    for name, (low, high) in ranges.items():
        value = getattr(options, name)
        if not low <= value <= high:
            raise SpecError(f"diagnostic {diagnostic!r}, option {name!r}: must be {low} to {high}, is {value:g}")


def by_label(labels: NDArray[np.str_], prefix: str = "", *, alone: bool = False) -> Iterator[tuple[str, Bools]]:
    """Yield the name and the (n,) mask of each label that is not empty.

    A single label has the row of all items again, so it is left out, except with ``alone``.
    """
    names = np.unique(labels).tolist()
    if alone or len(names) > 1:
        yield from ((f"{prefix}{name}", labels == name) for name in names if name)


@dataclass(frozen=True)
class ItemView(View):
    """One encoder's items. A subclass says which are right and by how much, and what a browser of items shows."""

    @property
    def subset(self) -> NDArray[np.str_]:
        """(n,) the part of the corpus that each item belongs to: the label of this name; empty for none."""
        return self.scores.labels.get("subset", np.full(len(self.scores.item), ""))

    @property
    def right(self) -> Floats:
        """(n,) 1 right, 0 wrong; NaN for items without right and wrong."""
        return self.undefined

    @property
    def margin(self) -> Floats:
        """(n,) how clearly each item is right: the value of this name; NaN for none."""
        return self.scores.values.get("margin", self.undefined)

    def shown(self, index: int) -> Shown:
        """Return numbers and labels of an item by name."""
        return {}, {}


@dataclass(frozen=True, kw_only=True)
class Method(BaseDiagnostic):
    """A method: a subclass sets ``shape``, ``view`` and ``metrics`` and defines ``values``.

    Attributes
    ----------
    compare
        Which metrics are compared pair by pair: the ``headline``, or ``all`` that can be.
    shape, view, metrics
        The shape of corpus that it needs, its view of an encoder's scores, and what it measures.
    chances
        Sentences about the headline and its chance; see :func:`.findings.than_chance`.
    published
        The file of the paper whose figures stand beside those of a run.
    similarity_function
        What its closeness values are.
    """

    compare: Literal["headline", "all"] = "headline"
    shape: ClassVar[str]
    view: ClassVar[type[View]]
    metrics: ClassVar[tuple[Metric, ...]]
    chances: ClassVar[Mapping[str, Template]] = {}
    published: ClassVar[str] = ""
    similarity_function: ClassVar[str] = "cosine"

    @property
    def options(self) -> str:
        """The options that change item scores, as text for their origin."""
        return ""

    def values(self, corpus: Corpus[Any], vectors: Vectors) -> Stored:
        """Return what is stored of one encoder's items."""
        raise NotImplementedError

    def rows(self, figures: Figures[Any], draws: Draws) -> list[Row]:
        """Return all rows: those of the metrics, and what else is measured."""
        return figures.rows(draws)

    def series(self, figures: Figures[Any], summary: MetricSummary) -> Iterable[Series]:
        """Return curves and tables beside the metrics."""
        return ()

    def findings(self, figures: Figures[Any], summary: MetricSummary) -> Iterable[Finding]:
        """Return how the headline of each encoder that was asked for compares with chance."""
        metric, rows = figures.headline_figure, summary.headline
        if metric is None or not self.chances:
            return []
        return [self.than_chance(view, metric.metric, rows[view.encoder]) for view in figures.requested]

    def than_chance(
        self,
        view: Any,
        metric: Metric,
        row: Row,
        template: Template | None = None,
        about: Row | None = None,
        **fields: Any,
    ) -> Finding:
        """Return how a row of an encoder compares with the chance of its metric.

        Parameters
        ----------
        template, about
            A more special sentence and the row that it is about, where there is one.
        fields
            Further fields of the sentence.
        """
        if row.value is None:
            return UNDEFINED.finding(row, encoder=view.encoder, row=row, question=self.chances["above"].question)
        chance = metric.chance(view) if callable(metric.chance) else metric.chance or 0.0
        if template is None:
            template = self.chances[against_chance(row, chance)]
        undefined = ""
        if row.undefined:
            undefined = f"; {row.undefined:,} of {row.undefined + row.items:,} are undefined"
        return template.finding(
            about or row,
            style=metric.style,
            encoder=view.encoder,
            value=written(row, metric.style),
            items=row.items,
            chance=chance,
            undefined=undefined,
            **fields,
        )

    def score(self, corpus: Corpus[Any], vectors: Vectors, origin: Origin) -> ItemScores:
        """Store the values of each sample."""
        return self.stored(corpus, origin, self.values(corpus, vectors))

    def stored(self, corpus: Corpus[Any], origin: Origin, values: Stored) -> ItemScores:
        """Return the scores of an encoder, an item for each sample."""
        ids = [sample.id for sample in corpus.samples]
        of = self.similarity_function
        scores = item_scores(origin, values, item=ids, unit=corpus.units, similarity_function=of)
        return replace(scores, unit_labels=corpus.unit_labels)

    def figures(self, scores: Sequence[ItemScores]) -> Figures[Any]:
        """Return the declared metrics of all encoders."""
        return Figures.of(self.view, scores, self.metrics)

    def summarise(self, scores: Sequence[ItemScores], draws: Draws) -> Result:
        """Summarise all encoders on one corpus."""
        figures = self.figures(scores)
        summary = figures.summarise(draws, on_request=self.compare == "all", rows=self.rows(figures, draws))
        series, findings = list(self.series(figures, summary)), list(self.findings(figures, summary))
        if self.published:
            origins = [view.scores.origin for view in figures.requested]
            paper = Paper(self.published, summary.verdict, summary.rows, origins)
            series += paper.beside()
            findings += paper.findings()
        return summary.result(series, findings)


@dataclass(frozen=True, kw_only=True)
class ItemMethod(Method):
    """A method that shows single items; its view is an :class:`ItemView`."""

    view: ClassVar[type[ItemView]]
    shows_items = True

    def outcomes(self, scores: Sequence[ItemScores]) -> Outcomes:
        """Return which of the encoders that were asked for are right about each item."""
        requested = self.figures(scores).requested
        return Outcomes(requested[0].subset, np.stack([view.right for view in requested]))

    def examples(self, corpus: Corpus[Any], scores: Sequence[ItemScores], items: Ints) -> Iterator[Example]:
        """Yield the record of each item, and after it what each encoder makes of it."""
        views, shown = self.figures(scores).views, self.shows(corpus)
        # Each property is computed once for all items.
        columns = [(view.right, view.margin) for view in views]
        for index in items.tolist():
            outcomes = [shown(view, index) for view in views]
            texts, labels = self.texts(corpus, index, [of_encoder for _, of_encoder in outcomes])
            record = Example(
                diagnostic=scores[0].origin.diagnostic,
                corpus=scores[0].origin.corpus,
                encoder="",
                item=str(scores[0].item[index]),
                kind="item",
                texts=texts,
                values={},
                subset=str(views[0].subset[index]),
                labels=labels,
            )
            yield record
            for view, (right, margin), (values, of_encoder) in zip(views, columns, outcomes, strict=True):
                yield replace(
                    record,
                    encoder=view.encoder,
                    kind="outcome",
                    texts={},
                    values={name: float(value) for name, value in values.items() if np.isfinite(value)},
                    labels=of_encoder,
                    # Anything else is undecided, a share of a tie included.
                    correct={1.0: True, 0.0: False}.get(float(right[index])),
                    margin=float(margin[index]) if np.isfinite(margin[index]) else None,
                )

    def shows(self, corpus: Corpus[Any]) -> Callable[[Any, int], Shown]:
        """Return what shows an item of an encoder's view: its numbers and labels by name."""
        return lambda view, index: view.shown(index)

    def texts(
        self, corpus: Corpus[Any], index: int, outcomes: Sequence[Mapping[str, str]]
    ) -> tuple[dict[str, str], Mapping[str, str]]:
        """Return the texts of an item by name, and what is right where that is the same for every encoder.

        Parameters
        ----------
        outcomes
            The labels that are shown of each encoder.
        """
        return corpus.shown(corpus.samples[index]), {}
