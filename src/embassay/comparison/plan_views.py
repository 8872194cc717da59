"""A plan of sizes in the terminal and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from embassay.comparison.plan import PairPlan, SizePlan
from embassay.formatting import difference_format, interval, number, visible
from embassay.reports.tables import Cell, Table
from embassay.result import MIN_UNITS
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
    for note in plan.notes:
        print_line(console, visible(note))


def _size_table(pairs: Sequence[PairPlan]) -> Table:
    """Return the table of the differences and sizes of this run, with a row for each pair."""
    rows = []
    for pair in pairs:
        style = difference_format(pair.format)
        difference = number(pair.difference, style, signed=True)
        limits = interval(pair.low, pair.high, style, signed=True)
        row = (
            Cell(pair.name),
            # Under 10 units there is no interval.
            Cell(f"{difference} {limits}".strip()),
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
            sentences.append(f"{pair.name}: no plan with {pair.units:,} units; it takes {MIN_UNITS} or more.")
            continue
        if pair.minimum_detectable_difference is None:
            sentences.append(f"{pair.name}: no plan, because the difference is the same in all {pair.units:,} units.")
            continue
        if plan.difference is not None and pair.units_needed is not None and pair.items_needed is not None:
            difference = number(plan.difference, style)
            sentences.append(_sentence_on_difference(pair, difference, pair.units_needed, pair.items_needed))
        if pair.units_not_worse is not None and pair.margin is not None:
            sentences.append(
                f"To show that {pair.a} is not worse than {pair.b} by {number(pair.margin, style)}, if nothing is "
                f"lost, takes about {pair.units_not_worse:,} units."
            )
        if pair.units_to_detect is not None and pair.margin is not None:
            sentences.append(
                f"For 'embassay check' to detect a loss of {number(2 * pair.margin, style)} between models that "
                f"disagree as much as {pair.a} and {pair.b} takes {pair.units_to_detect:,} units (power 95%)."
            )
    if sentences:
        sentences.append(
            f"Power {plan.power:.0%}: the probability that a true difference of that size becomes significant. No "
            "figure rests on the present difference."
        )
    return sentences


def _sentence_on_difference(pair: PairPlan, difference: str, units_needed: int, items_needed: int) -> str:
    """Return how many units and items show a difference, for example of ``3 points``."""
    wanted = f"To show a difference of {difference} between {pair.a} and {pair.b}"
    if units_needed <= pair.units:
        return f"{wanted}, the {pair.units:,} units of this run are enough."
    units_to_add = units_needed - pair.units
    items_to_add = items_needed - pair.items
    return (
        f"{wanted} takes {units_needed:,} units ({items_needed:,} items) like these: add {units_to_add:,} units "
        f"({items_to_add:,} items)."
    )


def as_json(plan: SizePlan) -> bytes:
    """Return a plan as canonical JSON."""
    return canonical(asdict(plan))
