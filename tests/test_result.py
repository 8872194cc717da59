"""The result as a table: all rows, those of one diagnostic, and a name that is none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from embassay.errors import UnknownNameError
from embassay.result import Result, Row, Verdict, headline_rows

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


def test_a_verdict_ranks_by_rows_of_its_metric_and_measure():
    ranked = Verdict("retrieval", "docs", "Success@5", items=10, units=10, similarity_function="cosine")
    assert ranked.ranks_by(ROW)
    assert not ranked.ranks_by(replace(ROW, similarity_function="dot"))
    assert replace(ranked, similarity_function="").ranks_by(replace(ROW, similarity_function="dot"))
    for other in ({"diagnostic": "shift"}, {"metric": "RR"}, {"subset": "a"}, {"condition": "whiten"}):
        assert not ranked.ranks_by(replace(ROW, **other))
    # The rows of a verdict are those of its corpus.
    result = Result(0, 1, rows=(ROW, replace(ROW, corpus="faq", value=0.1)), verdicts=(ranked,))
    assert headline_rows(result, ranked) == {"bow": ROW}
