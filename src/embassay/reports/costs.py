"""What candidates cost on a corpus of documents: milliseconds of a question, bytes of all vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from embassay.core.formatting import DASH, number, two_digits, written_bytes
from embassay.core.result import EncoderRecord, Result, Verdict
from embassay.reports.tables import Cell, Table

Milliseconds: TypeAlias = Mapping[tuple[str, str], float]
"""Those of a question by encoder and corpus, with all that it is built on, where they are known.

For an empty corpus, those of an encoder for one text alone, and of a set-up without its parts.
"""
NOTE = (
    "Milliseconds: median of one question, with all that the candidate is built on, one after the other. "
    "Vectors and size: of all documents."
)


def cost_tables(result: Result, milliseconds: Milliseconds) -> Iterator[Table]:
    """Yield a table of candidates and lexical baseline for each corpus that is searched, where two have known costs."""
    records = {record.name: record for record in result.encoders}
    searched = {corpus.name for corpus in result.corpora if corpus.documents}
    # Several diagnostics may rank the candidates on one corpus.
    verdicts = {one.corpus: one for one in result.verdicts if one.metric and one.corpus in searched}
    for verdict in verdicts.values():
        # A file that was edited may name candidates that it does not list.
        names = dict.fromkeys((*verdict.candidates, verdict.baseline))
        lines = [_line(records[name], verdict, milliseconds) for name in names if name in records]
        if len(lines) > 1:
            # Without the columns in which nothing is known.
            columns = {}
            for name in lines[0]:
                cells = [line[name] for line in lines]
                if any(cell.text != DASH for cell in cells):
                    columns[name] = cells
            if len(columns) > 1:
                rows = tuple(zip(*columns.values(), strict=True))
                yield Table(f"Costs on {verdict.corpus}", tuple(columns), rows, NOTE)


def _line(record: EncoderRecord, verdict: Verdict, milliseconds: Milliseconds) -> dict[str, Cell]:
    time, size = milliseconds.get((record.name, verdict.corpus)), record.index_bytes(verdict.corpus)
    # An index has the vectors of its encoder.
    vectors = None if record.step == "index" else record.vectors.get(verdict.corpus)
    return {
        "candidate": Cell(record.name),
        "ms a question": Cell(two_digits(time) if time else DASH),
        "vectors": Cell(number(vectors, "count")),
        "size": Cell(written_bytes(size) if size and vectors else DASH),
    }
