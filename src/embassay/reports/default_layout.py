"""The page of a diagnostic that lays out none: it follows from the metrics that the diagnostic declares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from embassay.core.layout import (
    Column,
    ComparisonTable,
    CorpusTable,
    Drawings,
    EncoderTable,
    ExampleColumn,
    Examples,
    IntervalChart,
    Layout,
    Part,
    SubsetTable,
)
from embassay.core.plugins import DIAGNOSTICS
from embassay.core.result import Result
from embassay.diagnostics.metrics.metric import WITHIN_ENCODER, Metric, declared

WIDEST = 9
"""Columns of the first table, at most; subsets that do not fit have a table of their own, with a line for each."""
WITH_INTERVALS = 5
"""Columns of the first table that all have intervals, at most; of more only the first has one."""


def default_layout(name: str, result: Result) -> Layout:
    """Return the page of a diagnostic: its metrics, the headline first, what is compared, its drawings, and items.

    Raises
    ------
    SpecError
        If ``METRICS`` lacks a metric of the result.
    """
    drawings: Drawings = getattr(DIAGNOSTICS.module(name), "DRAWINGS", Drawings())
    of_encoders, of_corpus = dict[Column, Metric](), dict[Column, None]()
    for row in result.rows:
        if row.diagnostic != name:
            continue
        metric = declared(row.key)
        if not row.encoder:
            of_corpus[Column(row.metric, row.metric)] = None
            continue
        parts_of_heading = (row.metric, row.subset.removeprefix("all"), row.condition)
        heading = metric.heading or ", ".join(filter(None, parts_of_heading)).replace("_", " ")
        column = Column(heading, row.metric, row.subset, row.condition, row.similarity_function, level=metric.level)
        of_encoders[column] = metric

    # Encoders are ordered by the first column, which therefore has one scale for all of them.
    columns = sorted(
        of_encoders, key=lambda c: (not of_encoders[c].headline, of_encoders[c].compared == WITHIN_ENCODER)
    )
    first, tables = columns[:1], list[Part]()
    groups = dict[tuple[str, str], list[Column]]()
    for column in columns[1:]:
        groups.setdefault((column.condition, column.metric), []).append(column)
    for (condition, metric_name), group in groups.items():
        meaning = of_encoders[group[-1]].meaning or metric_name
        meaning = f"{meaning[:1].upper()}{meaning[1:]}"
        if len(first) + len(group) <= WIDEST:
            first += group
        elif condition:
            tables.append(EncoderTable(f"{meaning}, {condition}", tuple(group)))
        else:
            tables.append(SubsetTable(meaning, metric_name))
    if of_corpus:
        tables.append(CorpusTable("The corpus", tuple(of_corpus)))

    meanings = dict[str, str]()
    for column in first:
        meanings.setdefault(of_encoders[column].meaning, column.heading)
    notes = [f"{heading}: {meaning}." for meaning, heading in meanings.items() if meaning]
    # With the intervals of many columns a table is wider than the page.
    shown = [replace(column, interval=len(first) <= WITH_INTERVALS or column is first[0]) for column in first]
    note = " ".join([*notes, drawings.note]).strip()
    # A table or a chart without rows is left out.
    headline = EncoderTable("What it measures", tuple(shown) or (Column("value", "value"),), note)
    # Chance is drawn where it is the same on all corpora.
    chances = {verdict.chance for verdict in result.verdicts if verdict.diagnostic == name}
    chance = chances.pop() if len(chances) == 1 else None
    charts = [IntervalChart(column.heading, column, chance) for column in first[:1]]
    compared = [ComparisonTable(f"Which differences are shown: {column.heading}", column) for column in columns]
    return Layout(
        name.replace("_", " ").capitalize(),
        DIAGNOSTICS.describe(name)[0],
        headline,
        (*charts, *compared, *drawings.parts, *tables, *_examples(name, result)),
        drawings.source,
        drawings.paper,
    )


def _examples(name: str, result: Result) -> Iterator[Examples]:
    """Yield the browser of items, with all of their texts and all that there is on each encoder; none without items."""
    examples = [example for example in result.examples if example.diagnostic == name]
    texts, shown = dict[str, None](), dict[str, None]()
    for example in examples:
        texts |= dict.fromkeys(example.texts)
        if example.encoder:
            shown |= dict.fromkeys([*example.labels, *example.values])
    if examples:
        # Without texts, items are called by their ids.
        heading = next(iter(texts), "")
        others = tuple((text, text) for text in texts if text != heading)
        yield Examples(
            "Item by item", heading, others, tuple(ExampleColumn(name, (name,)) for name in shown), prefix=heading
        )
