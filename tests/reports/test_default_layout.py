"""The page of a diagnostic without a layout has everything that it declares and measures."""

import embassay as ea
from embassay.core.layout import ComparisonTable, Examples, IntervalChart, Layout, SubsetTable
from embassay.reports.layouts import layouts
from embassay.reports.page import render

ENCODERS = ["bow", "hashing,dim=16"]


def parts_of(layout, kind):
    return [part for part in layout.parts if isinstance(part, kind)]


def test_metrics_stand_in_the_first_table_and_subsets_in_one_of_their_own():
    result = ea.assay(ENCODERS, ["opposites"], ["negated_antonyms"], cache=None, resamples=20, examples=5)
    layout = layouts(result)["negated_antonyms"]
    assert isinstance(layout, Layout)
    assert (layout.title, layout.question) == (
        "Negated antonyms",
        'Is "not innocent" nearer to "guilty" than "innocent" is?',
    )
    columns = {(column.metric, column.subset): column.format for column in layout.headline.columns}
    kinds = ("antonym", "polarity", "paraphrase")
    assert columns == {
        ("accuracy", "all"): "percent",
        **{("chosen", kind): "percent" for kind in kinds},
        **{("similarity", kind): "number" for kind in kinds},
    }
    (chart,) = parts_of(layout, IntervalChart)
    assert (chart.column.metric, round(chart.chance, 4)) == ("accuracy", 0.3333)
    assert parts_of(layout, ComparisonTable)[0].column.metric == "accuracy"
    (subsets,) = parts_of(layout, SubsetTable)
    assert (subsets.metric, subsets.format) == ("accuracy", "percent")
    (examples,) = parts_of(layout, Examples)
    assert {examples.heading, *(name for name, _ in examples.texts)} == {"input", *kinds}
    assert {column.names for column in examples.columns} == {("chosen",), *((kind,) for kind in kinds)}
    assert "adjective: plural–singular" in render(result, layouts(result))
