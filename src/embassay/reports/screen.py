"""The first screen: answers, scorecard, what to do next, failures; everything else is one step away."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TypeVar, cast

from rich.console import Console
from rich.text import Text

from embassay.findings.speed import MeasuredTimes
from embassay.findings.support import cost, rests_on
from embassay.formatting import counted, number, visible
from embassay.layout import Format, Layout
from embassay.reports.scorecard import MOST_LINES, legend, scorecard
from embassay.result import Answer, Finding, Result

LINES = 36
"""Lines of the first screen at most; the paths come below it."""
LEAST = 2
"""Lines that the answers to each diagnostic have in any case; the first is never cut."""
FIRST_QUESTIONS = ("Best set", "Highest", "Candidate", "Than ")
LAST_QUESTIONS = ("Fails on", "Cost", "How sure", "Not tested")
"""How questions begin that stand before and after those of the diagnostic itself."""
FEWER_LINES = 16
"""Lines of the scorecard where failures need some."""
MOST_ACTIONS = 3
MOST_FAILURES = 2
Said = TypeVar("Said", bound=Finding)
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
        most = FEWER_LINES if failures else MOST_LINES
        lines = list(card.intervals(width) or card.lines(width, most))
        lines += textwrap.wrap(legend(card), width, break_on_hyphens=False)

    # Answers get the lines that the other parts leave; a part needs one for its heading and one for the empty line.
    used = len(lines) + len(failures) + len(next_lines) + 2 * bool(next_lines) + 2 * bool(failures)
    sections, more = _sections(result, layouts, times, run, width, LINES - used)
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
        console.print(Text(title, style="bold"))
    for line in lines:
        console.print(Text(line), soft_wrap=True)
    console.print()


def actions(result: Result) -> list[str]:
    """Return what to do next, from the most important findings on, each once."""
    every = dict.fromkeys(finding.action for finding in result.statements if finding.action)
    return list(every)[:MOST_ACTIONS]


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
    of_the_run = [answer for answer in result.answers if not answer.diagnostic]
    for place, verdict in enumerate(result.verdicts, 1):
        here = [one for one in result.answers if (one.diagnostic, one.corpus) == (verdict.diagnostic, verdict.corpus)]
        is_last = place == len(result.verdicts)
        first_answers = _first_answers([*here, *of_the_run] if is_last else here)
        # Every section may use an equal share of what the sections before it have left.
        most = max(LEAST, room // (len(result.verdicts) - place + 1) - 2)
        lines = list[str]()
        label = max((len(group[0].question) for group in first_answers), default=0) + 2
        for group in first_answers:
            more = list[str]()
            if group[0].question == "Cost":
                more += cost(result, verdict, times)
            elif group[0].question == "Fails on":
                more.append(f"Read them: embassay show {run} --failures")
            statement = " ".join([group[0].sentence, also(group[1:]), group[0].consequence, *more])
            answer = _labelled(group[0].question, " ".join(statement.split()), label, width)
            if lines and len(lines) + len(answer) > most:
                break
            lines += answer
            said += len(group)
        room -= len(lines) + 2
        title = f"{layouts[verdict.diagnostic].title} on {verdict.corpus}: {rests_on(result, verdict)}"
        sections.append((_shortened(title, width), lines))
    further, more_said = _bullets(others, width, room - 2, with_place=with_place)
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


def _first_answers(answers: Sequence[Answer]) -> list[list[Answer]]:
    """Return the first answer to each question, with the other encoders of which it is true, as they are read."""
    by_question: dict[str, list[Answer]] = {}
    for group in grouped(answers):
        by_question.setdefault(group[0].question, group)
    return sorted(by_question.values(), key=lambda group: _place_of(group[0].question))


def _place_of(question: str) -> int:
    """Return the place of a question among the others: those that all diagnostics share are first or last."""
    for place, beginning in enumerate(FIRST_QUESTIONS):
        if question.startswith(beginning):
            return place
    middle = len(FIRST_QUESTIONS)
    return middle + 1 + LAST_QUESTIONS.index(question) if question in LAST_QUESTIONS else middle


def _labelled(question: str, sentence: str, label: int, width: int) -> list[str]:
    """Return an answer with its question before it, wrapped."""
    beginning = f"  {question}".ljust(label + 2)
    indent = " " * len(beginning)
    return textwrap.wrap(
        visible(sentence), width, initial_indent=beginning, subsequent_indent=indent, break_on_hyphens=False
    )


def grouped(findings: Sequence[Said]) -> list[list[Said]]:
    """Return the findings with those of several encoders that say the same together, in the order of the first."""
    groups: dict[tuple[str, ...], list[Said]] = {}
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
