"""The data of charts are packed into columns, and come out as they were, to the digits that a picture shows."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embassay.reports.packing import packed, packed_column
from packed_charts import column_of


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (["a", "a", "a"], {"same": "a"}),
        ([0.0, 0.0], {"same": 0.0}),
        (["a", "a", "b", "b"], {"each": ["a", "b"], "times": 2}),
        ([0.1, 0.2, 0.1, 0.2], {"cycle": [0.1, 0.2]}),
        ([0.1, 0.3, None], [0.1, 0.3, None]),
        ([0.123456, 123456.0], [0.1235, 123500]),
        ([True, False, True, True], [True, False, True, True]),
    ],
)
def test_a_column_in_its_shortest_form(column, expected):
    assert packed_column(column) == expected


@given(st.lists(st.sampled_from(["a", "b", None, 1, 0.5]), min_size=1, max_size=40))
def test_a_packed_column_comes_out_as_it_was(column):
    assert column_of(json.loads(json.dumps(packed_column(column))), len(column)) == column


@given(st.lists(st.floats(-1e6, 1e6), min_size=50, max_size=90))
def test_numbers_keep_four_digits_of_the_largest(column):
    largest = max(map(abs, column))
    unpacked = column_of(packed_column(column), len(column))
    assert all(abs(a - b) <= largest * 1e-3 for a, b in zip(unpacked, column, strict=True))


def test_the_data_of_layers_are_packed_too():
    spec = {"data": {"values": [{"x": 1}, {"x": 2}]}, "layer": [{"mark": "rule", "data": {"values": [{"c": 0.25}]}}]}
    assert packed(spec) == {
        "data": {"columns": {"x": [1, 2]}, "rows": 2},
        "layer": [{"mark": "rule", "data": {"columns": {"c": {"same": 0.25}}, "rows": 1}}],
    }
