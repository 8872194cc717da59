"""The page of a diagnostic that lays out none: it follows from the metrics that the diagnostic declares."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

from embassay.core.grouping import grouped
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
    metric_of, of_corpus = dict[Column, Metric](), dict[Column, None]()
    for row in result.rows:
        if row.diagnostic == name and row.encoder:
            metric = declared(row.key)
            parts_of_heading = (row.metric, row.subset.removeprefix("all"), row.condition)
            heading = metric.heading or ", ".join(filter(None, parts_of_heading)).replace("_", " ")
            column = Column(heading, row.metric, row.subset, row.condition, row.similarity_function, level=metric.level)
            metric_of[column] = metric
        elif row.diagnostic == name:
            of_corpus[Column(row.metric, row.metric)] = None

    # Encoders are ordered by the first column, which therefore has one scale for all of them.
    columns = sorted(metric_of, key=lambda c: (not metric_of[c].headline, metric_of[c].compared == WITHIN_ENCODER))
    first, tables = columns[:1], list[Part]()
    for (condition, metric_name), group in grouped(columns[1:], lambda c: (c.condition, c.metric)).items():
        meaning = metric_of[group[-1]].meaning or metric_name
        title = f"{meaning[:1].upper()}{meaning[1:]}"
        if len(first) + len(group) <= WIDEST:
            first += group
        elif condition:
            tables.append(EncoderTable(f"{title}, {condition}", tuple(group)))
        else:
            tables.append(SubsetTable(title, metric_name))

    notes = []
    for meaning, alike in grouped(first, lambda c: metric_of[c].meaning).items():
        if meaning:
            notes.append(f"{alike[0].heading}: {meaning}.")
    note = " ".join([*notes, drawings.note]).strip()
    # With the intervals of many columns a table is wider than the page.
    shown = [replace(column, interval=len(first) <= WITH_INTERVALS or column is first[0]) for column in first]
    headline = EncoderTable("What it measures", tuple(shown) or (Column("value", "value"),), note)
    # Chance is drawn where it is the same on all corpora.
    chances = {verdict.chance for verdict in result.verdicts if verdict.diagnostic == name}
    chance = chances.pop() if len(chances) == 1 else None
    examples = [part for part in drawings.parts if isinstance(part, Examples)] or [_examples(name, result)]
    # A table or a chart without rows is left out.
    parts = (
        *(IntervalChart(column.heading, column, chance) for column in first[:1]),
        *(ComparisonTable(f"Which differences are shown: {column.heading}", column) for column in columns),
        *(part for part in drawings.parts if not isinstance(part, Examples)),
        *tables,
        CorpusTable("The corpus", tuple(of_corpus)),
        *examples,
    )
    question = DIAGNOSTICS.describe(name)[0]
    return Layout(name.replace("_", " ").capitalize(), question, headline, parts, drawings.source, drawings.paper)


def _examples(name: str, result: Result) -> Examples:
    """Return the browser of items, with all of their texts and all that there is on each encoder."""
    examples = [example for example in result.examples if example.diagnostic == name]
    texts = [*dict.fromkeys(chain.from_iterable(example.texts for example in examples))]
    shown = dict.fromkeys(
        chain.from_iterable((*example.labels, *example.values) for example in examples if example.encoder)
    )
    # Without texts, items are called by their ids.
    heading = texts[0] if texts else ""
    others = tuple((text, text) for text in texts[1:])
    columns = tuple(ExampleColumn(column, (column,)) for column in shown)
    return Examples("Item by item", heading, others, columns, prefix=heading)
