"""What a check writes: terminal, JUnit, Markdown, JSON."""

import html
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from embassay.comparison.differences import Change
from embassay.comparison.gate import Check
from embassay.comparison.gate_files import json_bytes, junit, markdown, terminal_lines

CHANGE = Change(
    encoder="MiniLM",
    diagnostic="retrieval",
    corpus="docs",
    metric="Success@5",
    format="percent",
    of_shares=True,
    outcome="regression",
    reason="significant",
    margin=0.13,
    old=0.867,
    new=0.783,
    limit=0.16726,
    p=0.03125,
    items=60,
    lost={"q1": "", "q<2>": ""},
    gained={"q|3": ""},
)
UNCLEAR = replace(
    CHANGE,
    outcome="inconclusive",
    reason="not excluded",
    p=0.3,
    limit=0.155,
    metric="RR",
    of_shares=False,
    lost={},
    gained={},
)
PASSED = replace(
    CHANGE, outcome="pass", reason="within the margin", metric="R@5", limit=0.12193, p=0.9, lost={}, gained={}
)
FLOOR = Change(
    "MiniLM", "retrieval", "docs", "Success@5", "percent", outcome="regression", reason="floor", new=0.84, margin=0.9
)
CHECK = Check("run", "baseline", (CHANGE, UNCLEAR, PASSED), (FLOOR,), (), ("a note",))
LONG = "a-very-long-organisation/and-a-very-long-model-name-v2-instruct-final"


def test_the_terminal_has_the_sentences_the_lost_items_and_the_outcome_of_several():
    long = replace(CHANGE, encoder=LONG, lost={f"q{n}": "word " * 30 for n in range(12)})
    lines = terminal_lines(replace(CHECK, changes=(CHANGE, UNCLEAR, long)))
    assert all(len(line) <= 80 for line in lines)
    assert [line.split(":")[0] for line in lines if not line.startswith(" ")] == [
        "regression",
        "warning",
        "regression",
        "regression",
        "note",
        "regression",
    ]
    assert lines[2:4] == ["  - q1", "  - q<2>"]
    assert sum(line.startswith("  - q") and "word" in line for line in lines) == 10
    assert "  and 2 more in --markdown and --json" in lines
    assert lines[-1] == "regression: 2 of 3 tests worse; 1 of 3 tests inconclusive; 1 of 1 floor missed"
    # A single sentence needs no summary.
    assert len(terminal_lines(Check("run", "baseline", (PASSED,)))) == 2


def _counts(suite):
    cases = list(suite)
    return {
        "tests": sum(case.tag == "testcase" for case in cases),
        "failures": len(suite.findall("testcase/failure")),
        "errors": len(suite.findall("testcase/error")),
        "skipped": len(suite.findall("testcase/skipped")),
    }


@pytest.mark.parametrize(("strict", "failures", "skipped"), [(False, 2, 1), (True, 3, 0)])
def test_junit_counts_what_it_holds(strict, failures, skipped):
    check = replace(CHECK, strict=strict, failures=("MiniLM: no memory \x07 <left>",))
    root = ET.fromstring(junit(check))  # noqa: S314 - our own
    (suite,) = root
    counts = _counts(suite)
    assert counts == {"tests": 5, "failures": failures, "errors": 1, "skipped": skipped}
    assert {name: int(suite.get(name)) for name in counts} == counts
    assert {name: int(root.get(name)) for name in ("tests", "failures", "errors")} == {
        "tests": 5,
        "failures": failures,
        "errors": 1,
    }
    names = [(case.get("classname"), case.get("name")) for case in suite.findall("testcase")]
    assert ("embassay.retrieval.docs", "MiniLM: Success@5") in names
    assert len(set(names)) == len(names)


def test_junit_follows_the_usual_schema():
    # The elements and attributes of Jenkins' junit-10.xsd, which this file is a small part of.
    allowed = {
        "testsuites": ({"name", "tests", "failures", "errors"}, {"testsuite"}),
        "testsuite": ({"name", "tests", "failures", "errors", "skipped"}, {"testcase", "system-out"}),
        "testcase": ({"name", "classname"}, {"failure", "error", "skipped", "system-out"}),
        "failure": ({"message"}, set()),
        "error": ({"message"}, set()),
        "skipped": ({"message"}, set()),
        "system-out": (set(), set()),
    }
    root = ET.fromstring(junit(replace(CHECK, failures=("x",))))  # noqa: S314 - our own
    for element in root.iter():
        attributes, children = allowed[element.tag]
        assert set(element.attrib) <= attributes
        assert {child.tag for child in element} <= children


def test_markdown_is_only_text():
    hostile = "<img src=x> [a](javascript:b) @user `x` | #1 *b* _i_ ![p](q) http://evil.example www.evil.example :tada:"
    text = markdown(replace(CHECK, changes=(replace(CHANGE, encoder=hostile, lost={hostile: hostile[:80]}),)))
    # GitHub makes links of these without any markup.
    for mark in ("@user", " #1", "http://", "www.e", ":tada"):
        assert mark not in text
    page = MarkdownIt("gfm-like", {"html": True, "linkify": False}).disable("linkify").render(text)
    tags = set(re.findall(r"<([a-z0-9]+)", page))
    assert tags <= {"h3", "p", "ul", "li", "details", "summary"}
    # In the sentence, as a title and as an item; and the text of the item.
    assert html.unescape(page).replace("\u200b", "").count(hostile) == 3
    assert html.unescape(page).replace("\u200b", "").count(hostile[:80]) == 4


def test_json_is_canonical_and_complete():
    content = json.loads(json_bytes(CHECK))
    assert (content["outcome"], content["exit_code"], content["schema"]) == ("regression", 1, 2)
    assert content["changes"][0]["lost"] == {"q1": "", "q<2>": ""}
    assert [change["outcome"] for change in content["changes"]] == ["regression", "inconclusive", "pass"]
    assert content["floors"][0]["outcome"] == "regression"
    assert json_bytes(CHECK) == json_bytes(CHECK)
