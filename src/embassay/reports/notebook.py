"""A result in a notebook: scorecard and findings as HTML, a line of text, one chart."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING

from embassay.formatting import counted, visible
from embassay.layout import Layout
from embassay.reports.page import CHARTS, SPLIT
from embassay.reports.scorecard import legend, scorecard
from embassay.reports.tables import Scope
from embassay.reports.words import statement
from embassay.result import Finding, Result, Verdict

if TYPE_CHECKING:
    from altair import TopLevelMixin

MOST_ENCODERS = 20
"""Candidates in the table of a notebook; the others are counted."""
MOST_FINDINGS = 10
LONGEST = 900
"""Characters of the line of text at most."""


def summary_line(result: Result) -> str:
    """Return what a result holds and its most important finding, in under 1,000 characters."""
    encoders = counted(len(result.encoders), "encoder")
    corpora = visible(", ".join(corpus.name for corpus in result.corpora))
    rows = counted(len(result.rows), "row")
    line = f"<Result: {encoders} on {corpora}; {rows}"
    if result.failed:
        failures = counted(len(result.failed), "failure")
        line += f", {failures}"
    if result.findings:
        findings = counted(len(result.findings), "finding")
        first = visible(result.findings[0].sentence)
        line += f"; {findings}, the first: {first}"
    if len(line) > LONGEST:
        line = f"{line[:LONGEST]}…"
    return f"{line}>"


def html(result: Result, layouts: Mapping[str, Layout]) -> str:
    """Return scorecard and findings as HTML without scripts and styles of its own: notebooks style tables.

    Parameters
    ----------
    layouts
        The layout of each diagnostic.
    """
    parts = [*_scorecard_lines(result, layouts)]
    findings = result.findings[:MOST_FINDINGS]
    if findings:
        items = [f"<li>{_finding(finding)}</li>" for finding in findings]
        parts += ["<p><strong>Findings</strong></p>", f"<ul>{''.join(items)}</ul>"]
    more = len(result.findings) - len(findings)
    if more:
        parts.append(f"<p>and {counted(more, 'more finding')}: <code>result.findings</code></p>")
    for failure in result.failed:
        parts.append(f"<p>failed: {_text(failure.sentence)}</p>")
    return "\n".join(parts)


def _scorecard_lines(result: Result, layouts: Mapping[str, Layout]) -> list[str]:
    """Return the lines of the scorecard as a table; nothing where no diagnostic ranks encoders."""
    card = scorecard(result, layouts)
    if not card.questions:
        return []
    headings = [f"<th>{'<br>'.join(map(_text, question.heading))}</th>" for question in card.questions]
    lines = [f"<table><thead><tr><th></th>{''.join(headings)}</tr></thead><tbody>"]
    for name in (*card.candidates[:MOST_ENCODERS], *card.baselines):
        cells = [f"<td>{_text(question.cells.get(name, '–'))}</td>" for question in card.questions]
        lines.append(f'<tr><th scope="row">{_text(name)}</th>{"".join(cells)}</tr>')
    lines.append("</tbody></table>")
    left_out = len(card.candidates) - MOST_ENCODERS
    if left_out > 0:
        lines.append(f"<p>and {counted(left_out, 'more candidate')}: <code>result.rank(…)</code></p>")
    lines.append(f"<p>{_text(legend(card))}</p>")
    return lines


def _finding(finding: Finding) -> str:
    title = finding.title
    if finding.diagnostic:
        title += f" ({finding.diagnostic} on {finding.corpus})"
    return f"<strong>{_text(title)}.</strong> {_text(statement(finding))}"


def _text(text: str) -> str:
    """Return a text for HTML; control characters are made visible."""
    return escape(visible(text))


def chart(result: Result, layout: Layout, verdict: Verdict) -> TopLevelMixin | None:
    """Return the first chart of a diagnostic as an Altair chart; None if it has none."""
    import altair

    scope = Scope(result, verdict.diagnostic, verdict.corpus, layout.headline.columns[0])
    for part in layout.parts:
        spec = None
        if type(part) in CHARTS:
            spec = CHARTS[type(part)](scope, part)
        elif type(part) in SPLIT:
            spec = next((spec for _, spec in SPLIT[type(part)](scope, part)), None)
        if spec is not None:
            drawn: TopLevelMixin = altair.Chart.from_dict(spec)
            return drawn
    return None
