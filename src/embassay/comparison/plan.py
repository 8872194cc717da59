"""How many questions does it take: the smallest difference that a finished run shows, and the size for another one.

All figures come from one formula, :class:`~embassay.stats.detectable.Precision`, and never from an observed difference:
a difference that was observed is too large as often as it is too small, and a plan for it would be a guess.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from embassay.comparison.differences import Pair
from embassay.comparison.gate import default_margin, headlines_of, sampled_corpora
from embassay.comparison.runs import StoredRun, read_run
from embassay.core.errors import SpecError, UnknownNameError
from embassay.core.formatting import POINTS
from embassay.core.layout import Format
from embassay.core.result import Result
from embassay.stats.detectable import POWER
from embassay.stats.gate import items_for

if TYPE_CHECKING:
    from polars import DataFrame

NO_PAIR = "the run has one candidate and no lexical baseline, so there is no pair to compare"
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
    for task in stored.tasks:
        if diagnostics and task[0] not in diagnostics:
            continue
        pairs_of_task = list(_plan_task(stored, task, difference, power))
        if not pairs_of_task:
            is_ranking = any(column.is_headline for column in stored.columns if column.task == task)
            reason = NO_PAIR if is_ranking else "it does not rank encoders"
            notes.append(f"{' on '.join(task)}: {reason}")
        pairs += pairs_of_task
    gates = tuple(gate for gate in _gates(stored) if not diagnostics or gate.diagnostic in diagnostics)
    return SizePlan(stored.name, difference, power, tuple(pairs), tuple(notes), gates)


def _gates(run: StoredRun) -> Iterator[GatePlan]:
    """Yield what a gate takes for a smaller margin, on the documents of the user."""
    sampled = sampled_corpora(run, "given")
    for column in headlines_of(run):
        margin = default_margin(column, sampled=False)
        target = next((target for target in TARGETS if target < margin), None)
        if target is not None and column.of_shares and column.key.corpus not in sampled:
            more = float(f"{items_for(target) - column.defined:.2g}")
            yield GatePlan(*column.task, margin, target, int(more))


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


def _plan_task(run: StoredRun, task: tuple[str, str], difference: float | None, power: float) -> Iterator[PairPlan]:
    """Yield the plan of each pair of interest on one corpus, for each metric that the run compared.

    Parameters
    ----------
    difference, power
        As in :func:`plan`.
    """
    columns = [column for column in run.columns if column.task == task]
    for comparison in run.result.comparisons:
        of_metric = [column for column in columns if column.key.covers(comparison.key)]
        old, new = (
            next((column for column in of_metric if column.encoder == label), None)
            for label in (comparison.b, comparison.a)
        )
        if old is None or new is None:
            continue
        name = str(replace(new.key.within_diagnostic, similarity_function=""))
        pair = PairPlan(
            diagnostic=comparison.diagnostic,
            corpus=comparison.corpus,
            a=comparison.a,
            b=comparison.b,
            family=comparison.family,
            heading=new.heading if new.is_headline else name,
            format=new.format if new.is_headline else "percent" if new.of_shares else "number",
            difference=comparison.difference,
            low=comparison.low,
            high=comparison.high,
            items=comparison.items,
        )
        pool = [column.value for column in of_metric if column.is_base]
        precision = Pair(old, new, pair.name, name, 0.0).precision(pool, comparison.pairs_in_family)
        if precision is not None:
            precision = replace(precision, power=power)
            larger = [precision.grown(growth) for growth in GROWTH]
            pair = replace(
                pair,
                smallest_difference=precision.smallest_difference,
                curve=tuple(SizePoint(one.items, one.smallest_difference) for one in larger),
                items_needed=None if difference is None else precision.items_needed(difference),
            )
        yield pair
