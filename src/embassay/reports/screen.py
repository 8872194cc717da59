"""The first screen: answers, scorecard, what to do next; everything else is one step away."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from embassay.core.formatting import counted, visible
from embassay.core.layout import Layout
from embassay.core.result import Answer, Finding, Result
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
    statements = _statements(result, of_diagnostics, run, width, most - used)
    more = f"{counted(statements.left_out, 'statement')}, " if statements.left_out else ""
    if result.verdicts:
        below += _labelled("More", f"{more}tests and p-values:", f"embassay show {run}", LABEL, width)

    # The decision, which is the first answer, comes before all values.
    for title, lines in statements.sections:
        _print_part(console, title, lines)
    _print_part(console, "", table)
    _print_part(console, "Also", statements.also)
    _print_part(console, "", below)


def _print_part(console: Console, title: str, lines: Sequence[str]) -> None:
    if not lines:
        return
    if title:
        console.print(Text(visible(title), style="bold"))
    for line in lines:
        console.print(Text(line), soft_wrap=True)
    console.print()


@dataclass(frozen=True)
class Statements:
    """What the screen says in words.

    Attributes
    ----------
    sections
        Title and lines of each section above the table: what has to be read first, then the answers.
    also
        The lines below the table.
    left_out
        How many statements of the result the screen has no room for.
    """

    sections: list[tuple[str, list[str]]]
    also: list[str]
    left_out: int


def _statements(result: Result, of_diagnostics: Sequence[AnswerSection], run: str, width: int, room: int) -> Statements:
    """Choose the statements that fit into ``room`` lines.

    Warnings get at most a third of them; sections of answers share what is left; other findings fill the rest.
    """
    # Where there is one section, every statement is about it.
    with_place = len(result.verdicts) > 1
    sections = list[tuple[str, list[str]]]()
    warnings = [finding for finding in result.findings if finding.severity == "high"]
    lines, shown = _bullets(warnings, width, room // 3, with_place=with_place)
    if lines:
        sections.append(("Read first", lines))
        room -= len(lines) + 2

    # A section beside the one that makes the choice on its corpus says the least.
    chosen = {section.verdict.corpus for section in of_diagnostics if section.kind == "use"}
    beside = [section for section in of_diagnostics if section.kind == "highest" and section.verdict.corpus in chosen]
    reserved = sum(_lines_around(section.title, width) + LEAST for section in beside)
    to_come = len(of_diagnostics) - len(beside)
    for section in of_diagnostics:
        around, most = _lines_around(section.title, width), LEAST
        if section not in beside:
            # Every other section may use an equal share of what the sections before it have left.
            most = max(LEAST, (room - reserved) // to_come - around)
            to_come -= 1
        lines, shown_answers = _answers(result, section, run, width, most)
        sections.append((section.title, lines))
        shown += shown_answers
        room -= around + len(lines)
        reserved -= around + LEAST if section in beside else 0

    # Beside a decision, only what limits it.
    has_answers = any(section.answers for section in of_diagnostics)
    severities = ("medium",) if has_answers else ("medium", "low")
    others = [finding for finding in result.findings if finding.severity in severities]
    also, shown_others = _bullets(others, width, room - 2 - SPARE, with_place=with_place)
    return Statements(sections, also, len(result.statements) - shown - shown_others)


def _answers(result: Result, section: AnswerSection, run: str, width: int, most: int) -> tuple[list[str], int]:
    """Return the lines of the answers that fit into ``most`` lines, and how many answers they are.

    The first answer always fits. One that is too long is left out; shorter ones after it may fit.
    """
    longest_question = max((len(answer.question) for answer in section.answers), default=0)
    label = min(longest_question + 2, LONGEST_LABEL)
    lines = list[str]()
    shown = 0
    question_above = ""
    for answer, text in section.texts():
        # A question that has several answers is written once.
        question = "" if answer.question == question_above else answer.question
        answer_lines = _labelled(question, text, _command(result, answer, run), label, width)
        if not lines or len(lines) + len(answer_lines) <= most:
            lines += answer_lines
            shown += 1
            question_above = answer.question
    return lines, shown


def _command(result: Result, answer: Answer, run: str) -> str:
    """Return the command that shows more about an answer; empty if there is none."""
    if answer.kind == "misses":
        return f"embassay show {run} --failures"
    has_config = any(encoder.step and encoder.name == answer.encoder for encoder in result.encoders)
    if answer.kind == "use" and has_config:
        return f"Its config: embassay report {run} --format config"
    return ""


def _lines_around(title: str, width: int) -> int:
    """Return how many lines a section takes for its title and for the empty line after it."""
    return len(textwrap.wrap(visible(title), width)) + 1


def _bullets(findings: Sequence[Finding], width: int, room: int, *, with_place: bool) -> tuple[list[str], int]:
    """Return the lines of the first findings that fit, and how many findings they are."""
    lines = list[str]()
    shown = 0
    for group in grouped(findings):
        bullet = _bullet(group_statement(group, with_place=with_place), width)
        if len(lines) + len(bullet) > room:
            break
        lines += bullet
        shown += len(group)
    return lines, shown


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
