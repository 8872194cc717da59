"""What a check writes: lines for the terminal, JUnit XML, Markdown for a pull request, JSON, a step summary."""

from __future__ import annotations

import os
import textwrap
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from embassay.comparison.gate import Check, Floor
from embassay.comparison.gate_words import (
    change_figure,
    change_sentence,
    floor_figure,
    floor_sentence,
    margin_figure,
    summary,
    value_figure,
)
from embassay.comparison.losses import Change
from embassay.errors import OutputError, SpecError
from embassay.formatting import counted, interval, number, visible
from embassay.reports.markdown import escaped, folded
from embassay.store.canonical import canonical, write
from embassay.store.paths import output_path

WIDTH = 80
"""Columns of the terminal."""
SCHEMA = 1
"""The version of what ``--json`` writes."""
MARKDOWN_LIMIT = 60_000
"""Characters of Markdown; GitHub refuses a comment of more than 65,536."""
LISTED = 50
"""Items that the Markdown lists of each kind, at most, for one quantity."""
Paths = Mapping[Literal["junit", "markdown", "json"], Path | str | None]


def write_files(check: Check, paths: Paths) -> None:
    """Write the files of a check, and the step summary where GitHub asks for one.

    Raises
    ------
    OutputError
        If one of them cannot be written.
    SpecError
        If two of them have the same path.
    """
    makers = {"junit": junit, "markdown": markdown_bytes, "json": json_bytes}
    contents: dict[Path, bytes] = {}
    for kind, path in paths.items():
        if path is None:
            continue
        target = output_path(path)
        if target in contents:
            raise SpecError(f"--{kind} {path}: this file is already used for another output of the check")
        contents[target] = makers[kind](check)
    for target, content in contents.items():
        write(target, content)
    summary_file = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary_file:
        _append(output_path(summary_file), markdown_bytes(check))


def _append(path: Path, content: bytes) -> None:
    """Append to the step summary, to which other steps write as well."""
    try:
        with path.open("ab") as file:
            file.write(content)
    except OSError as error:
        raise OutputError(f"{path} ($GITHUB_STEP_SUMMARY): cannot be written: {error.strerror}") from None


# --- terminal --------------------------------------------------------------------------------------------


def terminal_lines(check: Check) -> list[str]:
    """Return one line for each quantity and floor, then the sentences of what did not pass, and the outcome."""
    lines = list(_table(check))
    for failure in check.failures:
        lines += _wrapped(f"failed: {failure}")
    for change in check.changes:
        if change.outcome != "pass":
            lines += _wrapped(change_sentence(change))
    for floor in check.floors:
        if floor.outcome != "pass":
            lines += _wrapped(floor_sentence(floor))
    for note in check.notes:
        lines += _wrapped(f"note: {note}")
    return [*lines, *_wrapped(summary(check))]


@dataclass(frozen=True)
class _Line:
    """The texts of one line of the terminal's table."""

    outcome: str
    name: str
    figure: str
    limit: str


def _table(check: Check) -> Iterator[str]:
    """Yield a line of at most ``WIDTH`` columns for each quantity and floor, with aligned columns."""
    rows: list[_Line] = []
    for change in check.changes:
        name = visible(f"{change.encoder} {change.quantity} on {change.corpus}")
        # Lines are short, so the unit is left out.
        figure = change_figure(change).replace(" points", "")
        margin = margin_figure(change).replace(" points", "")
        rows.append(_Line(change.outcome, name, figure, f"margin {margin}"))
    for floor in check.floors:
        name = visible(f"{floor.encoder} {floor.quantity} on {floor.corpus}")
        rows.append(_Line(floor.outcome, name, floor_figure(floor), _limit(floor)))
    if not rows:
        return

    outcome_width = max(len(row.outcome) for row in rows)
    name_width = max(len(row.name) for row in rows)
    figure_width = max(len(row.figure) for row in rows)
    limit_width = max(len(row.limit) for row in rows)
    # Names are cut where a line would be wider than the terminal; three spaces stand between the four columns.
    room_for_name = WIDTH - outcome_width - figure_width - limit_width - 3
    name_width = min(name_width, room_for_name)
    for row in rows:
        name = _cut(row.name, name_width)
        yield f"{row.outcome:<{outcome_width}} {name:<{name_width}} {row.figure:>{figure_width}} {row.limit}"


def _limit(floor: Floor) -> str:
    """Return a floor with its direction: ``floor 0.95`` or ``at most 0.2``."""
    direction = "at most" if floor.lower_is_better else "floor"
    return f"{direction} {floor.floor:g}"


def _cut(text: str, width: int) -> str:
    """Shorten a text in its middle: both the encoder in front and the corpus at the end matter."""
    if len(text) <= width:
        return text
    kept = width - len("…")
    at_end = kept // 2
    at_start = kept - at_end
    return f"{text[:at_start]}…{text[len(text) - at_end :]}"


def _wrapped(text: str) -> list[str]:
    """Return the lines of a text that is wrapped at ``WIDTH`` columns; all but the first are indented."""
    return textwrap.wrap(visible(text), WIDTH, subsequent_indent="  ", break_on_hyphens=False)


# --- JSON ------------------------------------------------------------------------------------------------


def json_bytes(check: Check) -> bytes:
    """Return a check as canonical JSON."""
    changes = [{**asdict(change), "sentence": change_sentence(change)} for change in check.changes]
    floors = [_floor_content(floor) for floor in check.floors]
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "run": check.run,
        "baseline": check.baseline,
        "outcome": check.outcome,
        "exit_code": check.exit_code,
        "summary": summary(check),
        "inconclusive": check.inconclusive,
        "changes": changes,
        "floors": floors,
        "failures": check.failures,
        "notes": check.notes,
    }
    return canonical(content)


def _floor_content(floor: Floor) -> dict[str, Any]:
    """Return a floor for JSON."""
    # The outcome of a floor is a property, which asdict leaves out.
    return {**asdict(floor), "outcome": floor.outcome, "sentence": floor_sentence(floor)}


# --- JUnit -----------------------------------------------------------------------------------------------


def junit(check: Check) -> bytes:
    """Return a check as JUnit XML: one test case for each quantity, floor and failure.

    A regression is a failure, a candidate that failed is an error, and an inconclusive test is skipped, unless
    ``inconclusive`` says that it passes or fails.
    """
    suites = ET.Element("testsuites", name="embassay check")
    suite = ET.SubElement(suites, "testsuite", name="embassay check")
    cases = list(_cases(check))
    counts = {
        "tests": len(cases),
        "failures": len([case for case in cases if case.mark == "failure"]),
        "errors": len([case for case in cases if case.mark == "error"]),
    }
    for name, count in counts.items():
        suites.set(name, str(count))
        suite.set(name, str(count))
    # The outer element has no such attribute.
    skipped = [case for case in cases if case.mark == "skipped"]
    suite.set("skipped", str(len(skipped)))

    for case in cases:
        classname = visible(f"embassay.{case.place}")
        element = ET.SubElement(suite, "testcase", classname=classname, name=visible(case.name))
        if case.mark:
            ET.SubElement(element, case.mark, message=visible(case.sentence))
        else:
            ET.SubElement(element, "system-out").text = visible(case.sentence)
    if check.notes:
        ET.SubElement(suite, "system-out").text = visible(" | ".join(check.notes))
    ET.indent(suites)
    xml: bytes = ET.tostring(suites, encoding="utf-8", xml_declaration=True)
    return xml + b"\n"


@dataclass(frozen=True)
class _Case:
    """A test case.

    Attributes
    ----------
    place
        The second half of its class name: ``retrieval.docs``.
    mark
        The element that says why it does not pass: ``failure``, ``error`` or ``skipped``; empty for one that passes.
    """

    place: str
    name: str
    mark: str
    sentence: str


def _cases(check: Check) -> Iterator[_Case]:
    """Yield a test case for each failure, quantity and floor."""
    for reason in check.failures:
        encoder_and_task = reason.split(":")[0]
        yield _Case("run", encoder_and_task, "error", f"failed: {reason}")
    for change in check.changes:
        place = f"{change.diagnostic}.{change.corpus}"
        yield _Case(place, f"{change.encoder}: {change.quantity}", _mark(check, change), change_sentence(change))
    for floor in check.floors:
        place = f"{floor.diagnostic}.{floor.corpus}"
        mark = "failure" if floor.outcome == "regression" else ""
        yield _Case(place, f"{floor.encoder}: floor {floor.quantity}", mark, floor_sentence(floor))


def _mark(check: Check, change: Change) -> str:
    """Return the element that marks the test case of a quantity; empty for one that passes."""
    if change.outcome == "pass":
        return ""
    if change.outcome == "regression":
        return "failure"
    if check.inconclusive == "pass":
        return ""
    if check.inconclusive == "fail":
        return "failure"
    return "skipped"


# --- Markdown --------------------------------------------------------------------------------------------


def markdown_bytes(check: Check) -> bytes:
    """Return :func:`markdown` in UTF-8."""
    return markdown(check).encode("utf-8", "replace")


def markdown(check: Check) -> str:
    """Return a check as Markdown for a comment: outcome, table, sentences, flipped items.

    Where there is too much for a comment, the lists of items are left out first, then further sentences and rows; a
    line says how many.
    """
    lines = [f"### Embassay check: {check.outcome}", "", escaped(summary(check)), ""]
    lines += [f"- **failed**: {escaped(failure)}" for failure in check.failures[:LISTED]]
    lines += _markdown_table(check)

    sentences = [f"- {escaped(sentence)}" for sentence in _not_passed(check)]
    notes = [f"- note: {escaped(note)}" for note in check.notes]
    changes = [change for change in check.changes if change.lost or change.gained]
    # What did not pass is listed first.
    changes.sort(key=lambda change: change.outcome == "pass")
    lists_of_items = [_flipped_items(change) for change in changes]

    # Each line ends with a line feed.
    characters_used = sum(len(line) + 1 for line in lines)
    limited = _LimitedLines(MARKDOWN_LIMIT - characters_used)
    limited.add(sentences, "sentences")
    limited.add(notes, "notes")
    limited.add(lists_of_items, "lists of items")
    return "\n".join([*lines, *limited.lines]) + "\n"


class _LimitedLines:
    """Lines that have together at most so many characters; once a line does not fit, no further one is added."""

    def __init__(self, characters: int) -> None:
        self.characters_left = characters
        self.lines: list[str] = []

    def add(self, lines: Sequence[str], what: str) -> None:
        """Add an empty line and these lines; instead of those that do not fit, a line with their number.

        Parameters
        ----------
        what
            What the lines are called: ``notes``.
        """
        if lines:
            self.lines.append("")
        for place, line in enumerate(lines):
            self.characters_left -= len(line) + 1
            if self.characters_left < 0:
                self.lines.append(f"\n{len(lines) - place:,} more {what} in the other outputs.")
                return
            self.lines.append(line)


def _not_passed(check: Check) -> list[str]:
    """Return the sentences of the quantities and floors that did not pass."""
    sentences = [change_sentence(change) for change in check.changes if change.outcome != "pass"]
    return sentences + [floor_sentence(floor) for floor in check.floors if floor.outcome != "pass"]


def _markdown_table(check: Check) -> list[str]:
    """Return the table of all quantities, then of all floors; of each, those that did not pass stand first."""
    changes = sorted(check.changes, key=lambda change: change.outcome == "pass")
    floors = sorted(check.floors, key=lambda floor: floor.outcome == "pass")
    rows = [_change_row(change) for change in changes]
    rows += [_floor_row(floor) for floor in floors]
    if not rows:
        return []
    lines = [
        "| outcome | encoder | quantity | corpus | baseline | run | change | limit |",
        "|---|---|---|---|--:|--:|--:|--:|",
    ]
    length = 0
    for place, cells in enumerate(rows):
        line = f"| {' | '.join(cells)} |"
        length += len(line)
        # Half of the comment is left for sentences.
        if length > MARKDOWN_LIMIT // 2:
            return [*lines, "", f"{counted(len(rows) - place, 'more row')} in the other outputs."]
        lines.append(line)
    return lines


def _bold_unless_passed(outcome: str) -> str:
    """Return an outcome in Markdown."""
    return outcome if outcome == "pass" else f"**{outcome}**"


def _change_row(change: Change) -> list[str]:
    """Return the cells of a quantity's row in Markdown."""
    return [
        _bold_unless_passed(change.outcome),
        escaped(change.encoder),
        escaped(change.quantity),
        escaped(change.corpus),
        value_figure(change, change.old),
        value_figure(change, change.new),
        escaped(change_figure(change)),
        f"margin {margin_figure(change)}",
    ]


def _floor_row(floor: Floor) -> list[str]:
    """Return the cells of a floor's row in Markdown; a floor has no baseline, and its interval is that of the value."""
    return [
        _bold_unless_passed(floor.outcome),
        escaped(floor.encoder),
        escaped(floor.quantity),
        escaped(floor.corpus),
        "",
        number(floor.value, "number"),
        escaped(interval(floor.low, floor.high, "number")),
        _limit(floor),
    ]


def _flipped_items(change: Change) -> str:
    """Return the flipped items of a quantity as a block of Markdown that is folded at first."""
    paragraphs = []
    if change.lost:
        paragraphs.append(f"Lost: {_listed_items(change.lost)}")
    if change.gained:
        paragraphs.append(f"Gained: {_listed_items(change.gained)}")
    counts = f"{len(change.lost):,} lost, {len(change.gained):,} gained"
    title = f"{change.encoder}, {change.quantity} on {change.corpus}: {counts}"
    return folded(title, "\n\n".join(paragraphs))


def _listed_items(items: Sequence[str]) -> str:
    """Return the first ``LISTED`` ids of items in Markdown, and how many more there are."""
    listed = ", ".join(escaped(item) for item in items[:LISTED])
    if len(items) > LISTED:
        listed += f" and {len(items) - LISTED:,} more"
    return listed
