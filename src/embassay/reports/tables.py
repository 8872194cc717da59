"""Turn rows of a result into tables of text. Nothing is computed here."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, compress
from typing import Any

from embassay.core.formatting import DASH, POINTS, difference_format, interval, number, p_value, without_points
from embassay.core.layout import (
    Column,
    ComparisonTable,
    CorpusTable,
    EncoderTable,
    Format,
    Layout,
    Matrix,
    SeriesTable,
    SubsetTable,
)
from embassay.core.metric_key import MetricKey
from embassay.core.result import Comparison, Result, Row, Verdict
from embassay.reports.findings.support import remark

BASELINE = "baseline"
DIGITS = frozenset("0123456789+−–<")


@dataclass(frozen=True)
class Cell:
    """The content of one cell of a table.

    Attributes
    ----------
    interval
        The interval of a number; empty if it has none.
    remark
        A caveat about a number.
    strong
        Whether the cell is printed in bold.
    shade
        The darkness of the background, from 0 to 1; None for no shade.
    """

    text: str
    interval: str = ""
    remark: str = ""
    strong: bool = False
    shade: float | None = None

    @property
    def is_number(self) -> bool:
        """Whether the text starts as a number does; a dash stands for a missing number."""
        return self.text[:1] in DIGITS


@dataclass(frozen=True)
class Table:
    """A table of texts."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    @cached_property
    def numeric(self) -> tuple[bool, ...]:
        """Whether each column holds numbers only and is aligned right; False for all columns if there are no rows."""
        if not self.rows:
            return (False,) * len(self.head)
        columns = zip(*self.rows, strict=True)
        return tuple(all(cell.is_number for cell in column) for column in columns)

    @property
    def cells(self) -> Iterator[Cell]:
        """All cells, row by row."""
        return chain.from_iterable(self.rows)

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """The distinct remarks, in order of first appearance; baselines have a mark of their own and are left out."""
        remarks = dict.fromkeys(cell.remark for cell in self.cells)
        return tuple(remark for remark in remarks if remark not in ("", BASELINE))

    @cached_property
    def footnotes(self) -> tuple[str, ...]:
        """The remarks that are there more than once: they stand below the table, and a number refers to them."""
        counts = Counter(cell.remark for cell in self.cells)
        return tuple(remark for remark in self.remarks if counts[remark] > 1)


@dataclass(frozen=True)
class Scope:
    """The part of a result about one diagnostic on one corpus, and the column that its encoders are ordered by."""

    result: Result
    diagnostic: str
    corpus: str
    headline: Column

    def holds(self, part: Any) -> bool:
        """Return whether a part of the result is of this scope."""
        return (part.diagnostic, part.corpus) == (self.diagnostic, self.corpus)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The rows of this scope."""
        return tuple(filter(self.holds, self.result.rows))

    @property
    def signatures(self) -> tuple[str, ...]:
        """What the figures depend on: the distinct signatures of the rows."""
        return tuple(dict.fromkeys(row.signature for row in self.rows))

    @cached_property
    def encoders(self) -> tuple[str, ...]:
        """The encoders with a row in this scope, by descending headline value; those without a value are last."""
        present = {row.encoder for row in self.rows}
        values = {}
        for encoder in self.result.encoders:
            if encoder.name in present:
                row = self.row_of(encoder.name, self.headline)
                values[encoder.name] = -math.inf if row is None or row.value is None else row.value
        return tuple(sorted(values, key=lambda name: values[name], reverse=True))

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict; an empty one where there is none."""
        for verdict in filter(self.holds, self.result.verdicts):
            return verdict
        return Verdict(**vars(MetricKey("", diagnostic=self.diagnostic, corpus=self.corpus)), items=0, units=0)

    def row_of(self, encoder: str, column: Column) -> Row | None:
        """Return the row of an encoder in a column; None if there is none."""
        return self._index.get((encoder, column.key))

    def rows_of(self, encoder: str, columns: Iterable[Column]) -> list[Row | None]:
        """Return the row of an encoder in each column; None for each missing row."""
        return [self.row_of(encoder, column) for column in columns]

    def series(self, name: str, kind: str) -> Any:
        """Return the data of a series; None if there is no series of that name and kind."""
        for series in filter(self.holds, self.result.series):
            if (series.name, series.kind) == (name, kind):
                return series.data
        return None

    def is_baseline(self, encoder: str) -> bool:
        """Return whether an encoder was added as a baseline."""
        return any(record.name == encoder and record.baseline for record in self.result.encoders)

    @cached_property
    def _index(self) -> dict[tuple[str, MetricKey], Row]:
        """Rows by encoder and key; without a similarity function, a key stands for the first row of any."""
        index: dict[tuple[str, MetricKey], Row] = {}
        for row in self.rows:
            key = row.key.within_diagnostic
            index.setdefault((row.encoder, key), row)
            index.setdefault((row.encoder, replace(key, similarity_function="")), row)
        return index


def scope_of(result: Result, verdict: Verdict, layouts: Mapping[str, Layout]) -> Scope:
    """Return the part of a result that a verdict is about."""
    return Scope(result, verdict.diagnostic, verdict.corpus, layouts[verdict.diagnostic].headline.columns[0])


Line = tuple[list[Cell], list[Row | None]]
"""A line of a table of numbers: the cells that name it, and the row of each column; None for a missing one."""


def figure_table(
    part: EncoderTable | CorpusTable | SubsetTable,
    head: Iterable[str],
    columns: Sequence[Column],
    lines: Sequence[Line],
) -> Table:
    """Lay out lines of numbers.

    Parameters
    ----------
    part
        The title and the note of the table.
    head
        The headings of the names.
    columns
        The headings and the formats of the numbers, one column for each row of a line.
    """
    table_rows = []
    for names, rows in lines:
        numbers = [number_cell(row, column) for row, column in zip(rows, columns, strict=True)]
        table_rows.append((*names, *numbers))
    headings = [f"{column.heading}, {POINTS}" if column.format == "points" else column.heading for column in columns]
    return Table(part.title, (*head, *headings), tuple(table_rows), part.note)


def encoder_table(scope: Scope, part: EncoderTable) -> Table | None:
    """Lay out one line for each encoder (and similarity function). Columns without any row are left out."""
    lines = list[Line]()
    for encoder in scope.encoders:
        name = _name_cell(scope, encoder)
        if not part.similarity_functions:
            lines.append(([name], scope.rows_of(encoder, part.columns)))
        for similarity_function in part.similarity_functions:
            of_function = [replace(column, similarity_function=similarity_function) for column in part.columns]
            lines.append(([name, Cell(similarity_function)], scope.rows_of(encoder, of_function)))

    columns = zip(*(rows for _, rows in lines), strict=True)
    has_rows = [any(column) for column in columns]
    if not any(has_rows):
        return None
    lines = [(names, list(compress(rows, has_rows))) for names, rows in lines]
    head = ["encoder", "similarity_function"] if part.similarity_functions else ["encoder"]
    return figure_table(part, head, list(compress(part.columns, has_rows)), lines)


def corpus_table(scope: Scope, part: CorpusTable) -> Table | None:
    """Lay out one line for each subset, from the rows without an encoder; None if there are none."""
    metrics = {column.metric for column in part.columns}
    lines = list[Line]()
    for subset in dict.fromkeys(row.subset for row in scope.rows if not row.encoder and row.metric in metrics):
        rows = scope.rows_of("", [replace(column, subset=subset) for column in part.columns])
        items = max((row.items for row in rows if row), default=0)
        lines.append(([Cell(subset.replace("_", " ")), Cell(f"{items:,}")], rows))
    if not lines:
        return None
    return figure_table(part, ["subset", "items"], part.columns, lines)


def subset_table(scope: Scope, part: SubsetTable) -> Table | None:
    """Lay out one line for each subset, one column for each encoder; None if there are no such subsets."""
    items: dict[str, int] = {}
    for row in scope.rows:
        if row.metric == part.metric and not row.condition and row.subset not in part.without:
            items[row.subset] = max(items.get(row.subset, 0), row.items + row.undefined)
    if not items:
        return None
    lines = list[Line]()
    for subset, count in items.items():
        column = Column("", part.metric, subset)
        names = [Cell(subset.replace(":", ": ").replace("_", " ")), Cell(f"{count:,}")]
        lines.append((names, [scope.row_of(encoder, column) for encoder in scope.encoders]))
    columns = [Column(encoder, part.metric, format=part.format) for encoder in scope.encoders]
    return figure_table(part, ["subset", "items"], columns, lines)


SERIES_FORMATS = {"points": "{:+.2%}", "percent": "{:.1%}", "count": "{:,}", "number": "{:.2f}", "decimal": "{:.1f}"}
"""How the numbers of a series of kind ``table`` are written; other formats are texts."""
FAMILIES = {
    "step": "derived from it",
    "main": "reference and baseline",
    "lexical": "model and baseline",
    "models": "two models",
    "all": "on request",
}
"""The names of the families of comparisons in tables."""


def comparison_table(scope: Scope, part: ComparisonTable) -> Table | None:
    """Lay out one line for each comparison, family by family; None if there are no comparisons."""
    rows = [
        _comparison_cells(comparison, part.column.format)
        for comparison in filter(scope.holds, scope.result.comparisons)
        if part.column.key.covers(comparison.key)
    ]
    if not rows:
        return None
    head = ("pair", "question", "difference", "p", "p corrected", "items")
    return Table(part.title, head, tuple(rows), part.note)


def _comparison_cells(comparison: Comparison, style: Format) -> tuple[Cell, ...]:
    """Return the line of a comparison, whose values are written in ``style``."""
    return (
        Cell(f"{comparison.a} − {comparison.b}"),
        Cell(comparison.step or FAMILIES[comparison.family]),
        difference_cell(comparison.difference, comparison.low, comparison.high, style),
        Cell(p_value(comparison.p)),
        # Bold if it is significant.
        Cell(p_value(comparison.p_holm), strong=comparison.is_significant),
        Cell(f"{comparison.items:,}"),
    )


def difference_cell(difference: float | None, low: float | None, high: float | None, style: Format) -> Cell:
    """Write the difference of two values that are written in ``style``, with its interval."""
    style = difference_format(style)
    return Cell(number(difference, style, signed=True), interval(low, high, style, signed=True))


def series_table(scope: Scope, part: SeriesTable) -> Table | None:
    """Lay out a series of kind ``table``; None if the result has none or an empty one."""
    data = scope.series(part.series, "table")
    if not data or not data["rows"]:
        return None
    rows = [tuple(map(_formatted, values, data["formats"])) for values in data["rows"]]
    source = f"Source: {data['source']}." if "source" in data else ""
    return Table(part.title, tuple(data["columns"]), tuple(rows), _joined(part.note, data.get("note", ""), source))


def _joined(*sentences: str) -> str:
    """Join the sentences of a note; empty ones are left out."""
    return " ".join(filter(None, sentences))


def matrix_table(scope: Scope, part: Matrix) -> Table | None:
    """Lay out a series of kind ``matrix`` in the order of the headline values; None for fewer than two encoders."""
    data = scope.series(part.series, "matrix")
    if not data or len(data["names"]) < 2:
        return None
    index = {name: number for number, name in enumerate(data["names"])}
    names = [name for name in scope.encoders if name in index]
    rows = []
    for a in names:
        cells = [_name_cell(scope, a)]
        numerators = data["numerator"][index[a]]
        denominators = data["denominator"][index[a]]
        for b in names:
            numerator = numerators[index[b]]
            denominator = denominators[index[b]]
            if a == b:
                cells.append(Cell(f"{denominator:,}", remark=data["diagonal"]))
            elif denominator:
                # A larger share has a darker background.
                cells.append(Cell(f"{numerator:,}/{denominator:,}", shade=numerator / denominator))
            else:
                cells.append(Cell(DASH))
        rows.append(tuple(cells))
    note = _joined(part.note, data["note"])
    return Table(part.title, ("encoder", *names), tuple(rows), note)


def _name_cell(scope: Scope, encoder: str) -> Cell:
    """Return the cell with the name of an encoder."""
    return Cell(encoder, remark=BASELINE if scope.is_baseline(encoder) else "")


def number_cell(row: Row | None, column: Column) -> Cell:
    """Write the value of a row with its interval and remark; a dash for a missing row."""
    if row is None:
        return Cell(DASH)
    signed = column.format == "points"
    # The heading of the column names the unit.
    text = without_points(number(row.value, column.format, signed))
    ends = ""
    if column.interval:
        ends = interval(row.low, row.high, column.format, signed)
    return Cell(text, ends, remark(row))


def _formatted(value: Any, style: str) -> Cell:
    """Write a cell of a series of kind ``table``."""
    if value is None or value == "":
        return Cell(DASH)
    if style not in SERIES_FORMATS:
        return Cell(str(value))
    text = SERIES_FORMATS[style].format(value).replace("-", "−")
    if style == "points":
        text = text.replace("%", f" {POINTS}")
    return Cell(text)
