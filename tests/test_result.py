"""A result: its figures, and its pairs read from both sides."""

from __future__ import annotations

from dataclasses import replace

from embassay.core.result import Difference, Result, Row, Verdict

ROW = Row(
    "retrieval", "docs", "bow", "all", "cosine", "", "Success@5", 0.5, None, None, 4, 4, 0, "4 units are too few", "s"
)


def test_a_verdict_has_the_key_of_the_rows_that_it_ranks_by():
    ranked = Verdict("retrieval", "docs", "Success@5", items=10, units=10, similarity_function="cosine")
    assert ranked.key.covers(ROW.key)
    assert not ranked.key.covers(replace(ROW, similarity_function="dot").key)
    assert replace(ranked, similarity_function="").key.covers(replace(ROW, similarity_function="dot").key)
    for other in ({"diagnostic": "shift"}, {"metric": "RR"}, {"subset": "a"}, {"condition": "whiten"}):
        assert not ranked.key.covers(replace(ROW, **other).key)
    # The rows of a verdict are those of its corpus.
    result = Result(0, 1, rows=(ROW, replace(ROW, corpus="faq", value=0.1)), verdicts=(ranked,))
    assert result.headline(ranked) == {"bow": ROW}


def test_a_p_value_of_the_level_is_significant():
    assert Difference("models", "a", "b", 0.2, p=0.05).is_significant
    assert not Difference("models", "a", "b", 0.2, p=0.051).is_significant
    assert not Difference("models", "a", "b", 0.2).is_significant


def test_a_pair_reads_the_same_from_both_sides():
    pair = Difference("main", "a", "bm25", 0.2, 0.0, 0.3, p=0.01, won=5, tied=2, lost=1)
    step = Difference("step", "int8", "a", 0.0, -0.1, 0.1, step="int8")
    verdict = Verdict("d", "c", "accuracy", 10, 10, differences=(pair, step))
    assert verdict.between("a", "bm25") == pair
    turned = verdict.between("bm25", "a")
    assert turned == Difference("main", "bm25", "a", -0.2, -0.3, 0.0, p=0.01, won=1, tied=2, lost=5)
    assert str(turned.high) == "0.0", "a zero has no sign"
    assert verdict.between("int8", "bm25") is None
    assert verdict.steps_of("int8") == [step]
    assert verdict.steps_of("a") == []


FIGURES = (
    ROW,
    replace(ROW, similarity_function="dot", value=0.1),
    replace(ROW, condition="whiten", value=0.6),
    replace(ROW, metric="RR", subset="noun"),
    replace(ROW, metric="RR", corpus="faq", subset="noun"),
    replace(ROW, encoder="", metric="length"),
)


def test_a_figure_is_the_one_row_of_a_metric_and_an_encoder():
    ranked = Verdict("retrieval", "docs", "Success@5", items=10, units=10, similarity_function="cosine")
    result = Result(0, 1, rows=FIGURES, verdicts=(ranked,))
    assert result.figure("Success@5", "bow") == ROW
    assert result.figure("Success@5{dot,}", "bow").value == 0.1
    assert result.figure("retrieval/docs/Success@5{whiten}", "bow").value == 0.6
    assert result.figure("faq/RR[noun]", "bow").corpus == "faq"
    assert result.figure("length", "") == FIGURES[-1]
