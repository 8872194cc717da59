"""The first screen: answers, scorecard, what to do next, failures; everything else is one step away."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

from embassay.findings import templates
from embassay.findings.decision import MANY
from embassay.findings.speed import MeasuredTimes
from embassay.formatting import counted, visible
from embassay.layout import Layout
from embassay.reports.answers import actions, answer_sections, group_statement, grouped
from embassay.reports.scorecard import MOST_LINES, legend, scorecard
from embassay.result import Finding, Result

LINES, MORE_LINES = 30, 40
"""Lines of the first screen at most, with few candidates on one corpus and with more; the paths come below it."""
SPARE = 6
"""Lines of them that only answers may use: findings that no answer says do not fill the screen."""
LEAST = 2
"""Lines that the answers to each diagnostic have in any case; the first is never cut."""
FEWER_LINES = 16
"""Lines of the scorecard where failures need some."""
MOST_FAILURES = 2
NO_BREAK = "\N{NO-BREAK SPACE}"


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
        most_of_card = FEWER_LINES if failures else MOST_LINES
        lines = list(card.intervals(width) or card.lines(width, most_of_card))
        lines += textwrap.wrap(legend(card), width, break_on_hyphens=False)

    # Answers get the lines that the other parts leave; a part needs one for its heading and one for the empty line.
    used = len(lines) + len(failures) + len(next_lines) + 2 * bool(next_lines) + 2 * bool(failures)
    is_small = len(result.verdicts) == 1 and len(result.verdicts[0].candidates) < MANY
    most = LINES if is_small else MORE_LINES
    sections, more = _sections(result, layouts, times, run, width, most - used)
    if more:
        statements = _shortened(f"and {counted(more, 'more statement')}: embassay show {run}", width)
        last_title, last_lines = sections[-1]
        sections[-1] = (last_title, [*last_lines, statements])

    # The decision, which is the first answer, comes before all values.
    for title, answers in sections:
        _print_part(console, title, answers)
    _print_part(console, "", lines)
    _print_part(console, "Next", next_lines)
    _print_part(console, "", failures)


def _print_part(console: Console, title: str, lines: Sequence[str]) -> None:
    if not lines:
        return
    if title:
        console.print(Text(visible(title), style="bold"))
    for line in lines:
        console.print(Text(line), soft_wrap=True)
    console.print()


def _sections(
    result: Result, layouts: Mapping[str, Layout], times: Mapping[str, MeasuredTimes], run: str, width: int, room: int
) -> tuple[list[tuple[str, list[str]]], int]:
    """Return what has to be said first, then the answers on each diagnostic and corpus; and how much is left out.

    Each section has a title and lines. Of several answers to one question the first is shown: it is about the first
    encoder, and the scorecard has the others.
    """
    # Where there is one section, every statement is about it.
    with_place = len(result.verdicts) > 1
    important = [finding for finding in result.findings if finding.severity == "high"]
    others = [finding for finding in result.findings if finding.severity != "high"]
    warnings, said = _bullets(important, width, room // 3, with_place=with_place)
    sections = [("Read first", warnings)] if warnings else []
    room -= len(warnings) + 2 * bool(warnings)
    of_diagnostics = list(answer_sections(result, layouts, times))
    for place, section in enumerate(of_diagnostics):
        # Every section may use an equal share of what the sections before it have left.
        most = max(LEAST, room // (len(of_diagnostics) - place) - 2)
        lines = list[str]()
        label = max((len(group[0].question) for group in section.groups), default=0) + 2
        for group in section.groups:
            command = ""
            if group[0].question == templates.FAILS_ON.question:
                command = f"embassay show {run} --failures"
            answer = _labelled(group[0].question, section.text(group), command, label, width)
            if lines and len(lines) + len(answer) > most:
                break
            lines += answer
            said += len(group)
        room -= len(lines) + 2
        sections.append((section.title, lines))
    further, more_said = _bullets(others, width, room - 2 - SPARE, with_place=with_place)
    if further:
        sections.append(("Also", further))
    return sections, len(result.statements) - said - more_said


def _bullets(findings: Sequence[Finding], width: int, room: int, *, with_place: bool) -> tuple[list[str], int]:
    """Return the lines of the first findings that fit, and how many findings they say."""
    lines = list[str]()
    said = 0
    for group in grouped(findings):
        bullet = _bullet(group_statement(group, with_place=with_place), width)
        if len(lines) + len(bullet) > room:
            break
        lines += bullet
        said += len(group)
    return lines, said


def _labelled(question: str, sentence: str, command: str, label: int, width: int) -> list[str]:
    """Return an answer with its question before it, wrapped, and after it the command that shows more, if any."""
    beginning = f"  {question}".ljust(label + 2)
    indent = " " * len(beginning)
    text = visible(sentence)
    if command:
        # A command that is copied must not be broken.
        text += f" Read them: {visible(command).replace(' ', NO_BREAK)}"
    lines = textwrap.wrap(text, width, initial_indent=beginning, subsequent_indent=indent, break_on_hyphens=False)
    return [line.replace(NO_BREAK, " ") for line in lines]


def _bullet(text: str, width: int) -> list[str]:
    """Return an item of a list, wrapped; only its bullet for an empty text."""
    lines = textwrap.wrap(visible(text), width, initial_indent="• ", subsequent_indent="  ", break_on_hyphens=False)
    return lines or ["•"]


def _shortened(text: str, width: int) -> str:
    text = visible(text)
    if len(text) <= width:
        return text
    return f"{text[: width - 1]}…"
