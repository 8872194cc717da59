"""A result in the terminal in full: the headline tables, the verdicts, the findings."""

from __future__ import annotations

import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from embassay.core.errors import SpecError
from embassay.core.formatting import counted, visible
from embassay.core.layout import ComparisonTable, Layout
from embassay.core.result import Result, Verdict, record_of
from embassay.reports.findings import support as words
from embassay.reports.scorecard import GAP, column_blocks
from embassay.reports.tables import BASELINE, Cell, Table, comparison_table, encoder_table, scope_of

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
    """Print each diagnostic on each corpus: the whole headline table, the verdict and its findings, and all tests.

    Parameters
    ----------
    diagnostic
        Only this one; all of them if empty.
    signatures
        Whether everything that the figures depend on is printed below the table.
    """
    for verdict in result.verdicts:
        if diagnostic not in ("", verdict.diagnostic):
            continue
        layout = layouts[verdict.diagnostic]
        scope = scope_of(result, verdict, layouts)
        table = encoder_table(scope, layout.headline)
        console.print(Text(f"{layout.title} on {verdict.corpus}", style="bold"), Text(layout.question), sep="\n")
        if table:
            print_table(table, console)
            console.print(Text(table.note, style="dim"))
        if signatures:
            for line in scope.signatures:
                console.print(Text(line, style="dim"), soft_wrap=True)
        console.print()
        console.print(_bullets(words.verdict(result, verdict)))
        console.print()
        tested = [part for part in layout.parts if isinstance(part, ComparisonTable)]
        # The first one is of the headline.
        if tested and (pairs := comparison_table(scope, tested[0])):
            console.print(Text(pairs.title, style="bold"))
            print_table(pairs, console)
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
    """Print the items that one encoder is wrong about, the clearest failures first.

    Each item has the rank of what is right, who is right about it, its texts, what was right, and what was chosen or
    found instead, with their labels and similarities.

    Parameters
    ----------
    diagnostic
        Only this one; all of them if empty.
    encoder
        Its label, also as the table of the first screen has it; the one to use if empty, or the candidate with the
        highest value where none is recommended.
    against
        The label of another one: the items on which the first is worse than this one, instead.

    Raises
    ------
    UnknownNameError
        If there is no such encoder.
    SpecError
        If no diagnostic shows items.
    """
    encoder, against = (_whole_label(result, label) for label in (encoder, against))
    with_items = {example.diagnostic for example in result.examples if example.correct is not None}
    verdicts = [verdict for verdict in result.verdicts if verdict.candidates and verdict.diagnostic in with_items]
    if diagnostic:
        verdicts = [verdict for verdict in verdicts if verdict.diagnostic == diagnostic]
    if not verdicts:
        raise SpecError("no diagnostic of this run shows single items that are right or wrong")
    for verdict in verdicts:
        shown = encoder or words.use_of(words.findings_of(result, verdict)) or verdict.candidates[0]
        wrong = result.failures(shown, verdict.diagnostic, against=against).to_dicts()
        items = [item for item in wrong if item["corpus"] == verdict.corpus]
        finders = _finders(result, verdict)
        noun = "question" if record_of(result.corpora, verdict.corpus).documents else "item"
        title = f"{shown} is {f'worse than {against} on' if against else 'wrong about'} {counted(len(items), noun)}"
        counts = Counter(name for item in items for name in finders[item["item"]])
        if counts:
            others = [f"{name} {count:,}" for name, count in counts.most_common(MOST_OTHERS)]
            title += f"; right about these: {', '.join(others)}"
        by_none = sum(not finders[item["item"]] for item in items)
        if by_none:
            title += f"; no encoder is right about {by_none:,}"
        heading = visible(f"{layouts[verdict.diagnostic].title} on {verdict.corpus}: {title}")
        console.print(Text(heading, style="bold"), soft_wrap=True)
        for item in items:
            console.print()
            rank = item.get("value_rank")
            right, none = ("found by", "no encoder finds it") if rank else ("right:", "no encoder is right")
            others = finders[item["item"]]
            who = f"{right} {', '.join(others)}" if others else none
            where = f"rank {rank:,.0f}; " if rank else ""
            console.print(Text(visible(f"{item['item']} ({where}{who})")), soft_wrap=True)
            for line in _item_lines(item, console.width):
                console.print(Text(line), soft_wrap=True)
        console.print()


def _whole_label(result: Result, label: str) -> str:
    """Return the label of the only candidate with a setting, such as ``passages=100``; any other label as it is."""
    with_setting = [one.name for one in result.encoders if not one.baseline and one.setting == label]
    return with_setting[0] if label and len(with_setting) == 1 else label


def _finders(result: Result, verdict: Verdict) -> dict[str, list[str]]:
    """Return by item the encoders that are right about it; those whose vectors are random are left out."""
    by_chance = {record.name for record in result.encoders if record.is_chance}
    finders: dict[str, list[str]] = defaultdict(list)
    for row in result.scores(verdict.diagnostic).filter(corpus=verdict.corpus, correct=True).to_dicts():
        if row["encoder"] not in by_chance:
            finders[row["item"]].append(row["encoder"])
    return finders


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
