"""Rows of a result to tables of text; nothing is computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

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
from embassay.reports.words import ALPHA, DASH, interval, number, p_value, remark
from embassay.result import Example, Result, Row

BASELINE = "baseline"
DIGITS = frozenset("0123456789+−–<")
LEFT_OUT = "(text left out)"


@dataclass(frozen=True)
class Cell:
    """A figure, its interval, what must be said of it, whether it stands out, and how dark it is from 0 to 1, if so."""

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
        columns = zip(*([cell.text for cell in row] for row in self.rows), strict=True)
        return tuple(all(t[:1] in DIGITS for t in column) for column in columns)


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
        return tuple(r for r in self.result.rows if (r.diagnostic, r.corpus) == (self.diagnostic, self.corpus))

    @cached_property
    def encoders(self) -> tuple[str, ...]:
        """The encoders with a row in this scope, the highest headline figure first."""
        present = {row.encoder for row in self.rows}
        level = {e.name: self.figure(e.name, self.headline) for e in self.result.encoders if e.name in present}
        return tuple(sorted(level, key=lambda e: -(v if (r := level[e]) and (v := r.value) is not None else -1e300)))

    def figure(self, encoder: str, column: Column) -> Row | None:
        """Return an encoder's row of a column, if there is one."""
        return self._index.get((encoder, column.quantity, column.subset, column.condition, column.measure))

    def series(self, name: str, kind: str) -> Any:
        """Return the data of a series, or None where there is none of that name and kind."""
        wanted = (self.diagnostic, self.corpus, name, kind)
        return next((s.data for s in self.result.series if (s.diagnostic, s.corpus, s.name, s.kind) == wanted), None)

    def baseline(self, encoder: str) -> bool:
        """Say whether an encoder joined as a baseline."""
        return any(e.name == encoder and e.baseline for e in self.result.encoders)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The number of parameters of each encoder of this scope that is known to have some, the smallest first."""
        known = {e.name: e.parameters for e in self.result.encoders if e.name in self.encoders and e.parameters}
        return dict(sorted(known.items(), key=lambda item: (item[1], item[0])))

    @cached_property
    def _index(self) -> dict[tuple[str, ...], Row]:
        """Rows by encoder, quantity, subset, condition and measure; the first of any measure without one."""
        found: dict[tuple[str, ...], Row] = {}
        for r in self.rows:
            for measure in (r.measure, ""):
                found.setdefault((r.encoder, r.quantity, r.subset, r.condition, measure), r)
        return found


def encoder_table(scope: Scope, part: EncoderTable) -> Table | None:
    """Lay out one line for each encoder (and measure); columns that no encoder has are left out."""
    measures = part.measures or ("",)
    lines = {
        (e, m): [scope.figure(e, replace(c, measure=m or c.measure)) for c in part.columns]
        for e in scope.encoders
        for m in measures
    }
    there = [place for place in range(len(part.columns)) if any(found[place] for found in lines.values())]
    columns = [part.columns[place] for place in there]
    if not columns:
        return None
    rows = tuple(
        (_name(scope, e), *([Cell(m)] if m else []), *(_figure(found[p], part.columns[p]) for p in there))
        for (e, m), found in lines.items()
    )
    head = ("encoder", *(["measure"] if part.measures else []), *map(_heading, columns))
    flat = [found[place] for found in lines.values() for place in there]
    return Table(part.title, head, rows, part.note, _signatures(flat), part.folded)


def corpus_table(scope: Scope, part: CorpusTable) -> Table | None:
    """Lay out one line for each subset, from the rows that no encoder has a part in; None when there are none."""
    wanted = {c.quantity for c in part.columns}
    subsets = dict.fromkeys(r.subset for r in scope.rows if not r.encoder and r.quantity in wanted)
    if not subsets:
        return None
    found = {s: [scope.figure("", replace(c, subset=s)) for c in part.columns] for s in subsets}
    rows = tuple(
        (
            Cell(subset.replace("_", " ")),
            Cell(f"{max((r.items for r in of_subset if r), default=0):,}"),
            *map(_figure, of_subset, part.columns),
        )
        for subset, of_subset in found.items()
    )
    head = ("subset", "items", *map(_heading, part.columns))
    return Table(part.title, head, rows, part.note, _signatures([r for of in found.values() for r in of]))


def across_table(scope: Scope, part: AcrossTable) -> Table | None:
    """Lay out one line for each encoder, with another diagnostic's figure on each of its corpora; None without."""
    others = dict.fromkeys(r.corpus for r in scope.result.rows if r.diagnostic == part.diagnostic and r.encoder)
    if not others:
        return None
    scopes = [Scope(scope.result, part.diagnostic, corpus, part.other) for corpus in others]
    found = {
        e: ([other.figure(e, part.other) for other in scopes], [scope.figure(e, c) for c in part.columns])
        for e in scope.encoders
    }
    rows = tuple(
        (
            _name(scope, e),
            *(_figure(row, part.other) for row in first),
            *map(_figure, second, part.columns),
        )
        for e, (first, second) in found.items()
    )
    head = ("encoder", *(f"{part.other.heading}, {c}" for c in others), *map(_heading, part.columns))
    return Table(part.title, head, rows, part.note, _signatures([r for a, b in found.values() for r in (*a, *b)]))


def size_table(scope: Scope, part: SizeTable) -> Table | None:
    """Lay out one line for each encoder of known size, the smallest first; None for fewer than two of them."""
    found = {e: [scope.figure(e, c) for c in part.columns] for e in scope.sizes}
    found = {e: figures for e, figures in found.items() if any(figures)}
    if len(found) < 2:
        return None
    rows = tuple(
        (_name(scope, e), Cell(f"{scope.sizes[e]:,}"), *map(_figure, figures, part.columns))
        for e, figures in found.items()
    )
    head = ("encoder", "parameters", *map(_heading, part.columns))
    return Table(part.title, head, rows, part.note, _signatures([r for of in found.values() for r in of]), part.folded)


def subset_table(scope: Scope, part: SubsetTable) -> Table | None:
    """Lay out one line for each subset, one column for each encoder; None when there are no such subsets."""
    wanted = [r for r in scope.rows if r.quantity == part.quantity and not r.condition and _matches(r.subset, part)]
    if not wanted:
        return None
    items: dict[str, int] = {}
    for row in wanted:
        items[row.subset] = max(items.get(row.subset, 0), row.items + row.undefined)
    columns = {subset: Column("", part.quantity, subset, part.format) for subset in items}
    rows = tuple(
        (
            Cell(subset.replace(":", ": ").replace("_", " ")),
            Cell(f"{count:,}"),
            *(_figure(scope.figure(e, columns[subset]), columns[subset]) for e in scope.encoders),
        )
        for subset, count in items.items()
    )
    return Table(part.title, ("subset", "items", *scope.encoders), rows, part.note, _signatures(wanted), part.folded)


FAMILIES = {"reference": "reference", "baseline": "lexical baseline", "all": "all pairs"}
"""What the families of comparisons are called."""


def comparison_table(scope: Scope, part: ComparisonTable) -> Table | None:
    """Lay out one line for each comparison, family by family; None when there is nothing to compare."""
    column = part.column
    key = (scope.diagnostic, scope.corpus, column.quantity, column.subset, column.condition)
    found = [
        c
        for c in scope.result.comparisons
        if (c.diagnostic, c.corpus, c.quantity, c.subset, c.condition) == key and column.measure in ("", c.measure)
    ]
    if not found:
        return None
    rows = tuple(
        (
            Cell(f"{c.a} − {c.b}"),
            Cell(FAMILIES[c.family]),
            Cell(
                number(c.difference, "points" if column.format == "percent" else column.format, signed=True),
                interval(c.low, c.high, column.format, signed=True),
            ),
            Cell(p_value(c.p)),
            Cell(p_value(c.p_holm), strong=c.p_holm is not None and c.p_holm <= ALPHA),
            Cell(f"{c.items:,}"),
        )
        for c in found
    )
    encoders = {name for c in found for name in (c.a, c.b)}
    figures = [scope.figure(e, column) for e in scope.encoders if e in encoders]
    return Table(
        part.title, ("pair", "question", "difference", "p", "p (Holm)", "items"), rows, part.note, _signatures(figures)
    )


def series_table(scope: Scope, part: SeriesTable) -> Table | None:
    """Lay out a series of kind ``table``; None when the result has none, or an empty one."""
    data = scope.series(part.series, "table")
    if not data or not data["rows"]:
        return None
    rows = tuple(tuple(map(_formatted, row, data["formats"])) for row in data["rows"])
    source = f"Source: {data['source']}." if "source" in data else ""
    note = " ".join(filter(None, [part.note, source]))
    own = data.get("signatures")
    signatures = tuple(own) if own else _signatures([scope.figure(e, scope.headline) for e in scope.encoders])
    return Table(part.title, tuple(data["columns"]), rows, note, signatures, part.folded)


def matrix_table(scope: Scope, part: Matrix) -> Table | None:
    """Lay out a series of kind ``matrix``, the encoder with the highest headline figure first; None without pairs."""
    data = scope.series(part.series, "matrix")
    if not data or len(data["names"]) < 2:
        return None
    place = {name: number for number, name in enumerate(data["names"])}
    names = [name for name in scope.encoders if name in place]
    cells = {
        (a, b): _fraction(data["numerator"][place[a]][place[b]], data["denominator"][place[a]][place[b]])
        for a in names
        for b in names
    }
    cells |= {(a, a): Cell(f"{data['denominator'][place[a]][place[a]]:,}", remark=data["diagonal"]) for a in names}
    rows = tuple((_name(scope, a), *(cells[a, b] for b in names)) for a in names)
    note = " ".join(filter(None, [part.note, data["note"]]))
    return Table(part.title, ("encoder", *names), rows, note, tuple(data["signatures"]))


def _fraction(numerator: int, denominator: int) -> Cell:
    """Write a share as a fraction, the larger the darker; a dash for none of nothing."""
    if not denominator:
        return Cell(DASH)
    return Cell(f"{numerator:,}/{denominator:,}", shade=numerator / denominator)


def example_tables(scope: Scope, part: Examples) -> tuple[Table, ...]:
    """Lay out each example that has a value: its texts, and each encoder's value of each; the highest stands out."""
    items: dict[str, list[Example]] = {}
    for example in scope.result.examples:
        if (example.diagnostic, example.corpus, example.kind) == (scope.diagnostic, scope.corpus, part.kind):
            items.setdefault(example.item, []).append(example)
    tables = (_example(found, part) for found in items.values())
    # Of vectors that are all zero there is nothing to show.
    return tuple(table for table in tables if table.rows)


def _example(found: Sequence[Example], part: Examples) -> Table:
    values = [example.values for example in found]
    texts = found[0].texts
    shown = [(field, label) for field, label in part.fields if any(field in v for v in values)]
    rows = tuple(
        line
        for field, label in shown
        for line in (_own_lines(found, field, label) if field in part.each else [_line(found, field, label)])
    )
    title = texts.get(part.heading, f"entry {found[0].item}")
    return Table(title, ("candidate", "sentence", *(example.encoder for example in found)), rows)


def _line(found: Sequence[Example], field: str, label: str) -> tuple[Cell, ...]:
    """Lay out one text with each encoder's value of it."""
    cells = (Cell(number(e.values.get(field), "number"), strong=_highest(e, field)) for e in found)
    return (Cell(label), Cell(found[0].texts.get(field, LEFT_OUT)), *cells)


def _own_lines(found: Sequence[Example], field: str, label: str) -> list[tuple[Cell, ...]]:
    """Lay out a text of each encoder's own with its value; encoders with the same text share a line."""
    texts = dict.fromkeys(e.texts.get(field, LEFT_OUT) for e in found)
    return [
        (
            Cell(label),
            Cell(text),
            *(
                Cell(number(e.values.get(field), "number"), strong=_highest(e, field))
                if e.texts.get(field, LEFT_OUT) == text
                else Cell("")
                for e in found
            ),
        )
        for text in texts
    ]


def _highest(example: Example, field: str) -> bool:
    return field in example.values and example.values[field] == max(example.values.values())


def _matches(subset: str, part: SubsetTable) -> bool:
    inside = any(subset.startswith(p) if p.endswith(":") else subset == p for p in part.prefixes)
    return inside is not part.others


def _name(scope: Scope, encoder: str) -> Cell:
    return Cell(encoder, remark=BASELINE if scope.baseline(encoder) else "")


def _figure(row: Row | None, column: Column) -> Cell:
    if row is None:
        return Cell("–")
    signed = column.format == "points"
    ends = interval(row.low, row.high, column.format, signed) if column.interval else ""
    return Cell(number(row.value, column.format, signed).removesuffix(" points"), ends, remark(row))


def _heading(column: Column) -> str:
    """Return how a column is headed: points are named there, once."""
    return f"{column.heading}, points" if column.format == "points" else column.heading


def _formatted(value: Any, style: str) -> Cell:
    if value is None or value == "":
        return Cell(DASH)
    if style == "points":
        return Cell(f"{100 * value:+.2f} points".replace("-", "−"))
    written = {"percent": number, "count": "{:,}".format, "number": "{:.2f}".format, "decimal": "{:.1f}".format}
    return Cell(written.get(style, str)(value))


def _signatures(rows: Iterable[Row | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.signature for row in rows if row is not None))
