"""What stands above the sections of the page: findings, and what each encoder reaches over what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from embassay.core.layout import Layout
from embassay.core.result import Finding, Result, record_of
from embassay.reports import charts
from embassay.reports.answers import also, grouped, own_title
from embassay.reports.costs import Milliseconds, milliseconds_of
from embassay.reports.findings.support import tested
from embassay.reports.tables import scope_of

FIRST_FINDINGS = 6
"""Findings that are not folded."""


@dataclass(frozen=True)
class FindingGroup:
    """One finding, with the other encoders of which it is true."""

    finding: Finding
    title: str
    tested: str
    others: str
    place: str
    link: str


def entries(findings: Sequence[Finding], layouts: Mapping[str, Layout]) -> tuple[FindingGroup, ...]:
    """Return findings, those that say the same of several encoders as one."""
    together = []
    for first, *others in grouped(findings):
        place = place_of(first, layouts)
        together.append(FindingGroup(first, own_title(first), tested(first), also(others), place, first.link))
    return tuple(together)


def place_of(finding: Finding, layouts: Mapping[str, Layout]) -> str:
    """Return the diagnostic and the corpus that a finding is about; an empty text if it is about the whole run."""
    if not finding.diagnostic:
        return finding.corpus
    title = finding.diagnostic
    if title in layouts:
        title = layouts[title].title
    return f"{title} on {finding.corpus}"


def axes(
    result: Result, milliseconds: Milliseconds, corpus: str
) -> Iterator[tuple[str, charts.Spec, dict[str, float]]]:
    """Yield the costs on a corpus that a chart can show, each with the name of its axis and how it is written."""
    is_search = bool(record_of(result.corpora, corpus).documents)
    costs: dict[str, tuple[charts.Spec, dict[str, float | None]]] = {
        "milliseconds of a question" if is_search else "milliseconds of a text": (
            charts.PLAIN,
            {record.name: milliseconds_of(record, corpus, milliseconds) for record in result.encoders},
        ),
        "size of the index" if is_search else "size of a vector": (
            charts.BYTES,
            {record.name: record.index_bytes(corpus) for record in result.encoders},
        ),
        "price per million tokens": (charts.PLAIN, {record.name: record.price for record in result.encoders}),
    }
    for axis, (written, by_encoder) in costs.items():
        yield axis, written, {name: cost for name, cost in by_encoder.items() if cost}


def cost_charts(
    result: Result, layouts: Mapping[str, Layout], milliseconds: Milliseconds
) -> Iterator[tuple[str, charts.Spec]]:
    """Yield what each encoder reaches over what it costs, for each cost that two encoders have and each question.

    Yields
    ------
    The caption, and the chart.
    """
    for verdict in result.verdicts:
        if not verdict.metric:
            continue
        for axis, written, by_encoder in axes(result, milliseconds, verdict.corpus):
            # Without the best the chart would recommend another.
            is_whole = by_encoder.keys() >= set(verdict.best_set or verdict.candidates)
            if len(set(by_encoder.values())) < 2 or not is_whole:
                continue
            scope = scope_of(result, verdict, layouts)
            points = [one for one in charts.estimates(scope, scope.headline) if one["encoder"] in by_encoder]
            if len(points) > 1:
                title = layouts[verdict.diagnostic].title
                values = [{**point, "cost": by_encoder[point["encoder"]]} for point in points]
                heading = f"{title}: {scope.headline.heading}"
                chart = charts.cost_chart(heading, axis, written, values, scope.headline.format)
                yield f"{title} on {verdict.corpus}, over {axis}", chart
