"""A result: its figures, and its pairs read from both sides."""

from __future__ import annotations

from dataclasses import replace

from embassay.core.metric_key import MetricKey
from embassay.core.result import Comparison, Result, Row, Verdict, between

ROW = Row(
    "retrieval", "docs", "all", "cosine", "", "Success@5", "bow", 0.5, None, None, 4, 4, 0, "4 units are too few", "s"
)


def test_a_verdict_has_the_key_of_the_rows_that_it_ranks_by():
    ranked = Verdict(**vars(KEY), items=10, units=10)
    assert ranked.key.covers(ROW.key)
    assert not ranked.key.covers(replace(ROW, similarity_function="dot").key)
    assert replace(KEY, similarity_function="").covers(replace(ROW, similarity_function="dot").key)
    for other in ({"diagnostic": "shift"}, {"metric": "RR"}, {"subset": "a"}, {"condition": "whiten"}):
        assert not ranked.key.covers(replace(ROW, **other).key)
    # The rows of a verdict are those of its corpus.
    result = Result(0, 1, rows=(ROW, replace(ROW, corpus="faq", value=0.1)), verdicts=(ranked,))
    assert result.headline(ranked) == {"bow": ROW}


def test_a_p_value_of_the_level_is_significant():
    for p, is_significant in ((0.05, True), (0.051, False), (None, False)):
        assert Comparison(**vars(KEY), a="a", b="b", difference=0.2, p_holm=p).is_significant is is_significant


def test_a_pair_reads_the_same_from_both_sides():
    place = {**vars(KEY), "items": 8, "family": "main"}
    pair = Comparison(**place, a="a", b="bm25", difference=0.2, low=0.0, high=0.3, p_holm=0.01, won=5, lost=1)
    assert between([pair], "a", "bm25") == pair
    turned = between([pair], "bm25", "a")
    expected = {"difference": -0.2, "low": -0.3, "high": 0.0, "p_holm": 0.01, "won": 1, "lost": 5}
    assert turned == Comparison(**place, a="bm25", b="a", **expected)
    assert str(turned.high) == "0.0", "a zero has no sign"
    assert between([pair], "int8", "bm25") is None


FIGURES = (
    ROW,
    replace(ROW, similarity_function="dot", value=0.1),
    replace(ROW, condition="whiten", value=0.6),
    replace(ROW, metric="RR", subset="noun"),
    replace(ROW, metric="RR", corpus="faq", subset="noun"),
    replace(ROW, encoder="", metric="length"),
)


def test_a_figure_is_the_one_row_of_a_metric_and_an_encoder():
    ranked = Verdict(**vars(KEY), items=10, units=10)
    result = Result(0, 1, rows=FIGURES, verdicts=(ranked,))
    assert result.figure("Success@5", "bow") == ROW
    assert result.figure("Success@5{dot,}", "bow").value == 0.1
    assert result.figure("retrieval/docs/Success@5{whiten}", "bow").value == 0.6
    assert result.figure("faq/RR[noun]", "bow").corpus == "faq"
    assert result.figure("length", "") == FIGURES[-1]


KEY = MetricKey("Success@5", "all", "cosine", "", "retrieval", "docs")


def test_the_differences_of_a_verdict_are_those_of_its_headline():
    pair = Comparison(**vars(KEY), a="a", b="b")
    others = (replace(pair, metric="RR"), replace(pair, corpus="faq"), replace(pair, condition="whiten"))
    result = Result(0, 1, comparisons=(*others, pair))
    assert result.differences(Verdict(**vars(KEY), items=10, units=10)) == (pair,)
