"""How many questions does it take: the minimum detectable difference of a finished run, and the size for another one.

All figures come from one formula, :class:`~embassay.stats.detectable.Precision`, and never from an observed difference:
a difference that was observed is too large as often as it is too small, and a plan for it would be a guess.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from embassay.comparison.gate import candidates_in
from embassay.comparison.margins import headline_margins
from embassay.comparison.runs import StoredRun, StoredTask, figures_of, read_run
from embassay.errors import SpecError, UnknownNameError
from embassay.formatting import POINTS
from embassay.layout import Format
from embassay.metrics.key import MetricKey
from embassay.metrics.metric import headline_columns
from embassay.metrics.summary import Figures
from embassay.result import MIN_UNITS, Comparison, Role, Verdict
from embassay.stats.detectable import POWER, Precision, precision_of_values
from embassay.stats.gate import items_for
from embassay.stats.noninferiority import ItemMetric
from embassay.stats.permutation import corrected

if TYPE_CHECKING:
    from polars import DataFrame

TARGETS = (0.05, 0.02)
"""The margins of a gate that are planned for: the first that the test set cannot rule out yet."""
GROWTH = (1, 2, 4, 8)
"""The sizes of the curve, as multiples of the present number of units."""
ROLES: dict[Role, str] = {
    "reference": "the reference",
    "baseline": "the best lexical baseline",
    "second_baseline": "bm25",
    "part": "the best of what it is built on",
}
"""The opponents of the pairs of interest, by their role, which is the family of the comparison."""


@dataclass(frozen=True)
class SizePoint:
    """One point of the curve of minimum detectable difference against size."""

    units: int
    items: int
    difference: float


@dataclass(frozen=True)
class PairPlan:
    """What it takes to tell two encoders apart on one metric.

    Attributes
    ----------
    against
        What ``b`` is: the reference, the best lexical baseline, bm25.
    heading, format
        How the metric is called and written.
    difference, low, high
        The present difference, a − b, with its 95 % interval; for orientation only.
    minimum_detectable_difference
        Of this run, at the power that was asked for; None under 10 units, or where the difference does not vary.
    curve
        The same for more units like these.
    units_estimated
        How many units the difference that was named takes if the variance is the one that this run shows; None without
        such a difference.
    units_needed, items_needed
        The same with the upper 80 % limit of the variance.
    freedom
        The degrees of freedom of the variance: how well this run, as a pilot, knows it.
    """

    diagnostic: str
    corpus: str
    a: str
    b: str
    against: str
    heading: str
    format: Format
    difference: float | None
    low: float | None
    high: float | None
    units: int
    items: int
    minimum_detectable_difference: float | None = None
    curve: tuple[SizePoint, ...] = ()
    units_estimated: int | None = None
    units_needed: int | None = None
    items_needed: int | None = None
    freedom: float | None = None

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
    run: str | Path, difference: float | None = None, *, power: float = POWER, diagnostics: Sequence[str] = ()
) -> SizePlan:
    """Return which differences a finished run can show, and how many items another one takes.

    Parameters
    ----------
    run
        The run's folder.
    difference
        The true difference to plan for, as a fraction: 0.03 is 3 points.
    power
        The probability that it becomes significant; 0.8 by default.
    diagnostics
        Only these; all if empty.

    Returns
    -------
    One entry for each pair of interest; ``.table()`` is a frame of them.

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
    of_task = [one for one in run.result.comparisons if (one.diagnostic, one.corpus) == task.name]
    others = dict[MetricKey, ItemMetric]()
    if not all(map(verdict.ranks_by, of_task)):
        others = _other_metrics(figures)
    # The best part of a set-up may be the reference or a baseline, too.
    once = {(one.a, one.b, one.key): one for one in reversed(of_task) if one.family in ROLES}
    for comparison in reversed(once.values()):
        is_headline = verdict.ranks_by(comparison)
        metric = headline if is_headline else others.get(comparison.key.within_diagnostic)
        if metric is None:
            continue
        role = cast("Role", comparison.family)
        heading, style = column.heading, column.format
        stated = None
        if is_headline:
            stated = verdict.opponent(role, comparison.a).difference(comparison.a).smallest_difference
        else:
            heading = str(replace(comparison.key.within_diagnostic, similarity_function=""))
            style = "percent" if metric.of_shares else "number"
        pair = PairPlan(
            diagnostic=task.diagnostic,
            corpus=task.corpus,
            a=comparison.a,
            b=comparison.b,
            against=ROLES[role],
            heading=heading,
            format=style,
            difference=comparison.difference,
            low=comparison.low,
            high=comparison.high,
            units=comparison.units,
            items=comparison.items,
        )
        family = [one for one in of_task if (one.family, one.key) == (comparison.family, comparison.key)]
        precision = _precision(metric, comparison, _tests_at_step(comparison, family), stated, power)
        if precision is not None:
            pair = _with_precision(pair, precision, difference)
        yield pair


def _with_precision(pair: PairPlan, precision: Precision, difference: float | None) -> PairPlan:
    """Return the plan with the differences that more units would show, and how many units a difference takes.

    What is still to be collected is planned with the upper 80 % limit of the variance.
    """
    sure = precision.sure
    sizes = [precision, *(sure.with_units(growth * precision.units) for growth in GROWTH[1:])]
    pair = replace(
        pair,
        minimum_detectable_difference=precision.minimum_detectable_difference,
        curve=tuple(SizePoint(one.units, one.items, one.minimum_detectable_difference) for one in sizes),
        freedom=precision.freedom,
    )
    if difference is None:
        return pair
    return replace(
        pair,
        units_estimated=precision.units_needed(difference),
        units_needed=sure.units_needed(difference),
        items_needed=sure.items_needed(difference),
    )


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


def _tests_at_step(comparison: Comparison, family: Sequence[Comparison]) -> int:
    """Return how many tests Holm's correction counts at the step of a comparison, as in the run."""
    _, steps = corrected({(one.a, one.b): one.p for one in family if one.p is not None})
    return steps.get((comparison.a, comparison.b), 1)


def _precision(
    metric: ItemMetric, comparison: Comparison, tests: int, stated: float | None, power: float
) -> Precision | None:
    """Return the precision of one pair; None under ``MIN_UNITS`` units, or where nothing varies.

    Parameters
    ----------
    stated
        The minimum detectable difference that the run states, at a power of 80 %; None where it states none, as for
        every metric but the headline.
    power
        The power that is planned for.
    """
    if comparison.units < MIN_UNITS:
        return None
    precision = precision_of_values(
        metric.values[comparison.a],
        metric.values[comparison.b],
        metric.unit,
        of_shares=metric.of_shares,
        tests=tests,
    )
    if precision is None:
        return None
    if stated is not None:
        # Report and plan must not contradict each other, so the error is scaled to the minimum that the run states. The
        # two differ for localization: its accuracy is a mean over folds, whose error is not quite that of the mean over
        # sentences.
        precision = replace(precision, error=precision.error * stated / precision.minimum_detectable_difference)
    return replace(precision, power=power)


def _reason(run: StoredRun, task: StoredTask) -> str:
    """Return why there is no plan for a task."""
    figures = figures_of(task)
    if _verdict(run, task) is None or figures is None or figures.headline() is None:
        return "it does not rank encoders"
    return "the run has one candidate and no lexical baseline, so there is no pair to compare"
