"""A comparison of runs in words and tables: for the terminal, as Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from embassay.comparison.compare import RunComparison
from embassay.comparison.differences import Change, OverCorpora
from embassay.core.errors import OutputError, begun
from embassay.core.formatting import counted, difference_format, interval, number, p_value, visible, with_interval
from embassay.core.store.canonical import canonical, write
from embassay.reports.findings import templates
from embassay.reports.tables import Cell, Table
from embassay.run.outputs.markdown import escaped, folded, table_lines

if TYPE_CHECKING:
    from rich.console import Console

SUFFIXES = (".md", ".json")
ORDER = ("worse", "better", "inconclusive", "not worse", "nothing changed")
"""Outcomes by importance."""
MOST_FLIPS = 20
"""Flipped items of a headline that Markdown lists for each direction."""
CUT = 160
"""Characters of a text in a table of flipped items."""
NARROW = (0, 1, 2, 3, 4, 6)
"""Columns of the table for the terminal: without p, flipped items and minimum detectable difference."""
HEAD = (
    "encoder",
    "headline",
    "before",
    "after",
    "difference",
    "p",
    "outcome",
    "flipped",
    "minimum detectable difference",
)
NOTE = (
    "Differences are paired on the common items, with 95% intervals over units; p after Holm's correction over the pairs "
    "of a column. Flipped: items lost and gained. Not worse: a loss of the margin or more is ruled out."
)


def heading(comparison: RunComparison) -> str:
    """Return which runs are compared, and on how much."""
    items = dict[tuple[str, str], int]()
    for change in comparison.differences:
        task = (change.diagnostic, change.corpus)
        items[task] = max(items.get(task, 0), change.items)
    pairs = counted(len({change.encoder for change in comparison.differences}), "pair")
    common = counted(sum(items.values()), "common item")
    return f"{' → '.join(comparison.runs)}: {pairs}, {counted(len(items), 'headline')}, {common}"


def sentences_of(comparison: RunComparison) -> list[str]:
    """Return a sentence for each difference, the most important first."""
    ordered = sorted(comparison.differences, key=lambda change: ORDER.index(change.outcome))
    if not ordered:
        return ["Nothing is compared: no encoder is in two of these runs, and there is no second candidate."]
    return [sentence(change) for change in ordered]


def sentence(change: Change) -> str:
    """Return a difference in one or two sentences that can be read alone."""
    label, style = change.encoder, difference_format(change.format)
    where = f"{change.metric} on {change.corpus}"
    if change.outcome == "nothing changed":
        items = counted(change.items, "item")
        return templates.NOTHING_CHANGED.sentence(label=label, corpus=change.corpus, items=items)
    if change.difference is None:
        return templates.NOTHING_DEFINED.sentence(label=label, where=where)
    p = "" if change.p is None else f", p {p_value(change.p)}"
    old, new = number(change.old, change.format), number(change.new, change.format)
    course = f"{where} went from {old} to {new}, {_difference(change)}{p}."
    if change.undefined:
        items = counted(change.undefined, "item")
        course += f" The difference leaves out {items} with a value for one of the two only."
    flipped = ""
    if change.lost or change.gained:
        verb = "was" if len(change.lost) == 1 else "were"
        items = counted(change.items, "item")
        flipped = f" Of {items}, {len(change.lost):,} {verb} lost and {len(change.gained):,} gained."
    margin = number(change.margin, style)
    if change.outcome in ("worse", "better"):
        return templates.CHANGED.sentence(label=label, outcome=change.outcome, course=course, flipped=flipped)
    if change.outcome == "not worse":
        return templates.CHANGE_NOT_WORSE.sentence(label=label, course=course, margin=margin, flipped=flipped)
    smallest = change.smallest_difference
    return templates.NO_CHANGE_SHOWN.sentence(
        label=label,
        course=course,
        detectable="" if smallest is None else f" Minimum detectable difference: {number(smallest, style)}.",
        not_ruled_out=f" A loss of {margin} is not ruled out." if change.margin else "",
        flipped=flipped,
    )


def _difference(change: Change) -> str:
    """Return a difference with its interval: ``−0.4 points [−1.3, 0.5]``."""
    return with_interval(change.difference, change.low, change.high, difference_format(change.format), signed=True)


def summary_sentence(summary: OverCorpora) -> str:
    """Return what several corpora say together."""
    first, across = summary.changes[0], summary.across
    style = difference_format(first.format)
    title = f"{first.encoder}, {first.metric} over {len(summary.changes)} corpora"
    if across is None:
        return templates.NO_SUMMARY.sentence(title=title, reason=summary.reason)
    return templates.OVER_CORPORA.sentence(
        title=title,
        mean=number(across.mean, style, signed=True),
        interval=interval(across.low, across.high, style, signed=True),
        upcoming=interval(across.next_low, across.next_high, style, signed=True),
    )


def difference_table(changes: Sequence[Change]) -> Table:
    """Return a row for each difference."""
    rows = []
    for change in changes:
        is_strong = change.outcome in ("worse", "better")
        flipped = f"−{len(change.lost):,} +{len(change.gained):,}" if change.lost or change.gained else "–"
        cells = (
            change.encoder,
            f"{change.metric} on {change.corpus}",
            number(change.old, change.format),
            number(change.new, change.format),
            _difference(change),
            p_value(change.p),
            change.outcome,
            flipped,
            number(change.smallest_difference, difference_format(change.format)),
        )
        rows.append(tuple(Cell(text, strong=is_strong and place in (4, 6)) for place, text in enumerate(cells)))
    return Table("Differences", HEAD, tuple(rows), NOTE)


def flip_tables(comparison: RunComparison) -> Iterator[Table]:
    """Yield the flipped items of each difference, the lost ones first."""
    for change in comparison.differences:
        rows = []
        for direction, items in (("lost", change.lost), ("gained", change.gained)):
            for item, text in list(items.items())[:MOST_FLIPS]:
                rows.append((Cell(direction), Cell(item), Cell(begun(text, CUT))))
        left_out = len(change.lost) + len(change.gained) - len(rows)
        note = f"{counted(left_out, 'more item')} flipped; -o FILE.json lists all." if left_out else ""
        if rows:
            title = f"Flipped items: {change.encoder}, {change.metric} on {change.corpus}"
            yield Table(title, ("", "item", "text"), tuple(rows), note)


def _lists(comparison: RunComparison) -> dict[str, Sequence[str]]:
    """Return what is said beside the tables, by its title; some may be empty."""
    return {
        "Differences": sentences_of(comparison),
        "Over several corpora": [summary_sentence(summary) for summary in comparison.summaries],
        "What else differs": comparison.facts,
        "What does not match": comparison.notes,
    }


def show(comparison: RunComparison, console: Console) -> None:
    """Print a comparison: differences, what else differs, what does not match."""
    from embassay.reports.terminal import print_line, print_table

    print_line(console, visible(heading(comparison)))
    console.print()
    if comparison.differences:
        # A narrow terminal has no room for the other columns; the note explains some of them.
        table = difference_table(comparison.differences)
        rows = tuple(tuple(row[place] for place in NARROW) for row in table.rows)
        print_table(Table(table.title, tuple(table.head[place] for place in NARROW), rows), console)
    for title, sentences in _lists(comparison).items():
        if sentences:
            console.print()
            console.print(title, style="bold", markup=False)
        for text in sentences:
            print_line(console, f"• {visible(text)}", 2)


def markdown(comparison: RunComparison) -> str:
    """Return a comparison as Markdown, for example for a pull request."""
    lines = [f"# {escaped(' → '.join(comparison.runs))}", "", escaped(heading(comparison)), ""]
    table = difference_table(comparison.differences)
    lines += [table_lines(table), "", escaped(table.note), ""]
    for title, sentences in _lists(comparison).items():
        if sentences:
            lines += [f"## {title}", "", *(f"- {escaped(text)}" for text in sentences), ""]
    for flips in flip_tables(comparison):
        content = f"{table_lines(flips)}\n\n{escaped(flips.note)}".rstrip()
        lines += [folded(flips.title, content), ""]
    return "\n".join(lines).rstrip() + "\n"


def write_comparison(comparison: RunComparison, path: Path) -> None:
    """Write a comparison as Markdown or JSON, by the suffix of the path.

    Raises
    ------
    OutputError
        For another suffix, or if the file cannot be written.
    """
    if path.suffix not in SUFFIXES:
        raise OutputError(f"{path}: the suffix must be {' or '.join(SUFFIXES)}")
    is_json = path.suffix == ".json"
    write(path, canonical(asdict(comparison)) if is_json else markdown(comparison).encode("utf-8", "replace"))
