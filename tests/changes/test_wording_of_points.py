"""Another wording of percentage points is one line: no other file writes the word behind a number."""

import ast
from pathlib import Path

import pytest

from embassay.core import formatting

SOURCE = Path(__file__).parent.parent.parent / "src" / "embassay"


def test_no_other_file_writes_the_unit():
    found = []
    for path in SOURCE.rglob("*.py"):
        if path.name == "formatting.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                pieces = [part.value for part in node.values if isinstance(part, ast.Constant)]
                found += [(path.name, piece) for piece in pieces if piece.startswith((" point", "\u00a0point"))]
            elif isinstance(node, ast.Constant) and node.value == " points":
                found.append((path.name, node.value))
    assert found == []


def test_another_wording_is_everywhere_at_once(monkeypatch):
    monkeypatch.setattr(formatting, "POINTS", "pp")
    # Made of it when the module is imported.
    monkeypatch.setitem(formatting.FORMATS, "points", (100, ".1f", " pp"))
    assert formatting.number(0.02, "points") == "2.0 pp"
    assert formatting.interval(0.01, 0.02, "points") == "[1.0, 2.0]"
    assert formatting.size_in_points(0.02) == "2 pp"
    assert formatting.without_points("2.0 pp [1.0 pp]") == "2.0 [1.0]"


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.02, "2 points"),
        (0.01, "1 point"),
        (0.005, "0.5 points"),
        (0.0025, "0.25 points"),
        (0.125, "12.5 points"),
        (0.07, "7 points"),
    ],
)
def test_the_size_of_a_loss_has_the_digits_that_somebody_chose(share, text):
    assert formatting.size_in_points(share) == text


@pytest.mark.parametrize(
    ("share", "interval", "items", "text"),
    [
        (0.87, (0.71, 0.95), 100, "87 of 100 questions [71, 95]"),
        (12 / 14, (0.6, 0.96), 14, "12 of 14 questions (86% [60, 96])"),
        (1.0, (None, None), 8, "8 of 8 questions (100%)"),
        # A tie counts in part.
        (0.55, (0.3, 0.8), 12, "6.6 of 12 questions (55% [30, 80])"),
        (None, (None, None), 0, "–"),
    ],
)
def test_fewer_than_100_questions_are_counted_as_they_are(share, interval, items, text):
    assert formatting.of_100(share, *interval, items) == text
