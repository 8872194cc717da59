"""The page of a diagnostic that defines none: it follows from the metrics that the diagnostic declares."""

from __future__ import annotations

from collections.abc import Iterator

from embassay.core.layout import (
    Column,
    ComparisonTable,
    CorpusTable,
    EncoderTable,
    ExampleColumn,
    Examples,
    IntervalChart,
    Layout,
    Part,
    SubsetTable,
    plain,
)
from embassay.core.plugins import DIAGNOSTICS
from embassay.core.result import Result
from embassay.diagnostics.metrics.metric import Metric, metric_of


def default_layout(name: str, result: Result) -> Layout:
    """Return the page of a diagnostic: its metrics, the headline first, what is compared, and items if it shows them.

    A metric with many subsets has a table of its own, with a line for each subset.

    Raises
    ------
    SpecError
        If ``METRICS`` lacks a metric of the result.
    """
    of_encoders, of_corpus, subset_tables = dict[Column, Metric](), list[Column](), dict[str, SubsetTable]()
    for row in result.rows:
        if row.diagnostic != name:
            continue
        metric = metric_of(name, row.metric, row.subset, row.condition)
        parts_of_heading = (row.metric.replace("_", " "), row.subset.removeprefix("all"), row.condition)
        heading = ", ".join(filter(None, parts_of_heading))
        column = Column(heading, row.metric, row.subset, row.condition, row.similarity_function)
        if not row.encoder:
            of_corpus.append(column)
        elif metric.subset.endswith("*") and not row.condition:
            title = metric.meaning or f"{row.metric}, subset by subset"
            subset_tables[row.metric] = SubsetTable(title, row.metric, ("all",), others=True)
        else:
            of_encoders[column] = metric
    if not of_encoders:
        return plain(name, ())

    columns = sorted(of_encoders, key=lambda column: not of_encoders[column].headline)
    meanings = dict[str, str]()
    for column in columns:
        meanings.setdefault(of_encoders[column].meaning, column.heading)
    notes = [f"{heading}: {meaning}." for meaning, heading in meanings.items() if meaning]
    parts: list[Part] = [*_compared(name, result, columns), *subset_tables.values()]
    if of_corpus:
        parts.append(CorpusTable("The corpus", tuple(dict.fromkeys(of_corpus))))
    return Layout(
        name.replace("_", " ").capitalize(),
        DIAGNOSTICS.describe(name)[0],
        EncoderTable("What it measures", tuple(columns), note=" ".join(notes)),
        (*parts, *_examples(name, result)),
        "the diagnostic's own",
    )


def _compared(name: str, result: Result, columns: list[Column]) -> Iterator[Part]:
    """Yield the chart of the first metric, with chance where it is the same on all corpora, and all comparisons."""
    chances = {verdict.chance for verdict in result.verdicts if verdict.diagnostic == name}
    yield IntervalChart(columns[0].heading, columns[0], chances.pop() if len(chances) == 1 else None)
    for column in columns:
        # A table without comparisons is left out.
        yield ComparisonTable(f"Which differences are shown: {column.heading}", column)


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
