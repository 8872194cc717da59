"""How a column is written follows from the declaration of its metric."""

from dataclasses import fields, is_dataclass, replace

import pytest

from embassay.api import assay
from embassay.core.layout import Column
from embassay.core.metric_key import MetricKey
from embassay.core.result import Result, Verdict
from embassay.diagnostics.metrics.metric import declared
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


LAID_OUT = ("composition", "retrieval")
NAMES = (*LAID_OUT, "negated_antonyms", "minimal_pairs", "localization")


@pytest.fixture(scope="module")
def pages():
    verdicts = tuple(Verdict(**vars(MetricKey("", diagnostic=name)), items=0, units=0) for name in LAID_OUT)
    methods = assay(["bow"], ["opposites", "edits", "paraphrases"], baselines=False, cache=None, resamples=20)
    return layouts(Result(0, 0, verdicts=verdicts)) | layouts(methods)


@pytest.mark.parametrize("name", NAMES)
def test_a_column_is_written_as_its_metric_declares(name, pages):
    columns = list(columns_of(pages[name]))
    for column in columns:
        # The figure of any subset has no declaration of its own.
        if column.subset:
            assert column.format == declared(replace(column.key, diagnostic=name)).style, column
    assert "declared" not in {column.format for column in columns}


SUBSETS = "Accuracy on the entries of one part of speech, negation pattern or pair of words"


@pytest.mark.parametrize(
    ("name", "title", "style"),
    [
        ("retrieval", "Every threshold τ: its value", "number"),
        ("retrieval", "Every threshold τ: share of the retrieved that is kept", "percent"),
        ("minimal_pairs", "Normalised similarity of each edit to its original", "number"),
        ("negated_antonyms", SUBSETS, "percent"),
    ],
)
def test_a_table_of_subsets_is_written_as_the_most_general_declaration(name, title, style, pages):
    page = pages[name]
    (part,) = [part for part in (*page.parts, *page.paper) if part.title == title]
    assert part.format == style


def test_a_threshold_is_rounded_down_where_it_is_recommended_only(pages):
    styles = {(column.subset, column.format) for column in columns_of(pages["retrieval"]) if column.metric == "tau"}
    assert ("recommended", "threshold") in styles
    assert declared(MetricKey("tau", "pooled:paper", diagnostic="retrieval")).style == "number"
