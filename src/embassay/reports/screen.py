"""The first screen: answers, scorecard, what to do next; everything else is one step away."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

from embassay.core.formatting import counted, visible
from embassay.core.layout import Layout
from embassay.core.result import Finding, Result
from embassay.reports.answers import AnswerSection, actions, answer_sections, group_statement, grouped
from embassay.reports.costs import Milliseconds
from embassay.reports.scorecard import legend, scorecard

LINES, MORE_LINES, FOR_CANDIDATE = 25, 40, 5
"""Lines of the first screen: with two candidates on one corpus, at most, and for each candidate that comes to these
two. The paths come below it."""
SPARE = 2
"""Lines of them that only answers may use: findings that no answer says do not fill the screen."""
LEAST = 2
"""Lines that the answers to each diagnostic have in any case; the first is never cut."""
LABEL, LONGEST_LABEL = 6, 16
"""Columns of a label below the table, and at most of one above it: after a longer one the answer begins later."""
NO_BREAK = "\N{NO-BREAK SPACE}"


def show_summary(
    result: Result, layouts: Mapping[str, Layout], milliseconds: Milliseconds, console: Console, run: str
) -> None:
    """Print the first screen of a result.

    Parameters
    ----------
    layouts
        The layout of each diagnostic.
    milliseconds
        Of one question, by encoder and corpus, where it was timed.
    run
        The run's folder, as the command that shows more needs it.
    """
    width = console.width
    card = scorecard(result, layouts, milliseconds)
    table = []
    if card.questions:
        drawn = card.intervals(width)
        table = drawn or list(card.lines(width))
        if not (drawn and card.all_are_above_chance):
            table += textwrap.wrap(legend(card), width, break_on_hyphens=False)

    below = [line for action in actions(result) for line in _labelled("Next", action, "", LABEL, width)]

    # Answers get the lines that the other parts leave; a part needs one for its heading and one for the empty line.
    most = MORE_LINES
    if len(result.verdicts) == 1:
        most = min(most, LINES + FOR_CANDIDATE * max(0, len(result.verdicts[0].candidates) - 2))
    used = len(table) + len(below) + 1
    of_diagnostics = list(answer_sections(result, layouts))
    sections, also, more = _sections(result, of_diagnostics, run, width, most - used)
    statements = f"{counted(more, 'statement')}, " if more else ""
    below += _labelled("More", f"{statements}tests and p-values:", f"embassay show {run}", LABEL, width)

    # The decision, which is the first answer, comes before all values.
    for title, answers in sections:
        _print_part(console, title, answers)
    _print_part(console, "", table)
    _print_part(console, "Also", also)
    _print_part(console, "", below)


def _print_part(console: Console, title: str, lines: Sequence[str]) -> None:
    if not lines:
        return
    if title:
        console.print(Text(visible(title), style="bold"))
    for line in lines:
        console.print(Text(line), soft_wrap=True)
    console.print()


def _sections(
    result: Result, of_diagnostics: Sequence[AnswerSection], run: str, width: int, room: int
) -> tuple[list[tuple[str, list[str]]], list[str], int]:
    """Return what has to be said first, then the answers on each diagnostic and corpus, each section with its title.

    Beside them what stands below the table, and how much is left out.
    """
    # Where there is one section, every statement is about it.
    with_place = len(result.verdicts) > 1
    important = [finding for finding in result.findings if finding.severity == "high"]
    # Beside a decision, only what limits it.
    has_answers = any(section.answers for section in of_diagnostics)
    worth = ("medium",) if has_answers else ("medium", "low")
    others = [finding for finding in result.findings if finding.severity in worth]
    warnings, said = _bullets(important, width, room // 3, with_place=with_place)
    sections = [("Read first", warnings)] if warnings else []
    room -= len(warnings) + 2 * bool(warnings)
    steps = {encoder.name for encoder in result.encoders if encoder.step}
    for place, section in enumerate(of_diagnostics):
        # Every section may use an equal share of what the sections before it have left.
        most = max(LEAST, room // (len(of_diagnostics) - place) - _height(section.title, (), width))
        lines = list[str]()
        label = max((len(answer.question) for answer in section.answers), default=0) + 2
        label = min(label, LONGEST_LABEL)
        before = ""
        for answer, text in section.texts():
            command = ""
            if answer.kind == "misses":
                command = f"embassay show {run} --failures"
            elif answer.kind == "use" and answer.encoder in steps:
                command = f"Its config: embassay report {run} --format config"
            # A question that has several answers is written once.
            question = "" if answer.question == before else answer.question
            answered = _labelled(question, text, command, label, width)
            if lines and len(lines) + len(answered) > most:
                continue
            before = answer.question
            lines += answered
            said += 1
        room -= _height(section.title, lines, width)
        sections.append((section.title, lines))
    also, more_said = _bullets(others, width, room - 2 - SPARE, with_place=with_place)
    return sections, also, len(result.statements) - said - more_said


def _height(title: str, lines: Sequence[str], width: int) -> int:
    """Return how many lines a part takes, with its title and the empty line after it."""
    return len(textwrap.wrap(visible(title), width)) + len(lines) + 1


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
    beginning = f"  {question}  " if len(question) > label - 2 else f"  {question}".ljust(label + 2)
    indent = " " * (label + 2)
    text = visible(sentence)
    if command:
        # A command that is copied must not be broken.
        text += f" {visible(command).replace(' ', NO_BREAK)}"
    lines = textwrap.wrap(text, width, initial_indent=beginning, subsequent_indent=indent, break_on_hyphens=False)
    return [line.replace(NO_BREAK, " ") for line in lines]


def _bullet(text: str, width: int) -> list[str]:
    """Return an item of a list, wrapped; only its bullet for an empty text."""
    lines = textwrap.wrap(visible(text), width, initial_indent="• ", subsequent_indent="  ", break_on_hyphens=False)
    return lines or ["•"]
