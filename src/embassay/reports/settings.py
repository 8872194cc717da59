"""The table of settings: what each reaches, whether it differs from the reference, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from embassay.formatting import DASH, number, written_bytes
from embassay.layout import Format, Layout
from embassay.reports.tables import Cell, Table, difference_cell, heading_of, number_cell, p_cell, scope_of
from embassay.result import EncoderRecord, Result, Verdict

NOTE = (
    "Paired on the same questions; p by exchanging whole units at random, with Holm's correction over all candidates. "
    "Vectors and size: of all documents."
)


def setting_tables(result: Result, layouts: Mapping[str, Layout]) -> Iterator[Table]:
    """Yield a table of the candidates whose settings vary, for each diagnostic and corpus that ranks encoders."""
    records = {record.name: record for record in result.encoders}
    for verdict in result.verdicts:
        # A file that was edited may name candidates that it does not list.
        candidates = [records[name] for name in verdict.candidates if name in records]
        varied = [record for record in candidates if record.setting]
        if verdict.metric and len(varied) > 1:
            yield _table(result, layouts[verdict.diagnostic], verdict, varied)


def _table(result: Result, layout: Layout, verdict: Verdict, varied: list[EncoderRecord]) -> Table:
    headline = layout.headline.columns[0]
    scope = scope_of(result, verdict, {verdict.diagnostic: layout})
    rows = []
    for record in varied:
        vectors = record.vectors.get(verdict.corpus)
        index_bytes = record.index_bytes(verdict.corpus)
        size = DASH
        if vectors and index_bytes:
            size = written_bytes(index_bytes)
        difference, p = _difference(verdict, record.name, headline.format)
        rows.append(
            {
                "candidate": Cell(record.name),
                heading_of(headline): number_cell(scope.row_of(record.name, headline), headline),
                f"difference from {verdict.opponent('reference').name}": difference,
                "p (Holm)": p,
                "may be best": Cell(_best(verdict, record.name)),
                "vectors": Cell(number(vectors, "count")),
                "size": Cell(size),
            }
        )
    return Table.of(f"{layout.title} on {verdict.corpus}", rows, NOTE)


def _difference(verdict: Verdict, name: str, style: Format) -> tuple[Cell, Cell]:
    """Return the difference of a candidate from the reference, and its p-value."""
    reference = verdict.opponent("reference")
    if name == reference.name:
        return Cell("reference"), Cell(DASH)
    difference = reference.difference(name)
    return difference_cell(difference.difference, difference.low, difference.high, style), p_cell(difference.p)


def _best(verdict: Verdict, name: str) -> str:
    if not verdict.best_set:
        return DASH
    if name in verdict.best_set:
        return "yes"
    return "no"
