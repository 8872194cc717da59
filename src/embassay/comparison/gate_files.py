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
from embassay.formatting import interval, number, visible
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
        figure = _without_unit(change_figure(change))
        margin = _without_unit(margin_figure(change))
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
    # Names give way where a line would be wider than the terminal; three spaces stand between the columns.
    name_width = min(name_width, WIDTH - outcome_width - figure_width - limit_width - 3)
    for row in rows:
        name = _cut(row.name, name_width)
        yield f"{row.outcome:<{outcome_width}} {name:<{name_width}} {row.figure:>{figure_width}} {row.limit}"


def _limit(floor: Floor) -> str:
    """Return a floor with its direction: ``floor 0.95`` or ``at most 0.2``."""
    direction = "at most" if floor.lower_is_better else "floor"
    return f"{direction} {floor.floor:g}"


def _without_unit(text: str) -> str:
    return text.replace(" points", "")


def _cut(text: str, width: int) -> str:
    """Shorten a text in its middle: both the encoder in front and the corpus at the end matter."""
    if len(text) <= width:
        return text
    half = (width - 1) // 2
    return f"{text[: width - 1 - half]}…{text[len(text) - half :]}"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(visible(text), WIDTH, subsequent_indent="  ", break_on_hyphens=False)


# --- JSON ------------------------------------------------------------------------------------------------


def json_bytes(check: Check) -> bytes:
    """Return a check as canonical JSON."""
    changes = [{**asdict(change), "sentence": change_sentence(change)} for change in check.changes]
    # The outcome of a floor is a property, which asdict leaves out.
    floors = [{**asdict(floor), "outcome": floor.outcome, "sentence": floor_sentence(floor)} for floor in check.floors]
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


# --- JUnit -----------------------------------------------------------------------------------------------


def junit(check: Check) -> bytes:
    """Return a check as JUnit XML: one test case for each quantity, floor and failure.

    A regression is a failure, a candidate that failed is an error, and an inconclusive test is skipped, unless
    ``inconclusive`` says that it passes or fails.
    """
    suite = ET.Element("testsuite", name="embassay check")
    counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for reason in check.failures:
        case = _case(suite, counts, "run", reason.split(":")[0])
        _mark(case, counts, "error", f"failed: {reason}")
    for change in check.changes:
        case = _case(suite, counts, f"{change.diagnostic}.{change.corpus}", f"{change.encoder}: {change.quantity}")
        _mark(case, counts, _kind(check, change), change_sentence(change))
    for floor in check.floors:
        case = _case(suite, counts, f"{floor.diagnostic}.{floor.corpus}", f"{floor.encoder}: floor {floor.quantity}")
        kind = "failure" if floor.outcome == "regression" else ""
        _mark(case, counts, kind, floor_sentence(floor))
    for name, count in counts.items():
        suite.set(name, str(count))
    if check.notes:
        ET.SubElement(suite, "system-out").text = visible(" | ".join(check.notes))
    suites = ET.Element("testsuites", name="embassay check")
    for name in ("tests", "failures", "errors"):
        suites.set(name, str(counts[name]))
    suites.append(suite)
    ET.indent(suites)
    written: bytes = ET.tostring(suites, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _case(suite: ET.Element, counts: dict[str, int], place: str, name: str) -> ET.Element:
    counts["tests"] += 1
    return ET.SubElement(suite, "testcase", classname=visible(f"embassay.{place}"), name=visible(name))


def _kind(check: Check, change: Change) -> str:
    """Return the element that marks a test case; empty for one that passes."""
    if change.outcome == "pass":
        return ""
    if change.outcome == "regression":
        return "failure"
    if check.inconclusive == "pass":
        return ""
    if check.inconclusive == "fail":
        return "failure"
    return "skipped"


def _mark(case: ET.Element, counts: dict[str, int], kind: str, sentence: str) -> None:
    """Add a sentence to a test case, as the reason why it does not pass or as its output."""
    names = {"failure": "failures", "error": "errors", "skipped": "skipped"}
    if kind:
        counts[names[kind]] += 1
        ET.SubElement(case, kind, message=visible(sentence))
    else:
        ET.SubElement(case, "system-out").text = visible(sentence)


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
    lists_of_items = [_flipped(change) for change in changes]

    # Each line ends with a line feed.
    used = sum(len(line) + 1 for line in lines)
    limited = _Limited(MARKDOWN_LIMIT - used)
    limited.add(sentences, "sentences")
    limited.add(notes, "notes")
    limited.add(lists_of_items, "lists of items")
    return "\n".join([*lines, *limited.lines]) + "\n"


class _Limited:
    """Lines that fit into a number of characters."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.lines: list[str] = []

    def add(self, lines: Sequence[str], what: str) -> None:
        """Add lines after an empty one; those that do not fit are counted."""
        if lines:
            self.lines.append("")
        for place, line in enumerate(lines):
            self.room -= len(line) + 1
            if self.room < 0:
                self.lines.append(f"\n{len(lines) - place:,} more {what} in the other outputs.")
                return
            self.lines.append(line)


def _not_passed(check: Check) -> list[str]:
    """Return the sentences of the quantities and floors that did not pass."""
    sentences = [change_sentence(change) for change in check.changes if change.outcome != "pass"]
    return sentences + [floor_sentence(floor) for floor in check.floors if floor.outcome != "pass"]


def _markdown_table(check: Check) -> list[str]:
    """Return the table of all quantities and floors; what did not pass stands first."""
    rows = [_change_row(change) for change in sorted(check.changes, key=lambda one: one.outcome == "pass")]
    rows += [_floor_row(floor) for floor in sorted(check.floors, key=lambda one: one.outcome == "pass")]
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
        if length > MARKDOWN_LIMIT // 2:
            return [*lines, "", f"{len(rows) - place:,} more rows in the other outputs."]
        lines.append(line)
    return lines


def _bold_unless_passed(outcome: str) -> str:
    return outcome if outcome == "pass" else f"**{outcome}**"


def _change_row(change: Change) -> list[str]:
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


def _flipped(change: Change) -> str:
    """Return the flipped items of a quantity, the lost ones first, in a block that is closed at first."""
    paragraphs = []
    for word, items in (("Lost", change.lost), ("Gained", change.gained)):
        if not items:
            continue
        listed = ", ".join(escaped(item) for item in items[:LISTED])
        if len(items) > LISTED:
            listed += f" and {len(items) - LISTED:,} more"
        paragraphs.append(f"{word}: {listed}")
    counts = f"{len(change.lost):,} lost, {len(change.gained):,} gained"
    title = f"{change.encoder}, {change.quantity} on {change.corpus}: {counts}"
    return folded(title, "\n\n".join(paragraphs))
