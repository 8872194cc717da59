"""The first screen of the page: which encoder, the scorecard, the findings, cost against quality, each encoder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from embassay.core.formatting import span
from embassay.core.layout import Layout
from embassay.core.result import Finding, Result, Verdict, record_of
from embassay.reports import charts
from embassay.reports.answers import also, grouped, own_title
from embassay.reports.findings.speed import MeasuredTimes
from embassay.reports.findings.support import tested
from embassay.reports.tables import scope_of

FIRST_FINDINGS = 6
"""Findings that are not folded."""
MAX_NAMED = 6
"""Encoders that a cell names at most."""


@dataclass(frozen=True)
class FindingGroup:
    """One finding, with the other encoders of which it is true."""

    finding: Finding
    title: str
    tested: str
    others: str
    place: str
    link: str


def model_anchor(name: str) -> str:
    """Return the id of an encoder's part of the page."""
    return "model-" + quote(name, safe="")


def ranked(result: Result) -> list[Verdict]:
    """Return the verdicts that rank encoders."""
    return [verdict for verdict in result.verdicts if verdict.metric]


def why_none_is_best(result: Result) -> str:
    """Return why no best encoder is named, each reason once; an empty text where one is named."""
    if any(verdict.best_set and len(verdict.candidates) > 1 for verdict in ranked(result)):
        return ""
    reasons = dict.fromkeys(verdict.reason or "there are fewer than two candidates" for verdict in ranked(result))
    return "; ".join(reasons)


def entries(findings: Sequence[Finding], layouts: Mapping[str, Layout]) -> tuple[FindingGroup, ...]:
    """Return findings, those that say the same of several encoders as one."""
    together = []
    for first, *others in grouped(findings):
        link = first.link
        if not link and first.encoder:
            link = "#models"
        together.append(
            FindingGroup(first, own_title(first), tested(first), also(others), place_of(first, layouts), link)
        )
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
    result: Result, times: Mapping[str, MeasuredTimes], corpus: str
) -> Iterator[tuple[str, charts.Spec, Mapping[str, float]]]:
    """Yield the costs on a corpus that a chart can show, each with the name of its axis and how it is written."""
    # Times on different devices do not compare models.
    if len({one.device for one in times.values()}) == 1:
        milliseconds = {name: one.milliseconds_per_text for name, one in times.items()}
        yield "milliseconds per text", charts.PLAIN, milliseconds
    sizes = {encoder.name: encoder.index_bytes(corpus) or 0 for encoder in result.encoders}
    has_documents = record_of(result.corpora, corpus).documents
    yield "size of the index" if has_documents else "size of a vector", charts.BYTES, sizes
    prices = {encoder.name: encoder.price for encoder in result.encoders if encoder.price is not None}
    yield "price per million tokens", charts.PLAIN, prices


def cost_charts(
    result: Result, layouts: Mapping[str, Layout], times: Mapping[str, MeasuredTimes]
) -> Iterator[tuple[str, charts.Spec]]:
    """Yield what each encoder reaches over what it costs, for each cost that two encoders have and each question.

    Yields
    ------
    The caption, and the chart.
    """
    for verdict in ranked(result):
        for axis, written, by_encoder in axes(result, times, verdict.corpus):
            if len({cost for cost in by_encoder.values() if cost > 0}) < 2:
                continue
            # Without the best the chart would recommend another.
            if not all(by_encoder.get(name, 0) > 0 for name in verdict.best_set or verdict.candidates):
                continue
            scope = scope_of(result, verdict, layouts)
            column = scope.headline
            values = []
            for value in charts.estimates(scope, column):
                cost = by_encoder.get(value["encoder"], 0)
                if cost > 0:
                    values.append({**value, "cost": cost})
            if len(values) > 1:
                title = layouts[verdict.diagnostic].title
                caption = f"{title} on {verdict.corpus}, over {axis}"
                yield caption, charts.cost_chart(f"{title}: {column.heading}", axis, written, values, column.format)


def ranks(verdict: Verdict, encoder: str) -> str:
    """Write the ranks that an encoder may have among the candidates; an empty text if it is not ranked."""
    low, high = verdict.rank_low.get(encoder), verdict.rank_high.get(encoder)
    if low is None or high is None:
        return ""
    return f"rank {span(str(low), str(high))} of {len(verdict.candidates)}"
