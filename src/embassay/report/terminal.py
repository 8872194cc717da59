"""A result in the terminal: the headline table, the verdict, the signatures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from embassay.layout import Layout
from embassay.report.tables import Cell, Scope, Table, encoder_table
from embassay.report.words import verdict
from embassay.types import Result

PLAIN_WIDTH = 110
"""Columns where standard output is not a terminal."""


def show(result: Result, layouts: Mapping[str, Layout], speed: Mapping[str, float], console: Console) -> None:
    """Print each diagnostic on each corpus: table, signatures, verdict."""
    for found in result.verdicts:
        layout = layouts[found.diagnostic]
        scope = Scope(result, found.diagnostic, found.corpus)
        table = encoder_table(scope, layout.headline)
        console.print(Text(f"{layout.title} on {found.corpus}", style="bold"), Text(layout.question), sep="\n")
        console.print(_rich(table))
        console.print(Text(table.note, style="dim"))
        for line in table.signatures:
            console.print(Text(line, style="dim"), soft_wrap=True)
        console.print()
        console.print(_bullets(verdict(result, found, speed)))
        console.print()


def stdout() -> Console:
    """Return the console for results: standard output, plain and wide where it is not a terminal."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=PLAIN_WIDTH)


def _rich(table: Table) -> RichTable:
    drawn = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for place, name in enumerate(table.head):
        drawn.add_column(name, justify="left" if place == 0 else "right", no_wrap=place > 0, overflow="fold")
    for row in table.rows:
        drawn.add_row(*map(_cell, row))
    return drawn


def _bullets(lines: Iterable[str]) -> RichTable:
    grid = RichTable.grid(padding=(0, 1, 0, 0))
    for line in lines:
        grid.add_row("•", Text(line))
    return grid


def _cell(cell: Cell) -> Text:
    text = Text(cell.text)
    if cell.interval:
        text.append(f" {cell.interval}", style="dim")
    if cell.remark:
        text.append(f" ({cell.remark})", style="dim italic")
    return text
