"""The retrieval figures in the model card of a variant and in the table of all variants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from embassay.core.formatting import DASH, with_interval
from embassay.core.metric_key import MetricKey
from embassay.core.result import FEW_UNITS, Result, Row, rows_of
from embassay.diagnostics.metrics.metric import declared


@dataclass(frozen=True)
class RetrievalFigure:
    """One figure of retrieval.

    Attributes
    ----------
    heading, short_heading
        Its heading in a card, and in the table of all variants. The table leaves out figures without a short heading.
    """

    heading: str
    short_heading: str
    metric: str
    subset: str

    def rows(self, result: Result, corpus: str) -> dict[str, Row]:
        """Return the rows of a corpus by encoder."""
        return rows_of(MetricKey(self.metric, self.subset, diagnostic="retrieval", corpus=corpus), result.rows)


FIGURES = (
    RetrievalFigure("Success@5", "Success@5", "Success@5", "all"),
    RetrievalFigure("accuracy (100 questions)", "accuracy (l = 100)", "accuracy_l100", "all"),
    RetrievalFigure("COE", "COE", "coe", "psi5"),
    RetrievalFigure("ROE", "ROE", "roe", "psi5"),
    RetrievalFigure("threshold τ", "τ", "tau", "recommended"),
    RetrievalFigure("IsoScore of the documents", "IsoScore", "isoscore", "documents"),
    RetrievalFigure("I_A of the documents", "", "i_a", "documents"),
)
"""Those of tables 2 and 3 of Roychowdhury et al. (2024), and I_A."""
INTERVALS = (
    "In brackets: for Success@5 the 95% interval; for accuracy, COE and ROE the range of 95% of exams of 100 "
    "questions. The threshold τ and IsoScore (the isotropy of the documents) are single numbers without an interval."
)


def of_variants(result: Result, domain: Sequence[str]) -> tuple[str, ...]:
    """Return the lines of a Markdown table for each corpus of the domain, with aligned columns.

    It has a row for each variant and a column for each figure.
    """
    figures = [figure for figure in FIGURES if figure.short_heading]
    lines: list[str] = []
    for corpus in domain:
        head = [named(result, corpus), *(figure.short_heading for figure in figures)]
        columns = [figure.rows(result, corpus) for figure in figures]
        body = [[encoder.name, *(_cell(rows.get(encoder.name)) for rows in columns)] for encoder in result.encoders]
        lines += [*table(head, body, aligned=True).split("\n"), ""]
    return (*lines, INTERVALS)


def of_two(result: Result, corpus: str, first: str, second: str) -> str:
    """Return all figures of two encoders on one corpus as a Markdown table, a row for each figure."""
    body = []
    for figure in FIGURES:
        rows = figure.rows(result, corpus)
        if first in rows or second in rows:
            body.append((figure.heading, _cell(rows.get(first)), _cell(rows.get(second))))
    return table(("", first, second), body)


def named(result: Result, corpus: str) -> str:
    """Return a corpus's name, marked if it has few units."""
    success = FIGURES[0].rows(result, corpus)
    # The encoder with the fewest units decides. A corpus without results has no mark.
    units = min((row.units for row in success.values()), default=0)
    if 0 < units < FEW_UNITS:
        return f"{corpus} (few units: {units})"
    return corpus


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, aligned: bool = False) -> str:
    """Return a Markdown table; with aligned columns it can also be read as plain text."""
    # A line break or a bar within a cell would break the table.
    lines = [[" ".join(cell.split()).replace("|", r"\|") for cell in row] for row in (head, *rows)]
    widths = [max(map(len, cells)) if aligned else 0 for cells in zip(*lines, strict=True)]
    lines.insert(1, ["-" * (width or 3) for width in widths])
    return "\n".join(f"| {' | '.join(map(str.ljust, line, widths))} |" for line in lines)


def _cell(row: Row | None) -> str:
    """Return a figure as text: ``91.2% [88.0, 94.0]``, ``0.432``; a dash for none."""
    if row is None:
        return DASH
    return with_interval(row.value, row.low, row.high, declared(row.key).style)
