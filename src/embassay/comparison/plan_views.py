"""A plan of sizes in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from embassay.comparison.plan import PairPlan, SizePlan
from embassay.core.formatting import (
    DASH,
    difference_format,
    number,
    visible,
)
from embassay.core.grouping import grouped
from embassay.reports.findings import templates
from embassay.reports.tables import Cell, Table

if TYPE_CHECKING:
    from rich.console import Console


def show(plan: SizePlan, console: Console) -> None:
    """Print a plan: for each metric of each task the pairs of interest, and what it takes to tell them apart."""
    from embassay.reports.terminal import print_line, print_table

    of_metric = grouped(plan.pairs, lambda pair: (pair.heading, pair.comparison.diagnostic, pair.comparison.corpus))
    for (heading, diagnostic, corpus), pairs in of_metric.items():
        console.print(visible(f"{heading} ({diagnostic} on {corpus})"), style="bold", markup=False)
        table = _table(pairs)
        if table is not None:
            print_table(table, console)
            console.print()
        for sentence in _sentences(plan, pairs):
            print_line(console, f"• {visible(sentence)}", 2)
        console.print()
    for note in plan.notes:
        print_line(console, visible(note))


def _table(pairs: Sequence[PairPlan]) -> Table | None:
    """Return the smallest differences by size, with a row for each pair; None where no pair has enough items."""
    curve = next((pair.curve for pair in pairs if pair.curve), ())
    if not curve:
        return None
    rows = []
    for pair in pairs:
        style = difference_format(pair.format)
        # A pair with too few items has no curve.
        differences = [number(point.smallest_difference, style) for point in pair.curve] or [DASH] * len(curve)
        name = f"{pair.comparison.a} against {pair.comparison.b}"
        rows.append((Cell(name), *map(Cell, differences)))
    larger = [f"{point.items / curve[0].items:.0f} times" for point in curve[1:]]
    return Table("", ("smallest detectable difference with", f"{curve[0].items:,} items", *larger), tuple(rows))


def _sentences(plan: SizePlan, pairs: Sequence[PairPlan]) -> Iterator[str]:
    """Yield what it takes, one sentence for each pair, and what power is."""
    for pair in pairs:
        planned = pair.comparison
        present, needed = planned.items, planned.items_needed
        template = templates.ITEMS_NEEDED
        if not pair.curve:
            template = templates.NO_PLAN
        elif plan.difference is None:
            continue
        elif needed is None:
            template = templates.TOO_MANY_ITEMS
        elif needed <= present:
            template = templates.ENOUGH_ITEMS
        yield template.sentence(
            a=planned.a,
            b=planned.b,
            difference=number(plan.difference, difference_format(pair.format)),
            items=f"{needed or 0:,}",
            present=f"{present:,}",
        )
    if plan.difference is not None or not all(pair.curve for pair in pairs):
        yield templates.MEANING_OF_POWER.sentence(power=plan.power)
