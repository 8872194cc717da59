"""What a check writes: lines for the terminal, JUnit XML, Markdown for a pull request, JSON, a step summary."""

from __future__ import annotations

import os
import textwrap
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from embassay.comparison.gate import Check, Floor
from embassay.comparison.gate_words import (
    change_figure,
    change_sentence,
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


def _table(check: Check) -> Iterator[str]:
    """Yield a line of at most ``WIDTH`` columns for each quantity and floor, with aligned columns."""
    rows: list[tuple[str, str, str, str]] = []
    for change in check.changes:
        name = visible(f"{change.encoder} {change.quantity} on {change.corpus}")
        figure = _without_unit(change_figure(change))
        margin = _without_unit(margin_figure(change))
        rows.append((change.outcome, name, figure, f"margin {margin}"))
    for floor in check.floors:
        name = visible(f"{floor.encoder} {floor.quantity} on {floor.corpus}")
        figure = f"{number(floor.value, 'number')} {interval(floor.low, floor.high, 'number')}".strip()
        limit = "at most" if floor.lower_is_better else "floor"
        rows.append((floor.outcome, name, figure, f"{limit} {floor.floor:g}"))
    if not rows:
        return

    outcome_width, name_width, figure_width, limit_width = (max(map(len, column)) for column in zip(*rows, strict=True))
    # Names give way where a line would be wider than the terminal; three spaces stand between the columns.
    name_width = min(name_width, WIDTH - outcome_width - figure_width - limit_width - 3)
    for outcome, name, figure, limit in rows:
        shown = _cut(name, name_width)
        yield f"{outcome:<{outcome_width}} {shown:<{name_width}} {figure:>{figure_width}} {limit}"


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
        _mark(case, counts, "failure" if floor.outcome == "regression" else "", floor_sentence(floor))
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
    if change.outcome == "inconclusive":
        return {"pass": "", "fail": "failure"}.get(check.inconclusive, "skipped")
    return "failure" if change.outcome == "regression" else ""


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
    # Each line ends with a line feed.
    used = sum(len(line) + 1 for line in lines)
    limited = _Limited(MARKDOWN_LIMIT - used)
    limited.add([f"- {escaped(sentence)}" for sentence in _not_passed(check)], "sentences")
    limited.add([f"- note: {escaped(note)}" for note in check.notes], "notes")
    # What did not pass is listed first.
    changes = sorted(check.changes, key=lambda change: change.outcome == "pass")
    limited.add([_flipped(change) for change in changes if change.lost or change.gained], "lists of items")
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
    limit = "at most" if floor.lower_is_better else "floor"
    return [
        _bold_unless_passed(floor.outcome),
        escaped(floor.encoder),
        escaped(floor.quantity),
        escaped(floor.corpus),
        "",
        number(floor.value, "number"),
        escaped(interval(floor.low, floor.high, "number")),
        f"{limit} {floor.floor:g}",
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
    return folded(f"{change.encoder}, {change.quantity} on {change.corpus}: {counts}", "\n\n".join(paragraphs))
