"""What a check writes: terminal, JUnit, Markdown, JSON, step summary."""

import html
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from embassay.comparison.differences import OUTCOMES, Change
from embassay.comparison.gate import Check
from embassay.comparison.gate_files import json_bytes, junit, markdown, terminal_lines, write_files
from embassay.core.errors import InputError

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


def sentence_of(check, **changed):
    change = replace(CHANGE, **changed)
    (line,) = replace(check, changes=(replace(change, outcome=OUTCOMES[change.reason]),), floors=()).sentences
    return line


def test_the_sentences_of_each_reason_have_one_figure_beside_the_counts():
    start = "MiniLM, Success@5 on docs"
    counts = {"lost": dict.fromkeys("abcdef", ""), "gained": dict.fromkeys("xyz", "")}
    of_shares = f"{start}: 86.7% → 78.3%, 6 answers lost, 3 gained of 60"
    expected = {
        "significant": f"regression: {of_shares} (p = 0.031).",
        "above the margin": f"regression: {of_shares}: more than the 13 points that this gate allows.",
        "within the margin": f"pass: {of_shares}; the loss is below 16.8 points (95% confidence).",
        "significant within the margin": f"pass: {of_shares}: a significant loss, below the 13 points that you allow.",
        "not significant": f"pass: {of_shares}; the loss is not significant.",
        "not excluded": (f"warning: {of_shares}; a loss of 13 points cannot be excluded. Read the 6 questions below."),
        "nothing lost": (
            f"pass: {start}: no answer of 60 was lost, 3 gained; on other questions about these documents the loss is "
            "below 16.8 points (95% confidence)."
        ),
        "no value": f"regression: {start}: 4 of 60 questions have no value in this run.",
    }
    for reason, sentence in expected.items():
        lost = {} if reason == "nothing lost" else counts["lost"]
        assert sentence_of(CHECK, reason=reason, undefined=4, gained=counts["gained"], lost=lost) == sentence


def test_sentences_about_a_sample_other_metrics_and_small_numbers():
    assert sentence_of(CHECK, sampled=True, reason="within the margin").endswith(
        "; the loss is below 16.8 points on documents like these (95% confidence)."
    )
    nothing = sentence_of(CHECK, sampled=True, reason="nothing lost")
    assert "; on other questions about documents like these the loss" in nothing
    assert sentence_of(CHECK, reason="not excluded", lost={"q": ""}).endswith("be excluded. Read it below.")
    assert sentence_of(CHECK, reason="not excluded", lost={}).endswith("be excluded.")
    assert sentence_of(CHECK, p=0.0001).endswith(" (p < 0.001).")
    assert CHECK.sentences[1] == "warning: MiniLM, RR on docs: 0.867 → 0.783; a loss of 0.130 cannot be excluded."
    assert sentence_of(CHECK, limit=None, reason="not excluded", items=0) == (
        "warning: MiniLM, Success@5 on docs: no item has a value, so nothing can be compared."
    )
    assert CHECK.sentences[3] == "regression: MiniLM, Success@5 on docs: 0.840 misses the floor of 0.9."


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


def test_markdown_lists_the_outcome_and_what_did_not_pass_first():
    text = markdown(CHECK)
    assert text.startswith("### Embassay check: regression\n")
    assert text.index("- q1") < text.index("Gained:")
    assert "2 lost, 1 gained" in text
    bullets = [line.split(":")[0] for line in text.splitlines() if line.startswith("- ")]
    assert bullets[:5] == ["- regression", "- warning", "- regression", "- pass", "- note"]


def test_lost_items_are_named_by_their_texts_where_the_run_has_them():
    lost = {"q1": "<b>Where</b>\n| is the valve? " + "x" * 200, "q2": ""}
    check = replace(CHECK, changes=(replace(CHANGE, lost=lost),))
    (line,) = [line for line in markdown(check).splitlines() if line.startswith("- q1: ")]
    assert "Where" in line and "is the valve?" in line and line.endswith("…")
    assert "<b>" not in line
    assert "\n- q2: \n" in markdown(check)
    (failure, _) = ET.fromstring(junit(check)).iter("failure")  # noqa: S314 - our own
    assert failure.get("message").splitlines()[1].startswith("  - q1: <b>Where</b> | is the valve?")


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


def test_markdown_fits_into_a_comment():
    items = {f"<item number {number}>": "" for number in range(5000)}
    many = tuple(replace(CHANGE, encoder=f"{LONG} {number}", lost=items, gained=items) for number in range(300))
    text = markdown(replace(CHECK, changes=many))
    assert len(text) < 65_536
    assert text.endswith("More in the other outputs.\n")


def test_json_is_canonical_and_complete():
    content = json.loads(json_bytes(CHECK))
    assert (content["outcome"], content["exit_code"], content["schema"]) == ("regression", 1, 2)
    assert content["changes"][0]["lost"] == {"q1": "", "q<2>": ""}
    assert [change["outcome"] for change in content["changes"]] == ["regression", "inconclusive", "pass"]
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
    with pytest.raises(InputError, match="two outputs of the check have the same path"):
        write_files(CHECK, {"junit": tmp_path / "x", "json": tmp_path / "x"})
    assert not (tmp_path / "x").exists()


def test_a_place_that_cannot_be_written_is_one_message(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write_files(CHECK, {"json": tmp_path / "file" / "x.json"})
