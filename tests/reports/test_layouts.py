"""How a column is written follows from the declaration of its metric."""

from dataclasses import fields, is_dataclass

import pytest

from embassay.core.layout import Column
from embassay.core.plugins import DIAGNOSTICS
from embassay.core.result import Result, Verdict
from embassay.diagnostics.metrics.metric import metric_of
from embassay.reports.layouts import layouts


def columns_of(part):
    if isinstance(part, Column):
        yield part
    elif isinstance(part, tuple):
        for one in part:
            yield from columns_of(one)
    elif is_dataclass(part):
        for field in fields(part):
            yield from columns_of(getattr(part, field.name))


@pytest.fixture(scope="module")
def pages():
    verdicts = tuple(Verdict(name, "", "", 0, 0) for name in DIAGNOSTICS.own_names())
    return layouts(Result(0, 0, verdicts=verdicts))


@pytest.mark.parametrize("name", sorted(DIAGNOSTICS.own_names()))
def test_a_column_is_written_as_its_metric_declares(name, pages):
    columns = list(columns_of(pages[name]))
    for column in columns:
        # The figure of another diagnostic, and that of any subset, have no declaration of their own.
        if column.subset and (name, column.metric) != ("minimal_pairs", "spearman"):
            assert column.format == metric_of(name, column.metric, column.subset, column.condition).style, column
    assert "declared" not in {column.format for column in columns if column.metric != "spearman"}


@pytest.mark.parametrize(
    ("name", "title", "style"),
    [
        ("retrieval", "Every threshold τ: its value", "number"),
        ("retrieval", "Every threshold τ: share of the retrieved that is kept", "percent"),
        ("similarity", "Spearman's correlation in each part of the corpus", "number"),
        ("minimal_pairs", "Normalised similarity of each edit to its original", "number"),
        ("negated_antonyms", "Accuracy for each pair of words", "percent"),
    ],
)
def test_a_table_of_subsets_is_written_as_the_most_general_declaration(name, title, style, pages):
    page = pages[name]
    (part,) = [part for part in (*page.parts, *page.paper) if part.title == title]
    assert part.format == style


def test_a_threshold_is_rounded_down_where_it_is_recommended_only(pages):
    styles = {(column.subset, column.format) for column in columns_of(pages["retrieval"]) if column.metric == "tau"}
    assert ("recommended", "threshold") in styles
    assert metric_of("retrieval", "tau", "pooled:paper").style == "number"
