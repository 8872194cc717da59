"""The data of the example browser: complete, interned, harmless; what is said about the sample and the licence."""

import json
from dataclasses import replace

import pytest

from embassay.core.layout import Column, EncoderTable, ExampleColumn, Examples, Layout
from embassay.core.metric_key import MetricKey
from embassay.core.result import CorpusRecord, EncoderRecord, Example, Result, Row, Verdict
from embassay.reports.examples import browser
from embassay.reports.page import render
from embassay.reports.tables import Scope

ACCURACY = Column("accuracy", "accuracy", format="percent")
PART = Examples(
    "One by one",
    "question",
    texts=(("right", "right document"),),
    columns=(
        ExampleColumn("rank", ("rank",), "count"),
        ExampleColumn("takes", ("chosen",)),
        ExampleColumn("found", ("found1", "found2"), passages=True),
    ),
    margin="right less wrong",
    threshold=Column("τ", "tau", format="percent"),
    note="A note.",
)
LAYOUT = Layout("T", "Q?", EncoderTable("Head", (ACCURACY,)), (PART,), "a source")


def row(encoder, metric, value):
    return Row("d", "c", "all", "m", "", metric, encoder, value, None, None, 9, 9, 0, None, "s", "none")


def item(name, **changes):
    texts = {"question": f"Question {name}?", "right": "The right text.", "x#0": "A passage.", "y#1": "Another."}
    return replace(Example("d", "c", "", name, "item", texts, {}, labels={"right1": "x", "right2": "z"}), **changes)


def outcome(name, encoder, correct=False, margin=-0.12345, **changes):
    values = {"rank": 3.0, "found1": 0.51234, "found2": 0.25}
    labels = {"found1": "y#1", "found2": "x#0", "chosen": "a"}
    return replace(
        Example("d", "c", encoder, name, "outcome", {}, values, "", labels, correct, margin),
        **changes,
    )


def result_of(examples, items=2, licence="CC0", passages=3, baselines=("tfidf",)):
    encoders = ("a", "tfidf")
    return Result(
        7,
        100,
        encoders=tuple(EncoderRecord(n, name=n, fingerprint="f", dim=3, baseline=n in baselines) for n in encoders),
        corpora=(
            CorpusRecord(
                name="c",
                shape="retrieval",
                fingerprint="f",
                items=items,
                units=2,
                effective_units=2.0,
                duplicates=0,
                distinct_texts=9,
                licence=licence,
                source="",
                builtin=False,
                documents=2,
                passages=passages,
            ),
        ),
        rows=tuple(row(n, q, v) for n in encoders for q, v in (("accuracy", 0.5), ("tau", 0.4))),
        examples=tuple(examples),
        verdicts=(Verdict(**vars(MetricKey("accuracy", diagnostic="d", corpus="c")), items=items, units=2),),
    )


def made(result, part=PART):
    return browser(Scope(result, "d", "c", ACCURACY), part)


TWO = [e for n in "12" for e in (item(n), outcome(n, "a"), outcome(n, "tfidf", correct=None, margin=None))]


def items_of(data):
    return data["items"], data["passages"]


def test_the_text_of_a_passage_is_referred_to_by_its_name():
    data = made(result_of(TWO)).data
    assert data["encoders"] == [
        {"name": "a", "baseline": False, "threshold": 0.4, "part": ""},
        {"name": "tfidf", "baseline": True, "threshold": 0.4, "part": ""},
    ]
    (first, _), passages = items_of(data)
    assert first == {
        "id": "1",
        "subset": "",
        "heading": "Question 1?",
        "texts": [["right document", "The right text.", "x, z"]],
        "outcomes": first["outcomes"],
    }
    correct, margin, (rank, takes, found) = first["outcomes"][0]
    assert (correct, margin, rank) == (0, -0.12345, 3.0)
    assert takes == [[None, "a"]]
    assert found == [[0.51234, "y, passage 2"], [0.25, "x, passage 1", 1]]
    assert passages == {"y, passage 2": "Another.", "x, passage 1": "A passage."}
    assert first["outcomes"][1][:2] == [None, None]


def test_what_is_missing_is_left_out():
    bare = item("1", texts={}, labels={})
    nothing = outcome("1", "a", values={}, labels={}, correct=None, margin=None)
    (only,), _ = items_of(made(result_of([bare, nothing], items=1)).data)
    assert (only["heading"], only["texts"], only["outcomes"]) == ("", [], [[None, None, [[], [], []]], None])
    assert made(result_of([])) is None


def test_the_statement_says_how_many_and_how_they_were_drawn():
    assert made(result_of(TWO)).statement.startswith("All 2 items. ")
    sample = made(result_of(TWO, items=3152)).statement
    assert sample.startswith("2 of 3,152 items, drawn with seed 7, stratified by subset and by who misses them: ")
    assert "ignores the baselines" in sample
    assert "does not count baselines" not in made(result_of(TWO, baselines=())).statement
    without = made(result_of([replace(e, texts={}) for e in TWO]))
    assert without.statement.endswith("The texts are left out.")


@pytest.mark.parametrize("licence", ["CC-BY-4.0", "CC BY 4.0", "CC0", "cc-by-sa-3.0", "MIT", "Apache-2.0"])
def test_a_free_licence_needs_no_word(licence):
    assert made(result_of(TWO, licence=licence)).licence == ""


@pytest.mark.parametrize(
    "licence", ["unknown", "", "MSR-SSLA (non-commercial)", "CC-BY-NC-SA-3.0", "CC BY-ND 4.0", "mine"]
)
def test_another_licence_is_named_where_the_texts_are_shown(licence):
    note = made(result_of(TWO, licence=licence)).licence
    assert "check it before you share this page. A run with --no-texts leaves them out." in note
    assert ("is not known" in note) == (licence in ("", "unknown"))
    assert made(result_of([replace(e, texts={}) for e in TWO], licence=licence)).licence == ""


def test_hostile_texts_close_no_element_and_start_none():
    evil = "</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>&lt;"
    examples = [
        item(
            "1",
            item=evil,
            subset=evil,
            texts={"question": evil, "right": evil, f"{evil}#0": evil},
            labels={"right1": evil},
        ),
        outcome("1", "a", item=evil, labels={"found1": f"{evil}#0", "chosen": evil}),
    ]
    page = render(result_of(examples, licence=evil), {"d": LAYOUT})
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    body = page.split('<script class="data" type="application/json">')[1].split("</script>")[0]
    assert json.loads(body)["items"][0]["id"] == evil
    assert not set("<>&") & set(body)
