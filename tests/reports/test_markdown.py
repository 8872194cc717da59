"""The report as Markdown: any text is shown as it is, tables stay tables, and the file fits into a comment."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from embassay.api import assay
from embassay.core.formatting import visible
from embassay.core.samples.shapes import Choice
from embassay.core.types import Corpus
from embassay.run.finished import FinishedRun
from embassay.run.outputs.kinds.md import LONGEST, MARKER, fitted, report
from embassay.run.outputs.markdown import escaped

EVIL = "a|b `c` *d* _e_ [f](http://g.example) <img src=x> @mention me@home.org #12 GH-3 www.x.org &amp; $x$ ~~h~~ \\"
MARKDOWN = MarkdownIt("gfm-like", {"html": True, "linkify": False}).disable("linkify")
LINKED = re.compile(r"(?<!\w)@\w|@[\w-]+\.\w|(?<!\w)#\d|\bgh-\d|://|\bwww\.", re.IGNORECASE)
"""What GitHub makes a link of, wherever it stands in the text of the page."""


def cells(markdown):
    """Return the texts of the cells of the only table, row by row, as a browser shows them."""
    rows = []
    for token in MARKDOWN.parse(markdown):
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            assert {child.type for child in token.children} <= {"text", "text_special", "code_inline", "softbreak"}
            rows[-1].append("".join(child.content for child in token.children))
    return rows


@given(st.text())
@example(EVIL)
@example("a\nb\x1b[0m‮c")
@example("[1.2, 3.4](x)")
@example("[−1.2, +3.4][x]")
@example("<https://x.example>")
@example("HTTP://WWW.X.ORG")
@example("!\\[a](b)")
@example("&#8203;&#x41;&copy")
@example("@_")
@example("snake_case _x_ __y__ a_")
def test_any_text_is_shown_as_it_is_and_stays_in_its_cell(text):
    (_, row) = cells(f"| a | b |\n| --- | --- |\n| . {escaped(text)} . | b |")
    shown = row[0].replace("\u200b", "")
    expected = visible(text).replace("\u200b", "")
    assert shown.split() == [".", *expected.split(), "."]
    assert row[1] == "b"
    # A space without width stands where GitHub would see a link.
    assert not LINKED.search(row[0])


@pytest.fixture(scope="module")
def result():
    samples = [Choice(f"i{n}", f"a {n}", f"b {n}", f"c {n}", f"d {n}", "adjective", f"pair{n % 12}") for n in range(24)]
    corpus = Corpus(EVIL, "choice", tuple(samples), source="http://source.example")
    encoders = ["@one|two=hashing,dim=8", "<b>=hashing,dim=16"]
    return assay(encoders, [corpus], diagnostics=["negated_antonyms"], resamples=20, cache=None)


def render(result, longest=LONGEST, notes=()):
    return fitted(report(FinishedRun(None, result, {"notes": notes})), longest)


def test_a_report_has_decision_scorecard_findings_and_tables(result):
    text = render(result, notes=["a note of @somebody"])
    assert text.startswith(MARKER)
    # A column alone is in the table.
    assert "## Scorecard" not in text
    for heading in ("# Embassay report", "## Findings", "<details><summary>Negated antonyms on "):
        assert heading in text
    assert "Which differences are shown: accuracy</summary>" in text
    tokens = MARKDOWN.parse(text)
    html = [t.content for t in tokens if t.type == "html_block"]
    inline = [child for t in tokens if t.children for child in t.children]
    html += [child.content for child in inline if child.type == "html_inline"]
    tags = set(re.findall(r"<[^>]*>", "".join(html)))
    assert tags <= {MARKER, "<details>", "</details>", "<summary>", "</summary>"}
    assert not [child for child in inline if child.type in ("link_open", "image")]
    shown = "".join(child.content for child in inline if child.type.startswith("text"))
    assert not LINKED.search(shown)


def test_every_line_of_a_table_has_the_columns_of_its_head(result):
    blocks = re.findall(r"(?:^\|.*\n)+", render(result), flags=re.M)
    assert len(blocks) > 2
    for block in blocks:
        lines = block.strip().splitlines()
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1, block


def test_what_does_not_fit_is_counted(result):
    whole = render(result)
    assert len(whole) < LONGEST
    assert "Left out, because" not in whole
    short = render(result, longest=len(whole) - 200)
    assert len(short) < len(whole) - 200
    assert re.search(r"Left out, because GitHub accepts at most [\d,]+ characters: \d parts?\.", short)
