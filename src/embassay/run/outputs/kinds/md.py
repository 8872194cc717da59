"""The report as one Markdown file for GitHub: answers, scorecard, findings, then all tables, folded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from embassay.core.formatting import counted
from embassay.reports.answers import actions, answer_sections, group_statement, grouped
from embassay.reports.layouts import layouts
from embassay.reports.scorecard import legend, scorecard
from embassay.run.finished import FinishedRun
from embassay.run.outputs.exhibits import exhibits, made_by
from embassay.run.outputs.formats import Export
from embassay.run.outputs.markdown import escaped, folded, table_lines

FILE = "report.md"
MARKER = "<!-- Embassay report -->"
"""The first line of the file: another Markdown file, such as a README.md, is not replaced."""
LONGEST = 65_536
"""Characters of a comment or a pull request's description that GitHub accepts."""
RESERVED = 200
"""Characters kept for the line that says how much was left out."""
MOST_FINDINGS = 20
"""Findings at most; the HTML report has the others."""
WIDTH = 100
"""Characters of a line of the scorecard."""


def export(finished: FinishedRun) -> Export:
    """Make the text."""
    return Export({FILE: fitted(report(finished))})


def fitted(blocks: Iterable[str], longest: int = LONGEST) -> str:
    """Return blocks of Markdown as one text.

    Parameters
    ----------
    longest
        Characters at most. Blocks for which there is no room are left out, and counted at the end.
    """
    text = f"{MARKER}\n# Embassay report\n"
    left_out = 0
    for block in blocks:
        if len(text) + len(block) + RESERVED > longest:
            left_out += 1
        else:
            text += f"\n{block}\n"
    if left_out:
        parts = counted(left_out, "part")
        text += f"\nLeft out, because GitHub accepts at most {longest:,} characters: {parts}. See the HTML report.\n"
    return text


def report(finished: FinishedRun) -> Iterator[str]:
    """Yield the blocks of the report of a run: what everyone needs first, then the tables, folded."""
    result, record = finished.result, finished.record
    pages = layouts(result)
    for section in answer_sections(result, pages):
        lines = [f"- **{escaped(answer.question)}** {escaped(text)}" for answer, text in section.texts()]
        yield "\n".join([f"## {escaped(section.title)}\n", *lines])
    card = scorecard(result, pages)
    # A column alone is in the tables below.
    if len(card.questions) > 1:
        # In an indented block nothing is read as Markdown.
        lines = [f"    {line}" for line in card.lines(WIDTH)]
        yield "\n".join(["## Scorecard\n", *lines, f"\n{escaped(legend(card))}."])
    lists = {
        "Findings": [group_statement(group) for group in grouped(result.findings)][:MOST_FINDINGS],
        "Next": actions(result),
        "Failed": [failure.sentence for failure in result.failed],
        "Notes": record.get("notes", ()),
    }
    for title, sentences in lists.items():
        if sentences:
            yield "\n- ".join([f"## {title}\n", *map(escaped, sentences)])
    for exhibit in exhibits(result):
        yield folded(exhibit.title, f"{table_lines(exhibit.table)}\n\n{escaped(exhibit.table.note)}")
    yield f"Intervals are 95% intervals. {escaped(made_by(result))}"
