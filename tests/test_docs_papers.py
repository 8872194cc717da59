"""The table of the papers' figures names parts of the report that exist, with their files."""

import re
from pathlib import Path

import pytest

from embassay.core.layout import Matrix
from embassay.core.metric_key import MetricKey
from embassay.core.plugins import DIAGNOSTICS
from embassay.core.result import Result, Verdict
from embassay.reports.layouts import layouts
from embassay.reports.page import PICTURES, TABLES
from embassay.run.outputs.exhibits import file_name, part_name

PAGE = Path(__file__).parent.parent / "docs" / "figures.md"
LINE = re.compile(r"^\| (.*?) ?\| (\w+) \| (.+?) \| `(.+?)` \| (figure|table) \|$", flags=re.M)
LINES = LINE.findall(PAGE.read_text(encoding="utf-8"))
DRAWN = {"table": tuple(TABLES), "figure": (*PICTURES, Matrix)}


@pytest.fixture(scope="module")
def pages():
    """The layout of every diagnostic."""
    verdicts = tuple(
        Verdict(**vars(MetricKey("", diagnostic=name)), items=0, units=0) for name in DIAGNOSTICS.own_names()
    )
    return layouts(Result(0, 0, verdicts=verdicts))


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line[1]}-{line[3]}-{line[4]}")
def test_every_line_names_a_part_of_the_report(line, pages):
    paper, diagnostic, title, name, kind = line
    layout = pages[diagnostic]
    parts = [
        part
        for part in (layout.headline, *layout.parts, *layout.paper)
        if part.title == title and isinstance(part, DRAWN[kind])
    ]
    assert [file_name(part_name(part), set()) for part in parts] == [name]
    if kind == "figure":
        # The report itself says which figure of the paper a chart is the counterpart of.
        assert "aper's figure" in parts[0].note, paper


def test_all_five_papers_are_there():
    papers = {line[0].split(",")[0] for line in LINES if line[0]}
    assert papers == {"SemAntoNeg", "HEROS", "White et al.", "Compass", "Set composition"}
    assert len(LINES) > 25
