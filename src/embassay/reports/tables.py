"""Rows of a result to tables of text; nothing is computed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from embassay.formatting import DASH, interval, number, p_value
from embassay.layout import (
    AcrossTable,
    Column,
    ComparisonTable,
    CorpusTable,
    EncoderTable,
    Examples,
    Matrix,
    SeriesTable,
    SizeTable,
    SubsetTable,
)
from embassay.reports.words import remark
from embassay.result import Example, Result, Row

BASELINE = "baseline"
DIGITS = frozenset("0123456789+−–<")
LEFT_OUT = "(text left out)"
ALPHA = 0.05
"""The level of tests: smaller p-values stand out."""


@dataclass(frozen=True)
class Cell:
    """What stands in one place of a table.

    Attributes
    ----------
    interval
        The interval of a figure, empty for none.
    remark
        What must be said of a figure.
    strong
        Whether it stands out.
    shade
        How dark it is, from 0 to 1; None for no shade.
    """

    text: str
    interval: str = ""
    remark: str = ""
    strong: bool = False
    shade: float | None = None


@dataclass(frozen=True)
class Table:
    """A table with the signatures of the figures in it."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    signatures: tuple[str, ...] = ()
    folded: bool = False

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Whether a column holds numbers, and so lines up on the right; none does in a table without rows."""
        if not self.rows:
            return (False,) * len(self.head)
        return tuple(all(cell.text[:1] in DIGITS for cell in column) for column in zip(*self.rows, strict=True))


@dataclass(frozen=True)
class Scope:
    """One diagnostic on one corpus of a result, and the figure that its encoders are ordered by."""

    result: Result
    diagnostic: str
    corpus: str
    headline: Column

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The rows of this scope."""
        return tuple(row for row in self.result.rows if row.diagnostic == self.diagnostic and row.corpus == self.corpus)

    @cached_property
    def encoders(self) -> tuple[str, ...]:
        """The encoders with a row in this scope, the highest headline figure first, those without one last."""
        present = {row.encoder for row in self.rows}
        names = [encoder.name for encoder in self.result.encoders if encoder.name in present]
        headlines = {name: self.figure(name, self.headline) for name in names}

        def height(name: str) -> float:
            row = headlines[name]
            return -math.inf if row is None or row.value is None else row.value

        return tuple(sorted(names, key=height, reverse=True))

    def figure(self, encoder: str, column: Column) -> Row | None:
        """Return an encoder's row of a column, if there is one."""
        return self._index.get((encoder, column.quantity, column.subset, column.condition, column.measure))

    def figures(self, encoder: str, columns: Iterable[Column]) -> list[Row | None]:
        """Return an encoder's rows of columns, None for each that it has not."""
        return [self.figure(encoder, column) for column in columns]

    def series(self, name: str, kind: str) -> Any:
        """Return the data of a series, or None where there is none of that name and kind."""
        key = (self.diagnostic, self.corpus, name, kind)
        for series in self.result.series:
            if (series.diagnostic, series.corpus, series.name, series.kind) == key:
                return series.data
        return None

    def baseline(self, encoder: str) -> bool:
        """Say whether an encoder joined as a baseline."""
        return encoder in self._baselines

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The number of parameters of each encoder of this scope that is known to have some, the smallest first."""
        known = {e.name: e.parameters for e in self.result.encoders if e.name in self.encoders and e.parameters}
        return dict(sorted(known.items(), key=lambda item: (item[1], item[0])))

    @cached_property
    def _baselines(self) -> frozenset[str]:
        return frozenset(encoder.name for encoder in self.result.encoders if encoder.baseline)

    @cached_property
    def _index(self) -> dict[tuple[str, ...], Row]:
        """Rows by encoder, quantity, subset, condition and measure; the first of any measure without one."""
        index: dict[tuple[str, ...], Row] = {}
        for row in self.rows:
            key = (row.encoder, row.quantity, row.subset, row.condition)
            index.setdefault((*key, row.measure), row)
            index.setdefault((*key, ""), row)
        return index


@dataclass(frozen=True)
class Line:
    """A line of a table of figures: the cells that name it, and the rows of its figures, None for a missing one."""

    names: tuple[Cell, ...]
    figures: Sequence[Row | None]


def figure_table(
    part: EncoderTable | CorpusTable | AcrossTable | SizeTable | SubsetTable,
    head: Iterable[str],
    columns: Sequence[Column],
    lines: Sequence[Line],
) -> Table:
    """Lay out lines of figures.

    Parameters
    ----------
    columns
        How the figures of each line are written.
    """
    rows = []
    for line in lines:
        cells = [_figure(row, column) for row, column in zip(line.figures, columns, strict=True)]
        rows.append((*line.names, *cells))
    signatures = _signatures(row for line in lines for row in line.figures)
    return Table(part.title, tuple(head), tuple(rows), part.note, signatures, getattr(part, "folded", False))


def encoder_table(scope: Scope, part: EncoderTable) -> Table | None:
    """Lay out one line for each encoder (and measure); columns that no encoder has are left out."""
    lines = []
    for encoder in scope.encoders:
        for measure in part.measures or ("",):
            names = (_name(scope, encoder), Cell(measure)) if part.measures else (_name(scope, encoder),)
            columns = [replace(column, measure=measure or column.measure) for column in part.columns]
            lines.append(Line(names, scope.figures(encoder, columns)))
    present = [place for place in range(len(part.columns)) if any(line.figures[place] for line in lines)]
    if not present:
        return None
    lines = [Line(line.names, [line.figures[place] for place in present]) for line in lines]
    columns = [part.columns[place] for place in present]
    head = ["encoder", "measure"] if part.measures else ["encoder"]
    return figure_table(part, (*head, *map(_heading, columns)), columns, lines)


def corpus_table(scope: Scope, part: CorpusTable) -> Table | None:
    """Lay out one line for each subset, from the rows that are no encoder's; None when there are none."""
    quantities = {column.quantity for column in part.columns}
    subsets = dict.fromkeys(row.subset for row in scope.rows if not row.encoder and row.quantity in quantities)
    lines = []
    for subset in subsets:
        figures = scope.figures("", [replace(column, subset=subset) for column in part.columns])
        items = max((row.items for row in figures if row), default=0)
        lines.append(Line((Cell(subset.replace("_", " ")), Cell(f"{items:,}")), figures))
    if not lines:
        return None
    return figure_table(part, ("subset", "items", *map(_heading, part.columns)), part.columns, lines)


def across_table(scope: Scope, part: AcrossTable) -> Table | None:
    """Lay out one line for each encoder, with another diagnostic's figure on each of its corpora; None without."""
    rows_of_other = [row for row in scope.result.rows if row.diagnostic == part.diagnostic and row.encoder]
    corpora = dict.fromkeys(row.corpus for row in rows_of_other)
    if not corpora:
        return None
    others = [Scope(scope.result, part.diagnostic, corpus, part.other) for corpus in corpora]
    lines = []
    for encoder in scope.encoders:
        of_others = [other.figure(encoder, part.other) for other in others]
        lines.append(Line((_name(scope, encoder),), of_others + scope.figures(encoder, part.columns)))
    headings = [f"{part.other.heading}, {corpus}" for corpus in corpora]
    head = ("encoder", *headings, *map(_heading, part.columns))
    return figure_table(part, head, [part.other] * len(others) + list(part.columns), lines)


def size_table(scope: Scope, part: SizeTable) -> Table | None:
    """Lay out one line for each encoder of known size, the smallest first; None for fewer than two of them."""
    lines = []
    for encoder, size in scope.sizes.items():
        figures = scope.figures(encoder, part.columns)
        if any(figures):
            lines.append(Line((_name(scope, encoder), Cell(f"{size:,}")), figures))
    if len(lines) < 2:
        return None
    return figure_table(part, ("encoder", "parameters", *map(_heading, part.columns)), part.columns, lines)


def subset_table(scope: Scope, part: SubsetTable) -> Table | None:
    """Lay out one line for each subset, one column for each encoder; None when there are no such subsets."""
    rows = [row for row in scope.rows if row.quantity == part.quantity and not row.condition]
    rows = [row for row in rows if _matches(row.subset, part)]
    if not rows:
        return None
    items: dict[str, int] = {}
    for row in rows:
        items[row.subset] = max(items.get(row.subset, 0), row.items + row.undefined)
    lines = []
    for subset, count in items.items():
        column = Column("", part.quantity, subset)
        figures = [scope.figure(encoder, column) for encoder in scope.encoders]
        lines.append(Line((Cell(subset.replace(":", ": ").replace("_", " ")), Cell(f"{count:,}")), figures))
    columns = [Column("", part.quantity, format=part.format)] * len(scope.encoders)
    table = figure_table(part, ("subset", "items", *scope.encoders), columns, lines)
    return replace(table, signatures=_signatures(rows))


FAMILIES = {"reference": "reference", "baseline": "lexical baseline", "all": "all pairs"}
"""What the families of comparisons are called."""


def comparison_table(scope: Scope, part: ComparisonTable) -> Table | None:
    """Lay out one line for each comparison, family by family; None when there is nothing to compare."""
    column = part.column
    key = (scope.diagnostic, scope.corpus, column.quantity, column.subset, column.condition)
    difference_format = "points" if column.format == "percent" else column.format
    rows = []
    compared = set()
    for c in scope.result.comparisons:
        if (c.diagnostic, c.corpus, c.quantity, c.subset, c.condition) != key or column.measure not in ("", c.measure):
            continue
        compared |= {c.a, c.b}
        is_significant = c.p_holm is not None and c.p_holm <= ALPHA
        cells = (
            Cell(f"{c.a} − {c.b}"),
            Cell(FAMILIES[c.family]),
            Cell(
                number(c.difference, difference_format, signed=True),
                interval(c.low, c.high, column.format, signed=True),
            ),
            Cell(p_value(c.p)),
            Cell(p_value(c.p_holm), strong=is_significant),
            Cell(f"{c.items:,}"),
        )
        rows.append(cells)
    if not rows:
        return None
    head = ("pair", "question", "difference", "p", "p (Holm)", "items")
    signatures = _signatures(scope.figure(encoder, column) for encoder in scope.encoders if encoder in compared)
    return Table(part.title, head, tuple(rows), part.note, signatures)


def series_table(scope: Scope, part: SeriesTable) -> Table | None:
    """Lay out a series of kind ``table``; None when the result has none, or an empty one."""
    data = scope.series(part.series, "table")
    if not data or not data["rows"]:
        return None
    rows = tuple(tuple(map(_formatted, row, data["formats"])) for row in data["rows"])
    source = f"Source: {data['source']}." if "source" in data else ""
    note = " ".join(filter(None, [part.note, source]))
    signatures = tuple(data.get("signatures") or ())
    if not signatures:
        signatures = _signatures(scope.figure(encoder, scope.headline) for encoder in scope.encoders)
    return Table(part.title, tuple(data["columns"]), rows, note, signatures, part.folded)


def matrix_table(scope: Scope, part: Matrix) -> Table | None:
    """Lay out a series of kind ``matrix``, the encoder with the highest headline figure first; None without pairs."""
    data = scope.series(part.series, "matrix")
    if not data or len(data["names"]) < 2:
        return None
    place = {name: number for number, name in enumerate(data["names"])}
    names = [name for name in scope.encoders if name in place]
    rows = []
    for a in names:
        cells = [_name(scope, a)]
        for b in names:
            numerator = data["numerator"][place[a]][place[b]]
            denominator = data["denominator"][place[a]][place[b]]
            if a == b:
                cells.append(Cell(f"{denominator:,}", remark=data["diagonal"]))
            else:
                cells.append(_fraction(numerator, denominator))
        rows.append(tuple(cells))
    note = " ".join(filter(None, [part.note, data["note"]]))
    return Table(part.title, ("encoder", *names), tuple(rows), note, tuple(data["signatures"]))


def _fraction(numerator: int, denominator: int) -> Cell:
    """Write a share as a fraction, the larger the darker; a dash for none of nothing."""
    if not denominator:
        return Cell(DASH)
    return Cell(f"{numerator:,}/{denominator:,}", shade=numerator / denominator)


def example_tables(scope: Scope, part: Examples) -> tuple[Table, ...]:
    """Lay out each example that has a value: its texts, and each encoder's value of each; the highest stands out."""
    by_item: dict[str, list[Example]] = {}
    for example in scope.result.examples:
        if (example.diagnostic, example.corpus, example.kind) == (scope.diagnostic, scope.corpus, part.kind):
            by_item.setdefault(example.item, []).append(example)
    tables = [example_table(examples, part) for examples in by_item.values()]
    # Of vectors that are all zero there is nothing to show.
    return tuple(table for table in tables if table.rows)


def example_table(examples: Sequence[Example], part: Examples) -> Table:
    """Lay out one item: a line for each of its texts, with the value of each encoder.

    Parameters
    ----------
    examples
        The item as each encoder sees it.
    """
    rows = []
    for field, label in part.fields:
        if not any(field in example.values for example in examples):
            continue
        texts = [example.texts.get(field, LEFT_OUT) for example in examples]
        # A text that is each encoder's own has a line for each; encoders with the same text share one.
        for text in dict.fromkeys(texts) if field in part.each else texts[:1]:
            cells = [Cell(label), Cell(text)]
            for example, own_text in zip(examples, texts, strict=True):
                if field in part.each and own_text != text:
                    cells.append(Cell(""))
                else:
                    cells.append(_example_value(example, field))
            rows.append(tuple(cells))
    title = examples[0].texts.get(part.heading, f"entry {examples[0].item}")
    return Table(title, ("candidate", "sentence", *(example.encoder for example in examples)), tuple(rows))


def _example_value(example: Example, field: str) -> Cell:
    """Write an encoder's value of one text; the highest of its values stands out."""
    value = example.values.get(field)
    is_highest = value is not None and value == max(example.values.values())
    return Cell(number(value, "number"), strong=is_highest)


def _matches(subset: str, part: SubsetTable) -> bool:
    """Say whether a subset is one of those that a table shows."""
    for prefix in part.prefixes:
        if subset == prefix or (prefix.endswith(":") and subset.startswith(prefix)):
            return not part.others
    return part.others


def _name(scope: Scope, encoder: str) -> Cell:
    return Cell(encoder, remark=BASELINE if scope.baseline(encoder) else "")


def _figure(row: Row | None, column: Column) -> Cell:
    """Write a figure with its interval and remark; a dash for a missing one."""
    if row is None:
        return Cell(DASH)
    signed = column.format == "points"
    text = number(row.value, column.format, signed).removesuffix(" points")
    ends = interval(row.low, row.high, column.format, signed) if column.interval else ""
    return Cell(text, ends, remark(row))


def _heading(column: Column) -> str:
    """Return how a column is headed: points are named there, once."""
    return f"{column.heading}, points" if column.format == "points" else column.heading


def _formatted(value: Any, style: str) -> Cell:
    """Write a cell of a series of kind ``table``."""
    if value is None or value == "":
        return Cell(DASH)
    match style:
        case "points":
            text = f"{100 * value:+.2f} points".replace("-", "−")
        case "percent":
            text = number(value)
        case "count":
            text = f"{value:,}"
        case "number":
            text = f"{value:.2f}"
        case "decimal":
            text = f"{value:.1f}"
        case _:
            text = str(value)
    return Cell(text)


def _signatures(rows: Iterable[Row | None]) -> tuple[str, ...]:
    """Return the distinct signatures of rows, in their order."""
    return tuple(dict.fromkeys(row.signature for row in rows if row is not None))
