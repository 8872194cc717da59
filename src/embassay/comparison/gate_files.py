"""What a check writes: lines for the terminal, JUnit XML, Markdown for a pull request, JSON, a step summary."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from embassay.comparison.gate_words import Line, failures_of, lines_of, summary
from embassay.comparison.differences import Change
from embassay.comparison.gate import Check, Floor
from embassay.core.errors import OutputError, SpecError, begun
from embassay.core.formatting import shortened, visible
from embassay.core.store.canonical import canonical, write
from embassay.core.store.paths import output_path
from embassay.run.outputs.junit import CheckedCase, Mark, junit_xml
from embassay.run.outputs.markdown import escaped, folded

WIDTH = 80
"""Columns of the terminal."""
MAX_PRINTED = 10
"""Items that the terminal lists for one metric, at most."""
SCHEMA = 2
"""The version of what ``--json`` writes."""
MARKDOWN_LIMIT = 60_000
"""Characters of Markdown; GitHub refuses a comment of more than 65,536."""
LONGEST_TEXT = 100
"""Characters of an item's text at most."""
MAX_LISTED = 50
"""Items that the Markdown lists of each kind, at most, for one metric."""
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
    """Return the sentence of each metric and floor, the items that were lost below it, and the outcome of several."""
    lines = lines_of(check)
    printed = _wrapped(failures_of(check))
    for line in lines:
        printed += _wrapped([line.sentence])
        # What was lost since the anchor is news only where it fails.
        if isinstance(line.record, Change) and not (line.record.since and line.passed):
            printed += _lost_items(line.record)
    printed += _wrapped([f"note: {note}" for note in check.notes])
    if len(lines) + len(check.failures) > 1:
        printed += _wrapped([summary(check)])
    return printed


def _wrapped(sentences: Sequence[str]) -> list[str]:
    """Return sentences in lines of at most ``WIDTH`` columns."""
    lines = []
    for sentence in sentences:
        lines += textwrap.wrap(visible(sentence), WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    return lines


def _lost_items(change: Change) -> Iterator[str]:
    """Yield a line for each of the first items that were lost, with its text if the run has it."""
    for item, text in list(change.lost.items())[:MAX_PRINTED]:
        shown = " ".join(text.split())
        yield shortened(visible(f"  - {item}: {shown}" if shown else f"  - {item}"), WIDTH)
    if len(change.lost) > MAX_PRINTED:
        yield f"  and {len(change.lost) - MAX_PRINTED:,} more in --markdown and --json"


# --- JSON ------------------------------------------------------------------------------------------------


def json_bytes(check: Check) -> bytes:
    """Return a check as canonical JSON."""
    # The outcome is a property, which asdict leaves out.
    records = {Change: list[object](), Floor: list[object]()}
    for line in lines_of(check):
        content = {**asdict(line.record), "outcome": line.record.outcome, "sentence": line.sentence}
        records[type(line.record)].append(content)
    return canonical(
        {
            "schema": SCHEMA,
            "run": check.run,
            "baseline": check.baseline,
            "outcome": check.outcome,
            "exit_code": check.exit_code,
            "summary": summary(check),
            "strict": check.strict,
            "sampled": check.sampled,
            "changes": records[Change],
            "floors": records[Floor],
            "failures": check.failures,
            "notes": check.notes,
        }
    )


# --- JUnit -----------------------------------------------------------------------------------------------


def junit(check: Check) -> bytes:
    """Return a check as JUnit XML: one test case for each metric, floor and failure.

    A regression is a failure, a candidate that failed is an error, and an inconclusive test is skipped, or a failure of
    a strict check.
    """
    unclear: Mark = "failure" if check.strict else "skipped"
    marks: dict[str, Mark] = {"pass": "", "regression": "failure", "inconclusive": unclear}
    cases = [CheckedCase("run", reason.split(":")[0], "error", f"failed: {reason}") for reason in check.failures]
    for line in lines_of(check):
        record = line.record
        place, name = f"{record.diagnostic}.{record.corpus}", f"{record.encoder}: {line.name}"
        lost = _lost_items(record) if isinstance(record, Change) else ()
        cases.append(CheckedCase(place, name, marks[record.outcome], "\n".join([line.sentence, *lost])))
    return junit_xml("embassay check", cases, " | ".join(check.notes))


# --- Markdown --------------------------------------------------------------------------------------------


def markdown_bytes(check: Check) -> bytes:
    """Return :func:`markdown` in UTF-8."""
    return markdown(check).encode("utf-8", "replace")


def markdown(check: Check) -> str:
    """Return a check as Markdown for a comment: outcome, sentences, flipped items.

    Where there is too much for a comment, the lists of items are left out first, then further sentences; a line says
    how many.
    """
    # What did not pass is listed first: of the metrics, then of the floors.
    worst_first = sorted(lines_of(check), key=lambda line: (line.passed, isinstance(line.record, Floor)))
    text = [f"### Embassay check: {check.outcome}", "", escaped(summary(check))]
    sections = {
        "failures": [f"- **failed**: {escaped(failure)}" for failure in check.failures[:MAX_LISTED]],
        "sentences": [_bullet(line) for line in worst_first],
        "notes": [f"- note: {escaped(note)}" for note in check.notes],
        "lists of items": _flipped_items(worst_first),
    }
    for what, lines in sections.items():
        if lines:
            # Each line ends with a line feed.
            room = MARKDOWN_LIMIT - sum(len(line) + 1 for line in text)
            text += ["", *_fitting(lines, room, what)]
    return "\n".join(text) + "\n"


def _bullet(line: Line) -> str:
    """Return the sentence of a metric or floor as an item of a list; the outcome is bold unless it passed."""
    outcome, _, rest = line.sentence.partition(":")
    return f"- {outcome if line.passed else f'**{outcome}**'}:{escaped(rest)}"


def _fitting(lines: Sequence[str], room: int, what: str) -> list[str]:
    """Return the lines that fit into so many characters, and instead of the others a line with their number.

    Parameters
    ----------
    what
        What the lines are called: ``notes``.
    """
    kept: list[str] = []
    for place, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return [*kept, "", f"{len(lines) - place:,} more {what} in the other outputs."]
        kept.append(line)
    return kept


def _flipped_items(lines: Sequence[Line]) -> list[str]:
    """Return the flipped items of each metric that has some, as blocks of Markdown that are folded at first."""
    blocks = []
    for line in lines:
        change = line.record
        if isinstance(change, Floor) or not (change.lost or change.gained):
            continue
        listed = {"Lost": change.lost, "Gained": change.gained}
        paragraphs = [f"{direction}:\n\n{_listed_items(items)}" for direction, items in listed.items() if items]
        counts = f"{len(change.lost):,} lost, {len(change.gained):,} gained"
        title = f"{change.encoder}, {change.name} on {change.corpus}: {counts}"
        blocks.append(folded(title, "\n\n".join(paragraphs)))
    return blocks


def _listed_items(items: Mapping[str, str]) -> str:
    """Return the first ``MAX_LISTED`` items in Markdown, with their texts, and how many more there are."""
    lines = []
    for item, text in list(items.items())[:MAX_LISTED]:
        shown = begun(" ".join(text.split()), LONGEST_TEXT)
        lines.append(f"- {escaped(item)}: {escaped(shown)}" if shown else f"- {escaped(item)}")
    if len(items) > MAX_LISTED:
        lines.append(f"- and {len(items) - MAX_LISTED:,} more")
    return "\n".join(lines)
