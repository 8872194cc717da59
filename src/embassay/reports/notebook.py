"""A result in a notebook: scorecard and findings as HTML, a line of text, one chart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from embassay.findings.templates import statement
from embassay.formatting import counted, visible
from embassay.layout import Layout
from embassay.reports.page import CHARTS, SPLIT, pictures_of
from embassay.reports.scorecard import legend, scorecard
from embassay.reports.tables import scope_of
from embassay.reports.templates import filled
from embassay.result import Result, Verdict

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
    card = scorecard(result, layouts)
    return filled(
        "notebook.html",
        result=result,
        card=card,
        legend=legend(card),
        statement=statement,
        counted=counted,
        most_encoders=MOST_ENCODERS,
        most_findings=MOST_FINDINGS,
    )


def chart(result: Result, layout: Layout, verdict: Verdict) -> TopLevelMixin | None:
    """Return the first chart of a diagnostic as an Altair chart; None if it has none."""
    import altair

    scope = scope_of(result, verdict, {verdict.diagnostic: layout})
    for part in layout.parts:
        if type(part) in CHARTS or type(part) in SPLIT:
            for _, spec in pictures_of(scope, part):
                drawn: TopLevelMixin = altair.Chart.from_dict(spec)
                return drawn
    return None
