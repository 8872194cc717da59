"""How many questions does it take: the smallest difference that a finished run shows, and the size for another one.

All figures come from one formula, :class:`~embassay.stats.detectable.Precision`, and never from an observed difference:
a difference that was observed is too large as often as it is too small, and a plan for it would be a guess.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from embassay.comparison.runs import StoredRun, read_run
from embassay.core.errors import SpecError
from embassay.core.layout import Format
from embassay.core.result import Comparison, Result
from embassay.diagnostics.metrics.verdict import effective_items, precision_of
from embassay.stats.detectable import POWER, Precision

if TYPE_CHECKING:
    from polars import DataFrame

NO_PAIR = "there is no pair to compare: it does not rank encoders, or the run has one candidate and no lexical baseline"
GROWTH = (1, 2, 4, 8)
"""The sizes of the curve, as multiples of the present number of items."""


@dataclass(frozen=True)
class PairPlan:
    """What it takes to tell two encoders apart on one metric.

    Attributes
    ----------
    comparison
        The two encoders with their present difference, for orientation only; the smallest difference that this run
        shows at the power of the plan; the difference that is planned for, and about how many items it takes (None
        without one, or out of reach).
    heading, format
        How the metric is called and written.
    curve
        The precision of these items, and of more items like these; empty where they are too few, or the difference
        does not vary.
    """

    comparison: Comparison
    heading: str
    format: Format
    curve: tuple[Precision, ...] = ()


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
    """

    difference: float | None
    power: float
    pairs: tuple[PairPlan, ...]
    notes: tuple[str, ...]

    def table(self) -> DataFrame:
        """Return the pairs as a polars frame, without the curve."""
        import polars

        return polars.DataFrame([vars(pair.comparison) for pair in self.pairs], infer_schema_length=None)


def plan(run: str | Path | Result, difference: float | None = None, *, power: float = POWER) -> SizePlan:
    """Return which differences a finished run can show, and how many items another one takes.

    Parameters
    ----------
    run
        The run's folder, or its result.
    difference
        The true difference to plan for, as a fraction: 0.03 is 3 points.
    power
        The probability that it becomes significant; 0.8 by default.

    Returns
    -------
    One entry for each pair that the run compares; ``.table()`` is a frame of them.

    Raises
    ------
    SpecError
        For a difference or a power outside (0, 1).
    SourceError
        If the run cannot be read.

    Examples
    --------
    >>> result = ea.assay("bow", "handbook", "retrieval")
    >>> ea.plan(result, 0.05).table()["a"].to_list()
    ['bow']
    """
    for name, value in (("difference", difference), ("power", power)):
        if value is not None and not 0 < value < 1:
            raise SpecError(f"{name} must be above 0 and below 1, is {value:g}; 3 points are 0.03")
    stored = read_run(run)
    pairs = list(_pairs(stored, difference, power))
    planned = {(pair.comparison.diagnostic, pair.comparison.corpus) for pair in pairs}
    notes = [f"{' on '.join(task)}: {NO_PAIR}" for task in stored.tasks if task not in planned]
    return SizePlan(difference, power, tuple(pairs), tuple(notes))


def _pairs(run: StoredRun, difference: float | None, power: float) -> Iterator[PairPlan]:
    """Yield the plan of each pair and metric that the run compared; for the parameters see :func:`plan`."""
    for comparison in run.result.comparisons:
        of_metric = {column.encoder: column for column in run.columns if column.key.covers(comparison.key)}
        if not of_metric.keys() >= {comparison.a, comparison.b}:
            continue
        old, new = of_metric[comparison.b], of_metric[comparison.a]
        name = new.heading if new.is_headline else str(replace(new.key.within_diagnostic, similarity_function=""))
        pool = [column.value for column in of_metric.values() if column.is_base]
        precision = precision_of(new, old, effective_items(new, pool), comparison.pairs_in_family)
        curve, smallest, needed = tuple[Precision, ...](), None, None
        if precision is not None:
            precision = replace(precision, power=power)
            curve, smallest = tuple(map(precision.grown, GROWTH)), precision.smallest_difference
            needed = None if difference is None else precision.items_needed(difference)
        planned = replace(comparison, smallest_difference=smallest, target=difference, items_needed=needed)
        yield PairPlan(planned, name, new.format, curve)
