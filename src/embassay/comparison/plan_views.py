"""A plan of sizes in the terminal and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from embassay.comparison.plan import GatePlan, PairPlan, SizePlan
from embassay.findings import templates
from embassay.formatting import difference_format, number, size_in_points, visible, with_interval
from embassay.metrics.metric import meaning_of
from embassay.reports.tables import Cell, Table
from embassay.result import MIN_UNITS
from embassay.stats.detectable import FEW_DEGREES
from embassay.store.canonical import canonical

if TYPE_CHECKING:
    from rich.console import Console


def show(plan: SizePlan, console: Console) -> None:
    """Print a plan: for each metric of each task the pairs of interest, and what it takes to tell them apart."""
    from embassay.reports.terminal import print_line, print_table

    # The pairs of a task follow each other, and in a task those of a metric.
    for (diagnostic, corpus, heading), group in groupby(plan.pairs, attrgetter("diagnostic", "corpus", "heading")):
        pairs = list(group)
        console.print(f"{heading} ({diagnostic} on {visible(corpus)})", style="bold", markup=False)
        print_table(_size_table(pairs), console)
        if any(pair.curve for pair in pairs):
            console.print()
            print_table(_curve_table(pairs), console)
        for sentence in _sentences(plan, pairs):
            print_line(console, f"• {visible(sentence)}", 2)
        console.print()
    for gate in plan.gates:
        print_line(console, visible(_gate_sentence(gate, several=len(plan.gates) > 1)))
    for note in plan.notes:
        print_line(console, visible(note))


def _gate_sentence(gate: GatePlan, *, several: bool) -> str:
    """Return how many more items bring the margin of a gate down, with its corpus where there are several."""
    meaning = meaning_of(gate.diagnostic)
    items = f"{meaning.items} about these documents" if "search" in meaning.about else f"{meaning.items} like these"
    sizes = [size_in_points(size).removesuffix(" points") for size in (gate.margin, gate.target)]
    sentence = templates.ITEMS_FOR_GATE.sentence(more=f"{gate.more:,}", items=items, present=sizes[0], target=sizes[1])
    return f"{gate.corpus}: {sentence}" if several else sentence


def _size_table(pairs: Sequence[PairPlan]) -> Table:
    """Return the table of the differences and sizes of this run, with a row for each pair."""
    rows = []
    for pair in pairs:
        style = difference_format(pair.format)
        row = (
            Cell(pair.name),
            # Under 10 units there is no interval.
            Cell(with_interval(pair.difference, pair.low, pair.high, style, signed=True)),
            Cell(f"{pair.units:,}"),
            Cell(f"{pair.items:,}"),
        )
        rows.append(row)
    return Table("", ("", "present difference", "units", "items"), tuple(rows))


def _curve_table(pairs: Sequence[PairPlan]) -> Table:
    """Return the table of minimum detectable differences by size, with a row for each pair.

    At least one of the pairs has a curve.
    """
    # A pair with too few units has no curve; all others have one point for each growth.
    some_curve = next(pair.curve for pair in pairs if pair.curve)
    units_of_run = some_curve[0].units
    larger = [f"{point.units // units_of_run} times" for point in some_curve[1:]]
    head = ("minimum detectable difference with", f"{units_of_run:,} units", *larger)

    rows = []
    for pair in pairs:
        style = difference_format(pair.format)
        cells = [Cell(number(point.difference, style)) for point in pair.curve]
        if not cells:
            cells = [Cell("–")] * len(some_curve)
        rows.append((Cell(pair.name), *cells))
    return Table("", head, tuple(rows))


def _sentences(plan: SizePlan, pairs: Sequence[PairPlan]) -> list[str]:
    """Return what it takes, one sentence for each pair and question."""
    sentences = []
    for pair in pairs:
        style = difference_format(pair.format)
        if pair.units < MIN_UNITS:
            sentence = templates.PLAN_TOO_SMALL.sentence(pair=pair.name, units=pair.units, needed=MIN_UNITS)
            sentences.append(sentence)
            continue
        if pair.minimum_detectable_difference is None:
            sentences.append(templates.NO_PLAN.sentence(pair=pair.name, units=pair.units))
            continue
        if plan.difference is not None and pair.units_needed is not None:
            difference = number(plan.difference, style)
            sentences.append(_sentence_on_difference(pair, difference, plan.power))
    if sentences:
        sentences.append(templates.MEANING_OF_POWER.sentence(power=plan.power))
        known = [pair.freedom for pair in pairs if pair.freedom is not None]
        if known:
            # How well a run, as a pilot, knows the variance that the sizes rest on.
            freedom = min(known)
            pilot = templates.WEAK_PILOT if freedom < FEW_DEGREES else templates.PILOT
            sentences.append(pilot.sentence(freedom=freedom))
    return sentences


def _sentence_on_difference(pair: PairPlan, difference: str, power: float) -> str:
    """Return how many units and items show a difference, for example of ``3 points``."""
    units_estimated, units_needed = pair.units_estimated or 0, pair.units_needed or 0
    fields = {"a": pair.a, "b": pair.b, "difference": difference}
    if units_estimated <= pair.units:
        return templates.ENOUGH_UNITS.sentence(units=pair.units, power=power, **fields)
    return templates.UNITS_TO_ADD.sentence(
        estimated=units_estimated,
        needed=units_needed,
        more_units=units_needed - pair.units,
        more_items=(pair.items_needed or 0) - pair.items,
        **fields,
    )


def as_json(plan: SizePlan) -> bytes:
    """Return a plan as canonical JSON."""
    return canonical(asdict(plan))
