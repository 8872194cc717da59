"""A comparison of runs in words: for the terminal, as Markdown and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from embassay.comparison.compare import RunComparison
from embassay.comparison.differences import Change
from embassay.comparison.gate_files import flipped_items
from embassay.core.formatting import counted, difference_format, number, p_value, visible, with_interval
from embassay.core.store.canonical import canonical, write
from embassay.reports.findings import templates
from embassay.run.outputs.markdown import escaped

if TYPE_CHECKING:
    from rich.console import Console

SUFFIXES = (".md", ".json")
ORDER = ("worse", "better", "inconclusive", "not worse", "nothing changed")
"""Outcomes by importance."""
TEMPLATES = {"not worse": templates.CHANGE_NOT_WORSE, "inconclusive": templates.NO_CHANGE_SHOWN}
"""The sentences of outcomes that are no significant difference."""


def sentence(change: Change) -> str:
    """Return a difference in one or two sentences that can be read alone."""
    label, style, items = change.encoder, difference_format(change.format), counted(change.items, "item")
    where, smallest = f"{change.metric} on {change.corpus}", change.smallest_difference
    if change.outcome == "nothing changed":
        return templates.NOTHING_CHANGED.sentence(label=label, corpus=change.corpus, items=items)
    if change.difference is None:
        return templates.NOTHING_DEFINED.sentence(label=label, where=where)
    difference = with_interval(change.difference, change.low, change.high, style, signed=True)
    before, after = number(change.old, change.format), number(change.new, change.format)
    p = "" if change.p is None else f", p {p_value(change.p)}"
    course = f"{where} went from {before} to {after}, {difference}{p}."
    if change.undefined:
        left_out = counted(change.undefined, "item")
        course += f" The difference leaves out {left_out} with a value for one of the two only."
    flipped = ""
    if change.lost or change.gained:
        verb = "was" if len(change.lost) == 1 else "were"
        flipped = f" Of {items}, {len(change.lost):,} {verb} lost and {len(change.gained):,} gained."
    margin = number(change.margin, style)
    return TEMPLATES.get(change.outcome, templates.CHANGED).sentence(
        label=label,
        outcome=change.outcome,
        course=course,
        flipped=flipped,
        margin=margin,
        detectable="" if smallest is None else f" Minimum detectable difference: {number(smallest, style)}.",
        not_ruled_out=f" A loss of {margin} is not ruled out." if change.margin else "",
    )


def lists_of(comparison: RunComparison) -> dict[str, list[str]]:
    """Return what is said, by its title, the most important first."""
    ordered = sorted(comparison.differences, key=lambda change: ORDER.index(change.outcome))
    nothing = ["Nothing is compared: no encoder is in two of these runs, and there is no second candidate."]
    lists = {
        "Differences": [sentence(change) for change in ordered] or nothing,
        "What else differs": [*comparison.facts],
        "What does not match": [*comparison.notes],
    }
    return {title: sentences for title, sentences in lists.items() if sentences}


def show(comparison: RunComparison, console: Console) -> None:
    """Print a comparison: differences, what else differs, what does not match."""
    from embassay.reports.terminal import print_line

    print_line(console, visible(" → ".join(comparison.runs)))
    for title, sentences in lists_of(comparison).items():
        console.print()
        console.print(title, style="bold", markup=False)
        for text in sentences:
            print_line(console, f"• {visible(text)}", 2)


def markdown(comparison: RunComparison) -> str:
    """Return a comparison as Markdown, for example for a pull request, with the items that were lost and gained."""
    lines = [f"# {escaped(' → '.join(comparison.runs))}", ""]
    for title, sentences in lists_of(comparison).items():
        lines += [f"## {title}", ""]
        lines += [f"- {escaped(text)}" for text in sentences]
        lines.append("")
    lines += flipped_items(comparison.differences)
    return "\n".join(lines).rstrip() + "\n"


def write_comparison(comparison: RunComparison, path: Path) -> None:
    """Write a comparison as JSON or Markdown, by the suffix of the path, which is one of ``SUFFIXES``.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    content = canonical(asdict(comparison))
    if path.suffix == ".md":
        content = markdown(comparison).encode("utf-8", "replace")
    write(path, content)
