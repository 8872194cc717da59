"""A plan of sizes in the terminal and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from embassay.comparison.plan import GatePlan, PairPlan, SizePlan
from embassay.core.formatting import (
    DASH,
    difference_format,
    number,
    size_in_points,
    visible,
    with_interval,
    without_points,
)
from embassay.core.store.canonical import canonical
from embassay.diagnostics.metrics.metric import meaning_of
from embassay.reports.findings import templates
from embassay.reports.tables import Cell, Table

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
    present, target = without_points(size_in_points(gate.margin)), size_in_points(gate.target)
    sentence = templates.ITEMS_FOR_GATE.sentence(more=f"{gate.more:,}", items=items, present=present, target=target)
    return f"{gate.corpus}: {sentence}" if several else sentence


def _size_table(pairs: Sequence[PairPlan]) -> Table:
    """Return the table of the differences and sizes of this run, with a row for each pair."""
    rows = []
    for pair in pairs:
        style = difference_format(pair.format)
        present = with_interval(pair.difference, pair.low, pair.high, style, signed=True)
        rows.append((Cell(pair.name), Cell(present), Cell(f"{pair.items:,}")))
    return Table("", ("", "present difference", "items"), tuple(rows))


def _curve_table(pairs: Sequence[PairPlan]) -> Table:
    """Return the table of smallest differences by size, with a row for each pair.

    At least one of the pairs has a curve.
    """
    some_curve = next(pair.curve for pair in pairs if pair.curve)
    larger = [f"{point.items / some_curve[0].items:.0f} times" for point in some_curve[1:]]
    head = ("smallest detectable difference with", f"{some_curve[0].items:,} items", *larger)
    rows = []
    for pair in pairs:
        style = difference_format(pair.format)
        # A pair with too few items has no curve.
        cells = [Cell(number(point.difference, style)) for point in pair.curve] or [Cell(DASH)] * len(some_curve)
        rows.append((Cell(pair.name), *cells))
    return Table("", head, tuple(rows))


def _sentences(plan: SizePlan, pairs: Sequence[PairPlan]) -> list[str]:
    """Return what it takes, one sentence for each pair."""
    sentences = []
    for pair in pairs:
        fields = {"a": pair.a, "b": pair.b}
        if pair.smallest_difference is None:
            sentences.append(templates.NO_PLAN.sentence(**fields))
        elif plan.difference is not None:
            difference = number(plan.difference, difference_format(pair.format))
            template = templates.ITEMS_NEEDED
            if pair.items_needed is None:
                template = templates.TOO_MANY_ITEMS
            elif pair.items_needed <= pair.items:
                template = templates.ENOUGH_ITEMS
            items = f"{pair.items_needed or 0:,}"
            sentences.append(template.sentence(difference=difference, items=items, present=f"{pair.items:,}", **fields))
    if sentences:
        sentences.append(templates.MEANING_OF_POWER.sentence(power=plan.power))
    return sentences


def as_json(plan: SizePlan) -> bytes:
    """Return a plan as canonical JSON."""
    return canonical(asdict(plan))
