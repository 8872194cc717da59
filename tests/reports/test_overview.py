"""The first screen of the page: answers, scorecard, findings, encoders, terms."""

from dataclasses import replace

import pytest

from embassay.core.formatting import readable
from embassay.core.layout import Column, EncoderTable, IntervalChart, Layout, SeriesTable
from embassay.core.metric_key import MetricKey
from embassay.core.result import Answer, CorpusRecord, EncoderRecord, Finding, Result, Row, Series, Verdict
from embassay.reports.answers import answer_sections, entries
from embassay.reports.glossary import used_terms
from embassay.reports.page import render

ACCURACY = Column("accuracy", "accuracy", format="percent")
LAYOUT = Layout(
    "Negated antonyms",
    "Does it?",
    EncoderTable("Head", (ACCURACY,)),
    (IntervalChart("Picture", ACCURACY, 0.5), IntervalChart("Second picture", ACCURACY)),
    "A source",
    (SeriesTable("As printed", "printed"),),
)
LAYOUTS = {"d": LAYOUT}
VALUES = {"a": 0.8, "b": 0.75, "c": 0.2, "words": 0.5}


def result_of(*, builtin=False, **more):
    """Three candidates and a baseline on one corpus; two candidates may be the best."""
    rows = tuple(
        Row(
            "d",
            "mine",
            "all",
            "cosine",
            "",
            "accuracy",
            name,
            v,
            v - 0.1,
            v + 0.1,
            100,
            50,
            0,
            None,
            f"signature {name}",
        )
        for name, v in VALUES.items()
    )
    encoders = tuple(
        EncoderRecord(
            name,
            name=name,
            fingerprint="f",
            dim=dim,
            baseline=name == "words",
            price=price,
            vector_bytes=4 * dim if dim else None,
        )
        for name, dim, price in (("a", 768, 0.02), ("b", 384, 0.1), ("c", 384, None), ("words", None, None))
    )
    verdict = Verdict(
        **vars(MetricKey("accuracy", diagnostic="d", corpus="mine")),
        items=100,
        units=50,
        candidates=("a", "b", "c"),
        best_set=() if builtin else ("a", "b"),
        chance=0.5,
    )
    corpus = CorpusRecord(
        name="mine",
        shape="choice",
        fingerprint="f",
        items=100,
        units=50,
        effective_units=50.0,
        duplicates=0,
        distinct_texts=90,
        licence="CC0",
        source="",
        builtin=builtin,
    )
    printed = Series("d", "mine", "printed", "table", {"columns": ["x"], "formats": ["text"], "rows": [["y"]]})
    return Result(0, 10, encoders, (corpus,), rows, series=(printed,), verdicts=(verdict,), **more)


def test_of_several_answers_of_one_kind_that_on_the_encoder_to_use_is_read():
    """An alternative and a step have one each; the answers stand in the order of the result."""
    result = result_of()
    asked = [
        ("use", "", "a"), ("instead", "", "c"), ("instead", "", "b"), ("rejected", "", ""), ("step", "Reranker", "c"),
        ("own", "Cut-off", "b"), ("own", "Cut-off", "a"), ("own", "Negation", "b"), ("data", "", ""),
    ]  # fmt: skip
    answers = tuple(Answer("low", k, k, "d", "mine", encoder, kind=k, question=q) for k, q, encoder in asked)
    (section,) = answer_sections(replace(result, answers=answers), LAYOUTS)
    assert [(answer.kind, answer.encoder) for answer in section.answers] == [
        ("use", "a"), ("instead", "c"), ("instead", "b"), ("rejected", ""), ("step", "c"), ("own", "a"), ("data", ""),
    ]  # fmt: skip


def test_cells_of_the_scorecard_link_to_their_evidence():
    result = result_of()
    page = render(replace(result, verdicts=result.verdicts * 2), LAYOUTS)
    assert '<td class="worse"><a href="#d-mine">20.0% <span class="mark">▼</span></a><i>[10.0, 30.0]</i>' in page
    assert 'id="d-mine"' in page
    assert "<th scope=row>words<small>baseline</small>" in page


def test_a_column_alone_is_no_scorecard():
    assert 'id="scorecard"' not in render(result_of(), LAYOUTS)


def test_a_reader_s_questions_lead_to_their_answers():
    about = {"diagnostic": "d", "corpus": "mine", "link": "#d-mine"}
    chance = {"kind": "headline", "question": "Right?", "standing": "shown"}
    given = (
        Answer("low", "c errs.", "Errors are many", encoder="c", **about, **chance),
        Answer("low", "words errs.", "Errors are many", encoder="words", **about, **chance),
        Answer("high", "c. Its accuracy is 20%.", "The one to use", encoder="c", **about, kind="use", question="Use"),
    )
    page = render(result_of(answers=given), LAYOUTS)
    decision, others = (part.split("</dl>")[0].strip() for part in page.split('<dl class="answers">')[1:])
    assert decision == "<div><dt>Use</dt><dd>c. Its accuracy is 20%.</dd></div>"
    assert others == "<div><dt>Right?</dt><dd>Errors are many. c errs.</dd></div>"
    assert page.index(decision) < page.index("<figure") < page.index(others)
    advised = render(result_of(answers=(*given, replace(given[0], kind="data", action="Add 9 <items>."))), LAYOUTS)
    assert "<div><dt>Next</dt><dd>Add 9 &lt;items&gt;.</dd></div>\n</dl>" in advised
    assert '<a href="#d-mine">Figures and tests</a>' in page


def test_findings_of_several_encoders_are_one_entry():
    findings = [Finding("high", f"{e} errs.", "Errs", "d", "mine", e, "So.", "Do.", link="#d-mine") for e in "abc"]
    (entry,) = entries(findings, LAYOUTS)
    assert (entry.title, entry.finding.sentence, entry.others) == ("", "a errs.", "The same is true of b and c.")
    assert (entry.place, entry.finding.link, entry.finding.action) == ("Negated antonyms on mine", "#d-mine", "Do.")


def test_a_page_explains_the_terms_that_it_uses():
    assert [term.name for term in used_terms(["retrieval"], ["Success@5 and RR", "by chance"])] == [
        "Chance",
        "Success@K",
        "RR",
    ]
    assert used_terms(["retrieval"], ["STARRED, upper", "pears and plums, by perchance"]) == []


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain\nand\ttab", "plain\nand\ttab"),
        ("a\u202eb", "a\\u202eb"),
        ("bell\x07", "bell\\x07"),
        ("nul\x00", "nul\\x00"),
        ("hidden\u200bspace", "hidden\\u200bspace"),
        ("half\ud800", "half\\ud800"),
        ("family \U0001f468\u200d\U0001f469", "family \U0001f468\u200d\U0001f469"),
        ("é\u00a0ü", "é\u00a0ü"),
    ],
)
def test_control_characters_are_made_visible(text, written):
    assert readable(text) == written
