"""What a check writes: terminal, JUnit, Markdown, JSON, step summary."""

import html
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from embassay.comparison.gate import Check, Floor
from embassay.comparison.gate_files import json_bytes, junit, markdown, terminal_lines, write_files
from embassay.comparison.losses import LossTest
from embassay.errors import InputError

CHANGE = LossTest(
    encoder="MiniLM",
    diagnostic="retrieval",
    corpus="docs",
    metric="Success@5",
    outcome="regression",
    old=0.9,
    new=0.84,
    change=-0.06,
    low=-0.08,
    high=-0.04,
    p=0.0001,
    tests=2,
    margin=0.02,
    smallest_loss=0.025,
    items=1000,
    units=300,
    lost=("q1", "q<2>"),
    gained=("q|3",),
)
UNCLEAR = replace(CHANGE, outcome="inconclusive", p=0.3, change=-0.01, units_needed=3100, metric="RR")
UNCLEAR = replace(UNCLEAR, of_shares=False, lost=(), gained=())
PASSED = replace(CHANGE, outcome="pass", metric="R@5", change=-0.001, p=0.9, lost=(), gained=())
FLOOR = Floor("MiniLM", "retrieval", "docs", "Success@5", 0.84, 0.82, 0.86, 0.9)
CHECK = Check("run", "baseline", (CHANGE, UNCLEAR, PASSED), (FLOOR,), (), ("a note",))
LONG = "a-very-long-organisation/and-a-very-long-model-name-v2-instruct-final"


def test_the_terminal_has_a_line_for_each_check_and_at_most_80_columns():
    long = replace(CHANGE, encoder=LONG, corpus="questions-of-customers-of-the-last-year")
    lines = terminal_lines(replace(CHECK, changes=(CHANGE, UNCLEAR, PASSED, long)))
    assert all(len(line) <= 80 for line in lines)
    table = lines[:5]
    assert [line.split()[0] for line in table] == ["regression", "inconclusive", "pass", "regression", "regression"]
    assert "−6.0 [−8.0, −4.0] margin 2.0" in table[0]
    assert "a-very-long" in table[3] and "last-year" in table[3]
    assert "0.840 [0.820, 0.860] floor 0.9" in table[4]
    assert lines[-1].strip().endswith("1 of 1 floor missed")


def test_an_unchanged_metric_has_no_interval():
    unchanged = replace(PASSED, unchanged=True, change=0.0)
    (line, _) = terminal_lines(replace(CHECK, changes=(unchanged,), floors=(), notes=()))
    assert line == "pass MiniLM R@5 on docs nothing changed margin 2.0"


def test_the_sentences_have_figure_interval_margin_and_smallest_loss():
    text = " ".join(CHECK.sentences)
    assert (
        "regression: MiniLM, Success@5 on docs: 90.0% → 84.0%, change −6.0 points [−8.0, −4.0]; the loss is significant"
        " (p < 0.001 after Holm's correction for 2 tests) and not shown to be below 2.0 points"
        " (smallest loss that this corpus shows: 2.5 points)." in text
    )
    assert (
        "a loss of 0.020 is not ruled out; if nothing is lost, ruling out 0.020 takes about 3,100 units; there are"
        in text
    )
    assert "a loss of 2.0 points or more is ruled out" in text
    assert "0.840 [0.820, 0.860] misses the floor of 0.9." in text


def _counts(suite):
    cases = list(suite)
    return {
        "tests": sum(case.tag == "testcase" for case in cases),
        "failures": len(suite.findall("testcase/failure")),
        "errors": len(suite.findall("testcase/error")),
        "skipped": len(suite.findall("testcase/skipped")),
    }


@pytest.mark.parametrize(("inconclusive", "failures", "skipped"), [("", 2, 1), ("fail", 3, 0), ("pass", 2, 0)])
def test_junit_counts_what_it_holds(inconclusive, failures, skipped):
    check = replace(CHECK, inconclusive=inconclusive, failures=("MiniLM: no memory \x07 <left>",))
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


def test_markdown_lists_the_outcome_and_lost_items_first():
    text = markdown(CHECK)
    assert text.startswith("### Embassay check: regression\n")
    assert text.index("Lost: q1") < text.index("Gained: ")
    assert "1 lost" not in text and "2 lost, 1 gained" in text
    rows = [line for line in text.splitlines() if line.startswith("| ") and "margin" in line]
    assert ["pass" in row for row in rows] == [False, False, True]


def test_lost_items_are_named_by_their_texts_where_the_run_has_them():
    texts = {"docs": {"q1": "<b>Where</b>\n| is the valve? " + "x" * 200}}
    text = markdown(replace(CHECK, texts=texts))
    (line,) = [line for line in text.splitlines() if line.startswith("- q1: ")]
    assert "Where" in line and "is the valve?" in line and line.endswith("…")
    assert "<b>" not in line
    # A text of another corpus is not that of this one.
    assert "Lost: q1" in markdown(replace(CHECK, texts={"other": texts["docs"]}))


def test_markdown_is_only_text():
    hostile = "<img src=x> [a](javascript:b) @user `x` | #1 *b* _i_ ![p](q) http://evil.example www.evil.example :tada:"
    text = markdown(replace(CHECK, changes=(replace(CHANGE, encoder=hostile, lost=(hostile,)),)))
    # GitHub makes links of these without any markup.
    for mark in ("@user", " #1", "http://", "www.e", ":tada"):
        assert mark not in text
    page = MarkdownIt("gfm-like", {"html": True, "linkify": False}).disable("linkify").render(text)
    tags = set(re.findall(r"<([a-z0-9]+)", page))
    assert tags <= {"h3", "p", "table", "thead", "tbody", "tr", "th", "td", "strong", "ul", "li", "details", "summary"}
    (cells,) = [row for row in re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL) if "&lt;img" in row]
    assert cells.count("<td") == 8
    # In the table, in the sentence, as a title and as an item.
    assert html.unescape(page).replace("\u200b", "").count(hostile) == 4


def test_markdown_fits_into_a_comment():
    items = tuple(f"<item number {number}>" for number in range(5000))
    many = tuple(replace(CHANGE, encoder=f"{LONG} {number}", lost=items, gained=items) for number in range(300))
    text = markdown(replace(CHECK, changes=many))
    assert len(text) < 65_536
    assert "more rows in the other outputs" in text
    assert "more sentences in the other outputs" in text or "more lists of items in the other outputs" in text


def test_json_is_canonical_and_complete():
    content = json.loads(json_bytes(CHECK))
    assert (content["outcome"], content["exit_code"], content["schema"]) == ("regression", 1, 1)
    assert content["changes"][0]["lost"] == ["q1", "q<2>"]
    assert content["floors"][0]["outcome"] == "regression"
    assert json_bytes(CHECK) == json_bytes(CHECK)


def test_files_are_written_and_the_summary_is_appended(tmp_path, monkeypatch):
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    write_files(CHECK, {"junit": tmp_path / "a" / "j.xml", "markdown": tmp_path / "m.md", "json": None})
    assert (tmp_path / "a" / "j.xml").read_bytes() == junit(CHECK)
    assert (tmp_path / "m.md").read_text(encoding="utf-8") == markdown(CHECK)
    assert summary.read_text(encoding="utf-8") == "before\n" + markdown(CHECK)


def test_two_outputs_in_one_file_are_refused(tmp_path):
    with pytest.raises(InputError, match="already used"):
        write_files(CHECK, {"junit": tmp_path / "x", "json": tmp_path / "x"})
    assert not (tmp_path / "x").exists()


def test_a_place_that_cannot_be_written_is_one_message(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write_files(CHECK, {"json": tmp_path / "file" / "x.json"})
