"""Rows, comparisons, ranks and item values of the metrics that a diagnostic declares.

A diagnostic has two steps (:class:`~embassay.core.types.Diagnostic`). ``score`` turns one encoder's vectors into
:class:`~embassay.core.types.ItemScores`; ``summarise`` turns the scores of all encoders into a result. With declared
metrics the second step is :meth:`Figures.summarise`, to which a diagnostic adds what is special: series, findings, rows
of computed figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
    rows_of,
)
from embassay.core.types import Draws, ItemScores
from embassay.diagnostics.metrics.metric import WITHIN_ENCODER, Metric
from embassay.diagnostics.metrics.scoreboard import AnyView, pool_of, roles_of
from embassay.diagnostics.metrics.verdict import compared, effective_items, item_values, ranked, with_precision
from embassay.stats.correlate import MIN_ITEMS, Kind, correlate
from embassay.stats.families import Roles
from embassay.stats.folds import shares_over_folds
from embassay.stats.labels import Labels
from embassay.stats.resample import ABSENT, means
from embassay.stats.shares import bounded_means
from embassay.stats.units import Bools, Floats, Ints

Estimates = dict[tuple[str, MetricKey], Estimate]
"""Estimates by encoder and figure."""
ITEMS = ("item", "unit", "unit_labels")
"""What scores of the same items have in common."""


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


@dataclass(frozen=True)
class Figure(Generic[AnyView]):
    """A metric with one of its subsets, as one row for each encoder has it."""

    metric: Metric
    subset: str
    inside: Bools | None = None

    @property
    def key(self) -> MetricKey:
        """Metric, subset, similarity function (empty for that of the scores) and condition."""
        return MetricKey(self.metric.name, self.subset, self.metric.similarity_function, self.metric.condition)

    def items(self, view: AnyView) -> Floats | None:
        """Return the (n,) item values of an encoder: NaN is undefined, ``ABSENT`` an item that it is not about.

        None where the encoder has none: of sparse vectors, for example, a share may be missing; and of a metric whose
        rows the diagnostic makes itself.
        """
        values = cast(Floats | None, self.metric.of(view) if self.metric.of else None)
        if values is None or self.inside is None:
            return values
        return np.where(self.inside, values, ABSENT)


@dataclass(frozen=True)
class Figures(Generic[AnyView]):
    """The declared metrics of all encoders on one corpus.

    Attributes
    ----------
    views
        The diagnostic's own view of the scores of each encoder.
    metrics
        What it declares, with the values of its options.
    """

    views: tuple[AnyView, ...]
    metrics: tuple[Metric, ...]

    @classmethod
    def of(
        cls, view: Callable[[ItemScores], AnyView], scores: Sequence[ItemScores], metrics: Iterable[Metric]
    ) -> Figures[AnyView]:
        """Return the figures of some scores, seen through a diagnostic's view.

        Raises
        ------
        ValueError
            For scores of different items or units.
        """
        metrics, first = tuple(metrics), scores[0]
        # Figures that are no means over items, such as the isotropy of other passages, need no common items.
        needs_items = any(metric.kind != "computed" for metric in metrics)
        for one in scores[1:] if needs_items else ():
            if not all(np.array_equal(getattr(one, name), getattr(first, name)) for name in ITEMS):
                raise ValueError(
                    f"the scores of {one.origin.encoder} and {first.origin.encoder} are of different items"
                )
        return cls(tuple(view(one) for one in scores), metrics)

    @property
    def scores(self) -> list[ItemScores]:
        """The scores of all encoders."""
        return [view.scores for view in self.views]

    @property
    def requested(self) -> list[AnyView]:
        """The views of the encoders that were asked for; all of them where only baselines were run."""
        return [view for view in self.views if not view.is_baseline] or list(self.views)

    @cached_property
    def roles(self) -> Roles:
        """The role of each encoder in comparisons; see :func:`.scoreboard.roles_of`."""
        return roles_of(self.scores)

    @cached_property
    def figures(self) -> tuple[Figure[AnyView], ...]:
        """What the corpus has items for, in the order of the declarations; the same for all encoders."""
        figures = list[Figure[AnyView]]()
        # Metrics of the same subsets, one after the other, have their rows subset by subset.
        for subsets, group in groupby(self.metrics, key=attrgetter("subsets")):
            of_group = [Figure[AnyView](metric, metric.subset) for metric in group]
            present = [figure for figure in of_group if self.values(figure)]
            if subsets is None:
                figures += present
            elif present:
                for name, inside in subsets(self.views[0]):
                    figures += [replace(figure, subset=name, inside=inside) for figure in present]
        return tuple(figures)

    def values(self, figure: Figure[AnyView]) -> dict[str, Floats]:
        """Return the (n,) item values by encoder: of a correlation those that it is of."""
        values = {view.encoder: figure.items(view) for view in self.views}
        return {encoder: items for encoder, items in values.items() if items is not None}

    def present(self, figure: Figure[AnyView]) -> Bools:
        """Return (n,) which items a figure is about, for one encoder or more."""
        return np.asarray(np.any([items != ABSENT for items in self.values(figure).values()], axis=0))

    def defined(self, figure: Figure[AnyView]) -> dict[str, Floats]:
        """Return the values of the present items by encoder, all else NaN: what pairs are compared on."""
        present = self.present(figure)
        return {
            encoder: np.where(items == ABSENT, np.nan, items)[present] for encoder, items in self.values(figure).items()
        }

    def labels(self, present: Bools | None = None) -> Labels:
        """Return the unit labels of some items; of all by default."""
        labels = self.views[0].all_labels
        return labels if present is None else labels.of_items(present)

    # Rows

    def rows(self, draws: Draws) -> list[Row]:
        """Return the rows of all encoders, one encoder after the other."""
        estimates = self._estimates(draws)
        rows = list[Row]()
        for view in self.views:
            for figure in self.figures:
                metric = figure.metric
                of_figure: Any = estimates.get((view.encoder, figure.key))
                if metric.kind == "computed" and metric.of is not None:
                    of_figure = metric.of(view)
                if of_figure is None:
                    continue
                if isinstance(of_figure, Estimate):
                    of_figure = {figure.subset: of_figure}
                more = self.pool if metric.is_bounded else {}
                for subset, estimate in of_figure.items():
                    if estimate.value is None and metric.reason is not None:
                        estimate = replace(estimate, reason=metric.reason(view, estimate) or estimate.reason)
                    rows.append(
                        row(
                            view.scores,
                            draws,
                            metric.name,
                            subset,
                            estimate,
                            condition=metric.condition,
                            similarity_function=metric.similarity_function,
                            **more,
                        )
                    )
        return rows

    def _estimates(self, draws: Draws) -> Estimates:
        """Return the estimates of all figures that follow from items."""
        estimates: Estimates = {}
        # By the items that they are resampled on.
        resampled = dict[bytes, list[Figure[AnyView]]]()
        for figure in self.figures:
            metric = figure.metric
            of_figure = dict[str, Estimate]()
            if metric.kind == "correlation":
                x, kind = self._against(metric), cast(Kind, metric.correlation)
                inside = slice(None) if figure.inside is None else figure.inside
                unit = self.labels().label_set[inside]
                for view in self.views:
                    y = cast(Floats, figure.items(view))[inside]
                    of_figure[view.encoder] = correlate(x[inside], y, unit, kind, draws, *self.views[0].stream)
            elif metric.kind == "mean over folds":
                of_figure = shares_over_folds(self.values(figure), self._fold, self.labels())
            elif metric.is_bounded:
                base_systems, of_shares = self.roles.base_systems, metric.kind == "share"
                of_figure = bounded_means(self.values(figure), self.labels(), base_systems, of_shares=of_shares)
            elif metric.kind != "computed":
                present = self.present(figure)
                items = present if self.views[0].resamples_apart else np.ones_like(present)
                resampled.setdefault(items.tobytes(), []).append(figure)
            estimates |= {(encoder, figure.key): estimate for encoder, estimate in of_figure.items()}
        for of_items, figures in resampled.items():
            estimates |= self._means(figures, np.frombuffer(of_items, dtype=bool), draws)
        return estimates

    def _means(self, figures: Sequence[Figure[AnyView]], present: Bools, draws: Draws) -> Estimates:
        """Return means of values of any size; they share the resamples of these items."""

        def table(view: AnyView) -> Floats:
            return np.stack([cast(Floats, figure.items(view))[present] for figure in figures], axis=1)

        unit = self.labels(present).label_set
        # One table at a time, because those of all encoders together would take much memory.
        of_encoders = means(map(table, self.views), unit, draws, *self.views[0].stream)
        estimates = {}
        for view, of_encoder in zip(self.views, of_encoders, strict=True):
            for figure, estimate in zip(figures, of_encoder, strict=True):
                estimates[view.encoder, figure.key] = estimate
        return estimates

    @property
    def _fold(self) -> Ints:
        """The (n,) fold of each item of a mean over folds: the same for all encoders."""
        return self.views[0].scores.values["fold"].astype(np.int64)

    def _against(self, metric: Metric) -> Floats:
        """Return the (n,) values that a correlation is with: the same for all encoders."""
        return cast(Callable[[AnyView], Floats], metric.against)(self.views[0])

    @cached_property
    def pool(self) -> dict[str, str]:
        """A hash of the base systems' scores, for the signatures of bounded figures: where items share labels they rest
        on the n* of these systems.
        """
        return {"pool": pool_of(self.scores)} if self.labels().partners else {}

    # Comparisons and ranks

    @property
    def headline_figure(self) -> Figure[AnyView] | None:
        """What encoders are ranked by; None where the corpus has no such items, or nothing of them varies."""
        figure = next((figure for figure in self.figures if figure.metric.headline), None)
        if figure is not None and figure.metric.kind == "correlation":
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
        rows = self.rows(draws) if rows is None else rows
        first, roles = self.views[0].scores, replace(self.roles, all_pairs=on_request)
        place = {"diagnostic": first.origin.diagnostic, "corpus": first.origin.corpus}
        verdict = Verdict(
            **vars(MetricKey("", **place)),
            items=len(first.unit),
            units=self.labels().sets,
            candidates=roles.candidates,
            baseline=roles.lexical or "",
            reference=next(iter(roles.models), ""),
        )
        wanted = {"always", "on request"} if on_request else {"always"}
        figures = [figure for figure in self.figures if figure.metric.headline or figure.metric.compared in wanted]
        comparisons = list[Comparison]()
        for figure in sorted(figures, key=lambda figure: not figure.metric.headline):
            metric = figure.metric
            if metric.kind == "correlation" and np.count_nonzero(~np.isnan(self._against(metric))) < MIN_ITEMS:
                continue
            function = metric.similarity_function or first.similarity_function
            key, columns = replace(figure.key, similarity_function=function, **place), self._columns(figure)
            differences = compared(key, columns, roles, draws, *self.views[0].stream)
            if figure is self.headline_figure:
                chance = metric.chance(self.views[0]) if callable(metric.chance) else metric.chance
                pool = [item_values(columns[name]) for name in roles.base_systems if name in columns]
                number = effective_items(next(iter(columns.values())), pool)
                differences = with_precision(differences, columns, number)
                verdict = replace(verdict, **vars(key), chance=chance, effective_items=number)
                of_rows, is_right = rows_of(figure.key, rows), metric.undefined_is_wrong
                verdict = ranked(verdict, roles, columns, of_rows, differences, is_ranking_of_right=is_right)
            comparisons += differences
        return MetricSummary(draws, rows, comparisons, verdict)

    # Item values

    def headline(self) -> dict[str, ItemColumn]:
        """Return the item values of the headline by encoder; none where the corpus has none."""
        figure = self.headline_figure
        if figure is None:
            return {}
        columns = self._columns(figure)
        # Cosines that do not vary have no correlation, and so no influence on one.
        if figure.metric.correlation and all(np.isnan(item_values(column)).all() for column in columns.values()):
            return {}
        return columns

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
        for figure in sorted(self.figures, key=lambda figure: figure is not headline):
            metric = figure.metric
            if metric.kind == "computed" or metric.compared == WITHIN_ENCODER:
                continue
            # Of the figures of a correlation, only the headline is known to vary.
            if metric.kind == "correlation" and (figure.inside is not None or not self.headline_figure):
                continue
            is_headline = figure is headline
            margin = metric.margin if is_headline else None
            for column in self._columns(figure, contents).values():
                yield replace(column, documents=documents, is_headline=is_headline, margin=margin)

    def _columns(
        self, figure: Figure[AnyView], contents: Mapping[str, tuple[str, str]] | None = None
    ) -> dict[str, ItemColumn]:
        """Return the item values of a figure by encoder, as those of a headline; see :meth:`columns`."""
        metric, present = figure.metric, self.present(figure)
        labels, item = self.labels(present), self.views[0].scores.item[present]
        hashes = [(contents or {}).get(name, ("", name)) for name in item.tolist()]
        content, text = np.ascontiguousarray(np.array(hashes, dtype=np.str_).reshape(-1, 2).T)
        low, high = metric.range
        values, columns = self.defined(figure), dict[str, ItemColumn]()
        for view in self.views:
            if view.encoder not in values:
                continue
            origin = view.scores.origin
            columns[view.encoder] = ItemColumn(
                # Without the similarity function of the scores, which may be another one in another run.
                key=replace(figure.key, diagnostic=origin.diagnostic, corpus=origin.corpus),
                encoder=origin.encoder,
                fingerprint=origin.encoder_fingerprint,
                is_candidate=not origin.baseline and not origin.is_chance,
                is_base=origin.encoder in self.roles.base_systems,
                version=origin.version,
                options=origin.options,
                corpus_fingerprint=origin.corpus_fingerprint,
                documents="",
                stream=view.stream,
                heading=metric.heading or metric.name,
                format=metric.style,
                better=metric.better,
                low=low,
                high=high,
                margin=metric.margin,
                is_headline=True,
                kind=metric.kind,
                is_bounded=metric.is_bounded,
                correlation=metric.correlation,
                item=item,
                content=content,
                text=text,
                unit=labels.label_set,
                unit_labels=labels.pairs,
                value=values[view.encoder],
                against=self._against(metric) if metric.kind == "correlation" else np.zeros(0),
                fold=self._fold if metric.kind == "mean over folds" else np.zeros(0, dtype=np.int64),
            )
        return columns


@dataclass(frozen=True)
class MetricSummary:
    """Rows, comparisons and verdict of the declared metrics."""

    draws: Draws
    rows: list[Row]
    comparisons: list[Comparison]
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
        ).with_statements(findings)
