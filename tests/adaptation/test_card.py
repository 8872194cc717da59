"""The card of a variant and the table of all variants, from a result worked by hand."""

from types import SimpleNamespace

import pytest

from embassay.core.result import CorpusRecord, EncoderRecord, Result, Row
from embassay.training.card import card_of
from embassay.training.verdict import INTERVALS, figures

NAMES = ("base", "finetuned")
LEARNT = (SimpleNamespace(name="mine", fingerprint="5df59cba8925e8fd", licence="CC0"),)
SAID = ("finetuned on your questions: better, +2.0 points", "Each line compares single training runs")
TRAININGS = {
    "finetuned": {
        "settings": {"loss": "mnr", "rate": 2e-05},
        "rows": 7500,
        "evaluations": [[0, 0.633], [5, 0.6], [10, 0.567]],
        "files": ["model.safetensors"],
        "notes": ["A note."],
        "made_with": {"torch": "2"},
        "format": 1,
    }
}


def card(result):
    return card_of("Base: ./mine.", TRAININGS, LEARNT, result, ["mine"], SAID)


def row(encoder, metric, subset, *figure):
    value, low, high = (*figure, None, None)[:3]
    kept = {"items": 41, "units": 38, "undefined": 0, "reason": None, "signature": "s"}
    return Row("retrieval", "mine", subset, "similarity", "", metric, encoder, value, low, high, **kept)


@pytest.fixture
def result():
    rows = [
        figure
        for encoder in NAMES
        for figure in (
            row(encoder, "Success@5", "all", 0.9123, 0.88, 0.94),
            row(encoder, "accuracy_l100", "all", 0.91, 0.85, 0.96),
            row(encoder, "coe", "psi5", 0.95, 0.9, 0.97),
            row(encoder, "roe", "psi5", 0.01, 0.0, 0.02),
            row(encoder, "tau", "recommended", 0.4321),
            row(encoder, "isoscore", "documents", 0.25),
        )
    ]
    encoders = tuple(
        EncoderRecord(name, name=name, fingerprint=name, dim=8, parameters=8, baseline=False) for name in NAMES
    )
    corpus = CorpusRecord(
        name="mine",
        shape="retrieval",
        fingerprint="7b01d0fd98d91ab5",
        items=41,
        units=38,
        effective_units=38.0,
        duplicates=0,
        distinct_texts=90,
        licence="CC0",
        source="",
        builtin=False,
        documents=60,
        passages=60,
    )
    return Result(0, 1000, encoders, (corpus,), tuple(rows))


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_card_names_what_was_learnt_from_apart_from_what_it_was_tested_on(result):
    text = card(result)
    data = list(map(cells, text.split("## Data\n\n")[1].splitlines()))
    assert ["mine", "learnt, before the split", "5df59cba8925e8fd", "CC0"] in data
    assert ["mine", "test questions of the domain, 41 items", "7b01d0fd98d91ab5", "CC0"] in data
    facts = dict(cells(line) for line in text.split("### finetuned\n\n")[1].split("\n\n")[0].splitlines())
    assert (facts["loss"], facts["rows"], facts["rate"], facts["torch"]) == ("mnr", "7,500", "2e-05", "2")
    assert facts["Success@5 of the dev questions"] == "0.633 (step 0), 0.600 (step 5), 0.567 (step 10)"
    assert "files" not in facts
    assert "\n- A note.\n" in text
    assert text.split("## Verdict\n\n")[1].split("\n\n")[0].splitlines() == [f"- {line}" for line in SAID]


def test_all_variants_stand_in_one_table_of_six_figures(result):
    head, rule, base, tuned, blank, note = figures(result, ["mine"], NAMES).splitlines()
    assert cells(head)[:2] == ["mine", "Success@5"]
    expected = ["91.2% [88.0, 94.0]", "91.0% [85.0, 96.0]", "95.0% [90.0, 97.0]", "1.0% [0.0, 2.0]", "0.432", "0.250"]
    assert cells(tuned) == ["finetuned", *expected]
    assert len({len(line) for line in (head, rule, base, tuned)}) == 1
    assert blank == ""
    assert note == INTERVALS
