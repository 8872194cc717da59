"""The result as a table: all rows, those of one diagnostic, and a name that is none."""

from __future__ import annotations

import pytest

from embassay.errors import UnknownNameError
from embassay.result import Result, Row

ROW = Row(
    "retrieval", "docs", "bow", "all", "cosine", "", "Success@5", 0.5, None, None, 4, 4, 0, "4 units are too few", "s"
)
RESULT = Result(0, 1000, rows=(ROW, Row(**{**vars(ROW), "diagnostic": "isotropy"})))


def test_all_rows_or_those_of_one_diagnostic():
    assert RESULT.table()["diagnostic"].to_list() == ["retrieval", "isotropy"]
    assert RESULT.table("retrieval").to_dicts() == [vars(ROW)]


def test_a_diagnostic_without_rows_has_an_empty_table_of_the_same_columns():
    found = RESULT.table("localization")
    assert found.height == 0
    assert found.schema == RESULT.table().schema


def test_a_diagnostic_of_a_plug_in_that_is_not_installed_here_is_known_by_its_rows():
    own = Result(0, 1000, rows=(Row(**{**vars(ROW), "diagnostic": "my_own"}),))
    assert own.table("my_own").height == 1


def test_a_misspelt_diagnostic_is_refused_with_the_nearest_name():
    with pytest.raises(UnknownNameError, match=r"unknown diagnostic 'retreival'; did you mean 'retrieval'\?"):
        RESULT.table("retreival")
