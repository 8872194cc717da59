"""A result in the terminal in full: the headline tables, the verdicts, the findings."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from embassay.core.errors import SpecError
from embassay.core.formatting import counted, visible
from embassay.core.layout import Layout
from embassay.core.result import Result, Verdict
from embassay.reports.findings import support as words
from embassay.reports.scorecard import GAP, column_blocks
from embassay.reports.tables import BASELINE, Cell, Table, encoder_table, scope_of

MOST_OTHERS = 3
"""Encoders that are named at most as right where another one is wrong."""
PLAIN_WIDTH = 110
"""Columns where standard output is not a terminal."""
WHOLE = 1000
"""Columns that a table may take where standard output is not a terminal."""


def show(
    result: Result,
    layouts: Mapping[str, Layout],
    console: Console,
    *,
    diagnostic: str = "",
    signatures: bool = False,
) -> None:
    """Print each diagnostic on each corpus: the whole headline table, then the verdict and its findings.

    Parameters
    ----------
    diagnostic
        Only this one; all of them if empty.
    signatures
        Whether everything that the figures depend on is printed below each table.
    """
    for verdict in result.verdicts:
        if diagnostic not in ("", verdict.diagnostic):
            continue
        layout = layouts[verdict.diagnostic]
        table = encoder_table(scope_of(result, verdict, layouts), layout.headline)
        console.print(Text(f"{layout.title} on {verdict.corpus}", style="bold"), Text(layout.question), sep="\n")
        if table:
            print_table(table, console)
            console.print(Text(table.note, style="dim"))
        if table and signatures:
            for line in table.signatures:
                console.print(Text(line, style="dim"), soft_wrap=True)
        console.print()
        console.print(_bullets(words.verdict(result, verdict)))
        console.print()
    if not diagnostic:
        of_the_run = [*words.whole_run(result), *(f"failed: {failure.sentence}" for failure in result.failed)]
        if of_the_run:
            console.print(Text("Of the whole run", style="bold"))
            console.print(_bullets(of_the_run))
            console.print()


def show_failures(
    result: Result,
    layouts: Mapping[str, Layout],
    console: Console,
    *,
    diagnostic: str = "",
    encoder: str = "",
    against: str = "",
) -> None:
    """Print the items that one encoder is wrong about, the clearest failures first; above them, who is right instead.

    Each item has its texts, what was right and what was chosen or found instead, with their labels and similarities.

    Parameters
    ----------
    diagnostic
        Only this one; all of them if empty.
    encoder
        Its label; the candidate with the highest value of each diagnostic if empty.
    against
        The label of another one: the items on which the first is worse than this one, instead.

    Raises
    ------
    UnknownNameError
        If there is no such encoder.
    SpecError
        If no diagnostic shows items.
    """
    with_items = {example.diagnostic for example in result.examples if example.correct is not None}
    verdicts = [verdict for verdict in result.verdicts if verdict.candidates and verdict.diagnostic in with_items]
    if diagnostic:
        verdicts = [verdict for verdict in verdicts if verdict.diagnostic == diagnostic]
    if not verdicts:
        raise SpecError("no diagnostic of this run shows single items that are right or wrong")
    for verdict in verdicts:
        shown = encoder or verdict.candidates[0]
        wrong = result.failures(shown, verdict.diagnostic, against=against).to_dicts()
        items = [item for item in wrong if item["corpus"] == verdict.corpus]
        title, *others = _right_instead(result, verdict, shown)
        if against:
            title, *others = [f"{shown} is worse than {against} on {counted(len(items), 'item')}"]
        console.print(Text(visible(f"{layouts[verdict.diagnostic].title} on {verdict.corpus}: {title}"), style="bold"))
        for line in others:
            print_line(console, visible(line), indent=2)
        for item in items:
            console.print()
            console.print(Text(visible(item["item"])), soft_wrap=True)
            for line in _item_lines(item, console.width):
                console.print(Text(line), soft_wrap=True)
        console.print()


def _right_instead(result: Result, verdict: Verdict, shown: str) -> Iterator[str]:
    """Yield how many items an encoder is wrong about, and who is right about most of these; then of each candidate."""
    by_chance = {record.name for record in result.encoders if record.is_chance}
    scores = result.scores(verdict.diagnostic).filter(corpus=verdict.corpus)
    by_outcome = scores.group_by("encoder", "correct", maintain_order=True)
    items = {outcome: set(rows["item"]) for outcome, rows in by_outcome}
    right = {name: hits for (name, correct), hits in items.items() if correct and name not in by_chance}
    for name in dict.fromkeys((shown, *verdict.candidates)):
        missed = items.get((name, False), set())
        counts = {other: len(missed & hits) for other, hits in right.items()}
        others = [f"{other} {count:,}" for other, count in Counter(counts).most_common(MOST_OTHERS) if count]
        instead = f"; right about some of these: {', '.join(others)}" if others else ""
        yield f"{name} is wrong about {counted(len(missed), 'item')}{instead}"


def _item_lines(item: Mapping[str, Any], width: int) -> Iterator[str]:
    """Yield a line for each text of an item, for each label without a text, shortened to the width."""
    names = [name.partition("_")[2] for name in item if name.startswith(("text_", "label_"))]
    for name in dict.fromkeys(names):
        text, label, value = (item.get(f"{kind}_{name}") for kind in ("text", "label", "value"))
        # Of several that were found, the first stands for the others.
        is_further = name[-1:].isdecimal() and not name.endswith("1")
        if is_further or (text is None and label is None):
            continue
        parts = [f"  {name.rstrip('1'):<10} "]
        if label is not None:
            parts.append(f"[{label}] ")
        if value is not None:
            parts.append(f"{value:.3f} ")
        line = visible("".join(parts) + (text or ""))
        yield line if len(line) <= width else f"{line[: width - 1]}…"


def stdout() -> Console:
    """Return the console for results: standard output, plain and wide where it is not a terminal."""
    console = Console(highlight=False)
    if console.is_terminal:
        return console
    return Console(highlight=False, width=PLAIN_WIDTH)


def print_table(table: Table, console: Console) -> None:
    """Print a table whole: a name is never cut; columns for which a terminal is too narrow and remarks stand below."""
    columns = [[Text(name)] for name in table.head]
    for row in table.rows:
        for column, cell in zip(columns, row, strict=True):
            column.append(_cell(cell, table.remarks))
    labels, *figures = columns
    blocks = [range(len(figures))]
    if console.is_terminal:
        room = console.width - _width(labels)
        blocks = column_blocks([_width(column) for column in figures], room)
    # Rich would cut cells to the width of the console.
    width = console.width
    console.width = max(width, WHOLE)
    for block in blocks:
        console.print(_drawn([labels, *figures[block.start : block.stop]]))
    console.width = width
    for place, remark in enumerate(table.remarks, 1):
        console.print(Text(f"({place}) {remark}", style="dim"))


def _width(column: Sequence[Text]) -> int:
    return max(cell.cell_len for cell in column)


def _drawn(columns: Sequence[Sequence[Text]]) -> RichTable:
    """Return columns, each with its heading first, beside each other."""
    drawn = RichTable(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    heads, *rows = zip(*columns, strict=True)
    labels, *figures = heads
    drawn.add_column(labels, justify="left", no_wrap=True)
    for head in figures:
        drawn.add_column(head, justify="right", no_wrap=True)
    for row in rows:
        drawn.add_row(*row)
    return drawn


def print_line(console: Console, line: str, indent: int = 0) -> None:
    """Print a line; a terminal gets it wrapped, its further lines indented by so many columns."""
    lines = [line]
    if console.is_terminal:
        indent = min(indent, console.width // 2)
        lines = textwrap.wrap(line, console.width, subsequent_indent=" " * indent, break_on_hyphens=False) or [line]
    for part in lines:
        console.print(Text(part), soft_wrap=True)


def _bullets(lines: Iterable[str]) -> RichTable:
    grid = RichTable.grid(padding=(0, 1, 0, 0))
    for line in lines:
        grid.add_row("•", Text(visible(line)))
    return grid


def _cell(cell: Cell, remarks: Sequence[str]) -> Text:
    text = Text(visible(cell.text))
    if cell.interval:
        text.append(f" {cell.interval}", style="dim")
    if cell.remark == BASELINE:
        text.append(f" ({BASELINE})", style="dim italic")
    elif cell.remark:
        text.append(f" ({remarks.index(cell.remark) + 1})", style="dim italic")
    return text
