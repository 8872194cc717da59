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
        if plan.difference is not None and pair.units_needed is not None:
            difference = number(plan.difference, style)
            sentences.append(_sentence_on_difference(pair, difference, plan.power))
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
        known = [pair.freedom for pair in pairs if pair.freedom is not None]
        if known:
            sentences.append(_sentence_on_pilot(min(known)))
    return sentences


def _sentence_on_pilot(freedom: float) -> str:
    """Return how well a run, as a pilot, knows the variance that the sizes rest on."""
    if freedom < FEW_DEGREES:
        return (
            f"This run is a weak pilot: a few units decide its variance ({freedom:.0f} degrees of freedom), so the "
            "sizes may be far too small. Plan again with more units."
        )
    return (
        f"Sizes above that of this run take the upper 80% limit of the variance: a run of this size ({freedom:.0f} "
        "degrees of freedom) may show too small a one."
    )


def _sentence_on_difference(pair: PairPlan, difference: str, power: float) -> str:
    """Return how many units and items show a difference, for example of ``3 points``."""
    units_estimated, units_needed = pair.units_estimated or 0, pair.units_needed or 0
    wanted = f"To show a difference of {difference} between {pair.a} and {pair.b}"
    if units_estimated <= pair.units:
        return (
            f"{wanted}, the {pair.units:,} units of this run have a power of {power:.0%} or more, by the variance that "
            "it shows."
        )
    units_to_add = units_needed - pair.units
    items_to_add = (pair.items_needed or 0) - pair.items
    return (
        f"{wanted} takes between {units_estimated:,} and {units_needed:,} units like these (80% sure): add "
        f"{units_to_add:,} units ({items_to_add:,} items) for the larger number."
    )


def as_json(plan: SizePlan) -> bytes:
    """Return a plan as canonical JSON."""
    return canonical(asdict(plan))
