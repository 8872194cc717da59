"""What a check writes: lines for the terminal, JUnit XML, Markdown for a pull request, JSON."""

from __future__ import annotations

import textwrap
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from embassay.comparison.differences import Change
from embassay.comparison.gate import Check
from embassay.comparison.gate_words import sentence, summary
from embassay.core.errors import begun
from embassay.core.formatting import shortened, visible
from embassay.core.store.canonical import canonical, write
from embassay.core.store.paths import output_path
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
    """Write the files of a check.

    Raises
    ------
    OutputError
        If one of them cannot be written.
    """
    makers = {"junit": junit, "json": json_bytes}
    for kind, path in paths.items():
        if path is not None:
            content = markdown(check).encode("utf-8", "replace") if kind == "markdown" else makers[kind](check)
            write(output_path(path), content)


def terminal_lines(check: Check) -> list[str]:
    """Return the sentence of each metric and floor, the items that were lost below it, and the outcome of several."""
    said = [f"failed: {failure}" for failure in check.failures]
    for change in check.parts:
        said.append(sentence(change))
        # What was lost since the anchor is news only where it fails.
        if not change.since or change.outcome != "pass":
            said += _lost_items(change)
    said += [f"note: {note}" for note in check.notes]
    if len(check.parts) + len(check.failures) > 1:
        said.append(summary(check))
    lines = []
    for text in said:
        # An item begins with spaces, and is short enough.
        wrapped = textwrap.wrap(visible(text), WIDTH, subsequent_indent="  ", break_on_hyphens=False)
        lines += [text] if text.startswith(" ") else wrapped
    return lines


def _lost_items(change: Change) -> Iterator[str]:
    """Yield a line for each of the first items that were lost, with its text if the run has it."""
    for item, text in [*change.lost.items()][:MAX_PRINTED]:
        yield shortened(visible(f"  - {item}: {' '.join(text.split())}".removesuffix(": ")), WIDTH)
    if len(change.lost) > MAX_PRINTED:
        yield f"  and {len(change.lost) - MAX_PRINTED:,} more in --markdown and --json"


def json_bytes(check: Check) -> bytes:
    """Return a check as canonical JSON."""
    content = asdict(check) | {"schema": SCHEMA, "outcome": check.outcome, "exit_code": check.exit_code}
    for part in ("changes", "floors"):
        content[part] = [{**asdict(change), "sentence": sentence(change)} for change in getattr(check, part)]
    return canonical(content | {"summary": summary(check)})


def junit(check: Check) -> bytes:
    """Return a check as JUnit XML: one test case for each metric, floor and failure; notes stand at its end.

    A regression is a failure, a candidate that failed is an error, and an inconclusive test is skipped, or a failure of
    a strict check.
    """
    marks = {"pass": "", "regression": "failure", "inconclusive": "failure" if check.strict else "skipped"}
    # The second half of the class name, the name, why it does not pass, and what was found.
    cases = [("run", reason.split(":")[0], "error", f"failed: {reason}") for reason in check.failures]
    for change in check.parts:
        place, name = f"{change.diagnostic}.{change.corpus}", f"{change.encoder}: {change.name}"
        cases.append((place, name, marks[change.outcome], "\n".join([sentence(change), *_lost_items(change)])))
    found = Counter(mark for _, _, mark, _ in cases)
    counts = {"tests": str(len(cases)), "failures": str(found["failure"]), "errors": str(found["error"])}
    suites = ET.Element("testsuites", {"name": "embassay check", **counts})
    suite = ET.SubElement(suites, "testsuite", {**suites.attrib, "skipped": str(found["skipped"])})
    for place, name, mark, said in cases:
        element = ET.SubElement(suite, "testcase", classname=visible(f"embassay.{place}"), name=visible(name))
        text = visible(said, keep="\n")
        if mark:
            ET.SubElement(element, mark, message=text)
        else:
            ET.SubElement(element, "system-out").text = text
    if check.notes:
        ET.SubElement(suite, "system-out").text = visible(" | ".join(check.notes))
    ET.indent(suites)
    xml: bytes = ET.tostring(suites, encoding="utf-8", xml_declaration=True)
    return xml + b"\n"


def markdown(check: Check) -> str:
    """Return a check as Markdown for a comment: outcome, sentences, flipped items; cut to what fits into a comment."""
    lines = [f"### Embassay check: {check.outcome}", "", escaped(summary(check)), ""]
    lines += [f"- {escaped(text)}" for text in check.sentences]
    lines += [f"- {escaped(f'note: {note}')}" for note in check.notes]
    lines += ["", *flipped_items(check.changes)]
    text = "\n".join(lines) + "\n"
    if len(text) > MARKDOWN_LIMIT:
        return text[:MARKDOWN_LIMIT] + "\n\nMore in the other outputs.\n"
    return text


def flipped_items(changes: Sequence[Change]) -> Iterator[str]:
    """Yield the items of each metric that were lost or gained, as blocks of Markdown that are folded at first."""
    for change in changes:
        paragraphs = []
        for direction, items in (("Lost", change.lost), ("Gained", change.gained)):
            listed = []
            for item, text in [*items.items()][:MAX_LISTED]:
                one_line = begun(" ".join(text.split()), LONGEST_TEXT)
                listed.append(f"- {escaped(item)}: {escaped(one_line)}")
            if len(items) > MAX_LISTED:
                listed.append(f"- and {len(items) - MAX_LISTED:,} more")
            if listed:
                paragraphs.append("\n".join([f"{direction}:\n", *listed]))
        if paragraphs:
            counts = f"{len(change.lost):,} lost, {len(change.gained):,} gained"
            yield folded(f"{change.encoder}, {change.name} on {change.corpus}: {counts}", "\n\n".join(paragraphs))
