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
        corpus = verdict.corpus
        is_search = bool(record_of(result.corpora, corpus).documents)
        times = {record.name: milliseconds_of(record, corpus, milliseconds) for record in result.encoders}
        sizes = {record.name: record.index_bytes(corpus) for record in result.encoders}
        prices = {record.name: record.price for record in result.encoders}
        costs: tuple[tuple[str, charts.Spec, Mapping[str, float | None]], ...] = (
            ("milliseconds of a question" if is_search else "milliseconds of a text", charts.PLAIN, times),
            ("size of the index" if is_search else "size of a vector", charts.BYTES, sizes),
            ("price per million tokens", charts.PLAIN, prices),
        )
        title, scope = layouts[verdict.diagnostic].title, scope_of(result, verdict, layouts)
        estimates = charts.estimates(scope, scope.headline)
        for axis, written, by_encoder in costs:
            known = {name: cost for name, cost in by_encoder.items() if cost}
            points = [{**point, "cost": known[point["encoder"]]} for point in estimates if point["encoder"] in known]
            # Without the best the chart would recommend another.
            is_whole = known.keys() >= set(verdict.best_set or verdict.candidates)
            if len(set(known.values())) > 1 and is_whole and len(points) > 1:
                heading = f"{title}: {scope.headline.heading}"
                chart = charts.cost_chart(heading, axis, written, points, scope.headline.format)
                yield f"{title} on {corpus}, over {axis}", chart
