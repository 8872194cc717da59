"""The sentences of a check: the figure, its interval, the margin, and the smallest loss that could have been seen."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from embassay.comparison.runs import figures_of, read_run
from embassay.findings import templates
from embassay.formatting import counted, difference_format, interval, number, p_value, visible
from embassay.layout import Format
from embassay.metrics.metric import headline_columns
from embassay.result import MIN_UNITS
from embassay.stats.noninferiority import CHANGED, possible_margin

if TYPE_CHECKING:
    from embassay.comparison.gate import Check, Floor
    from embassay.comparison.losses import LossTest, Outcome

MEANINGS: dict[Outcome, str] = {
    "regression": "significantly worse",
    "inconclusive": "inconclusive",
    "pass": "not worse by the margin",
}
"""What the outcomes of tests mean, the worst first."""


@dataclass(frozen=True)
class Line:
    """A metric or a floor of a check in words; all outputs are made of these.

    Attributes
    ----------
    record
        The metric or floor.
    name
        What is checked: ``Success@5``, ``floor Success@5``.
    old, new, change
        The figures of the baseline and of the run, and the change with its interval. A floor has no old figure, and
        its interval is that of the value.
    limit
        The margin, floor or ceiling.
    """

    record: LossTest | Floor
    name: str
    old: str
    new: str
    change: str
    limit: str
    sentence: str

    @property
    def passed(self) -> bool:
        """Whether the outcome is ``pass``."""
        return self.record.outcome == "pass"


def lines_of(check: Check) -> list[Line]:
    """Return a line for each metric, then one for each floor."""
    return [_change_line(change) for change in check.changes] + [_floor_line(floor) for floor in check.floors]


def what_a_baseline_shows(folder: Path) -> Iterator[str]:
    """Yield for each headline which loss a check can rule out, and whether its margin can pass.

    How much two versions of a model differ is assumed for shares, and unknown for other metrics.

    Parameters
    ----------
    folder
        That of the baseline.
    """
    run = read_run(folder)
    columns = headline_columns(run.result)
    for task in run.tasks.values():
        figures = figures_of(task)
        headline = None if figures is None else figures.headline()
        if headline is None:
            continue
        column = columns[task.diagnostic]
        of = {"heading": column.heading, "diagnostic": task.diagnostic, "corpus": visible(task.corpus)}
        if not headline.of_shares:
            yield f"{templates.BASELINE_ALONE.sentence(**of)}."
            continue
        defined = ~np.isnan(np.stack(list(headline.values.values()))).any(axis=0)
        unit = headline.unit[defined]
        possible = possible_margin(unit)
        if possible is None:
            continue
        size = f"{counted(len(unit), 'item')} in {counted(len(np.unique(unit)), 'unit')}"
        margin = number(headline.margin, "points")
        its_margin = templates.MARGIN_CAN_PASS.sentence(margin=margin)
        if possible > headline.margin:
            # Rounded up to a whole point.
            whole = math.ceil(100 * possible) / 100
            its_margin = templates.MARGIN_WILL_FAIL.sentence(margin=margin, metric=column.metric, possible=whole)
        sentence = templates.BASELINE_SHOWS.sentence(
            **of, size=size, possible=number(possible, "points"), changed=CHANGED, margin=its_margin
        )
        yield f"{sentence}."


def failures_of(check: Check) -> list[str]:
    """Return a sentence for each failure."""
    return [f"failed: {failure}" for failure in check.failures]


def summary(check: Check) -> str:
    """Return the outcome of a check and how often each outcome occurs, in one sentence."""
    counts = "; ".join(_counts(check))
    text = f"{check.outcome}: {counts}"
    if check.outcome == "inconclusive" and check.inconclusive:
        text += f" (inconclusive counts as {check.inconclusive})"
    return text


def _change_line(change: LossTest) -> Line:
    """Return the line of a metric."""
    style = _format(change)
    old, new = number(change.old, style), number(change.new, style)
    margin = _size(change, change.margin)
    change_style = difference_format(style)
    difference = _with_interval(number(change.change, change_style, signed=True), change, change_style)
    # The same encoder with the same scores; other encoders with equal scores have an interval.
    if change.unchanged:
        difference = "nothing changed"
    course = f"{new}, nothing changed" if change.unchanged else f"{old} → {new}, change {difference}"
    sentence = f"{change.outcome}: {change.encoder}, {change.metric} on {change.corpus}{_since(change)}: "
    if change.change is None:
        sentence += f"{templates.NOTHING_TO_COMPARE.sentence(margin=margin)}."
    else:
        sentence += f"{course}{_undefined(change)}; {_reason(change, margin)} ({_smallest_loss(change)})."
    return Line(change, change.name, old, new, difference, f"margin {margin}", sentence)


def _since(change: LossTest) -> str:
    """Return what a metric is compared with, unless it is the baseline: `` since the anchor of 2026-03-14``."""
    if change.since == "baseline":
        return ""
    of_day = f" of {change.anchor_day}" if change.anchor_day else ""
    return f" since the anchor{of_day}"


def _floor_line(floor: Floor) -> Line:
    """Return the line of a floor."""
    value = number(floor.value, "number")
    limits = interval(floor.low, floor.high, "number")
    limit, direction, verb = f"floor of {floor.floor:g}", "floor", "misses"
    if floor.lower_is_better:
        limit, direction, verb = f"ceiling of {floor.floor:g} (lower is better)", "at most", "exceeds"
    if floor.outcome == "pass":
        verb = "keeps"
    sentence = f"{floor.outcome}: {floor.encoder}, {floor.metric} on {floor.corpus}: "
    if floor.value is None:
        sentence += f"no value ({floor.reason}), so the {limit} is missed."
    else:
        written = _with_interval(value, floor, "number")
        sentence += f"{templates.FLOOR.sentence(value=written, verb=verb, limit=limit)}."
    return Line(floor, f"floor {floor.metric}", "", value, limits, f"{direction} {floor.floor:g}", sentence)


def _with_interval(value: str, of: LossTest | Floor, style: Format) -> str:
    """Return a figure with its interval, if it has one: ``−0.4 points [−1.3, 0.5]``."""
    return f"{value} {interval(of.low, of.high, style)}".strip()


def _counts(check: Check) -> Iterator[str]:
    """Yield how many metrics and floors have each outcome, and how many failures there are."""
    if check.failures:
        yield counted(len(check.failures), "failure")
    tests = counted(len(check.changes), "test")
    outcomes = Counter(change.outcome for change in check.changes)
    for outcome, meaning in MEANINGS.items():
        if outcomes[outcome]:
            yield f"{outcomes[outcome]:,} of {tests} {meaning}"
    if check.floors:
        floors = counted(len(check.floors), "floor")
        missed = sum(floor.outcome == "regression" for floor in check.floors)
        yield f"{missed:,} of {floors} missed"


def _undefined(change: LossTest) -> str:
    """Return how items without a value count, with a comma in front; nothing where all have one."""
    if change.unchanged or not change.undefined:
        return ""
    undefined = f", {counted(change.undefined, 'item')} without a value"
    if change.undefined_as is None:
        return f"{undefined} left out"
    return f"{undefined} counted as {change.undefined_as:.0f}"


def _reason(change: LossTest, margin: str) -> str:
    """Return why the outcome is what it is."""
    fields = {"loss": _loss_noun(change), "margin": margin}
    if change.unchanged:
        return templates.NO_LOSS.sentence(**fields)
    if change.outcome == "pass":
        template = templates.SMALL_LOSS if change.loss_is_significant else templates.LOSS_RULED_OUT
        return template.sentence(**fields)
    if change.outcome == "regression":
        correction = ""
        if change.tests > 1:
            correction = f" after Holm's correction for {counted(change.tests, 'test')}"
        p = p_value(change.p)
        # "p < 0.001", "p = 0.012"
        p = p.replace("<", "< ") if p.startswith("<") else f"= {p}"
        return templates.LOSS_SIGNIFICANT.sentence(p=p, correction=correction, one_more=_one_more(change), **fields)
    possible = needed = ""
    if change.possible_margin is not None and change.possible_margin > change.margin:
        possible = templates.POSSIBLE_MARGIN.sentence(possible=_size(change, change.possible_margin))
    # The change of so few units says little about the true one, so the number assumes none, as in a comparison.
    if change.units_needed is not None and change.units < change.units_needed:
        needed = templates.UNITS_FOR_CHECK.sentence(margin=margin, needed=change.units_needed, units=change.units)
    fields |= {"possible": possible, "needed": needed}
    if change.units < MIN_UNITS:
        return templates.TOO_FEW_FOR_CHECK.sentence(units=counted(change.units, "unit"), **fields)
    return templates.LOSS_NOT_RULED_OUT.sentence(ruled_out=_ruled_out(change), **fields)


def _ruled_out(change: LossTest) -> str:
    """Return which loss is ruled out, where one is."""
    if change.ruled_out is None:
        return ""
    # Rounded up: what is printed must pass as a margin.
    size = _size(change, math.ceil(1000 * change.ruled_out) / 1000)
    return templates.RULED_OUT.sentence(size=size) + _one_more(change)


def _one_more(change: LossTest) -> str:
    """Return why the margin is not shown to be kept, though the interval ends above it; empty where it does not."""
    end = change.high if change.lower_is_better else change.low
    is_within = end is not None and abs(end) < change.margin
    return templates.ONE_MORE_COUNTS.sentence() if is_within and change.of_shares else ""


def _smallest_loss(change: LossTest) -> str:
    """Return the smallest loss that could have been seen."""
    loss = _loss_noun(change)
    if change.smallest_loss is None:
        return templates.SMALLEST_LOSS_UNKNOWN.sentence(loss=loss, items=change.items)
    return templates.SMALLEST_LOSS.sentence(loss=loss, smallest=_size(change, change.smallest_loss))


def _loss_noun(change: LossTest) -> str:
    """Return what a loss is called: where lower is better, a rise is one."""
    return "rise" if change.lower_is_better else "loss"


def _format(change: LossTest) -> Format:
    """Return how the values of a metric are written."""
    return "percent" if change.of_shares else "number"


def _size(change: LossTest, size: float) -> str:
    """Return a loss or margin with its unit."""
    return number(size, difference_format(_format(change)))
