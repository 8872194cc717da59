"""A result as one Markdown file for GitHub: answers, scorecard, findings, then the tables of each diagnostic.

Every text from data is escaped: in no place does it start a link, a mention, HTML, or another cell of a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape

from embassay._version import __version__
from embassay.core.formatting import DASH, counted, visible
from embassay.core.layout import Layout
from embassay.core.result import Result
from embassay.reports.answers import actions, answer_sections, group_statement, grouped
from embassay.reports.findings.costs import Latency
from embassay.reports.findings.speed import MeasuredTimes
from embassay.reports.findings.support import support
from embassay.reports.overview import place_of
from embassay.reports.page import TABLES
from embassay.reports.scorecard import legend, scorecard
from embassay.reports.tables import BASELINE, Cell, Table, encoder_table, scope_of

LONGEST = 65_536
"""Characters of a comment or a pull request's description that GitHub accepts."""
RESERVED = 1_000
"""Characters kept for the line that says what was left out."""
MOST_ROWS = 30
"""Rows of a folded table; the others are counted below it."""
FIRST_FINDINGS = 6
"""Findings that are not folded."""
MOST_ENCODERS = 60
"""Lines of the scorecard, and of the list of encoders and corpora."""
MAX_NAMED = 8
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


def render(
    result: Result,
    layouts: Mapping[str, Layout],
    times: Mapping[str, MeasuredTimes] | None = None,
    notes: Sequence[str] = (),
    latency: Latency | None = None,
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
        Of one question, by encoder and corpus.
    longest
        Characters at most. Tables for which there is no room are left out and named at the end.
    """
    blocks = [
        *_opening(result, layouts, times or {}, latency or {}),
        *_sections(result, layouts),
        *_closing(result, notes),
    ]
    room = longest - RESERVED
    left_out = set[MarkdownBlock]()
    # What comes first is not what is needed first: a section has its headline before any has its details.
    for block in sorted(blocks, key=lambda block: block.rank):
        if block.rank and len(block.text) > room:
            left_out.add(block)
        else:
            room -= len(block.text) + 2
    texts = [block.text for block in blocks if block not in left_out]
    if left_out:
        titles = [block.title[:60] for block in blocks if block in left_out]
        shown = "; ".join(titles[:MAX_NAMED])
        if len(titles) > MAX_NAMED:
            shown += f" and {len(titles) - MAX_NAMED} more"
        texts.append(
            f"Left out, because GitHub accepts at most {LONGEST:,} characters: {escaped(shown)}. "
            "The HTML report has them."
        )
    return _paragraphs(texts) + "\n"


@dataclass(frozen=True)
class MarkdownBlock:
    """A part of the file.

    Attributes
    ----------
    rank
        Parts of rank 0 are always there; of the others, those of a lower rank get their room first.
    title
        What it is called where there is no room for it.
    """

    text: str
    rank: int = 0
    title: str = ""


def _opening(
    result: Result,
    layouts: Mapping[str, Layout],
    times: Mapping[str, MeasuredTimes],
    latency: Latency,
) -> Iterator[MarkdownBlock]:
    """Yield answers, scorecard and findings."""
    yield MarkdownBlock(f"{MARKER}\n# Embassay report")
    for section in answer_sections(result, layouts, times, latency):
        answers = [f"- **{escaped(answer.question)}** {escaped(text)}" for answer, text in section.texts()]
        yield MarkdownBlock(_list(escaped(section.title), answers))
    card = scorecard(result, layouts)
    if card.questions:
        yield MarkdownBlock("## Scorecard")
        head = ["encoder", *("<br>".join(map(escaped, question.heading)) for question in card.questions)]
        rows = []
        for name in (*card.candidates, *card.baselines):
            label = escaped(name)
            if name in card.baselines:
                label += f" ({BASELINE})"
            rows.append([label, *(escaped(question.cells.get(name, DASH)) for question in card.questions)])
        yield MarkdownBlock(_drawn(head, rows[:MOST_ENCODERS], [False, *[True] * len(card.questions)]))
        yield MarkdownBlock(_more(len(rows), MOST_ENCODERS, "encoder"))
        yield MarkdownBlock(escaped(legend(card)) + ".")
    findings = []
    for group in grouped(result.findings):
        place = place_of(group[0], layouts) or "Whole run"
        findings.append(f"- **{escaped(place)}**: {escaped(group_statement(group, with_place=False))}")
    yield MarkdownBlock(_list("Findings", findings[:FIRST_FINDINGS]))
    more = findings[FIRST_FINDINGS:]
    if more:
        title = counted(len(more), "more finding")
        yield MarkdownBlock(folded(title, "\n".join(more)), 2, title)
    yield MarkdownBlock(_list("Next", [f"- {escaped(action)}" for action in actions(result)]))
    yield MarkdownBlock(_list("Failed", [f"- **Failed**: {escaped(failure.sentence)}" for failure in result.failed]))


def _list(title: str, lines: Sequence[str]) -> str:
    """Return a list with its heading; an empty text for no lines."""
    if not lines:
        return ""
    return "\n".join([f"## {title}\n", *lines])


def _sections(result: Result, layouts: Mapping[str, Layout]) -> Iterator[MarkdownBlock]:
    """Yield the headline and the folded tables of each diagnostic on each corpus; those of papers are left to HTML."""
    for verdict in result.verdicts:
        layout = layouts[verdict.diagnostic]
        scope = scope_of(result, verdict, layouts)
        heading = f"{layout.title} on {verdict.corpus}"
        parts = [f"## {escaped(heading)}", escaped(layout.question)]
        headline = encoder_table(scope, layout.headline)
        if headline:
            parts += [table_lines(headline), escaped(headline.note)]
        parts.append(escaped(" ".join(support(result, verdict))))
        yield MarkdownBlock(_paragraphs(parts), 1, heading)
        for part in layout.parts:
            table = TABLES[type(part)](scope, part) if type(part) in TABLES else None
            if table is not None:
                content = _paragraphs([table_lines(table, MOST_ROWS), escaped(table.note)])
                yield MarkdownBlock(folded(table.title, content), 3, f"{table.title} ({heading})")


def _closing(result: Result, notes: Sequence[str]) -> Iterator[MarkdownBlock]:
    """Yield the encoders and corpora, the notes of the run, and what all figures depend on."""
    rows = [[escaped(text) for text in (e.name, e.spec, e.dimensions)] for e in result.encoders]
    for corpus in result.corpora:
        size = f"{counted(corpus.items, 'item')} in {counted(corpus.units, 'unit')}"
        rows.append([escaped(corpus.name), escaped(f"{corpus.shape}, licence {corpus.licence}"), size])
    head = ["name", "encoder or corpus", "dimensions or size"]
    table = _drawn(head, rows[:MOST_ENCODERS], [False, False, True])
    yield MarkdownBlock(folded("Encoders and corpora", _paragraphs([table, _more(len(rows), MOST_ENCODERS, "line")])))
    if notes:
        yield MarkdownBlock(folded("Notes", "\n".join(f"- *Note*: {escaped(note)}" for note in notes)))
    yield MarkdownBlock(
        f"Intervals are 95% intervals. Made by Embassay {escaped(__version__)} with seed {result.seed} and "
        f"{counted(result.resamples, 'resample')}."
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


def table_lines(table: Table, most: int | None = None) -> str:
    """Return a table of the report in GitHub's Markdown; repeated remarks stand below it.

    Parameters
    ----------
    most
        Rows at most; the others are counted. None for all rows.
    """
    shown = replace(table, rows=table.rows[:most])
    rows = [[_cell(cell, shown.remarks) for cell in row] for row in shown.rows]
    remarks = [f"<sup>{place}</sup> {escaped(remark)}" for place, remark in enumerate(shown.remarks, 1)]
    parts = [_drawn([escaped(heading) for heading in table.head], rows, shown.numeric), "<br>".join(remarks)]
    if most:
        parts.append(_more(len(table.rows), most, "row"))
    return _paragraphs(parts)


def _drawn(head: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool]) -> str:
    """Return a table in GitHub's Markdown; its cells are Markdown."""
    rule = ["--:" if is_number else "---" for is_number in numeric]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def _more(count: int, most: int, noun: str) -> str:
    """Return how many lines were left out; an empty text for none."""
    if count <= most:
        return ""
    return f"And {counted(count - most, f'more {noun}')} in the HTML report."


def _paragraphs(texts: Iterable[str]) -> str:
    """Return texts with an empty line between them, without empty ones."""
    return "\n\n".join(filter(None, texts))


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
