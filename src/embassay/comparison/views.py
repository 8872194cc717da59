"""A comparison of runs as text for the terminal, as a page, as Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embassay.comparison.compare import RunComparison
from embassay.comparison.differences import DifferencesSummary, HeadlineChange
from embassay.comparison.statements import (
    best_sets,
    change,
    heading,
    ordered,
    place,
    sentence,
    summary_sentence,
)
from embassay.core.errors import OutputError, begun
from embassay.core.formatting import counted, difference_format, number, p_value, visible
from embassay.core.store.canonical import canonical, write
from embassay.reports.charts import Spec, forest_chart
from embassay.reports.layouts import layouts
from embassay.reports.page import PagePanel, render
from embassay.reports.tables import Cell, Table
from embassay.run.outputs.markdown import escaped, folded, table_lines
from embassay.run.runs.results import to_bytes

if TYPE_CHECKING:
    from rich.console import Console

SUFFIXES = (".html", ".md", ".json")
MOST_FLIPS = 20
"""Flipped items of a headline that Markdown and page list for each direction."""
CUT = 160
"""Characters of a text in a table of flipped items."""
NARROW = (0, 1, 2, 3, 4, 6)
"""Columns of the scorecard for the terminal: without p, flipped items and minimum detectable difference."""


def difference_table(differences: Sequence[HeadlineChange]) -> Table:
    """Return the scorecard of differences."""
    rows = []
    for difference in differences:
        style = difference_format(difference.format)
        is_strong = difference.outcome in ("worse", "better")
        flipped = "–"
        if difference.flips:
            flipped = f"−{difference.lost:,} +{difference.gained:,}"
        rows.append(
            (
                Cell(difference.pair.label),
                Cell(place(difference)),
                Cell(number(difference.old_value, difference.format)),
                Cell(number(difference.new_value, difference.format)),
                Cell(change(difference), strong=is_strong),
                Cell(p_value(difference.p)),
                Cell(difference.outcome, strong=is_strong),
                Cell(flipped),
                Cell(number(difference.smallest_difference, style)),
            )
        )
    note = (
        "Differences are paired on the common items, with 95% intervals over units; p after Holm's correction over the "
        "pairs of a column. Flipped: items lost and gained. Not worse: a loss of the margin or more is ruled out."
    )
    head = (
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
    return Table("Differences", head, tuple(rows), note)


def fact_table(comparison: RunComparison) -> Table | None:
    """Return what differs other than scores: speed, dimension, price …; None where nothing does."""
    if not comparison.facts:
        return None
    rows = [(Cell(fact.pair.label), Cell(fact.name), Cell(fact.old), Cell(fact.new)) for fact in comparison.facts]
    return Table("What else differs", ("encoder", "property", "before", "after"), tuple(rows))


def flip_tables(comparison: RunComparison) -> Iterator[Table]:
    """Yield the flipped items of each difference, the lost ones first."""
    for difference in comparison.differences:
        if not difference.flips:
            continue
        has_texts = any(flip.texts for flip in difference.flips)
        head = ["", "item"]
        if has_texts:
            head.append("texts")

        lost = [flip for flip in difference.flips if not flip.gained]
        gained = [flip for flip in difference.flips if flip.gained]
        rows = []
        for flip in lost[:MOST_FLIPS] + gained[:MOST_FLIPS]:
            direction = "gained" if flip.gained else "lost"
            cells = [Cell(direction), Cell(flip.item)]
            if has_texts:
                text = " / ".join(flip.texts.values())
                cells.append(Cell(begun(text, CUT)))
            rows.append(tuple(cells))

        note = ""
        left_out = len(difference.flips) - len(rows)
        if left_out:
            note = f"{counted(left_out, 'more item')} flipped; -o FILE.json lists all."
        title = f"Flipped items: {difference.pair.label}, {place(difference)}"
        yield Table(title, tuple(head), tuple(rows), note)


def forest(summary: DifferencesSummary) -> Spec:
    """Return the forest plot of one pair and diagnostic over several corpora."""
    first = summary.differences[0]
    # Vega has no format for points: a share would be written as 3%, which reads as a relative difference.
    is_points = difference_format(first.format) == "points"
    scale = 100 if is_points else 1
    values = []
    for difference in summary.differences:
        ends = (difference.low, difference.difference, difference.high)
        values.append(_line(difference.corpus, "corpus", ends, scale))
    across = summary.across
    if across is not None:
        values.append(_line("mean", "mean", (across.low, across.mean, across.high), scale))
        upcoming = (across.next_low, across.mean, across.next_high)
        values.append(_line("next corpus (95% prediction)", "next", upcoming, scale))
    title = f"{summary.pair.label}: {first.heading}"
    unit = " (points)" if is_points else ""
    return forest_chart(title, f"difference in {first.heading}{unit}", values)


def _line(name: str, kind: str, ends: tuple[float | None, float | None, float | None], scale: float) -> dict[str, Any]:
    """Return a line of a forest plot.

    Parameters
    ----------
    ends
        Low end of the interval, value and high end; None where there is none.
    """
    low, value, high = (None if end is None else scale * end for end in ends)
    return {"name": name, "kind": kind, "low": low, "value": value, "high": high}


def show(comparison: RunComparison, console: Console) -> None:
    """Print a comparison: differences, what else differs, who may be the best, what does not match."""
    from embassay.reports.terminal import print_line, print_table

    def print_list(title: str, sentences: Sequence[str]) -> None:
        if not sentences:
            return
        console.print()
        console.print(title, style="bold", markup=False)
        for text in sentences:
            print_line(console, f"• {visible(text)}", 2)

    print_line(console, visible(heading(comparison)))
    console.print()
    if comparison.differences:
        # A narrow terminal has no room for the other columns; the note explains some of them.
        table = difference_table(comparison.differences)
        head = tuple(table.head[place] for place in NARROW)
        rows = tuple(tuple(row[place] for place in NARROW) for row in table.rows)
        print_table(Table(table.title, head, rows), console)
    summaries = [summary_sentence(summary) for summary in comparison.summaries]
    facts = [f"{fact.pair.label}: {fact.name} {fact.old} → {fact.new}" for fact in comparison.facts]
    print_list("Differences", differences_in_words(comparison))
    print_list("Over several corpora", summaries)
    print_list("All runs together", best_sets(comparison))
    print_list("What else differs", facts)
    print_list("What does not match", comparison.notes)


def differences_in_words(comparison: RunComparison) -> list[str]:
    """Return a sentence for each difference, the most important first."""
    if not comparison.differences:
        return ["Nothing is compared: no encoder is in two of these runs, and there is no second candidate."]
    return [sentence(difference) for difference in ordered(comparison.differences)]


def page(comparison: RunComparison) -> str:
    """Return a comparison as one HTML file: the differences, then the report of all encoders together."""
    tables = [difference_table(comparison.differences)]
    facts = fact_table(comparison)
    if facts is not None:
        tables.append(facts)
    sentences = differences_in_words(comparison)
    sentences += [summary_sentence(summary) for summary in comparison.summaries]
    charts = tuple(("", forest(summary)) for summary in comparison.summaries)
    panels = [
        PagePanel(
            anchor="differences",
            title="Differences",
            sentences=tuple(sentences),
            tables=tuple(tables),
            folded=tuple(flip_tables(comparison)),
            charts=charts,
        )
    ]
    if comparison.notes:
        panels.append(PagePanel("mismatches", "What does not match", comparison.notes))
    title = " → ".join(comparison.runs)
    return render(comparison.result, layouts(comparison.result), panels=panels, title=title)


def markdown(comparison: RunComparison) -> str:
    """Return a comparison as Markdown, for example for a pull request."""
    lines = [f"# {escaped(' → '.join(comparison.runs))}", "", escaped(heading(comparison)), ""]
    lines += _bullets(differences_in_words(comparison))
    lines += _markdown_table(difference_table(comparison.differences))
    summaries = [summary_sentence(summary) for summary in comparison.summaries]
    lines += _bullets(summaries)
    facts = fact_table(comparison)
    if facts is not None:
        lines += ["## What else differs", "", *_markdown_table(facts)]
    best = best_sets(comparison)
    if best:
        lines += ["## All runs together", "", *_bullets(best)]
    for table in flip_tables(comparison):
        content = "\n".join(_markdown_table(table)).rstrip()
        lines += [folded(table.title, content), ""]
    if comparison.notes:
        lines += ["## What does not match", "", *_bullets(comparison.notes)]
    return "\n".join(lines).rstrip() + "\n"


def _bullets(sentences: Sequence[str]) -> list[str]:
    """Return a list with an empty line after it; nothing for no sentences."""
    if not sentences:
        return []
    bullets = [f"- {escaped(text)}" for text in sentences]
    return [*bullets, ""]


def _markdown_table(table: Table) -> list[str]:
    """Return the lines of a table, with its note and an empty line after each."""
    lines = [table_lines(table), ""]
    if table.note:
        lines += [escaped(table.note), ""]
    return lines


def as_json(comparison: RunComparison) -> bytes:
    """Return everything that a comparison found, as canonical JSON."""
    import json

    content = {
        "runs": list(comparison.runs),
        "before_and_after": comparison.before_and_after,
        "differences": [asdict(difference) for difference in comparison.differences],
        "facts": [asdict(fact) for fact in comparison.facts],
        "summaries": [_summary_content(summary) for summary in comparison.summaries],
        "notes": list(comparison.notes),
        "result": json.loads(to_bytes(comparison.result)),
    }
    return canonical(content)


def _summary_content(summary: DifferencesSummary) -> dict[str, Any]:
    """Return a summary for JSON: of its differences only the corpora, because all differences are written anyway."""
    across = None
    if summary.across is not None:
        across = asdict(summary.across)
    return {
        "pair": asdict(summary.pair),
        "diagnostic": summary.diagnostic,
        "corpora": [difference.corpus for difference in summary.differences],
        "across": across,
    }


def write_comparison(comparison: RunComparison, path: Path) -> None:
    """Write a comparison as HTML, Markdown or JSON, by the suffix of the path.

    Raises
    ------
    OutputError
        For another suffix, or if the file cannot be written.
    """
    if path.suffix == ".html":
        content = page(comparison).encode("utf-8", "replace")
    elif path.suffix == ".md":
        content = markdown(comparison).encode("utf-8", "replace")
    elif path.suffix == ".json":
        content = as_json(comparison)
    else:
        raise OutputError(f"{path}: the suffix must be {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")
    write(path, content)
