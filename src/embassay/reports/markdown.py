"""A result as one Markdown file for GitHub: decision, scorecard, findings, then the tables of each diagnostic.

Every text from data is escaped: in no place does it start a link, a mention, HTML, or another cell of a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape

from embassay._version import __version__
from embassay.formatting import counted, number, visible
from embassay.layout import Layout
from embassay.reports.overview import Costs, decision_table, place_of
from embassay.reports.page import TABLES
from embassay.reports.scorecard import legend, scorecard
from embassay.reports.speed import MeasuredTimes
from embassay.reports.summary import group_statement, grouped
from embassay.reports.tables import BASELINE, Cell, Table, encoder_table, scope_of
from embassay.reports.words import support
from embassay.result import Finding, Result, Verdict

LONGEST = 65_536
"""Characters of a comment or a pull request's description that GitHub accepts."""
RESERVED = 1_000
"""Characters kept for the line that says what was left out."""
MOST_ROWS = 30
"""Rows of a folded table; the others are counted below it."""
FIRST_FINDINGS = 6
"""Findings that are not folded."""
ROOM_OF_FINDINGS = 16_000
"""Characters that the folded findings may take."""
MOST_ENCODERS = 60
"""Lines of the scorecard, and of the list of encoders and corpora."""
MOST_ACTIONS = 3
NAMED = 8
"""Tables that are named where they are left out."""
MARKER = "<!-- Embassay report -->"
"""The first line of the file: only such a file is replaced."""
BREAK = "&#8203;"
"""A space of no width."""
_SPECIAL = re.compile(
    r"[\\`*|~]"
    r"|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"
    # An interval is no link: nothing in the file says where it would lead.
    r"|\[(?![+−]?[\d.,]+, [+−]?[\d.,]+\](?![(\[:]))"
)
"""Characters that Markdown reads where they stand."""
_HTML = re.compile(r"<(?=[A-Za-z/!?])|&(?=#?\w+;)|\$")
"""The start of a tag or an entity; and a dollar sign, after which GitHub reads mathematics."""
_LINKS = re.compile(
    r"(?<!\w)@(?=\w)"  # a mention
    r"|@(?=[\w-]+\.\w)"  # an address
    r"|#(?=\d)"  # an issue
    r"|\bGH-(?=\d)"  # an issue
    r"|:(?=//)"
    r"|:(?=[a-z0-9_+-]+:)"  # an emoji
    r"|\bwww(?=\.)",
    re.IGNORECASE,
)
"""The start of what GitHub links although it is not marked as a link, which no backslash prevents."""


def escaped(text: str) -> str:
    """Return any text on one line, so that Markdown shows it as it is, also in a cell of a table."""
    plain = _SPECIAL.sub(r"\\\g<0>", visible(text))
    plain = _LINKS.sub(lambda start: f"{start[0]}\0", plain)
    plain = _HTML.sub(lambda start: f"&#{ord(start[0])};", plain)
    # An entity written before would itself be escaped, so NUL stands for it; visible() has left none.
    return plain.replace("\0", BREAK)


def code(text: str) -> str:
    """Return a text as code, also for a cell of a table, where only a bar has a meaning."""
    text = visible(text).replace("|", "\\|")
    longest_run = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * (longest_run + 1)
    # One space inside each end is not shown.
    is_padded = not text.strip() or text[0] in "` " or text[-1] in "` "
    if is_padded:
        text = f" {text} "
    return f"{fence}{text}{fence}"


def render(
    result: Result,
    layouts: Mapping[str, Layout],
    times: Mapping[str, MeasuredTimes] | None = None,
    notes: Sequence[str] = (),
    latency: Mapping[str, float] | None = None,
    longest: int = LONGEST,
) -> str:
    """Return the report of a result as Markdown.

    Parameters
    ----------
    layouts
        The layout of each diagnostic in the result.
    times
        For the same texts, by encoder, where they were measured.
    notes
        Assumptions, and what was left out.
    latency
        Milliseconds for one query by encoder, where they were measured.
    longest
        Characters at most. Tables for which there is no room are left out and named at the end.
    """
    opening = "\n\n".join(_opening(result, layouts, Costs.of(result, times or {}, latency or {})))
    closing = "\n\n".join(_closing(result, notes))
    room = longest - RESERVED - len(opening) - len(closing)
    sections = []
    left_out = []
    for verdict in result.verdicts:
        heading = f"{layouts[verdict.diagnostic].title} on {verdict.corpus}"
        text = _section(result, verdict, layouts[verdict.diagnostic])
        if len(text) > room:
            left_out.append(heading)
            continue
        room -= len(text) + 2
        sections.append(Section(verdict, heading, [text]))
    # Details come second: each section has its headline before any has its details.
    for section in sections:
        for title, text in _details(result, section.verdict, layouts):
            if len(text) > room:
                left_out.append(f"{title} ({section.heading})")
                continue
            room -= len(text) + 2
            section.parts.append(text)
    parts = [opening]
    for section in sections:
        parts += section.parts
    parts += [*_missing(left_out), closing]
    return "\n\n".join(filter(None, parts)) + "\n"


@dataclass(frozen=True)
class Section:
    """One diagnostic on one corpus: its heading and headline table, then its other tables."""

    verdict: Verdict
    heading: str
    parts: list[str]


def _opening(result: Result, layouts: Mapping[str, Layout], costs: Costs) -> Iterator[str]:
    """Yield decision, scorecard and findings."""
    yield f"{MARKER}\n# Embassay report"
    decision = decision_table(result, layouts, costs)
    if decision:
        yield "## Which encoder?"
        yield table_lines(decision)
    card = scorecard(result, layouts)
    if card.questions:
        yield "## Scorecard"
        head = ["encoder", *("<br>".join(map(escaped, question.heading)) for question in card.questions)]
        rows = []
        for name in (*card.candidates, *card.baselines):
            label = escaped(name)
            if name in card.baselines:
                label += " (baseline)"
            values = [escaped(question.cells.get(name, "–")) for question in card.questions]
            rows.append([label, *values])
        yield _drawn(head, rows[:MOST_ENCODERS], [False, *[True] * len(card.questions)])
        if len(rows) > MOST_ENCODERS:
            yield f"And {counted(len(rows) - MOST_ENCODERS, 'more encoder')} in the HTML report."
        yield escaped(legend(card)) + "."
    findings = [_finding(group, layouts) for group in grouped(result.findings)]
    if findings:
        yield "## Findings"
        yield "\n".join(findings[:FIRST_FINDINGS])
    more = findings[FIRST_FINDINGS:]
    if more:
        yield folded(counted(len(more), "more finding"), "\n".join(_fitting(more)))
    actions = list(dict.fromkeys(finding.action for finding in result.findings if finding.action))
    if actions:
        yield "## Next"
        yield "\n".join(f"- {escaped(action)}" for action in actions[:MOST_ACTIONS])
    if result.failed:
        yield "## Failed"
        yield "\n".join(f"- **Failed**: {escaped(failure.sentence)}" for failure in result.failed)


def _fitting(findings: Sequence[str]) -> Iterator[str]:
    """Yield the findings that there is room for, and how many there are besides."""
    room = ROOM_OF_FINDINGS
    for place, finding in enumerate(findings):
        room -= len(finding)
        if room < 0:
            yield f"- and {len(findings) - place:,} more in the HTML report"
            return
        yield finding


def _finding(group: Sequence[Finding], layouts: Mapping[str, Layout]) -> str:
    """Return findings of several encoders that say the same as one entry of a list."""
    place = place_of(group[0], layouts) or "Whole run"
    statement = group_statement(group, with_place=False)
    return f"- **{escaped(place)}**: {escaped(statement)}"


def _section(result: Result, verdict: Verdict, layout: Layout) -> str:
    """Return heading, question and headline table of one diagnostic on one corpus."""
    scope = scope_of(result, verdict, {verdict.diagnostic: layout})
    parts = [f"## {escaped(layout.title)} on {escaped(verdict.corpus)}", escaped(layout.question)]
    table = encoder_table(scope, layout.headline)
    if table:
        parts += [table_lines(table), escaped(table.note)]
    parts.append(escaped(" ".join(support(result, verdict))))
    return "\n\n".join(filter(None, parts))


def _details(result: Result, verdict: Verdict, layouts: Mapping[str, Layout]) -> Iterator[tuple[str, str]]:
    """Yield (title, folded text) of each further table of a section. Tables of the method's paper are left to HTML."""
    scope = scope_of(result, verdict, layouts)
    for part in layouts[verdict.diagnostic].parts:
        if type(part) not in TABLES:
            continue
        table = TABLES[type(part)](scope, part)
        if table is not None:
            content = table_lines(replace(table, rows=table.rows[:MOST_ROWS]))
            if len(table.rows) > MOST_ROWS:
                content += f"\n\nAnd {counted(len(table.rows) - MOST_ROWS, 'more row')} in the HTML report."
            if table.note:
                content += f"\n\n{escaped(table.note)}"
            yield table.title, folded(table.title, content)


def _closing(result: Result, notes: Sequence[str]) -> Iterator[str]:
    """Yield the encoders and corpora, the notes of the run, and what all figures depend on."""
    rows = []
    for encoder in result.encoders:
        dim = "by corpus"
        if encoder.dim:
            dim = number(encoder.dim, "count")
        rows.append([code(encoder.name), code(encoder.spec), dim])
    for corpus in result.corpora:
        size = f"{counted(corpus.items, 'item')} in {counted(corpus.units, 'unit')}"
        rows.append([code(corpus.name), escaped(f"{corpus.shape}, licence {corpus.licence}"), size])
    table = _drawn(["name", "encoder or corpus", "dimensions or size"], rows[:MOST_ENCODERS], [False, False, True])
    if len(rows) > MOST_ENCODERS:
        table += f"\n\nAnd {len(rows) - MOST_ENCODERS:,} more in the HTML report."
    yield folded("Encoders and corpora", table)
    if notes:
        yield folded("Notes", "\n".join(f"- *Note*: {escaped(note)}" for note in notes))
    yield (
        f"Intervals are 95% intervals. Made by Embassay {escaped(__version__)} with seed {result.seed} and "
        f"{counted(result.resamples, 'resample')}."
    )


def _missing(left_out: Sequence[str]) -> Iterator[str]:
    """Yield which tables had no room."""
    if left_out:
        shown = "; ".join(title[:60] for title in left_out[:NAMED])
        more = ""
        if len(left_out) > NAMED:
            more = f" and {len(left_out) - NAMED} more"
        yield (
            f"Left out, because GitHub accepts at most {LONGEST:,} characters: {escaped(shown)}{more}. "
            "The HTML report has them."
        )


def folded(title: str, content: str) -> str:
    """Return Markdown in a block that is closed at first.

    Parameters
    ----------
    title
        Any text. It stands in HTML, where Markdown's backslashes would be shown.
    content
        Markdown.
    """
    shown = _LINKS.sub(lambda start: f"{start[0]}\0", visible(title))
    shown = escape(shown).replace("\0", BREAK)
    return f"<details><summary>{shown}</summary>\n\n{content}\n\n</details>"


def table_lines(table: Table) -> str:
    """Return a table of the report in GitHub's Markdown; repeated remarks stand below it."""
    remarks = table.remarks
    rows = [[_cell(cell, remarks) for cell in row] for row in table.rows]
    head = [escaped(heading) for heading in table.head]
    drawn = _drawn(head, rows, table.numeric)
    if not remarks:
        return drawn
    lines = [f"<sup>{place}</sup> {escaped(remark)}" for place, remark in enumerate(remarks, 1)]
    return f"{drawn}\n\n{'<br>'.join(lines)}"


def _drawn(head: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool]) -> str:
    """Return a table in GitHub's Markdown; its cells are Markdown."""
    rule = ["--:" if is_number else "---" for is_number in numeric]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def _cell(cell: Cell, remarks: Sequence[str]) -> str:
    """Return a cell: a name as it is, a value with its interval and the number of its remark."""
    text = escaped(cell.text)
    if cell.strong and text:
        text = f"**{text}**"
    if cell.interval:
        # An interval is not broken into two lines.
        text += " " + cell.interval.replace(" ", "\u00a0")
    if cell.remark == BASELINE:
        text += " (baseline)"
    elif cell.remark:
        text += f" <sup>{remarks.index(cell.remark) + 1}</sup>"
    return text
