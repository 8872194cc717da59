"""The retrieval figures in the model card of a variant and in the table of all variants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from embassay.result import FEW_UNITS, Result, Row
from embassay.types import content_hash


@dataclass(frozen=True)
class Figure:
    """One figure of retrieval.

    Attributes
    ----------
    heading, short_heading
        Its heading in a card, and in the table of all variants. The table leaves out figures without a short heading.
    is_share
        Whether it is printed in percent.
    """

    heading: str
    short_heading: str
    quantity: str
    subset: str
    is_share: bool


FIGURES = (
    Figure("Success@5", "Success@5", "Success@5", "all", True),
    Figure("accuracy (100 questions)", "accuracy (l = 100)", "accuracy_l100", "all", True),
    Figure("COE", "COE", "coe", "psi5", True),
    Figure("ROE", "ROE", "roe", "psi5", True),
    Figure("threshold τ", "τ", "tau", "recommended", False),
    Figure("IsoScore of the documents", "IsoScore", "isoscore", "documents", False),
    Figure("I_A of the documents", "", "i_a", "documents", False),
)
"""Those of tables 2 and 3 of Roychowdhury et al. (2024), and I_A."""
INTERVALS = (
    "In brackets: for Success@5 the 95% interval; for accuracy, COE and ROE the range of 95% of exams of 100 "
    "questions. The threshold τ and IsoScore (the isotropy of the documents) are single numbers without an interval."
)
MISSING = "–"


def quoted(result: Result, domain: Sequence[str], encoders: Sequence[str]) -> tuple[Row, ...]:
    """Return the rows of :data:`FIGURES` for these encoders on the corpora of the domain."""
    wanted = {(column.quantity, column.subset) for column in FIGURES}
    rows = []
    for row in result.rows:
        if row.diagnostic != "retrieval" or row.condition:
            continue
        if row.corpus in domain and row.encoder in encoders and (row.quantity, row.subset) in wanted:
            rows.append(row)
    return tuple(rows)


def signature(rows: Iterable[Row]) -> str:
    """Return 16 hexadecimal digits of the content of rows. Equal signatures mean equal figures, computed alike."""
    return content_hash([vars(row) for row in rows])


def of_variants(result: Result, domain: Sequence[str]) -> tuple[str, ...]:
    """Return the lines of a Markdown table for each corpus of the domain, with aligned columns.

    It has a row for each variant and a column for each figure.
    """
    lines: list[str] = []
    for corpus in domain:
        lines += [*_table_of_variants(result, corpus), ""]
    return (*lines, INTERVALS)


def named(result: Result, corpus: str) -> str:
    """Return a corpus's name, marked if it has few units."""
    headlines = [row for row in result.rows if row.corpus == corpus and row.quantity == "Success@5"]
    # The encoder with the fewest units decides. A corpus without results has no mark.
    units = min((row.units for row in headlines), default=0)
    if 0 < units < FEW_UNITS:
        return f"{corpus} (few units: {units})"
    return corpus


def of_two(result: Result, corpus: str, first: str, second: str) -> str:
    """Return all figures of two encoders on one corpus as a Markdown table, a row for each figure."""
    rows = _by_place(result, corpus, (first, second))
    lines = []
    for kind in FIGURES:
        first_row = rows.get((kind.quantity, kind.subset, first))
        second_row = rows.get((kind.quantity, kind.subset, second))
        if first_row is None and second_row is None:
            continue
        lines.append((kind.heading, _cell(first_row, kind), _cell(second_row, kind)))
    return table(("", first, second), lines)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = []
    for row in (head, ["---"] * len(head), *rows):
        # A line break or a bar within a cell would break the table.
        cells = [" ".join(cell.split()).replace("|", r"\|") for cell in row]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _table_of_variants(result: Result, corpus: str) -> list[str]:
    """Return the lines of a table with aligned columns."""
    columns = [column for column in FIGURES if column.short_heading]
    encoders = [encoder.name for encoder in result.encoders]
    rows = _by_place(result, corpus, encoders)
    lines = [[named(result, corpus), *(column.short_heading for column in columns)]]
    for encoder in encoders:
        line = [encoder]
        for column in columns:
            row = rows.get((column.quantity, column.subset, encoder))
            line.append(_cell(row, column))
        lines.append(line)
    # Aligned, so that verdict.md can also be read as plain text.
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    aligned = []
    for line in lines:
        cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        aligned.append(f"| {' | '.join(cells)} |")
    return aligned


def _by_place(result: Result, corpus: str, encoders: Sequence[str]) -> dict[tuple[str, str, str], Row]:
    """Return the rows of figures by (quantity, subset, encoder)."""
    return {(row.quantity, row.subset, row.encoder): row for row in quoted(result, (corpus,), encoders)}


def _cell(row: Row | None, kind: Figure) -> str:
    """Return a figure as text: ``91.2% [88.0, 94.0]``, ``0.432``."""
    if row is None or row.value is None:
        return MISSING
    text = _number(row.value, kind)
    if kind.is_share:
        text += "%"
    if row.low is None or row.high is None:
        return text
    return f"{text} [{_number(row.low, kind)}, {_number(row.high, kind)}]"


def _number(value: float, kind: Figure) -> str:
    """Format a value: a share in percent with one decimal, another number with three decimals."""
    if kind.is_share:
        return f"{100 * value:.1f}"
    return f"{value:.3f}"
