"""A result in a notebook: scorecard and findings as HTML, and one chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from embassay.core.errors import SpecError
from embassay.core.formatting import counted
from embassay.core.result import Result, Verdict
from embassay.reports.answers import answer_sections
from embassay.reports.findings.support import statement
from embassay.reports.layouts import layouts
from embassay.reports.page import PICTURES
from embassay.reports.scorecard import legend, scorecard
from embassay.reports.tables import scope_of
from embassay.reports.templates import filled

if TYPE_CHECKING:
    from altair import TopLevelMixin

MOST_ENCODERS = 20
"""Candidates in the table of a notebook; the others are counted."""
MOST_FINDINGS = 10


def html(result: Result) -> str:
    """Return scorecard and findings as HTML without scripts and styles of its own: notebooks style tables."""
    of_diagnostics = layouts(result)
    card = scorecard(result, of_diagnostics)
    return filled(
        "notebook.html",
        result=result,
        card=card,
        legend=legend(card),
        statement=statement,
        answers=list(answer_sections(result, of_diagnostics)),
        counted=counted,
        most_encoders=MOST_ENCODERS,
        most_findings=MOST_FINDINGS,
    )


def chart(result: Result, verdict: Verdict) -> TopLevelMixin:
    """Return the first chart of a diagnostic as an Altair chart; SpecError if it has none."""
    import altair

    layout = layouts(result)[verdict.diagnostic]
    scope = scope_of(result, verdict, {verdict.diagnostic: layout})
    for part in layout.parts:
        if type(part) in PICTURES:
            for _, spec in PICTURES[type(part)](scope, part):
                drawn: TopLevelMixin = altair.Chart.from_dict(spec)
                return drawn
    raise SpecError(f"{verdict.diagnostic} on {verdict.corpus} has nothing to draw")
