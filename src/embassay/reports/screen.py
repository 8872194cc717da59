"""The first screen: findings, scorecard, what to do next, failures; everything else is one step away."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import cast

from rich.console import Console
from rich.text import Text

from embassay.findings.speed import MeasuredTimes
from embassay.findings.support import cost
from embassay.formatting import counted, number, visible
from embassay.layout import Format, Layout
from embassay.reports.scorecard import MOST_LINES, legend, scorecard
from embassay.result import Finding, Result

LINES = 36
"""Lines of the first screen at most; the paths come below it."""
LEAST = 4
"""Lines that findings have in any case."""
FEWER_LINES = 16
"""Lines of the scorecard where failures need some."""
MOST_ACTIONS = 3
MOST_FAILURES = 2
ALSO = 4
"""Further encoders that are named with a finding at most."""


def show_summary(
    result: Result, layouts: Mapping[str, Layout], times: Mapping[str, MeasuredTimes], console: Console, run: str
) -> None:
    """Print the first screen of a result.

    Parameters
    ----------
    layouts
        The layout of each diagnostic.
    times
        For the same texts, by encoder, where they were measured.
    run
        The run's folder, as the command that shows more needs it.
    """
    width = console.width
    card = scorecard(result, layouts)
    failures = [_shortened(f"failed: {failure.sentence}", width) for failure in result.failed[:MOST_FAILURES]]
    if len(result.failed) > MOST_FAILURES:
        more_failures = f"and {counted(len(result.failed) - MOST_FAILURES, 'more failure')}: embassay show {run}"
        failures.append(_shortened(more_failures, width))
    next_lines = list[str]()
    for action in actions(result):
        next_lines += _bullet(action, width)

    lines = []
    if card.questions:
        lines = list(card.lines(width, FEWER_LINES if failures else MOST_LINES))
        lines += textwrap.wrap(legend(card), width, break_on_hyphens=False)

    # Findings get the lines that the other parts leave. Four are for their heading, for the line that counts further
    # findings, and for empty lines; the other parts, where they exist, need two for a heading and empty lines.
    used = len(lines) + len(failures) + len(next_lines) + 4 + 2 * bool(next_lines) + 2 * bool(failures)
    findings, more = _findings(result, times, width, LINES - used)
    if more:
        findings.append(_shortened(f"  and {counted(more, 'more finding')}: embassay show {run}", width))

    # The decision, which is the first finding, comes before all values.
    _print_part(console, "Findings", findings)
    _print_part(console, "", lines)
    _print_part(console, "Next", next_lines)
    _print_part(console, "", failures)


def _print_part(console: Console, title: str, lines: Sequence[str]) -> None:
    if not lines:
        return
    if title:
        console.print(Text(title, style="bold"))
    for line in lines:
        console.print(Text(line), soft_wrap=True)
    console.print()


def actions(result: Result) -> list[str]:
    """Return what to do next, from the most important findings on, each once."""
    every = dict.fromkeys(finding.action for finding in result.findings if finding.action)
    return list(every)[:MOST_ACTIONS]


def _findings(result: Result, times: Mapping[str, MeasuredTimes], width: int, room: int) -> tuple[list[str], int]:
    """Return the lines of the most important findings that fit, and how many findings do not."""
    groups = grouped(result.findings)
    has_sections = len({(verdict.diagnostic, verdict.corpus) for verdict in result.verdicts}) > 1
    lines: list[str] = []
    for place, group in enumerate(groups):
        statement = group_statement(group, with_place=has_sections)
        if group[0].title.startswith("May be the best"):
            verdict = result.verdict(group[0].diagnostic, group[0].corpus)
            statement = " ".join([statement, *cost(result, verdict, times)])
        bullet = _bullet(statement, width)
        if len(lines) + len(bullet) > max(room, LEAST):
            return lines, sum(len(rest) for rest in groups[place:])
        lines += bullet
    return lines, 0


def grouped(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Return the findings with those of several encoders that say the same together, in the order of the first."""
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for place, finding in enumerate(findings):
        # A finding about no single encoder stands alone.
        alone = ""
        if not finding.encoder:
            alone = str(place)
        key = (finding.severity, finding.diagnostic, finding.corpus, finding.title, alone)
        groups.setdefault(key, []).append(finding)
    return list(groups.values())


def group_statement(group: Sequence[Finding], *, with_place: bool = True) -> str:
    """Return the first finding of a group in full, and the other encoders of which it is true with their figures.

    Parameters
    ----------
    with_place
        Whether diagnostic and corpus are named; not needed where the run has only one of each.
    """
    first, others = group[0], group[1:]
    place = ""
    if with_place:
        place = first.corpus
        if first.diagnostic:
            place = f"{first.diagnostic} on {first.corpus}"

    title = own_title(first)
    if title:
        parts = [f"{title} ({place})." if place else f"{title}.", first.sentence]
    else:
        parts = [f"{place}: {first.sentence}" if place else first.sentence]
    return " ".join(filter(None, (*parts, also(others), first.consequence)))


def own_title(finding: Finding) -> str:
    """Return the title of a finding; an empty text if it only repeats the sentence."""
    if finding.title.lower() in finding.sentence.lower():
        return ""
    return finding.title


def also(others: Sequence[Finding]) -> str:
    """Name the other encoders of which a finding is true, with their figures; an empty text for none."""
    if not others:
        return ""
    named = ", ".join(_with_value(finding) for finding in others[:ALSO])
    if len(others) > ALSO:
        named += f" and {len(others) - ALSO} more"
    return f"Also: {named}."


def _with_value(finding: Finding) -> str:
    if finding.value is None:
        return finding.encoder
    style = cast("Format", finding.format)
    return f"{finding.encoder} {number(finding.value, style, signed=style == 'points')}"


def _bullet(text: str, width: int) -> list[str]:
    """Return an item of a list, wrapped; only its bullet for an empty text."""
    lines = textwrap.wrap(visible(text), width, initial_indent="• ", subsequent_indent="  ", break_on_hyphens=False)
    return lines or ["•"]


def _shortened(text: str, width: int) -> str:
    text = visible(text)
    if len(text) <= width:
        return text
    return f"{text[: width - 1]}…"
