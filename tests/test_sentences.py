"""No sentence concludes absence: a test that shows nothing says "not shown", never "does not differ" or "cannot"."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "embassay"
FOLDERS = ("adaptation", "comparison", "diagnostics", "findings", "reports", "run")
ABSENCE = (
    r"does not differ|do not differ|makes no difference|has no effect",
    r"no difference (?!is shown|can be shown|from a wrong)",
    r"cannot be used for|says nothing about|is equally good|as good as",
    r"differences are real|systematic|are enough|not worth",
)
"""What only a test of equivalence could show, or no test."""


def sentences():
    """Yield each text with a space in it that the code may print, with its place; docstrings are no such texts."""
    for folder in FOLDERS:
        for path in sorted((SOURCE / folder).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            for node in ast.walk(tree):
                is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
                if is_text and id(node) not in docstrings:
                    yield f"{path.relative_to(SOURCE)}:{node.lineno}", node.value


@pytest.mark.parametrize("pattern", ABSENCE)
def test_no_sentence_concludes_absence(pattern):
    assert [(place, text) for place, text in sentences() if re.search(pattern, text)] == []


def test_such_a_sentence_would_be_found():
    assert any("is not shown to differ from chance" in text for _, text in sentences())
    assert any(re.search(pattern, "It cannot be used for search.") for pattern in ABSENCE)
