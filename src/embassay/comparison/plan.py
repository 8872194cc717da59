"""How many questions does it take: the smallest difference that a finished run shows, and the size for another one.

All figures come from one formula, :class:`~embassay.stats.detectable.Precision`, and never from an observed difference:
a difference that was observed is too large as often as it is too small, and a plan for it would be a guess.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embassay.comparison.gate import candidates_in
from embassay.comparison.margins import headline_margins
from embassay.comparison.runs import StoredRun, StoredTask, figures_of, read_run
from embassay.core.errors import SpecError, UnknownNameError
from embassay.core.formatting import POINTS
from embassay.core.layout import Format
from embassay.core.metric_key import MetricKey
from embassay.core.result import Comparison, Result, Verdict
from embassay.diagnostics.metrics.item_metric import ItemMetric
from embassay.diagnostics.metrics.metric import headline_columns
from embassay.diagnostics.metrics.summary import Figures
from embassay.stats.detectable import POWER, Precision
from embassay.stats.gate import items_for
from embassay.stats.labels import effective_number

if TYPE_CHECKING:
    from polars import DataFrame

TARGETS = (0.05, 0.02)
"""The margins of a gate that are planned for: the first that the test set cannot rule out yet."""
GROWTH = (1, 2, 4, 8)
"""The sizes of the curve, as multiples of the present number of items."""


@dataclass(frozen=True)
class SizePoint:
    """One point of the curve of smallest difference against size."""

    items: int
    difference: float


@dataclass(frozen=True)
class PairPlan:
    """What it takes to tell two encoders apart on one metric.

    Attributes
    ----------
    family
        Why the pair is compared, as in :class:`~embassay.core.result.Comparison`.
    heading, format
        How the metric is called and written.
    difference, low, high
        The present difference, a − b, with its 95 % interval; for orientation only.
    smallest_difference
        The smallest true difference that this run shows at the power that was asked for; None where the items are too
        few, or the difference does not vary.
    curve
        The same for more items like these.
    items_needed
        About how many items the difference that was named takes; None without such a difference, or out of reach.
    """

    diagnostic: str
    corpus: str
    a: str
    b: str
    family: str
    heading: str
    format: Format
    difference: float | None
    low: float | None
    high: float | None
    items: int
    smallest_difference: float | None = None
    curve: tuple[SizePoint, ...] = ()
    items_needed: int | None = None

    @property
    def name(self) -> str:
        """What the pair is called: ``new against old``."""
        return f"{self.a} against {self.b}"


@dataclass(frozen=True)
class GatePlan:
    """How many more items a gate takes for a smaller margin.

    Attributes
    ----------
    margin
        What this test set can rule out.
    target
        The smaller margin.
    more
        About how many more items; two digits.
    """

    diagnostic: str
    corpus: str
    margin: float
    target: float
    more: int


@dataclass(frozen=True)
class SizePlan:
    """How large the test sets of a run have to be.

    Attributes
    ----------
    difference
        The true difference that is planned for; None for none.
    power
        The probability that it becomes significant; 0.8 by default.
    notes
        Diagnostics without a plan, and why.
    gates
        What a gate takes, for each headline that is a share.
    """

    run: str
    difference: float | None
    power: float
    pairs: tuple[PairPlan, ...]
    notes: tuple[str, ...]
    gates: tuple[GatePlan, ...] = ()

    def table(self) -> DataFrame:
        """Return the pairs as a polars frame, without the curve."""
        import polars

        rows = []
        for pair in self.pairs:
            row = dict(vars(pair))
            del row["curve"]
            rows.append(row)
        return polars.DataFrame(rows, infer_schema_length=None)


def plan(
    run: str | Path | Result, difference: float | None = None, *, power: float = POWER, diagnostics: Sequence[str] = ()
) -> SizePlan:
    """Return which differences a finished run can show, and how many items another one takes.

    Parameters
    ----------
    run
        The run's folder, or its result.
    difference
        The true difference to plan for, as a fraction: 0.03 is 3 points.
    power
        The probability that it becomes significant; 0.8 by default.
    diagnostics
        Only these; all if empty.

    Returns
    -------
    One entry for each pair that the run compares; ``.table()`` is a frame of them.

    Raises
    ------
    SpecError
        For a difference or a power outside (0, 1).
    SourceError
        If the run cannot be read.
    UnknownNameError
        If the run does not have one of the diagnostics.
    """
    check_share("difference", difference)
    check_share("power", power)
    stored = read_run(run)
    names = list(dict.fromkeys(name for name, _ in stored.tasks))
    for name in diagnostics:
        if name not in names:
            raise UnknownNameError("diagnostic", name, names)
    pairs: list[PairPlan] = []
    notes: list[str] = []
    for task in stored.tasks.values():
        if diagnostics and task.diagnostic not in diagnostics:
            continue
        pairs_of_task = list(_plan_task(stored, task, difference, power))
        if not pairs_of_task:
            notes.append(f"{task.diagnostic} on {task.corpus}: {_reason(stored, task)}")
        pairs += pairs_of_task
    gates = tuple(gate for gate in _gates(stored) if not diagnostics or gate.diagnostic in diagnostics)
    return SizePlan(stored.name, difference, power, tuple(pairs), tuple(notes), gates)


def _gates(run: StoredRun) -> Iterator[GatePlan]:
    """Yield what a gate takes for a smaller margin, on the documents of the user."""
    for headline in headline_margins(run, candidates_in(run), "given"):
        target = next((target for target in TARGETS if target < headline.margin), None)
        if target is None or not headline.of_shares or headline.sampled:
            continue
        more = float(f"{items_for(target) - headline.items:.2g}")
        yield GatePlan(headline.key.diagnostic, headline.key.corpus, headline.margin, target, int(more))


def check_share(name: str, value: float | None) -> None:
    """Refuse a number that is no share between 0 and 1.

    Raises
    ------
    SpecError
        For such a number.
    """
    if value is None or 0 < value < 1:
        return
    hint = ""
    if name == "difference" and 1 <= value < 100:
        hint = f"; {value:g} {POINTS} are {value / 100:g}"
    raise SpecError(f"{name} must be above 0 and below 1, is {value:g}{hint}")


def _plan_task(run: StoredRun, task: StoredTask, difference: float | None, power: float) -> Iterator[PairPlan]:
    """Yield the plan of each pair of interest on one corpus, for each metric that the run compared.

    Parameters
    ----------
    difference, power
        As in :func:`plan`.
    """
    verdict = _verdict(run, task)
    figures = figures_of(task)
    headline = None if figures is None else figures.headline()
    if verdict is None or figures is None or headline is None:
        return
    column = headline_columns(run.result)[task.diagnostic]
    others = dict[MetricKey, ItemMetric]()
    of_task = [one for one in run.result.comparisons if (one.diagnostic, one.corpus) == task.name]
    if not all(map(verdict.ranks_by, of_task)):
        others = _other_metrics(figures)
    base_systems = figures.board.roles().base_systems
    for comparison in of_task:
        heading, style = column.heading, column.format
        metric: ItemMetric = headline
        if not verdict.ranks_by(comparison):
            other = others.get(comparison.key.within_diagnostic)
            if other is None:
                continue
            metric = other
            heading = str(replace(comparison.key.within_diagnostic, similarity_function=""))
            style = "percent" if metric.of_shares else "number"
        pair = PairPlan(
            diagnostic=task.diagnostic,
            corpus=task.corpus,
            a=comparison.a,
            b=comparison.b,
            family=comparison.family,
            heading=heading,
            format=style,
            difference=comparison.difference,
            low=comparison.low,
            high=comparison.high,
            items=comparison.items,
        )
        precision = _precision(metric, comparison, base_systems, power)
        if precision is not None:
            pair = replace(
                pair,
                smallest_difference=precision.smallest_difference,
                curve=tuple(_point(precision.grown(growth)) for growth in GROWTH),
                items_needed=None if difference is None else precision.items_needed(difference),
            )
        yield pair


def _point(precision: Precision) -> SizePoint:
    """Return the point of the curve at a size."""
    return SizePoint(precision.items, precision.smallest_difference)


def _verdict(run: StoredRun, task: StoredTask) -> Verdict | None:
    """Return the verdict of a task that ranks encoders; None if it does not."""
    for verdict in run.result.verdicts:
        if (verdict.diagnostic, verdict.corpus) == task.name and verdict.metric:
            return verdict
    return None


def _other_metrics(figures: Figures[Any]) -> dict[MetricKey, ItemMetric]:
    """Return the item values of each metric that is a mean over items."""
    metrics = dict[MetricKey, ItemMetric]()
    for metric in figures.item_metrics():
        similarity_function = metric.similarity_function or figures.board[0].similarity_function
        metrics[replace(metric.key, similarity_function=similarity_function)] = metric
    return metrics


def _precision(
    metric: ItemMetric, comparison: Comparison, base_systems: Sequence[str], power: float
) -> Precision | None:
    """Return the precision of one pair; None where the items are too few, or where nothing varies."""
    number = None
    if metric.is_bounded:
        pool = [metric.values[name] for name in base_systems if name in metric.values]
        number = effective_number(metric.labels, pool, of_shares=metric.of_shares)
    gaps = metric.values[comparison.a] - metric.values[comparison.b]
    precision = Precision.of(gaps, metric.labels, number, comparison.pairs_in_family)
    return replace(precision, power=power) if precision else None


def _reason(run: StoredRun, task: StoredTask) -> str:
    """Return why there is no plan for a task."""
    figures = figures_of(task)
    if _verdict(run, task) is None or figures is None or figures.headline() is None:
        return "it does not rank encoders"
    return "the run has one candidate and no lexical baseline, so there is no pair to compare"
