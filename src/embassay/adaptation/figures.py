"""The figures of retrieval that an adaptation is told by: of a variant in its card, of all variants in one table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from embassay.result import FEW_UNITS, Result, Row
from embassay.types import content_hash

QUOTED = (
    ("Success@5", "Success@5", "all", True),
    ("accuracy (100 questions)", "accuracy_l100", "all", True),
    ("COE", "coe", "psi5", True),
    ("ROE", "roe", "psi5", True),
    ("threshold τ", "tau", "recommended", False),
    ("IsoScore of the documents", "isoscore", "documents", False),
    ("I_A of the documents", "i_a", "documents", False),
)
"""Figures of retrieval that a card quotes: heading, quantity, subset, whether it is a share."""
SIX = dict(zip(("Success@5", "accuracy (l = 100)", "COE", "ROE", "τ", "IsoScore"), QUOTED, strict=False))
"""Those that stand in the table of all variants, as in tables 2 and 3 of Roychowdhury et al. (2024)."""
WITHOUT = (
    "In brackets: the 95% interval of Success@5, and the range of 95% of exams of 100 questions of accuracy, COE and "
    "ROE. The threshold τ and IsoScore, the documents' isotropy, have none: each is one number of all of them."
)


def quoted(result: Result, own: Sequence[str], encoders: Sequence[str]) -> tuple[Row, ...]:
    """Return the rows that a card quotes: those of :data:`QUOTED`, of these encoders on the domain's corpora."""
    wanted = {(quantity, subset) for _, quantity, subset, _ in QUOTED}
    return tuple(
        row
        for row in result.rows
        if row.diagnostic == "retrieval" and row.corpus in own and row.encoder in encoders
        if (row.quantity, row.subset) in wanted and not row.condition
    )


def signature(rows: Iterable[Row]) -> str:
    """Return 16 hexadecimal digits of the content of rows; equal ones mean equal figures, made alike."""
    return content_hash([vars(row) for row in rows])


def of_variants(result: Result, own: Sequence[str]) -> tuple[str, ...]:
    """Return the lines of a table for each corpus of the domain: a row for each variant, a column for each of the six.

    It is Markdown, and its columns stand under each other.
    """
    names = [encoder.name for encoder in result.encoders]
    lines = [line for corpus in own for line in _of_corpus(result, corpus, names)]
    return (*lines, WITHOUT)


def named(result: Result, corpus: str) -> str:
    """Return a corpus's name, marked where its figures rest on few units."""
    units = min((row.units for row in result.rows if (row.corpus, row.quantity) == (corpus, "Success@5")), default=0)
    return f"{corpus} (few units: {units})" if 0 < units < FEW_UNITS else corpus


def of_two(result: Result, corpus: str, first: str, second: str) -> str:
    """Return all quoted figures of two encoders on one corpus as a Markdown table, a row for each figure."""
    rows = _by_place(result, corpus, (first, second))
    lines = [
        (heading, *(_figure(rows.get((quantity, subset, encoder)), share) for encoder in (first, second)))
        for heading, quantity, subset, share in QUOTED
        if any((quantity, subset, encoder) in rows for encoder in (first, second))
    ]
    return table(("", first, second), lines)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        f"| {' | '.join(' '.join(cell.split()).replace('|', chr(92) + '|') for cell in line)} |" for line in lines
    )


def _of_corpus(result: Result, corpus: str, names: Sequence[str]) -> Iterator[str]:
    rows = _by_place(result, corpus, names)
    head = (named(result, corpus), *SIX)
    cells = [
        (name, *(_figure(rows.get((quantity, subset, name)), share) for _, quantity, subset, share in SIX.values()))
        for name in names
    ]
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    for line in (head, ["-" * width for width in widths], *cells):
        yield f"| {' | '.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))} |"
    yield ""


def _by_place(result: Result, corpus: str, names: Sequence[str]) -> dict[tuple[str, str, str], Row]:
    return {(row.quantity, row.subset, row.encoder): row for row in quoted(result, (corpus,), names)}


def _figure(row: Row | None, share: bool) -> str:
    if row is None or row.value is None:
        return "–"
    ends = (row.low, row.high)
    shown = [f"{100 * value:.1f}" if share else f"{value:.3f}" for value in (row.value, *ends) if value is not None]
    figure = f"{shown[0]}{'%' if share else ''}"
    return figure + (f" [{shown[1]}, {shown[2]}]" if len(shown) == 3 else "")
