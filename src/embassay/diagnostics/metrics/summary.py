"""Rows, comparisons, ranks and item values of the metrics that a diagnostic declares.

A diagnostic has two steps (:class:`~embassay.core.types.Diagnostic`). ``score`` turns one encoder's vectors into
:class:`~embassay.core.types.ItemScores`; ``summarise`` turns the scores of all encoders into a result. With declared
metrics the second step is :meth:`Figures.summarise`, to which a diagnostic adds what is special: series, findings, rows
of computed figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any, Generic, cast

import numpy as np

from embassay.core.columns import ItemColumn
from embassay.core.metric_key import MetricKey
from embassay.core.result import (
    Comparison,
    Estimate,
    Finding,
    Result,
    Row,
    Series,
    Verdict,
    answers_and_findings,
    rows_of,
)
from embassay.core.types import Draws, ItemScores
from embassay.diagnostics.metrics.headline import Headline
from embassay.diagnostics.metrics.metric import WITHIN_ENCODER, Metric
from embassay.diagnostics.metrics.scoreboard import AnyView, Scoreboard, pool_of, without_baselines
from embassay.diagnostics.metrics.verdict import unranked, verdict
from embassay.stats.correlate import MIN_ITEMS, Kind, correlate, influences
from embassay.stats.exchange import compare_correlations
from embassay.stats.families import METHOD, PairedDifference, compare_means
from embassay.stats.folds import shares_over_folds
from embassay.stats.labels import Labels
from embassay.stats.resample import ABSENT, means
from embassay.stats.shares import bounded_means
from embassay.stats.units import Bools, Floats, Ints

FigureKey = tuple[str, str, str, str]
"""See :attr:`Figure.key`."""


def row(
    scores: ItemScores,
    draws: Draws,
    metric: str,
    subset: str,
    estimate: Estimate,
    condition: str = "",
    similarity_function: str = "",
    interval: str = "confidence",
    **more: str,
) -> Row:
    """Make a row of an estimate.

    Parameters
    ----------
    similarity_function
        The scores' own similarity function by default.
    interval
        What low and high are: ``confidence`` or ``exams``. A row without them gets ``none``.
    more
        What else the figure depends on, for its signature.
    """
    if estimate.low is None:
        interval = "none"
    return Row(
        diagnostic=scores.origin.diagnostic,
        corpus=scores.origin.corpus,
        encoder=scores.origin.encoder,
        subset=subset,
        similarity_function=similarity_function or scores.similarity_function,
        condition=condition,
        metric=metric,
        **vars(estimate),
        signature=scores.signature(draws, similarity_function, **more),
        interval=interval,
    )


def estimates_of(rows: Sequence[Row], headline: Headline) -> dict[str, Estimate]:
    """Return the estimates that the rows of a headline were made from, by encoder."""
    names = [field.name for field in fields(Estimate)]
    return {
        encoder: Estimate(**{name: getattr(row, name) for name in names})
        for encoder, row in rows_of(headline.key, rows).items()
    }


def comparisons(
    scores: ItemScores,
    metric: str,
    subset: str,
    differences: Sequence[PairedDifference],
    condition: str = "",
    similarity_function: str = "",
) -> tuple[Comparison, ...]:
    """Make the comparisons of one metric.

    Parameters
    ----------
    scores
        Those of any encoder: they name diagnostic, corpus and similarity function.
    """
    return tuple(
        Comparison(
            diagnostic=scores.origin.diagnostic,
            corpus=scores.origin.corpus,
            subset=subset,
            similarity_function=similarity_function or scores.similarity_function,
            condition=condition,
            metric=metric,
            a=pair.a,
            b=pair.b,
            difference=pair.difference,
            low=pair.low,
            high=pair.high,
            p=pair.p,
            p_holm=pair.p_adjusted,
            pairs_in_family=pair.tests,
            items=pair.items,
            units=pair.units,
            family=pair.family,
            step=pair.step.kind if pair.step else "",
            p_method=None if pair.p is None else METHOD,
            won=pair.won,
            lost=pair.lost,
        )
        for pair in differences
    )


@dataclass(frozen=True)
class Figure(Generic[AnyView]):
    """A metric with one of its subsets, as one row for each encoder has it."""

    metric: Metric
    subset: str
    inside: Bools | None = None

    @property
    def key(self) -> FigureKey:
        """Metric, subset, similarity function (empty for that of the scores) and condition."""
        return self.metric.name, self.subset, self.metric.similarity_function, self.metric.condition

    def is_of(self, view: AnyView) -> bool:
        """Return whether an encoder has it: of sparse vectors, for example, a share may be missing."""
        return self.metric.kind != "share" or self.metric.of is None or self.metric.of(view) is not None

    def items(self, view: AnyView) -> Floats:
        """Return the (n,) item values of an encoder; NaN is undefined, ``ABSENT`` an item that is not of the subset."""
        assert self.metric.of is not None  # noqa: S101 - only such metrics become figures
        values = np.asarray(self.metric.of(view))
        if self.inside is None:
            return values
        return np.where(self.inside, values, ABSENT)

    def defined_items(self, view: AnyView) -> Floats:
        """Return the (n,) item values with NaN for those of no interest, too: what pairs are compared on."""
        values = self.items(view)
        return np.where(values == ABSENT, np.nan, values)


@dataclass(frozen=True)
class Figures(Generic[AnyView]):
    """The declared metrics of all encoders on one corpus.

    Attributes
    ----------
    board
        The scores of all encoders.
    views
        The diagnostic's own view of the scores of each.
    metrics
        What it declares, with the values of its options.
    """

    board: Scoreboard
    views: tuple[AnyView, ...]
    metrics: tuple[Metric, ...]

    @classmethod
    def of(
        cls, view: Callable[[ItemScores], AnyView], scores: Sequence[ItemScores], metrics: Iterable[Metric]
    ) -> Figures[AnyView]:
        """Return the figures of some scores, seen through a diagnostic's view."""
        board, metrics = Scoreboard(tuple(scores)), tuple(metrics)
        # Figures that are no means over items, such as the isotropy of other passages, need no common items.
        if any(metric.kind != "computed" for metric in metrics):
            board.check_items()
        return cls(board, tuple(view(s) for s in board.scores), metrics)

    @property
    def requested(self) -> list[AnyView]:
        """The views of the encoders that were asked for; see :func:`.scoreboard.without_baselines`."""
        return without_baselines(self.views)

    @cached_property
    def figures(self) -> tuple[Figure[AnyView], ...]:
        """What the corpus has items for, in the order of the declarations; the same for all encoders."""
        first = self.views[0]
        figures = list[Figure[AnyView]]()
        # Metrics of the same subsets, one after the other, have their rows subset by subset.
        for subsets, group in groupby(self.metrics, key=attrgetter("subsets")):
            present = [metric for metric in group if self._is_present(metric)]
            if subsets is None:
                figures += [Figure(metric, metric.subset) for metric in present]
            elif present:
                figures += [Figure(metric, name, inside) for name, inside in subsets(first) for metric in present]
        return tuple(figures)

    def _is_present(self, metric: Metric) -> bool:
        """Return whether some encoder has items for a metric whose rows are made here."""
        if metric.of is None:
            return False
        return metric.kind == "computed" or any(metric.of(view) is not None for view in self.views)

    def values(self, figure: Figure[AnyView]) -> dict[str, Floats]:
        """Return the (n,) item values by encoder: of a correlation those that it is of."""
        return {view.encoder: figure.defined_items(view) for view in self.views if figure.is_of(view)}

    def places(self, metric: Metric) -> Ints | None:
        """Return the places of a metric's items in the scores; None for all."""
        return None if metric.places is None else metric.places(self.views[0])

    def labels(self, metric: Metric) -> Labels:
        """Return the unit labels of a metric's n items."""
        places = self.places(metric)
        return self.board.labels if places is None else self.board.labels.of_items(places)

    # Rows

    def rows(self, draws: Draws) -> list[Row]:
        """Return the rows of all encoders, one encoder after the other."""
        estimates = {**self._bounded_means(), **self._means(draws)}
        rows = list[Row]()
        for view in self.views:
            for figure in self.figures:
                if not figure.is_of(view):
                    continue
                metric, more = figure.metric, dict[str, str]()
                if (view.encoder, figure.key) in estimates:
                    of_figure: Mapping[str, Estimate] = {figure.subset: estimates[view.encoder, figure.key]}
                    if metric.is_bounded and self.labels(metric).partners:
                        more["pool"] = self._pools[metric.values]
                elif metric.kind == "correlation":
                    of_figure = {figure.subset: self._correlation(figure, view, draws)}
                else:
                    of_figure = _computed(figure, view)
                for subset, estimate in of_figure.items():
                    rows.append(
                        row(
                            self._parts[view.encoder, metric.values],
                            draws,
                            metric.name,
                            subset,
                            self._with_reason(figure, view, estimate),
                            condition=metric.condition,
                            similarity_function=metric.similarity_function,
                            **more,
                        )
                    )
        return rows

    def _with_reason(self, figure: Figure[AnyView], view: AnyView, estimate: Estimate) -> Estimate:
        """Return the estimate with the reason that the metric gives where it has no value."""
        if estimate.value is not None or figure.metric.reason is None:
            return estimate
        inside = figure.inside
        if inside is None:
            inside = np.ones(self.labels(figure.metric).items, dtype=bool)
        return replace(estimate, reason=figure.metric.reason(view, inside, estimate) or estimate.reason)

    def _bounded_means(self) -> dict[tuple[str, FigureKey], Estimate]:
        """Return the shares and the means of values in [0, 1] by encoder and figure, which share one n*."""
        base_systems = self.board.roles().base_systems
        estimates = dict[tuple[str, FigureKey], Estimate]()
        for figure in self.figures:
            metric = figure.metric
            if not metric.is_bounded:
                continue
            values = {view.encoder: figure.items(view) for view in self.views if figure.is_of(view)}
            if metric.kind == "mean over folds":
                of_figure = shares_over_folds(values, self._folds(metric), self.labels(metric))
            else:
                of_figure = bounded_means(values, self.labels(metric), base_systems, of_shares=metric.kind == "share")
            for encoder, estimate in of_figure.items():
                estimates[encoder, figure.key] = estimate
        return estimates

    def _folds(self, metric: Metric) -> Ints:
        """Return the (n,) fold of each item of a mean over folds: the same for all encoders."""
        return cast(Callable[[AnyView], Ints], metric.folds)(self.views[0])

    def _means(self, draws: Draws) -> dict[tuple[str, FigureKey], Estimate]:
        """Return the other means by encoder and figure; they share the resamples."""
        estimates = dict[tuple[str, FigureKey], Estimate]()
        for figures in self._by_places():
            # One table at a time, because those of all encoders together would take much memory.
            tables = (np.stack([figure.items(view) for figure in figures], axis=1) for view in self.views)
            unit = self.labels(figures[0].metric).label_set
            of_encoders = means(tables, unit, draws, *self.board.stream)
            for view, of_encoder in zip(self.views, of_encoders, strict=True):
                for figure, estimate in zip(figures, of_encoder, strict=True):
                    estimates[view.encoder, figure.key] = estimate
        return estimates

    def _by_places(self) -> list[list[Figure[AnyView]]]:
        """Return the figures that are means of values of any size, those of the same items together."""
        groups = dict[Callable[[Any], Ints | None] | None, list[Figure[AnyView]]]()
        for figure in self.figures:
            if figure.metric.kind == "mean" and not figure.metric.is_bounded:
                groups.setdefault(figure.metric.places, []).append(figure)
        return list(groups.values())

    def _correlation(self, figure: Figure[AnyView], view: AnyView, draws: Draws) -> Estimate:
        """Return a correlation of the items of a figure."""
        x, y, unit = self._against(figure.metric), figure.items(view), self.labels(figure.metric).label_set
        if figure.inside is not None:
            x, y, unit = x[figure.inside], y[figure.inside], unit[figure.inside]
        return correlate(x, y, unit, _correlation_of(figure.metric), draws, *self.board.stream)

    def _against(self, metric: Metric) -> Floats:
        """Return the (n,) values that a correlation is with: the same for all encoders."""
        return cast(Callable[[AnyView], Floats], metric.against)(self.views[0])

    @cached_property
    def _parts(self) -> dict[tuple[str, tuple[str, ...]], ItemScores]:
        """The parts of each encoder's scores that figures are computed from; each computes a digest of its arrays."""
        return {
            (view.encoder, values): view.scores.part(*values) if values else view.scores
            for view in self.views
            for values in {metric.values for metric in self.metrics if metric.of is not None}
        }

    @cached_property
    def _pools(self) -> dict[tuple[str, ...], str]:
        """Hashes of the scores of the base systems, for the signatures of bounded figures: they rest on their n*."""
        of_bounded = {metric.values for metric in self.metrics if metric.is_bounded}
        return {values: pool_of([self._parts[view.encoder, values] for view in self.views]) for values in of_bounded}

    # Comparisons and ranks

    def differences(self, figure: Figure[AnyView], draws: Draws, *, all_pairs: bool) -> tuple[PairedDifference, ...]:
        """Return the paired differences of the encoders in one figure, each pair once."""
        metric, roles = figure.metric, self.board.roles(all_pairs)
        values, labels, stream = self.values(figure), self.labels(metric), self.board.stream
        if metric.kind == "correlation":
            x = self._against(metric)
            if np.count_nonzero(~np.isnan(x)) < MIN_ITEMS:
                return ()
            return compare_correlations(x, values, labels, _correlation_of(metric), roles, draws, *stream)
        return compare_means(
            values,
            labels,
            roles,
            draws,
            *stream,
            of_shares=metric.kind in ("share", "mean over folds"),
            is_bounded=metric.is_bounded,
            fold=self._folds(metric) if metric.kind == "mean over folds" else None,
        )

    def compared(self, *, on_request: bool) -> list[Figure[AnyView]]:
        """Return the figures that pairs of encoders are compared on, the headline first."""
        wanted = {"always", "on request"} if on_request else {"always"}
        compared = [figure for figure in self.figures if figure.metric.headline or figure.metric.compared in wanted]
        return sorted(compared, key=lambda figure: not figure.metric.headline)

    @property
    def headline_figure(self) -> Figure[AnyView] | None:
        """What encoders are ranked by; None where the corpus has no such items, or nothing of them varies."""
        figure = next((figure for figure in self.figures if figure.metric.headline), None)
        if figure is None:
            return None
        if figure.metric.kind == "correlation":
            x = self._against(figure.metric)
            defined = x[~np.isnan(x)]
            if len(defined) < MIN_ITEMS or np.ptp(defined) == 0:
                return None
        return figure

    def summarise(self, draws: Draws, *, on_request: bool = False, rows: list[Row] | None = None) -> MetricSummary:
        """Return rows, comparisons and verdict.

        Parameters
        ----------
        on_request
            Whether to compare what is compared on request only, and all pairs of encoders.
        rows
            Those of a diagnostic that makes them in its own way; by default those of the metrics.
        """
        if rows is None:
            rows = self.rows(draws)
        headline = self.headline_figure
        compared, of_headline = list[Comparison](), tuple[PairedDifference, ...]()
        for figure in self.compared(on_request=on_request):
            differences = self.differences(figure, draws, all_pairs=on_request)
            name, subset, similarity_function, condition = figure.key
            compared += comparisons(self.board[0], name, subset, differences, condition, similarity_function)
            if figure is headline:
                of_headline = differences
        return MetricSummary(draws, rows, compared, of_headline, self._verdict(rows, of_headline))

    def _verdict(self, rows: Sequence[Row], differences: Sequence[PairedDifference]) -> Verdict:
        """Return the ranking by the headline; that of no ranking without one."""
        figure = self.headline_figure
        if figure is None:
            return unranked(self.board)
        headline = self._headline(figure)
        chance = figure.metric.chance
        return verdict(
            self.board,
            headline,
            estimates_of(rows, headline),
            differences,
            chance=chance(self.views[0]) if callable(chance) else chance,
            is_ranking_of_right=figure.metric.undefined_is_wrong,
        )

    # Item values

    def headline(self) -> Headline | None:
        """Return the item values of the headline for all encoders; None where the corpus has none."""
        figure = self.headline_figure
        if figure is None:
            return None
        headline = self._headline(figure)
        # Cosines that do not vary have no correlation, and so no influence on one.
        if figure.metric.kind == "correlation" and all(np.isnan(items).all() for items in headline.values.values()):
            return None
        return headline

    def _headline(self, figure: Figure[AnyView]) -> Headline:
        """Return the item values of the headline, which may all be undefined."""
        metric, values = figure.metric, self.values(figure)
        if metric.kind == "correlation":
            x, kind = self._against(metric), _correlation_of(metric)
            values = {encoder: influences(x, y, kind) for encoder, y in values.items()}
        return Headline(
            MetricKey(*figure.key),
            cast(float, metric.margin),
            values,
            self.labels(metric),
            of_shares=metric.kind in ("share", "mean over folds"),
            is_bounded=metric.is_bounded,
            places=self.places(metric),
        )

    def columns(self, contents: Mapping[str, tuple[str, str]], documents: str) -> Iterator[ItemColumn]:
        """Yield the item values of each encoder in each metric that is a mean over items or a correlation.

        What has no common scale between encoders is left out: its difference says nothing.

        Parameters
        ----------
        contents
            The hashes of each item of the corpus by its id: of its content, and of its texts alone.
        documents
            A hash of the documents that are searched; empty where there are none.
        """
        headline = self.headline_figure if self.headline() else None
        # Of the figures of a correlation, only the headline is known to vary.
        figures = [figure for figure in self.figures if figure.metric.kind != "correlation" or self.headline_figure]
        base_systems = self.board.roles().base_systems
        for figure in sorted(figures, key=lambda figure: figure is not headline):
            metric, labels = figure.metric, self.labels(figure.metric)
            is_correlation = metric.kind == "correlation"
            is_computed = metric.kind == "computed" or metric.compared == WITHIN_ENCODER
            if is_computed or (is_correlation and figure.inside is not None):
                continue
            places = self.places(metric)
            item = self.board.item if places is None else self.board.item[places]
            hashes = [contents.get(name, ("", name)) for name in item.tolist()]
            content, text = np.ascontiguousarray(np.array(hashes, dtype=np.str_).reshape(-1, 2).T)
            low, high = metric.range
            for view in filter(figure.is_of, self.views):
                origin = view.scores.origin
                yield ItemColumn(
                    # Without the similarity function of the scores, which may be another one in another run.
                    key=MetricKey(*figure.key, origin.diagnostic, origin.corpus),
                    encoder=origin.encoder,
                    fingerprint=origin.encoder_fingerprint,
                    is_candidate=not origin.baseline and not origin.is_chance,
                    is_base=origin.encoder in base_systems,
                    version=origin.version,
                    options=origin.options,
                    corpus_fingerprint=origin.corpus_fingerprint,
                    documents=documents,
                    stream=self.board.stream,
                    heading=metric.heading or metric.name,
                    format=metric.style,
                    better=metric.better,
                    low=low,
                    high=high,
                    margin=metric.margin if figure is headline else None,
                    is_headline=figure is headline,
                    kind=metric.kind,
                    is_bounded=metric.is_bounded,
                    correlation=metric.correlation,
                    item=item,
                    content=content,
                    text=text,
                    unit=labels.label_set,
                    unit_labels=labels.pairs,
                    value=figure.defined_items(view),
                    against=self._against(metric) if is_correlation else np.zeros(0),
                    fold=self._folds(metric) if metric.kind == "mean over folds" else np.zeros(0, dtype=np.int64),
                )


def _correlation_of(metric: Metric) -> Kind:
    """Return which correlation a metric of that kind is."""
    return cast(Kind, metric.correlation)


def _computed(figure: Figure[AnyView], view: AnyView) -> Mapping[str, Estimate]:
    """Return the estimates of a computed metric by subset."""
    assert figure.metric.of is not None  # noqa: S101 - only such metrics become figures
    computed = figure.metric.of(view)
    if isinstance(computed, Estimate):
        return {figure.subset: computed}
    return cast(Mapping[str, Estimate], computed)


@dataclass(frozen=True)
class MetricSummary:
    """Rows, comparisons and verdict of the declared metrics, and the differences of the headline.

    Attributes
    ----------
    differences
        The paired differences of all families on the headline.
    """

    draws: Draws
    rows: list[Row]
    comparisons: list[Comparison]
    differences: tuple[PairedDifference, ...]
    verdict: Verdict

    @cached_property
    def row_of(self) -> dict[tuple[str, ...], Row]:
        """The rows by encoder, metric, subset and condition."""
        return {(row.encoder, row.metric, row.subset, row.condition): row for row in self.rows}

    @property
    def headline(self) -> dict[str, Row]:
        """By encoder the row of the metric that the verdict ranks by; empty if it ranks by none."""
        return rows_of(self.verdict.key, self.rows)

    def result(self, series: Iterable[Series] = (), findings: Iterable[Finding] = ()) -> Result:
        """Return the result of the diagnostic on the corpus, with what it has beside its metrics."""
        return Result(
            self.draws.seed,
            self.draws.resamples,
            rows=tuple(self.rows),
            comparisons=tuple(self.comparisons),
            series=tuple(series),
            verdicts=(self.verdict,),
            **answers_and_findings(findings),
        )
