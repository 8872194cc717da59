"""Rows of a result to tables of text; nothing is computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from embassay.layout import Column, ComparisonTable, EncoderTable, Examples, SeriesTable, SubsetTable
from embassay.report.words import interval, number, p_value, remark
from embassay.types import Example, Result, Row


@dataclass(frozen=True)
class Cell:
    """A figure, its interval, what must be said of it, and whether it stands out."""

    text: str
    interval: str = ""
    remark: str = ""
    strong: bool = False


@dataclass(frozen=True)
class Table:
    """A table with the signatures of the figures in it."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    signatures: tuple[str, ...] = ()
    folded: bool = False


@dataclass(frozen=True)
class Scope:
    """One diagnostic on one corpus of a result."""

    result: Result
    diagnostic: str
    corpus: str

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of this scope."""
        return tuple(r for r in self.result.rows if (r.diagnostic, r.corpus) == (self.diagnostic, self.corpus))

    @property
    def encoders(self) -> tuple[str, ...]:
        """The encoders with a row in this scope, in the order of the run."""
        present = {row.encoder for row in self.rows}
        return tuple(e.name for e in self.result.encoders if e.name in present)

    def row(self, encoder: str, quantity: str, subset: str) -> Row | None:
        """Return one row, if there is one."""
        wanted = (encoder, quantity, subset)
        return next((r for r in self.rows if (r.encoder, r.quantity, r.subset) == wanted), None)

    def series(self, name: str) -> Any:
        """Return the data of a series, or None."""
        wanted = (self.diagnostic, self.corpus, name)
        return next((s.data for s in self.result.series if (s.diagnostic, s.corpus, s.name) == wanted), None)

    def baseline(self, encoder: str) -> bool:
        """Say whether an encoder joined as a baseline."""
        return any(e.name == encoder and e.baseline for e in self.result.encoders)


def encoder_table(scope: Scope, part: EncoderTable) -> Table:
    """Lay out one line for each encoder, the highest value of the first column first."""
    found = {encoder: [scope.row(encoder, c.quantity, c.subset) for c in part.columns] for encoder in scope.encoders}
    order = sorted(found, key=lambda e: -(found[e][0].value or 0.0) if found[e][0] else 0.0)  # type: ignore[union-attr]
    rows = tuple((_name(scope, e), *map(_figure, found[e], part.columns)) for e in order)
    flat = [row for rows_of_one in found.values() for row in rows_of_one]
    return Table(part.title, ("encoder", *(c.heading for c in part.columns)), rows, part.note, _signatures(flat))


def subset_table(scope: Scope, part: SubsetTable) -> Table | None:
    """Lay out one line for each subset, one column for each encoder; None when there are no such subsets."""
    wanted = [r for r in scope.rows if r.quantity == part.quantity and _matches(r.subset, part.prefixes)]
    grid = {(r.subset, r.encoder): r for r in wanted}
    subsets = dict.fromkeys(r.subset for r in wanted)
    if not subsets:
        return None
    column = Column("", part.quantity, format=part.format)
    rows = tuple(
        (
            Cell(_plain(subset)),
            Cell(f"{max(r.items + r.undefined for r in wanted if r.subset == subset):,}"),
            *(_figure(grid.get((subset, e)), column) for e in scope.encoders),
        )
        for subset in subsets
    )
    return Table(part.title, ("subset", "items", *scope.encoders), rows, part.note, _signatures(wanted), part.folded)


def comparison_table(scope: Scope, part: ComparisonTable) -> Table | None:
    """Lay out one line for each pair of encoders; None when there is nothing to compare."""
    found = [
        c
        for c in scope.result.comparisons
        if (c.diagnostic, c.corpus, c.quantity) == (scope.diagnostic, scope.corpus, part.quantity)
    ]
    if not found:
        return None
    rows = tuple(
        (
            Cell(f"{c.a} − {c.b}"),
            Cell(
                number(c.difference, part.format, signed=True).replace("%", " points"),
                interval(c.low, c.high, part.format, signed=True),
            ),
            Cell(p_value(c.p)),
            Cell(p_value(c.p_holm), strong=c.p_holm is not None and c.p_holm < 0.05),
            Cell(f"{c.items:,}"),
        )
        for c in found
    )
    encoders = {name for c in found for name in (c.a, c.b)}
    figures = [scope.row(e, part.quantity, "all") for e in scope.encoders if e in encoders]
    return Table(part.title, ("pair", "difference", "p", "p (Holm)", "items"), rows, part.note, _signatures(figures))


def series_table(scope: Scope, part: SeriesTable) -> Table | None:
    """Lay out a series of kind ``table``; None when the result has none, or an empty one."""
    data = scope.series(part.series)
    if not data or not data["rows"]:
        return None
    rows = tuple(tuple(map(_formatted, row, data["formats"])) for row in data["rows"])
    source = f"Source: {data['source']}." if "source" in data else ""
    figures = [scope.row(e, "accuracy", "all") for e in scope.encoders]
    note = " ".join(filter(None, [part.note, source]))
    return Table(part.title, tuple(data["columns"]), rows, note, _signatures(figures), part.folded)


def example_tables(scope: Scope, part: Examples) -> tuple[Table, ...]:
    """Lay out each example: its texts, and each encoder's value of each; the highest stands out."""
    items: dict[str, list[Example]] = {}
    for example in scope.result.examples:
        if (example.diagnostic, example.corpus, example.kind) == (scope.diagnostic, scope.corpus, part.kind):
            items.setdefault(example.item, []).append(example)
    return tuple(_example(found, part) for found in items.values())


def _example(found: Sequence[Example], part: Examples) -> Table:
    values = [example.values for example in found]
    texts = found[0].texts
    rows = tuple(
        (
            Cell(label),
            Cell(texts.get(field, "(text left out)")),
            *(Cell(number(v[field], "number"), strong=v[field] == max(v.values())) for v in values),
        )
        for field, label in part.fields
    )
    title = texts.get(part.heading, f"entry {found[0].item}")
    return Table(title, ("candidate", "sentence", *(example.encoder for example in found)), rows)


def _matches(subset: str, prefixes: Iterable[str]) -> bool:
    return any(subset.startswith(p) if p.endswith(":") else subset == p for p in prefixes)


def _plain(subset: str) -> str:
    return subset.replace(":", ": ")


def _name(scope: Scope, encoder: str) -> Cell:
    return Cell(encoder, remark="baseline" if scope.baseline(encoder) else "")


def _figure(row: Row | None, column: Column) -> Cell:
    if row is None:
        return Cell("–")
    return Cell(number(row.value, column.format), interval(row.low, row.high, column.format), remark(row))


def _formatted(value: Any, style: str) -> Cell:
    if style == "points":
        return Cell(f"{100 * value:+.2f} points".replace("-", "−"))
    return Cell(number(value) if style == "percent" else f"{value:,}" if style == "count" else str(value))


def _signatures(rows: Iterable[Row | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.signature for row in rows if row is not None))
