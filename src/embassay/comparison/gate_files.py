"""What a check writes: lines for the terminal, JUnit XML, Markdown for a pull request, JSON, a step summary."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from embassay.comparison.gate import Check, Floor
from embassay.comparison.gate_words import Line, failures_of, lines_of, summary
from embassay.comparison.losses import LossTest
from embassay.errors import OutputError, SpecError, begun
from embassay.formatting import shortened, visible, without_points
from embassay.outputs.junit import CheckedCase, Mark, junit_xml
from embassay.outputs.markdown import escaped, folded
from embassay.store.canonical import canonical, write
from embassay.store.paths import output_path

WIDTH = 80
"""Columns of the terminal."""
SCHEMA = 1
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
    """Return one line for each metric and floor, then the sentences of what did not pass, and the outcome."""
    lines = lines_of(check)
    sentences = failures_of(check)
    sentences += [line.sentence for line in lines if not line.passed]
    sentences += [f"note: {note}" for note in check.notes]
    printed = list(_table(lines))
    for sentence in [*sentences, summary(check)]:
        printed += textwrap.wrap(visible(sentence), WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    return printed


def _table(lines: Sequence[Line]) -> Iterator[str]:
    """Yield a line of at most ``WIDTH`` columns for each metric and floor, with aligned columns."""
    rows = []
    for line in lines:
        record = line.record
        name = visible(f"{record.encoder} {record.name} on {record.corpus}")
        figure = line.change
        if isinstance(record, Floor):
            figure = f"{line.new} {line.change}".strip()
        # Lines are short, so the unit is left out.
        rows.append((record.outcome, name, without_points(figure), without_points(line.limit)))
    if not rows:
        return
    outcome_width, name_width, figure_width, limit_width = (max(map(len, column)) for column in zip(*rows, strict=True))
    # Names are cut where a line would be wider than the terminal; three spaces stand between the four columns. They are
    # cut in the middle: both the encoder in front and the corpus at the end matter.
    name_width = min(name_width, WIDTH - outcome_width - figure_width - limit_width - 3)
    for outcome, name, figure, limit in rows:
        yield f"{outcome:<{outcome_width}} {shortened(name, name_width):<{name_width}} {figure:>{figure_width}} {limit}"


# --- JSON ------------------------------------------------------------------------------------------------


def json_bytes(check: Check) -> bytes:
    """Return a check as canonical JSON."""
    # The outcome of a floor is a property, which asdict leaves out.
    records = {LossTest: list[object](), Floor: list[object]()}
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
            "inconclusive": check.inconclusive,
            "changes": records[LossTest],
            "floors": records[Floor],
            "failures": check.failures,
            "notes": check.notes,
        }
    )


# --- JUnit -----------------------------------------------------------------------------------------------


def junit(check: Check) -> bytes:
    """Return a check as JUnit XML: one test case for each metric, floor and failure.

    A regression is a failure, a candidate that failed is an error, and an inconclusive test is skipped, unless
    ``inconclusive`` says that it passes or fails.
    """
    marks: dict[str, Mark] = {"pass": "", "regression": "failure", "inconclusive": "skipped"}
    if check.inconclusive:
        marks["inconclusive"] = "" if check.inconclusive == "pass" else "failure"
    cases = [CheckedCase("run", reason.split(":")[0], "error", f"failed: {reason}") for reason in check.failures]
    for line in lines_of(check):
        record = line.record
        place, name = f"{record.diagnostic}.{record.corpus}", f"{record.encoder}: {line.name}"
        cases.append(CheckedCase(place, name, marks[record.outcome], line.sentence))
    return junit_xml("embassay check", cases, " | ".join(check.notes))


# --- Markdown --------------------------------------------------------------------------------------------


def markdown_bytes(check: Check) -> bytes:
    """Return :func:`markdown` in UTF-8."""
    return markdown(check).encode("utf-8", "replace")


def markdown(check: Check) -> str:
    """Return a check as Markdown for a comment: outcome, table, sentences, flipped items.

    Where there is too much for a comment, the lists of items are left out first, then further sentences and rows; a
    line says how many.
    """
    check_lines = lines_of(check)
    # What did not pass is listed first: of the metrics, then of the floors.
    worst_first = sorted(check_lines, key=lambda line: (isinstance(line.record, Floor), line.passed))
    text = [f"### Embassay check: {check.outcome}", "", escaped(summary(check)), ""]
    text += [f"- **failed**: {escaped(failure)}" for failure in check.failures[:MAX_LISTED]]
    if worst_first:
        text += [
            "| outcome | encoder | metric | corpus | baseline | run | change | limit |",
            "|---|---|---|---|--:|--:|--:|--:|",
        ]
        # Half of the comment is left for sentences.
        text += _fitting([_row(line) for line in worst_first], MARKDOWN_LIMIT // 2, "rows")
    sections = {
        "sentences": [f"- {escaped(line.sentence)}" for line in check_lines if not line.passed],
        "notes": [f"- note: {escaped(note)}" for note in check.notes],
        "lists of items": _flipped_items(worst_first, check.texts),
    }
    for what, lines in sections.items():
        if lines:
            # Each line ends with a line feed.
            room = MARKDOWN_LIMIT - sum(len(line) + 1 for line in text)
            text += ["", *_fitting(lines, room, what)]
    return "\n".join(text) + "\n"


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


def _row(line: Line) -> str:
    """Return the row of a metric or floor in Markdown."""
    record = line.record
    outcome = record.outcome if line.passed else f"**{record.outcome}**"
    names = [escaped(name) for name in (record.encoder, record.name, record.corpus)]
    cells = [outcome, *names, line.old, line.new, escaped(line.change), line.limit]
    return f"| {' | '.join(cells)} |"


def _flipped_items(lines: Sequence[Line], texts: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return the flipped items of each metric that has some, as blocks of Markdown that are folded at first."""
    blocks = []
    for line in lines:
        change = line.record
        if isinstance(change, Floor) or not (change.lost or change.gained):
            continue
        listed = {"Lost": change.lost, "Gained": change.gained}
        of_corpus = texts.get(change.corpus, {})
        paragraphs = [f"{direction}: {_listed_items(items, of_corpus)}" for direction, items in listed.items() if items]
        counts = f"{len(change.lost):,} lost, {len(change.gained):,} gained"
        title = f"{change.encoder}, {change.name} on {change.corpus}: {counts}"
        blocks.append(folded(title, "\n\n".join(paragraphs)))
    return blocks


def _listed_items(items: Sequence[str], texts: Mapping[str, str]) -> str:
    """Return the first ``MAX_LISTED`` items in Markdown, by texts or else ids, and how many more there are."""
    named = [escaped(item) for item in items[:MAX_LISTED]]
    more = f"and {len(items) - MAX_LISTED:,} more" if len(items) > MAX_LISTED else ""
    if not texts:
        return " ".join(filter(None, (", ".join(named), more)))
    lines = []
    for item, name in zip(items, named, strict=False):
        text = " ".join(texts.get(item, "").split())
        lines.append(f"- {name}: {escaped(begun(text, LONGEST_TEXT))}")
    return "\n".join(["\n", *lines, *filter(None, [more and f"- {more}"])])
