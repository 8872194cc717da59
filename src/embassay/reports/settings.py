"""The table of settings and set-ups: what each reaches, what it gains, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from embassay.core.formatting import DASH, number, two_digits, written_bytes
from embassay.core.layout import Layout
from embassay.core.result import EncoderRecord, Result, Verdict
from embassay.reports.findings.costs import Latency
from embassay.reports.findings.templates import place_of_step
from embassay.reports.tables import Cell, Table, difference_cell, heading_of, number_cell, p_cell, scope_of

NOTE = (
    "Paired on the same questions; p by exchanging questions that share a right page together, corrected within the "
    "family of the pair. "
    "Milliseconds: of one question, with all that it is built on. Vectors and size: of all documents."
)


def setting_tables(result: Result, layouts: Mapping[str, Layout], latency: Latency) -> Iterator[Table]:
    """Yield a table for each diagnostic that ranks encoders: of all candidates with set-ups, or of varied settings.

    Parameters
    ----------
    latency
        Of one question, by encoder and corpus.
    """
    records = {record.name: record for record in result.encoders}
    for verdict in result.verdicts:
        # A file that was edited may name candidates that it does not list.
        candidates = [records[name] for name in verdict.candidates if name in records]
        has_steps = any(record.step for record in candidates)
        # What a set-up costs is read beside what the others cost.
        varied = [record for record in candidates if has_steps or record.setting]
        varied.sort(key=lambda record: place_of_step(record.step))
        if verdict.metric and (has_steps or len(varied) > 1):
            yield _table(result, layouts[verdict.diagnostic], verdict, varied, latency)


def _table(result: Result, layout: Layout, verdict: Verdict, varied: list[EncoderRecord], latency: Latency) -> Table:
    scope = scope_of(result, verdict, {verdict.diagnostic: layout})
    headline = scope.headline
    may_be_best = dict.fromkeys(verdict.best_set, "yes")
    others = "no" if may_be_best else DASH
    rows = []
    for record in varied:
        # Lists have no vectors.
        vectors = record.vectors.get(verdict.corpus) if record.setting and not record.step else None
        index_bytes = record.index_bytes(verdict.corpus)
        size = DASH
        if vectors and index_bytes:
            size = written_bytes(index_bytes)
        steps = verdict.steps_of(record.name)
        pair = steps[0] if steps else verdict.between(record.name, verdict.baseline or verdict.reference)
        compared = (
            ("", None, None, None, None) if pair is None else (pair.b, pair.difference, pair.low, pair.high, pair.p)
        )
        other, difference, low, high, p = compared
        milliseconds = latency.get((record.name, verdict.corpus))
        rows.append(
            {
                "candidate": Cell(record.name),
                heading_of(headline): number_cell(scope.row_of(record.name, headline), headline),
                "compared with": Cell(other or DASH),
                "difference": difference_cell(difference, low, high, headline.format),
                "p": p_cell(p),
                "may be best": Cell(may_be_best.get(record.name, others)),
                "ms a question": Cell(two_digits(milliseconds) if milliseconds else DASH),
                "vectors": Cell(number(vectors, "count")),
                "size": Cell(size),
                "price of 1,000 questions": Cell(number(record.question_price.get(verdict.corpus), "number")),
            }
        )
    return Table.of(f"{layout.title} on {verdict.corpus}", rows, NOTE)
